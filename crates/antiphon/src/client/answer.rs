//! [`Answer`]: what there is to say to a question.

use std::fmt;

use antiphon_types::{CreateMessageResult, ElicitResult, ListRootsResult};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// An answer: what the user did, what the model said, or the roots.
///
/// Callbacks make theirs with the methods of their question.
#[derive(Clone)]
#[must_use]
pub struct Answer(pub(super) Result<Value, String>);

impl Answer {
    /// The user accepted. A form is answered with an object of its fields, a link with `()`.
    pub fn accept(content: impl Serialize) -> Self {
        Self(match serde_json::to_value(content) {
            Ok(Value::Null) => Ok(json!({ "action": "accept" })),
            Ok(content) => return Self::accepted(content),
            Err(error) => Err(format!("the answer does not serialise: {error}")),
        })
    }

    /// The user accepted with this content.
    pub(super) fn accepted(content: Value) -> Self {
        let mut answer = Map::with_capacity(2);
        answer.insert("action".to_owned(), "accept".into());
        answer.insert("content".to_owned(), content);
        Self(Ok(Value::Object(answer)))
    }

    /// The user said no.
    pub fn decline() -> Self {
        Self(Ok(json!({ "action": "decline" })))
    }

    /// The user went away without choosing.
    pub fn cancel() -> Self {
        Self(Ok(json!({ "action": "cancel" })))
    }

    /// An answer as it is.
    pub(crate) fn of(answer: &impl Serialize) -> Self {
        Self(serde_json::to_value(answer).map_err(|error| error.to_string()))
    }
}

impl From<ElicitResult> for Answer {
    fn from(answer: ElicitResult) -> Self {
        Self::of(&answer)
    }
}

impl From<CreateMessageResult> for Answer {
    fn from(answer: CreateMessageResult) -> Self {
        Self::of(&answer)
    }
}

impl From<ListRootsResult> for Answer {
    fn from(answer: ListRootsResult) -> Self {
        Self::of(&answer)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer(..)")
    }
}
