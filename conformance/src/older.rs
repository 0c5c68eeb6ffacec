//! Tools that the suite calls only in the revisions before 2026-07-28.

use std::time::Duration;

use antiphon::{
    Answer, Args, Ask, Call, Logger, RawForm, Sample, Server, Stop, Tool,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) fn add(server: Server) -> Server {
    server
        .add(Tool::new("test_tool_with_logging", logging).description("Logs three times"))
        .add(Tool::new("test_sampling", sampling).description("Asks the model"))
        .add(Tool::new("test_elicitation", elicitation).description("Asks the user"))
        .add(
            Tool::new("test_elicitation_sep1034_defaults", defaults)
                .description("Asks with a default in every field"),
        )
        .add(
            Tool::new("test_elicitation_sep1330_enums", enums)
                .description("Asks with every kind of choice"),
        )
        .add(
            Tool::new("test_reconnection", reconnection)
                .description("Hangs up, and answers whoever comes back"),
        )
}

async fn logging(logger: Logger) -> &'static str {
    for text in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        logger.info(text);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    "Logged three times."
}

#[derive(Deserialize, JsonSchema)]
struct Prompt {
    prompt: String,
}

async fn sampling(Args(Prompt { prompt }): Args<Prompt>, ask: Ask) -> Result<String, Stop> {
    let said = ask.sample("reply", Sample::user(prompt, 100))?;
    let text = said.first_text().unwrap_or_default();
    Ok(format!("LLM response: {text}"))
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    message: String,
}

async fn elicitation(Args(Message { message }): Args<Message>, ask: Ask) -> Result<String, Stop> {
    let form = form(
        &json!({
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        }),
        &["username", "email"],
    )?;
    let (action, content) = did(ask.raw_form("user", message, &form)?);
    Ok(format!("User response: action={action}, content={content}"))
}

async fn defaults(ask: Ask) -> Result<String, Stop> {
    let form = form(
        &json!({
            "name": {"type": "string", "description": "User name", "default": "John Doe"},
            "age": {"type": "integer", "description": "User age", "default": 30},
            "score": {"type": "number", "description": "User score", "default": 95.5},
            "status": {"type": "string", "description": "User status",
                "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "description": "Verification status", "default": true},
        }),
        &[],
    )?;
    let answer = ask.raw_form(
        "defaults",
        "Please review and update the form fields",
        &form,
    )?;
    completed(answer)
}

async fn enums(ask: Ask) -> Result<String, Stop> {
    let form = form(
        &json!({
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {"type": "string", "oneOf": [
                {"const": "value1", "title": "First Option"},
                {"const": "value2", "title": "Second Option"},
                {"const": "value3", "title": "Third Option"},
            ]},
            "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"]},
            "untitledMulti": {"type": "array", "items":
                {"type": "string", "enum": ["option1", "option2", "option3"]}},
            "titledMulti": {"type": "array", "items": {"anyOf": [
                {"const": "value1", "title": "First Choice"},
                {"const": "value2", "title": "Second Choice"},
                {"const": "value3", "title": "Third Choice"},
            ]}},
        }),
        &[],
    )?;
    completed(ask.raw_form("choices", "Please choose", &form)?)
}

async fn reconnection(call: Call) -> &'static str {
    call.let_go(Duration::from_millis(500));
    tokio::time::sleep(Duration::from_millis(100)).await;
    "Reconnection test completed successfully. If you received this, the client properly reconnected after stream closure."
}

fn form(properties: &Value, required: &[&str]) -> Result<RawForm, Stop> {
    Ok(RawForm::new(
        json!({"type": "object", "properties": properties, "required": required}),
    )?)
}

fn completed(answer: Answer<Map<String, Value>>) -> Result<String, Stop> {
    let (action, content) = did(answer);
    Ok(format!(
        "Elicitation completed: action={action}, content={content}"
    ))
}

/// What the user did, and filled in.
fn did(answer: Answer<Map<String, Value>>) -> (&'static str, Value) {
    match answer {
        Answer::Accept(content) => ("accept", Value::Object(content)),
        Answer::Decline => ("decline", json!({})),
        Answer::Cancel => ("cancel", json!({})),
    }
}
