//! What goes wrong below the messages, byte by byte.

use super::*;

const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// A response with this head and body, and nothing after it.
fn response(head: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    vec![Write(format!(
        "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    ))]
}

/// The same, of the type of a message.
fn json_response(status: &str, body: &str) -> Vec<Act> {
    response(&format!("{status}\r\ncontent-type: application/json"), body)
}

fn then(text: impl Into<String>, act: Act) -> Vec<Act> {
    vec![Write(text.into()), act]
}

fn http_rows() -> Vec<(&'static str, Vec<Act>, End)> {
    let page = "<html><body>\u{1b}[31mNot here</body></html>";
    let ok = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#;
    let event = format!("data: {}\n\n", progress("$ID"));
    let html = "content-type: text/html";
    vec![
        // Silence at each point.
        ("no head", vec![Hold], LATE),
        (
            "half a head",
            then("HTTP/1.1 200 OK\r\ncontent-ty", Hold),
            LATE,
        ),
        (
            "a head and no body",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n",
                Hold,
            ),
            LATE,
        ),
        (
            "half a body",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
                Hold,
            ),
            LATE,
        ),
        ("a head and no event", then(EVENTS, Hold), LATE),
        (
            "events that stop",
            then(format!("{EVENTS}{event}{event}"), Hold),
            LATE,
        ),
        (
            "half an event",
            then(format!("{EVENTS}data: {{\"jsonrpc\""), Hold),
            LATE,
        ),
        (
            "half a refusal",
            then("HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\nno", Hold),
            LATE,
        ),
        (
            "half a challenge",
            then("HTTP/1.1 401 No\r\ncontent-length: 9\r\n\r\nno", Hold),
            LATE,
        ),
        // Ends at each point.
        ("nothing, and the end", vec![Die], End::Transport),
        (
            "half a head, and the end",
            then("HTTP/1.1 200 OK\r\ncontent-ty", Die),
            End::Transport,
        ),
        (
            "a head, and the end",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n",
                Die,
            ),
            End::Transport,
        ),
        (
            "half a body, and the end",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
                Die,
            ),
            End::Transport,
        ),
        (
            "an open body that is empty",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n",
                Die,
            ),
            End::Decode,
        ),
        ("a stream, and the end", then(EVENTS, Die), End::Transport),
        (
            "some events, and the end",
            then(format!("{EVENTS}{event}{event}"), Die),
            End::Transport,
        ),
        (
            "half an event, and the end",
            then(format!("{EVENTS}data: {ok}"), Die),
            End::Transport,
        ),
        (
            "half a chunk, and the end",
            then(format!("{CHUNKED}ff\r\ndata: "), Die),
            End::Transport,
        ),
        (
            "chunks without an end",
            then(format!("{CHUNKED}6\r\ndata: \r\n"), Die),
            End::Transport,
        ),
        (
            "no chunk",
            then(format!("{CHUNKED}zz\r\n"), Die),
            End::Transport,
        ),
        (
            "a chunk longer than any",
            then(format!("{CHUNKED}ffffffffffffffffff\r\n"), Die),
            End::Transport,
        ),
        (
            "a body longer than any",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 18446744073709551615\r\n\r\n",
                Die,
            ),
            End::Transport,
        ),
        // Drips.
        (
            "a head that drips",
            vec![Drip(50, "HTTP/1.1 200 OK\r\nx: y".into())],
            LATE,
        ),
        (
            "a body that drips",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n",
                Drip(50, " ".into()),
            ),
            LATE,
        ),
        (
            "events that drip",
            then(EVENTS, Drip(50, "data: {}\n".into())),
            LATE,
        ),
        (
            "comments that drip",
            then(EVENTS, Drip(50, ": still here\n\n".into())),
            LATE,
        ),
        (
            "a refusal that drips",
            then("HTTP/1.1 500 No\r\n\r\n", Drip(50, "no".into())),
            LATE,
        ),
        (
            "a challenge that drips",
            then("HTTP/1.1 401 No\r\n\r\n", Drip(50, "no".into())),
            LATE,
        ),
        (
            "a page that drips",
            then(
                format!("HTTP/1.1 200 OK\r\n{html}\r\n\r\n"),
                Drip(50, "<p>".into()),
            ),
            LATE,
        ),
        // Floods.
        (
            "comments without end",
            then(EVENTS, Flood(": still here\n\n".repeat(1000))),
            LATE,
        ),
        (
            "events of another type",
            then(EVENTS, Flood("event: x\ndata: {}\n\n".repeat(1000))),
            LATE,
        ),
        (
            "an event without end",
            then(format!("{EVENTS}data: "), Flood("x".repeat(1 << 16))),
            End::Decode,
        ),
        (
            "a field without end",
            then(EVENTS, Flood("x".repeat(1 << 16))),
            LATE,
        ),
        (
            "a type without end",
            then(format!("{EVENTS}event: "), Flood("x".repeat(1 << 16))),
            End::Decode,
        ),
        (
            "data lines without end",
            then(EVENTS, Flood("data\n".repeat(1 << 14))),
            End::Decode,
        ),
        (
            "a body without end",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n",
                Flood(" ".repeat(1 << 16)),
            ),
            End::Decode,
        ),
        (
            "a head without end",
            then("HTTP/1.1 200 OK\r\n", Flood("x-x: y\r\n".repeat(1000))),
            End::Transport,
        ),
        (
            "a header without end",
            then("HTTP/1.1 200 OK\r\nx-x: ", Flood("x".repeat(1 << 16))),
            End::Transport,
        ),
        (
            "a refusal without end",
            then("HTTP/1.1 500 No\r\n\r\n", Flood("no ".repeat(1 << 14))),
            End::Status(500),
        ),
        (
            "trailers without end",
            then(format!("{CHUNKED}0\r\n"), Flood("x-x: y\r\n".repeat(1000))),
            End::Transport,
        ),
        // Lies about what it is.
        (
            "events that are JSON",
            vec![Write(format!("{EVENTS}{ok}")), Die],
            End::Transport,
        ),
        (
            "JSON that is events",
            json_response("200 OK", &format!("data: {ok}\n\n")),
            End::Decode,
        ),
        (
            "JSON that is a page",
            json_response("200 OK", page),
            End::Decode,
        ),
        (
            "a page",
            response(&format!("200 OK\r\n{html}"), page),
            End::Decode,
        ),
        ("no type", response("200 OK", ok), End::Decode),
        (
            "an odd type",
            response("200 OK\r\ncontent-type: \u{7f}", ok),
            End::Transport,
        ),
        (
            "something packed",
            response(
                "200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip",
                ok,
            ),
            End::Decode,
        ),
        ("nothing at all", json_response("200 OK", ""), End::Decode),
        ("accepted", response("202 Accepted", ""), End::Decode),
        (
            "no content",
            then("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n", Die),
            End::Decode,
        ),
        // Refusals.
        (
            "not found",
            response(&format!("404 Not Found\r\n{html}"), page),
            End::Status(404),
        ),
        (
            "broken",
            response(&format!("500 Oh No\r\n{html}"), page),
            End::Status(500),
        ),
        (
            "busy",
            response("503 Busy\r\nretry-after: 0", ""),
            End::Status(503),
        ),
        (
            "a refusal that is a result",
            json_response("500 Oh No", ok),
            End::Status(500),
        ),
        (
            "a refusal that is an error",
            json_response(
                "400 Bad Request",
                r#"{"jsonrpc":"2.0","error":{"code":-9,"message":"\u001b[31m"}}"#,
            ),
            End::Protocol(-9),
        ),
        (
            "a refusal of another",
            json_response(
                "400 Bad Request",
                r#"{"jsonrpc":"2.0","id":99999,"error":{"code":-9,"message":"no"}}"#,
            ),
            End::Decode,
        ),
        (
            "a status of its own",
            response("999 Odd", ""),
            End::Status(999),
        ),
        (
            "an interim response and no other",
            then("HTTP/1.1 100 Continue\r\n\r\n", Hold),
            LATE,
        ),
        (
            "interim responses without end",
            vec![Flood("HTTP/1.1 100 Continue\r\n\r\n".into())],
            LATE,
        ),
        (
            "another protocol",
            then(
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
                Hold,
            ),
            End::Status(101),
        ),
        (
            "no HTTP",
            then("220 mail.example.com ESMTP\r\n", Hold),
            End::Transport,
        ),
        (
            "an older HTTP",
            then(format!("HTTP/0.9 200 OK\r\n\r\n{ok}"), Hold),
            End::Transport,
        ),
        (
            "two lengths",
            then(
                format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n{ok}"
                ),
                Hold,
            ),
            End::Transport,
        ),
        // Redirects.
        (
            "a loop",
            response("307 Over There\r\nlocation: /mcp", ""),
            End::Status(307),
        ),
        (
            "an endless way",
            response("308 Over There\r\nlocation: ../x/$N", ""),
            End::Status(308),
        ),
        (
            "a way elsewhere",
            response("307 Over There\r\nlocation: http://127.0.0.1:9/", ""),
            End::Status(307),
        ),
        (
            "a way to another method",
            response("303 Over There\r\nlocation: /mcp", ""),
            End::Status(303),
        ),
        (
            "a way to the same place",
            response("307 Over There\r\nlocation: \t", ""),
            End::Status(307),
        ),
        (
            "a way without a location",
            response("307 Over There", ""),
            End::Status(307),
        ),
    ]
}

/// What goes wrong below the messages ends a call just as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_ends_whatever_comes_over_http() {
    each(http_rows(), async |(name, acts, expected)| {
        let mut met = Met::new(Rogue::new().on("tools/call", acts), Framing::Json).await;
        met.limit = 1 << 20;
        let connection = met.connect().await.expect("a connection");
        let mut call = CallTool::new("rogue", ());
        if expected == LATE {
            call = call.work_timeout(WORK);
        }
        let started = Instant::now();
        let outcome = connection.call(call).await;
        let (end, elapsed) = (End::of(&outcome), started.elapsed());
        assert_eq!(end, expected, "{name}: {outcome:?}");
        assert!(
            elapsed < BUDGET && (end != LATE || elapsed < SOON),
            "{name}: {elapsed:?}"
        );
        let running = met.running.as_ref().expect("over HTTP");
        // What is too long is not read on; the rest waits in sockets.
        if end != LATE {
            assert!(
                running.written() < 16 << 20,
                "{name}: {}",
                running.written()
            );
        }
        let requests = running.requests().len();
        match name {
            "a loop" | "an endless way" | "a way to the same place" => {
                assert_eq!(requests, 1 + 6, "{name}")
            }
            _ => {
                // One that refuses like an older one is probed again.
                let refused = outcome.as_ref().err().and_then(Error::http_status);
                let doubtful = refused.is_some_and(|status| (400..500).contains(&status));
                assert_eq!(requests, 1 + 1 + usize::from(doubtful), "{name}");
            }
        }
        let fine = connection.call_tool("fine", ()).await;
        assert_eq!(End::of(&fine), End::Done, "{name}, afterwards: {fine:?}");
    })
    .await;
}

/// Nobody accepts, nobody listens: that is told as well.
#[tokio::test]
async fn a_server_that_does_not_let_anybody_in_is_given_up() {
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let url = format!("http://{}/", socket.local_addr().expect("an address"));
    let client = Client::new("tests", "1.0").work_timeout(WORK);
    let started = Instant::now();
    // The system lets in whoever waits for the server to.
    assert_eq!(End::of(&client.connect(Http::new(&url)).await), LATE);
    drop(socket);
    assert_eq!(
        End::of(&client.connect(Http::new(&url)).await),
        End::Transport
    );
    assert!(started.elapsed() < SOON);
}
