//! A question that follows from an answer: nobody is asked what to wipe who wants to wipe nothing.

use antiphon::{Answer, Ask, Choice, Form, Stop, tool};

#[derive(Form)]
struct Confirm {
    /// What is wiped is gone.
    confirm: bool,
}

#[derive(Form)]
struct What {
    /// What to wipe.
    scope: Scope,
}

#[derive(Choice)]
enum Scope {
    Sessions,
    Pages,
    Everything,
}

/// Wipe the cache.
#[tool(destructive)]
pub(super) async fn wipe_cache(ask: Ask) -> Result<&'static str, Stop> {
    let Answer::Accept(Confirm { confirm: true }) = ask.form("confirm", "Wipe the cache?")? else {
        return Ok("Nothing wiped");
    };
    Ok(match ask.form("scope", "What should be wiped?")? {
        Answer::Accept(What { scope }) => match scope {
            Scope::Sessions => "Wiped sessions",
            Scope::Pages => "Wiped pages",
            Scope::Everything => "Wiped everything",
        },
        _ => "Nothing wiped",
    })
}
