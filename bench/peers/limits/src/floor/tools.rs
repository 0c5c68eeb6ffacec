//! The tools of the contract, found by name.

use std::{borrow::Cow, collections::HashMap, future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;

use super::{confirm::confirm, message::Message, reply::Refusal, seal::Sealer};

/// What a tool comes to, or what to tell the model that called it wrongly.
pub(super) type Outcome = Result<Answer, String>;
/// What a tool comes to.
pub(super) enum Answer {
    Text(String),
    /// A question to the user, and what to send along with the answer.
    Ask {
        message: String,
        state: String,
    },
    Refuse(Refusal),
}
/// A tool at work.
pub(super) type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;
type Handler = Box<dyn Fn(Call) -> Work + Send + Sync>;

/// What a tool is given: parts of the request, as they stand in it.
pub(super) struct Call {
    pub(super) arguments: Bytes,
    pub(super) answers: Option<Bytes>,
    pub(super) state: Option<Bytes>,
}

impl Call {
    pub(super) fn new(body: &Bytes, message: &Message<'_>) -> Self {
        let part = |json: &str| body.slice_ref(json.as_bytes());
        Self {
            arguments: message.arguments().map_or(Bytes::from_static(b"{}"), part),
            answers: message.answers().map(part),
            state: message.state().map(|state| match state {
                Cow::Borrowed(text) => part(text),
                Cow::Owned(text) => Bytes::copy_from_slice(text.as_bytes()),
            }),
        }
    }
}

/// A tool that can be called.
pub(super) struct Tool {
    /// Whether it may ask the user.
    pub(super) asks: bool,
    pub(super) run: Handler,
}

/// Tools by name.
pub(super) struct Tools(HashMap<String, Tool>);

impl Tools {
    pub(super) fn new(fillers: usize) -> Self {
        let mut tools = Self(HashMap::new());
        tools.add("echo", echo);
        tools.add("slow", slow);
        tools.add("nested", nested);
        let sealer = Arc::new(Sealer::new());
        let confirm = tools.add("confirm", move |call| confirm(sealer.clone(), call));
        confirm.asks = true;
        for index in 0..fillers {
            tools.add(contract::filler(index).0, filler);
        }
        tools
    }

    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        self.0.get(name)
    }

    fn add<H, F>(&mut self, name: impl Into<String>, handler: H) -> &mut Tool
    where
        H: Fn(Call) -> F + Send + Sync + 'static,
        F: Future<Output = Outcome> + Send + 'static,
    {
        let tool = Tool {
            asks: false,
            run: Box::new(move |call| Box::pin(handler(call))),
        };
        self.0.entry(name.into()).insert_entry(tool).into_mut()
    }
}

async fn echo(call: Call) -> Outcome {
    #[derive(Deserialize)]
    struct Arguments<'a> {
        #[serde(borrow)]
        text: Cow<'a, str>,
    }
    let arguments: Arguments<'_> = read(&call.arguments)?;
    Ok(Answer::Text(arguments.text.into_owned()))
}

async fn slow(call: Call) -> Outcome {
    #[derive(Deserialize)]
    struct Arguments {
        ms: u64,
    }
    let Arguments { ms } = read(&call.arguments)?;
    drop(call);
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(Answer::Text(format!("slept {ms}")))
}

async fn nested(call: Call) -> Outcome {
    let arguments: contract::Nested = read(&call.arguments)?;
    Ok(Answer::Text(arguments.summary()))
}

async fn filler(call: Call) -> Outcome {
    #[derive(Deserialize)]
    #[expect(
        dead_code,
        reason = "a filler looks at the shape of its arguments only"
    )]
    struct Arguments {
        a: String,
        b: Option<i64>,
        c: Option<bool>,
    }
    let _: Arguments = read(&call.arguments)?;
    Ok(Answer::Text("filler".to_owned()))
}

pub(super) fn read<'a, T: Deserialize<'a>>(arguments: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(arguments).map_err(|error| format!("wrong arguments: {error}"))
}

/// The fields of the `tools/list` result, written once at the start.
pub(super) fn list(fillers: usize) -> Vec<u8> {
    let one = |name: &str, kind: &str| {
        json!({"type": "object", "properties": {name: {"type": kind}}, "required": [name]})
            .to_string()
    };
    let mut tools = vec![
        tool("echo", "Repeats its text.", &one("text", "string")),
        tool("slow", "Answers after a while.", &one("ms", "integer")),
        tool("confirm", "Asks before it acts.", &one("action", "string")),
        tool(
            "nested",
            "Counts what is ordered.",
            &contract::nested_schema(),
        ),
    ];
    tools.extend((0..fillers).map(|index| {
        let (name, description) = contract::filler(index);
        tool(&name, &description, contract::FILLER_SCHEMA)
    }));
    let tools = tools.join(",");
    format!(r#""tools":[{tools}],"ttlMs":0,"cacheScope":"private""#).into_bytes()
}

fn tool(name: &str, description: &str, schema: &str) -> String {
    format!(r#"{{"name":"{name}","description":"{description}","inputSchema":{schema}}}"#)
}
