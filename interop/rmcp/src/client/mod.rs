//! The client.

mod asking;
mod plain;
mod user;

use std::{error::Error, fmt::Debug, time::Duration};

use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{CallToolRequestParams, CallToolResult, GetPromptResult, ProtocolVersion, Role},
    service::RunningService,
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};
use tokio::{
    process::Command,
    time::{sleep, timeout},
};

use user::User;

const PATIENCE: Duration = Duration::from_secs(20);

/// What came of a case; an error says why it failed.
type Done = Result<(), Box<dyn Error>>;

/// A server, and the user at this end.
struct Grid {
    server: RunningService<RoleClient, User>,
    user: User,
    modern: bool,
}

impl Grid {
    async fn play(&self, case: &str) -> Done {
        match case {
            "list" => self.list().await,
            "tools" => self.tools().await,
            "unicode" => self.unicode().await,
            "structured" => self.structured().await,
            "large" => self.large().await,
            "progress" => self.progress().await,
            "log" => self.log().await,
            "cancel-call" => self.cancel_call().await,
            "pages" => self.pages().await,
            "read" => self.read().await,
            "complete" => self.complete().await,
            "prompt" => self.prompt().await,
            "changes" => self.changes().await,
            "form" => self.form().await,
            "accept" => self.accept().await,
            "decline" => self.decline().await,
            "cancel" => self.cancel().await,
            "url" => self.url().await,
            "sampling" => self.sampling().await,
            "roots" => self.roots().await,
            "together" => self.together().await,
            "rounds" => self.rounds().await,
            "state-only" => self.state_only().await,
            "prompt-asks" => self.prompt_asks().await,
            "template-asks" => self.template_asks().await,
            other => Err(format!("there is no case {other}").into()),
        }
    }

    /// What a tool says, unless it fails.
    async fn text(&self, tool: &str, arguments: Value) -> Result<String, Box<dyn Error>> {
        text(tool, self.server.call_tool(call(tool, arguments)).await?)
    }
}

/// A call of a tool.
fn call(tool: &str, arguments: Value) -> CallToolRequestParams {
    let call = CallToolRequestParams::new(tool.to_owned());
    match arguments {
        Value::Object(arguments) => call.with_arguments(arguments),
        _ => call,
    }
}

/// The one text that a tool says, unless it failed.
fn text(tool: &str, result: CallToolResult) -> Result<String, Box<dyn Error>> {
    let said = match &result.content[..] {
        [block] => block.as_text().map(|block| block.text.clone()),
        _ => None,
    };
    match (said, result.is_error) {
        (Some(text), None | Some(false)) => Ok(text),
        _ => Err(format!("{tool} fails: {result:?}").into()),
    }
}

/// The text of a prompt that is one message of the user.
fn message(prompt: &GetPromptResult) -> Option<&str> {
    match &prompt.messages[..] {
        [one] if one.role == Role::User => one.content.as_text().map(|text| text.text.as_str()),
        _ => None,
    }
}

/// Whether two values are the same; if not, what they are.
fn same<T: PartialEq + Debug>(found: T, wanted: T) -> Done {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("expected {wanted:?}, got {found:?}").into()),
    }
}

/// Waits for what comes in a message of its own; the limit of a case ends it.
async fn until(mut came: impl FnMut() -> bool) {
    while !came() {
        sleep(Duration::from_millis(10)).await;
    }
}

/// What the command line says.
struct Given {
    modern: bool,
    url: Option<String>,
    command: Vec<String>,
    cases: Vec<String>,
}

fn given(words: &[String]) -> Option<Given> {
    let (mut modern, mut url, mut cases) = (None, None, Vec::new());
    let mut words = words.iter().cloned();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => break,
            "--era" => {
                modern = Some(match words.next()?.as_str() {
                    "modern" => true,
                    "legacy" => false,
                    _ => return None,
                });
            }
            "--url" => url = Some(words.next()?),
            _ => cases.push(word),
        }
    }
    let given = Given {
        modern: modern?,
        url,
        command: words.collect(),
        cases,
    };
    (given.url.is_some() == given.command.is_empty()).then_some(given)
}

async fn connect(given: &Given) -> Result<Grid, Box<dyn Error>> {
    let user = User::default();
    let lifecycle = match given.modern {
        true => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        false => ClientLifecycleMode::Initialize,
    };
    let server = match &given.url {
        Some(url) => {
            let transport = StreamableHttpClientTransport::from_uri(url.as_str());
            user.clone()
                .serve_with_lifecycle(transport, lifecycle)
                .await?
        }
        None => {
            let mut command = Command::new(&given.command[0]);
            command.args(&given.command[1..]);
            let transport = TokioChildProcess::new(command)?;
            user.clone()
                .serve_with_lifecycle(transport, lifecycle)
                .await?
        }
    };
    let modern = given.modern;
    Ok(Grid {
        server,
        user,
        modern,
    })
}

pub(crate) async fn run(words: &[String]) -> Result<(), Box<dyn Error>> {
    let usage =
        "usage: peer client --era modern|legacy --url URL CASE... | CASE... -- COMMAND ARGS...";
    let given = given(words).ok_or(usage)?;
    let grid = connect(&given).await?;
    for case in &given.cases {
        let done = timeout(PATIENCE, grid.play(case)).await;
        let done = done.unwrap_or_else(|_| Err("it did not end within 20 seconds".into()));
        println!(
            "{}",
            match done {
                Ok(()) => json!({ "case": case, "ok": true }),
                Err(why) => json!({ "case": case, "ok": false, "why": why.to_string() }),
            }
        );
    }
    grid.server.cancel().await?;
    Ok(())
}
