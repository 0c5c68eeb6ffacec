//! Work that takes its time: the client comes back by itself, and no connection is held.

use std::time::Duration;

use antiphon::{Ask, Stop, tool};

/// Write a report that is done after so many rounds.
#[tool(read_only)]
pub(super) async fn report(#[arg] rounds: u8, ask: Ask) -> Result<String, Stop> {
    if ask.round() < rounds.into() {
        ask.later(Duration::from_millis(50))?;
    }
    Ok(format!("Done after {rounds} round(s)"))
}
