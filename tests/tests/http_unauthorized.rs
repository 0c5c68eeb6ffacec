//! A server that wants a token, and a client that finds out which, over real sockets.

use std::time::{Duration, Instant};

use antiphon::{
    auth::{Principal, StaticTokens},
    client::{Challenge, Client, Clock, Error, ErrorKind, Http, ResourceMetadata},
};
use antiphon_tests::{
    harbour,
    http::Server,
    socket::{Request, Socket, json, response},
};
use serde_json::json;

const HERE: &str = "/.well-known/oauth-protected-resource/mcp";
const ROOT: &str = "/.well-known/oauth-protected-resource";

/// The metadata of a server.
fn metadata(resource: &str) -> String {
    let metadata = json!({
        "resource": resource,
        "authorization_servers": ["https://login.example"],
        "scopes_supported": ["mcp", "admin"],
        "resource_name": "A harbour",
        "bearer_methods_supported": ["header"],
    });
    metadata.to_string()
}

fn challenge(url: &str) -> [String; 1] {
    [format!(r#"Bearer resource_metadata="{url}""#)]
}

fn not_found() -> String {
    response("404 Not Found", "text/plain", "no such page")
}

/// A server at `/mcp` of a socket, and a client with much to hide.
fn at(socket: &Socket) -> Http {
    Http::new(format!("{}/mcp?key=hidden", socket.origin()))
        .bearer("hidden")
        .header("x-key", "hidden")
        .header("user-agent", "hidden")
        .header("cookie", "hidden")
}

/// Answers one request after the other, each on a connection of its own.
async fn answers(socket: &Socket, answers: &[String]) -> Vec<Request> {
    let mut requests = Vec::new();
    for answer in answers {
        requests.push(socket.answer(answer).await.0);
    }
    requests
}

/// What a client makes of an answer at the place that the challenge names.
async fn made_of(answer: &str) -> Result<ResourceMetadata, Error> {
    let socket = Socket::bind().await;
    let challenges = challenge(&format!("{}/meta", socket.origin()));
    let http = at(&socket);
    let answer = answer.replace("$ORIGIN", &socket.origin());
    // The connection ends with the answer.
    let server = async { drop(socket.answer(&answer).await) };
    tokio::join!(http.resource_metadata(&challenges), server).0
}

/// AUTH-C-01 to AUTH-C-03, AUTH-C-29: from a refused request to who issues tokens.
#[tokio::test]
async fn a_client_finds_out_who_issues_tokens() {
    let publisher = Socket::bind().await;
    let place = format!("{}/meta?of=harbour", publisher.origin());
    let tokens = StaticTokens::new().token("good", Principal::subject("ada").scopes(["mcp"]));
    let service = antiphon::http::service(harbour::endpoint())
        .verifier(tokens)
        .require_scopes(["mcp", "sail"])
        .resource_metadata(&*place);
    let server = Server::start(service).await;
    let url = format!("http://{}/mcp", server.address);
    for (token, status, why) in [
        ("wrong", 401, "invalid_token"),
        ("good", 403, "insufficient_scope"),
    ] {
        let http = Http::new(&*url).bearer(token).header("x-key", "hidden");
        let refused = Client::new("desk", "1.0").connect(http.clone()).await;
        let error = refused.expect_err("no way in");
        let ErrorKind::Unauthorized {
            status: told,
            challenges,
        } = error.kind()
        else {
            panic!("{error:?}");
        };
        assert_eq!(*told, status);
        let bearer = Challenge::of(*told, challenges).bearer();
        let bearer = bearer.expect("a challenge");
        assert_eq!(bearer.error.as_deref(), Some(why));
        assert_eq!(bearer.scopes, ["mcp", "sail"]);
        assert_eq!(bearer.resource_metadata.as_deref(), Some(&*place));

        let answer = json(&metadata(&url));
        let (found, (request, _)) = tokio::join!(
            http.resource_metadata(challenges),
            publisher.answer(&answer)
        );
        let found = found.expect("metadata");
        assert_eq!(found.resource, url);
        assert_eq!(found.authorization_servers, ["https://login.example"]);
        assert_eq!(found.scopes_supported, ["mcp", "admin"]);
        assert_eq!(found.resource_name.as_deref(), Some("A harbour"));
        assert_eq!(found.extra["bearer_methods_supported"], json!(["header"]));
        // Every byte of it: nothing is said of the caller.
        let host = publisher.origin().replace("http://", "");
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            request.head,
            format!(
                "GET /meta?of=harbour HTTP/1.1\r\nhost: {host}\r\naccept: application/json\r\n\
                 user-agent: antiphon/{version}\r\n\r\n"
            )
        );
    }
}

/// AUTH-C-04: the place below the path first, then the root; an origin's own metadata will do.
#[tokio::test]
async fn without_a_place_the_usual_ones_are_tried() {
    let refused = || response("401 Unauthorized", "text/plain", "who?");
    for (before, name, tried) in [
        (None, "/mcp", &[HERE][..]),
        (Some(not_found()), "/mcp", &[HERE, ROOT]),
        (Some(not_found()), "", &[HERE, ROOT]),
        (Some(refused()), "/", &[HERE, ROOT]),
    ] {
        for challenges in [&["Basic realm=x, Bearer scope=a".to_owned()][..], &[]] {
            let socket = Socket::bind().await;
            let good = json(&metadata(&format!("{}{name}", socket.origin())));
            let said: Vec<_> = before.iter().cloned().chain([good]).collect();
            let http = at(&socket);
            let (found, requests) =
                tokio::join!(http.resource_metadata(challenges), answers(&socket, &said));
            found.expect("metadata");
            for (request, path) in requests.iter().zip(tried) {
                assert_eq!(request.line(), format!("GET {path} HTTP/1.1"));
                assert!(!request.head.contains("hidden"), "{}", request.head);
            }
            assert_eq!(requests.len(), tried.len());
        }
    }
}

#[tokio::test]
async fn where_nothing_is_published_that_is_told() {
    let socket = Socket::bind().await;
    let said = [not_found(), not_found()];
    let http = at(&socket);
    let (found, _) = tokio::join!(http.resource_metadata(&[]), answers(&socket, &said));
    let error = found.expect_err("nothing");
    assert!(matches!(error.kind(), ErrorKind::Status(404)), "{error:?}");
    let text = error.to_string();
    let place = format!("{}{ROOT}: ", socket.origin());
    assert!(text.contains(&place), "{text}");
    assert!(text.contains("404 Not Found"), "{text}");
    assert!(text.contains("no metadata"), "{text}");
    // The page itself helps nobody.
    assert!(!text.contains("no such page"), "{text}");
    // A place that the server names is the only one.
    let challenges = challenge(&format!("{}/meta", socket.origin()));
    let (found, _) = tokio::join!(
        http.resource_metadata(&challenges),
        answers(&socket, &said[..1])
    );
    let error = found.expect_err("nothing");
    assert!(error.to_string().contains("/meta: "), "{error}");
    assert!(socket.is_quiet().await);
    // And what is wrong there is not made up for elsewhere.
    let said = [json(&metadata("http://elsewhere.example/mcp"))];
    let (found, _) = tokio::join!(http.resource_metadata(&[]), answers(&socket, &said));
    let error = found.expect_err("of another server");
    assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
    assert!(socket.is_quiet().await);
}

/// SEC-C-01, SEC-C-03: a server cannot have its client read whatever it likes.
#[tokio::test]
async fn a_server_leads_to_no_place_that_is_not_safe() {
    let socket = Socket::bind().await;
    let local = format!("{}/meta", socket.origin());
    for (server, place) in [
        ("http://a.example/mcp", &*local),
        ("https://a.example/mcp", &*local),
        ("https://a.example/mcp", "http://b.example/meta"),
        ("http://127.0.0.1:9/mcp", "http://b.example/meta"),
        ("http://127.0.0.1:9/mcp", "ftp://127.0.0.1:9/meta"),
        ("http://127.0.0.1:9/mcp", "/meta"),
    ] {
        let http = Http::new(server).no_proxy();
        let found = http.resource_metadata(&challenge(place)).await;
        let error = found.expect_err(place);
        assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(place) && text.contains("not read"), "{text}");
    }
    assert!(socket.is_quiet().await);
}

#[tokio::test]
async fn redirects_are_followed_within_the_origin() {
    let (socket, elsewhere) = (Socket::bind().await, Socket::bind().await);
    let http = at(&socket);
    let to = |status: &str, target: &str| {
        format!("HTTP/1.1 {status}\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n")
    };
    let challenges = challenge(&format!("{}/meta", socket.origin()));
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let good = json(&metadata(&format!("{}/mcp", socket.origin())));
        let server = async {
            let (_, mut peer) = socket.answer(&to(status, "/meta/")).await;
            let request = peer.read().await;
            peer.write(&good).await;
            request
        };
        let (found, request) = tokio::join!(http.resource_metadata(&challenges), server);
        found.expect("metadata");
        assert_eq!(request.line(), "GET /meta/ HTTP/1.1");
        assert!(!request.head.contains("hidden"), "{}", request.head);
    }
    let away = [to("302 Found", &format!("{}/meta", elsewhere.origin()))];
    let (found, _) = tokio::join!(http.resource_metadata(&challenges), answers(&socket, &away));
    let error = found.expect_err("not followed");
    assert!(matches!(error.kind(), ErrorKind::Status(302)), "{error:?}");
    assert!(error.to_string().contains("same origin"), "{error}");
    assert!(elsewhere.is_quiet().await);
}

/// AUTH-C-05, and whatever else an answer may be.
#[tokio::test]
async fn what_is_no_metadata_of_this_server_is_refused() {
    let good = metadata("$ORIGIN/mcp");
    // Its length is up to the connection's end.
    let whole = |text: &str| format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{text}");
    made_of(&whole(&good)).await.expect("metadata");
    let padded = |length: usize| {
        let text = r#"{"resource":"a"}"#;
        " ".repeat(length - text.len()) + text
    };
    for (answer, words) in [
        (whole("<html>welcome</html>"), "no metadata"),
        (whole(""), "no metadata"),
        (
            whole(r#"["$ORIGIN/mcp",["https://login.example"]]"#),
            "no metadata",
        ),
        (whole(r#"{"authorization_servers":[]}"#), "resource"),
        (whole(&metadata("$ORIGIN/mcp/")), "/mcp/"),
        (whole(&metadata("$ORIGIN/other")), "/other"),
        (whole(&metadata("$ORIGIN")), "about"),
        (whole(&metadata("https://b.example/mcp")), "b.example"),
        (
            whole(&metadata("https://b.example/\u{1b}[2J\u{202e}")),
            r"\u{1b}[2J\u{202e}",
        ),
        (whole(&padded(64 << 10)), "about a,"),
        (whole(&padded((64 << 10) + 1)), "longer than 65536"),
        (
            format!(
                "HTTP/1.1 200 OK\r\ncontent-length: 9999999999\r\n\r\n{}",
                "x".repeat((64 << 10) + 1)
            ),
            "longer than 65536",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}".to_owned(),
            "gzip",
        ),
    ] {
        let error = made_of(&answer).await.expect_err(words);
        assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(words) && text.len() < 600, "{text}");
        assert!(!text.contains("hidden"), "{text}");
    }
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{";
    let error = made_of(cut).await.expect_err("cut off");
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
}

/// A server that says a little all the time does not keep its client for ever.
#[tokio::test]
async fn metadata_that_drips_is_given_up() {
    let socket = Socket::bind().await;
    let http = at(&socket).connect_timeout(Duration::from_millis(500));
    let server = async {
        let mut peer = socket.accept().await;
        peer.read().await;
        peer.write("HTTP/1.1 200 OK\r\n\r\n{").await;
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            // Once the client is gone there is nobody to write to.
            if tokio::io::AsyncWriteExt::write_all(&mut peer.0, b" ")
                .await
                .is_err()
            {
                return;
            }
        }
    };
    let begun = Instant::now();
    let (found, ()) = tokio::join!(http.resource_metadata(&[]), server);
    let error = found.expect_err("not for ever");
    let limit = Duration::from_millis(5500);
    assert!(
        matches!(error.kind(), ErrorKind::TimedOut { clock: Clock::Work, after } if *after == limit),
        "{error:?}"
    );
    assert!(begun.elapsed() >= limit);
}
