//! The client's model: the server needs none of its own, nor a key for one.

use antiphon::{Ask, Sample, Stop, tool};

/// Sum up a text.
#[tool(read_only)]
pub(super) async fn summarize(#[arg] text: String, ask: Ask) -> Result<String, Stop> {
    let request = Sample::user(format!("Sum up in one sentence:\n{text}"), 200);
    let message = ask.sample("summary", request)?;
    let summary = message.first_text();
    let summary = summary.ok_or("The model said nothing that can be read.")?;
    Ok(format!("Summary: {summary}"))
}
