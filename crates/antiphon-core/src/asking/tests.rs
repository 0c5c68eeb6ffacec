//! A test for each rule of asking.

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

/// What an earlier attempt did is there for as many as shared it then, and for no more.
#[test]
fn a_step_that_was_known_before_is_shared_as_one_of_the_state() {
    let mut asking = answered("a", &RED);
    asking.note_done("own", "1");
    asking.note_known("known", 2, "7");
    asking.note_known("known", 9, "8");
    assert_eq!(asking.done("known"), Ok(Some("7")));
    assert!(asking.may_share("known", 2, false));
    assert!(!asking.may_share("known", 3, false));
    assert!(!asking.may_share("own", 2, false));
    assert!(asking.has_done(), "`own` was done in this run");
    let next = next(&asking, &[]);
    assert_eq!(next.done("known"), Ok(Some("7")));
    assert_eq!(next.done("own"), Ok(Some("1")));
    // An answer that it may have depended on can change no more.
    let mut next = next;
    assert_eq!(next.find("a", &BLUE), Err(Unanswered::Changed));
}
