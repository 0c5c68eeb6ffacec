//! What the SDK does when a service does what it should not, or offers little.

use antiphon::memory::{self, Peer};
use antiphon_tests::{call, http::Server, http::post, odd, request, with_meta};
use serde_json::{Value, json};

async fn ask(peer: &mut Peer, message: &Value) -> (Vec<Value>, Value) {
    assert!(peer.send(message.to_string()).await);
    let mut notifications = Vec::new();
    loop {
        let message = peer.receive().await.expect("an answer");
        let message: Value = serde_json::from_slice(&message).expect("JSON");
        if message.get("method").is_none() {
            return (notifications, message);
        }
        notifications.push(message);
    }
}

async fn answer(message: &Value) -> Value {
    ask(&mut memory::connect(odd::endpoint()), message).await.1
}

/// DISC-S-05, ERR-S-02: methods of a feature that is not offered do not exist.
#[tokio::test]
async fn what_is_not_offered_is_not_found() {
    for (method, params) in [
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "x"})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "x://1"})),
    ] {
        let answer = answer(&request(1, method, params)).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
}

/// AMB-02: headers come before the question whether the method is served.
#[tokio::test]
async fn headers_are_checked_before_the_method_is_looked_for() {
    let server = Server::start(antiphon::http::service(odd::endpoint())).await;
    let mut message = post(&request(1, "prompts/get", json!({"name": "x"})));
    message.headers_mut().remove("mcp-name");
    let answer = server.send(message).await;
    assert_eq!((answer.status, answer.code()), (400, -32020));
    let answer = server
        .post(&request(1, "prompts/get", json!({"name": "x"})))
        .await;
    assert_eq!((answer.status, answer.code()), (404, -32601));
}

/// META-S-07 lets a server stay anonymous.
#[tokio::test]
async fn an_anonymous_server_names_itself_nowhere() {
    let answer = answer(&request(1, "server/discover", json!({}))).await;
    assert!(answer["result"].get("_meta").is_none(), "{answer}");
}

/// LOG-S-01: no logs from a server that does not say that it logs.
#[tokio::test]
async fn logs_need_the_capability() {
    let mut peer = memory::connect(odd::endpoint());
    let message = with_meta(
        call(1, "log", json!({})),
        "io.modelcontextprotocol/logLevel",
        "debug",
    );
    let (notifications, answer) = ask(&mut peer, &message).await;
    assert_eq!(answer["result"]["content"][0]["text"], "logged");
    assert!(notifications.is_empty(), "{notifications:?}");
}

/// COMP-S-02
#[tokio::test]
async fn completions_are_cut_to_a_hundred() {
    let params =
        json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}});
    let answer = answer(&request(1, "completion/complete", params)).await;
    let completion = &answer["result"]["completion"];
    assert_eq!(completion["values"].as_array().expect("values").len(), 100);
    assert_eq!(completion["hasMore"], true);
}

/// CACHE-S-01: hints are filled in where an older server gave none.
#[tokio::test]
async fn missing_cache_hints_are_filled_in() {
    let answer = answer(&request(1, "tools/list", json!({}))).await;
    let result = &answer["result"];
    assert_eq!(
        (&result["ttlMs"], &result["cacheScope"]),
        (&json!(0), &json!("private"))
    );
}

/// MRTR-S-08: a question no client knows is not sent.
#[tokio::test]
async fn an_unknown_question_is_the_servers_fault() {
    let answer = answer(&call(1, "odd_question", json!({}))).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(
        answer["error"]["message"]
            .as_str()
            .expect("a text")
            .contains("`odd`")
    );
}

/// BASE-S-05, MRTR-S-03: extensions have result types of their own, but no questions.
#[tokio::test]
async fn extensions_name_their_results() {
    let ask = async |answer_: Value| answer(&request(1, "x/y", json!({ "answer": answer_ }))).await;
    let plain = ask(json!({"a": 1})).await;
    assert_eq!(plain["result"], json!({"resultType": "complete", "a": 1}));
    let task = ask(json!({"resultType": "task", "taskId": "t"})).await;
    assert_eq!(task["result"]["resultType"], "task");
    for bad in ["input_required", "a\"b", "a b"] {
        let answer = ask(json!({"resultType": bad, "requestState": "s"})).await;
        assert_eq!(answer["error"]["code"], -32603, "{bad}");
    }
}

/// SUB-S-01, SUB-S-05, SUB-S-13, AMB-14: nothing is acknowledged that was not asked for.
#[tokio::test]
async fn a_service_cannot_widen_a_subscription() {
    for (asked, acknowledged) in [
        (json!({}), json!({})),
        (
            json!({"toolsListChanged": true}),
            json!({"toolsListChanged": true}),
        ),
        (
            json!({"promptsListChanged": true, "resourceSubscriptions": ["x://1"]}),
            json!({}),
        ),
    ] {
        let mut peer = memory::connect(odd::endpoint());
        let mut params = json!({});
        params["notifications"] = asked;
        let message = request(1, "subscriptions/listen", params);
        assert!(peer.send(message.to_string()).await);
        let ack = peer.receive().await.expect("an acknowledgment");
        let ack: Value = serde_json::from_slice(&ack).expect("JSON");
        assert_eq!(ack["params"]["notifications"], acknowledged);
    }
}

/// A gateway passes on what it was given, and its questions pass the same gate.
#[tokio::test]
async fn a_gateway_passes_results_on() {
    let foreign = json!({"content": [], "com.example": {"deep": [1]}, "_meta": {"k": 1}});
    let passed = answer(&call(1, "gateway", foreign)).await;
    assert_eq!(
        passed["result"],
        json!({
            "resultType": "complete", "content": [], "com.example": {"deep": [1]}, "_meta": {"k": 1}
        })
    );
    let questions = json!({"resultType": "input_required", "requestState": "s",
        "inputRequests": {"r": {"method": "roots/list"}}});
    let passed = answer(&call(1, "gateway", questions.clone())).await;
    assert_eq!(
        passed["result"]["inputRequests"]["r"]["method"],
        "roots/list"
    );
    let mut message = call(1, "gateway", questions);
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    assert_eq!(answer(&message).await["error"]["code"], -32021);
}

/// MRTR-S-24 to MRTR-S-31: a whole exchange, and answers that do not count.
#[tokio::test]
async fn a_question_is_answered_in_the_next_round() {
    let retry = |answers: Value, state: Value| {
        let mut params = json!({"name": "two_rounds"});
        params["inputResponses"] = answers;
        params["requestState"] = state;
        request(2, "tools/call", params)
    };
    let first = answer(&call(1, "two_rounds", json!({}))).await;
    assert_eq!(first["result"]["resultType"], "input_required");
    let state = first["result"]["requestState"].clone();
    let accept = json!({"sure": {"action": "accept", "content": {"ok": true}}, "other": {}});
    // On another connection, as any instance might get it (MRTR-S-26); the extra key is ignored.
    let done = answer(&retry(accept.clone(), state.clone())).await;
    assert_eq!(done["result"]["content"][0]["text"], "done");
    let declined = answer(&retry(
        json!({"sure": {"action": "decline"}}),
        state.clone(),
    ))
    .await;
    assert_eq!(declined["result"]["content"][0]["text"], "declined");
    for (answers, state) in [
        (json!({}), state.clone()),
        (json!({"sure": 12345}), state.clone()),
        (json!({"wrong": {"action": "accept"}}), state),
        (accept, json!(null)),
    ] {
        let again = answer(&retry(answers.clone(), state)).await;
        assert_eq!(again["result"]["resultType"], "input_required", "{answers}");
    }
}

/// CANC-S-05, STATE-B-01: however a connection ends, what runs on it ends.
#[tokio::test]
async fn a_connection_takes_its_calls_along() {
    let endpoint = antiphon_tests::harbour::endpoint();
    let slow = call(1, "slow", json!({"ms": 600_000})).to_string();
    let listen = request(2, "subscriptions/listen", json!({"notifications": {}})).to_string();
    // The server's future is dropped.
    let (client, server) = memory::pair();
    let serving = tokio::spawn(memory::serve(endpoint.clone(), server));
    assert!(client.send(slow.clone()).await && client.send(listen.clone()).await);
    antiphon_tests::until(|| endpoint.calls() == 2).await;
    serving.abort();
    antiphon_tests::until(|| endpoint.calls() == 0).await;
    // The client's end is dropped while it does not read.
    let (ours, theirs) = tokio::io::duplex(64);
    let (input, output) = tokio::io::split(theirs);
    let serving = tokio::spawn(antiphon::stdio::serve_on(endpoint.clone(), input, output));
    let (reader, mut writer) = tokio::io::split(ours);
    let lines = format!("{slow}\n{listen}\n");
    tokio::io::AsyncWriteExt::write_all(&mut writer, lines.as_bytes())
        .await
        .expect("written");
    antiphon_tests::until(|| endpoint.calls() == 2).await;
    drop((reader, writer));
    serving.await.expect("no panic").expect("no error");
    antiphon_tests::until(|| endpoint.calls() == 0).await;
}

/// A client that does not read is not read from, and loses nothing when it does.
#[tokio::test]
async fn output_nobody_reads_is_bounded() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
    const CALLS: usize = 64;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(theirs);
    let endpoint = antiphon_tests::harbour::endpoint();
    let serving = tokio::spawn(antiphon::stdio::serve_on(endpoint, input, output));
    let (reader, mut writer) = tokio::io::split(ours);
    let text = "x".repeat(1024 * 1024);
    let write = async {
        for id in 0..CALLS {
            let line = format!("{}\n", call(id, "echo", json!({ "text": text })));
            writer.write_all(line.as_bytes()).await.expect("written");
        }
        writer.shutdown().await.expect("closed");
    };
    tokio::pin!(write);
    let blocked = tokio::time::timeout(std::time::Duration::from_secs(3), &mut write).await;
    assert!(
        blocked.is_err(),
        "all {CALLS} MiB were taken although nobody reads the answers"
    );
    let read = async {
        let mut lines = tokio::io::BufReader::new(reader).lines();
        let mut count = 0;
        while lines.next_line().await.expect("readable").is_some() {
            count += 1;
        }
        count
    };
    let ((), count) = tokio::join!(write, read);
    assert_eq!(count, CALLS);
    serving.await.expect("no panic").expect("no error");
}

/// STDIO-S-06: the end of the input ends the server even if nobody reads its output.
#[tokio::test]
async fn the_end_of_input_is_noticed_although_nobody_reads() {
    use tokio::io::AsyncWriteExt;
    let (ours, theirs) = tokio::io::duplex(64);
    let (input, output) = tokio::io::split(theirs);
    let endpoint = antiphon_tests::harbour::endpoint();
    let serving = tokio::spawn(antiphon::stdio::serve_on(endpoint, input, output));
    let (_reader, mut writer) = tokio::io::split(ours);
    for id in 0..20 {
        let line = format!("{}\n", call(id, "echo", json!({"text": "x".repeat(1000)})));
        writer.write_all(line.as_bytes()).await.expect("written");
    }
    writer.shutdown().await.expect("closed");
    let ended = tokio::time::timeout(std::time::Duration::from_secs(15), serving).await;
    ended
        .expect("it ends")
        .expect("no panic")
        .expect("no error");
}
