//! Streams of older clients: when an answer becomes one, and going on after a connection is lost.

use std::{sync::Arc, time::Duration};

use antiphon::{Ask, Call, Form, Server as Desk, Stop, http::Sessions, raw::Endpoint};
use antiphon_tests::{
    harbour,
    http::Server,
    older_http::{Older, call, request, text, watched},
    until,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

async fn server() -> Server {
    Server::start(antiphon::http::service(harbour::endpoint())).await
}

/// A desk whose clerk works only when told to.
fn desk() -> (Desk, Arc<Semaphore>) {
    let bell = Arc::new(Semaphore::new(0));
    let ring = bell.clone();
    let work = move |call: Call| {
        let bell = ring.clone();
        async move {
            call.progress().report(1);
            bell.acquire().await.expect("never closed").forget();
            call.progress().report(2);
            "worked"
        }
    };
    let nap = async |call: Call| {
        call.let_go(Duration::from_millis(50));
        tokio::time::sleep(Duration::from_millis(200)).await;
        "rested"
    };
    let desk = Desk::new("desk", "1").tool("work", work).tool("nap", nap);
    (desk, bell)
}

#[derive(Form)]
struct Confirm {
    ok: bool,
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"ok": true}})
}

/// LHTTP-S-05, LHTTP-S-06, LHTTP-S-09, LHTTP-S-16, LHTTP-S-17
#[tokio::test]
async fn the_first_notification_makes_it_a_stream_with_ids() {
    let server = server().await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = Older::open(server.address, version).await;
        let mut seen = Vec::new();
        for tool in ["progress", "notify_at_once", "progress_backwards"] {
            let events = client
                .stream(&watched(tool, tool, json!({})))
                .await
                .rest()
                .await;
            let (first, messages) = match version {
                "2025-11-25" => events.split_first().expect("events"),
                _ => (&events[0], &events[..]),
            };
            let primed = first.data.is_null() && first.retry == Some(1000);
            assert_eq!(primed, version == "2025-11-25", "{first:?}");
            assert_eq!(messages.last().expect("an answer").data["id"], tool);
            for message in &messages[..messages.len() - 1] {
                assert!(message.data["method"].is_string(), "{message:?}");
                assert_eq!(message.retry, None);
            }
            seen.extend(events.into_iter().map(|event| event.id.expect("an id")));
        }
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), all, "no id twice in a session");
    }
}

/// A call that says nothing for long is answered with a stream, so that nobody takes it for dead.
#[tokio::test]
async fn silence_makes_it_a_stream() {
    let server = server().await;
    let client = Older::open(server.address, "2025-06-18").await;
    let quick = client.call(1, "slow", json!({"ms": 300})).await;
    assert_eq!(quick.header("content-type"), "application/json");
    let began = std::time::Instant::now();
    let events = client.streamed(2, "slow", json!({"ms": 2500})).await;
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "its head is there"
    );
    let events = events.rest().await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(text(&events[0].data), "slept 2500, 0 dropped");
}

/// SHIM-S-05, LHTTP-S-10: questions on the stream of the call, answers by POST.
#[tokio::test]
async fn questions_are_asked_on_the_stream_of_their_call() {
    let server = server().await;
    for version in ["2025-06-18", "2025-11-25"] {
        let client = Older::open(server.address, version).await;
        let mut standalone = client.listen(None).await;
        let mut stream = client.streamed(1, "ask", json!({})).await;
        let question = stream.message().await.data;
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(client.answer(&question, yes()).await.status, 202);
        let answer = stream.message().await.data;
        assert!(text(&answer).contains(r#""ok":true"#), "{answer}");
        assert_eq!(stream.next().await, None);
        // Twice, late, and to nothing: taken, and without effect.
        assert_eq!(client.answer(&question, yes()).await.status, 202);
        assert_eq!(client.answer(&json!({"id": 77}), yes()).await.status, 202);
        if version == "2025-11-25" {
            assert!(standalone.next().await.expect("primed").data.is_null());
        }
        assert!(standalone.is_quiet().await);
    }
}

/// An answer counts where its question was asked.
#[tokio::test]
async fn an_answer_from_another_session_is_no_answer() {
    let server = server().await;
    let client = Older::open(server.address, "2025-11-25").await;
    let other = Older::open(server.address, "2025-11-25").await;
    let mut stream = client.streamed(1, "ask", json!({})).await;
    let question = stream.message().await.data;
    assert_eq!(other.answer(&question, yes()).await.status, 202);
    assert!(stream.is_quiet().await);
    // Nor is one that only looks like one.
    for id in [json!(question["id"].to_string()), json!(-1), json!(null)] {
        client.answer(&json!({"id": id}), yes()).await;
    }
    assert!(stream.is_quiet().await);
    let refused = json!({"jsonrpc": "2.0", "id": question["id"],
        "error": {"code": -1, "message": "no"}});
    assert_eq!(client.post(&refused).await.status, 202);
    let answer = stream.message().await.data;
    assert!(text(&answer).contains("cancel"), "{answer}");
}

/// LHTTP-S-11, LHTTP-S-18, LHTTP-S-19: gone in the middle of a question, and back.
#[tokio::test]
async fn a_client_that_was_gone_goes_on_where_it_was() {
    let endpoint = harbour::endpoint();
    let server = Server::start(antiphon::http::service(endpoint.clone())).await;
    let client = Older::open(server.address, "2025-06-18").await;
    let mut other = client.stream(&watched("o", "fail_late", json!({}))).await;
    let other_event = other.message().await;
    let mut stream = client.streamed(1, "ask", json!({})).await;
    let question = stream.message().await;
    let last = question.id.clone().expect("an id");
    drop(stream);
    // Back before the answer, twice: the newest connection has the stream.
    let mut first = client.listen(Some(&last)).await;
    let mut second = client.listen(Some(&last)).await;
    assert_eq!(first.next().await, None, "it goes on elsewhere");
    assert!(second.is_quiet().await);
    drop(second);
    assert_eq!(client.answer(&question.data, yes()).await.status, 202);
    until(|| endpoint.calls() < 2).await;
    // Back after it: the answer waits, and nothing of another stream.
    for _ in 0..3 {
        let events = client.listen(Some(&last)).await.rest().await;
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0].data["id"], 1);
        assert!(text(&events[0].data).contains("accept"));
    }
    let question = other.message().await;
    assert_eq!(question.data["method"], "elicitation/create");
    let other_id = other_event.id.expect("an id");
    drop(other);
    let mut again = client.listen(Some(&other_id)).await;
    assert_eq!(again.message().await, question, "the same once more");
    client.cancel("o").await;
    let rest = again.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0].data["method"], "notifications/cancelled");
}

/// LHTTP-S-11: who leaves has not cancelled, with or without a stream; `notifications/cancelled`
/// does.
#[tokio::test]
async fn leaving_is_not_cancelling() {
    let endpoint = harbour::endpoint();
    let server = Server::start(antiphon::http::service(endpoint.clone())).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let slow = client.request("POST", call(1, "slow", json!({"ms": 700})).to_string());
    let left = tokio::time::timeout(Duration::from_millis(200), client.begin(slow)).await;
    assert!(left.is_err(), "not answered yet");
    assert_eq!(endpoint.calls(), 1);
    until(|| endpoint.calls() == 0).await;
    let after = client.call(2, "slow", json!({"ms": 0})).await;
    assert_eq!(text(after.last()), "slept 0, 0 dropped");
    // With a stream, too, and there it can be told apart.
    let mut stream = client.streamed(3, "slow", json!({"ms": 60_000})).await;
    let primed = stream.next().await.expect("an event");
    let last = primed.id.expect("an id");
    drop(stream);
    assert_eq!(endpoint.calls(), 1);
    let mut again = client.listen(Some(&last)).await;
    assert!(again.is_quiet().await);
    assert_eq!(client.cancel(3).await, 202);
    assert_eq!(again.next().await, None, "no answer for what is cancelled");
    until(|| endpoint.calls() == 0).await;
    let after = client.call(4, "slow", json!({"ms": 0})).await;
    assert_eq!(text(after.last()), "slept 0, 1 dropped");
}

/// A question that is cancelled with its call is withdrawn, and its answer is nobody's.
#[tokio::test]
async fn a_cancelled_call_withdraws_its_question() {
    let endpoint = harbour::endpoint();
    let server = Server::start(antiphon::http::service(endpoint.clone())).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let mut stream = client.streamed(1, "ask", json!({})).await;
    let question = stream.message().await.data;
    assert_eq!(client.cancel(1).await, 202);
    let withdrawn = stream.message().await.data;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    assert_eq!(stream.next().await, None);
    assert_eq!(client.answer(&question, yes()).await.status, 202);
    until(|| endpoint.calls() == 0).await;
    assert_eq!(endpoint.waiting_calls(), 0);
}

/// Whoever cannot hear a question is not waited for: gone before there was a stream to come back
/// to.
#[tokio::test]
async fn a_question_that_nobody_can_hear_ends_its_call() {
    let bell = Arc::new(Semaphore::new(0));
    let ring = bell.clone();
    let late = move |ask: Ask| {
        let bell = ring.clone();
        async move {
            bell.acquire().await.expect("never closed").forget();
            let Confirm { ok } = ask.form("confirm", "Sure?")?;
            Ok::<_, Stop>(ok.to_string())
        }
    };
    let desk: Endpoint = Desk::new("desk", "1").tool("late", late).into();
    let server = Server::start(antiphon::http::service(desk.clone())).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let late = client.request("POST", call(1, "late", json!({})).to_string());
    let left = tokio::time::timeout(Duration::from_millis(200), client.begin(late)).await;
    assert!(left.is_err(), "not answered yet");
    // Until the server has noticed.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(desk.calls(), 1, "it runs on");
    bell.add_permits(1);
    until(|| desk.calls() == 0).await;
    assert_eq!(desk.waiting_calls(), 0);
}

/// LHTTP-S-18: ids that are old, forged, or of another session.
#[tokio::test]
async fn only_events_of_this_session_are_gone_on_after() {
    let server = server().await;
    let client = Older::open(server.address, "2025-11-25").await;
    let other = Older::open(server.address, "2025-11-25").await;
    let events = client
        .stream(&watched(1, "progress", json!({})))
        .await
        .rest()
        .await;
    let last = events[1].id.clone().expect("an id");
    let (stream, _) = last.split_once('-').expect("a stream");
    for forged in [
        format!("{stream}-99"),
        format!("{stream}-18446744073709551615"),
        format!("{stream}-"),
        format!("0{stream}-0"),
        "99-0".to_owned(),
        "x".to_owned(),
        "../1".to_owned(),
        "1".repeat(5000),
    ] {
        let (status, text) = client.resume_fails(&forged).await;
        assert_eq!(status, 400, "{forged}");
        assert!(text.contains("Last-Event-ID"), "{text}");
    }
    assert_eq!(other.resume_fails(&last).await.0, 400, "another session");
    let mut twice = client.request("GET", "");
    for _ in 0..2 {
        let last = last.parse().expect("a header");
        twice.headers_mut().append("last-event-id", last);
    }
    assert_eq!(client.send(twice).await.status, 400);
    assert_eq!(
        client.listen(Some(&last)).await.rest().await.len(),
        events.len() - 2
    );
    // Nothing had, so nothing to go on after.
    let mut fresh = client.listen(Some("")).await;
    assert!(fresh.next().await.expect("primed").id.is_some());
}

/// LHTTP-S-19
#[tokio::test]
async fn streams_are_not_gone_on_with_for_ever() {
    let sessions = Sessions::new().replay(Duration::from_millis(20));
    let service = antiphon::http::service(harbour::endpoint()).sessions(sessions);
    let server = Server::start(service.clone()).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let call = watched(1, "progress", json!({}));
    let events = client.stream(&call).await.rest().await;
    let last = events[1].id.clone().expect("an id");
    until(|| service.session_counts().event_bytes == 0).await;
    let (status, text) = client.resume_fails(&last).await;
    assert!(status == 400 && text.contains("not kept"), "{text}");
}

/// LHTTP-S-13 to LHTTP-S-15, LFEAT-S-02, LFEAT-S-03
#[tokio::test]
async fn changes_go_to_the_newest_standalone_stream() {
    let server = server().await;
    let client = Older::open(server.address, "2025-06-18").await;
    let announce = |id: u64, what: &str| call(id, "announce", json!({"what": what}));
    // What happens before anybody listens is told once to whoever does.
    for id in 1..4 {
        client.post(&announce(id, "tools")).await;
    }
    let mut first = client.listen(None).await;
    let told = first.message().await;
    assert_eq!(told.data["method"], "notifications/tools/list_changed");
    assert!(told.id.is_some());
    let mut second = client.listen(None).await;
    client.post(&announce(4, "tools")).await;
    assert_eq!(
        second.message().await.data["method"],
        "notifications/tools/list_changed"
    );
    assert!(first.is_quiet().await);
    let uri = json!({"uri": "tide://1"});
    let subscribed = client
        .post(&request(5, "resources/subscribe", uri.clone()))
        .await;
    assert_eq!(subscribed.code(), 0, "{}", subscribed.text);
    client.post(&announce(6, "tide://1")).await;
    client.post(&announce(7, "tide://2")).await;
    let updated = second.message().await;
    assert_eq!(updated.data["method"], "notifications/resources/updated");
    assert_eq!(updated.data["params"], uri);
    assert!(second.is_quiet().await);
    // The newest goes, the next one has its turn.
    drop(second);
    until_told(&client, &mut first, &announce(8, "tide://1")).await;
    // Lost on the way: what followed is sent again, on the stream it was of.
    let mut again = client.listen(updated.id.as_deref()).await;
    assert!(again.is_quiet().await);
    client.post(&announce(9, "tools")).await;
    assert_eq!(
        again.message().await.data["method"],
        "notifications/tools/list_changed"
    );
    client.post(&announce(10, "end")).await;
    assert_eq!(again.next().await, None);
    assert_eq!(first.next().await, None);
    // Nobody listens any more, so the end is told to nobody.
    client.post(&announce(11, "end")).await;
    let mut after = client.listen(None).await;
    client.post(&announce(12, "tools")).await;
    assert_eq!(
        after.message().await.data["method"],
        "notifications/tools/list_changed"
    );
}

/// Announces until the news arrives here: that another stream was left is noticed in its time.
async fn until_told(client: &Older, stream: &mut antiphon_tests::older_http::Events, news: &Value) {
    for _ in 0..50 {
        client.post(news).await;
        let told = tokio::time::timeout(Duration::from_millis(50), stream.message()).await;
        if told.is_ok() {
            return;
        }
    }
    panic!("nothing was told");
}

/// LEG-S-02
#[tokio::test]
async fn nothing_is_told_before_the_client_is_ready() {
    let server = server().await;
    let mut client = Older::new(server.address, "2025-06-18");
    let answer = client.initialize().await;
    client.session = Some(answer.header("mcp-session-id").to_owned());
    let mut stream = client.listen(None).await;
    client.call(1, "announce", json!({"what": "tools"})).await;
    assert!(stream.is_quiet().await);
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    client.post(&ready).await;
    assert_eq!(
        stream.message().await.data["method"],
        "notifications/tools/list_changed"
    );
}

#[tokio::test]
async fn only_so_many_standalone_streams_are_open() {
    let service = antiphon::http::service(harbour::endpoint());
    let server = Server::start(service.sessions(Sessions::new().streams(2))).await;
    let client = Older::open(server.address, "2025-06-18").await;
    let mut one = client.listen(None).await;
    let mut two = client.listen(None).await;
    let mut three = client.listen(None).await;
    assert_eq!(one.next().await, None, "the oldest made room");
    assert!(two.is_quiet().await);
    client.call(1, "announce", json!({"what": "tools"})).await;
    three.message().await;
}

/// LHTTP-S-07, LHTTP-S-08: a handler lets go of its connection where the client knows to come
/// back; for others it is as if nothing was said.
#[tokio::test]
async fn a_handler_lets_its_client_go() {
    let (desk, _) = desk();
    let server = Server::start(antiphon::http::service(desk.clone())).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let mut stream = client.streamed(1, "nap", json!({})).await;
    let primed = stream.next().await.expect("an event");
    assert_eq!((primed.retry, &primed.data), (Some(50), &Value::Null));
    let last = primed.id.expect("an id");
    while let Some(event) = stream.next().await {
        assert!(event.data.is_null() && event.id.is_none(), "{event:?}");
    }
    let events = client.listen(Some(&last)).await.rest().await;
    assert_eq!(events.len(), 1);
    assert_eq!(
        (&events[0].data["id"], text(&events[0].data)),
        (&json!(1), "rested")
    );
    for version in ["2025-06-18", "2025-03-26", "2024-11-05"] {
        let client = Older::open(server.address, version).await;
        let answer = client.call(1, "nap", json!({})).await;
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(text(answer.last()), "rested");
    }
    let modern = server
        .post(&antiphon_tests::call(1, "nap", json!({})))
        .await;
    assert_eq!(modern.header("content-type"), "application/json");
    let plain = antiphon::http::service(desk).json_answers();
    let server = Server::start(plain).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let answer = client.call(1, "nap", json!({})).await;
    assert_eq!(text(answer.last()), "rested");
}

/// LHTTP-S-07: and an operator has all streams closed that are open for long.
#[tokio::test]
async fn streams_that_are_open_for_long_are_closed() {
    let (desk, bell) = desk();
    let sessions =
        Sessions::new().close_after(Duration::from_millis(100), Duration::from_millis(7));
    let server = Server::start(antiphon::http::service(desk).sessions(sessions)).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let mut stream = client.stream(&watched(1, "work", json!({}))).await;
    let mut last = stream.message().await.id.expect("an id");
    for _ in 0..3 {
        let leave = stream.next().await.expect("an event");
        assert_eq!(
            (leave.retry, leave.id, leave.data),
            (Some(7), None, Value::Null)
        );
        assert_eq!(stream.next().await, None);
        stream = client.listen(Some(&last)).await;
    }
    bell.add_permits(1);
    let progress = stream.message().await;
    assert_eq!(progress.data["params"]["progress"], 2);
    last = progress.id.expect("an id");
    let mut answer = stream.rest().await;
    if answer.is_empty() {
        answer = client.listen(Some(&last)).await.rest().await;
    }
    assert_eq!(text(&answer.last().expect("an answer").data), "worked");
    // Not those of a client that would take it for the end.
    let client = Older::open(server.address, "2025-06-18").await;
    let mut stream = client.stream(&watched(1, "work", json!({}))).await;
    stream.message().await;
    assert!(stream.is_quiet().await);
    bell.add_permits(1);
    assert_eq!(
        text(&stream.rest().await.pop().expect("an answer").data),
        "worked"
    );
}

/// A client that does not read delays nobody, and what it waits for is there in the end.
#[tokio::test]
async fn a_slow_reader_loses_only_what_it_can_do_without() {
    let endpoint = harbour::endpoint();
    let sessions = Sessions::new().event_bytes(64 * 1024);
    let service = antiphon::http::service(endpoint.clone()).sessions(sessions);
    let server = Server::start(service.clone()).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let mut stream = client
        .stream(&watched(1, "chatty", json!({"count": 200_000})))
        .await;
    let first = stream.next().await.expect("an event").id.expect("an id");
    until(|| endpoint.calls() == 0).await;
    let kept = service.session_counts().event_bytes;
    assert!(kept <= 80 * 1024, "{kept}");
    let events = stream.rest().await;
    assert_eq!(text(&events.last().expect("an answer").data), "said 200000");
    assert!(events.len() < 100_000, "{}", events.len());
    let values: Vec<_> = (events.iter())
        .filter_map(|event| event.data["params"]["progress"].as_u64())
        .collect();
    assert!(values.is_sorted(), "in order");
    // And what is not kept any more is not made up.
    let again = client.listen(Some(&first)).await.rest().await;
    assert!(again.len() < 1000, "{}", again.len());
    assert_eq!(
        again.last().map(|event| &event.data),
        events.last().map(|event| &event.data)
    );
}

/// Sessions that end in the middle of everything.
#[tokio::test]
async fn a_session_that_ends_takes_everything_with_it() {
    let endpoint: Endpoint = harbour::endpoint();
    let service = antiphon::http::service(endpoint.clone());
    let server = Server::start(service.clone()).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let mut standalone = client.listen(None).await;
    standalone.next().await;
    let mut asks = client.streamed("asks", "ask", json!({})).await;
    let question = asks.message().await.data;
    let mut away = client.streamed("away", "ask", json!({})).await;
    let away_id = away.message().await.id.expect("an id");
    drop(away);
    let mut slow = client.streamed("slow", "slow", json!({"ms": 60_000})).await;
    slow.next().await;
    let still = client.clone();
    let plain =
        tokio::spawn(async move { still.call("plain", "slow", json!({"ms": 60_000})).await });
    until(|| (endpoint.calls(), endpoint.waiting_calls()) == (2, 2)).await;
    assert_eq!(client.delete().await, 204);
    assert_eq!(standalone.next().await, None);
    for (events, id) in [(asks, "asks"), (slow, "slow")] {
        let events = events.rest().await;
        let answer = &events.last().expect("an answer").data;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(id), &json!(-32603))
        );
        let words = answer["error"]["message"].as_str().expect("a text");
        assert!(words.contains("session"), "{words}");
    }
    let answer = plain.await.expect("no panic");
    assert_eq!((answer.status, answer.code()), (200, -32603));
    assert_eq!(answer.last()["id"], "plain");
    assert_eq!(client.get(Some(&away_id)).await.status(), 404);
    assert_eq!(client.answer(&question, yes()).await.status, 404);
    until(|| endpoint.calls() == 0).await;
    until(|| service.session_counts().event_bytes == 0).await;
    assert_eq!(
        (endpoint.waiting_calls(), service.session_counts().open),
        (0, 0)
    );
}

/// Calls of a session hold up the end of a server, though not for ever; what waits for clients
/// does not.
#[tokio::test]
async fn a_server_that_stops_waits_for_calls_of_sessions() {
    let (desk, bell) = desk();
    let desk: Endpoint = desk.into();
    let server = Server::start(antiphon::http::service(desk.clone())).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let mut standalone = client.listen(None).await;
    standalone.next().await;
    let mut stream = client.stream(&watched(1, "work", json!({}))).await;
    stream.message().await;
    let mut gone = client.stream(&watched(2, "work", json!({}))).await;
    gone.message().await;
    drop(gone);
    server.shut_down();
    assert_eq!(standalone.next().await, None);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(desk.calls(), 2, "they are waited for");
    bell.add_permits(2);
    let events = stream.rest().await;
    assert_eq!(text(&events.last().expect("an answer").data), "worked");
    server.stop().await;
    assert_eq!(desk.calls(), 0);
}

/// No answer can come in any more, so nobody waits for one.
#[tokio::test]
async fn a_server_that_stops_gives_up_its_questions() {
    let endpoint = harbour::endpoint();
    let server = Server::start(antiphon::http::service(endpoint.clone())).await;
    let client = Older::open(server.address, "2025-11-25").await;
    let mut stream = client.streamed(1, "ask", json!({})).await;
    stream.message().await;
    tokio::time::timeout(Duration::from_secs(5), async {
        server.shut_down();
        let events = stream.rest().await;
        let answer = &events.last().expect("an answer").data;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        server.stop().await;
    })
    .await
    .expect("nobody is waited for");
    assert_eq!(endpoint.calls(), 0);
}
