//! [`Paused`]: a call that waits for answers, as plain data.

use std::{fmt, time::Duration};

use antiphon_core::{
    exchange::Rounds,
    seal::{Key, NONCE},
};
use antiphon_types::{ClientCapabilities, InputRequest, MetaObject, Version};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize, Serializer};

use super::{
    Answer, Error, Identity, Target, check,
    options::{Options, options},
};
use crate::excerpt::word;

/// A call that waits: for answers, or, when it has no questions, for the server to be ready.
///
/// It is plain data. Store it, answer on another machine, and
/// [`resume`](super::Connection::resume) it on a connection to the same server. Resuming takes
/// it by value: the server may accept a state but once.
///
/// It holds the arguments, the answers and the server's state, so keep it where such things may
/// be kept, or keep it [`sealed`](Self::sealed). `Debug` shows none of them.
///
/// What was special about the request (its timeouts, its cancellation token, whoever is told of
/// progress) still holds when the call is resumed, but is not stored: of a call that was, say it
/// again.
#[derive(Deserialize)]
#[serde(try_from = "Stored")]
pub struct Paused {
    pub(super) server: Identity,
    pub(super) version: Version,
    /// What the call declared, and goes on declaring (MRTR-C-13).
    pub(super) capabilities: ClientCapabilities,
    pub(super) target: Target,
    pub(super) rounds: Rounds,
    /// What was wrong with answers as they were given.
    pub(super) complaints: Vec<Problem>,
    /// What is special about the call. Only its tag and its metadata are stored: the rest are
    /// things of one process.
    pub(super) options: Options,
}

options!(impl Paused);

/// The format; the version of a stored call says how to read it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    paused: u32,
    server: Identity,
    protocol: Version,
    capabilities: ClientCapabilities,
    call: Target,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
    #[serde(default, skip_serializing_if = "MetaObject::is_empty")]
    meta: MetaObject,
    rounds: Rounds,
}

/// The version written.
const FORMAT: u32 = 1;

/// What a sealed one is sealed for.
const PURPOSE: &str = "antiphon paused call 1";

impl Paused {
    pub(super) fn new(
        server: Identity,
        version: Version,
        capabilities: ClientCapabilities,
        target: Target,
        options: Options,
        rounds: Rounds,
    ) -> Self {
        Self {
            server,
            version,
            capabilities,
            target,
            options,
            rounds,
            complaints: Vec::new(),
        }
    }

    /// Which server it belongs to.
    pub fn server(&self) -> &Identity {
        &self.server
    }

    /// What was called.
    pub fn call(&self) -> &Target {
        &self.target
    }

    /// How many rounds have asked something.
    pub fn round(&self) -> u32 {
        self.rounds.round()
    }

    /// The questions by key, answered or not.
    pub fn questions(&self) -> impl Iterator<Item = (&str, &InputRequest)> {
        let questions = self.rounds.questions().iter();
        questions.map(|asked| (asked.key.as_str(), &asked.question))
    }

    /// The questions that have no answer yet.
    pub fn unanswered(&self) -> impl Iterator<Item = (&str, &InputRequest)> {
        let pending = self.rounds.pending();
        pending.map(|asked| (asked.key.as_str(), &asked.question))
    }

    /// How long to wait before resuming a call that waits for the server.
    pub fn retry_after(&self) -> Duration {
        self.rounds.pause(0)
    }

    /// What is wrong with the answers so far: those that do not fit, and those that were given to
    /// questions that nobody asked. What has no answer yet is in [`unanswered`](Self::unanswered).
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.complaints.clone();
        for asked in self.rounds.questions() {
            let errors = asked.answer.iter();
            let errors = errors.flat_map(|answer| check::errors(&asked.question, answer));
            problems.extend(errors.map(|what| Problem::with(&asked.key, what)));
        }
        problems
    }

    /// The name that the caller gave the call.
    pub fn tagged(&self) -> Option<&str> {
        self.options.tag.as_deref()
    }

    /// Answers one question, or answers it anew. Whether the answer fits is checked when the
    /// call is resumed.
    #[must_use]
    pub fn answer(mut self, key: &str, answer: impl Into<Answer>) -> Self {
        let Answer(answer) = answer.into();
        match answer {
            Err(why) => self.complaints.push(Problem::with(key, why)),
            Ok(answer) => {
                // What was wrong with another answer says nothing of this one.
                self.complaints.retain(|it| it.key.as_deref() != Some(key));
                if !self.rounds.answer(key, Some(answer)) {
                    let what = "there is no such question".to_owned();
                    self.complaints.push(Problem::with(key, what));
                }
            }
        }
        self
    }

    /// The whole call as text that nobody without the key can read or change.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn sealed(&self, key: &Key) -> Result<String, Error> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce)
            .map_err(|error| Error::invalid(format!("no random numbers: {error}")))?;
        let text = serde_json::to_vec(self)
            .map_err(|error| Error::invalid(format!("the call does not serialise: {error}")))?;
        Ok(URL_SAFE_NO_PAD.encode(key.seal(PURPOSE, nonce, &text)))
    }

    /// Opens what [`sealed`](Self::sealed) made.
    ///
    /// # Errors
    /// When it was sealed under another key, or changed since; which of these is not told.
    pub fn open(sealed: &str, key: &Key) -> Result<Self, Error> {
        let wrong = || Error::invalid("this is no paused call that was sealed under this key");
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| wrong())?;
        let text = key.open(PURPOSE, &bytes).ok_or_else(wrong)?;
        serde_json::from_slice(&text)
            .map_err(|error| Error::invalid(format!("the paused call cannot be read: {error}")))
    }

    fn stored(&self) -> Stored {
        Stored {
            paused: FORMAT,
            server: self.server.clone(),
            protocol: self.version,
            capabilities: self.capabilities.clone(),
            call: self.target.clone(),
            tag: self.options.tag.clone(),
            meta: self.options.meta.clone(),
            rounds: self.rounds.clone(),
        }
    }
}

impl Serialize for Paused {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.stored().serialize(to)
    }
}

impl TryFrom<Stored> for Paused {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        if stored.paused != FORMAT {
            return Err(format!(
                "a paused call of format {}; this version reads {FORMAT}",
                stored.paused
            ));
        }
        stored.call.check()?;
        if let Some(key) = stored.rounds.duplicate_key() {
            return Err(format!("the question `{key}` stands twice"));
        }
        let options = Options {
            tag: stored.tag,
            meta: stored.meta,
            ..Options::default()
        };
        Ok(Self::new(
            stored.server,
            stored.protocol,
            stored.capabilities,
            stored.call,
            options,
            stored.rounds,
        ))
    }
}

/// Shows what it is and not what is in it.
impl fmt::Debug for Paused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.unanswered().map(|(key, _)| key).collect();
        f.debug_struct("Paused")
            .field("server", &format_args!("{}", self.server))
            .field("call", &self.target)
            .field("round", &self.round())
            .field("unanswered", &keys)
            .finish_non_exhaustive()
    }
}

/// Why a paused call cannot be resumed as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The question it is about; none if it is about the call.
    pub key: Option<String>,
    /// What is wrong, such as `copies: must be at most 9`. Nothing of the answer is repeated.
    pub what: String,
}

impl Problem {
    /// Of the call.
    pub(super) fn of(what: impl Into<String>) -> Self {
        Self {
            key: None,
            what: what.into(),
        }
    }

    /// Of one question.
    pub(super) fn with(key: &str, what: impl Into<String>) -> Self {
        Self {
            key: Some(key.to_owned()),
            what: what.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "`{}`: {}", word(key), self.what),
            None => f.write_str(&self.what),
        }
    }
}
