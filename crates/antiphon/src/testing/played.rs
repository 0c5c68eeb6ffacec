//! [`Played`]: what came of a play, and what was asked on the way.

use std::panic::Location;

use antiphon_types::{
    CallToolResult, ErrorObject, GetPromptResult, InputRequest, ReadResourceResult,
};

use super::trace::{Failure, Trace};

/// A call that a [`Script`](super::Script) was played on: how it ended, and what was asked.
///
/// Whatever is asked of it that is not there fails the test, and shows the [`trace`](Self::trace).
#[derive(Debug, Clone)]
#[must_use = "a play shows something only if somebody looks at how it ended"]
pub struct Played<T> {
    pub(super) ending: Ending<T>,
    pub(super) asked: Vec<Asked>,
    pub(super) trace: Trace,
    pub(super) at: &'static Location<'static>,
}

/// A result, or the server's error.
pub(super) type Ending<T> = Result<T, ErrorObject>;

/// A question that was asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Asked {
    /// In which round, from 1. Rounds that asked nothing do not count.
    pub round: u32,
    /// Under which key.
    pub key: String,
    /// The question.
    pub question: InputRequest,
}

impl<T> Played<T> {
    /// The result.
    ///
    /// # Panics
    /// If there is an error instead.
    #[track_caller]
    pub fn result(&self) -> &T {
        match &self.ending {
            Ok(result) => result,
            Err(error) => self.fail(format!(
                "there is no result, but the error {}: {}",
                error.code, error.message
            )),
        }
    }

    /// The JSON-RPC error.
    ///
    /// # Panics
    /// If there is a result instead.
    #[track_caller]
    pub fn error(&self) -> &ErrorObject {
        match &self.ending {
            Err(error) => error,
            Ok(_) => self.fail("there is no error, but a result"),
        }
    }

    /// The questions, in the order they were asked.
    pub fn questions(&self) -> &[Asked] {
        &self.asked
    }

    /// The question of this key, the last if there were several.
    ///
    /// # Panics
    /// If it was not asked.
    #[track_caller]
    pub fn question(&self, key: &str) -> &InputRequest {
        let last = self.asked.iter().rfind(|asked| asked.key == key);
        match last {
            Some(asked) => &asked.question,
            None => self.fail(format!("`{key}` was not asked")),
        }
    }

    /// The text of the question of this key, the last if there were several: what a user reads of
    /// a form or a link, what a model is given to complete.
    ///
    /// # Panics
    /// If it was not asked.
    #[track_caller]
    pub fn message(&self, key: &str) -> String {
        text(self.question(key))
    }

    /// The keys that were asked, round by round, in order.
    pub fn rounds(&self) -> Vec<Vec<&str>> {
        let rounds = self.asked.chunk_by(|one, next| one.round == next.round);
        rounds
            .map(|round| round.iter().map(|asked| asked.key.as_str()).collect())
            .collect()
    }

    /// How many rounds asked nothing but to come back.
    pub fn laters(&self) -> u32 {
        self.trace.laters()
    }

    /// These were the keys, round by round, in the order they were asked.
    ///
    /// # Panics
    /// If they were not.
    #[track_caller]
    pub fn assert_rounds<R>(&self, expected: impl IntoIterator<Item = R>)
    where
        R: IntoIterator<Item: AsRef<str>>,
    {
        let names = |round: R| {
            let keys = round.into_iter().map(|key| key.as_ref().to_owned());
            keys.collect::<Vec<_>>()
        };
        let expected: Vec<_> = expected.into_iter().map(names).collect();
        let asked = self.rounds();
        if asked == expected {
            return;
        }
        let mut lines = String::from("the rounds are others (- expected, + asked)");
        for at in 0..asked.len().max(expected.len()) {
            let [wanted, came] = [
                expected.get(at).map(|keys| keys.join(", ")),
                asked.get(at).map(|keys| keys.join(", ")),
            ];
            let same = wanted == came;
            for (sign, keys) in [("-", wanted.filter(|_| !same)), ("+", came)] {
                let sign = if same { " " } else { sign };
                if let Some(keys) = keys {
                    lines.push_str(&format!("\n{sign} round {}: {keys}", at + 1));
                }
            }
        }
        self.fail(lines);
    }

    /// What happened, for people: each round with the keys that were asked, and what was done.
    /// Answers are not in it.
    pub fn trace(&self) -> String {
        self.trace.to_string()
    }

    #[track_caller]
    fn fail(&self, why: impl Into<String>) -> ! {
        let failure = Failure {
            why: why.into(),
            at: self.at,
            trace: self.trace.clone(),
        };
        failure.panic()
    }

    pub(super) fn failure_of(self, why: String) -> Failure {
        Failure {
            why,
            at: self.at,
            trace: self.trace,
        }
    }
}

impl Played<CallToolResult> {
    /// The text of the result; of several, a line each.
    ///
    /// # Panics
    /// If the tool failed, or there is no result.
    #[track_caller]
    pub fn text(&self) -> String {
        let text = self.words();
        match self.result().failed() {
            false => text,
            true => self.fail(format!("the tool failed: {text}")),
        }
    }

    /// The text of the tool's error.
    ///
    /// # Panics
    /// If the tool did not fail, or there is no result.
    #[track_caller]
    pub fn failure(&self) -> String {
        let text = self.words();
        match self.result().failed() {
            true => text,
            false => self.fail(format!("the tool did not fail: {text}")),
        }
    }

    #[track_caller]
    fn words(&self) -> String {
        let blocks = self.result().content.iter();
        joined(blocks.filter_map(|block| block.as_text()))
    }
}

impl Played<GetPromptResult> {
    /// The text of the messages, a line each.
    ///
    /// # Panics
    /// If there is no result.
    #[track_caller]
    pub fn text(&self) -> String {
        let messages = self.result().messages.iter();
        joined(messages.filter_map(|message| message.content.as_text()))
    }
}

impl Played<ReadResourceResult> {
    /// The text of the resource; of several parts, a line each.
    ///
    /// # Panics
    /// If there is no result.
    #[track_caller]
    pub fn text(&self) -> String {
        let contents = self.result().contents.iter();
        joined(contents.filter_map(|contents| contents.as_text()))
    }
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

/// What is read of a question.
pub(super) fn text(question: &InputRequest) -> String {
    match question {
        InputRequest::Elicit(params) => params.message().to_owned(),
        InputRequest::Sample(params) => {
            let messages = params.messages.iter();
            let parts = messages.flat_map(|message| message.content.as_slice());
            joined(parts.filter_map(|part| part.as_text()))
        }
        _ => String::new(),
    }
}
