//! Two questions in one round: ask both, and only then look at the answers.

use antiphon::{Ask, Form, Stop, tool};

#[derive(Form)]
struct Name {
    /// What to call it.
    name: String,
}

#[derive(Form)]
struct Region {
    /// Where it runs.
    #[form(options("eu-west-1", "us-east-1"))]
    region: String,
}

/// Provision a database.
#[tool]
pub(super) async fn new_database(ask: Ask) -> Result<String, Stop> {
    let name = ask.form("name", "What should the database be called?");
    let region = ask.form("region", "Where should it run?");
    let (Name { name }, Region { region }) = (name?, region?);
    Ok(format!("Provisioned {name} in {region}"))
}
