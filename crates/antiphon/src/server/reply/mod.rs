//! Replies: what a handler can return.

mod completion;
mod json;
mod media;
mod prompt;
mod resource;
mod tool;

use antiphon_types::InputRequired;

use super::{Context, Description, Stop};
use crate::raw::{Rendered, Reply};

pub use self::{
    json::Json,
    media::{Audio, Image},
    prompt::{IntoContent, Messages},
    resource::Contents,
};

/// A value that a reply can be made of: what a handler must return.
///
/// `R` is the result it becomes: [`CallToolResult`](crate::types::CallToolResult) for tools,
/// [`GetPromptResult`](crate::types::GetPromptResult) for prompts,
/// [`ReadResourceResult`](crate::types::ReadResourceResult) for resources and
/// [`CompleteResult`](crate::types::CompleteResult) for completions.
///
/// | return | tool | prompt | resource |
/// |---|---|---|---|
/// | `String`, `&'static str` | a text | a message of the user | a text |
/// | [`Json<T>`] | structured content, with its schema | | JSON |
/// | [`Image`], [`Audio`] | that | a message of the user | |
/// | `Vec<u8>`, `Bytes` | | | a blob |
/// | [`ContentBlock`](crate::types::ContentBlock), a `Vec` of them | content | a message of the user (one block) | |
/// | [`ResourceContents`](crate::types::ResourceContents) | an embedded resource | | the contents |
/// | [`Resource`](crate::types::Resource) | a link | | |
/// | [`Messages`] | | the messages | |
/// | [`Contents`] | | | the contents |
/// | `()` | no content | | |
/// | [`InputRequired`](crate::types::InputRequired) | questions | questions | questions |
/// | the result type itself, [`Reply`] | as it is | as it is | as it is |
/// | `Result<T, E>` | `T`, or what `E` says ([`Stop`], any error) | the same | the same |
///
/// Implement it for what several handlers return:
///
/// ```
/// use antiphon::{Context, IntoReply, Stop, raw::Reply, types::CallToolResult};
///
/// struct Celsius(f64);
///
/// impl IntoReply<CallToolResult> for Celsius {
///     fn into_reply(self, call: &Context<'_>) -> Result<Reply<CallToolResult>, Stop> {
///         format!("{:.1} °C", self.0).into_reply(call)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reply: no `{R}` can be made of it",
    label = "the handler returns `{Self}`",
    note = "return a `String`, `Json<T>` (where `T: Serialize + JsonSchema`), `{R}`, or a `Result` of one of them with an error that converts into `Stop`; a completion returns a `Vec` of strings"
)]
// The compiler would list every `impl`, for whatever `R`; hence `do_not_recommend` on most.
pub trait IntoReply<R>: Sized {
    /// Makes the reply.
    ///
    /// # Errors
    /// Why there is none.
    fn into_reply(self, call: &Context<'_>) -> Result<Reply<R>, Stop>;

    /// What it says about the handlers that return it.
    fn describe(description: &mut Description) {
        _ = description;
    }
}

impl<R, T: IntoReply<R>, E: Into<Stop>> IntoReply<R> for Result<T, E> {
    fn into_reply(self, call: &Context<'_>) -> Result<Reply<R>, Stop> {
        self.map_err(Into::into)?.into_reply(call)
    }

    fn describe(description: &mut Description) {
        T::describe(description);
    }
}

#[diagnostic::do_not_recommend]
impl<R> IntoReply<R> for Reply<R> {
    fn into_reply(self, _: &Context<'_>) -> Result<Self, Stop> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<R> IntoReply<R> for Rendered<R> {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<R>, Stop> {
        Ok(Reply::Rendered(self))
    }
}

#[diagnostic::do_not_recommend]
impl<R> IntoReply<R> for InputRequired {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<R>, Stop> {
        Ok(Reply::InputRequired(self))
    }
}
