//! A service that does what services should not, and offers little.

use antiphon::raw::{
    About, Answering, Call, CallTool, Changes, Complete, Endpoint, Error, List, Rendered, Reply,
    Service,
};
use antiphon::types::{
    BooleanSchema, CallToolResult, CompleteResult, ElicitAction, ElicitRequestParams, FormSchema,
    Implementation, InputRequest, InputRequired, ListToolsResult, ServerCapabilities,
    SubscriptionFilter,
};
use serde_json::{Map, Value, value::RawValue};

/// The service: tools, completions and an extension, no name, no logs.
pub struct Odd {
    changes: Changes,
}

/// The service, ready.
pub fn endpoint() -> Endpoint {
    Endpoint::new(Odd {
        changes: Changes::new(),
    })
}

impl Service for Odd {
    fn about(&self) -> About {
        let capabilities = ServerCapabilities::default()
            .tools(true)
            .completions()
            .extension("com.example/x", Map::new());
        About::new(Implementation::new("odd", "0"))
            .capabilities(capabilities)
            .changes(self.changes.clone())
            .anonymous()
    }

    /// A list as an older server would have sent it: without hints.
    fn list_tools<'a>(
        &'a self,
        _: &'a Call<'a>,
        _: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        let old: ListToolsResult = serde_json::from_str(r#"{"tools":[]}"#).expect("a list");
        Box::pin(async { Ok(old.into()) })
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            match tool.name {
                "log" => {
                    call.logger().error("nobody was told that this server logs");
                    Ok(CallToolResult::text("logged").into())
                }
                "odd_question" => {
                    let question = InputRequest::Other {
                        method: "x/ask".into(),
                        params: None,
                    };
                    Ok(InputRequired::ask("odd", question).into())
                }
                "gateway" => {
                    let raw = tool
                        .arguments
                        .ok_or_else(|| Error::internal("nothing to pass on"))?;
                    Reply::from_raw(raw)
                }
                "two_rounds" => two_rounds(&tool),
                other => Err(Error::invalid_params(format!("Unknown tool: {other}"))),
            }
        })
    }

    /// More values than may be sent.
    fn complete<'a>(&'a self, _: &'a Call<'a>, _: Complete) -> Answering<'a, CompleteResult> {
        let mut result = CompleteResult::new(Vec::new());
        result.completion.values = (0..150).map(|i| i.to_string()).collect();
        Box::pin(async move { Ok(result) })
    }

    /// Promises more than was asked for.
    fn listen<'a>(
        &'a self,
        _: &'a Call<'a>,
        _: SubscriptionFilter,
    ) -> Answering<'a, SubscriptionFilter> {
        let everything = SubscriptionFilter {
            tools_list_changed: Some(true),
            prompts_list_changed: Some(true),
            resources_list_changed: Some(true),
            resource_subscriptions: Some(vec!["x://1".into()]),
        };
        Box::pin(async move { Ok(everything) })
    }

    /// Answers an extension's methods with whatever they were sent.
    fn other<'a>(
        &'a self,
        _: &'a Call<'a>,
        params: Option<&'a RawValue>,
    ) -> Answering<'a, Rendered<Value>> {
        Box::pin(async move {
            let params = params.map_or("{}", RawValue::get);
            let params: Map<String, Value> =
                serde_json::from_str(params).map_err(|error| Error::internal(error.to_string()))?;
            match params.get("answer") {
                Some(Value::Object(answer)) => Ok(answer.clone().into()),
                _ => Err(Error::invalid_params("`answer` is missing")),
            }
        })
    }
}

/// Asks, remembers in its state that it did, and counts no answer without it.
fn two_rounds(tool: &CallTool<'_>) -> Result<Reply<CallToolResult>, Error> {
    let asked = tool.round.state == Some("asked");
    let answer = tool.round.answers()?.elicit("sure").given();
    match answer.filter(|_| asked) {
        Some(answer) if answer.action == ElicitAction::Accept => {
            Ok(CallToolResult::text("done").into())
        }
        Some(_) => Ok(CallToolResult::text("declined").into()),
        None => {
            let form = FormSchema::new().required("ok", BooleanSchema::new());
            let question = ElicitRequestParams::form("Sure?", form);
            Ok(InputRequired::ask("sure", question)
                .with_state("asked")
                .into())
        }
    }
}
