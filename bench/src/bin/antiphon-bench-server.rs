//! Our server for the bench: `--http PORT [--tools N] [--workers N]`, or `--stdio`. See
//! CONTRACT.md.

use std::{collections::HashMap, time::Duration};

use antiphon::raw::{
    About, Answering, Call, CallTool, Endpoint, Error, List, Pages, Rendered, Reply, Service,
};
use antiphon::types::{CallToolResult, Implementation, ListToolsResult, ServerCapabilities, Tool};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What a tool does.
#[derive(Clone, Copy)]
enum Work {
    Echo,
    Slow,
    Filler,
}

struct Bench {
    tools: HashMap<String, Work>,
    list: Pages<ListToolsResult>,
}

#[derive(Deserialize)]
struct Echo {
    text: String,
}

#[derive(Deserialize)]
struct Slow {
    ms: u64,
}

#[derive(Deserialize)]
struct Filler {
    #[serde(rename = "a")]
    _a: String,
    #[serde(rename = "b")]
    _b: Option<i64>,
    #[serde(rename = "c")]
    _c: Option<bool>,
}

impl Bench {
    fn new(fillers: usize) -> Self {
        let mut tools = vec![
            (
                tool(
                    "echo",
                    "Returns its text.",
                    &json!({"text":{"type":"string"}}),
                    "text",
                ),
                Work::Echo,
            ),
            (
                tool(
                    "slow",
                    "Sleeps.",
                    &json!({"ms":{"type":"integer","minimum":0}}),
                    "ms",
                ),
                Work::Slow,
            ),
        ];
        let properties = json!({
            "a": {"type":"string","description":"first"},
            "b": {"type":"integer","description":"second"},
            "c": {"type":"boolean","description":"third"}
        });
        for i in 0..fillers {
            let description = format!("Filler tool number {i}.");
            let filler = tool(&format!("filler_{i:04}"), &description, &properties, "a");
            tools.push((filler, Work::Filler));
        }
        Self {
            list: Pages::one(ListToolsResult::new(
                tools.iter().map(|(tool, _)| tool.clone()).collect(),
            )),
            tools: tools
                .into_iter()
                .map(|(tool, work)| (tool.name, work))
                .collect(),
        }
    }
}

fn tool(name: &str, description: &str, properties: &Value, required: &str) -> Tool {
    let schema = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties.clone()),
        ("required".to_owned(), json!([required])),
    ]);
    Tool::new(name, schema).description(description)
}

impl Service for Bench {
    fn about(&self) -> About {
        About::new(Implementation::new("bench", "1.0.0"))
            .capabilities(ServerCapabilities::default().tools(false))
    }

    fn list_tools<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        Box::pin(async move { self.list.page(list.cursor) })
    }

    fn call_tool<'a>(
        &'a self,
        _: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            let Some(work) = self.tools.get(tool.name) else {
                return Err(Error::invalid_params(format!(
                    "Unknown tool: {}",
                    tool.name
                )));
            };
            let result = match work {
                Work::Echo => tool
                    .arguments::<Echo>()
                    .map(|echo| CallToolResult::text(echo.text)),
                Work::Slow => match tool.arguments::<Slow>() {
                    Ok(Slow { ms }) => {
                        tokio::time::sleep(Duration::from_millis(ms)).await;
                        Ok(CallToolResult::text(format!("slept {ms}")))
                    }
                    Err(bad) => Err(bad),
                },
                Work::Filler => tool
                    .arguments::<Filler>()
                    .map(|_| CallToolResult::text("filler")),
            };
            Ok(result.unwrap_or_else(Into::into).into())
        })
    }
}

/// The command line.
#[derive(Default)]
struct Flags {
    http: Option<u16>,
    stdio: bool,
    tools: usize,
    workers: usize,
}

fn flags() -> Result<Flags, String> {
    let mut flags = Flags::default();
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        if flag == "--stdio" {
            flags.stdio = true;
            continue;
        }
        let value = args.next().ok_or(format!("{flag} needs a value"))?;
        let number = value
            .parse::<usize>()
            .map_err(|_| format!("{flag}: {value} is no number"))?;
        match flag.as_str() {
            "--http" => {
                flags.http = Some(u16::try_from(number).map_err(|_| format!("no port: {value}"))?);
            }
            "--tools" => flags.tools = number,
            "--workers" => flags.workers = number,
            other => return Err(format!("unknown flag {other}")),
        }
    }
    if flags.http.is_some() == flags.stdio {
        return Err(
            "usage: antiphon-bench-server --http PORT | --stdio [--tools N] [--workers N]".into(),
        );
    }
    Ok(flags)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let flags = flags()?;
    let runtime = match flags.workers {
        0 | 1 => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?,
        workers => {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(workers).enable_all().build()?
        }
    };
    let endpoint = Endpoint::new(Bench::new(flags.tools));
    runtime.block_on(async {
        match flags.http {
            Some(port) => {
                let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
                antiphon::http::serve(listener, antiphon::http::service(endpoint)).await
            }
            None => antiphon::stdio::serve(endpoint).await,
        }
    })?;
    Ok(())
}
