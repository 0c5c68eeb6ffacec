//! The typed parameters a [`Service`](super::Service) is given. They borrow from the message.

use std::{collections::BTreeMap, fmt};

use antiphon_core::negotiate::shown;
use antiphon_types::{CallToolResult, CompleteRequestParams};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Answers, Error};

/// `tools/call`
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CallTool<'a> {
    /// The tool.
    pub name: &'a str,
    /// Its arguments: an object as it came, or none.
    pub arguments: Option<&'a RawValue>,
    /// What the client brings from an earlier round.
    pub round: Round<'a>,
}

impl<'a> CallTool<'a> {
    /// The arguments, straight from the message into `T`; none are an empty object.
    ///
    /// # Errors
    /// What does not fit and where. It converts into a tool error, so that a model can correct
    /// itself (AMB-10).
    pub fn arguments<T: Deserialize<'a>>(&self) -> Result<T, BadArguments> {
        let text = self.arguments.map_or("{}", RawValue::get);
        serde_json::from_str(text).map_err(|_| {
            // Only a failure pays for finding the place.
            let mut json = serde_json::Deserializer::from_str(text);
            match serde_path_to_error::deserialize::<_, T>(&mut json) {
                Ok(_) => BadArguments("the arguments could not be read".to_owned()),
                Err(error) if error.path().iter().next().is_none() => {
                    BadArguments(error.inner().to_string())
                }
                Err(error) => BadArguments(format!("`{}`: {}", error.path(), error.inner())),
            }
        })
    }
}

/// Arguments that do not fit what a tool expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadArguments(String);

impl fmt::Display for BadArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Invalid arguments: {}", self.0)
    }
}

impl std::error::Error for BadArguments {}

impl From<BadArguments> for CallToolResult {
    fn from(bad: BadArguments) -> Self {
        Self::error(bad.to_string())
    }
}

/// `prompts/get`
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct GetPrompt<'a> {
    /// The prompt.
    pub name: &'a str,
    /// Its arguments: an object as it came, or none.
    pub arguments: Option<&'a RawValue>,
    /// What the client brings from an earlier round.
    pub round: Round<'a>,
}

impl GetPrompt<'_> {
    /// The arguments by name.
    ///
    /// # Errors
    /// `-32602` unless every one is a string (PROMPT-C-02).
    pub fn arguments(&self) -> Result<BTreeMap<String, String>, Error> {
        match self.arguments {
            None => Ok(BTreeMap::new()),
            Some(raw) => {
                let mut json = serde_json::Deserializer::from_str(raw.get());
                serde_path_to_error::deserialize(&mut json).map_err(|error| {
                    let name = error.path().to_string();
                    Error::invalid_params(format!(
                        "`{}`: prompt arguments are strings",
                        shown(&name)
                    ))
                })
            }
        }
    }
}

/// `resources/read`
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ReadResource<'a> {
    /// The resource, byte for byte.
    pub uri: &'a str,
    /// What the client brings from an earlier round.
    pub round: Round<'a>,
}

/// The four lists.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct List<'a> {
    /// Where to go on; an empty string is a cursor like any other.
    pub cursor: Option<&'a str>,
}

/// `completion/complete`
pub type Complete = CompleteRequestParams;

/// What a retry brings along: answers, and the state handed out with the questions.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Round<'a> {
    /// `inputResponses`, as they came.
    pub responses: Option<&'a RawValue>,
    /// `requestState`, as it came: written by the peer for all we know.
    pub state: Option<&'a str>,
}

impl<'a> Round<'a> {
    /// The answers, to be looked at by key.
    ///
    /// # Errors
    /// `-32602` for a map that names a key twice.
    pub fn answers(&self) -> Result<Answers<'a>, Error> {
        Answers::parse(self.responses)
    }

    /// Whether the client brought nothing: the first leg of a call.
    pub fn is_first(&self) -> bool {
        self.responses.is_none() && self.state.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Order {
        #[expect(dead_code, reason = "only its presence matters")]
        lines: Vec<Line>,
    }

    #[derive(Debug, Deserialize)]
    struct Line {
        #[expect(dead_code, reason = "only its type matters")]
        copies: u32,
    }

    #[test]
    fn bad_arguments_name_the_place() {
        let raw = RawValue::from_string(r#"{"lines":[{"copies":1},{"copies":"two"}]}"#.to_owned());
        let raw = raw.expect("JSON");
        let mut call = CallTool {
            name: "order",
            arguments: Some(&raw),
            round: Round::default(),
        };
        let error = call
            .arguments::<Order>()
            .expect_err("a string is no number")
            .to_string();
        assert!(
            error.starts_with("Invalid arguments: `lines[1].copies`: invalid type"),
            "{error}"
        );
        call.arguments = None;
        let error = call
            .arguments::<Order>()
            .expect_err("nothing there")
            .to_string();
        assert!(
            error.starts_with("Invalid arguments: missing field `lines`"),
            "{error}"
        );
    }
}
