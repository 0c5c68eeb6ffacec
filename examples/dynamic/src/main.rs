//! Tools that are data: a service on the raw tier whose tools come from a file.
//!
//! `cargo run -p example-dynamic -- examples/dynamic/tools.json`, on stdio. The tool `reload` reads
//! the file again, and clients that listen are told to list the tools again.

use std::{
    collections::BTreeMap,
    fs, io,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use antiphon::{
    raw::{
        About, Answering, Call, CallTool, Changes, Error, List, Pages, Rendered, Reply, Service,
    },
    stdio,
    types::{CallToolResult, Implementation, ListToolsResult, ServerCapabilities, Tool},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// One tool in the file: it answers with its text, arguments in place of the `{names}`.
#[derive(Deserialize)]
struct Entry {
    description: String,
    schema: Map<String, Value>,
    text: String,
}

impl Entry {
    /// `None` if an argument is missing.
    fn fill(&self, arguments: &BTreeMap<String, String>) -> Option<String> {
        let parts = self.text.split(['{', '}']).enumerate();
        let filled = parts.map(|(at, part)| match at % 2 {
            0 => Some(part),
            _ => arguments.get(part).map(String::as_str),
        });
        filled.collect()
    }
}

struct Tools {
    entries: BTreeMap<String, Entry>,
    /// Cut into pages, each written once.
    list: Pages<ListToolsResult>,
}

impl Tools {
    fn read(path: &PathBuf) -> io::Result<Self> {
        let mut entries: BTreeMap<String, Entry> = serde_json::from_slice(&fs::read(path)?)?;
        let reload = json!({ "description": "Read the tools again.", "schema": { "type": "object" }, "text": "" });
        entries.insert("reload".to_owned(), serde_json::from_value(reload)?);
        let tool = |(name, entry): (&String, &Entry)| {
            Tool::new(name, entry.schema.clone()).description(&entry.description)
        };
        let list = ListToolsResult::new(entries.iter().map(tool).collect());
        let list = Pages::of(50, list);
        Ok(Self { entries, list })
    }
}

struct Dynamic {
    path: PathBuf,
    tools: RwLock<Arc<Tools>>,
    changes: Changes,
}

impl Dynamic {
    fn tools(&self) -> Arc<Tools> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.clone()
    }

    fn reload(&self) -> io::Result<String> {
        let tools = Arc::new(Tools::read(&self.path)?);
        let count = tools.entries.len();
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools;
        self.changes.tools();
        Ok(format!("There are {count} tools now."))
    }

    fn call(&self, entry: &Entry, tool: CallTool<'_>) -> CallToolResult {
        if tool.name == "reload" {
            let reloaded = self.reload().map(CallToolResult::text);
            return reloaded.unwrap_or_else(|error| CallToolResult::error(error.to_string()));
        }
        match tool.arguments().map(|arguments| entry.fill(&arguments)) {
            Ok(Some(text)) => CallToolResult::text(text),
            Ok(None) => CallToolResult::error("An argument is missing."),
            Err(bad) => bad.into(),
        }
    }
}

impl Service for Dynamic {
    fn about(&self) -> About {
        About::new(Implementation::new("dynamic", "1.0"))
            .capabilities(ServerCapabilities::default().tools(true))
            .changes(self.changes.clone())
    }

    fn list_tools<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        Box::pin(async move { self.tools().list.page(list.cursor) })
    }

    fn call_tool<'a>(
        &'a self,
        _: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            match self.tools().entries.get(tool.name) {
                Some(entry) => Ok(self.call(entry, tool).into()),
                None => Err(Error::invalid_params(format!(
                    "Unknown tool: {}",
                    tool.name
                ))),
            }
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let path = std::env::args_os().nth(1).map(PathBuf::from);
    let path = path.ok_or_else(|| io::Error::other("usage: dynamic TOOLS.json"))?;
    let tools = RwLock::new(Arc::new(Tools::read(&path)?));
    let changes = Changes::new();
    stdio::serve(Dynamic {
        path,
        tools,
        changes,
    })
    .await
}
