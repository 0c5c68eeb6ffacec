//! What a journal must do, one function per rule.

use std::{sync::Arc, time::Duration};

use super::rule::{HOUR, MINUTE, Rule, in_short, noise, present, random};
use crate::store::{Ended, Entered, Entry, Fingerprint, Holder, Journal, Moment, StepId};

/// How many at once, and how often.
const CROWD: usize = 64;
const TIMES: usize = 8;
/// How many steps expire while one must not be forgotten.
const MANY: usize = 2_000;
/// The least difference that a store can be told.
const TICK: Duration = Duration::from_millis(1);

/// Tests a [`Journal`]: what its methods promise, on a new store for every rule.
///
/// # Panics
///
/// If a rule does not hold.
pub async fn journal_contract<J: Journal, F: AsyncFn() -> J>(new: F) {
    the_first_to_enter_gets_it(&new).await;
    others_find_it_running(&new).await;
    an_entry_not_renewed_is_unknown(&new).await;
    the_same_answers_take_over(&new).await;
    other_answers_do_not_take_over(&new).await;
    its_holder_renews_an_entry(&new).await;
    a_stranger_does_not_renew(&new).await;
    a_result_is_given_again(&new).await;
    a_failed_step_is_free(&new).await;
    a_stranger_does_not_end(&new).await;
    whoever_was_overtaken_does_not_end_it(&new).await;
    whoever_is_late_still_holds_it(&new).await;
    an_entry_ends_once(&new).await;
    what_has_ended_is_not_renewed(&new).await;
    one_of_a_crowd_gets_it(&new).await;
    one_of_a_crowd_takes_over(&new).await;
    results_at_once_are_kept_apart(&new).await;
    nothing_is_forgotten_early(&new).await;
    a_later_entry_counts(&new).await;
    steps_are_independent(&new).await;
}

/// A new store, put to the test of one rule.
struct Trial<J> {
    rule: Rule,
    store: Arc<J>,
    now: Moment,
}

async fn on<J: Journal>(new: &impl AsyncFn() -> J, words: &'static str) -> Trial<J> {
    Trial {
        rule: Rule {
            contract: "journal",
            words,
        },
        store: Arc::new(new().await),
        now: present(),
    }
}

impl<J: Journal> Trial<J> {
    /// Someone's entry of a step: held for a minute, remembered for an hour.
    fn entry_of(&self, step: StepId) -> Entry {
        Entry {
            step,
            upon: Fingerprint(random()),
            holder: Holder(random()),
            now: self.now,
            lease_until: self.now.after(MINUTE),
            keep_until: self.now.after(HOUR),
            take_over: false,
        }
    }

    /// An entry of a step that nobody has begun.
    fn new_entry(&self) -> Entry {
        self.entry_of(StepId(random()))
    }

    /// Enters a step, which must be granted.
    async fn granted(&self) -> Entry {
        let entry = self.new_entry();
        self.finds("the first entry", &entry, Entered::Yours).await;
        entry
    }

    /// Enters a step and does it.
    async fn done(&self, result: &[u8]) -> Entry {
        let entry = self.granted().await;
        self.end(&entry, &entry.holder, Ended::Done(result)).await;
        entry
    }

    /// What an entry finds must be this.
    async fn finds(&self, point: &str, entry: &Entry, expected: Entered) {
        let entered = self.rule.answered(self.store.enter(entry).await);
        self.found(point, &entered, &expected);
    }

    fn found(&self, point: &str, entered: &Entered, expected: &Entered) {
        if entered != expected {
            let [entered, expected] = [entered, expected].map(described);
            let how = format!("{point}: expected {expected}, came {entered}");
            self.rule.broken(&how);
        }
    }

    /// What a stranger with other answers finds, so much after the beginning.
    async fn stranger_finds(&self, point: &str, step: StepId, after: Duration, expected: Entered) {
        let stranger = at(&self.entry_of(step), self.now.after(after));
        self.finds(point, &stranger, expected).await;
    }

    async fn renew(&self, entry: &Entry, holder: &Holder, until: Moment) {
        let renewed = self.store.renew(&entry.step, holder, until).await;
        self.rule.answered(renewed);
    }

    async fn end(&self, entry: &Entry, holder: &Holder, ended: Ended<'_>) {
        let ended = self.store.end(&entry.step, holder, ended).await;
        self.rule.answered(ended);
    }

    /// What each of many entries finds that are made at once.
    async fn crowd(&self, entries: Vec<Entry>) -> Vec<(Entry, Entered)> {
        let enter = |entry: Entry| {
            let store = Arc::clone(&self.store);
            async move {
                let entered = store.enter(&entry).await;
                (entry, entered)
            }
        };
        let found = self.rule.at_once(entries.into_iter().map(enter).collect());
        let answered = |(entry, entered)| (entry, self.rule.answered(entered));
        found.await.into_iter().map(answered).collect()
    }

    /// Enters steps and does them, all at once, which must be granted.
    async fn crowd_does(&self, steps: Vec<(Entry, Vec<u8>)>) {
        let step = |(entry, result): (Entry, Vec<u8>)| {
            let store = Arc::clone(&self.store);
            async move {
                let entered = store.enter(&entry).await;
                let ended = Ended::Done(&result);
                let ended = store.end(&entry.step, &entry.holder, ended).await;
                (entered, ended)
            }
        };
        let steps = self.rule.at_once(steps.into_iter().map(step).collect());
        for (entered, ended) in steps.await {
            let entered = self.rule.answered(entered);
            self.found("one of many", &entered, &Entered::Yours);
            self.rule.answered(ended);
        }
    }
}

/// Results may be large.
fn described(entered: &Entered) -> String {
    match entered {
        Entered::Done(upon, result) => format!("Done({upon:?}, {})", in_short(result)),
        other => format!("{other:?}"),
    }
}

/// The same entry, made at another time.
fn at(entry: &Entry, now: Moment) -> Entry {
    Entry {
        now,
        lease_until: now.after(MINUTE),
        keep_until: now.after(HOUR),
        ..entry.clone()
    }
}

/// The same step upon the same answers by someone else, after the lease, to take it over.
fn successor(entry: &Entry) -> Entry {
    let successor = Entry {
        holder: Holder(random()),
        take_over: true,
        ..entry.clone()
    };
    at(&successor, entry.lease_until.after(MINUTE))
}

async fn the_first_to_enter_gets_it<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "the first to enter a step gets it").await;
    trial.granted().await;
    let eager = Entry {
        take_over: true,
        ..trial.new_entry()
    };
    trial
        .finds("the first, ready to take over", &eager, Entered::Yours)
        .await;
}

async fn others_find_it_running<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(
        new,
        "while an entry is held, others find the step running upon the first answers",
    )
    .await;
    let first = trial.granted().await;
    let running = Entered::Running(first.upon);
    trial
        .stranger_finds("other answers", first.step, Duration::ZERO, running.clone())
        .await;
    trial.finds("the same again", &first, running.clone()).await;
    let eager = Entry {
        holder: Holder(random()),
        take_over: true,
        ..first.clone()
    };
    trial
        .finds("the same answers, to take over", &eager, running.clone())
        .await;
    let last = MINUTE - TICK;
    trial
        .stranger_finds("just before the lease is over", first.step, last, running)
        .await;
}

async fn an_entry_not_renewed_is_unknown<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(
        new,
        "what came of a step is unknown once its lease is over, and stays so until it is taken over",
    )
    .await;
    let first = trial.granted().await;
    let unknown = Entered::Unknown(first.upon);
    trial
        .stranger_finds("when it is over", first.step, MINUTE, unknown.clone())
        .await;
    let same = Entry {
        take_over: false,
        ..successor(&first)
    };
    trial
        .finds("the same answers, not to take over", &same, unknown.clone())
        .await;
    trial
        .stranger_finds("once more", first.step, 3 * MINUTE, unknown)
        .await;
}

async fn the_same_answers_take_over<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(
        new,
        "an unknown step is taken over upon the same answers, and is then held anew",
    )
    .await;
    let first = trial.granted().await;
    let second = successor(&first);
    trial
        .finds("the same answers", &second, Entered::Yours)
        .await;
    let running = Entered::Running(first.upon);
    trial
        .stranger_finds("while it is held anew", first.step, 2 * MINUTE, running)
        .await;
    let unknown = Entered::Unknown(first.upon);
    trial
        .stranger_finds("when that is over too", first.step, 10 * MINUTE, unknown)
        .await;
}

async fn other_answers_do_not_take_over<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "an unknown step is not taken over upon other answers").await;
    let first = trial.granted().await;
    let other = Entry {
        upon: Fingerprint(random()),
        ..successor(&first)
    };
    let unknown = Entered::Unknown(first.upon);
    trial.finds("other answers", &other, unknown).await;
    trial
        .finds(
            "the same answers, after that",
            &successor(&first),
            Entered::Yours,
        )
        .await;
}

async fn its_holder_renews_an_entry<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "an entry that its holder renews is held for longer").await;
    let first = trial.granted().await;
    trial
        .renew(&first, &first.holder, trial.now.after(10 * MINUTE))
        .await;
    let running = Entered::Running(first.upon);
    trial
        .stranger_finds("after the first lease", first.step, 5 * MINUTE, running)
        .await;
    let unknown = Entered::Unknown(first.upon);
    trial
        .stranger_finds("after the second lease", first.step, 11 * MINUTE, unknown)
        .await;
}

async fn a_stranger_does_not_renew<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "only its holder renews an entry").await;
    let first = trial.granted().await;
    let until = trial.now.after(10 * MINUTE);
    trial.renew(&first, &Holder(random()), until).await;
    let unknown = Entered::Unknown(first.upon);
    trial
        .stranger_finds("after the lease", first.step, 5 * MINUTE, unknown.clone())
        .await;
    // Who was overtaken is a stranger too.
    let second = successor(&first);
    trial
        .finds("the same answers", &second, Entered::Yours)
        .await;
    trial
        .renew(&first, &first.holder, trial.now.after(HOUR))
        .await;
    let point = "after the lease of the second";
    trial
        .stranger_finds(point, first.step, 10 * MINUTE, unknown)
        .await;
}

async fn a_result_is_given_again<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(
        new,
        "what came of a step that was done is given to all who come to it, with the first answers",
    )
    .await;
    let results = [
        ("a result", (0..=u8::MAX).collect()),
        ("an empty result", Vec::new()),
        ("a result of 64 KiB and a byte", noise((64 << 10) + 1)),
        ("a result of 1 MiB", noise(1 << 20)),
    ];
    for (what, result) in results {
        let first = trial.done(&result).await;
        let done = Entered::Done(first.upon, result);
        for time in ["the first time", "the second time"] {
            let point = format!("{what}, to the same answers, {time}");
            trial.finds(&point, &first, done.clone()).await;
        }
        let point = format!("{what}, to other answers");
        trial
            .stranger_finds(&point, first.step, Duration::ZERO, done.clone())
            .await;
        let point = format!("{what}, to one who would take over");
        trial.finds(&point, &successor(&first), done).await;
    }
}

async fn a_failed_step_is_free<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(
        new,
        "a step that failed is free to anyone, as if nobody had begun it",
    )
    .await;
    let first = trial.granted().await;
    trial.end(&first, &first.holder, Ended::Failed).await;
    let second = trial.entry_of(first.step);
    trial.finds("other answers", &second, Entered::Yours).await;
    let running = Entered::Running(second.upon);
    trial.finds("the first answers", &first, running).await;
    let unknown = Entered::Unknown(second.upon);
    trial
        .finds(
            "the first answers, to take over",
            &successor(&first),
            unknown,
        )
        .await;
    trial.end(&second, &second.holder, Ended::Failed).await;
    trial
        .finds("the first answers, once it is free", &first, Entered::Yours)
        .await;
    let done = Entered::Done(first.upon, b"at last".to_vec());
    trial
        .end(&first, &first.holder, Ended::Done(b"at last"))
        .await;
    trial.finds("when it is done", &second, done).await;
}

async fn a_stranger_does_not_end<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "only its holder ends an entry").await;
    for ended in [Ended::Done(b"no"), Ended::Failed] {
        let first = trial.granted().await;
        trial.end(&first, &Holder(random()), ended).await;
        let running = Entered::Running(first.upon);
        let point = format!("after a stranger's {ended:?}");
        trial
            .stranger_finds(&point, first.step, Duration::ZERO, running)
            .await;
        let nobodys = trial.new_entry();
        trial.end(&nobodys, &nobodys.holder, ended).await;
        let point = format!("a step that was never begun, after {ended:?}");
        trial.finds(&point, &nobodys, Entered::Yours).await;
    }
}

async fn whoever_was_overtaken_does_not_end_it<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(
        new,
        "an entry that was taken over is no longer its first holder's",
    )
    .await;
    for ended in [Ended::Done(b"late"), Ended::Failed] {
        let first = trial.granted().await;
        let second = successor(&first);
        trial
            .finds("the same answers", &second, Entered::Yours)
            .await;
        trial.end(&first, &first.holder, ended).await;
        let running = Entered::Running(first.upon);
        let point = format!("after the first holder's {ended:?}");
        trial
            .stranger_finds(&point, first.step, 2 * MINUTE, running)
            .await;
        trial
            .end(&second, &second.holder, Ended::Done(b"second"))
            .await;
        let done = Entered::Done(first.upon, b"second".to_vec());
        trial
            .stranger_finds("after the second holder's", first.step, 2 * MINUTE, done)
            .await;
    }
}

async fn whoever_is_late_still_holds_it<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(
        new,
        "whoever is late still renews and ends an entry that nobody took over",
    )
    .await;
    let late = trial.granted().await;
    let unknown = Entered::Unknown(late.upon);
    trial
        .stranger_finds("after the lease", late.step, 2 * MINUTE, unknown.clone())
        .await;
    let until = trial.now.after(5 * MINUTE);
    trial.renew(&late, &late.holder, until).await;
    let running = Entered::Running(late.upon);
    trial
        .stranger_finds("when it is renewed", late.step, 3 * MINUTE, running)
        .await;
    trial
        .stranger_finds("after that", late.step, 6 * MINUTE, unknown)
        .await;
    trial.end(&late, &late.holder, Ended::Done(b"late")).await;
    let done = Entered::Done(late.upon, b"late".to_vec());
    trial
        .stranger_finds("when it is done", late.step, 7 * MINUTE, done)
        .await;
}

async fn an_entry_ends_once<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "an entry that has ended does not end again").await;
    for ended in [Ended::Done(b"second"), Ended::Failed] {
        let first = trial.done(b"first").await;
        trial.end(&first, &first.holder, ended).await;
        let done = Entered::Done(first.upon, b"first".to_vec());
        let point = format!("after it was done, and {ended:?}");
        trial
            .stranger_finds(&point, first.step, Duration::ZERO, done)
            .await;
    }
    let failed = trial.granted().await;
    trial.end(&failed, &failed.holder, Ended::Failed).await;
    trial
        .end(&failed, &failed.holder, Ended::Done(b"after all"))
        .await;
    let point = "after it failed, and was done";
    trial
        .stranger_finds(point, failed.step, Duration::ZERO, Entered::Yours)
        .await;
}

async fn what_has_ended_is_not_renewed<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "an entry that has ended is not renewed").await;
    let until = trial.now.after(10 * MINUTE);
    let done = trial.done(b"done").await;
    trial.renew(&done, &done.holder, until).await;
    let found = Entered::Done(done.upon, b"done".to_vec());
    trial
        .stranger_finds("one that was done", done.step, Duration::ZERO, found)
        .await;
    let failed = trial.granted().await;
    trial.end(&failed, &failed.holder, Ended::Failed).await;
    trial.renew(&failed, &failed.holder, until).await;
    let point = "one that failed";
    trial
        .stranger_finds(point, failed.step, Duration::ZERO, Entered::Yours)
        .await;
}

async fn one_of_a_crowd_gets_it<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "of many who enter at once, one gets it").await;
    for _ in 0..TIMES {
        let step = StepId(random());
        let entries = (0..CROWD).map(|_| trial.entry_of(step)).collect();
        only_one(&trial, trial.crowd(entries).await);
    }
}

async fn one_of_a_crowd_takes_over<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "of many who take over at once, one does").await;
    for _ in 0..TIMES {
        let first = trial.granted().await;
        let entries = (0..CROWD).map(|_| successor(&first)).collect();
        only_one(&trial, trial.crowd(entries).await);
    }
}

/// One of these must have got it; the others must have found it running.
fn only_one<J: Journal>(trial: &Trial<J>, found: Vec<(Entry, Entered)>) {
    let (granted, refused): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(_, entered)| *entered == Entered::Yours);
    let [(winner, _)] = granted.as_slice() else {
        let how = format!("{} of {CROWD} got it", granted.len());
        trial.rule.broken(&how);
    };
    let running = Entered::Running(winner.upon);
    for (_, entered) in &refused {
        trial.found("one of the others", entered, &running);
    }
}

async fn results_at_once_are_kept_apart<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "results that are written at once are all kept").await;
    let step = |number| (trial.new_entry(), noise(number));
    let steps: Vec<_> = (1..=CROWD).map(step).collect();
    trial.crowd_does(steps.clone()).await;
    for (entry, result) in steps {
        let done = Entered::Done(entry.upon, result);
        trial.finds("one of them, again", &entry, done).await;
    }
}

async fn nothing_is_forgotten_early<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(
        new,
        "nothing is forgotten before its time, whatever else expires",
    )
    .await;
    let held = trial.granted().await;
    trial
        .renew(&held, &held.holder, trial.now.after(2 * HOUR))
        .await;
    let unknown = trial.granted().await;
    let small = trial.done(b"small").await;
    let large = noise(1 << 20);
    let big = trial.done(&large).await;
    // Others come and expire, and more of them come after that.
    for now in [trial.now, trial.now.after(30 * MINUTE)] {
        let short = |_| {
            let entry = Entry {
                keep_until: now.after(2 * MINUTE),
                ..at(&trial.new_entry(), now)
            };
            (entry, b"another".to_vec())
        };
        trial.crowd_does((0..MANY).map(short).collect()).await;
    }
    let expected = [
        ("a held one", &held, Entered::Running(held.upon)),
        ("an unknown one", &unknown, Entered::Unknown(unknown.upon)),
        (
            "a result",
            &small,
            Entered::Done(small.upon, b"small".to_vec()),
        ),
        ("a large result", &big, Entered::Done(big.upon, large)),
    ];
    // The last moment counts.
    for (point, entry, entered) in expected {
        trial.stranger_finds(point, entry.step, HOUR, entered).await;
    }
}

async fn a_later_entry_counts<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(
        new,
        "a step that is entered again is remembered as long as the later of both entries says",
    )
    .await;
    let until = |after| trial.now.after(after);
    let brief = || Entry {
        keep_until: until(5 * MINUTE),
        ..trial.new_entry()
    };
    let taken = brief();
    let failed = brief();
    for entry in [&taken, &failed] {
        trial.finds("the first entry", entry, Entered::Yours).await;
    }
    let longer = successor(&taken);
    trial.finds("a take-over", &longer, Entered::Yours).await;
    trial
        .end(&longer, &longer.holder, Ended::Done(b"taken"))
        .await;
    trial.end(&failed, &failed.holder, Ended::Failed).await;
    let again = trial.entry_of(failed.step);
    trial
        .finds("an entry after a failure", &again, Entered::Yours)
        .await;
    let long = trial.granted().await;
    let shorter = Entry {
        keep_until: until(5 * MINUTE),
        ..successor(&long)
    };
    trial
        .finds("a brief take-over", &shorter, Entered::Yours)
        .await;
    // So that there is something to forget by.
    for _ in 0..3 {
        let passing = at(&trial.new_entry(), until(30 * MINUTE));
        trial.finds("another step", &passing, Entered::Yours).await;
    }
    let expected = [
        (
            "taken over for longer",
            &taken,
            Entered::Done(taken.upon, b"taken".to_vec()),
        ),
        ("failed and entered", &failed, Entered::Unknown(again.upon)),
        ("taken over for less", &long, Entered::Unknown(long.upon)),
    ];
    for (point, entry, entered) in expected {
        trial
            .stranger_finds(point, entry.step, 30 * MINUTE, entered)
            .await;
    }
}

async fn steps_are_independent<J: Journal>(new: &impl AsyncFn() -> J) {
    let trial = on(new, "what happens to one step changes no other").await;
    let step = random();
    // They differ in a bit at the beginning, in one at the end, and in that they have zeros in them.
    let (mut front, mut back, mut zeros) = (step, step, step);
    front[0] ^= 0x80;
    back[15] ^= 1;
    zeros[8..].fill(0);
    let holder = Holder(random());
    let enter = |step| Entry {
        holder,
        ..trial.entry_of(StepId(step))
    };
    let [done, failed, renewed, untouched] = [step, front, back, zeros].map(enter);
    for entry in [&done, &failed, &renewed, &untouched] {
        let point = "the first entry of each";
        trial.finds(point, entry, Entered::Yours).await;
    }
    trial.end(&done, &holder, Ended::Done(b"done")).await;
    trial.end(&failed, &holder, Ended::Failed).await;
    let until = trial.now.after(10 * MINUTE);
    trial.renew(&renewed, &holder, until).await;
    let expected = [
        (
            "the one that was done",
            &done,
            Entered::Done(done.upon, b"done".to_vec()),
        ),
        ("the one that failed", &failed, Entered::Yours),
        ("the renewed one", &renewed, Entered::Running(renewed.upon)),
        (
            "the untouched one",
            &untouched,
            Entered::Unknown(untouched.upon),
        ),
    ];
    for (point, entry, entered) in expected {
        trial
            .stranger_finds(point, entry.step, 5 * MINUTE, entered)
            .await;
    }
}
