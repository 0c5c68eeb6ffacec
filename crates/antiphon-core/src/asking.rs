//! [`Asking`]: one run of a handler that asks, against what the call knows by then.
//!
//! A handler runs from its top in every round. What it asks is looked up by key and by what is
//! asked: an answer counts if that very question was pending in the state that came back, and in
//! every later round. Everything else is asked, and what is asked is pending in the next state.

use std::sync::Arc;

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
    /// If there is no answer that can be used.
    pending: Option<Pending>,
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
        self.asked[at].pending = Some(Pending {
            tries,
            drifts,
            note,
            request: Some(request),
        });
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
        if !is_key(key) {
            return Err(Unanswered::Key);
        }
        let mut steps = self.ledger.steps.iter();
        let step = steps.find(|step| *step.key == *key);
        Ok(step.map(|step| &*step.result))
    }

    /// Notes what came of a step. What is known of it already stays.
    pub fn note_done(&mut self, key: &str, result: impl Into<Arc<str>>) {
        if self.ledger.steps.iter().any(|step| *step.key == *key) {
            return;
        }
        self.ledger.steps.push(Step {
            key: key.into(),
            round: self.round,
            shared: 1,
            result: result.into(),
        });
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

fn lines(errors: &[String]) -> String {
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

#[cfg(test)]
mod tests {
    use antiphon_types::FormSchema;

    use super::*;

    const ACCEPT: &str = r#"{"action":"accept","content":{}}"#;
    const DECLINE: &str = r#"{"action":"decline"}"#;

    /// Two questions by their digests.
    const RED: Digest = [1; 16];
    const BLUE: Digest = [2; 16];

    fn form(message: &str) -> InputRequest {
        ElicitRequestParams::form(message, FormSchema::default()).into()
    }

    fn message<'a>(asking: &'a Asking, key: &str) -> &'a str {
        match asking.questions().find(|(other, _)| *other == key) {
            Some((_, InputRequest::Elicit(request))) => request.message(),
            other => panic!("{key}: {other:?}"),
        }
    }

    /// The next run, after a state that asks for all that is pending.
    fn next(asking: &Asking, answers: &[(&str, &str)]) -> Asking {
        let (ledger, round) = (asking.next_ledger(|_| true), asking.round() + 1);
        Asking::next(ledger, round, answers.iter().copied(), asking.limits)
    }

    /// Finds an answer or asks, like a handler to which all answers are good.
    fn ask(asking: &mut Asking, key: &str, digest: &Digest) -> Result<String, Unanswered> {
        if let Some(answer) = asking.find(key, digest)? {
            return Ok(answer.to_string());
        }
        Err(asking.ask(key, form("?")))
    }

    /// Finds an answer, which is not good enough, or asks.
    fn ask_in_vain(asking: &mut Asking, key: &str, digest: &Digest) -> Unanswered {
        match asking.find(key, digest).map(|answer| answer.is_some()) {
            Ok(true) => asking.ask_again(key, vec!["is too short".to_owned()], form("?")),
            Ok(false) => asking.ask(key, form("?")),
            Err(unanswered) => unanswered,
        }
    }

    /// A run in which this question was asked and answered.
    fn answered(key: &str, digest: &Digest) -> Asking {
        let mut asking = Asking::first(Limits::default());
        assert_eq!(ask(&mut asking, key, digest), Err(Unanswered::Asked));
        next(&asking, &[(key, ACCEPT)])
    }

    #[test]
    fn an_answer_is_there_in_all_later_rounds() {
        let mut asking = answered("a", &RED);
        for round in 1..5 {
            assert_eq!(asking.round(), round);
            assert_eq!(ask(&mut asking, "a", &RED).as_deref(), Ok(ACCEPT));
            assert_eq!(asking.pending().count(), 0);
            assert_eq!(asking.answered().collect::<Vec<_>>(), ["a"]);
            asking = next(&asking, &[("a", DECLINE)]);
        }
    }

    #[test]
    fn an_answer_waits_until_its_question_is_reached() {
        let asking = answered("a", &RED);
        // Another round in which it is not asked.
        let mut asking = next(&asking, &[]);
        assert_eq!(ask(&mut asking, "a", &RED).as_deref(), Ok(ACCEPT));
    }

    #[test]
    fn what_nobody_asked_is_no_answer() {
        let mut asking = Asking::first(Limits::default());
        assert_eq!(ask(&mut asking, "a", &RED), Err(Unanswered::Asked));
        let mut asking = next(&asking, &[("b", ACCEPT)]);
        assert_eq!(ask(&mut asking, "b", &RED), Err(Unanswered::Asked));
    }

    #[test]
    fn an_answer_to_something_under_the_same_key_is_none() {
        let mut asking = answered("a", &RED);
        assert_eq!(ask(&mut asking, "a", &BLUE), Err(Unanswered::Asked));
        assert_eq!(asking.answered().count(), 0);
        // And it was replaced by what was asked then.
        let mut asking = next(&asking, &[]);
        assert_eq!(ask(&mut asking, "a", &RED), Err(Unanswered::Asked));
    }

    #[test]
    fn questions_leave_together_in_their_order() {
        let mut asking = Asking::first(Limits::default());
        for key in ["b", "a", "c"] {
            assert_eq!(ask(&mut asking, key, &RED), Err(Unanswered::Asked));
        }
        let keys: Vec<_> = asking.questions().map(|(key, _)| key).collect();
        assert_eq!(keys, ["b", "a", "c"]);
        let mut asking = next(&asking, &[("a", DECLINE)]);
        assert_eq!(ask(&mut asking, "b", &RED), Err(Unanswered::Asked));
        assert_eq!(ask(&mut asking, "a", &RED).as_deref(), Ok(DECLINE));
        assert_eq!(asking.pending().collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn only_what_is_sent_is_pending() {
        let mut asking = answered("a", &RED);
        assert_eq!(ask_in_vain(&mut asking, "a", &RED), Unanswered::Asked);
        assert_eq!(ask(&mut asking, "b", &RED), Err(Unanswered::Asked));
        let ledger = asking.next_ledger(|key| key == "b");
        assert_eq!(ledger.pending().collect::<Vec<_>>(), ["b"]);
        let answers = [("a", DECLINE), ("b", DECLINE)];
        let mut asking = Asking::next(ledger, 2, answers.into_iter(), asking.limits);
        assert_eq!(ask(&mut asking, "b", &RED).as_deref(), Ok(DECLINE));
        assert_eq!(
            ask(&mut asking, "a", &RED).as_deref(),
            Ok(ACCEPT),
            "not replaced"
        );
    }

    #[test]
    fn what_is_asked_no_longer_is_pending_no_longer() {
        let mut asking = Asking::first(Limits::default());
        assert_eq!(ask(&mut asking, "a", &RED), Err(Unanswered::Asked));
        let asking = next(&asking, &[]);
        assert_eq!(asking.next_ledger(|_| true), Ledger::default());
        let mut asking = next(&asking, &[("a", ACCEPT)]);
        assert_eq!(
            ask(&mut asking, "a", &RED),
            Err(Unanswered::Asked),
            "too late"
        );
    }

    #[test]
    fn the_same_question_can_be_asked_twice_in_a_run() {
        let mut asking = Asking::first(Limits::default());
        for _ in 0..2 {
            assert_eq!(ask(&mut asking, "a", &RED), Err(Unanswered::Asked));
        }
        assert_eq!(asking.questions().count(), 1);
        let mut asking = next(&asking, &[("a", ACCEPT)]);
        for _ in 0..2 {
            assert_eq!(ask(&mut asking, "a", &RED).as_deref(), Ok(ACCEPT));
        }
    }

    #[test]
    fn a_key_for_two_questions_is_a_clash() {
        let mut asking = Asking::first(Limits::default());
        assert_eq!(ask(&mut asking, "a", &RED), Err(Unanswered::Asked));
        assert_eq!(ask(&mut asking, "a", &BLUE), Err(Unanswered::Clash));
        let mut asking = next(&asking, &[("a", ACCEPT)]);
        assert_eq!(ask(&mut asking, "a", &RED).as_deref(), Ok(ACCEPT));
        assert_eq!(
            ask(&mut asking, "a", &BLUE),
            Err(Unanswered::Clash),
            "answered too"
        );
        assert_eq!(ask(&mut asking, "b", &BLUE), Err(Unanswered::Asked));
    }

    #[test]
    fn words_that_never_settle_are_asked_three_times() {
        let mut asking = Asking::first(Limits::default());
        for words in 0..3 {
            assert_eq!(ask(&mut asking, "a", &[words; 16]), Err(Unanswered::Asked));
            asking = next(&asking, &[("a", ACCEPT)]);
        }
        assert_eq!(ask(&mut asking, "a", &[3; 16]), Err(Unanswered::Drift));
        assert_eq!(
            ask(&mut asking, "a", &[3; 16]),
            Err(Unanswered::Drift),
            "it stays so"
        );
        assert_eq!(asking.pending().count() + asking.answered().count(), 0);
        let mut asking = next(&asking, &[]);
        assert_eq!(ask(&mut asking, "a", &[2; 16]).as_deref(), Ok(ACCEPT));
    }

    #[test]
    fn words_drift_without_answers_too() {
        let mut asking = Asking::first(Limits::default());
        for words in 0..3 {
            assert_eq!(ask(&mut asking, "a", &[words; 16]), Err(Unanswered::Asked));
            asking = next(&asking, &[]);
        }
        assert_eq!(ask(&mut asking, "a", &[3; 16]), Err(Unanswered::Drift));
    }

    #[test]
    fn an_answer_that_is_not_usable_is_asked_for_three_times_more() {
        let mut asking = answered("a", &RED);
        for _ in 0..3 {
            assert_eq!(ask_in_vain(&mut asking, "a", &RED), Unanswered::Asked);
            asking = next(&asking, &[("a", ACCEPT)]);
        }
        let unusable = Unanswered::Unusable(vec!["is too short".to_owned()]);
        assert_eq!(ask_in_vain(&mut asking, "a", &RED), unusable);
        assert_eq!(asking.pending().count(), 0);
    }

    #[test]
    fn other_words_get_tries_of_their_own() {
        let mut asking = answered("a", &RED);
        assert_eq!(ask_in_vain(&mut asking, "a", &RED), Unanswered::Asked);
        let mut asking = next(&asking, &[]);
        assert_eq!(ask(&mut asking, "a", &BLUE), Err(Unanswered::Asked));
        assert_eq!(
            message(&asking, "a"),
            "?",
            "what was wrong was about others"
        );
        let ledger = asking.next_ledger(|_| true);
        assert_eq!(
            (ledger.questions[0].tries, ledger.questions[0].drifts),
            (0, 1)
        );
    }

    #[test]
    fn the_user_is_told_what_was_wrong_until_there_is_another_answer() {
        let mut asking = answered("a", &RED);
        assert_eq!(ask_in_vain(&mut asking, "a", &RED), Unanswered::Asked);
        let told = "?\n\nThe last answer could not be used:\n- is too short";
        assert_eq!(message(&asking, "a"), told);
        let mut asking = next(&asking, &[]);
        assert_eq!(ask(&mut asking, "a", &RED), Err(Unanswered::Asked));
        assert_eq!(message(&asking, "a"), told);
        let ledger = asking.next_ledger(|_| true);
        assert_eq!(
            ledger.questions[0].tries, 1,
            "a round without an answer is no try"
        );
        let mut asking = next(&asking, &[("a", ACCEPT)]);
        assert!(asking.find("a", &RED).is_ok_and(|answer| answer.is_some()));
        let errors = vec!["is odd".to_owned(), "is old".to_owned()];
        assert_eq!(asking.ask_again("a", errors, form("?")), Unanswered::Asked);
        let told = "?\n\nThe last answer could not be used:\n- is odd\n- is old";
        assert_eq!(message(&asking, "a"), told);
    }

    #[test]
    fn an_answer_that_is_too_large_is_not_kept() {
        let limits = Limits {
            answer_bytes: DECLINE.len(),
            ..Limits::default()
        };
        let mut asking = Asking::first(limits);
        for key in ["a", "b"] {
            assert_eq!(ask(&mut asking, key, &RED), Err(Unanswered::Asked));
        }
        let large = format!("{DECLINE} ");
        let mut asking = next(&asking, &[("a", DECLINE), ("b", &large)]);
        assert_eq!(ask(&mut asking, "a", &RED).as_deref(), Ok(DECLINE));
        let instead = r#""has more than 20 bytes""#;
        assert_eq!(ask(&mut asking, "b", &RED).as_deref(), Ok(instead));
    }

    #[test]
    fn there_are_so_many_questions_in_a_round_and_others_come_in_the_next() {
        let limits = Limits {
            questions: 2,
            ..Limits::default()
        };
        let mut asking = Asking::first(limits);
        for key in ["a", "b", "a", "b"] {
            assert_eq!(ask(&mut asking, key, &RED), Err(Unanswered::Asked));
        }
        assert_eq!(
            asking.ask("b", form("?")),
            Unanswered::Asked,
            "at the same time"
        );
        assert_eq!(ask(&mut asking, "c", &RED), Err(Unanswered::Postponed));
        assert_eq!(asking.pending().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(asking.answered().count(), 0);
        // What is answered does not count.
        let mut asking = next(&asking, &[("a", ACCEPT), ("b", ACCEPT)]);
        for (key, asked) in [("a", false), ("b", false), ("c", true), ("d", true)] {
            assert_eq!(ask(&mut asking, key, &RED).is_err(), asked, "{key}");
        }
        assert_eq!(ask(&mut asking, "e", &RED), Err(Unanswered::Postponed));
    }

    #[test]
    fn keys_have_1_to_255_bytes() {
        let mut asking = Asking::first(Limits::default());
        let (longest, longer) = ("k".repeat(255), "é".repeat(128));
        for key in ["k", &longest] {
            assert_eq!(ask(&mut asking, key, &RED), Err(Unanswered::Asked));
            assert_eq!(asking.done(key), Ok(None));
        }
        for key in ["", &longer] {
            assert_eq!(ask(&mut asking, key, &RED), Err(Unanswered::Key));
            assert_eq!(asking.done(key), Err(Unanswered::Key));
        }
        assert_eq!(asking.ask("never looked for", form("?")), Unanswered::Key);
        assert_eq!(asking.pending().count(), 2);
        let ledger = asking.next_ledger(|_| true);
        ledger.write(&mut Vec::new()).expect("all can be written");
    }

    #[test]
    fn what_came_of_a_step_stays() {
        let mut asking = Asking::first(Limits::default());
        assert_eq!(asking.done("charge"), Ok(None));
        asking.note_done("charge", "1".to_owned());
        assert!(asking.has_done());
        asking.note_done("charge", "2".to_owned());
        for _ in 0..3 {
            assert_eq!(asking.done("charge"), Ok(Some("1")));
            asking = next(&asking, &[]);
            asking.note_done("charge", "3".to_owned());
            assert!(!asking.has_done(), "in this run");
            assert_eq!(asking.next_ledger(|_| true).steps.len(), 1);
        }
    }

    #[test]
    fn an_answer_that_something_was_done_upon_must_not_change() {
        // In the round that brought the answer, and in a later one.
        for rounds in [0, 2] {
            let mut asking = answered("a", &RED);
            for _ in 0..rounds {
                asking = next(&asking, &[]);
            }
            asking.note_done("charge", "1".to_owned());
            let mut asking = next(&asking, &[]);
            assert_eq!(ask(&mut asking, "a", &BLUE), Err(Unanswered::Changed));
            let mut asking = next(&asking, &[]);
            assert_eq!(ask_in_vain(&mut asking, "a", &RED), Unanswered::Changed);
            let mut asking = next(&asking, &[]);
            assert_eq!(
                ask(&mut asking, "a", &RED).as_deref(),
                Ok(ACCEPT),
                "not replaced"
            );
        }
    }

    #[test]
    fn what_was_done_before_an_answer_came_does_not_matter() {
        let mut asking = Asking::first(Limits::default());
        asking.note_done("draft", "1".to_owned());
        assert_eq!(ask(&mut asking, "a", &RED), Err(Unanswered::Asked));
        let mut asking = next(&asking, &[("a", ACCEPT)]);
        assert_eq!(ask_in_vain(&mut asking, "a", &RED), Unanswered::Asked);
        // Nor what is done in the very run that finds out.
        let mut asking = next(&asking, &[("a", ACCEPT)]);
        asking.note_done("other", "1".to_owned());
        assert_eq!(ask(&mut asking, "a", &BLUE), Err(Unanswered::Asked));
    }

    #[test]
    fn what_was_done_upon_an_answer_is_known_after_the_last_round_that_is_counted() {
        let mut asking = answered("a", &RED);
        let ledger = |asking: &Asking| asking.next_ledger(|_| true);
        let last = |ledger, answers: &[(&'static str, &'static str)]| {
            Asking::next(ledger, u16::MAX, answers.iter().copied(), Limits::default())
        };
        assert_eq!(ask(&mut asking, "b", &RED), Err(Unanswered::Asked));
        let mut asking = last(ledger(&asking), &[("b", ACCEPT)]);
        asking.note_done("charge", "1".to_owned());
        let mut asking = last(ledger(&asking), &[]);
        assert_eq!(ask(&mut asking, "b", &BLUE), Err(Unanswered::Changed));
    }
}
