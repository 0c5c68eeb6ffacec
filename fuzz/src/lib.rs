//! What the fuzz targets share: a service that looks at everything, and what must hold of the
//! messages a server sends.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, Waker},
};

use antiphon::Limits;
use antiphon::raw::{
    About, Answering, Call, CallTool, Complete, Endpoint, Error, GetPrompt, HeaderParams, List,
    Pages, ReadResource, Rendered, Reply, Service,
};
use antiphon::types::{
    CallToolResult, CompleteResult, ContentBlock, ElicitRequestParams, FormSchema, GetPromptResult,
    Implementation, InputRequired, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel, Prompt, PromptMessage, ReadResourceResult,
    Resource, ResourceContents, ServerCapabilities, Tool,
};
use antiphon_core::{
    depth,
    envelope::{Message, Shape},
};
use serde_json::{Map, Value, json, value::RawValue};
use tokio::runtime::{Builder, Runtime};

/// Answers at once, after a look at all there is to see of a call.
struct Mill {
    tools: Pages<ListToolsResult>,
    grain: Arc<HeaderParams>,
}

/// The service, with limits low enough to be met.
pub fn endpoint() -> &'static Endpoint {
    static ENDPOINT: OnceLock<Endpoint> = OnceLock::new();
    ENDPOINT.get_or_init(|| {
        let schema = json!({"type": "object", "properties": {
            "grain": {"type": "string", "x-mcp-header": "Grain"},
            "sacks": {"type": "integer", "x-mcp-header": "Sacks"}}});
        let schema = schema.as_object().expect("an object").clone();
        let grain = HeaderParams::of(&schema).expect("valid annotations").into();
        let tools = vec![Tool::new("grind", schema), Tool::empty("ask")];
        let tools = Pages::of(1, ListToolsResult::new(tools));
        let endpoint = Endpoint::with_limits(Mill { tools, grain }, limits());
        // By hand, or it would stop with the first connection.
        let mut context = Context::from_waker(Waker::noop());
        let started = pin!(endpoint.start()).poll(&mut context);
        assert!(
            matches!(started, Poll::Ready(Ok(()))),
            "nothing to wait for"
        );
        endpoint
    })
}

/// The limits of [`endpoint`].
pub fn limits() -> Limits {
    Limits::new().message_bytes(1024).depth(16).listen_uris(4)
}

/// Runs what needs a runtime, on one that is made once.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_current_thread();
        builder.enable_time().build().expect("a runtime")
    })
}

impl Service for Mill {
    fn about(&self) -> About {
        let capabilities = ServerCapabilities::default()
            .tools(true)
            .prompts(false)
            .resources(true, true)
            .completions()
            .logging()
            .extension("com.example/any", Map::new());
        About::new(Implementation::new("mill", "1")).capabilities(capabilities)
    }

    fn list_tools<'a>(
        &'a self,
        call: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        look(call);
        Box::pin(async move { self.tools.page(list.cursor) })
    }

    fn header_params(&self, call: &Call<'_>, tool: &str) -> Option<Arc<HeaderParams>> {
        look(call);
        (tool == "grind").then(|| self.grain.clone())
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        let seen = look(call);
        Box::pin(async move {
            if tool.name == "ask" && tool.round.is_first() {
                let form = ElicitRequestParams::form("Sure?", FormSchema::new());
                return Ok(InputRequired::ask("sure", form).into());
            }
            let answers = tool.round.answers()?;
            for key in answers.keys() {
                _ = (answers.elicit(key), answers.sample(key), answers.roots(key));
            }
            let text = match tool.arguments::<Value>() {
                Ok(arguments) => arguments.to_string(),
                Err(bad) => return Ok(CallToolResult::from(bad).into()),
            };
            Ok(CallToolResult::text(text).structured(seen).into())
        })
    }

    fn list_prompts<'a>(
        &'a self,
        call: &'a Call<'a>,
        _: List<'a>,
    ) -> Answering<'a, Rendered<ListPromptsResult>> {
        look(call);
        Box::pin(async { Ok(ListPromptsResult::new(vec![Prompt::new("p")]).into()) })
    }

    fn get_prompt<'a>(
        &'a self,
        call: &'a Call<'a>,
        prompt: GetPrompt<'a>,
    ) -> Answering<'a, Reply<GetPromptResult>> {
        look(call);
        Box::pin(async move {
            let text = ContentBlock::text(json!(prompt.arguments()?).to_string());
            Ok(GetPromptResult::new(vec![PromptMessage::user(text)]).into())
        })
    }

    fn list_resources<'a>(
        &'a self,
        call: &'a Call<'a>,
        _: List<'a>,
    ) -> Answering<'a, Rendered<ListResourcesResult>> {
        look(call);
        Box::pin(async { Ok(ListResourcesResult::new(vec![Resource::new("a:b", "c")]).into()) })
    }

    fn list_resource_templates<'a>(
        &'a self,
        call: &'a Call<'a>,
        _: List<'a>,
    ) -> Answering<'a, Rendered<ListResourceTemplatesResult>> {
        look(call);
        Box::pin(async { Ok(ListResourceTemplatesResult::new(Vec::new()).into()) })
    }

    fn read_resource<'a>(
        &'a self,
        call: &'a Call<'a>,
        resource: ReadResource<'a>,
    ) -> Answering<'a, Reply<ReadResourceResult>> {
        look(call);
        Box::pin(async move {
            let contents = ResourceContents::text(resource.uri, "text");
            Ok(ReadResourceResult::new(vec![contents]).into())
        })
    }

    fn complete<'a>(
        &'a self,
        call: &'a Call<'a>,
        completion: Complete,
    ) -> Answering<'a, CompleteResult> {
        look(call);
        Box::pin(async move { Ok(CompleteResult::new(vec![completion.argument.value])) })
    }

    fn other<'a>(
        &'a self,
        call: &'a Call<'a>,
        params: Option<&'a RawValue>,
    ) -> Answering<'a, Rendered<Value>> {
        look(call);
        // As a gateway would: what came goes out again, byte for byte.
        Box::pin(async move {
            let params = params.ok_or_else(|| Error::invalid_params("no params"))?;
            Rendered::from_raw(params).map_err(|error| Error::invalid_params(error.message))
        })
    }
}

/// Asks a call for everything it has, and notifies.
fn look(call: &Call<'_>) -> Value {
    call.progress().report_of(1, 2);
    call.logger().named("mill").log(LoggingLevel::Error, "hot");
    json!({
        "id": call.id().as_str(),
        "method": call.method(),
        "client": call.client_info().map(|client| client.name),
        "capabilities": call.capabilities().ok(),
        "trace": call.trace().traceparent,
        "meta": call.other_meta(),
    })
}

/// How a message must be answered.
#[derive(Debug, PartialEq, Eq)]
pub enum Due {
    /// Not at all.
    Nothing,
    /// With an error that carries no id.
    Anonymous,
    /// With a response or an error under this id, as JSON text.
    Under(String),
}

/// What is due for these bytes on a transport that carries lines.
pub fn due(bytes: &[u8]) -> Due {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Due::Anonymous;
    };
    let id = match Message::parse(text) {
        Err(unreadable) => unreadable.id,
        Ok(message) if depth::exceeds(text, limits().depth) => message.id(),
        Ok(message) => match message.shape() {
            Shape::Notification | Shape::Response => return Due::Nothing,
            Shape::Request | Shape::Batch | Shape::Invalid(_) => message.id(),
        },
    };
    id.map_or(Due::Anonymous, |id| Due::Under(id.to_owned()))
}

/// A message a server may send, read strictly; its id as JSON text if it is a response.
pub fn response_id(bytes: &[u8]) -> Option<Due> {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let members: std::collections::BTreeMap<String, &RawValue> =
        serde_json::from_str(text).expect("an object");
    let get = |name: &str| members.get(name).map(|raw| raw.get());
    assert_eq!(get("jsonrpc"), Some(r#""2.0""#), "{text}");
    let id = get("id");
    if let Some(method) = get("method") {
        let method: String = serde_json::from_str(method).expect("a string");
        assert!(
            method.starts_with("notifications/") && id.is_none(),
            "{text}"
        );
        return None;
    }
    match (get("result"), get("error")) {
        (Some(result), None) => {
            assert!(result.starts_with(r#"{"resultType":""#), "{text}");
            assert!(id.is_some(), "{text}");
        }
        (None, Some(error)) => {
            let error: antiphon_types::ErrorObject = serde_json::from_str(error).expect("an error");
            let known = [-32700, -32600, -32601, -32602, -32020, -32021, -32022];
            assert!(known.contains(&error.code), "{text}");
        }
        _ => panic!("neither a result nor an error: {text}"),
    }
    Some(match id {
        None => Due::Anonymous,
        Some(id) => {
            assert!(antiphon_types::RequestId::from_raw(id).is_some(), "{text}");
            Due::Under(id.to_owned())
        }
    })
}
