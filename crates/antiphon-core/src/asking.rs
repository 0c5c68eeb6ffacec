//! [`Asking`]: one run of a handler that asks, against what the call knows by then.
//!
//! A handler runs from its top in every round. What it asks is looked up by key and by what is
//! asked: an answer counts if that very question was pending in the state that came back, and in
//! every later round. Everything else is asked, and what is asked is pending in the next state.

use antiphon_types::{ElicitRequestParams, InputRequest};

use crate::{
    ledger::{LONGEST_KEY, Ledger, Question, Standing, Step},
    seal::digest::Digest,
};

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
    /// Bytes of one answer: 64 KiB.
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rounds: 32,
            questions: 32,
            tries: 3,
            answer_bytes: 64 * 1024,
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
    asked: Vec<Asked>,
    limits: Limits,
}

/// What was asked in this run.
#[derive(Debug)]
struct Asked {
    key: String,
    digest: Digest,
    /// If there is no answer that can be used.
    pending: Option<Pending>,
}

#[derive(Debug)]
struct Pending {
    tries: u8,
    drifts: u8,
    note: String,
    request: InputRequest,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unanswered {
    /// It is asked now.
    Asked,
    /// The key was used in this run for another question.
    Clash,
    /// The question was in other words in every round so far.
    Drift,
    /// The answers were not usable so often that it is not asked again; what was wrong with the
    /// last, a line each.
    Unusable(Vec<String>),
    /// An answer that something was done upon has changed.
    Changed,
    /// No question can have this key.
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
        for (key, answer) in answers {
            let mut questions = ledger.questions.iter_mut();
            let pending = questions.find(|question| {
                question.key == key && matches!(question.standing, Standing::Pending(_))
            });
            let Some(question) = pending else { continue };
            question.standing = Standing::Answered {
                round,
                answer: match answer.len() > limits.answer_bytes {
                    false => answer.to_owned(),
                    // Not kept, and no answer to anything.
                    true => format!("\"has more than {} bytes\"", limits.answer_bytes),
                },
            };
        }
        Self {
            ledger,
            round,
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
    pub fn find(&mut self, key: &str, digest: &Digest) -> Result<Option<&str>, Unanswered> {
        match self.asked.iter().find(|asked| asked.key == key) {
            Some(asked) if asked.digest != *digest => return Err(Unanswered::Clash),
            Some(asked) if asked.pending.is_some() => return Err(Unanswered::Asked),
            Some(_) => {}
            None if key.is_empty() || key.len() > LONGEST_KEY => return Err(Unanswered::Key),
            None => self.asked.push(Asked {
                key: key.to_owned(),
                digest: *digest,
                pending: None,
            }),
        }
        let Some(question) = self.known(key) else {
            return Ok(None);
        };
        let same = question.digest == *digest;
        match &question.standing {
            Standing::Answered { round, .. } if !same && self.was_built_upon(*round) => {
                Err(Unanswered::Changed)
            }
            _ if !same && question.drifts >= DRIFTS => Err(Unanswered::Drift),
            Standing::Answered { .. } if same => Ok(self.answer(key)),
            _ => Ok(None),
        }
    }

    fn known(&self, key: &str) -> Option<&Question> {
        self.ledger
            .questions
            .iter()
            .find(|question| question.key == key)
    }

    fn answer(&self, key: &str) -> Option<&str> {
        match &self.known(key)?.standing {
            Standing::Answered { answer, .. } => Some(answer),
            Standing::Pending(_) => None,
        }
    }

    /// Whether something was done since an answer came, which may have depended on it.
    fn was_built_upon(&self, answered: u16) -> bool {
        answered < self.round && self.ledger.steps.iter().any(|step| step.round >= answered)
    }

    /// Asks what has no answer.
    pub fn ask(&mut self, key: &str, request: InputRequest) -> Unanswered {
        let Some(at) = self.asked.iter().position(|asked| asked.key == key) else {
            return Unanswered::Key;
        };
        let (tries, drifts, note) = match self.known(key) {
            None => (0, 0, String::new()),
            Some(question) if question.digest == self.asked[at].digest => {
                let note = match &question.standing {
                    Standing::Pending(note) => note.clone(),
                    Standing::Answered { .. } => String::new(),
                };
                (question.tries, question.drifts, note)
            }
            Some(question) => (0, question.drifts + 1, String::new()),
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
        let at = self.asked.iter().position(|asked| asked.key == key);
        let (Some(at), Some(question)) = (at, self.known(key)) else {
            return Unanswered::Key;
        };
        match question.standing {
            Standing::Answered { round, .. } if self.was_built_upon(round) => {
                return Unanswered::Changed;
            }
            _ => {}
        }
        if question.tries >= self.limits.tries {
            return Unanswered::Unusable(errors);
        }
        let (tries, drifts) = (question.tries + 1, question.drifts);
        self.enter(at, tries, drifts, lines(&errors), request)
    }

    fn enter(
        &mut self,
        at: usize,
        tries: u8,
        drifts: u8,
        note: String,
        mut request: InputRequest,
    ) -> Unanswered {
        if self.pending().count() >= self.limits.questions {
            // It is asked in the next round.
            return Unanswered::Asked;
        }
        if !note.is_empty() {
            explain(&mut request, &note);
        }
        self.asked[at].pending = Some(Pending {
            tries,
            drifts,
            note,
            request,
        });
        Unanswered::Asked
    }

    /// The keys of what is asked in this run, in order.
    pub fn pending(&self) -> impl Iterator<Item = &str> {
        let pending = self.asked.iter().filter(|asked| asked.pending.is_some());
        pending.map(|asked| asked.key.as_str())
    }

    /// The keys of what was asked and had an answer, in order.
    pub fn answered(&self) -> impl Iterator<Item = &str> {
        let answered = self.asked.iter().filter(|asked| asked.pending.is_none());
        answered.map(|asked| asked.key.as_str())
    }

    /// What is asked in this run, in order, as it is sent.
    pub fn questions(&self) -> impl Iterator<Item = (&str, &InputRequest)> {
        self.asked.iter().filter_map(|asked| {
            let pending = asked.pending.as_ref()?;
            Some((asked.key.as_str(), &pending.request))
        })
    }

    /// What came of a step that was done.
    pub fn done(&self, key: &str) -> Option<&str> {
        let mut steps = self.ledger.steps.iter();
        let step = steps.find(|step| step.key == key)?;
        Some(&step.result)
    }

    /// Notes what came of a step.
    pub fn note_done(&mut self, key: &str, result: String) {
        self.ledger.steps.push(Step {
            key: key.to_owned(),
            round: self.round,
            result,
        });
    }

    /// What the next round has to know, if these are the keys that it is asked under.
    pub fn next_ledger(&self, sent: impl Fn(&str) -> bool) -> Ledger {
        let asked = |key: &str| {
            let mut asked = self.asked.iter().filter(|asked| asked.key == key);
            asked.any(|asked| asked.pending.is_some())
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

fn lines(errors: &[String]) -> String {
    let lines: Vec<_> = errors.iter().map(|error| format!("- {error}")).collect();
    lines.join("\n")
}

/// Tells the user what was wrong with the last answer.
fn explain(request: &mut InputRequest, note: &str) {
    let message = match request {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => &mut form.message,
        InputRequest::Elicit(ElicitRequestParams::Url(url)) => &mut url.message,
        _ => return,
    };
    message.push_str("\n\nThe last answer could not be used:\n");
    message.push_str(note);
}
