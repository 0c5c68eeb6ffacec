//! [`Outcome`]: how far a call came, and [`Finished`]: what it can end with.

use std::any::Any;

use antiphon_types::{
    CallToolResult, DecodeError, GetPromptResult, Method, ReadResourceResult, decode_result_text,
    method,
};

use super::Paused;

/// How far [`start`](super::Connection::start) and [`resume`](super::Connection::resume) came.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome<T> {
    /// The call is done.
    Done(T),
    /// The server asks something that the caller has to answer. Answer, and resume.
    Paused(Paused),
    /// The server is not ready. Wait a little ([`Paused::retry_after`]), and resume.
    Later(Paused),
}

impl<T> Outcome<T> {
    /// The same with another result.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Done(result) => Outcome::Done(f(result)),
            Self::Paused(paused) => Outcome::Paused(paused),
            Self::Later(paused) => Outcome::Later(paused),
        }
    }
}

/// What a call ends with: the result of one of the three methods that may ask, or
/// [`Completed`], any of them.
pub trait Finished: sealed::Sealed + Sized + Send + 'static {
    /// Reads the result of a request of this method; `None` if it has another type of result.
    #[doc(hidden)]
    fn read(method: &str, text: &str) -> Option<Decoded<Self>>;

    /// A tool's result, if it is one.
    #[doc(hidden)]
    fn as_tool(&self) -> Option<&CallToolResult> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A result, decoded by the method that was asked.
type Decoded<T> = Result<antiphon_types::Outcome<T>, DecodeError>;

mod sealed {
    #[expect(unnameable_types, reason = "nobody else is to implement it")]
    pub trait Sealed {}
}

macro_rules! finished {
    ($($result:ty = $method:ty;)*) => {$(
        impl sealed::Sealed for $result {}
        impl Finished for $result {
            fn read(method: &str, text: &str) -> Option<Decoded<Self>> {
                (method == <$method>::NAME).then(|| decode_result_text::<$method>(text))
            }
        }
    )*};
}

finished! {
    CallToolResult = method::CallTool;
    GetPromptResult = method::GetPrompt;
    ReadResourceResult = method::ReadResource;
}

/// The result of a call, whichever it was.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Completed {
    /// Of a tool.
    Tool(CallToolResult),
    /// Of a prompt.
    Prompt(GetPromptResult),
    /// Of a resource.
    Resource(ReadResourceResult),
}

impl sealed::Sealed for Completed {}

impl Finished for Completed {
    fn read(method: &str, text: &str) -> Option<Decoded<Self>> {
        fn any<T: Finished>(
            method: &str,
            text: &str,
            wrap: fn(T) -> Completed,
        ) -> Option<Decoded<Completed>> {
            Some(T::read(method, text)?.map(|outcome| outcome.map(wrap)))
        }
        any(method, text, Self::Tool)
            .or_else(|| any(method, text, Self::Prompt))
            .or_else(|| any(method, text, Self::Resource))
    }

    fn as_tool(&self) -> Option<&CallToolResult> {
        match self {
            Self::Tool(result) => Some(result),
            _ => None,
        }
    }
}
