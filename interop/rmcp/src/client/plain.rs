//! Cases in which nobody is asked.

use std::{error::Error, time::Duration};

use rmcp::{
    RoleClient, ServiceError,
    model::*,
    service::{PeerRequestOptions, RequestHandle},
};
use serde_json::json;
use tokio::time::sleep;

use super::{Done, Grid, call, message, same, text, until, user::Mood};
use crate::NOTE;

const TOOLS: [&str; 16] = [
    "add", "confirm", "count", "echo", "log", "order", "quiz", "sign_in", "size", "sleep", "slept",
    "sum_up", "touch", "trip", "wait", "where",
];
const ODD: &str = "🎼 ünïcödé \"quoted\"\n\u{7}";

/// Whether these are the names, in whatever order.
fn named(mut names: Vec<&str>, wanted: &[&str]) -> Done {
    names.sort_unstable();
    same(&names[..], wanted)
}

impl Grid {
    pub(super) async fn list(&self) -> Done {
        let info = self.server.peer_info().ok_or("it says nothing of itself")?;
        let version = match self.modern {
            true => ProtocolVersion::V_2026_07_28,
            false => ProtocolVersion::V_2025_11_25,
        };
        same(&info.protocol_version, &version)?;
        let server = info
            .server_info
            .as_ref()
            .ok_or("it does not say who it is")?;
        same(
            (server.name.as_str(), server.version.as_str()),
            ("ensemble", "1.0"),
        )?;
        let tools = self.server.list_all_tools().await?;
        named(tools.iter().map(|tool| &*tool.name).collect(), &TOOLS)?;
        let prompts = self.server.list_all_prompts().await?;
        let names = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        named(names, &["greet", "grüße_東京", "letter"])?;
        let templates = self.server.list_all_resource_templates().await?;
        let uris = templates
            .iter()
            .map(|template| template.uri_template.as_str());
        named(uris.collect(), &["report://{id}"])
    }

    pub(super) async fn tools(&self) -> Done {
        let hello = json!({ "text": "hello" });
        same(self.text("echo", hello.clone()).await?.as_str(), "hello")?;
        for (tool, arguments) in [("no_such_tool", json!({})), ("add", json!({ "b": 1 }))] {
            match self.server.call_tool(call(tool, arguments)).await {
                Err(ServiceError::McpError(_)) => {}
                Ok(result) if result.is_error == Some(true) => {}
                other => return Err(format!("{tool} is no error: {other:?}").into()),
            }
        }
        same(self.text("echo", hello).await?.as_str(), "hello")
    }

    pub(super) async fn unicode(&self) -> Done {
        let wanted = format!("größe: {ODD}");
        let arguments = json!({ "größe": ODD });
        same(self.text("size", arguments.clone()).await?, wanted.clone())?;
        let prompt = GetPromptRequestParams::new("grüße_東京").with_arguments(object(arguments));
        let prompt = self.server.get_prompt(prompt).await?;
        same(message(&prompt), Some(wanted.as_str()))
    }

    pub(super) async fn structured(&self) -> Done {
        let sum = call("add", json!({ "a": 2, "b": 40 }));
        let result = self.server.call_tool(sum).await?;
        same(result.is_error.unwrap_or_default(), false)?;
        same(result.structured_content, Some(json!({ "sum": 42 })))
    }

    pub(super) async fn large(&self) -> Done {
        let text = "0123456789abcdef".repeat(65_536);
        let said = self.text("echo", json!({ "text": text })).await?;
        match said == text {
            true => Ok(()),
            false => Err(format!("{} bytes came back as {} others", text.len(), said.len()).into()),
        }
    }

    /// A call that can be cancelled, and whose token of progress is known.
    async fn start(
        &self,
        call: CallToolRequestParams,
    ) -> Result<RequestHandle<RoleClient>, ServiceError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
        let options = PeerRequestOptions::no_options();
        self.server.send_cancellable_request(request, options).await
    }

    pub(super) async fn progress(&self) -> Done {
        self.user.is(Mood::Agrees);
        let count = self.start(call("count", json!({ "to": 5 }))).await?;
        let token = count.progress_token.clone();
        let ServerResult::CallToolResult(result) = count.await_response().await? else {
            return Err("the answer is not that of a tool".into());
        };
        same(text("count", result)?.as_str(), "counted 5")?;
        until(|| self.user.state().reports.len() >= 5).await;
        let report = |step: u32| {
            ProgressNotificationParam::new(token.clone(), step.into())
                .with_total(5.0)
                .with_message(format!("step {step}"))
        };
        let wanted: Vec<_> = (1..=5).map(report).collect();
        same(&self.user.state().reports, &wanted)
    }

    pub(super) async fn log(&self) -> Done {
        self.user.is(Mood::Agrees);
        let mut log = call("log", json!({}));
        if self.modern {
            log.meta_or_default().set_log_level(LoggingLevel::Info);
        } else {
            let level = SetLevelRequestParams::new(LoggingLevel::Info);
            self.server.set_level(level).await?;
        }
        let logged = text("log", self.server.call_tool(log).await?)?;
        same(logged.as_str(), "logged")?;
        until(|| self.user.state().logged.len() >= 2).await;
        let wanted = |level, text| (level, Some("ensemble".to_owned()), json!(text));
        let wanted = vec![
            wanted(LoggingLevel::Info, "one"),
            wanted(LoggingLevel::Warning, "two"),
        ];
        same(&self.user.state().logged, &wanted)
    }

    pub(super) async fn cancel_call(&self) -> Done {
        self.text("slept", json!({})).await?;
        let sleeping = self.start(call("sleep", json!({}))).await?;
        sleep(Duration::from_secs(1)).await;
        sleeping.cancel(Some("enough".to_owned())).await?;
        // It may arrive after the next call.
        while self.text("slept", json!({})).await? != "cancelled" {
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    pub(super) async fn pages(&self) -> Done {
        let (mut uris, mut pages, mut cursor) = (Vec::new(), 0, None);
        loop {
            let from = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.server.list_resources(Some(from)).await?;
            pages += 1;
            uris.extend(page.resources.into_iter().map(|resource| resource.uri));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let mut wanted: Vec<_> = (0..25).map(|number| format!("item://{number}")).collect();
        wanted.push(NOTE.to_owned());
        uris.sort_unstable();
        wanted.sort_unstable();
        same(uris, wanted)?;
        match pages {
            3.. => Ok(()),
            pages => Err(format!("there were {pages} pages").into()),
        }
    }

    /// The one text of a resource.
    pub(super) async fn contents(&self, uri: &str) -> Result<String, Box<dyn Error>> {
        let read = ReadResourceRequestParams::new(uri);
        let read = self.server.read_resource(read).await?;
        match &read.contents[..] {
            [ResourceContents::TextResourceContents { uri: of, text, .. }] if of == uri => {
                Ok(text.clone())
            }
            other => Err(format!("{uri} is {other:?}").into()),
        }
    }

    pub(super) async fn read(&self) -> Done {
        same(self.contents("item://7").await?.as_str(), "item 7")
    }

    pub(super) async fn complete(&self) -> Done {
        for (typed, wanted) in [
            ("f", &["formal", "friendly", "funny"][..]),
            ("fo", &["formal"]),
        ] {
            let completion = self
                .server
                .complete_prompt_argument("greet", "style", typed, None)
                .await?;
            let values: Vec<_> = completion.values.iter().map(String::as_str).collect();
            same(&values[..], wanted)?;
        }
        Ok(())
    }

    pub(super) async fn prompt(&self) -> Done {
        let arguments = object(json!({ "name": "Ada", "style": "formal" }));
        let prompt = GetPromptRequestParams::new("greet").with_arguments(arguments);
        let prompt = self.server.get_prompt(prompt).await?;
        same(message(&prompt), Some("Write a formal greeting to Ada."))
    }

    async fn version(&self) -> Result<u32, Box<dyn Error>> {
        let text = self.contents(NOTE).await?;
        let number = text.strip_prefix("version ");
        Ok(number.ok_or(format!("the note is {text:?}"))?.parse()?)
    }

    pub(super) async fn changes(&self) -> Done {
        self.user.is(Mood::Agrees);
        let before = self.version().await?;
        if self.modern {
            let note = SubscriptionFilter::builder().resource_subscription(NOTE);
            let mut changes = self.server.listen(note.build()).await?;
            same(self.text("touch", json!({})).await?.as_str(), "touched")?;
            match changes.next().await? {
                Some(ServerNotification::ResourceUpdatedNotification(update)) => {
                    same(update.params.uri.as_str(), NOTE)?;
                }
                other => return Err(format!("it is told something else: {other:?}").into()),
            }
        } else {
            self.server
                .subscribe(SubscribeRequestParams::new(NOTE))
                .await?;
            same(self.text("touch", json!({})).await?.as_str(), "touched")?;
            until(|| !self.user.state().changed.is_empty()).await;
            same(&self.user.state().changed, &vec![NOTE.to_owned()])?;
        }
        match self.version().await? > before {
            true => Ok(()),
            false => Err("the note is as it was".into()),
        }
    }
}
