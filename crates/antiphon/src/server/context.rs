//! [`Context`]: one call, as extractors, replies and layers see it.

use std::{
    fmt,
    ops::Deref,
    sync::{Mutex, OnceLock, PoisonError},
};

use antiphon_core::template::{Binding, Bindings};
use antiphon_types::{CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult, decode};
use http::Extensions;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{Outcome, Server, Stop, outcome::Ends};
use crate::{
    raw::{self, Answers, Round},
    schema::{self, Checker, Strings, Violations},
};

/// One call: all that [`raw::Call`] tells, what is called with which arguments, and the server it
/// runs on.
pub struct Context<'a> {
    call: &'a raw::Call<'a>,
    target: &'a str,
    input: Input<'a>,
    round: Round<'a>,
    server: &'a Server,
    /// Whether a structured result has to be compared with its schema.
    checks_output: bool,
    attached: OnceLock<Mutex<Extensions>>,
}

/// Where the arguments come from.
pub(crate) enum Input<'a> {
    /// A tool's.
    Json {
        arguments: Option<&'a RawValue>,
        checker: &'a Checker,
    },
    /// A prompt's.
    Strings(Vec<(String, String)>),
    /// A resource template's.
    Variables(Bindings),
    /// A completion's: what is known, and what was typed.
    Typing {
        known: Vec<(String, String)>,
        prefix: &'a str,
    },
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// The completion of an argument.
    Completion,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        call: &'a raw::Call<'a>,
        target: &'a str,
        input: Input<'a>,
        round: Round<'a>,
        server: &'a Server,
    ) -> Self {
        Self {
            call,
            target,
            input,
            round,
            server,
            checks_output: false,
            attached: OnceLock::new(),
        }
    }

    pub(crate) fn checking_output(mut self, checks: bool) -> Self {
        self.checks_output = checks;
        self
    }

    /// What is called.
    pub fn kind(&self) -> Kind {
        match (&self.input, self.call.method()) {
            (Input::Json { .. }, _) => Kind::Tool,
            (Input::Typing { .. }, _) => Kind::Completion,
            (Input::Strings(_), "prompts/get") => Kind::Prompt,
            _ => Kind::Resource,
        }
    }

    /// The tool's or the prompt's name, or the resource's URI.
    pub fn target(&self) -> &'a str {
        self.target
    }

    /// The arguments as `T`. Unlike [`Args`](crate::Args) this does not make `T` part of the
    /// schema.
    ///
    /// # Errors
    /// What does not fit, and where.
    pub fn args<T: DeserializeOwned>(&self) -> Result<T, Stop> {
        match &self.input {
            Input::Json { arguments, checker } => {
                let text = arguments.map_or("{}", RawValue::get);
                decode(text).map_err(|error| Stop::arguments(explain::<T>(text, checker, &error)))
            }
            Input::Strings(values) | Input::Typing { known: values, .. } => {
                let values: Vec<_> = values
                    .iter()
                    .map(|(name, value)| (name.as_str(), Strings::One(value)))
                    .collect();
                from_strings(&values)
            }
            Input::Variables(bindings) => {
                let values: Vec<_> = bindings
                    .iter()
                    .map(|(name, binding)| match binding {
                        Binding::One(value) => (name, Strings::One(value)),
                        Binding::Many(values) => (name, Strings::Many(values)),
                    })
                    .collect();
                from_strings(&values)
            }
        }
    }

    /// A tool's arguments as they came: an object, or none.
    pub fn arguments(&self) -> Option<&'a RawValue> {
        match self.input {
            Input::Json { arguments, .. } => arguments,
            _ => None,
        }
    }

    /// In a completion: what was typed so far.
    pub fn prefix(&self) -> Option<&'a str> {
        match self.input {
            Input::Typing { prefix, .. } => Some(prefix),
            _ => None,
        }
    }

    /// The server this runs on.
    pub fn server(&self) -> &'a Server {
        self.server
    }

    /// The answers this request brought, whether or not they were ever asked for: a client can
    /// send any. Never take one of these for consent.
    ///
    /// # Errors
    /// `-32602` for a map that names a key twice.
    pub fn unsolicited_responses(&self) -> Result<Answers<'a>, Stop> {
        Ok(self.round.answers()?)
    }

    /// The `requestState` this request brought, as it came: written by the peer for all we know
    /// (MRTR-S-12).
    pub fn unsealed_state(&self) -> Option<&'a str> {
        self.round.state
    }

    /// Attaches a value to this call, for [`Extension<T>`](crate::Extension) further in.
    pub fn insert<T: Clone + Send + Sync + 'static>(&self, value: T) {
        let attached = self.attached.get_or_init(Mutex::default);
        let mut attached = attached.lock().unwrap_or_else(PoisonError::into_inner);
        attached.insert(value);
    }

    /// The value of this type that was attached to the call, or else to the HTTP request.
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        let attached = self.attached.get().and_then(|attached| {
            let attached = attached.lock().unwrap_or_else(PoisonError::into_inner);
            attached.get::<T>().cloned()
        });
        attached.or_else(|| self.call.extensions()?.get::<T>().cloned())
    }

    /// What the client is answered if this call stops here: how a [`Layer`](crate::Layer) refuses.
    pub fn stop(&self, stop: Stop) -> Outcome {
        match self.kind() {
            Kind::Tool => CallToolResult::wrap(CallToolResult::stopped(self, stop)),
            Kind::Prompt => GetPromptResult::wrap(GetPromptResult::stopped(self, stop)),
            Kind::Resource => ReadResourceResult::wrap(ReadResourceResult::stopped(self, stop)),
            Kind::Completion => CompleteResult::wrap(CompleteResult::stopped(self, stop)),
        }
    }

    pub(crate) fn checks_output(&self) -> bool {
        self.checks_output
    }

    pub(crate) fn round(&self) -> Round<'a> {
        self.round
    }

    pub(crate) fn raw(&self) -> &'a raw::Call<'a> {
        self.call
    }
}

impl<'a> Deref for Context<'a> {
    type Target = raw::Call<'a>;

    fn deref(&self) -> &Self::Target {
        self.call
    }
}

/// Who calls what; nothing of what the arguments and answers say.
impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("id", &self.call.id())
            .field("method", &self.call.method())
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// What is wrong with arguments that could not be read as `T`: what the schema says, or else what
/// the type says.
fn explain<T: DeserializeOwned>(
    text: &str,
    checker: &Checker,
    error: &serde_json::Error,
) -> Violations {
    if let Ok(value) = serde_json::from_str(text) {
        let violations = checker.violations(&value);
        if !violations.is_empty() {
            return violations;
        }
    }
    let mut json = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, T>(&mut json) {
        Ok(_) => Violations::one("", error.to_string()),
        Err(error) => Violations::one(error.path().to_string(), error.inner().to_string()),
    }
}

fn from_strings<T: DeserializeOwned>(values: &[(&str, Strings<'_>)]) -> Result<T, Stop> {
    schema::from_strings(values).map_err(|bad| Stop::arguments(bad.into()))
}
