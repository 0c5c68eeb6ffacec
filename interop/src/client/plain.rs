//! Cases in which nobody is asked.

use std::{
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
    time::Duration,
};

use antiphon::{
    CancellationToken,
    client::{CallTool, Change, ErrorKind, ReadResource},
    types::{CompleteRequestParams, GetPromptResult, LoggingLevel, SubscriptionFilter},
};
use antiphon_interop::same;
use serde_json::{Value, json};

use crate::{Done, Grid, user::Mood};

const TOOLS: [&str; 16] = [
    "add", "confirm", "count", "echo", "log", "order", "quiz", "sign_in", "size", "sleep", "slept",
    "sum_up", "touch", "trip", "wait", "where",
];
const NOTE: &str = "note://today";
const ODD: &str = "🎼 ünïcödé \"quoted\"\n\u{7}";

/// The text of a prompt that is one message.
pub(crate) fn message(prompt: &GetPromptResult) -> Option<&str> {
    match &prompt.messages[..] {
        [message] => message.content.as_text(),
        _ => None,
    }
}

impl Grid {
    /// What a tool says, unless it fails.
    pub(crate) async fn text(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<String, Box<dyn std::error::Error>> {
        let result = self.server.call_tool(tool, arguments).await?;
        let text = result.first_text().unwrap_or_default().to_owned();
        match result.failed() {
            true => Err(format!("{tool} failed: {text}").into()),
            false => Ok(text),
        }
    }

    pub(crate) async fn list(&self) -> Done {
        let info = self
            .server
            .server_info()
            .ok_or("it does not say who it is")?;
        same(
            &(info.name.as_str(), info.version.as_str()),
            &("ensemble", "1.0"),
        )?;
        let tools = self.server.tools().all().await?;
        let mut names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        names.sort_unstable();
        same(&names[..], &TOOLS[..])?;
        let prompts = self.server.prompts().all().await?;
        let mut names: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        names.sort_unstable();
        same(&names[..], &["greet", "grüße_東京", "letter"])?;
        let templates = self.server.resource_templates().all().await?;
        let uris: Vec<_> = templates
            .iter()
            .map(|template| template.uri_template.as_str())
            .collect();
        same(&uris[..], &["report://{id}"])
    }

    pub(crate) async fn tools(&self) -> Done {
        let hello = json!({ "text": "hello" });
        same(&self.text("echo", hello.clone()).await?.as_str(), &"hello")?;
        if let Ok(said) = self.text("no_such_tool", json!({})).await {
            return Err(format!("a tool that does not exist says {said:?}").into());
        }
        if let Ok(said) = self.text("add", json!({ "b": 1 })).await {
            return Err(format!("add without a says {said:?}").into());
        }
        same(&self.text("echo", hello).await?.as_str(), &"hello")
    }

    pub(crate) async fn unicode(&self) -> Done {
        let wanted = format!("größe: {ODD}");
        let arguments = json!({ "größe": ODD });
        same(
            &self.text("size", arguments.clone()).await?,
            &wanted.clone(),
        )?;
        let prompt = self.server.get_prompt("grüße_東京", arguments).await?;
        same(&message(&prompt), &Some(wanted.as_str()))
    }

    pub(crate) async fn structured(&self) -> Done {
        let result = self
            .server
            .call_tool("add", json!({ "a": 2, "b": 40 }))
            .await?;
        same(&result.structured_content, &Some(json!({ "sum": 42 })))
    }

    pub(crate) async fn large(&self) -> Done {
        let text = "0123456789abcdef".repeat(65_536);
        let said = self.text("echo", json!({ "text": text })).await?;
        match said == text {
            true => Ok(()),
            false => Err(format!("{} bytes came back as {} others", text.len(), said.len()).into()),
        }
    }

    pub(crate) async fn progress(&self) -> Done {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let seen = reports.clone();
        let call = CallTool::new("count", json!({ "to": 5 })).on_progress(move |report| {
            let report = (
                report.progress.as_f64(),
                report.total.as_ref().and_then(|t| t.as_f64()),
                report.message.clone(),
            );
            seen.lock().expect("nobody panics").push(report);
        });
        let result = self.server.call(call).await?;
        same(&result.first_text(), &Some("counted 5"))?;
        let wanted = |step: u32| {
            (
                Some(f64::from(step)),
                Some(5.0),
                Some(format!("step {step}")),
            )
        };
        let reports = reports.lock().expect("nobody panics");
        same(&reports[..], &(1..=5).map(wanted).collect::<Vec<_>>()[..])
    }

    pub(crate) async fn log(&self) -> Done {
        self.user.is(Mood::Agrees);
        same(&self.text("log", json!({})).await?.as_str(), &"logged")?;
        // Over HTTP older servers may log elsewhere than they answer.
        for _ in 0..100 {
            if self.user.heard().len() >= 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let wanted = [
            (LoggingLevel::Info, json!("one")),
            (LoggingLevel::Warning, json!("two")),
        ];
        same(&self.user.heard()[..], &wanted)
    }

    pub(crate) async fn cancel_call(&self) -> Done {
        self.text("slept", json!({})).await?;
        let token = CancellationToken::new();
        let call = CallTool::new("sleep", ()).cancel_with(token.clone());
        let later = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            token.cancel();
        };
        let (ended, ()) = tokio::join!(self.server.call(call), later);
        match ended {
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled) => {}
            other => return Err(format!("it was not cancelled: {other:?}").into()),
        }
        let mut said = String::new();
        for _ in 0..100 {
            said = self.text("slept", json!({})).await?;
            if said == "cancelled" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        same(&said.as_str(), &"cancelled")
    }

    pub(crate) async fn pages(&self) -> Done {
        self.server.forget();
        let before = self.lists.load(Relaxed);
        let resources = self.server.resources().all().await?;
        let mut uris: Vec<_> = resources.into_iter().map(|resource| resource.uri).collect();
        let mut wanted: Vec<_> = (0..25).map(|number| format!("item://{number}")).collect();
        wanted.push(NOTE.to_owned());
        uris.sort_unstable();
        wanted.sort_unstable();
        same(&uris, &wanted)?;
        match self.lists.load(Relaxed) - before {
            3.. => Ok(()),
            pages => Err(format!("there were {pages} pages").into()),
        }
    }

    pub(crate) async fn read(&self) -> Done {
        let read = self.server.read_resource("item://7").await?;
        same(&read.first_text(), &Some("item 7"))
    }

    pub(crate) async fn complete(&self) -> Done {
        for (typed, wanted) in [
            ("f", &["formal", "friendly", "funny"][..]),
            ("fo", &["formal"]),
        ] {
            let asked = CompleteRequestParams::prompt("greet", "style", typed);
            let result = self.server.complete(asked).await?;
            same(&result.completion.values[..], wanted)?;
        }
        Ok(())
    }

    pub(crate) async fn prompt(&self) -> Done {
        let arguments = json!({ "name": "Ada", "style": "formal" });
        let prompt = self.server.get_prompt("greet", arguments).await?;
        same(&message(&prompt), &Some("Write a formal greeting to Ada."))
    }

    async fn version(&self) -> Result<u32, Box<dyn std::error::Error>> {
        let read = self.server.call(ReadResource::new(NOTE).fresh()).await?;
        let text = read.first_text().unwrap_or_default();
        let number = text
            .strip_prefix("version ")
            .ok_or_else(|| format!("the note is {text:?}"))?;
        Ok(number.parse()?)
    }

    pub(crate) async fn changes(&self) -> Done {
        let before = self.version().await?;
        let mut changes = self
            .server
            .listen(SubscriptionFilter::new().resource(NOTE))
            .await?;
        same(&self.text("touch", json!({})).await?.as_str(), &"touched")?;
        let change = changes.next().await.ok_or("the subscription ended")??;
        same(&change, &Change::Resource(NOTE.to_owned()))?;
        match self.version().await? > before {
            true => Ok(()),
            false => Err("the note is as it was".into()),
        }
    }
}
