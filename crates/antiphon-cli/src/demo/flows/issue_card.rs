//! A tool without arguments: what a model could only make up comes from the user.

use antiphon::{Ask, Form, Stop, tool};

#[derive(Form)]
struct Holder {
    /// As it should stand on the card.
    name: String,
}

/// Issue a library card.
#[tool]
pub(super) async fn issue_card(ask: Ask) -> Result<String, Stop> {
    let Holder { name } = ask.form("name", "Whose name should be on the card?")?;
    Ok(format!("Card issued to {name}."))
}
