//! What somebody sees of the shop who has no token. With tokens it is seen by
//! `examples/protected/run check`.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
};

use antiphon::{
    Client, Http,
    client::{Challenge, ErrorKind},
};

const ISSUER: &str = "http://127.0.0.1:1";

struct Shop {
    url: String,
    running: Child,
}

impl Shop {
    fn open() -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr());
        let port = port.expect("a free port").port().to_string();
        let mut running = Command::new(env!("CARGO_BIN_EXE_protected"))
            .args([&port, ISSUER])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shop");
        let mut line = String::new();
        let output = running.stdout.as_mut().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        let url = format!("http://127.0.0.1:{port}/mcp");
        Self { url, running }
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        _ = self.running.kill();
        _ = self.running.wait();
    }
}

#[tokio::test]
async fn a_stranger_is_told_where_tokens_are_issued() {
    let shop = Shop::open();
    let way = Http::new(&shop.url);
    let stranger = Client::new("stranger", "1.0").connect(way.clone()).await;
    let error = stranger.expect_err("there is no token");
    let ErrorKind::Unauthorized { status, challenges } = error.kind() else {
        panic!("{error}");
    };
    let challenge = Challenge::of(*status, challenges).bearer();
    let challenge = challenge.expect("a challenge");
    assert_eq!(
        (*status, &*challenge.scopes),
        (401, &["orders:read".to_owned()][..])
    );
    let metadata = way.resource_metadata(challenges).await.expect("metadata");
    assert_eq!(metadata.resource, shop.url);
    assert_eq!(metadata.authorization_servers, [ISSUER]);
    assert_eq!(metadata.scopes_supported, ["orders:read", "orders:write"]);
}

#[tokio::test]
async fn a_token_that_nobody_vouches_for_is_none() {
    let shop = Shop::open();
    let way = Http::new(&shop.url).bearer("made-up");
    let forger = Client::new("forger", "1.0").connect(way).await;
    let error = forger.expect_err("it is made up");
    assert!(
        matches!(error.kind(), ErrorKind::Unauthorized { status: 401, .. }),
        "{error}"
    );
}
