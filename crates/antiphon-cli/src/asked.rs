//! [`Asked`]: a server's question, as everybody sees it who may answer; [`Said`]: what they say.

use std::{fmt, time::Instant};

use antiphon::{
    client::{Answer, Identity, Question, Target},
    types::{CreateMessageResult, InputRequest, ListRootsResult, Root},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::printable;

/// A question, and what stands around it.
pub(crate) struct Asked {
    /// Who asks: where we connected to, not what the server calls itself (ELIC-C-09).
    pub(crate) server: Identity,
    /// The call that led to it; with older servers it may be unknown.
    pub(crate) call: Target,
    /// What names it within its round.
    pub(crate) key: String,
    /// In which round of the call, from 1.
    pub(crate) round: u32,
    /// What was wrong with the answer that was given before, field by field.
    pub(crate) errors: Vec<String>,
    /// Until when an answer is wanted.
    pub(crate) deadline: Instant,
    pub(crate) question: InputRequest,
}

impl Asked {
    pub(crate) fn of<T>(question: Question<T>, asked: impl FnOnce(T) -> InputRequest) -> Self {
        Self {
            server: question.server().clone(),
            call: question.call().clone(),
            key: question.key().to_owned(),
            round: question.round(),
            errors: question.errors().to_vec(),
            deadline: question.deadline(),
            question: asked(question.into_inner()),
        }
    }

    /// Whether an older server merely wants to know its directories, for no call: no call can wait
    /// for that, and nobody is asked.
    pub(crate) fn is_aside(&self) -> bool {
        matches!(self.question, InputRequest::Roots(_)) && !self.call.is_known()
    }
}

/// What somebody says to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Said {
    /// The fields of a form, or, empty, that a link is agreed to.
    Accept(Map<String, Value>),
    /// The user says no.
    Decline,
    /// The user does not choose.
    Cancel,
    /// What the model says.
    Sample(Box<CreateMessageResult>),
    /// The directories that the server may know of.
    Roots(Vec<Root>),
}

impl Said {
    /// As the client takes it. A link is agreed to without content.
    pub(crate) fn to(&self, question: &InputRequest) -> Answer {
        match self {
            Self::Accept(_) if is_link(question) => Answer::accept(()),
            Self::Accept(content) => Answer::accept(content),
            Self::Decline => Answer::decline(),
            Self::Cancel => Answer::cancel(),
            Self::Sample(message) => (**message).clone().into(),
            Self::Roots(roots) => ListRootsResult::new(roots.clone()).into(),
        }
    }
}

/// In short, and whatever it holds harmless.
impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accept(content) if content.is_empty() => f.write_str("accept"),
            Self::Accept(content) => {
                let content = Value::Object(content.clone()).to_string();
                write!(f, "accept {}", printable::excerpt(&content, 400))
            }
            Self::Decline => f.write_str("decline"),
            Self::Cancel => f.write_str("cancel"),
            Self::Sample(message) => {
                let mut parts = message.content.as_slice().iter();
                let text = parts.find_map(|part| part.as_text()).unwrap_or("no text");
                write!(f, "{:?}", printable::excerpt(text, 200))
            }
            Self::Roots(roots) if roots.is_empty() => f.write_str("no directories"),
            Self::Roots(roots) => {
                let uris: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
                f.write_str(&printable::excerpt(&uris.join(", "), 400))
            }
        }
    }
}

fn is_link(question: &InputRequest) -> bool {
    use antiphon::types::ElicitRequestParams::Url;
    matches!(question, InputRequest::Elicit(Url(_)))
}

/// What came of asking one who may answer.
#[derive(Debug, PartialEq)]
pub(crate) enum Reaction {
    /// This is the answer.
    Says(Said),
    /// There is none to be had here; the call is paused.
    Later,
    /// There will be none: the call ends, for this reason.
    Refuses(String),
}
