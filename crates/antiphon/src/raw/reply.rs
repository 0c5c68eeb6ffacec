//! [`Reply`]: a result, or questions.

use antiphon_types::{CallToolResult, GetPromptResult, InputRequired, ReadResourceResult, decode};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Error, Rendered};

/// What the three methods that may ask return.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply<T> {
    /// The result.
    Complete(T),
    /// The result, written already.
    Rendered(Rendered<T>),
    /// Questions, a state to come back with, or both.
    InputRequired(InputRequired),
}

impl<T> Reply<T> {
    /// What another server answered, for a gateway to pass on. Its questions pass the same gate
    /// as one's own.
    ///
    /// # Errors
    /// `-32603` for what is neither a result nor questions.
    pub fn from_raw(result: &RawValue) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Kind<'a> {
            #[serde(borrow, rename = "resultType")]
            kind: Option<&'a RawValue>,
        }
        let kind: Kind<'_> = serde_json::from_str(result.get())
            .map_err(|error| Error::internal(format!("not a result: {error}")))?;
        if kind.kind.map(RawValue::get) != Some(r#""input_required""#) {
            return Rendered::from_raw(result).map(Self::Rendered);
        }
        decode(result.get())
            .map(Self::InputRequired)
            .map_err(|error| Error::internal(format!("not questions: {error}")))
    }
}

impl<T> From<InputRequired> for Reply<T> {
    fn from(input: InputRequired) -> Self {
        Self::InputRequired(input)
    }
}

impl<T> From<Rendered<T>> for Reply<T> {
    fn from(rendered: Rendered<T>) -> Self {
        Self::Rendered(rendered)
    }
}

macro_rules! complete {
    ($($result:ty),*) => {$(
        impl From<$result> for Reply<$result> {
            fn from(result: $result) -> Self {
                Self::Complete(result)
            }
        }
    )*};
}

complete!(CallToolResult, GetPromptResult, ReadResourceResult);
