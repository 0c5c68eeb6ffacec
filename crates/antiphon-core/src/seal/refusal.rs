//! [`Refusal`]: why a state was refused. For the log alone: on the wire all of these are the one
//! error [`ErrorObject::invalid_request_state`](antiphon_types::ErrorObject::invalid_request_state).

use std::fmt;

/// Why a state was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// `requestState` is no string.
    NotText,
    /// Longer than any state we make.
    TooLong,
    /// Characters that base64url does not have.
    Alphabet,
    /// Not the one spelling that base64url has for these bytes.
    Spelling,
    /// Shorter than it says it is.
    Truncated,
    /// Longer than it says it is.
    Extended,
    /// Not of a form that is known here.
    Form,
    /// Sealed under a key that is not, or no longer, on the ring.
    UnknownKey,
    /// Not what the key it names has sealed.
    Tampered,
    /// The codec says so.
    Codec,
    /// It opens, but what is in there cannot be read: another version of the software made it.
    Contents,
    /// Made later than now, by more than clocks differ.
    Future,
    /// Its time is over.
    Expired,
    /// The time of the whole call is over.
    Overdue,
    /// Made by or for a server of another name.
    Audience,
    /// Made for another method.
    Method,
    /// Made for another tool, prompt or resource.
    Target,
    /// Made for other arguments.
    Arguments,
    /// The arguments can be read in more than one way.
    AmbiguousArguments,
    /// Made for somebody else.
    Principal,
    /// It is not known who brings it, and that is required.
    NoPrincipal,
    /// It has questions, and no answers came.
    NoAnswers,
    /// It has questions, and only answers came that nobody had asked for.
    UnsolicitedAnswers,
    /// The body it refers to is gone.
    BodyMissing,
    /// It was used.
    Replayed,
    /// It was used, with other answers.
    OtherAnswers,
    /// It was used, and the answer it got is not kept.
    AnswerNotKept,
    /// It was used, and how that ended is not known.
    OutcomeUnknown,
    /// The author's state in it is not of the type that the handler asks for.
    StateType,
}

impl Refusal {
    /// A word for it, to search logs for.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotText => "not_a_string",
            Self::TooLong => "too_long",
            Self::Alphabet => "alphabet",
            Self::Spelling => "spelling",
            Self::Truncated => "truncated",
            Self::Extended => "extended",
            Self::Form => "unknown_form",
            Self::UnknownKey => "unknown_key",
            Self::Tampered => "tampered",
            Self::Codec => "codec",
            Self::Contents => "contents",
            Self::Future => "from_the_future",
            Self::Expired => "expired",
            Self::Overdue => "overdue",
            Self::Audience => "audience",
            Self::Method => "method",
            Self::Target => "target",
            Self::Arguments => "arguments",
            Self::AmbiguousArguments => "ambiguous_arguments",
            Self::Principal => "principal",
            Self::NoPrincipal => "no_principal",
            Self::NoAnswers => "no_answers",
            Self::UnsolicitedAnswers => "unsolicited_answers",
            Self::BodyMissing => "body_missing",
            Self::Replayed => "replayed",
            Self::OtherAnswers => "other_answers",
            Self::AnswerNotKept => "answer_not_kept",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::StateType => "state_type",
        }
    }
}

/// The word for it.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl std::error::Error for Refusal {}
