//! No is an answer, too: as an [`Answer`], declining does not end the call.

use antiphon::{Answer, Ask, Form, Stop, tool};

#[derive(Form)]
struct Confirm {
    /// Whether to go ahead.
    confirm: bool,
}

/// Deploy to an environment.
#[tool(destructive)]
pub(super) async fn deploy(#[arg] env: String, ask: Ask) -> Result<String, Stop> {
    Ok(match ask.form("confirm", format!("Deploy to {env}?"))? {
        Answer::Accept(Confirm { confirm: true }) => format!("Deployed to {env}"),
        _ => format!("Deployment to {env} cancelled"),
    })
}
