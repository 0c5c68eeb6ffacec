//! Resources ask just as tools do.

use antiphon::{
    Args, Ask, Form, Stop,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Vault {
    id: String,
}

#[derive(Form)]
struct Why {
    /// Goes to the log of the vault.
    reason: String,
}

pub(super) async fn vault(Args(Vault { id }): Args<Vault>, ask: Ask) -> Result<String, Stop> {
    let Why { reason } = ask.form("reason", format!("Why do you open vault {id}?"))?;
    Ok(format!("Vault {id}, opened because: {reason}"))
}
