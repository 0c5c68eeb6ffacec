//! Requests of 2026-07-28.

use axum::{
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json, value::RawValue};

use super::{
    Flaw,
    http::{Message, Replica, answered, failed, mirrored, text_of},
    listing::{listed, result},
    questions::Question,
    shop::{End, Round, Shop},
};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Answers a message. Sessions mean nothing here.
pub(crate) async fn answer(
    replica: &Replica,
    headers: &HeaderMap,
    principal: Option<&str>,
    message: Message<'_>,
) -> Response {
    let (Some(method), Some(id)) = (message.method.as_deref(), &message.id) else {
        return StatusCode::ACCEPTED.into_response();
    };
    let id = Some(id);
    let name = message.name();
    let Some(params) = &message.params else {
        return failed(400, id, -32602, "The parameters are missing.");
    };
    let capabilities = &params.meta[CAPABILITIES];
    if !capabilities.is_object() {
        return failed(400, id, -32602, "The capabilities are missing.");
    }
    if text_of(headers, "mcp-method") != Some(method) {
        return failed(400, id, -32020, "Mcp-Method differs.");
    }
    if mirrored(headers, "mcp-name").as_deref() != name && name.is_some() {
        return failed(400, id, -32020, "Mcp-Name differs.");
    }
    let shop = &replica.shop;
    if method == "completion/complete" {
        let result = match shop.flaw {
            Some(Flaw::InputRequiredElsewhere) => json!({
                "resultType": "input_required",
                "inputRequests": shop.question_of(Question::Form, "completion"),
                "requestState": "completing",
            }),
            _ => complete(json!({ "completion": { "values": [], "hasMore": false } })),
        };
        return answered(200, id, "result", &result);
    }
    if let Some(mut listed) = listed(method) {
        listed["ttlMs"] = json!(0);
        listed["cacheScope"] = json!("private");
        return answered(200, id, "result", &complete(listed));
    }
    if !matches!(method, "tools/call" | "prompts/get" | "resources/read") {
        return failed(404, id, -32601, "There is no such method.");
    }
    let name = name.unwrap_or_default();
    let Some(question) = Shop::question(method, name) else {
        return failed(200, id, -32602, "There is no such thing.");
    };
    let is_object = |raw: &&RawValue| raw.get().starts_with('{');
    if [params.arguments, params.input_responses]
        .iter()
        .flatten()
        .any(|raw| !is_object(raw))
    {
        return failed(200, id, -32602, "Arguments and answers are objects.");
    }
    let round = Round {
        principal,
        method,
        name,
        arguments: params.arguments.map_or("{}", RawValue::get),
        capabilities,
        state: params.request_state.as_deref(),
        answers: params.input_responses,
    };
    match shop.round(replica.number, question, round).await {
        End::Done(text) => {
            let mut result = complete(result(method, name, &text));
            if method == "resources/read" {
                result["ttlMs"] = json!(0);
                result["cacheScope"] = json!("private");
            }
            answered(200, id, "result", &result)
        }
        End::Asks(questions, state) => {
            let asks = json!({
                "resultType": "input_required", "inputRequests": questions, "requestState": state,
            });
            answered(200, id, "result", &asks)
        }
        End::Refused(cause) => failed(200, id, -32602, cause.text(shop.flaw)),
        End::Needs(capabilities) => {
            let error = json!({
                "code": -32021, "message": "The client cannot be asked.",
                "data": { "requiredCapabilities": capabilities },
            });
            answered(400, id, "error", &error)
        }
        End::Crashed => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn complete(mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    result["_meta"] = json!({
        "io.modelcontextprotocol/serverInfo": { "name": "planted", "version": "1" },
    });
    result
}
