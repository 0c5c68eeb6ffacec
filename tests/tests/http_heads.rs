//! Clients that begin a request and do not go on with it.

use std::{future::IntoFuture, time::Duration};

use antiphon::{Server, http};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::Instant,
};

/// How long a head may take, and how much later that is noticed at the most.
const PATIENCE: Duration = Duration::from_secs(30);
const LATE: Duration = Duration::from_secs(11);

/// How long it takes until the server closes a connection on which this was sent, a piece every
/// ten seconds.
async fn closed_after(pieces: &[&str]) -> Duration {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let server = Server::<()>::new("tests", "1.0");
    let serving = tokio::spawn(http::serve(listener, http::service(server)).into_future());
    let mut stream = TcpStream::connect(address).await.expect("listening");
    let began = Instant::now();
    for piece in pieces {
        stream.write_all(piece.as_bytes()).await.expect("open");
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer).await;
    serving.abort();
    assert!(read.is_err() || answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"));
    began.elapsed()
}

/// The clock stands still but for what waits for it, so these take no time.
#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_come_to_its_end_is_not_waited_for() {
    for pieces in [
        &["POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "][..],
        // However busy its client looks.
        &["POST /mcp HTTP/1.1\r\n", "Host: ", "127.0.0.1\r\n"],
        &[],
    ] {
        let after = closed_after(pieces).await;
        assert!(after >= PATIENCE, "{pieces:?}: {after:?}");
        assert!(after <= PATIENCE + LATE, "{pieces:?}: {after:?}");
    }
}
