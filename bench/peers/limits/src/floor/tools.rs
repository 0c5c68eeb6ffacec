//! The tools of the contract, found by name.

use std::{borrow::Cow, collections::HashMap, future::Future, pin::Pin, time::Duration};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;

/// A tool's text, or what to tell the model that called it wrongly.
type Outcome = Result<String, String>;
/// A tool at work.
pub(super) type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;
type Tool = Box<dyn Fn(Bytes) -> Work + Send + Sync>;

/// Handlers by name; each is given the arguments as they stand in the request.
pub(super) struct Tools(HashMap<String, Tool>);

impl Tools {
    pub(super) fn new(fillers: usize) -> Self {
        let mut tools = Self(HashMap::new());
        tools.add("echo", echo);
        tools.add("slow", slow);
        for index in 0..fillers {
            tools.add(contract::filler(index).0, filler);
        }
        tools
    }

    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        self.0.get(name)
    }

    fn add<F>(&mut self, name: impl Into<String>, handler: fn(Bytes) -> F)
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let tool = move |arguments| -> Work { Box::pin(handler(arguments)) };
        self.0.insert(name.into(), Box::new(tool));
    }
}

async fn echo(arguments: Bytes) -> Outcome {
    #[derive(Deserialize)]
    struct Arguments<'a> {
        #[serde(borrow)]
        text: Cow<'a, str>,
    }
    let arguments: Arguments<'_> = read(&arguments)?;
    Ok(arguments.text.into_owned())
}

async fn slow(arguments: Bytes) -> Outcome {
    #[derive(Deserialize)]
    struct Arguments {
        ms: u64,
    }
    let Arguments { ms } = read(&arguments)?;
    drop(arguments);
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(format!("slept {ms}"))
}

async fn filler(arguments: Bytes) -> Outcome {
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
    let _: Arguments = read(&arguments)?;
    Ok("filler".to_owned())
}

fn read<'a, T: Deserialize<'a>>(arguments: &'a [u8]) -> Result<T, String> {
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
