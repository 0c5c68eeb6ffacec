//! Older clients over HTTP: a session from `initialize` to DELETE, and what is refused on the way.

use std::time::Duration;

use antiphon::{Server as Desk, http::Sessions};
use antiphon_tests::{
    call as modern, harbour,
    http::{Answer, Server, post},
    log::Log,
    older_http::{Older, call, request, text, watched},
    until,
};
use serde_json::{Value, json};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

async fn server() -> Server {
    Server::start(antiphon::http::service(harbour::endpoint())).await
}

/// LEG-S-01, LEG-S-03, LHTTP-S-20, LHTTP-S-22, LHTTP-S-05, LEG-B-07
#[tokio::test]
async fn a_session_lasts_from_initialize_to_delete() {
    let server = server().await;
    for version in VERSIONS {
        let client = Older::open(server.address, version).await;
        let session = client.session.clone().expect("a session");
        assert!(session.len() >= 32 && session.bytes().all(|byte| (0x21..0x7f).contains(&byte)));
        let answer = client.call(1, "echo", json!({"a": 1})).await;
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(text(answer.last()), r#"{"a":1}"#);
        assert!(answer.last()["result"].get("resultType").is_none());
        let pong = client.post(&request("p", "ping", json!({}))).await;
        assert_eq!(
            pong.last(),
            &json!({"jsonrpc": "2.0", "id": "p", "result": {}})
        );
        assert_eq!(client.delete().await, 204);
        assert_eq!(client.delete().await, 404);
        let gone = client.call(2, "echo", json!({})).await;
        assert_eq!((gone.status, gone.code()), (404, -32600));
        assert_eq!(gone.last()["id"], 2);
    }
}

/// LEG-S-03, LEG-S-04: what nobody knows is answered with the newest that has a handshake.
#[tokio::test]
async fn an_unknown_revision_is_offered_the_newest() {
    let server = server().await;
    for proposed in ["2026-07-28", "2030-01-01", "1.0"] {
        let params = json!({"protocolVersion": proposed, "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"}});
        let client = Older::new(server.address, "");
        let answer = client.post(&request(1, "initialize", params)).await;
        assert_eq!(answer.last()["result"]["protocolVersion"], "2025-11-25");
    }
}

/// wire.md 10.1, steps 6, 12 and 13; LHTTP-S-23, LHTTP-S-24, LHTTP-S-27, ERA-S-04
#[tokio::test]
async fn requests_without_a_session_are_told_what_to_do() {
    let server = server().await;
    let client = Older::new(server.address, "2025-06-18");
    let answer = client.call(7, "echo", json!({})).await;
    assert_eq!((answer.status, answer.code()), (400, -32600));
    assert_eq!(answer.last()["id"], 7);
    let words = answer.last()["error"]["message"]
        .as_str()
        .expect("a text")
        .to_owned();
    for word in ["Mcp-Session-Id", "initialize", "protocolVersion", "_meta"] {
        assert!(words.contains(word), "{words}");
    }
    for unknown in ["x", "0123456789abcdef0123456789abcdef", &"f".repeat(4000)] {
        let answer = client.in_session(unknown).call(7, "echo", json!({})).await;
        assert_eq!((answer.status, answer.code()), (404, -32600), "{unknown}");
    }
    let mut client = Older::open(server.address, "2025-06-18").await;
    let mut twice = client.request("POST", call(1, "echo", json!({})).to_string());
    let id = client
        .session
        .clone()
        .expect("a session")
        .parse()
        .expect("a header");
    twice.headers_mut().append("mcp-session-id", id);
    assert_eq!(client.send(twice).await.status, 404);
    client.version = "1999-01-01".to_owned();
    let answer = client.call(1, "echo", json!({})).await;
    assert_eq!((answer.status, answer.code()), (400, -32022));
    assert_eq!(client.delete().await, 400);
    assert_eq!(client.get(None).await.status(), 400);
    // Another older one than was agreed upon is nothing to end a session for.
    client.version = "2025-11-25".to_owned();
    assert_eq!(client.call(1, "echo", json!({})).await.status, 200);
    client.version = String::new();
    assert_eq!(client.call(1, "echo", json!({})).await.status, 200);
    // AMB-05
    client.version = "2026-07-28".to_owned();
    let answer = client.call(1, "echo", json!({})).await;
    assert_eq!((answer.status, answer.code()), (400, -32602));
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"}});
    let answer = client.post(&request(1, "initialize", params)).await;
    assert_eq!((answer.status, answer.code()), (404, -32601));
}

/// wire.md 10.1, steps 5.2 and 17 to 19; LHTTP-S-04, LEG-S-07
#[tokio::test]
async fn notifications_and_responses_are_taken_only_in_a_session() {
    let server = server().await;
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let response = json!({"jsonrpc": "2.0", "id": 99, "result": {}});
    for (version, null) in [("2025-06-18", true), ("2025-11-25", false), ("", false)] {
        let mut client = Older::new(server.address, version);
        for message in [&notification, &response] {
            let refused = client.post(message).await;
            assert_eq!((refused.status, refused.code()), (400, -32600));
            assert_eq!(
                refused.last().get("id"),
                null.then_some(&Value::Null),
                "{version}"
            );
            let refused = client.in_session("none").post(message).await;
            assert_eq!((refused.status, refused.code()), (404, -32600));
        }
        if version.is_empty() {
            client.version = "2025-03-26".to_owned();
        }
        let client = client.opened().await;
        for message in [&notification, &response] {
            let taken = client.post(message).await;
            assert_eq!((taken.status, taken.text.as_str()), (202, ""));
        }
    }
}

/// LEG-S-07
#[tokio::test]
async fn an_error_that_is_nobodys_has_the_id_that_the_revision_wants() {
    let server = server().await;
    for (version, null) in [
        ("2025-03-26", true),
        ("2025-06-18", true),
        ("2025-11-25", false),
    ] {
        let mut client = Older::open(server.address, version).await;
        for said in [true, false] {
            if !said {
                client.version = String::new();
            }
            for (body, code) in [
                ("{", -32700),
                ("nonsense", -32700),
                (r#"{"jsonrpc":"2.0"}"#, -32600),
                ("7", -32600),
                (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, -32600),
            ] {
                let answer = client.send(client.request("POST", body)).await;
                assert_eq!((answer.status, answer.code()), (400, code), "{body}");
                assert_eq!(
                    answer.last().get("id"),
                    null.then_some(&Value::Null),
                    "{version} {body}"
                );
            }
        }
    }
    let stranger = Older::new(server.address, "");
    let answer = stranger.send(stranger.request("POST", "{")).await;
    assert_eq!(answer.last().get("id"), None);
}

/// wire.md 10.1, steps 20 to 24; LHTTP-S-12
#[tokio::test]
async fn get_and_delete_belong_to_sessions() {
    let server = server().await;
    let client = Older::open(server.address, "2025-11-25").await;
    for accept in ["application/json", "text/html", ""] {
        let mut request = client.request("GET", "");
        let accept = accept.parse().expect("a header");
        request.headers_mut().insert("accept", accept);
        assert_eq!(client.send(request).await.status, 406);
    }
    let stranger = Older::new(server.address, "2025-11-25");
    assert_eq!(stranger.get(None).await.status(), 400);
    assert_eq!(stranger.delete().await, 400);
    assert_eq!(stranger.in_session("none").get(None).await.status(), 404);
    assert_eq!(stranger.in_session("none").delete().await, 404);
    let put = client.send(client.request("PUT", "")).await;
    assert_eq!(
        (put.status, put.header("allow")),
        (405, "GET, POST, DELETE, OPTIONS")
    );
    assert_eq!(client.get(None).await.status(), 200);
}

/// ERA-S-01, ERA-S-02, ERA-S-06: both eras side by side, and neither touches the other.
#[tokio::test]
async fn modern_requests_have_nothing_to_do_with_sessions() {
    let service = antiphon::http::service(harbour::endpoint());
    let server = Server::start(service.clone()).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let mut echo = post(&modern(1, "echo", json!({})));
    let session = client.session.clone().expect("a session");
    for id in ["none", &session] {
        let id = id.parse().expect("a header");
        echo.headers_mut().insert("mcp-session-id", id);
        let answer = server.send(echo.clone()).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.last()["result"]["resultType"], "complete");
        assert!(answer.headers.get("mcp-session-id").is_none());
    }
    assert_eq!(service.session_counts().opened, 1);
    // LEG-B-07, ERA: what is gone in the modern era is there in the older one.
    let ping = antiphon_tests::request(1, "ping", json!({}));
    let older_ping = request(1, "ping", json!({}));
    assert_eq!(server.post(&ping).await.code(), -32601);
    assert_eq!(client.post(&older_ping).await.code(), 0);
}

/// LHTTP-S-24: who knows the id of a session does not have it.
#[tokio::test]
async fn a_session_belongs_to_whoever_opened_it() {
    use antiphon::auth::{Principal, StaticTokens};
    let tokens = StaticTokens::new()
        .token(
            "ada",
            Principal::subject("ada").issued_by("us").through("desk"),
        )
        .token(
            "ada-2",
            Principal::subject("ada")
                .issued_by("us")
                .through("desk")
                .scopes(["x"]),
        )
        .token(
            "ada-phone",
            Principal::subject("ada").issued_by("us").through("phone"),
        )
        .token(
            "bob",
            Principal::subject("bob").issued_by("us").through("desk"),
        );
    let service = antiphon::http::service(harbour::endpoint()).verifier(tokens);
    let server = Server::start(service).await;
    let ada = Older::new(server.address, "2025-11-25")
        .token("ada")
        .opened()
        .await;
    let mut asked = ada.streamed(1, "ask", json!({})).await;
    let question = asked.message().await;
    let last = question.id.clone().expect("an id");
    for token in ["bob", "ada-phone"] {
        let other = ada.clone().token(token);
        assert_eq!(other.call(2, "echo", json!({})).await.status, 404);
        assert_eq!(other.get(None).await.status(), 404);
        assert_eq!(other.get(Some(&last)).await.status(), 404);
        let yes = json!({"action": "accept", "content": {"ok": true}});
        assert_eq!(other.answer(&question.data, yes).await.status, 404);
        assert_eq!(other.cancel(1).await, 404);
        assert_eq!(other.delete().await, 404);
    }
    assert!(asked.is_quiet().await);
    // A fresh token of the same party's is the same party.
    let again = ada.clone().token("ada-2");
    let no = json!({"action": "decline"});
    assert_eq!(again.answer(&question.data, no).await.status, 202);
    let answer = asked.rest().await.pop().expect("an answer");
    assert!(text(&answer.data).contains("decline"), "{answer:?}");
    let mut unknown = ada.clone();
    unknown.token = None;
    assert_eq!(unknown.delete().await, 401);
    assert_eq!(again.delete().await, 204);
}

/// wire.md 10.5: a server that is of this era only is as it was.
#[tokio::test]
async fn a_modern_server_has_neither_sessions_nor_verbs() {
    let desk: Desk = Desk::new("desk", "1").modern_only();
    let server = Server::start(antiphon::http::service(desk)).await;
    let client = Older::new(server.address, "2025-11-25");
    for verb in ["GET", "DELETE"] {
        let answer = client.send(client.request(verb, "")).await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, "POST, OPTIONS")
        );
    }
    let answer = client.initialize().await;
    assert_eq!((answer.status, answer.code()), (400, -32022));
    assert!(answer.headers.get("mcp-session-id").is_none());
    let origin = "http://localhost:1".parse().expect("a header");
    let mut preflight = client.request("OPTIONS", "");
    preflight.headers_mut().insert("origin", origin);
    let answer = client.send(preflight).await;
    assert_eq!(answer.header("access-control-allow-methods"), "POST");
    assert_eq!(
        answer.header("access-control-expose-headers"),
        "www-authenticate, retry-after"
    );
}

/// A web page can open a session and read what it is called.
#[tokio::test]
async fn browsers_may_use_sessions() {
    let server = server().await;
    let client = Older::new(server.address, "2025-11-25");
    let origin = || "http://localhost:1".parse().expect("a header");
    let mut preflight = client.request("OPTIONS", "");
    preflight.headers_mut().insert("origin", origin());
    let answer = client.send(preflight).await;
    assert_eq!(
        answer.header("access-control-allow-methods"),
        "GET, POST, DELETE"
    );
    let client = client.opened().await;
    for verb in ["GET", "DELETE"] {
        let mut request = client.request(verb, "");
        request.headers_mut().insert("origin", origin());
        let response = client.begin(request).await;
        let headers = response.headers();
        assert_eq!(headers["access-control-allow-origin"], "http://localhost:1");
    }
}

/// Without sessions every POST stands alone, and nothing can be asked.
#[tokio::test]
async fn without_sessions_every_post_stands_alone() {
    let service = antiphon::http::service(harbour::endpoint()).stateless();
    let server = Server::start(service.clone()).await;
    let client = Older::new(server.address, "2025-11-25");
    let answer = client.initialize().await;
    assert_eq!(answer.status, 200);
    assert!(answer.headers.get("mcp-session-id").is_none());
    let offered = &answer.last()["result"]["capabilities"];
    assert_eq!(offered["tools"], json!({}), "nobody could be told");
    for client in [&client, &client.in_session("whatever")] {
        let answer = client.call(1, "echo", json!({"x": 1})).await;
        assert_eq!((answer.status, text(answer.last())), (200, r#"{"x":1}"#));
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&notification).await.status, 202);
        let asks = client.call(2, "ask", json!({})).await;
        assert_eq!(asks.last()["result"]["isError"], true);
        assert!(
            text(asks.last()).contains("keeps no sessions"),
            "{}",
            asks.text
        );
        let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        assert_eq!(client.post(&response).await.status, 400);
        let get = Answer::of(client.get(None).await).await;
        assert_eq!((get.status, get.header("allow")), (405, "POST, OPTIONS"));
        assert_eq!(client.delete().await, 405);
    }
    let told = client.post(&watched(3, "notify_at_once", json!({}))).await;
    assert_eq!(told.messages.len(), 4, "{}", told.text);
    assert!(!told.text.contains("id: "), "nothing to come back for");
    // LHTTP-S-26
    let nameless = Older::new(server.address, "");
    let batch = json!([call(1, "echo", json!({})), call(2, "echo", json!({}))]);
    let answer = nameless.post(&batch).await;
    assert_eq!(
        answer.last().as_array().map(Vec::len),
        Some(2),
        "{}",
        answer.text
    );
    assert_eq!(client.post(&batch).await.status, 400);
    assert_eq!(service.session_counts().opened, 0);
}

/// Single messages only: what would come before the answer is left out.
#[tokio::test]
async fn answers_can_be_single_messages() {
    let service = antiphon::http::service(harbour::endpoint()).json_answers();
    let server = Server::start(service).await;
    let client = Older::open(server.address, "2025-11-25").await;
    for message in [
        watched(1, "progress", json!({})),
        watched(2, "notify_at_once", json!({})),
        call(3, "slow", json!({"ms": 1300})),
    ] {
        let answer = client.post(&message).await;
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!((answer.status, answer.messages.len()), (200, 1));
        assert!(!text(answer.last()).is_empty());
    }
    let asks = client.call(4, "ask", json!({})).await;
    assert_eq!(asks.header("content-type"), "application/json");
    assert!(
        text(asks.last()).contains("single JSON messages"),
        "{}",
        asks.text
    );
    // What belongs to no call still has its stream.
    let mut listening = client.listen(None).await;
    client.call(5, "announce", json!({"what": "tools"})).await;
    let told = listening.message().await;
    assert_eq!(told.data["method"], "notifications/tools/list_changed");
    let slow = client.clone();
    let slow = tokio::spawn(async move { slow.call(6, "slow", json!({"ms": 60_000})).await });
    let mut cancelled = false;
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(client.cancel(6).await, 202);
        cancelled = slow.is_finished();
        if cancelled {
            break;
        }
    }
    assert!(cancelled, "a cancelled call holds its response");
    let answer = slow.await.expect("no panic");
    assert_eq!(answer.text, "");
}

/// A proxy can tell by the id where a session is; elsewhere it is unknown.
#[tokio::test]
async fn sessions_are_named_for_their_replica() {
    let replica = async |name: &str| {
        let sessions = Sessions::new().replica(name);
        Server::start(antiphon::http::service(harbour::endpoint()).sessions(sessions)).await
    };
    let (a, b) = (replica("a").await, replica("b").await);
    let client = Older::open(a.address, "2025-11-25").await;
    let session = client.session.clone().expect("a session");
    let random = session.strip_prefix("a-").expect("named for its replica");
    assert!(random.len() >= 32, "{session}");
    assert_eq!(client.call(1, "echo", json!({})).await.status, 200);
    let (bare, other) = (client.in_session(random), format!("b-{random}"));
    assert_eq!(bare.call(2, "echo", json!({})).await.status, 404);
    let renamed = client.in_session(&other);
    assert_eq!(renamed.call(3, "echo", json!({})).await.status, 404);
    for id in [&session, &other] {
        let elsewhere = Older::new(b.address, "2025-11-25").in_session(id);
        assert_eq!(elsewhere.call(4, "echo", json!({})).await.status, 404);
    }
    assert_eq!(client.delete().await, 204);
}

#[test]
#[should_panic(expected = "a replica is called by letters")]
fn a_replica_has_a_plain_name() {
    _ = Sessions::new().replica("a b");
}

/// Sessions are bounded; who is refused is told when to come again.
#[tokio::test]
async fn there_are_only_so_many_sessions() {
    let sessions = Sessions::new().most(2).idle(Duration::from_millis(300));
    let service = antiphon::http::service(harbour::endpoint()).sessions(sessions);
    let server = Server::start(service.clone()).await;
    let one = Older::open(server.address, "2025-11-25").await;
    let two = Older::open(server.address, "2025-11-25").await;
    let refused = Older::new(server.address, "2025-11-25").initialize().await;
    assert_eq!((refused.status, refused.code()), (503, -32603));
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(two.delete().await, 204);
    let two = Older::open(server.address, "2025-11-25").await;
    // Neither a call that runs nor a stream is idle.
    let _stream = one.listen(None).await;
    let slow = two.call(1, "slow", json!({"ms": 1000}));
    let (slow, ()) = tokio::join!(slow, async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(service.session_counts().open, 2);
    });
    assert_eq!(slow.status, 200);
    until(|| service.session_counts().open == 1).await;
    assert_eq!(two.call(2, "echo", json!({})).await.status, 404);
    assert_eq!(one.call(2, "echo", json!({})).await.status, 200);
    drop(_stream);
    until(|| service.session_counts().open == 0).await;
    let counts = service.session_counts();
    assert_eq!((counts.opened, counts.expired, counts.ended), (3, 2, 1));
    assert_eq!(
        (counts.refused, counts.displaced, counts.event_bytes),
        (1, 0, 0)
    );
}

/// LHTTP-S-21: not in `Debug` either.
#[tokio::test]
async fn ids_of_sessions_are_not_told() {
    let (log, _guard) = Log::of_everything();
    let service = antiphon::http::service(harbour::endpoint());
    let server = Server::start(service.clone()).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let mut asked = client.streamed(1, "ask", json!({})).await;
    asked.message().await;
    client.cancel(1).await;
    client.get(Some("9-9")).await;
    client.delete().await;
    client.delete().await;
    let session = client.session.expect("a session");
    assert!(!format!("{service:?}").contains(&session));
    let text = log.text();
    assert!(text.contains("a session began"), "the log is read");
    // The client's own connection logs nothing, so whatever is there is the server's.
    assert!(!text.contains(&session));
}
