//! Clients of every kind, by hand, and what became of what they tried.

use antiphon::{Server, http, raw::Endpoint};
use antiphon_tests::{
    older::{Older, everything},
    request, request_as,
    wire::Wire,
    with_meta,
};
use serde_json::{Value, json};

use crate::desk::Feature;

/// A kind of client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Older(&'static str),
    Modern,
    /// 2025-11-25 over HTTP without sessions.
    Stateless,
    /// 2025-11-25 over HTTP without event streams.
    JsonAnswers,
}

impl Column {
    pub(crate) const ALL: [Self; 7] = [
        Self::Older("2024-11-05"),
        Self::Older("2025-03-26"),
        Self::Older("2025-06-18"),
        Self::Older("2025-11-25"),
        Self::Modern,
        Self::Stateless,
        Self::JsonAnswers,
    ];

    /// As the guide calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Older(version) => version,
            Self::Modern => "2026-07-28",
            Self::Stateless => "without sessions",
            Self::JsonAnswers => "JSON answers",
        }
    }
}

/// Tries a feature out; what the guide calls the outcome.
pub(crate) async fn try_out(column: Column, feature: Feature, server: Server) -> &'static str {
    let endpoint = Endpoint::from(server);
    let peer = match column {
        Column::Older(version) => Older::open(Wire::Memory, endpoint, version).await,
        Column::Modern => Older::silent(Wire::Memory, endpoint).await,
        Column::Stateless => over(http::service(endpoint).stateless()).await,
        Column::JsonAnswers => over(http::service(endpoint).json_answers()).await,
    };
    let mut client = Client { peer, column };
    match feature {
        Feature::Form => client.asks("form").await,
        Feature::Link => client.asks("link").await,
        Feature::Completion => client.asks("completion").await,
        Feature::CompletionWithTools => client.asks("completion-with-tools").await,
        Feature::Roots => client.asks("roots").await,
        Feature::Waiting => client.asks("waiting").await,
        Feature::Later => match client.asks("later").await {
            "yes" => "runs again",
            other => other,
        },
        Feature::Prompt => {
            let (said, response) = client
                .request("prompts/get", json!({"name": "prompt"}))
                .await;
            let text = &response["result"]["messages"][0]["content"]["text"];
            outcome(&said, &response, text)
        }
        Feature::Resource => {
            let params = json!({"uri": "desk://asks"});
            let (said, response) = client.request("resources/read", params).await;
            let text = &response["result"]["contents"][0]["text"];
            outcome(&said, &response, text)
        }
        Feature::Object => client.structured("object").await,
        Feature::List => client.structured("list").await,
        Feature::Audio => client.content("audio", "audio").await,
        Feature::ResourceLink => client.content("resource-link", "resource_link").await,
        Feature::Progress => client.progress().await,
        Feature::Log => client.log().await,
        Feature::Lists => client.lists().await,
        Feature::Subscription => client.subscription().await,
        Feature::Batch => client.batch().await,
    }
}

/// A client of 2025-11-25 over HTTP.
async fn over(service: http::HttpService) -> Older {
    let mut older = Older::over(service).await;
    older.greet("2025-11-25", &everything()).await;
    older
}

struct Client {
    peer: Older,
    column: Column,
}

/// What a question is answered with.
fn answer(method: &Value, params: &Value) -> Value {
    match (method.as_str(), params["mode"].as_str()) {
        (Some("elicitation/create"), Some("url")) => json!({"action": "accept"}),
        (Some("elicitation/create"), _) => json!({"action": "accept", "content": {"name": "Ada"}}),
        (Some("sampling/createMessage"), _) => json!({
            "role": "assistant", "model": "m", "stopReason": "endTurn",
            "content": {"type": "text", "text": "Ada"},
        }),
        (Some("roots/list"), _) => json!({"roots": [{"uri": "file:///a", "name": "Ada"}]}),
        _ => panic!("asked {method}"),
    }
}

/// What became of a call that was to ask, and to answer with what it was told.
fn outcome(said: &[Value], response: &Value, text: &Value) -> &'static str {
    if response["result"]["isError"] == true {
        return "tool error";
    }
    match response["error"]["code"].as_i64() {
        Some(-32603) => return "error",
        Some(code) => panic!("{code}: {response}"),
        None => {}
    }
    assert_eq!(text, "Ada", "{response}");
    assert!(said.len() <= 3, "{said:?}");
    "yes"
}

impl Client {
    /// A request from beginning to end: what was asked and told in between, and the response.
    async fn request(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        match self.column {
            Column::Older(_) | Column::Stateless | Column::JsonAnswers => {
                let id = self.peer.begin(method, params).await;
                let told = |asked: &Value| Ok(answer(&asked["method"], &asked["params"]));
                self.peer.finish(id, told).await
            }
            Column::Modern => self.modern(method, params).await,
        }
    }

    async fn modern(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        let mut said = Vec::new();
        let mut next = params.clone();
        for id in 1.. {
            let level = "io.modelcontextprotocol/logLevel";
            let asked = with_meta(request(id, method, next), level, "info");
            let asked = with_meta(asked, "progressToken", "t");
            self.peer.say(&asked).await;
            let response = loop {
                let heard = self.peer.hear().await;
                match heard["id"] == id {
                    true => break heard,
                    false => said.push(heard),
                }
            };
            let result = &response["result"];
            if result["resultType"] != "input_required" {
                return (said, response);
            }
            next = params.clone();
            next["requestState"] = result["requestState"].clone();
            for (key, asked) in result["inputRequests"].as_object().into_iter().flatten() {
                next["inputResponses"][key] = answer(&asked["method"], &asked["params"]);
            }
        }
        unreachable!("it ends")
    }

    async fn call(&mut self, tool: &str) -> (Vec<Value>, Value) {
        let mut params = json!({"name": tool});
        if self.column != Column::Modern {
            params["_meta"] = json!({"progressToken": "t"});
        }
        self.request("tools/call", params).await
    }

    async fn asks(&mut self, tool: &str) -> &'static str {
        let (said, response) = self.call(tool).await;
        let text = response["result"]["content"][0]["text"].clone();
        outcome(&said, &response, &text)
    }

    async fn structured(&mut self, tool: &str) -> &'static str {
        let (_, response) = self.call(tool).await;
        let result = &response["result"];
        assert!(result["content"][0]["text"].is_string(), "{response}");
        match result.get("structuredContent") {
            Some(_) => "yes",
            None => "as text",
        }
    }

    async fn content(&mut self, tool: &str, kind: &str) -> &'static str {
        let (_, response) = self.call(tool).await;
        let block = &response["result"]["content"][0];
        match block["type"].as_str() {
            Some("text") => "as text",
            Some(it) if it == kind => "yes",
            other => panic!("{other:?}: {response}"),
        }
    }

    async fn progress(&mut self) -> &'static str {
        let (said, _) = self.call("progress").await;
        let told = said
            .iter()
            .find(|it| it["method"] == "notifications/progress");
        match told.map(|told| told["params"].get("message").is_some()) {
            Some(true) => "yes",
            Some(false) => "without words",
            None => "no",
        }
    }

    async fn log(&mut self) -> &'static str {
        let (said, _) = self.call("log").await;
        match said
            .iter()
            .any(|it| it["method"] == "notifications/message")
        {
            true => "yes",
            false => "no",
        }
    }

    async fn lists(&mut self) -> &'static str {
        const CHANGED: &str = "notifications/tools/list_changed";
        let (said, _) = self.call("change").await;
        if said.iter().any(|it| it["method"] == CHANGED) || self.hears(CHANGED).await {
            return "unasked";
        }
        if self.column != Column::Modern {
            return "no";
        }
        let wanted = json!({"notifications": {"toolsListChanged": true}});
        self.listens(wanted, CHANGED).await
    }

    async fn subscription(&mut self) -> &'static str {
        const UPDATED: &str = "notifications/resources/updated";
        if self.column == Column::Modern {
            let wanted = json!({"notifications": {"resourceSubscriptions": ["desk://watched"]}});
            return self.listens(wanted, UPDATED).await;
        }
        let params = json!({"uri": "desk://watched"});
        let (_, response) = self.request("resources/subscribe", params).await;
        if response["result"] != json!({}) {
            return "no";
        }
        let (said, _) = self.call("change").await;
        let heard = said.iter().any(|it| it["method"] == UPDATED);
        assert!(heard || self.hears(UPDATED).await, "{:?}", self.column);
        "yes"
    }

    /// Whether this comes within a moment.
    async fn hears(&mut self, method: &str) -> bool {
        while let Some(heard) = self.peer.hear_at_once().await {
            if heard["method"] == method {
                return true;
            }
        }
        false
    }

    async fn listens(&mut self, params: Value, method: &str) -> &'static str {
        let everything = everything();
        let listen = request_as(&everything, "listen", "subscriptions/listen", params);
        self.peer.say(&listen).await;
        if self.peer.hear().await["method"] != "notifications/subscriptions/acknowledged" {
            return "no";
        }
        self.peer
            .say(&antiphon_tests::call("change", "change", json!({})))
            .await;
        assert!(self.hears(method).await);
        "by subscription"
    }

    async fn batch(&mut self) -> &'static str {
        let ping = json!({"jsonrpc": "2.0", "id": "b", "method": "tools/list"});
        self.peer.say(&json!([ping])).await;
        let heard = self.peer.hear().await;
        match heard["error"]["code"].as_i64() {
            None => "yes",
            Some(-32600) => "no",
            Some(other) => panic!("{other}: {heard}"),
        }
    }
}
