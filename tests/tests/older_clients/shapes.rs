//! Results, errors and notifications as each revision knows them.

use antiphon::{
    Json, Progress, Server, Stop,
    schemars::{self, JsonSchema},
    types::{ElicitRequestUrlParams, ErrorObject, UrlElicitationRequiredData, code},
};
use antiphon_tests::{
    behaviours,
    older::{Older, REVISIONS, everything, never},
    wire::Wire,
};
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize, JsonSchema)]
struct Count {
    books: u32,
}

fn desk() -> Server {
    Server::new("desk", "1.0")
        .tool("count", async || Json(Count { books: 7 }))
        .tool("list", async || Json(vec![1, 2, 3]))
        .tool("work", async |progress: Progress| {
            progress.report_with(1, Some(2), "half");
            "done"
        })
        .resource("desk://one", async || "text")
}

/// A server on which nothing goes before a link was opened.
fn port() -> Server {
    Server::new("port", "1.0").tool("berth", async || -> Result<String, Stop> {
        let link = ElicitRequestUrlParams::new("Sign in", "https://port.example/in");
        let links = UrlElicitationRequiredData::new(vec![link.elicitation_id("e-1")]);
        let error = ErrorObject::new(code::URL_ELICITATION_REQUIRED, "Sign in first");
        Err(error.with_data(json!(links)))?
    })
}

/// The error of a client that was not told of the links.
fn not_told(response: &Value) {
    let error = &response["error"];
    assert_eq!(error["code"], -32603, "{response}");
    let text = error["message"].as_str().expect("a text");
    assert!(text.starts_with("Sign in first"), "{text}");
    assert!(text.contains("`elicitation.url`"), "{text}");
    assert!(!response.to_string().contains("port.example"), "{response}");
}

behaviours! {
    /// LEG-S-06, SHIM-S-10, LFEAT-S-10
    async fn results_hold_what_the_revision_knows(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, desk(), version).await;
            let has_structured = version >= "2025-06-18";
            let list = older.ask("tools/list", json!({})).await;
            let tools = list["result"]["tools"].as_array().expect("a list");
            for member in ["resultType", "ttlMs", "cacheScope"] {
                assert!(list["result"].get(member).is_none(), "{member}");
            }
            let tool = |name: &str| {
                tools
                    .iter()
                    .find(|tool| tool["name"] == name)
                    .expect("there")
            };
            assert_eq!(
                tool("count").get("outputSchema").is_some(),
                has_structured,
                "{version}"
            );
            // Only objects are structured before 2026-07-28.
            assert!(tool("list").get("outputSchema").is_none(), "{version}");
            let (_, response) = older.call("count", json!({}), never).await;
            assert_eq!(
                response["result"].get("structuredContent").is_some(),
                has_structured
            );
            assert_eq!(response["result"]["content"][0]["text"], r#"{"books":7}"#);
            let (_, response) = older.call("list", json!({}), never).await;
            assert!(response["result"].get("structuredContent").is_none());
            assert_eq!(response["result"]["content"][0]["text"], "[1,2,3]");
            let read = older
                .ask("resources/read", json!({"uri": "desk://one"}))
                .await;
            assert_eq!(read["result"]["contents"][0]["text"], "text");
            assert!(read["result"].get("ttlMs").is_none());
        }
    }

    /// LFEAT-S-04, SHIM-S-11
    async fn errors_have_the_codes_of_their_time(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, desk(), version).await;
            let code = |response: Value| response["error"]["code"].clone();
            let nowhere = older
                .ask("resources/read", json!({"uri": "desk://nowhere"}))
                .await;
            assert_eq!(code(nowhere), -32002);
            assert_eq!(
                code(older.ask("tools/call", json!({"name": "none"})).await),
                -32602
            );
            assert_eq!(code(older.ask("tools/call", json!({})).await), -32602);
            assert_eq!(code(older.ask("no/such", json!({})).await), -32601);
            assert_eq!(code(older.ask("prompts/list", json!({})).await), -32601);
            assert_eq!(
                code(
                    older
                        .ask("logging/setLevel", json!({"level": "info"}))
                        .await
                ),
                -32601
            );
            assert_eq!(code(older.ask("tasks/list", json!({})).await), -32601);
        }
    }

    /// A known method with bad parameters stays known.
    async fn malformed_parameters_are_invalid_params(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, desk(), version).await;
            for (method, params) in [
                ("tools/call", json!({"name": 5})),
                ("tools/call", json!({"name": null})),
                ("tools/call", json!({"name": "count", "arguments": [1]})),
                ("tools/call", json!({"name": "count", "arguments": "x"})),
                ("tools/call", json!([1])),
                ("tools/list", json!({"cursor": 7})),
                ("tools/list", json!({"cursor": "nonsense"})),
                ("resources/read", json!({})),
                ("resources/read", json!({"uri": 7})),
            ] {
                let response = older.ask(method, params.clone()).await;
                let code = &response["error"]["code"];
                assert_eq!(code, -32602, "{version} {method} {params}: {response}");
            }
        }
    }

    async fn progress_is_told_as_the_revision_knows_it(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, desk(), version).await;
            let params = json!({"name": "work", "_meta": {"progressToken": "t"}});
            let id = older.begin("tools/call", params).await;
            let (said, _) = older.finish(id, never).await;
            let [told] = &said[..] else {
                panic!("{said:?}")
            };
            assert_eq!(told["params"]["progressToken"], "t");
            assert_eq!(told["params"]["total"], 2);
            assert_eq!(
                told["params"].get("message").is_some(),
                version >= "2025-03-26"
            );
        }
    }

    /// LFEAT-S-08, ERR-S-01
    async fn only_who_opens_links_is_told_to_open_them_first(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, port(), version).await;
            let (_, response) = older.call("berth", json!({}), never).await;
            if version != "2025-11-25" {
                not_told(&response);
                continue;
            }
            let error = &response["error"];
            assert_eq!(error["code"], -32042, "{response}");
            assert_eq!(error["message"], "Sign in first");
            let link = &error["data"]["elicitations"][0];
            assert_eq!(link["url"], "https://port.example/in");
            assert_eq!(link["elicitationId"], "e-1");
        }
        // The revision has it, and the client does not.
        let mut forms = everything();
        forms["elicitation"] = json!({"form": {}});
        for can in [forms, json!({"elicitation": {}}), json!({})] {
            let mut older = Older::open_as(way, port(), "2025-11-25", &can).await;
            let (_, response) = older.call("berth", json!({}), never).await;
            not_told(&response);
        }
        let mut modern = Older::silent(way, port()).await;
        let call = antiphon_tests::call(1, "berth", json!({}));
        modern.say(&call).await;
        not_told(&modern.hear().await);
    }
}
