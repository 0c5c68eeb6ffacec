//! Prompts ask just as tools do.

use antiphon::{
    Args, Ask, Form, Messages, Stop,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Topic {
    /// What it is about.
    topic: String,
}

#[derive(Form)]
struct Audience {
    /// Who is going to read it.
    audience: String,
}

pub(super) async fn brief(Args(Topic { topic }): Args<Topic>, ask: Ask) -> Result<Messages, Stop> {
    let Audience { audience } = ask.form("audience", format!("Who is to be told of {topic}?"))?;
    Ok(Messages::new().user(format!("Write a brief on {topic} for {audience}.")))
}
