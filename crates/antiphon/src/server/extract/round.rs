//! [`Responses`] and [`RequestState`]: what comes back from the round before.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{FromCall, at_once};
use crate::{raw::Answers, server::Context};

/// The answers to the questions that were asked in the round before: an extractor.
///
/// ```
/// use antiphon::{Responses, Stop};
/// use antiphon::types::{InputRequest, InputRequired};
///
/// async fn places(responses: Responses) -> Result<String, Stop> {
///     match responses.answers().roots("where").given() {
///         Some(roots) => Ok(format!("{} places", roots.roots.len())),
///         None => Err(Stop::ask(InputRequired::ask("where", InputRequest::roots()))),
///     }
/// }
/// # let _ = antiphon::Server::<()>::new("shop", "1.0").tool("places", places);
/// ```
#[derive(Clone, Default)]
pub struct Responses(Vec<(String, Box<RawValue>)>);

impl Responses {
    /// To be looked at by key.
    pub fn answers(&self) -> Answers<'_> {
        Answers::of(self.0.iter().map(|(key, answer)| (key.as_str(), &**answer)))
    }

    pub(crate) fn of(call: &Context<'_>) -> Self {
        let answers = call.responses();
        let given = answers
            .keys()
            .filter_map(|key| Some((key.to_owned(), answers.raw(key)?.to_owned())));
        Self(given.collect())
    }
}

/// The keys alone: answers are for the handler.
impl std::fmt::Debug for Responses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set()
            .entries(self.0.iter().map(|(key, _)| key))
            .finish()
    }
}

#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Responses {
    at_once!(|call, _| Ok(Self::of(call)));
}

/// The state that was sent with the questions of the round before: an extractor. Nothing in the
/// first round, and when there was none.
///
/// See [`Context::request_state`]. If it is not a `T`, the call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestState<T>(pub Option<T>);

#[diagnostic::do_not_recommend]
impl<S: Sync, T: DeserializeOwned + Send + 'static> FromCall<S> for RequestState<T> {
    at_once!(|call, _| call.request_state().map(Self));
}
