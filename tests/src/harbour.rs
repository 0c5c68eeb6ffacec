//! The service under test: a little of everything, and some things no service should do.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::Limits;
use antiphon::raw::{
    About, Answering, Call, CallTool, Changes, Complete, Endpoint, Error, GetPrompt, HeaderParams,
    List, Pages, ReadResource, Rendered, Reply, Service,
};
use antiphon::types::{
    BooleanSchema, CacheScope, CallToolResult, CompleteResult, ContentBlock,
    CreateMessageRequestParams, ElicitRequestParams, FormSchema, GetPromptResult, Implementation,
    InputRequest, InputRequired, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, Prompt, PromptMessage, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ServerCapabilities, Tool,
};
use serde_json::{Map, Value, json, value::RawValue};

/// The service.
pub struct Harbour {
    tools: Pages<ListToolsResult>,
    resources: Pages<ListResourcesResult>,
    port: Arc<HeaderParams>,
    changes: Changes,
    /// Calls of the tool `slow` that were dropped before they ended.
    pub dropped: Arc<AtomicUsize>,
    /// What was fetched of that which may be kept for a minute.
    fetched: AtomicUsize,
}

/// Counts itself unless told that it came to its end.
struct Unfinished(Option<Arc<AtomicUsize>>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(count) = &self.0 {
            count.fetch_add(1, Ordering::SeqCst);
        }
    }
}

const TOOLS: [&str; 21] = [
    "echo",
    "slow",
    "background",
    "fail",
    "fail_late",
    "panic",
    "panic_at_once",
    "progress",
    "progress_backwards",
    "notify_at_once",
    "chatty",
    "late_progress",
    "log",
    "ask",
    "ask_all",
    "ask_tools",
    "ask_twice",
    "later",
    "reserved_code",
    "announce",
    "who",
];

/// How long answers with a count in them may be kept.
const MINUTE: Duration = Duration::from_secs(60);

impl Default for Harbour {
    fn default() -> Self {
        let header_schema = schema(json!({ "properties": {
            "port": { "type": "string", "x-mcp-header": "Port" },
            "berth": { "type": "integer", "x-mcp-header": "Berth" } } }));
        let port = Arc::new(HeaderParams::of(&header_schema).expect("valid annotations"));
        let mut tools: Vec<Tool> = TOOLS.iter().map(|name| Tool::empty(*name)).collect();
        tools.push(Tool::new("berth.reserve", header_schema));
        tools.push(Tool::new(
            "berth.broken",
            schema(json!({ "properties": {
            "port": { "type": "object", "x-mcp-header": "Port" } } })),
        ));
        let depth =
            json!({ "properties": { "depth": { "type": "number" } }, "required": ["depth"] });
        for name in ["depth", "depth.broken"] {
            tools.push(Tool::empty(name).output_schema(schema(depth.clone())));
        }
        let resources = (0..5).map(|i| Resource::new(format!("tide://{i}"), format!("Tide {i}")));
        Self {
            tools: Pages::one(ListToolsResult::new(tools)),
            resources: Pages::of(2, ListResourcesResult::new(resources.collect())),
            port,
            changes: Changes::new(),
            dropped: Arc::default(),
            fetched: AtomicUsize::new(0),
        }
    }
}

/// The schema of an object.
fn schema(mut schema: Value) -> Map<String, Value> {
    schema["type"] = "object".into();
    schema.as_object().expect("an object").clone()
}

/// The service with default limits.
pub fn endpoint() -> Endpoint {
    Endpoint::new(Harbour::default())
}

/// The service with other limits.
pub fn endpoint_with(limits: Limits) -> Endpoint {
    Endpoint::with_limits(Harbour::default(), limits)
}

impl Service for Harbour {
    fn about(&self) -> About {
        let capabilities = ServerCapabilities::default()
            .tools(true)
            .prompts(false)
            .resources(true, true)
            .completions()
            .logging();
        About::new(Implementation::new("harbour", "2.0"))
            .capabilities(capabilities)
            .instructions("Reserve berths.")
            .changes(self.changes.clone())
    }

    fn list_tools<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        Box::pin(async move { self.tools.page(list.cursor) })
    }

    fn header_params(&self, _: &Call<'_>, tool: &str) -> Option<Arc<HeaderParams>> {
        assert!(tool != "panic_in_headers", "asked for its headers");
        (tool == "berth.reserve").then(|| self.port.clone())
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        assert!(tool.name != "panic_at_once", "before there is a future");
        Box::pin(self.call(call, tool))
    }

    fn list_prompts<'a>(
        &'a self,
        _: &'a Call<'a>,
        _: List<'a>,
    ) -> Answering<'a, Rendered<ListPromptsResult>> {
        Box::pin(async { Ok(ListPromptsResult::new(vec![Prompt::new("brief")]).into()) })
    }

    fn get_prompt<'a>(
        &'a self,
        _: &'a Call<'a>,
        prompt: GetPrompt<'a>,
    ) -> Answering<'a, Reply<GetPromptResult>> {
        Box::pin(async move {
            if prompt.name != "brief" {
                return Err(Error::invalid_params(format!(
                    "Unknown prompt: {}",
                    prompt.name
                )));
            }
            let arguments = prompt.arguments()?;
            let vessel = match (arguments.get("vessel"), prompt.round.responses) {
                (Some(vessel), _) => vessel,
                (None, Some(answers)) => answers.get(),
                (None, None) => return Ok(ask("vessel").into()),
            };
            let text = ContentBlock::text(format!("Brief me on {vessel}."));
            Ok(GetPromptResult::new(vec![PromptMessage::user(text)]).into())
        })
    }

    fn list_resources<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListResourcesResult>> {
        Box::pin(async move { self.resources.page(list.cursor) })
    }

    fn list_resource_templates<'a>(
        &'a self,
        _: &'a Call<'a>,
        _: List<'a>,
    ) -> Answering<'a, Rendered<ListResourceTemplatesResult>> {
        let template = ResourceTemplate::new("tide://{port}", self.count());
        let result = ListResourceTemplatesResult::new(vec![template]);
        Box::pin(async { Ok(result.cache(MINUTE, CacheScope::Private).into()) })
    }

    fn read_resource<'a>(
        &'a self,
        _: &'a Call<'a>,
        resource: ReadResource<'a>,
    ) -> Answering<'a, Reply<ReadResourceResult>> {
        Box::pin(async move {
            match resource.uri {
                "tide://asks" => match resource.round.responses {
                    None => Ok(ask("port").into()),
                    Some(answers) => {
                        let contents = ResourceContents::text(resource.uri, answers.get());
                        Ok(ReadResourceResult::new(vec![contents]).into())
                    }
                },
                "tide://kept" => {
                    let contents = ResourceContents::text(resource.uri, self.count());
                    let result = ReadResourceResult::new(vec![contents]);
                    Ok(result.cache(MINUTE, CacheScope::Private).into())
                }
                // What an older service would say.
                "tide://old" => Err(Error::new(-32002, "Resource not found")),
                uri if uri.starts_with("tide://") => {
                    let contents = ResourceContents::text(uri, "06:10,1.2");
                    Ok(ReadResourceResult::new(vec![contents]).into())
                }
                uri => Err(Error::resource_not_found(uri)),
            }
        })
    }

    fn complete<'a>(
        &'a self,
        _: &'a Call<'a>,
        completion: Complete,
    ) -> Answering<'a, CompleteResult> {
        Box::pin(async move { Ok(CompleteResult::new(vec![completion.argument.value])) })
    }
}

impl Harbour {
    fn count(&self) -> String {
        format!("fetch {}", self.fetched.fetch_add(1, Ordering::SeqCst) + 1)
    }

    async fn call(
        &self,
        call: &Call<'_>,
        tool: CallTool<'_>,
    ) -> Result<Reply<CallToolResult>, Error> {
        let arguments: Value = match tool.arguments() {
            Ok(arguments) => arguments,
            Err(bad) => return Ok(CallToolResult::from(bad).into()),
        };
        let text = match tool.name {
            "berth.reserve" => arguments.to_string(),
            "depth" => {
                let result = CallToolResult::text("deep").structured(json!({ "depth": 11.5 }));
                return Ok(result.into());
            }
            "depth.broken" => {
                let result = CallToolResult::text("deep").structured(json!({ "depth": "very" }));
                return Ok(result.into());
            }
            "slow" => {
                let mut unfinished = Unfinished(Some(self.dropped.clone()));
                let ms = arguments["ms"].as_u64().unwrap_or(0);
                tokio::time::sleep(Duration::from_millis(ms)).await;
                unfinished.0 = None;
                format!(
                    "slept {ms}, {} dropped",
                    self.dropped.load(Ordering::SeqCst)
                )
            }
            // Moves work to a task that ends with the call.
            "background" => {
                let (token, ended) = (call.cancellation(), self.dropped.clone());
                tokio::spawn(async move {
                    token.cancelled().await;
                    ended.fetch_add(1, Ordering::SeqCst);
                });
                let ms = arguments["ms"].as_u64().unwrap_or(0);
                tokio::time::sleep(Duration::from_millis(ms)).await;
                "left to a task".to_owned()
            }
            "fail" => return Ok(CallToolResult::error("No berth is free").into()),
            "panic" => {
                tokio::task::yield_now().await;
                panic!("the crane fell over")
            }
            "progress" => {
                let progress = call.progress();
                for done in [1, 2, 2, 1, 3] {
                    progress.report_of(done, 3);
                    tokio::task::yield_now().await;
                }
                "progressed".to_owned()
            }
            // Ends in the very poll in which it notifies.
            "notify_at_once" => {
                call.progress().report(1);
                call.logger().info("at once");
                call.progress().report(2);
                "notified".to_owned()
            }
            "progress_backwards" => {
                call.progress().report(50);
                call.progress().report(10);
                call.progress().report(60);
                "progressed".to_owned()
            }
            "fail_late" => {
                call.progress().report(1);
                tokio::time::sleep(Duration::from_millis(20)).await;
                return Ok(ask("confirm").into());
            }
            "chatty" => {
                let count = arguments["count"].as_u64().unwrap_or(0);
                for done in 1..=count {
                    call.progress().report(done);
                    if done % 100 == 0 {
                        tokio::task::yield_now().await;
                    }
                }
                format!("said {count}")
            }
            "late_progress" => {
                let progress = call.progress();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(30)).await;
                    progress.report(1);
                });
                "answered first".to_owned()
            }
            "log" => {
                let logger = call.logger().named("quay");
                logger.debug("at debug");
                logger.info(json!({ "at": "info" }));
                logger.error("at error");
                tokio::task::yield_now().await;
                "logged".to_owned()
            }
            // Whatever asks is content with any answers.
            name if name.starts_with("ask") && tool.round.responses.is_some() => {
                let answers = tool.round.responses.map_or("", RawValue::get);
                format!("{} {answers}", tool.round.state.unwrap_or("no state"))
            }
            "ask" => return Ok(ask("confirm").with_state("open-state").into()),
            "ask_all" => {
                return Ok(ask("form")
                    .and(
                        "url",
                        ElicitRequestParams::url("Sign in", "https://example.com/"),
                    )
                    .and("model", CreateMessageRequestParams::user("Hello", 10))
                    .and("roots", InputRequest::roots())
                    .into());
            }
            "ask_tools" => {
                let question =
                    CreateMessageRequestParams::user("Hello", 10).tools(vec![Tool::empty("x")]);
                return Ok(InputRequired::ask("model", question).into());
            }
            "ask_twice" => return Ok(ask("same").and("same", InputRequest::roots()).into()),
            "later" if tool.round.state == Some("come-back") => "here it is".to_owned(),
            "later" => return Ok(InputRequired::later("come-back").into()),
            "reserved_code" => {
                return Err(Error::new(-32050, "not ours to use"));
            }
            "announce" => {
                match arguments["what"].as_str() {
                    Some("tools") => self.changes.tools(),
                    Some("prompts") => self.changes.prompts(),
                    Some("resources") => self.changes.resources(),
                    Some("end") => self.changes.end(),
                    Some("burst") => (0..1000).for_each(|_| self.changes.tools()),
                    uri => self.changes.resource(uri.unwrap_or_default()),
                }
                format!("{} listening", self.changes.listeners())
            }
            "who" => json!({
                "principal": call.principal().and_then(|principal| principal.subject.clone()),
                "client": call.client_info().map(|client| client.name),
                "traceparent": call.trace().traceparent,
                "other": call.other_meta(),
                "state": tool.round.state,
                "answers": tool.round.answers()?.keys().collect::<Vec<_>>(),
            })
            .to_string(),
            // Under any name that has it somewhere, however hard to write in a header.
            name if name.contains("echo") => arguments.to_string(),
            other => return Err(Error::invalid_params(format!("Unknown tool: {other}"))),
        };
        Ok(CallToolResult::text(text).into())
    }
}

fn ask(key: &str) -> InputRequired {
    let form = FormSchema::new().required("ok", BooleanSchema::new());
    InputRequired::ask(key, ElicitRequestParams::form("Sure?", form))
}
