//! [`Asking`]: one run of a handler that asks, against what the call knows by then.
//!
//! A handler runs from its top in every round. What it asks is looked up by key and by what is
//! asked: an answer counts if that very question was pending in the state that came back, and in
//! every later round. Everything else is asked, and what is asked is pending in the next state.

#[cfg(test)]
mod tests;
mod upon;

use std::sync::Arc;

use antiphon_types::{ElicitRequestParams, InputRequest};

use crate::{
    ledger::{LONGEST_KEY, Ledger, Question, Standing, Step},
    seal::digest::Digest,
};

pub use self::upon::Upon;

/// How much may be asked in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Rounds that ask something: 32.
    pub rounds: u16,
    /// Questions in one round: 32. What is asked beyond that is asked in the next.
    pub questions: usize,
    /// How often a question is asked again because its answer is not usable: 3.
    pub tries: u8,
    /// Bytes of one answer: 256 KiB.
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rounds: 32,
            questions: 32,
            tries: 3,
            answer_bytes: 256 * 1024,
        }
    }
}

impl Limits {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rounds that ask something.
    #[must_use]
    pub fn rounds(self, rounds: u16) -> Self {
        Self { rounds, ..self }
    }

    /// Questions in one round.
    #[must_use]
    pub fn questions(self, questions: usize) -> Self {
        Self { questions, ..self }
    }

    /// How often a question is asked again because its answer is not usable.
    #[must_use]
    pub fn tries(self, tries: u8) -> Self {
        Self { tries, ..self }
    }

    /// Bytes of one answer.
    #[must_use]
    pub fn answer_bytes(self, answer_bytes: usize) -> Self {
        Self {
            answer_bytes,
            ..self
        }
    }
}

/// How often a question may be asked in other words: beyond that its words never settle.
const DRIFTS: u8 = 2;

/// One run of a handler.
#[derive(Debug)]
pub struct Asking {
    /// What is known, the answers of this round included.
    ledger: Ledger,
    /// How many rounds came before.
    round: u16,
    /// The keys of the answers that came in this round.
    fresh: Vec<Arc<str>>,
    asked: Vec<Asked>,
    /// How many steps were done in earlier runs.
    done_before: usize,
    limits: Limits,
}

/// What was asked in this run.
#[derive(Debug)]
struct Asked {
    key: Arc<str>,
    digest: Digest,
    /// If there is no answer that can be used. Apart, because most of it is the question, and what
    /// is answered has none.
    pending: Option<Box<Pending>>,
}

#[derive(Debug)]
struct Pending {
    tries: u8,
    drifts: u8,
    note: Arc<str>,
    /// Nothing once it has been taken to be sent.
    request: Option<InputRequest>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unanswered {
    /// It is asked now.
    Asked,
    /// There are so many questions in this round that it is asked in the next.
    Postponed,
    /// The key was used in this run for another question.
    Clash,
    /// The question was in other words in every round so far.
    Drift,
    /// The answers were not usable so often that it is not asked again; what was wrong with the
    /// last, a line each.
    Unusable(Vec<String>),
    /// An answer that something was done upon has changed.
    Changed,
    /// No question and no step can have this key.
    Key,
}

impl Asking {
    /// A run in which nothing is known yet.
    pub fn first(limits: Limits) -> Self {
        Self::next(Ledger::default(), 0, std::iter::empty(), limits)
    }

    /// A run after `round` others, with what they left and the answers that came. Only answers
    /// to what is pending are looked at.
    pub fn next<'a>(
        mut ledger: Ledger,
        round: u16,
        answers: impl Iterator<Item = (&'a str, &'a str)>,
        limits: Limits,
    ) -> Self {
        let mut fresh = Vec::new();
        for (key, answer) in answers {
            let mut questions = ledger.questions.iter_mut();
            let pending = questions.find(|question| {
                *question.key == *key && matches!(question.standing, Standing::Pending(_))
            });
            let Some(question) = pending else { continue };
            fresh.push(question.key.clone());
            question.standing = Standing::Answered {
                round,
                answer: match answer.len() > limits.answer_bytes {
                    false => answer.into(),
                    // Not kept, and no answer to anything.
                    true => format!("\"has more than {} bytes\"", limits.answer_bytes).into(),
                },
            };
        }
        Self {
            done_before: ledger.steps.len(),
            ledger,
            round,
            fresh,
            asked: Vec::new(),
            limits,
        }
    }

    /// How many rounds came before.
    pub fn round(&self) -> u16 {
        self.round
    }

    /// Looks for the answer to a question: the entry that came for it. Nothing if it has to be
    /// [asked](Self::ask).
    ///
    /// # Errors
    /// Why it cannot be asked; or that it was, in this run.
    pub fn find(&mut self, key: &str, digest: &Digest) -> Result<Option<&Arc<str>>, Unanswered> {
        match self.asked.iter().find(|asked| *asked.key == *key) {
            Some(asked) if asked.digest != *digest => return Err(Unanswered::Clash),
            Some(asked) if asked.pending.is_some() => return Err(Unanswered::Asked),
            Some(_) => {}
            None if !is_key(key) => return Err(Unanswered::Key),
            None => self.asked.push(Asked {
                key: self
                    .known(key)
                    .map_or_else(|| key.into(), |known| known.key.clone()),
                digest: *digest,
                pending: None,
            }),
        }
        let Some(question) = self.known(key) else {
            return Ok(None);
        };
        let same = question.digest == *digest;
        match &question.standing {
            _ if !same && self.was_built_upon(question) => Err(Unanswered::Changed),
            _ if !same && question.drifts >= DRIFTS => Err(Unanswered::Drift),
            Standing::Answered { .. } if same => Ok(self.answer(key)),
            _ => Ok(None),
        }
    }

    fn known(&self, key: &str) -> Option<&Question> {
        self.ledger
            .questions
            .iter()
            .find(|question| *question.key == *key)
    }

    fn answer(&self, key: &str) -> Option<&Arc<str>> {
        match &self.known(key)?.standing {
            Standing::Answered { answer, .. } => Some(answer),
            Standing::Pending(_) => None,
        }
    }

    /// Whether something was done since an answer came, which may have depended on it.
    fn was_built_upon(&self, question: &Question) -> bool {
        let Standing::Answered { round, .. } = question.standing else {
            return false;
        };
        // By key, not by round: that stays at its greatest.
        !self.fresh.contains(&question.key)
            && self.ledger.steps.iter().any(|step| step.round >= round)
    }

    /// Asks what has no answer.
    pub fn ask(&mut self, key: &str, request: InputRequest) -> Unanswered {
        let Some(at) = self.asked.iter().position(|asked| *asked.key == *key) else {
            return Unanswered::Key;
        };
        let (tries, drifts, note) = match self.known(key) {
            None => (0, 0, Arc::default()),
            Some(question) if question.digest == self.asked[at].digest => {
                let note = match &question.standing {
                    Standing::Pending(note) => note.clone(),
                    Standing::Answered { .. } => Arc::default(),
                };
                (question.tries, question.drifts, note)
            }
            Some(question) => (0, question.drifts.saturating_add(1), Arc::default()),
        };
        self.enter(at, tries, drifts, note, request)
    }

    /// Asks again, because of what is wrong with the answer.
    pub fn ask_again(
        &mut self,
        key: &str,
        errors: Vec<String>,
        request: InputRequest,
    ) -> Unanswered {
        let at = self.asked.iter().position(|asked| *asked.key == *key);
        let (Some(at), Some(question)) = (at, self.known(key)) else {
            return Unanswered::Key;
        };
        if self.was_built_upon(question) {
            return Unanswered::Changed;
        }
        if question.tries >= self.limits.tries {
            return Unanswered::Unusable(errors);
        }
        let (tries, drifts) = (question.tries + 1, question.drifts);
        self.enter(at, tries, drifts, lines(&errors).into(), request)
    }

    fn enter(
        &mut self,
        at: usize,
        tries: u8,
        drifts: u8,
        note: Arc<str>,
        mut request: InputRequest,
    ) -> Unanswered {
        // Twice at the same time is once.
        if self.asked[at].pending.is_some() {
            return Unanswered::Asked;
        }
        if self.pending().count() >= self.limits.questions {
            return Unanswered::Postponed;
        }
        if !note.is_empty() {
            explain(&mut request, &note);
        }
        self.asked[at].pending = Some(Box::new(Pending {
            tries,
            drifts,
            note,
            request: Some(request),
        }));
        Unanswered::Asked
    }

    /// The keys of what is asked in this run, in order.
    pub fn pending(&self) -> impl Iterator<Item = &str> {
        let pending = self.asked.iter().filter(|asked| asked.pending.is_some());
        pending.map(|asked| &*asked.key)
    }

    /// The keys of what was asked and had an answer, in order.
    pub fn answered(&self) -> impl Iterator<Item = &str> {
        let answered = self.asked.iter().filter(|asked| {
            let known = self.known(&asked.key);
            asked.pending.is_none()
                && known.is_some_and(|question| {
                    question.digest == asked.digest
                        && matches!(question.standing, Standing::Answered { .. })
                })
        });
        answered.map(|asked| &*asked.key)
    }

    /// What is asked in this run, in order, as it is sent.
    pub fn questions(&self) -> impl Iterator<Item = (&str, &InputRequest)> {
        self.asked.iter().filter_map(|asked| {
            let pending = asked.pending.as_ref()?;
            Some((&*asked.key, pending.request.as_ref()?))
        })
    }

    /// The same, to be sent.
    pub fn take_questions(&mut self) -> impl Iterator<Item = (&str, InputRequest)> {
        self.asked.iter_mut().filter_map(|asked| {
            let pending = asked.pending.as_mut()?;
            Some((&*asked.key, pending.request.take()?))
        })
    }

    /// What came of a step, if it was done.
    ///
    /// # Errors
    /// If no step can have this key: it must not be done, as the next state could not tell.
    pub fn done(&self, key: &str) -> Result<Option<&str>, Unanswered> {
        match is_key(key) {
            true => Ok(self.step(key).map(|step| &*step.result)),
            false => Err(Unanswered::Key),
        }
    }

    /// The same, to be kept.
    pub fn result(&self, key: &str) -> Option<Arc<str>> {
        self.step(key).map(|step| step.result.clone())
    }

    fn step(&self, key: &str) -> Option<&Step> {
        self.ledger.steps.iter().find(|step| *step.key == *key)
    }

    /// A key of a step; shared, if it is known.
    pub fn step_key(&self, key: &str) -> Arc<str> {
        self.step(key)
            .map_or_else(|| key.into(), |step| step.key.clone())
    }

    /// Notes what came of a step. What is known of it already stays.
    pub fn note_done(&mut self, key: impl Into<Arc<str>>, result: impl Into<Arc<str>>) {
        let key = key.into();
        if self.ledger.steps.iter().any(|step| step.key == key) {
            return;
        }
        self.ledger.steps.push(Step {
            key,
            round: self.round,
            shared: 1,
            result: result.into(),
        });
    }

    /// Notes a step that a run before this one did, of which no state tells: what came of it, and
    /// how many shared it then. From here on it is as one that came with the state.
    pub fn note_known(&mut self, key: &str, shared: u8, result: impl Into<Arc<str>>) {
        if self.ledger.steps.iter().any(|step| *step.key == *key) {
            return;
        }
        let step = Step {
            key: key.into(),
            round: self.round,
            shared,
            result: result.into(),
        };
        self.ledger.steps.insert(self.done_before, step);
        self.done_before += 1;
    }

    /// Whether a step may be used for the `times`th time in this run, although somebody has had
    /// what came of it: as often as it was shared when it was done. Those who use it `together`
    /// share it.
    pub fn may_share(&mut self, key: &str, times: u8, together: bool) -> bool {
        let before = self.done_before;
        let mut steps = self.ledger.steps.iter_mut().enumerate();
        match steps.find(|(_, step)| *step.key == *key) {
            Some((at, step)) if at < before => together || times <= step.shared,
            Some((_, step)) if together => {
                step.shared = step.shared.max(times);
                true
            }
            _ => together,
        }
    }

    /// Whether a step was done in this run.
    pub fn has_done(&self) -> bool {
        self.ledger.steps.len() > self.done_before
    }

    /// What the next round has to know, if these are the keys that it is asked under.
    pub fn next_ledger(&self, sent: impl Fn(&str) -> bool) -> Ledger {
        let asked = |key: &str| {
            let mut asked = self.asked.iter().filter(|asked| *asked.key == *key);
            asked.any(|asked| asked.pending.is_some()) && sent(key)
        };
        let kept = self.ledger.questions.iter().filter(|question| {
            matches!(question.standing, Standing::Answered { .. }) && !asked(&question.key)
        });
        let pending = self.asked.iter().filter_map(|asked| {
            let pending = asked.pending.as_ref()?;
            sent(&asked.key).then(|| Question {
                key: asked.key.clone(),
                digest: asked.digest,
                tries: pending.tries,
                drifts: pending.drifts,
                standing: Standing::Pending(pending.note.clone()),
            })
        });
        Ledger {
            questions: pending.chain(kept.cloned()).collect(),
            steps: self.ledger.steps.clone(),
            ..Ledger::default()
        }
    }
}

fn is_key(key: &str) -> bool {
    (1..=LONGEST_KEY).contains(&key.len())
}

/// One line for each error, as users are told.
pub fn lines(errors: &[String]) -> String {
    let lines: Vec<_> = errors.iter().map(|error| format!("- {error}")).collect();
    lines.join("\n")
}

/// Tells the user what was wrong with the last answer.
fn explain(request: &mut InputRequest, note: &str) {
    let (message, what) = match request {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
            (&mut form.message, "The last answer could not be used:")
        }
        InputRequest::Elicit(ElicitRequestParams::Url(url)) => {
            (&mut url.message, "It does not go on yet:")
        }
        _ => return,
    };
    for part in ["\n\n", what, "\n", note] {
        message.push_str(part);
    }
}
