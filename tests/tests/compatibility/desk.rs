//! The server that every kind of client calls.

use antiphon::{
    Answer, Args, Ask, Audio, Call, Form, Json, Logger, Messages, Progress, Prompt, Resource,
    Sample, Server, Stop,
    link::Handle,
    schemars::{self, JsonSchema},
    types::{ContentBlock, Resource as Link, Tool as Definition},
};
use serde::Serialize;
use serde_json::Value;

/// What is tried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    Form,
    Link,
    Completion,
    CompletionWithTools,
    Roots,
    Prompt,
    Resource,
    Later,
    Waiting,
    Object,
    List,
    Audio,
    ResourceLink,
    Progress,
    Log,
    Lists,
    Subscription,
    Batch,
}

impl Feature {
    pub(crate) const ALL: [Self; 18] = [
        Self::Form,
        Self::Link,
        Self::Completion,
        Self::CompletionWithTools,
        Self::Roots,
        Self::Prompt,
        Self::Resource,
        Self::Later,
        Self::Waiting,
        Self::Object,
        Self::List,
        Self::Audio,
        Self::ResourceLink,
        Self::Progress,
        Self::Log,
        Self::Lists,
        Self::Subscription,
        Self::Batch,
    ];

    /// As the guide calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Form => "a tool asks with a form",
            Self::Link => "a tool asks to open a link",
            Self::Completion => "a tool asks for a completion",
            Self::CompletionWithTools => "a tool asks for a completion with tools",
            Self::Roots => "a tool asks for the roots",
            Self::Prompt => "a prompt asks with a form",
            Self::Resource => "a resource asks with a form",
            Self::Later => "a tool wants to be run again later",
            Self::Waiting => "a tool waits in `call.elicit()`",
            Self::Object => "a structured result, an object",
            Self::List => "a structured result, a list",
            Self::Audio => "audio in a result",
            Self::ResourceLink => "a link to a resource in a result",
            Self::Progress => "progress with words",
            Self::Log => "log messages",
            Self::Lists => "lists that change",
            Self::Subscription => "subscribed resources",
            Self::Batch => "batches",
        }
    }
}

#[derive(Form)]
struct Name {
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Count {
    books: u32,
}

pub(crate) fn desk() -> Server {
    Server::new("desk", "1.0")
        .logging()
        .tool("form", async |ask: Ask| -> Result<String, Stop> {
            let Name { name } = ask.form("name", "Name?")?;
            Ok(name)
        })
        .tool("link", async |ask: Ask| -> Result<&'static str, Stop> {
            let link = |handle: &Handle| format!("https://desk.example/{handle}");
            ask.url("link", "Open it", link, |_| Some("Ada"))
        })
        .tool("completion", async |ask: Ask| -> Result<String, Stop> {
            let said = ask.sample("say", Sample::user("Say", 10))?;
            Ok(said.first_text().unwrap_or_default().to_owned())
        })
        .tool(
            "completion-with-tools",
            async |ask: Ask| -> Result<String, Stop> {
                let sample = Sample::user("Say", 10).tools(vec![Definition::empty("look")]);
                let said = ask.sample("say", sample)?;
                Ok(said.first_text().unwrap_or_default().to_owned())
            },
        )
        .tool("roots", async |ask: Ask| -> Result<String, Stop> {
            let roots = ask.roots("roots")?;
            Ok(roots.into_iter().filter_map(|root| root.name).collect())
        })
        .add(Prompt::new(
            "prompt",
            async |ask: Ask| -> Result<Messages, Stop> {
                let Name { name } = ask.form("name", "Name?")?;
                Ok(Messages::new().user(name))
            },
        ))
        .add(Resource::new(
            "desk://asks",
            async |ask: Ask| -> Result<String, Stop> {
                let Name { name } = ask.form("name", "Name?")?;
                Ok(name)
            },
        ))
        .add(Resource::new("desk://watched", async || "text").watched())
        .tool("later", async |ask: Ask| -> Result<&'static str, Stop> {
            if ask.round() == 0 {
                ask.later(std::time::Duration::from_millis(1))?;
            }
            Ok("Ada")
        })
        .tool("waiting", async |call: Call| -> Result<String, Stop> {
            Ok(match call.elicit::<Name>("Name?").await? {
                Answer::Accept(Name { name }) => name,
                _ => String::new(),
            })
        })
        .tool("object", async || Json(Count { books: 7 }))
        .tool("list", async || Json(vec![1, 2, 3]))
        .tool("audio", async || Audio::base64("UklGRg==", "audio/wav"))
        .tool("resource-link", async || {
            ContentBlock::link(Link::new("desk://watched", "watched"))
        })
        .tool("progress", async |progress: Progress| {
            progress.report_with(1, Some(2), "half");
            "done"
        })
        .tool("log", async |logger: Logger| {
            logger.warning("mind the gap");
            "done"
        })
        .tool("change", async |server: Server| {
            server.notify_tools_changed();
            server.notify_resource_updated("desk://watched");
            "done"
        })
        .tool("echo", async |Args(any): Args<Value>| any.to_string())
}
