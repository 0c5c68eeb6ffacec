//! A choice: the tool knows what it needs, and the user picks.

use antiphon::{Ask, Form, Stop, tool};

#[derive(Form)]
struct Region {
    /// Where it runs.
    #[form(options("eu-west-1", "us-east-1", "ap-south-1"))]
    region: String,
}

/// Provision a service.
#[tool]
pub(super) async fn provision(#[arg] name: String, ask: Ask) -> Result<String, Stop> {
    let Region { region } = ask.form("region", format!("Where should '{name}' run?"))?;
    Ok(format!("Provisioned '{name}' in {region}."))
}
