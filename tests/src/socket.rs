//! A server that is nothing but a socket, for tests of what clients send and of what they make
//! of any answer.

use std::time::Duration;

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// A listener on a port of its own.
pub struct Socket(TcpListener);

impl Socket {
    /// Starts to listen.
    pub async fn bind() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.expect("a port"))
    }

    /// Where it listens, without a path.
    pub fn origin(&self) -> String {
        format!("http://{}", self.0.local_addr().expect("an address"))
    }

    /// The next connection.
    pub async fn accept(&self) -> Peer {
        Peer(self.accept_raw().await)
    }

    /// The next connection, as it is.
    pub async fn accept_raw(&self) -> TcpStream {
        let accepted = timeout(PATIENCE, self.0.accept()).await;
        accepted.expect("in time").expect("a connection").0
    }

    /// Whether nobody comes for a while.
    pub async fn is_quiet(&self) -> bool {
        timeout(Duration::from_millis(200), self.0.accept())
            .await
            .is_err()
    }

    /// Reads one request from the next connection, and answers it.
    pub async fn answer(&self, response: &str) -> (Request, Peer) {
        let mut peer = self.accept().await;
        let request = peer.read().await;
        peer.write(response).await;
        (request, peer)
    }
}

/// The other end of one connection.
pub struct Peer<S = TcpStream>(pub S);

impl<S: AsyncRead + AsyncWrite + Unpin> Peer<S> {
    /// Reads one request.
    pub async fn read(&mut self) -> Request {
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
                break end + 4;
            }
            self.more(&mut bytes).await;
        };
        let head = String::from_utf8(bytes[..end].to_vec()).expect("UTF-8");
        let mut request = Request {
            head,
            body: String::new(),
        };
        let length = request.header("content-length");
        let length: usize = length.map_or(0, |length| length.parse().expect("a number"));
        while bytes.len() < end + length {
            self.more(&mut bytes).await;
        }
        assert_eq!(bytes.len(), end + length, "one request at a time");
        request.body = String::from_utf8(bytes.split_off(end)).expect("UTF-8");
        request
    }

    async fn more(&mut self, bytes: &mut Vec<u8>) {
        let read = timeout(PATIENCE, self.0.read_buf(bytes)).await;
        assert_ne!(read.expect("in time").expect("bytes"), 0, "not the end");
    }

    /// Writes anything.
    pub async fn write(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.expect("written");
        self.0.flush().await.expect("flushed");
    }

    /// Waits until the client is gone. What it still sends does not matter.
    pub async fn is_left(&mut self) {
        let mut rest = Vec::new();
        // A reset is as good an end as any.
        let _ = timeout(PATIENCE, self.0.read_to_end(&mut rest))
            .await
            .expect("the client closes the connection");
    }
}

/// A request as it came.
#[derive(Debug)]
pub struct Request {
    /// All before the body.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Request {
    /// The first line.
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    /// The value of a header, which must not stand twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.head.lines().skip(1).filter_map(|line| {
            let (given, value) = line.split_once(": ")?;
            given.eq_ignore_ascii_case(name).then_some(value)
        });
        let value = found.next();
        assert_eq!(found.next(), None, "{name} stands twice");
        value
    }
}

/// A response of this status and content type, whole.
pub fn response(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// A good response.
pub fn json(body: &str) -> String {
    response("200 OK", "application/json", body)
}
