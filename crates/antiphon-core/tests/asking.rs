//! Handlers that ask and clients that answer, whatever they do: what `Asking` says is what follows
//! from what was sent and what came back, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_core::{
    asking::{Asking, Limits, Unanswered},
    ledger::{Body, LONGEST_KEY, Ledger},
    seal::digest::Digest,
};
use antiphon_types::{ElicitRequestParams, InputRequest};
use proptest::{
    bits::u8::ANY as ANY_BITS,
    collection::vec,
    option::weighted,
    prelude::*,
    strategy::ValueTree,
    test_runner::{TestCaseError, TestRunner},
};

/// How many rounds are played.
const ROUNDS: u16 = 9;

fn limits() -> impl Strategy<Value = Limits> {
    (1..4usize, 0..3u8).prop_map(|(questions, tries)| {
        let mut limits = Limits::default();
        (limits.questions, limits.tries, limits.answer_bytes) = (questions, tries, 60);
        limits
    })
}

/// A key, by its number.
fn key(number: u8) -> String {
    match number {
        0..4 => char::from(b'a' + number).to_string(),
        4 => "k".repeat(LONGEST_KEY),
        5 => "k".repeat(LONGEST_KEY + 1),
        _ => String::new(),
    }
}

fn keys() -> impl Strategy<Value = u8> {
    prop_oneof![30 => 0u8..4, 3 => Just(4u8), 1 => 5u8..7]
}

/// A handler: groups of what it does before it looks whether there are answers.
#[derive(Debug, Clone)]
struct Handler {
    groups: Vec<Vec<Op>>,
    /// Whether it goes on when something cannot be asked.
    stubborn: bool,
}

#[derive(Debug, Clone)]
struct Op {
    key: u8,
    what: What,
    /// The rounds in which the world is such that it is not done, a bit each.
    left_out: u8,
}

#[derive(Debug, Clone)]
enum What {
    /// Asks in these words, one for each round; the last for all others.
    Ask(Vec<u8>),
    /// Asks in words that have the round in them.
    AskTheTime,
    Once,
}

impl Op {
    fn words(&self, round: u16) -> Option<u8> {
        match &self.what {
            What::Ask(words) => Some(words[usize::from(round).min(words.len() - 1)]),
            What::AskTheTime => Some(100 + u8::try_from(round).expect("few rounds")),
            What::Once => None,
        }
    }

    fn is_left_out(&self, round: u16) -> bool {
        self.left_out & (1 << (round % 8)) != 0
    }
}

fn handlers() -> impl Strategy<Value = Handler> {
    let what = prop_oneof![
        10 => (0u8..3).prop_map(|words| What::Ask(vec![words])),
        3 => vec(0u8..3, 2..6).prop_map(What::Ask),
        2 => Just(What::AskTheTime),
        4 => Just(What::Once),
    ];
    let left_out = weighted(0.2, ANY_BITS).prop_map(Option::unwrap_or_default);
    let op = (keys(), what, left_out).prop_map(|(key, what, left_out)| Op {
        key,
        what,
        left_out,
    });
    let groups = vec(vec(op, 1..4), 1..5);
    (groups, any::<bool>()).prop_map(|(groups, stubborn)| Handler { groups, stubborn })
}

/// What a client does with a question.
#[derive(Debug, Clone)]
enum Reaction {
    Accept(u8),
    Decline,
    Garbage(u8),
    TooLarge,
    Skip,
}

impl Reaction {
    fn text(&self) -> Option<String> {
        match self {
            Self::Accept(what) => Some(format!(r#"{{"action":"accept","content":{what}}}"#)),
            Self::Decline => Some(r#"{"action":"decline"}"#.to_owned()),
            Self::Garbage(what) => Some(format!("[{what}]")),
            Self::TooLarge => Some(format!(r#"{{"action":"accept","content":"{:99}"}}"#, 1)),
            Self::Skip => None,
        }
    }
}

fn reactions() -> impl Strategy<Value = Reaction> {
    prop_oneof![
        4 => any::<u8>().prop_map(Reaction::Accept),
        1 => Just(Reaction::Decline),
        4 => any::<u8>().prop_map(Reaction::Garbage),
        1 => Just(Reaction::TooLarge),
        2 => Just(Reaction::Skip),
    ]
}

/// A round on its way to the client and back.
#[derive(Debug, Clone)]
struct Trip {
    /// What the client does with one question after the other.
    reactions: Vec<Reaction>,
    /// What it answers besides, by key.
    unasked: Vec<(u8, Reaction)>,
    /// A question that is taken out before it is sent, if there are so many.
    taken_out: Option<usize>,
}

fn trips() -> impl Strategy<Value = Vec<Trip>> {
    let trip = (
        vec(reactions(), 4),
        vec((keys(), reactions()), 0..3),
        weighted(0.1, 0..3usize),
    );
    let trip = trip.prop_map(|(reactions, unasked, taken_out)| Trip {
        reactions,
        unasked,
        taken_out,
    });
    vec(trip, usize::from(ROUNDS))
}

fn digest(words: u8) -> Digest {
    [words; 16]
}

/// Whether a handler can use an answer.
fn is_usable(answer: &str) -> bool {
    answer.starts_with('{')
}

fn errors(answer: &str) -> Vec<String> {
    vec![format!("is {answer}"), "is bad".to_owned()]
}

/// Everything that was sent and came back: what `Asking` may know.
#[derive(Default)]
struct History {
    sent: BTreeMap<String, Vec<Sent>>,
    done: BTreeMap<String, (u16, String)>,
}

/// A question that was sent.
struct Sent {
    /// By the run after so many rounds. An answer comes in the next.
    run: u16,
    digest: Digest,
    answer: Option<String>,
}

impl History {
    /// All that is remembered under a key: a question that neither came back with an answer nor
    /// was sent again at once is forgotten, and what was before it.
    fn remembered(&self, key: &str, run: u16) -> &[Sent] {
        let all = self.sent.get(key).map_or(&[][..], Vec::as_slice);
        let (mut from, mut next) = (all.len(), run);
        while let Some(sent) = from.checked_sub(1).map(|at| &all[at]) {
            if sent.answer.is_none() && sent.run + 1 != next {
                break;
            }
            (from, next) = (from - 1, sent.run);
        }
        &all[from..]
    }

    /// How often it was sent in other words than before.
    fn drifts(&self, key: &str, run: u16) -> usize {
        let pairs = self.remembered(key, run).windows(2);
        pairs
            .filter(|pair| pair[0].digest != pair[1].digest)
            .count()
    }

    /// The answers to these words that were not usable: those after which they were sent again.
    fn wasted<'a>(
        &'a self,
        key: &str,
        digest: Digest,
        run: u16,
    ) -> impl DoubleEndedIterator<Item = &'a str> {
        let all = self.remembered(key, run);
        let other = all.iter().rposition(|sent| sent.digest != digest);
        let same = &all[other.map_or(0, |at| at + 1)..];
        let (_, before) = same.split_last().unzip();
        let before: &[Sent] = before.unwrap_or_default();
        before.iter().filter_map(|sent| sent.answer.as_deref())
    }

    /// Whether something was done after the last answer under a key came, or at that time.
    fn is_built_upon(&self, key: &str, run: u16) -> bool {
        let last = self.remembered(key, run).last();
        last.filter(|sent| sent.answer.is_some())
            .is_some_and(|sent| {
                let came = sent.run + 1;
                came < run && self.done.values().any(|(round, _)| *round >= came)
            })
    }
}

/// One run of a handler.
struct Run<'a> {
    history: &'a mut History,
    asking: Asking,
    limits: Limits,
    round: u16,
    /// What was looked for, and whether it was asked.
    looked_for: BTreeMap<String, (Digest, bool)>,
    /// What was asked, in order, and how it must be worded.
    asked: Vec<(String, Digest, String)>,
    answered: BTreeSet<String>,
    seen: &'a mut BTreeSet<&'static str>,
}

/// How an operation ended.
enum Ended {
    Well,
    Asked,
    Badly,
}

impl Run<'_> {
    /// What must come of looking for an answer: the answer, if there is one.
    fn expected(&self, key: &str, digest: Digest) -> Result<Option<String>, Unanswered> {
        match self.looked_for.get(key) {
            Some((other, _)) if *other != digest => return Err(Unanswered::Clash),
            Some((_, true)) => return Err(Unanswered::Asked),
            Some(_) => {}
            None if key.is_empty() || key.len() > 255 => return Err(Unanswered::Key),
            None => {}
        }
        let Some(last) = self.history.remembered(key, self.round).last() else {
            return Ok(None);
        };
        if last.digest == digest {
            return Ok(last.answer.clone());
        }
        if self.history.is_built_upon(key, self.round) {
            return Err(Unanswered::Changed);
        }
        match self.history.drifts(key, self.round) < 2 {
            true => Ok(None),
            false => Err(Unanswered::Drift),
        }
    }

    fn ask(&mut self, key: &str, words: u8) -> Result<Ended, TestCaseError> {
        let digest = digest(words);
        let expected = self.expected(key, digest);
        let found = self.asking.find(key, &digest);
        let found = found.map(|answer| answer.map(|answer| answer.to_string()));
        prop_assert_eq!(&found, &expected, "{} in the words {}", key, words);
        let answer = match found {
            Ok(answer) => answer,
            Err(why) => {
                self.seen(&why);
                // Who has looked for it once may not look for something else.
                if why != Unanswered::Key {
                    self.looked_for
                        .entry(key.to_owned())
                        .or_insert((digest, false));
                }
                return Ok(match why {
                    Unanswered::Asked => Ended::Asked,
                    _ => Ended::Badly,
                });
            }
        };
        self.looked_for.insert(key.to_owned(), (digest, false));
        if answer.is_some() {
            self.answered.insert(key.to_owned());
        }
        let told = self.history.wasted(key, digest, self.round);
        let mut told: Vec<_> = told.map(str::to_owned).collect();
        let (made, expected) = match &answer {
            Some(answer) if is_usable(answer) => {
                self.seen.insert("answer");
                return Ok(Ended::Well);
            }
            Some(answer) => {
                let built_upon = self.history.is_built_upon(key, self.round);
                let used_up = told.len() >= usize::from(self.limits.tries);
                told.push(answer.clone());
                let full = self.asked.len() >= self.limits.questions;
                let expected = match () {
                    () if built_upon => Unanswered::Changed,
                    () if used_up => Unanswered::Unusable(errors(answer)),
                    () if full => Unanswered::Postponed,
                    () => Unanswered::Asked,
                };
                let request = request(words);
                let made = self.asking.ask_again(key, errors(answer), request);
                (made, expected)
            }
            None => {
                let expected = match self.asked.len() < self.limits.questions {
                    true => Unanswered::Asked,
                    false => Unanswered::Postponed,
                };
                (self.asking.ask(key, request(words)), expected)
            }
        };
        prop_assert_eq!(&made, &expected, "{} in the words {}", key, words);
        self.seen(&made);
        match made {
            Unanswered::Asked => {}
            Unanswered::Postponed => return Ok(Ended::Asked),
            _ => return Ok(Ended::Badly),
        }
        let note = told.last().map_or_else(String::new, |answer| {
            let errors = errors(answer).join("\n- ");
            format!("\n\nIt does not go on yet:\n- {errors}")
        });
        let message = format!("{words}?{note}");
        self.answered.remove(key);
        self.looked_for.insert(key.to_owned(), (digest, true));
        self.asked.push((key.to_owned(), digest, message));
        Ok(Ended::Asked)
    }

    fn once(&mut self, key: &str) -> Result<Ended, TestCaseError> {
        if key.is_empty() || key.len() > 255 {
            prop_assert_eq!(self.asking.done(key), Err(Unanswered::Key));
            return Ok(Ended::Badly);
        }
        let known = self.history.done.get(key).map(|(_, result)| &**result);
        prop_assert_eq!(self.asking.done(key), Ok(known));
        self.seen.insert(match known {
            Some(_) => "done before",
            None => "done",
        });
        let result = format!("[{},{}]", self.round, self.history.done.len());
        self.asking.note_done(key, result.clone());
        let done = self.history.done.entry(key.to_owned());
        let (_, result) = done.or_insert((self.round, result));
        prop_assert_eq!(self.asking.done(key), Ok(Some(&**result)));
        Ok(Ended::Well)
    }

    fn seen(&mut self, why: &Unanswered) {
        self.seen.insert(match why {
            Unanswered::Asked => "asked",
            Unanswered::Clash => "clash",
            Unanswered::Drift => "drift",
            Unanswered::Unusable(_) => "unusable",
            Unanswered::Changed => "changed",
            Unanswered::Postponed => "postponed",
            Unanswered::Key => "key",
            _ => "new",
        });
    }

    /// Runs a handler; whether the call can go on.
    fn handle(&mut self, handler: &Handler) -> Result<bool, TestCaseError> {
        let round = self.round;
        for group in &handler.groups {
            let mut waits = false;
            for op in group.iter().filter(|op| !op.is_left_out(round)) {
                let key = key(op.key);
                let ended = match op.words(round) {
                    Some(words) => self.ask(&key, words)?,
                    None => self.once(&key)?,
                };
                match ended {
                    Ended::Well => {}
                    Ended::Asked => waits = true,
                    Ended::Badly if handler.stubborn => {}
                    Ended::Badly => return Ok(false),
                }
            }
            if waits {
                break;
            }
        }
        Ok(true)
    }

    /// What is told of a run is what happened in it.
    fn check(&self) -> Result<(), TestCaseError> {
        let asked: Vec<_> = self.asked.iter().map(|(key, ..)| &**key).collect();
        prop_assert_eq!(self.asking.pending().collect::<Vec<_>>(), &asked[..]);
        let sent: Vec<_> = self
            .asking
            .questions()
            .map(|(key, request)| (key, message(request)))
            .collect();
        let worded = self.asked.iter();
        let worded: Vec<_> = worded.map(|(key, _, text)| (&**key, &**text)).collect();
        prop_assert_eq!(sent, worded);
        let answered: BTreeSet<_> = self.asking.answered().map(str::to_owned).collect();
        prop_assert_eq!(&answered, &self.answered);
        prop_assert_eq!(self.asking.round(), self.round);
        Ok(())
    }

    /// The ledger that goes out, and what is pending in it.
    fn end(self, taken_out: Option<usize>) -> Result<Ledger, TestCaseError> {
        let taken_out = taken_out.and_then(|at| self.asked.get(at));
        let taken_out = taken_out.map(|(key, ..)| key.clone());
        let is_sent = |key: &str| taken_out.as_deref() != Some(key);
        let ledger = self.asking.next_ledger(is_sent);
        let asked = self.asked.into_iter().filter(|(key, ..)| is_sent(key));
        let asked: Vec<_> = asked.map(|(key, digest, _)| (key, digest)).collect();
        let keys: Vec<_> = asked.iter().map(|(key, _)| &**key).collect();
        prop_assert_eq!(ledger.pending().collect::<Vec<_>>(), keys);
        for (key, digest) in asked {
            self.history.sent.entry(key).or_default().push(Sent {
                run: self.round,
                digest,
                answer: None,
            });
        }
        Ok(ledger)
    }
}

fn request(words: u8) -> InputRequest {
    ElicitRequestParams::url(format!("{words}?"), "https://shop.example/").into()
}

fn message(request: &InputRequest) -> &str {
    match request {
        InputRequest::Elicit(request) => request.message(),
        other => panic!("{other:?} was never asked"),
    }
}

/// Written and read, as sealed states carry it.
fn carried(ledger: &Ledger) -> Result<Ledger, TestCaseError> {
    let mut bytes = Vec::new();
    prop_assert_eq!(ledger.write(&mut bytes), Ok(()));
    match Body::read(&bytes) {
        Ok(Body::Ledger(again)) => {
            prop_assert_eq!(&again, ledger);
            Ok(again)
        }
        other => Err(TestCaseError::fail(format!("{other:?} was read"))),
    }
}

/// The client answers what is pending, and other things; what counts is noted.
fn react(
    history: &mut History,
    ledger: &Ledger,
    trip: &Trip,
    limits: Limits,
) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for (key, reaction) in &trip.unasked {
        let key = self::key(*key);
        if let (false, Some(text)) = (ledger.asks(&key), reaction.text()) {
            answers.push((key, text));
        }
    }
    for (key, reaction) in ledger.pending().zip(&trip.reactions) {
        let Some(text) = reaction.text() else {
            continue;
        };
        let sent = history.sent.get_mut(key).and_then(|all| all.last_mut());
        sent.expect("pending is what was sent").answer = Some(match text.len() {
            length if length > limits.answer_bytes => "\"has more than 60 bytes\"".to_owned(),
            _ => text.clone(),
        });
        answers.push((key.to_owned(), text));
    }
    answers
}

/// Plays a call; what was seen in it.
fn play(
    handler: &Handler,
    trips: &[Trip],
    limits: Limits,
    seen: &mut BTreeSet<&'static str>,
) -> Result<(), TestCaseError> {
    let mut history = History::default();
    let mut asking = Asking::first(limits);
    for (round, trip) in (0..).zip(trips) {
        // Also what no handler asks for is there in every round.
        for (key, (_, result)) in &history.done {
            prop_assert_eq!(asking.done(key), Ok(Some(&**result)));
        }
        let mut run = Run {
            history: &mut history,
            asking,
            limits,
            round,
            looked_for: BTreeMap::new(),
            asked: Vec::new(),
            answered: BTreeSet::new(),
            seen,
        };
        let goes_on = run.handle(handler)?;
        run.check()?;
        if !goes_on {
            return Ok(());
        }
        let ledger = carried(&run.end(trip.taken_out)?)?;
        let answers = react(&mut history, &ledger, trip, limits);
        let answers = answers.iter().map(|(key, text)| (&**key, &**text));
        asking = Asking::next(ledger, round + 1, answers, limits);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_known_follows_from_what_was_sent_and_came_back(
        handler in handlers(),
        trips in trips(),
        limits in limits(),
    ) {
        play(&handler, &trips, limits, &mut BTreeSet::new())?;
    }
}

/// The calls above are not all alike.
#[test]
fn everything_that_can_happen_does() {
    let mut runner = TestRunner::deterministic();
    let calls = (handlers(), trips(), limits());
    let mut seen = BTreeSet::new();
    for _ in 0..500 {
        let call = calls.new_tree(&mut runner).expect("a call");
        let (handler, trips, limits) = call.current();
        play(&handler, &trips, limits, &mut seen).expect("as it follows");
    }
    let all = [
        "answer",
        "asked",
        "changed",
        "clash",
        "done",
        "done before",
        "drift",
        "key",
        "postponed",
        "unusable",
    ];
    assert_eq!(seen, BTreeSet::from(all));
}
