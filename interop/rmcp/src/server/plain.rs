//! Tools and prompts that ask nobody.

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use rmcp::{
    Json, RoleServer,
    handler::server::wrapper::Parameters,
    model::{
        LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, PromptMessage,
        Role,
    },
    prompt, prompt_router,
    schemars::{self, JsonSchema},
    service::{RequestContext, ServiceError},
    tool, tool_router,
};
use serde::{Deserialize, Serialize};
use tokio::{select, time::sleep};

use super::{Ensemble, ask::is_modern};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Size {
    #[serde(rename = "größe")]
    size: String,
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    to: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: String,
    style: String,
}

#[tool_router(router = plain_tools, vis = "pub(super)")]
impl Ensemble {
    #[tool(description = "Says the same")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(name = "add", description = "Adds two numbers")]
    async fn sum(&self, Parameters(Add { a, b }): Parameters<Add>) -> Json<Sum> {
        Json(Sum { sum: a + b })
    }

    #[tool(description = "Takes an argument of another alphabet")]
    async fn size(&self, Parameters(Size { size }): Parameters<Size>) -> String {
        format!("größe: {size}")
    }

    #[tool(description = "Counts, and says how far it is")]
    async fn count(
        &self,
        Parameters(Count { to }): Parameters<Count>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        let Some(token) = context.meta.get_progress_token() else {
            return Ok(format!("counted {to}"));
        };
        for step in 1..=to {
            let report = ProgressNotificationParam::new(token.clone(), step.into())
                .with_total(to.into())
                .with_message(format!("step {step}"));
            context.peer.notify_progress(report).await.map_err(lost)?;
        }
        Ok(format!("counted {to}"))
    }

    #[tool(description = "Logs twice")]
    async fn log(&self, context: RequestContext<RoleServer>) -> Result<String, String> {
        let wanted = match is_modern(&context) {
            true => context.meta.log_level(),
            false => Some(*self.level.lock().expect("nobody panics")),
        };
        for (level, text) in [(LoggingLevel::Info, "one"), (LoggingLevel::Warning, "two")] {
            if wanted.is_some_and(|wanted| level as u8 >= wanted as u8) {
                let message = LoggingMessageNotificationParam::new(level, text.into())
                    .with_logger("ensemble");
                let sent = context.peer.notify_logging_message(message).await;
                sent.map_err(lost)?;
            }
        }
        Ok("logged".to_owned())
    }

    #[tool(description = "Sleeps until it is cancelled")]
    async fn sleep(&self, context: RequestContext<RoleServer>) -> String {
        select! {
            () = sleep(Duration::from_secs(30)) => "slept for 30 seconds".to_owned(),
            () = context.ct.cancelled() => {
                self.shared.woken.store(true, SeqCst);
                "cancelled".to_owned()
            }
        }
    }

    #[tool(description = "Says whether a sleep was cancelled")]
    async fn slept(&self) -> String {
        match self.shared.woken.swap(false, SeqCst) {
            true => "cancelled".to_owned(),
            false => "not cancelled".to_owned(),
        }
    }

    #[tool(description = "Changes the note")]
    async fn touch(&self) -> String {
        self.shared.touched.fetch_add(1, SeqCst);
        self.tell_listeners().await;
        "touched".to_owned()
    }
}

#[prompt_router(router = "plain_prompts", vis = "pub(super)")]
impl Ensemble {
    #[prompt(description = "A greeting")]
    async fn greet(
        &self,
        Parameters(Greet { name, style }): Parameters<Greet>,
    ) -> Vec<PromptMessage> {
        let text = format!("Write a {style} greeting to {name}.");
        vec![PromptMessage::new_text(Role::User, text)]
    }

    #[prompt(name = "grüße_東京", description = "Has a name of another alphabet")]
    async fn greeting(&self, Parameters(Size { size }): Parameters<Size>) -> Vec<PromptMessage> {
        vec![PromptMessage::new_text(
            Role::User,
            format!("größe: {size}"),
        )]
    }
}

/// What a style may be, once this is typed.
pub(super) fn styles(typed: &str) -> Vec<String> {
    let styles = ["formal", "friendly", "funny"].into_iter();
    let styles = styles.filter(|style| style.starts_with(typed));
    styles.map(ToOwned::to_owned).collect()
}

fn lost(error: ServiceError) -> String {
    error.to_string()
}
