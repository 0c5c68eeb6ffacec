//! What server authors write: handlers, what they take and what they return, and the server that
//! runs them.

mod ask;
mod call;
mod completion;
mod context;
mod description;
mod entry;
mod extract;
pub(crate) mod fault;
mod handler;
mod hosted;
mod layer;
mod lifecycle;
mod outcome;
mod prompt;
mod registry;
mod reply;
mod resolve;
mod resource;
#[expect(clippy::module_inception, reason = "one concept, one file")]
mod server;
mod stop;
mod table;
mod tool;

pub(crate) use self::ask::Begun;
pub use self::{
    ask::{Answer, Ask, Completions, FromAnswer, Given, NotCompleted, Once},
    call::Call,
    context::{CallKind, Context},
    description::Description,
    entry::RegistrationError,
    extract::{
        Args, ClientInfo, Extension, FromCall, FromRef, OptionalFromCall, Prefix, RequestState,
        Resolved, Responses, State,
    },
    handler::{Extract, Handler},
    layer::{Layer, Next, RateLimit, Timeout},
    outcome::{Outcome, Verdict},
    prompt::Prompt,
    registry::Offer,
    reply::{Audio, Contents, Image, IntoContent, IntoReply, Json, Messages},
    resolve::Resolve,
    resource::Resource,
    server::{Cached, Server},
    stop::{OrFail, Stop},
    tool::Tool,
};
