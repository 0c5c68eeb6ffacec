//! What is registered, and how a call runs it: through the layers, to the handler, to an answer.

use std::{error::Error, fmt};

use antiphon_types::ErrorObject;

use super::{
    Context, Stop,
    handler::Running,
    layer::{Ending, Innermost, Layers, Next},
    outcome::Ends,
};
use crate::{
    auth::scopes::{self, Required},
    raw::Reply,
};

/// How a server speaks to clients; what is merged keeps its own.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manners {
    pub(crate) hide_errors: bool,
    pub(crate) reject_arguments: bool,
}

impl Manners {
    /// The stricter of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            hide_errors: self.hide_errors || other.hide_errors,
            reject_arguments: self.reject_arguments || other.reject_arguments,
        }
    }
}

/// What is around a handler besides its server.
#[derive(Clone, Default)]
pub(crate) struct Around {
    pub(crate) layers: Layers,
    pub(crate) manners: Manners,
    /// The scopes that are needed for it.
    pub(crate) required: Required,
}

impl Around {
    /// The same, inside another as well.
    pub(crate) fn within(&self, outer: &Self) -> Self {
        Self {
            layers: outer.layers.iter().chain(&self.layers).cloned().collect(),
            manners: self.manners.and(outer.manners),
            required: outer.required.and(&self.required),
        }
    }
}

/// Something a client can call.
pub(crate) trait Entry: Sync {
    type Result: Ends;

    fn layers(&self) -> &Layers;

    /// Runs the handler.
    fn attempt<'a>(&'a self, call: &'a Context<'a>) -> Running<'a, Self::Result>;
}

/// Runs an entry within the layers of its server and its own.
pub(crate) async fn answer<E: Entry>(
    entry: &E,
    call: &Context<'_>,
) -> Result<Reply<E::Result>, ErrorObject> {
    let around = &call.server().settings.around.layers;
    if around.is_empty() && entry.layers().is_empty() {
        return ended(call, entry.attempt(call).await);
    }
    let handler = Handler(entry);
    E::Result::unwrap(Next::new(around, entry.layers(), &handler).run(call).await)
}

fn ended<R: Ends>(
    call: &Context<'_>,
    answer: Result<Reply<R>, Stop>,
) -> Result<Reply<R>, ErrorObject> {
    answer.or_else(|stop| R::stopped(call, stop))
}

struct Handler<'e, E>(&'e E);

impl<E: Entry> Innermost for Handler<'_, E> {
    fn run<'a>(&'a self, call: &'a Context<'a>) -> Ending<'a> {
        Box::pin(async move { E::Result::wrap(ended(call, self.0.attempt(call).await)) })
    }
}

/// Takes the scopes that something is registered with.
///
/// # Errors
/// What is none.
pub(crate) fn check_scopes(
    what: &dyn fmt::Display,
    scopes: Vec<String>,
) -> Result<Required, RegistrationError> {
    match scopes::read(scopes) {
        Ok(scopes) => Ok(Required::new(scopes)),
        Err(why) => Err(RegistrationError(format!("{what}: {why}"))),
    }
}

/// Why something cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrationError(String);

impl RegistrationError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for RegistrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for RegistrationError {}

/// A tool's name is 1 to 128 letters, digits, `_`, `-` and `.` (TOOL-S-11 to TOOL-S-13).
pub(crate) fn check_tool_name(name: &str) -> Result<(), RegistrationError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if (1..=128).contains(&name.len()) && name.bytes().all(plain) {
        return Ok(());
    }
    Err(RegistrationError(format!(
        "the tool name {name:?} is not 1 to 128 letters, digits, `_`, `-` and `.`"
    )))
}

/// Other names have no rule but that they can be read.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), RegistrationError> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(RegistrationError(format!(
            "the {what} name {name:?} is empty or has control characters"
        )));
    }
    Ok(())
}
