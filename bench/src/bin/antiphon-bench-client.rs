//! Our client for the bench: `--url URL [--echo N] [--mrtr N]`. See CONTRACT.md.

#[path = "../cpu.rs"]
mod cpu;
#[path = "../job.rs"]
mod job;

use antiphon::{
    Client,
    client::{Connection, Http},
    types::CallToolResult,
};
use job::{Caller, Failure};
use serde::Serialize;
use serde_json::json;

#[derive(Serialize)]
struct Echo<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct Confirm<'a> {
    action: &'a str,
}

struct Ours(Connection);

impl Caller for Ours {
    async fn connect(url: &str) -> Result<Self, Failure> {
        let client = Client::new("bench", "1.0.0")
            .on_form(|form| async move { form.accept(json!({ "ok": true })) });
        Ok(Self(client.connect(Http::new(url)).await?))
    }

    async fn echo(&mut self, text: &str) -> Result<String, Failure> {
        said(&self.0.call_tool("echo", Echo { text }).await?)
    }

    async fn confirm(&mut self, action: &str) -> Result<String, Failure> {
        said(&self.0.call_tool("confirm", Confirm { action }).await?)
    }
}

fn said(result: &CallToolResult) -> Result<String, Failure> {
    let text = result.first_text().ok_or("the tool said nothing")?;
    Ok(text.to_owned())
}

fn main() -> Result<(), Failure> {
    job::run::<Ours>()
}
