//! The client's HTTP transport against a bare socket: what it sends, byte by byte, and what it
//! makes of any answer.

use std::{
    error::Error as StdError,
    future::poll_fn,
    sync::{Arc, Mutex},
    time::Duration,
};

use antiphon::client::{
    Bearer, Challenge, Connect, Error, ErrorKind, Event, Events, Http, HttpTransport, Identity,
    Incoming, Outgoing, Pending, Transport,
};
use antiphon_tests::{
    call, harbour,
    http::Server,
    request,
    socket::{Peer, Request, Socket, json, response},
    with_meta,
};
use serde_json::{Value, json};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

async fn connect(http: Http) -> Result<HttpTransport, Error> {
    http.connect(Events::new(only_failures)).await
}

/// Over HTTP every message belongs to a request; what is told besides are failures.
#[expect(clippy::needless_pass_by_value, reason = "that is how events come")]
fn only_failures(event: Event) {
    assert!(matches!(event, Event::Transport(_)), "{event:?}");
}

/// A transport to a socket, at `/mcp`.
async fn to(socket: &Socket) -> HttpTransport {
    let http = Http::new(format!("{}/mcp", socket.origin()));
    connect(http).await.expect("a transport")
}

fn ping() -> Outgoing<'static> {
    Outgoing::new(1, "server/discover", PING)
}

/// The next message of an answer.
async fn next(incoming: &mut Incoming) -> Option<Result<String, Error>> {
    let message = match incoming {
        Incoming::Whole(message) | Incoming::Refused { message, .. } => match message.is_empty() {
            true => None,
            false => Some(Ok(std::mem::take(message))),
        },
        Incoming::Stream(stream) => poll_fn(|context| stream.as_mut().poll_next(context)).await,
    };
    message.map(|message| Ok(String::from_utf8(message?.to_vec()).expect("UTF-8")))
}

/// Sends a request and reads all that comes back.
async fn talk(transport: &HttpTransport, request: Outgoing<'_>) -> Result<Vec<String>, Error> {
    let mut incoming = transport.send(request).await?;
    let mut messages = Vec::new();
    while let Some(message) = next(&mut incoming).await {
        messages.push(message?);
    }
    Ok(messages)
}

/// What the client makes of one response, after which the connection ends.
async fn made_of(response: &str) -> Result<Vec<String>, Error> {
    let socket = Socket::bind().await;
    let http = Http::new(socket.origin()).max_message_bytes(100);
    let transport = connect(http).await.expect("a transport");
    let server = async {
        socket.answer(response).await;
    };
    tokio::join!(talk(&transport, ping()), server).0
}

/// The error that a response becomes.
async fn error_of(response: &str) -> Error {
    made_of(response).await.expect_err("an error")
}

/// HTTP-C-01 to HTTP-C-05, HDR-C-01 to HDR-C-04: every byte of a request.
#[tokio::test]
async fn a_request_is_all_of_this() {
    let socket = Socket::bind().await;
    let http = Http::new(format!("{}/mcp?key=1", socket.origin()))
        .bearer("secret")
        .header("x-tenant", "a")
        .header("X-Tenant", "b")
        .header("x-empty", "");
    let transport = connect(http).await.expect("a transport");
    let mut outgoing = Outgoing::new(7, "tools/call", r#"{"id":7}"#);
    outgoing.name = Some("look_up");
    let params = [("mcp-param-region".to_owned(), "north".to_owned())];
    outgoing.params = &params;
    let answer = json(PONG);
    let (messages, (request, _)) = tokio::join!(talk(&transport, outgoing), socket.answer(&answer));
    assert_eq!(messages.expect("an answer"), [PONG]);
    let host = socket.origin().replace("http://", "");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        request.head,
        format!(
            "POST /mcp?key=1 HTTP/1.1\r\nhost: {host}\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
             x-tenant: a\r\nx-tenant: b\r\nx-empty: \r\nuser-agent: antiphon/{version}\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: look_up\r\n\
             mcp-param-region: north\r\nauthorization: Bearer secret\r\ncontent-length: 8\r\n\r\n"
        )
    );
    assert_eq!(request.body, r#"{"id":7}"#);
}

/// HDR-C-05, HDR-C-12 to HDR-C-15, HDR-C-18; the table of wire.md 6.2.
#[tokio::test]
async fn mirrored_values_are_encoded() {
    let socket = Socket::bind().await;
    let transport = to(&socket).await;
    let table = [
        ("rotterdam", "rotterdam"),
        ("Malmö", "=?base64?TWFsbcO2?="),
        (" x", "=?base64?IHg=?="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ("-7", "-7"),
        (
            "a\r\nauthorization: b",
            "=?base64?YQ0KYXV0aG9yaXphdGlvbjogYg==?=",
        ),
        ("", ""),
    ];
    let params: Vec<_> = (0..)
        .zip(table)
        .map(|(at, (value, _))| (format!("mcp-param-{at}"), value.to_owned()))
        .collect();
    let mut outgoing = ping();
    outgoing.name = Some("file:///Malmö");
    outgoing.params = &params;
    let answer = json(PONG);
    let (_, (request, _)) = tokio::join!(talk(&transport, outgoing), socket.answer(&answer));
    for (at, (value, encoded)) in table.iter().enumerate() {
        let header = request.header(&format!("mcp-param-{at}"));
        assert_eq!(header, Some(*encoded), "{value}");
    }
    assert_eq!(
        request.header("mcp-name"),
        Some("=?base64?ZmlsZTovLy9NYWxtw7Y=?=")
    );
    assert_eq!(request.header("authorization"), None);
}

/// Against the server of this crate, which checks every header.
#[tokio::test]
async fn the_server_next_door_understands() {
    let server = Server::start(antiphon::http::service(harbour::endpoint())).await;
    let url = format!("http://{}/mcp", server.address);
    let transport = connect(Http::new(url)).await.expect("a transport");
    assert!(transport.mirrors());
    let body = request(1, "server/discover", json!({})).to_string();
    let messages = talk(&transport, Outgoing::new(1, "server/discover", body)).await;
    let messages = messages.expect("an answer");
    assert!(
        messages[0].contains(r#""supportedVersions""#),
        "{messages:?}"
    );
    // With progress it becomes a stream.
    let body = with_meta(call(2, "progress", json!({})), "progressToken", 9).to_string();
    let mut outgoing = Outgoing::new(2, "tools/call", body);
    outgoing.name = Some("progress");
    let messages = talk(&transport, outgoing.clone()).await.expect("an answer");
    assert_eq!(messages.len(), 4);
    let last: Value = serde_json::from_str(&messages[3]).expect("JSON");
    assert_eq!(last["result"]["content"][0]["text"], "progressed");
    // A header that differs from the body is refused, in JSON-RPC.
    outgoing.name = Some("another");
    let messages = talk(&transport, outgoing).await.expect("an answer");
    assert!(messages[0].contains("-32020"), "{messages:?}");
}

/// HTTP-C-07, HTTP-C-08.
#[tokio::test]
async fn both_forms_of_answer_are_read() {
    for (kind, body, expected) in [
        ("application/json", " {} ", &[" {} "][..]),
        ("Application/JSON; charset=utf-8", "{}", &["{}"]),
        (
            "text/event-stream",
            ": hello\n\ndata: 1\n\nevent: message\nid: 7\nretry: 1\ndata: 2\r\n\r\n",
            &["1", "2"],
        ),
        (
            "text/event-stream; charset=utf-8",
            "event: ping\ndata: 1\n\ndata:\n\ndata: 2\ndata: 3\n\ndata: cut off",
            &["2\n3"],
        ),
        ("text/event-stream", ": nothing\n\n", &[]),
    ] {
        let messages = made_of(&response("200 OK", kind, body)).await;
        assert_eq!(messages.expect("an answer"), expected, "{kind}");
    }
    let chunked = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                   transfer-encoding: chunked\r\n\r\n2\r\n{\"\r\n4\r\na\":1\r\n1\r\n}\r\n0\r\n\r\n";
    assert_eq!(made_of(chunked).await.expect("an answer"), [r#"{"a":1}"#]);
    let unmeasured = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                      connection: close\r\n\r\ndata: 1\n\n";
    assert_eq!(made_of(unmeasured).await.expect("an answer"), ["1"]);
}

#[tokio::test]
async fn events_arrive_as_they_are_sent() {
    let socket = Socket::bind().await;
    let transport = to(&socket).await;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n";
    let (incoming, (_, mut peer)) = tokio::join!(transport.send(ping()), socket.answer(head));
    let mut incoming = incoming.expect("an answer");
    for part in ["a\r\ndata: 1\n\nd\r\n", "9\r\nata: 2\n\r\n\r\n"] {
        peer.write(part).await;
        assert!(next(&mut incoming).await.expect("an event").is_ok());
    }
    peer.write("0\r\n\r\n").await;
    assert!(next(&mut incoming).await.is_none());
    assert!(next(&mut incoming).await.is_none());
    drop(incoming);
    // A stream that was read to its end leaves the connection as good as new.
    let second = async {
        let request = peer.read().await;
        peer.write(&json(PONG)).await;
        request
    };
    let (messages, _) = tokio::join!(talk(&transport, ping()), second);
    assert_eq!(messages.expect("an answer"), [PONG]);
}

#[tokio::test]
async fn what_is_too_long_is_not_read() {
    let long = "x".repeat(101);
    let fits = "x".repeat(100);
    let events = |data: &str| response("200 OK", "text/event-stream", &format!("data: {data}\n\n"));
    let chunked = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n\
         64\r\n{fits}\r\n1\r\nx\r\n0\r\n\r\n"
    );
    for (whole, good) in [
        (json(&long), false),
        (chunked, false),
        (events(&long), false),
        (json(&fits), true),
        (events(&fits), true),
        (
            events(&format!("{fits}\n\n: {long}{long}\n\ndata: {fits}")),
            true,
        ),
    ] {
        match made_of(&whole).await {
            Ok(messages) => assert!(good && messages.iter().all(|message| *message == fits)),
            Err(error) => {
                assert!(
                    !good && matches!(error.kind(), ErrorKind::Decode),
                    "{error}"
                );
                assert!(
                    error.to_string().contains("longer than 100 bytes"),
                    "{error}"
                );
            }
        }
    }
    // An endless line ends too, long before the server is done.
    let socket = Socket::bind().await;
    let http = Http::new(socket.origin()).max_message_bytes(100);
    let transport = connect(http).await.expect("a transport");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ";
    let (incoming, (_, mut peer)) = tokio::join!(transport.send(ping()), socket.answer(head));
    let mut incoming = incoming.expect("an answer");
    peer.write(&long).await;
    let error = next(&mut incoming)
        .await
        .expect("an end")
        .expect_err("an error");
    assert!(matches!(error.kind(), ErrorKind::Decode), "{error}");
    assert!(next(&mut incoming).await.is_none());
    peer.is_left().await;
}

/// HTTP-C-09: the stream says that it broke.
#[tokio::test]
async fn what_breaks_off_is_an_error_of_the_transport() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type:";
    for cut in [
        format!("{head} application/json\r\ncontent-length: 10\r\n\r\n{{}}"),
        format!("{head} application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n"),
        format!("{head} text/event-stream\r\ncontent-length: 90\r\n\r\ndata: 1\n\n"),
        format!("{head} text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n2\r\nda"),
    ] {
        let error = error_of(&cut).await;
        assert!(matches!(error.kind(), ErrorKind::Transport), "{error}");
        let text = error.to_string();
        assert!(
            text.starts_with("the response stream ended before"),
            "{text}"
        );
    }
    for cut in [
        "",
        "HTTP/1.1 200 O",
        "HTTP/1.1 200 OK\r\nx: y\r\n",
        "what?\r\n\r\n",
    ] {
        let error = error_of(cut).await;
        assert!(matches!(error.kind(), ErrorKind::Transport), "{error}");
        assert!(error.to_string().contains("was lost"), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_called_so() {
    let html = response("200 OK", "text/html", "<h1>Welcome</h1>");
    let gzip = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                content-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}";
    let untyped = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    for (response, word) in [
        (&*html, "text/html"),
        (&html, "Welcome"),
        (gzip, "gzip"),
        (untyped, "no content type"),
        ("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", "202"),
        ("HTTP/1.1 204 No Content\r\n\r\n", "204"),
        (&json(""), "200"),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            "200",
        ),
    ] {
        let error = error_of(response).await;
        assert!(matches!(error.kind(), ErrorKind::Decode), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[tokio::test]
async fn refusals_are_messages_or_statuses() {
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such"}}"#;
    for status in ["400 Bad Request", "404 Not Found", "500 Oh"] {
        let messages = made_of(&response(status, "application/json", refusal)).await;
        assert_eq!(messages.expect("a message"), [refusal]);
    }
    let page = format!("<h1>\u{1b}[31m\nNot \"here\"</h1>{}", "x".repeat(5000));
    for (status, body, text) in [
        (
            "404 Not Found",
            &*page,
            r#"the server answered 404 Not Found: <h1>\u{1b}[31m Not "here"</h1>xxx"#,
        ),
        (
            "503 Busy",
            "",
            "the server answered 503 Service Unavailable",
        ),
        (
            "500 Oh",
            r#"{"error":{"code":500,"message":"no"}}"#,
            r#"the server answered 500 Internal Server Error: {"error""#,
        ),
    ] {
        let error = error_of(&response(status, "text/html", body)).await;
        let code: u16 = status[..3].parse().expect("a number");
        assert!(
            matches!(error.kind(), ErrorKind::Status(found) if *found == code),
            "{error:?}"
        );
        assert!(error.to_string().starts_with(text), "{error}");
        assert!(error.to_string().len() < 300);
    }
}

/// The cancellation of HTTP, before the head of the response and after it.
#[tokio::test]
async fn letting_go_closes_the_connection() {
    let socket = Socket::bind().await;
    let transport = to(&socket).await;
    let read = async {
        let mut peer = socket.accept().await;
        peer.read().await;
        peer
    };
    let mut peer = tokio::select! {
        biased;
        _ = transport.send(ping()) => panic!("there is no answer"),
        peer = read => peer,
    };
    peer.is_left().await;

    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n";
    let (incoming, (_, mut peer)) = tokio::join!(transport.send(ping()), socket.answer(head));
    let mut incoming = incoming.expect("an answer");
    assert!(next(&mut incoming).await.expect("an event").is_ok());
    drop(incoming);
    peer.is_left().await;

    // A whole answer that is still on its way.
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{";
    let mut peer = tokio::select! {
        biased;
        _ = transport.send(ping()) => panic!("there is no answer"),
        (_, peer) = async {
            let answered = socket.answer(head).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            answered
        } => peer,
    };
    peer.is_left().await;
}

#[tokio::test]
async fn connections_are_used_again() {
    let socket = Socket::bind().await;
    let transport = to(&socket).await;
    let server = async {
        let mut peer = socket.accept().await;
        for _ in 0..3 {
            peer.read().await;
            peer.write(&json(PONG)).await;
        }
        // Refusals are read to their end as well.
        peer.read().await;
        peer.write(&response("404 Not Found", "text/plain", "no"))
            .await;
        peer.read().await;
        peer.write(&json(PONG)).await;
    };
    let client = async {
        for _ in 0..3 {
            talk(&transport, ping()).await.expect("an answer");
        }
        talk(&transport, ping()).await.expect_err("a refusal");
        talk(&transport, ping()).await.expect("an answer");
    };
    tokio::join!(client, server);
}

/// HTTP-C-09: a request that may have arrived is not sent again, one that cannot have is.
#[tokio::test]
async fn nothing_is_sent_twice() {
    let socket = Socket::bind().await;
    let transport = to(&socket).await;
    let answer = json(PONG);
    let (_, (_, mut peer)) = tokio::join!(talk(&transport, ping()), socket.answer(&answer));
    // On a connection that was good so far, the server reads the request and is gone.
    let server = async {
        peer.read().await;
        drop(peer);
    };
    let (lost, ()) = tokio::join!(talk(&transport, ping()), server);
    let error = lost.expect_err("lost");
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error}");
    assert!(socket.is_quiet().await);
    // A connection that ended while it was idle is not used at all.
    let (_, (_, peer)) = tokio::join!(talk(&transport, ping()), socket.answer(&answer));
    drop(peer);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (messages, _) = tokio::join!(talk(&transport, ping()), socket.answer(&answer));
    assert_eq!(messages.expect("an answer"), [PONG]);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let socket = Socket::bind().await;
    let transport = to(&socket).await;
    let origin = socket.origin();
    drop(socket);
    let error = talk(&transport, ping()).await.expect_err("no server");
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("no connection to {origin}: ")),
        "{text}"
    );
    assert_eq!(text.matches("refused").count(), 1, "{text}");
    let cause = error
        .source()
        .and_then(|cause| cause.downcast_ref::<std::io::Error>());
    let refused = std::io::ErrorKind::ConnectionRefused;
    assert_eq!(cause.map(std::io::Error::kind), Some(refused));
    let http = Http::new("http://nowhere.invalid/mcp").no_proxy();
    let transport = connect(http).await.expect("a transport");
    let text = talk(&transport, ping())
        .await
        .expect_err("no server")
        .to_string();
    assert!(text.contains("http://nowhere.invalid"), "{text}");
}

/// Reads a request and sends it elsewhere.
async fn redirected(socket: &Socket, status: &str, target: &str) -> (Request, Peer) {
    let response =
        format!("HTTP/1.1 {status} Moved\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n");
    socket.answer(&response).await
}

#[tokio::test]
async fn redirects_are_followed_at_home() {
    for status in ["307", "308"] {
        let socket = Socket::bind().await;
        let http = Http::new(format!("{}/a/mcp", socket.origin())).bearer("secret");
        let transport = connect(http).await.expect("a transport");
        let target = format!("{}/b?c", socket.origin());
        let server = async {
            let (first, mut peer) = redirected(&socket, status, &target).await;
            let second = peer.read().await;
            peer.write("HTTP/1.1 307 Moved\r\nlocation: d#e\r\ncontent-length: 0\r\n\r\n")
                .await;
            let third = peer.read().await;
            peer.write(&json(PONG)).await;
            [first, second, third]
        };
        let (messages, requests) = tokio::join!(talk(&transport, ping()), server);
        assert_eq!(messages.expect("an answer"), [PONG]);
        let lines = requests.each_ref().map(Request::line);
        let expected = ["/a/mcp", "/b?c", "/d"].map(|path| format!("POST {path} HTTP/1.1"));
        assert_eq!(lines, expected.each_ref().map(|line| &**line));
        for request in &requests {
            assert_eq!(request.body, PING);
            assert_eq!(request.header("authorization"), Some("Bearer secret"));
            assert_eq!(request.header("mcp-method"), Some("server/discover"));
        }
    }
}

#[tokio::test]
async fn redirects_lead_nowhere_else() {
    let elsewhere = Socket::bind().await;
    for (status, target) in [
        (307, format!("{}/mcp", elsewhere.origin())),
        (308, elsewhere.origin().replace("http:", "")),
        (307, "https://127.0.0.1/mcp".to_owned()),
        (301, "/mcp/".to_owned()),
        (302, "/mcp/".to_owned()),
        (303, "/mcp/".to_owned()),
    ] {
        let socket = Socket::bind().await;
        let http = Http::new(socket.origin()).bearer("secret");
        let transport = connect(http).await.expect("a transport");
        let code = status.to_string();
        let server = redirected(&socket, &code, &target);
        let (answer, _) = tokio::join!(talk(&transport, ping()), server);
        let error = answer.expect_err("refused");
        assert!(
            matches!(error.kind(), ErrorKind::Status(found) if *found == status),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(
            text.contains(&target) && text.contains("same origin"),
            "{text}"
        );
    }
    assert!(elsewhere.is_quiet().await);
}

#[tokio::test]
async fn redirects_come_to_an_end() {
    let socket = Socket::bind().await;
    let transport = to(&socket).await;
    let server = async {
        let (_, mut peer) = redirected(&socket, "307", "/mcp").await;
        for _ in 0..5 {
            peer.read().await;
            peer.write("HTTP/1.1 307 Moved\r\nlocation: /mcp\r\ncontent-length: 0\r\n\r\n")
                .await;
        }
        peer
    };
    let (answer, _peer) = tokio::join!(talk(&transport, ping()), server);
    let error = answer.expect_err("no more");
    assert!(matches!(error.kind(), ErrorKind::Status(307)), "{error:?}");
    assert!(error.to_string().contains("after 5 redirects"), "{error}");
}

/// Gives one token, and another when it is challenged.
struct Tokens {
    first: Option<&'static str>,
    second: Result<Option<&'static str>, &'static str>,
    challenges: Arc<Mutex<Vec<Challenge>>>,
}

impl Bearer for Tokens {
    fn token<'a>(
        &'a self,
        challenge: Option<&'a Challenge>,
    ) -> Pending<'a, Result<Option<String>, Box<dyn StdError + Send + Sync>>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let token = match challenge {
                None => self.first,
                Some(challenge) => {
                    let mut all = self.challenges.lock().expect("no panic");
                    all.push(challenge.clone());
                    self.second?
                }
            };
            Ok(token.map(str::to_owned))
        })
    }
}

/// What becomes of a request whose every answer is the first of these, then the last: the
/// outcome, the tokens that were sent, the challenges that were met.
async fn challenged(
    first: Option<&'static str>,
    second: Result<Option<&'static str>, &'static str>,
    answers: &[&str],
) -> (
    Result<Vec<String>, Error>,
    Vec<Option<String>>,
    Vec<Challenge>,
) {
    let socket = Socket::bind().await;
    let challenges = Arc::default();
    let tokens = Tokens {
        first,
        second,
        challenges: Arc::clone(&challenges),
    };
    let http = Http::new(socket.origin()).bearer_from(tokens);
    let transport = connect(http).await.expect("a transport");
    let mut sent = Vec::new();
    let server = async {
        let mut peer = socket.accept().await;
        let mut answers = answers.iter();
        loop {
            let request = peer.read().await;
            sent.push(request.header("authorization").map(str::to_owned));
            let Some(answer) = answers.next() else {
                panic!("one request too many")
            };
            peer.write(answer).await;
        }
    };
    let outcome = tokio::select! {
        outcome = talk(&transport, ping()) => outcome,
        () = server => unreachable!("it does not end"),
    };
    drop(transport);
    let challenges = std::mem::take(&mut *challenges.lock().expect("no panic"));
    (outcome, sent, challenges)
}

fn refusal(status: &str, challenge: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nwww-authenticate: {challenge}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test]
async fn a_challenge_is_met_once() {
    let who = refusal("401 Unauthorized", "Bearer realm=\"x\"", "who?");
    let more = refusal(
        "403 Forbidden",
        "Bearer error=\"insufficient_scope\", scope=\"write\"",
        "",
    );
    let no = refusal("403 Forbidden", "Bearer", "not you");
    let good = json(PONG);
    let bearer = |token: &str| Some(format!("Bearer {token}"));

    for (answer, status) in [(&who, 401), (&more, 403)] {
        let (outcome, sent, challenges) =
            challenged(Some("old"), Ok(Some("new")), &[answer, &good]).await;
        assert_eq!(outcome.expect("an answer"), [PONG]);
        assert_eq!(sent, [bearer("old"), bearer("new")]);
        assert_eq!(challenges.len(), 1);
        assert_eq!(challenges[0].status, status);
        assert!(challenges[0].www_authenticate[0].starts_with("Bearer "));
    }
    let (outcome, sent, _) = challenged(None, Ok(Some("new")), &[&who, &good]).await;
    assert_eq!(outcome.expect("an answer"), [PONG]);
    assert_eq!(sent, [None, bearer("new")]);

    // Each of these stays refused: the tries, the times the provider was asked for another.
    for (second, answers, tries, asked) in [
        (Ok(Some("old")), &[&who][..], 1, 1),
        (Ok(None), &[&who], 1, 1),
        (Err("no luck"), &[&who], 1, 1),
        (Ok(Some("new")), &[&who, &who], 2, 1),
        (Ok(Some("new")), &[&who, &more], 2, 1),
        (Ok(Some("new")), &[&no], 1, 0),
    ] {
        let answers: Vec<_> = answers.iter().map(|answer| answer.as_str()).collect();
        let (outcome, sent, challenges) = challenged(Some("old"), second, &answers).await;
        let error = outcome.expect_err("refused");
        let ErrorKind::Unauthorized {
            status,
            challenges: told,
        } = error.kind()
        else {
            panic!("{error:?}")
        };
        let last = answers.last().expect("an answer");
        assert!(last.contains(&format!(" {status} ")), "{error}");
        assert!(last.contains(&told[0]), "{error}");
        assert_eq!((sent.len(), challenges.len()), (tries, asked), "{error}");
        let text = error.to_string();
        assert!(text.contains("no luck") || second.is_ok(), "{text}");
    }
}

#[tokio::test]
async fn a_refusal_says_what_the_server_said() {
    let message = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Origin not allowed"}}"#;
    for (status, code) in [("401 Unauthorized", 401), ("403 Forbidden", 403)] {
        let error = error_of(&response(status, "application/json", message)).await;
        assert!(
            matches!(error.kind(), ErrorKind::Unauthorized { status, .. } if *status == code),
            "{error:?}"
        );
        assert!(
            error.to_string().ends_with(": Origin not allowed"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn digests_follow_the_token() {
    let with = async |http: Http| connect(http).await.expect("a transport");
    let socket = Socket::bind().await;
    let none = to(&socket).await;
    assert_eq!(none.authorization().await.expect("a digest"), None);
    let fixed = with(Http::new(socket.origin()).bearer("a")).await;
    let digest = fixed.authorization().await.expect("a digest");
    assert!(digest.is_some());
    assert_eq!(fixed.authorization().await.expect("a digest"), digest);
    // Keyed, so that it is worth nothing elsewhere.
    let other = with(Http::new(socket.origin()).bearer("a")).await;
    assert_ne!(other.authorization().await.expect("a digest"), digest);

    struct Latest(Arc<Mutex<&'static str>>);
    impl Bearer for Latest {
        fn token<'a>(
            &'a self,
            _: Option<&'a Challenge>,
        ) -> Pending<'a, Result<Option<String>, Box<dyn StdError + Send + Sync>>> {
            let token = self.0.lock().map(|token| token.to_string());
            let token = token.ok();
            Box::pin(async move { Ok(token) })
        }
    }
    let token = Arc::new(Mutex::new("a"));
    let latest = Latest(Arc::clone(&token));
    let changing = with(Http::new(socket.origin()).bearer_from(latest)).await;
    let first = changing.authorization().await.expect("a digest");
    *token.lock().expect("no panic") = "b";
    let second = changing.authorization().await.expect("a digest");
    *token.lock().expect("no panic") = "a";
    assert_ne!(first, second);
    assert_eq!(changing.authorization().await.expect("a digest"), first);
}

#[tokio::test]
async fn mistakes_show_when_connecting() {
    for (http, word) in [
        (Http::new("example.com/mcp"), "https://example.com/mcp"),
        (Http::new("ftp://example.com/mcp"), "http://"),
        (Http::new("http://me:secret@example.com/"), "password"),
        (
            Http::new("http://example.com").header("Mcp-Name", "a"),
            "mcp-name",
        ),
        (
            Http::new("http://example.com").header("Authorization", "a"),
            ".bearer(",
        ),
        (
            Http::new("http://example.com").header("x-a", "secret\n"),
            "x-a",
        ),
        (
            Http::new("http://localhost").bearer("secret token"),
            "access token",
        ),
        (
            Http::new("http://example.com").bearer("secret"),
            "without encryption",
        ),
        (
            Http::new("http://127.0.0.1")
                .bearer("secret")
                .proxy("http://example.com"),
            "without encryption",
        ),
        (
            Http::new("http://example.com").proxy("ftp://u:secret@example.com"),
            "the proxy",
        ),
        (
            Http::new("http://example.com").proxy("socks5://example.com"),
            "HTTP proxies",
        ),
    ] {
        assert!(!format!("{http:?}").contains("secret"), "{http:?}");
        let error = connect(http).await.expect_err("a mistake");
        assert!(matches!(error.kind(), ErrorKind::Invalid), "{error:?}");
        assert!(error.to_string().contains(word), "{error}");
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
    let http = Http::new("http://Example.com:80/mcp?key=secret")
        .bearer("secret")
        .header("x-key", "secret")
        .proxy("http://me:secret@example.com:3128")
        .danger_bearer_over_cleartext();
    let transport = connect(http).await.expect("a transport");
    assert!(
        !format!("{transport:?}").contains("secret"),
        "{transport:?}"
    );
    assert!(format!("{transport:?}").contains("example.com:3128"));
    let Identity::Http { origin, path } = transport.identity() else {
        panic!("{:?}", transport.identity())
    };
    assert_eq!((&**origin, &**path), ("http://example.com", "/mcp"));
}
