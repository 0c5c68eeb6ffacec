//! The client's model: the server needs none of its own, nor a key for one.

use antiphon::{Ask, OrFail, Stop, tool, types::CreateMessageRequestParams};

/// Sum up a text.
#[tool(read_only)]
pub(super) async fn summarize(#[arg] text: String, ask: Ask) -> Result<String, Stop> {
    let request = CreateMessageRequestParams::user(format!("Sum up in one sentence:\n{text}"), 200);
    let message = ask.sample("summary", request)?;
    let content = message.content.as_slice().first();
    let summary = content.and_then(|content| content.as_text());
    let summary = summary
        .ok_or("The model said nothing that can be read.")
        .or_fail()?;
    Ok(format!("Summary: {summary}"))
}
