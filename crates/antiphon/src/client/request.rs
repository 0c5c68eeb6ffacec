//! [`Request`]: a call, and what is special about this one.

use std::{fmt, marker::PhantomData, sync::Arc};

use antiphon_types::method;
use serde::Serialize;
use serde_json::Value;

use super::{
    Error, Target,
    options::{Options, options},
};

/// A call of a tool.
pub type CallTool = Request<method::CallTool>;
/// A request for a prompt.
pub type GetPrompt = Request<method::GetPrompt>;
/// A request for a resource.
pub type ReadResource = Request<method::ReadResource>;

/// One of the three requests that may be answered with questions: [`CallTool`], [`GetPrompt`],
/// [`ReadResource`].
///
/// What is not said here is as the [`Client`](super::Client) has it.
#[derive(Clone)]
pub struct Request<M> {
    pub(crate) target: Result<Target, Arc<Error>>,
    pub(super) options: Options,
    method: PhantomData<fn() -> M>,
}

impl CallTool {
    /// A call of this tool. The arguments serialise to an object, or to nothing at all: `()`.
    pub fn new(name: impl Into<String>, arguments: impl Serialize) -> Self {
        Self::to(Target::new("tools/call", name.into(), &arguments))
    }
}

impl GetPrompt {
    /// A request for this prompt. The arguments serialise to an object of strings, or to nothing
    /// at all: `()`.
    pub fn new(name: impl Into<String>, arguments: impl Serialize) -> Self {
        let target = Target::new("prompts/get", name.into(), &arguments);
        Self::to(target.and_then(only_strings))
    }
}

impl ReadResource {
    /// A request for the resource at this URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self::to(Ok(Target::resource(uri.into())))
    }

    /// Asks the server, also if what it said last may still be used.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.options.fresh = true;
        self
    }
}

/// PROMPT-C-02
fn only_strings(target: Target) -> Result<Target, Error> {
    let arguments = target
        .arguments()
        .map(|raw| serde_json::from_str(raw.get()));
    match arguments {
        Some(Ok(Value::Object(arguments))) => {
            match arguments.iter().find(|(_, value)| !value.is_string()) {
                None => Ok(target),
                Some((name, _)) => Err(Error::invalid(format!(
                    "{target}: the argument `{name}` of a prompt must be a string"
                ))),
            }
        }
        _ => Ok(target),
    }
}

impl<M> Request<M> {
    fn to(target: Result<Target, Error>) -> Self {
        Self {
            target: target.map_err(Arc::new),
            options: Options::default(),
            method: PhantomData,
        }
    }
}

options!(impl<M> Request<M>);

impl<M> fmt::Debug for Request<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Ok(target) => write!(f, "Request({target})"),
            Err(error) => write!(f, "Request({error})"),
        }
    }
}
