//! What holds on every transport: each behaviour runs in memory, against a real child process,
//! and over a real socket.

use antiphon_tests::{behaviours, call, request, request_as, with_meta};
use serde_json::{Value, json};

/// The server's identity, as results carry it.
const IDENTITY: &str = "io.modelcontextprotocol/serverInfo";

behaviours! {
    /// BASE-S-01, BASE-S-02, BASE-S-03, META-S-07
    async fn a_call_is_answered_with_its_own_id(connection) {
        for id in [json!(7), json!("seven"), json!(""), json!(-1), json!("\u{1F6A2}")] {
            let exchange = connection.ask(&call(id.clone(), "echo", json!({"a": 1}))).await;
            assert_eq!(exchange.response["id"], id);
            assert_eq!(exchange.response["jsonrpc"], "2.0");
            let result = exchange.result();
            assert_eq!(result["resultType"], "complete");
            assert_eq!(result["_meta"][IDENTITY], json!({"name": "harbour", "version": "2.0"}));
            assert_eq!(exchange.text(), r#"{"a":1}"#);
        }
    }

    /// BASE-C-03: an id may be used again once its request is answered.
    async fn an_id_may_be_used_again(connection) {
        for _ in 0..3 {
            let exchange = connection.ask(&call(1, "echo", json!({}))).await;
            assert_eq!(exchange.text(), "{}");
        }
    }

    /// DISC-S-01 to DISC-S-04, CACHE-S-01, AMB-06, AMB-16
    async fn discovery_tells_versions_and_capabilities(connection) {
        let exchange = connection.ask(&request(1, "server/discover", json!({}))).await;
        let result = exchange.result();
        assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
        assert_eq!(result["capabilities"]["tools"], json!({"listChanged": true}));
        assert_eq!(result["capabilities"]["resources"], json!({"listChanged": true, "subscribe": true}));
        assert_eq!(result["instructions"], "Reserve berths.");
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
        assert_eq!(result["_meta"][IDENTITY]["name"], "harbour");
    }

    /// META-S-03
    async fn a_client_may_stay_anonymous(connection) {
        let mut message = call(1, "echo", json!({}));
        let meta = message["params"]["_meta"].as_object_mut().expect("an object");
        meta.remove("io.modelcontextprotocol/clientInfo");
        assert_eq!(connection.ask(&message).await.text(), "{}");
    }

    /// META-S-01, META-S-02: required metadata that is missing or wrong.
    async fn required_metadata_is_required(connection) {
        let version = "io.modelcontextprotocol/protocolVersion";
        let capabilities = "io.modelcontextprotocol/clientCapabilities";
        for meta in [
            json!({}),
            json!({ version: "2026-07-28" }),
            json!({ capabilities: {} }),
            json!({ version: "2026-07-28", capabilities: [] }),
            json!({ version: 7, capabilities: {} }),
        ] {
            let message = request(5, "tools/list", json!({ "_meta": meta }));
            let exchange = connection.ask(&message).await;
            exchange.refused(-32602, 400);
            assert_eq!(exchange.response["id"], 5);
        }
        let message = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"});
        connection.ask(&message).await.refused(-32602, 400);
        let message = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": [1]});
        connection.ask(&message).await.refused(-32602, 400);
    }

    /// VER-S-01, VER-S-02, VER-S-03
    async fn a_version_not_served_is_named(connection) {
        for version in ["v999.0.0", "2025-11-25", ""] {
            let message = with_meta(
                request(5, "tools/list", json!({})),
                "io.modelcontextprotocol/protocolVersion",
                version,
            );
            let exchange = connection.ask(&message).await;
            exchange.refused(-32022, 400);
            let data = &exchange.response["error"]["data"];
            assert_eq!(data, &json!({"supported": ["2026-07-28"], "requested": version}));
        }
    }

    /// HTTP-S-22, ERR-S-02, ERA-S-04: unknown, removed and unadvertised methods.
    async fn an_unknown_method_is_not_found(connection) {
        for method in [
            "initialize", "ping", "logging/setLevel", "resources/subscribe",
            "resources/unsubscribe", "unknown/method", "", "tools/Call", "sampling/createMessage",
        ] {
            connection.ask(&request(5, method, json!({}))).await.refused(-32601, 404);
        }
    }

    /// elsewhere.md: a known method with bad parameters is -32602, whatever is bad about them.
    async fn malformed_parameters_are_invalid_params(connection) {
        for (method, params) in [
            ("tools/call", json!({})),
            ("tools/call", json!({"name": 5})),
            ("tools/call", json!({"name": null})),
            ("tools/call", json!({"name": "echo", "arguments": [1]})),
            ("tools/call", json!({"name": "echo", "arguments": "x"})),
            ("tools/call", json!({"name": "echo", "inputResponses": []})),
            ("tools/call", json!({"name": "echo", "requestState": 7})),
            ("tools/call", json!({"name": "echo", "requestState": {}})),
            ("tools/list", json!({"cursor": 7})),
            ("tools/list", json!({"cursor": "nonsense"})),
            ("resources/list", json!({"cursor": ""})),
            ("prompts/get", json!({"name": "brief", "arguments": {"vessel": 7}})),
            ("resources/read", json!({"uri": 7})),
            ("resources/read", json!({})),
            ("completion/complete", json!({})),
            ("completion/complete", json!({"ref": {"type": "ref/none"}, "argument": {"name": "a", "value": "b"}})),
            ("subscriptions/listen", json!({})),
            ("subscriptions/listen", json!({"notifications": 7})),
            ("subscriptions/listen", json!({"notifications": [true, null, null, ["a"]]})),
            ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "a"}, "argument": ["a", "b"]})),
        ] {
            let exchange = connection.ask(&request(5, method, params.clone())).await;
            assert_eq!(exchange.code(), -32602, "{method} {params}: {}", exchange.response);
            assert_ne!(exchange.status, Some(404), "{method} {params}");
            assert_eq!(exchange.response["id"], 5);
        }
    }

    /// A member of another method's parameters never matters.
    async fn foreign_members_are_ignored(connection) {
        let params = json!({"name": 7, "uri": [], "cursor": null, "extra": {"deep": [1]}});
        let exchange = connection.ask(&request(5, "tools/list", params)).await;
        assert!(exchange.result()["tools"].is_array());
    }

    /// Null is absent where the protocol lets a member be absent.
    async fn null_is_absent(connection) {
        let params = json!({"name": "who", "arguments": null, "inputResponses": null, "requestState": null});
        let exchange = connection.ask(&request(5, "tools/call", params)).await;
        let seen: Value = serde_json::from_str(exchange.text()).expect("JSON");
        assert_eq!(seen["state"], Value::Null);
        assert_eq!(seen["answers"], json!([]));
    }

    /// An empty string is a state; it is not nothing.
    async fn an_empty_state_is_a_state(connection) {
        let params = json!({"name": "who", "requestState": "", "inputResponses": {"b": {}, "a": 1}});
        let exchange = connection.ask(&request(5, "tools/call", params)).await;
        let seen: Value = serde_json::from_str(exchange.text()).expect("JSON");
        assert_eq!(seen["state"], "");
        assert_eq!(seen["answers"], json!(["b", "a"]));
    }

    /// LOG-S-05, PROG-C-01
    async fn bad_levels_and_tokens_are_refused(connection) {
        for level in [json!("loud"), json!(3), json!(null)] {
            let message = with_meta(call(5, "log", json!({})), "io.modelcontextprotocol/logLevel", level);
            assert_eq!(connection.ask(&message).await.code(), -32602);
        }
        for token in [json!(1.5), json!(null), json!({}), json!(true)] {
            let message = with_meta(call(5, "progress", json!({})), "progressToken", token);
            assert_eq!(connection.ask(&message).await.code(), -32602);
        }
    }

    /// TOOL-S-23, TOOL-S-24
    async fn an_unknown_tool_is_an_error_and_a_failed_one_a_result(connection) {
        connection.ask(&call(5, "nothing", json!({}))).await.refused(-32602, 200);
        let exchange = connection.ask(&call(5, "fail", json!({}))).await;
        assert_eq!(exchange.result()["isError"], true);
        assert_eq!(exchange.text(), "No berth is free");
    }

    /// A panic costs its own call; the server lives on.
    async fn a_panicking_handler_is_an_internal_error(connection) {
        for tool in ["panic", "panic_at_once", "panic"] {
            let exchange = connection.ask(&call(5, tool, json!({}))).await;
            exchange.refused(-32603, 200);
            assert!(!exchange.response.to_string().contains("crane"), "{}", exchange.response);
        }
        assert_eq!(connection.ask(&call(6, "echo", json!({}))).await.text(), "{}");
    }

    /// ERR-S-01, ERR-B-04, RES-S-09: handlers cannot send codes this era does not have.
    async fn error_codes_are_kept_to_the_era(connection) {
        assert_eq!(connection.ask(&call(5, "reserved_code", json!({}))).await.code(), -32603);
        let old = request(5, "resources/read", json!({"uri": "tide://old"}));
        connection.ask(&old).await.refused(-32602, 200);
        let missing = request(5, "resources/read", json!({"uri": "ship://none"}));
        let exchange = connection.ask(&missing).await;
        exchange.refused(-32602, 200);
        assert_eq!(exchange.response["error"]["data"]["uri"], "ship://none");
    }

    /// PAGE-S-01, PAGE-C-03, CACHE-S-01, CACHE-S-04
    async fn lists_are_paged(connection) {
        let mut cursor = None::<Value>;
        let mut uris = Vec::new();
        loop {
            let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let exchange = connection.ask(&request(1, "resources/list", params)).await;
            let result = exchange.result();
            assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
            let page = result["resources"].as_array().expect("resources");
            assert!(page.len() <= 2);
            uris.extend(page.iter().map(|resource| resource["uri"].clone()));
            match result.get("nextCursor") {
                Some(next) => cursor = Some(next.clone()),
                None => break,
            }
        }
        assert_eq!(json!(uris), json!(["tide://0", "tide://1", "tide://2", "tide://3", "tide://4"]));
    }

    /// CACHE-S-01: every cacheable result has its hints, an asking one has none (MRTR-S-33).
    async fn cacheable_results_carry_hints(connection) {
        for (method, params) in [
            ("tools/list", json!({})),
            ("prompts/list", json!({})),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({"uri": "tide://1"})),
        ] {
            let exchange = connection.ask(&request(1, method, params)).await;
            let result = exchange.result();
            assert!(result["ttlMs"].is_u64(), "{method}");
            assert_eq!(result["cacheScope"], "private", "{method}");
        }
        let asks = connection.ask(&request(1, "resources/read", json!({"uri": "tide://asks"}))).await;
        assert_eq!(asks.result()["resultType"], "input_required");
        assert!(asks.result().get("ttlMs").is_none());
    }

    /// MRTR-S-02, MRTR-S-04, MRTR-S-09, MRTR-S-32: all three methods may ask.
    async fn questions_are_bare_requests_under_their_keys(connection) {
        let exchange = connection.ask(&call(1, "ask_all", json!({}))).await;
        let result = exchange.result();
        assert_eq!(result["resultType"], "input_required");
        let questions = result["inputRequests"].as_object().expect("questions");
        let methods: Vec<_> = questions
            .iter()
            .map(|(key, question)| (key.as_str(), question["method"].as_str().expect("a method")))
            .collect();
        assert_eq!(methods, [
            ("form", "elicitation/create"),
            ("url", "elicitation/create"),
            ("model", "sampling/createMessage"),
            ("roots", "roots/list"),
        ]);
        for question in questions.values() {
            assert!(question.get("id").is_none() && question.get("jsonrpc").is_none());
        }
        assert_eq!(questions["url"]["params"]["mode"], "url");
        assert!(result.get("requestState").is_none());
        let prompt = connection.ask(&request(1, "prompts/get", json!({"name": "brief"}))).await;
        assert_eq!(prompt.result()["resultType"], "input_required");
    }

    /// MRTR-S-11
    async fn a_state_may_come_alone(connection) {
        let exchange = connection.ask(&call(1, "later", json!({}))).await;
        let result = exchange.result();
        assert_eq!(result["requestState"], "come-back");
        assert!(result.get("inputRequests").is_none());
    }

    /// MRTR-S-20 to MRTR-S-23, META-S-04 to META-S-06, AMB-12: everything missing, nested.
    async fn nothing_is_asked_that_cannot_be_answered(connection) {
        for (declared, tool, missing) in [
            (json!({}), "ask", json!({"elicitation": {"form": {}}})),
            (json!({"elicitation": {"url": {}}}), "ask", json!({"elicitation": {"form": {}}})),
            (json!({"elicitation": {}}), "ask_all",
                json!({"elicitation": {"url": {}}, "sampling": {}, "roots": {}})),
            (json!({}), "ask_all",
                json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})),
            (json!({"sampling": {}}), "ask_tools", json!({"sampling": {"tools": {}}})),
            (json!({}), "ask_tools", json!({"sampling": {"tools": {}}})),
        ] {
            let message = request_as(&declared, 9, "tools/call", json!({"name": tool}));
            let exchange = connection.ask(&message).await;
            exchange.refused(-32021, 400);
            let data = &exchange.response["error"]["data"];
            assert_eq!(data, &json!({"requiredCapabilities": missing}), "{declared} {tool}");
        }
        // ELIC-B-01: an empty declaration means forms.
        let message = request_as(&json!({"elicitation": {}}), 9, "tools/call", json!({"name": "ask"}));
        let exchange = connection.ask(&message).await;
        assert_eq!(exchange.result()["requestState"], "open-state");
        // Declared on another request is not declared on this one (META-S-04).
        let message = request_as(&json!({}), 9, "tools/call", json!({"name": "ask"}));
        connection.ask(&message).await.refused(-32021, 400);
        // A list is no object, whatever serde would make of it.
        for declared in [
            json!({"elicitation": [{}, {}]}),
            json!({"elicitation": true}),
            json!({"sampling": [null, null]}),
            json!({"roots": [true]}),
        ] {
            let message = request_as(&declared, 9, "tools/call", json!({"name": "ask_all"}));
            assert_eq!(connection.ask(&message).await.code(), -32602, "{declared}");
        }
        // A capability of the wrong type.
        let message = request_as(&json!({"elicitation": 7}), 9, "tools/call", json!({"name": "ask"}));
        assert_eq!(connection.ask(&message).await.code(), -32602);
    }

    /// MRTR-S-07
    async fn two_questions_under_one_key_are_the_servers_fault(connection) {
        let exchange = connection.ask(&call(1, "ask_twice", json!({}))).await;
        exchange.refused(-32603, 200);
        assert!(exchange.response["error"]["message"].as_str().expect("a text").contains("`same`"));
    }

    /// PROG-S-02, PROG-S-05, PROG-S-07, BASE-S-11
    async fn progress_grows_and_needs_a_token(connection) {
        let message = with_meta(call(1, "progress", json!({})), "progressToken", "p-1");
        let exchange = connection.ask(&message).await;
        assert_eq!(exchange.text(), "progressed");
        let seen: Vec<_> = exchange.notifications.iter().map(|n| &n["params"]).collect();
        assert_eq!(json!(seen), json!([
            {"progressToken": "p-1", "progress": 1, "total": 3},
            {"progressToken": "p-1", "progress": 2, "total": 3},
            {"progressToken": "p-1", "progress": 3, "total": 3},
        ]));
        let silent = connection.ask(&call(2, "progress", json!({}))).await;
        assert!(silent.notifications.is_empty());
    }

    /// What a handler sends in the very poll in which it ends still comes before its answer.
    async fn nothing_that_was_sent_is_lost(connection) {
        let message = with_meta(call(1, "notify_at_once", json!({})), "progressToken", "p");
        let message = with_meta(message, "io.modelcontextprotocol/logLevel", "info");
        let exchange = connection.ask(&message).await;
        assert_eq!(exchange.text(), "notified");
        let methods: Vec<_> = exchange.notifications.iter().map(|n| n["method"].clone()).collect();
        assert_eq!(methods, ["notifications/progress", "notifications/message", "notifications/progress"]);
        let quiet = connection.ask(&call(2, "notify_at_once", json!({}))).await;
        assert!(quiet.notifications.is_empty());
    }

    /// PROG-S-02: progress is one's request's, not one's handle's.
    async fn progress_never_goes_backwards(connection) {
        let message = with_meta(call(1, "progress_backwards", json!({})), "progressToken", "p");
        let exchange = connection.ask(&message).await;
        let seen: Vec<_> = exchange.notifications.iter()
            .map(|n| n["params"]["progress"].as_i64().expect("a number")).collect();
        assert_eq!(seen, [50, 60]);
    }

    /// BASE-S-09: an error repeats little of what was sent.
    async fn errors_do_not_repeat_long_input(connection) {
        let method = "x/".repeat(5_000);
        let exchange = connection.ask(&json!({
            "jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": antiphon_tests::meta(&json!({}))}
        })).await;
        assert!(exchange.response.to_string().len() < 1000);
        assert_ne!(exchange.code(), 0);
    }

    /// PROG-S-06: nothing for a request after its answer.
    async fn progress_stops_with_the_answer(connection) {
        let message = with_meta(call(1, "late_progress", json!({})), "progressToken", 1);
        let exchange = connection.ask(&message).await;
        assert_eq!((exchange.text(), exchange.notifications.len()), ("answered first", 0));
        tokio::time::sleep(std::time::Duration::from_millis(80)).await;
        let next = connection.ask(&call(2, "echo", json!({}))).await;
        assert!(next.notifications.is_empty(), "{:?}", next.notifications);
    }

    /// LOG-S-02, LOG-S-03, LOG-B-02
    async fn logs_come_at_the_level_asked_for(connection) {
        for (level, expected) in [
            (None, vec![]),
            (Some("debug"), vec!["debug", "info", "error"]),
            (Some("info"), vec!["info", "error"]),
            (Some("warning"), vec!["error"]),
            (Some("emergency"), vec![]),
        ] {
            let mut message = call(1, "log", json!({}));
            if let Some(level) = level {
                message = with_meta(message, "io.modelcontextprotocol/logLevel", level);
            }
            let exchange = connection.ask(&message).await;
            assert_eq!(exchange.text(), "logged");
            let levels: Vec<_> = exchange.notifications.iter()
                .map(|n| n["params"]["level"].as_str().expect("a level")).collect();
            assert_eq!(levels, expected);
            for notification in &exchange.notifications {
                assert_eq!(notification["method"], "notifications/message");
                assert_eq!(notification["params"]["logger"], "quay");
            }
        }
    }

    /// META-B-10, META-B-11
    async fn trace_context_and_unknown_metadata_reach_the_handler(connection) {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let message = with_meta(call(1, "who", json!({})), "traceparent", trace);
        let message = with_meta(message, "com.example/ship", json!({"deep": [1, null]}));
        let exchange = connection.ask(&message).await;
        let seen: Value = serde_json::from_str(exchange.text()).expect("JSON");
        assert_eq!(seen["traceparent"], trace);
        assert_eq!(seen["other"]["com.example/ship"], json!({"deep": [1, null]}));
        assert_eq!(seen["client"], "tests");
    }

    /// COMP-S-01, TOOL-C-01: any text survives in names and values.
    async fn unicode_and_odd_names_survive(connection) {
        for name in ["Ålesund \u{1F6A2}", " padded ", "a\nb", "=?base64?eA==?=", "\u{0}"] {
            let exchange = connection.ask(&call(1, name, json!({}))).await;
            exchange.refused(-32602, 200);
            let message = exchange.response["error"]["message"].as_str().expect("a text");
            assert_eq!(message, format!("Unknown tool: {name}"));
        }
        let completion = json!({
            "ref": {"type": "ref/prompt", "name": "brief"},
            "argument": {"name": "vessel", "value": "Ö\u{2028}"}
        });
        let exchange = connection.ask(&request(1, "completion/complete", completion)).await;
        assert_eq!(exchange.result()["completion"]["values"], json!(["Ö\u{2028}"]));
    }

    /// A large message is no special case.
    async fn a_large_argument_is_carried_whole(connection) {
        let text = "x".repeat(1024 * 1024);
        let exchange = connection.ask(&call(1, "echo", json!({ "text": text }))).await;
        assert_eq!(exchange.text().len(), text.len() + r#"{"text":""}"#.len());
    }

    /// A message may nest only so deep; what is refused costs nothing else.
    async fn nesting_is_bounded(connection) {
        let nested = |levels: usize| {
            (0..levels).fold(json!(1), |inner, _| json!([inner]))
        };
        let exchange = connection.ask(&call(1, "echo", json!({ "a": nested(50) }))).await;
        assert!(exchange.text().starts_with(r#"{"a":[["#));
        let exchange = connection.ask(&call(2, "echo", json!({ "a": nested(100) }))).await;
        exchange.refused(-32600, 400);
        assert_eq!(exchange.response["id"], 2);
        assert_eq!(connection.ask(&call(3, "echo", json!({}))).await.text(), "{}");
    }

    /// BASE-B-02, BASE-B-04: what is no single JSON-RPC request.
    async fn what_is_no_request_is_an_invalid_request(connection) {
        for message in [
            json!([call(1, "echo", json!({}))]),
            json!([]),
            json!(7),
            json!("text"),
            json!({}),
            json!({"jsonrpc": "2.0", "id": null, "method": "tools/list", "params": {}}),
            json!({"jsonrpc": "2.0", "id": 1.5, "method": "tools/list", "params": {}}),
            json!({"jsonrpc": "1.0", "id": 1, "method": "tools/list", "params": {}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": 7}),
            json!({"jsonrpc": "2.0", "id": 1}),
        ] {
            let exchange = connection.ask(&message).await;
            exchange.refused(-32600, 400);
            let id = message.get("id").filter(|id| id.is_i64());
            assert_eq!(exchange.response.get("id"), id, "{message}");
        }
    }

    /// SUB-S-02, SUB-S-05, SUB-S-13, AMB-14 show in `listens.rs`; here: too much is refused.
    async fn a_subscription_names_a_bounded_number_of_resources(connection) {
        let uris: Vec<String> = (0..2000).map(|i| format!("tide://{i}")).collect();
        let filter = json!({"notifications": {"resourceSubscriptions": uris}});
        connection.ask(&request(1, "subscriptions/listen", filter)).await.refused(-32602, 200);
    }
}
