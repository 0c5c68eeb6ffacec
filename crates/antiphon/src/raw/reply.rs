//! [`Reply`]: a result, or questions.

use antiphon_types::{CallToolResult, GetPromptResult, InputRequired, ReadResourceResult};

/// What the three methods that may ask return.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply<T> {
    /// The result.
    Complete(T),
    /// Questions, a state to come back with, or both.
    InputRequired(InputRequired),
}

impl<T> From<InputRequired> for Reply<T> {
    fn from(input: InputRequired) -> Self {
        Self::InputRequired(input)
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
