//! What a guard must do, one function per rule.

use std::{sync::Arc, time::Duration};

use super::rule::{HOUR, MINUTE, Rule, present, random};
use crate::store::{Claim, Ending, Fingerprint, Guard, Holder, Moment, Standing, StateId};

/// How many at once, and how often.
const CROWD: usize = 64;
const TIMES: usize = 8;
/// How many states expire while one must not be forgotten.
const MANY: usize = 2_000;

/// Tests a [`Guard`]: what its methods promise, on a new store for every rule.
///
/// # Panics
///
/// If a rule does not hold.
pub async fn guard_contract<G: Guard, F: AsyncFn() -> G>(new: F) {
    the_first_claim_is_granted(&new).await;
    others_find_it_running(&new).await;
    a_claim_not_renewed_is_lost(&new).await;
    the_same_answers_take_over(&new).await;
    other_answers_do_not_take_over(&new).await;
    its_holder_renews_a_claim(&new).await;
    a_stranger_does_not_renew(&new).await;
    an_answer_is_given_again(&new).await;
    a_used_state_is_done(&new).await;
    a_released_state_is_free(&new).await;
    a_stranger_does_not_end(&new).await;
    whoever_lost_a_claim_does_not_end_it(&new).await;
    a_claim_ends_once(&new).await;
    what_has_ended_is_not_renewed(&new).await;
    one_of_a_crowd_gets_it(&new).await;
    one_of_a_crowd_takes_over(&new).await;
    nothing_is_forgotten_early(&new).await;
    a_later_claim_counts(&new).await;
    states_are_independent(&new).await;
}

/// A new store, put to the test of one rule.
struct Trial<G> {
    rule: Rule,
    store: Arc<G>,
    now: Moment,
}

async fn on<G: Guard>(new: &impl AsyncFn() -> G, words: &'static str) -> Trial<G> {
    Trial {
        rule: Rule {
            contract: "guard",
            words,
        },
        store: Arc::new(new().await),
        now: present(),
    }
}

impl<G: Guard> Trial<G> {
    /// Someone's claim on a state: held for a minute, remembered for an hour.
    fn claim_on(&self, id: StateId) -> Claim {
        Claim {
            id,
            answers: Fingerprint(random()),
            holder: Holder(random()),
            now: self.now,
            lease_until: self.now.after(MINUTE),
            keep_until: self.now.after(HOUR),
            take_over: false,
        }
    }

    /// A claim on a state that nobody has claimed.
    fn new_claim(&self) -> Claim {
        self.claim_on(StateId(random()))
    }

    /// Makes a claim, which must be granted.
    async fn granted(&self) -> Claim {
        let claim = self.new_claim();
        self.finds("the first claim", &claim, Standing::Yours).await;
        claim
    }

    /// What a claim finds must be this.
    async fn finds(&self, point: &str, claim: &Claim, expected: Standing) {
        let standing = self.rule.answered(self.store.claim(claim).await);
        self.rule.expect(point, &standing, &expected);
    }

    /// What a stranger with other answers finds, so much after the beginning.
    async fn stranger_finds(&self, point: &str, id: StateId, after: Duration, expected: Standing) {
        let stranger = at(&self.claim_on(id), self.now.after(after));
        self.finds(point, &stranger, expected).await;
    }

    async fn renew(&self, claim: &Claim, holder: &Holder, until: Moment) {
        let renewed = self.store.renew(&claim.id, holder, until).await;
        self.rule.answered(renewed);
    }

    async fn end(&self, claim: &Claim, holder: &Holder, ending: Ending<'_>) {
        let ended = self.store.end(&claim.id, holder, ending).await;
        self.rule.answered(ended);
    }

    /// What each of many claims finds that are made at once.
    async fn crowd(&self, claims: Vec<Claim>) -> Vec<(Claim, Standing)> {
        let claim = |claim: Claim| {
            let store = Arc::clone(&self.store);
            async move {
                let standing = store.claim(&claim).await;
                (claim, standing)
            }
        };
        let found = self.rule.at_once(claims.into_iter().map(claim).collect());
        let answered = |(claim, standing)| (claim, self.rule.answered(standing));
        found.await.into_iter().map(answered).collect()
    }
}

/// The same claim, made at another time.
fn at(claim: &Claim, now: Moment) -> Claim {
    Claim {
        now,
        lease_until: now.after(MINUTE),
        keep_until: now.after(HOUR),
        ..claim.clone()
    }
}

/// The same state with the same answers by someone else, after the lease, to take it over.
fn successor(claim: &Claim) -> Claim {
    let successor = Claim {
        holder: Holder(random()),
        take_over: true,
        ..claim.clone()
    };
    at(&successor, claim.lease_until.after(MINUTE))
}

async fn the_first_claim_is_granted<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(new, "the first to claim a state gets it").await;
    trial.granted().await;
    let eager = Claim {
        take_over: true,
        ..trial.new_claim()
    };
    trial
        .finds("the first, ready to take over", &eager, Standing::Yours)
        .await;
}

async fn others_find_it_running<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(
        new,
        "while a claim is held, others find the state running with the first answers",
    )
    .await;
    let first = trial.granted().await;
    let running = Standing::Running(first.answers);
    trial
        .stranger_finds("other answers", first.id, Duration::ZERO, running.clone())
        .await;
    trial.finds("the same again", &first, running.clone()).await;
    let eager = Claim {
        holder: Holder(random()),
        take_over: true,
        ..first.clone()
    };
    trial
        .finds("the same answers, to take over", &eager, running.clone())
        .await;
    let almost = MINUTE - Duration::from_secs(1);
    trial
        .stranger_finds("just before the lease is over", first.id, almost, running)
        .await;
}

async fn a_claim_not_renewed_is_lost<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(
        new,
        "a claim is lost once its lease is over, and stays so until it is taken over",
    )
    .await;
    let first = trial.granted().await;
    let lost = Standing::Lost(first.answers);
    trial
        .stranger_finds("after the lease", first.id, 2 * MINUTE, lost.clone())
        .await;
    let same = Claim {
        take_over: false,
        ..successor(&first)
    };
    trial
        .finds("the same answers, not to take over", &same, lost.clone())
        .await;
    trial
        .stranger_finds("once more", first.id, 3 * MINUTE, lost)
        .await;
}

async fn the_same_answers_take_over<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(
        new,
        "a lost claim is taken over with the same answers, and is then held anew",
    )
    .await;
    let first = trial.granted().await;
    let second = successor(&first);
    trial
        .finds("the same answers", &second, Standing::Yours)
        .await;
    let running = Standing::Running(first.answers);
    trial
        .stranger_finds("while it is held anew", first.id, 2 * MINUTE, running)
        .await;
    let lost = Standing::Lost(first.answers);
    trial
        .stranger_finds("when it is lost anew", first.id, 10 * MINUTE, lost)
        .await;
}

async fn other_answers_do_not_take_over<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(new, "a lost claim is not taken over with other answers").await;
    let first = trial.granted().await;
    let other = Claim {
        answers: Fingerprint(random()),
        ..successor(&first)
    };
    let lost = Standing::Lost(first.answers);
    trial.finds("other answers", &other, lost).await;
    trial
        .finds(
            "the same answers, after that",
            &successor(&first),
            Standing::Yours,
        )
        .await;
}

async fn its_holder_renews_a_claim<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(new, "a claim that its holder renews is held for longer").await;
    let first = trial.granted().await;
    trial
        .renew(&first, &first.holder, trial.now.after(10 * MINUTE))
        .await;
    let running = Standing::Running(first.answers);
    trial
        .stranger_finds("after the first lease", first.id, 5 * MINUTE, running)
        .await;
    let lost = Standing::Lost(first.answers);
    trial
        .stranger_finds("after the second lease", first.id, 11 * MINUTE, lost)
        .await;
}

async fn a_stranger_does_not_renew<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(new, "only its holder renews a claim").await;
    let first = trial.granted().await;
    let until = trial.now.after(10 * MINUTE);
    trial.renew(&first, &Holder(random()), until).await;
    let lost = Standing::Lost(first.answers);
    trial
        .stranger_finds("after the lease", first.id, 5 * MINUTE, lost)
        .await;
    // Who was overtaken is a stranger too.
    let second = successor(&first);
    trial
        .finds("the same answers", &second, Standing::Yours)
        .await;
    trial
        .renew(&first, &first.holder, trial.now.after(HOUR))
        .await;
    let lost = Standing::Lost(first.answers);
    trial
        .stranger_finds("after the lease of the second", first.id, 10 * MINUTE, lost)
        .await;
}

async fn an_answer_is_given_again<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(
        new,
        "a state that was answered is done, with the first answers and what was answered",
    )
    .await;
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    for (what, answer) in [
        ("an answer", every_byte.as_slice()),
        ("an empty answer", b""),
    ] {
        let first = trial.granted().await;
        trial
            .end(&first, &first.holder, Ending::Answered(answer))
            .await;
        let done = Standing::Done(first.answers, Some(answer.to_vec()));
        trial
            .finds(
                &format!("{what}, to the same answers"),
                &first,
                done.clone(),
            )
            .await;
        let point = format!("{what}, to other answers");
        trial
            .stranger_finds(&point, first.id, Duration::ZERO, done.clone())
            .await;
        let point = format!("{what}, to one who would take over");
        trial.finds(&point, &successor(&first), done).await;
    }
}

async fn a_used_state_is_done<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(
        new,
        "a state that was used is done, with the first answers and nothing else",
    )
    .await;
    let first = trial.granted().await;
    trial.end(&first, &first.holder, Ending::Used).await;
    let done = Standing::Done(first.answers, None);
    trial.finds("the same answers", &first, done.clone()).await;
    trial
        .stranger_finds("other answers", first.id, Duration::ZERO, done.clone())
        .await;
    trial
        .finds("one who would take over", &successor(&first), done)
        .await;
}

async fn a_released_state_is_free<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(
        new,
        "a state that was released is free to the same answers, and to no others",
    )
    .await;
    let first = trial.granted().await;
    trial.end(&first, &first.holder, Ending::Released).await;
    let done = Standing::Done(first.answers, None);
    trial
        .stranger_finds("other answers", first.id, Duration::ZERO, done)
        .await;
    let second = Claim {
        answers: first.answers,
        ..trial.claim_on(first.id)
    };
    trial
        .finds("the next claim", &second, Standing::Yours)
        .await;
    let running = Standing::Running(second.answers);
    trial.finds("the one after that", &first, running).await;
}

async fn a_stranger_does_not_end<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(new, "only its holder ends a claim").await;
    for ending in [Ending::Answered(b"no"), Ending::Used, Ending::Released] {
        let first = trial.granted().await;
        trial.end(&first, &Holder(random()), ending).await;
        let running = Standing::Running(first.answers);
        let point = format!("after a stranger's {ending:?}");
        trial
            .stranger_finds(&point, first.id, Duration::ZERO, running)
            .await;
    }
    let nobodys = trial.new_claim();
    trial.end(&nobodys, &nobodys.holder, Ending::Used).await;
    trial
        .finds("a state that was never claimed", &nobodys, Standing::Yours)
        .await;
}

async fn whoever_lost_a_claim_does_not_end_it<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(
        new,
        "a claim that was taken over is no longer its first holder's",
    )
    .await;
    for ending in [Ending::Answered(b"late"), Ending::Used, Ending::Released] {
        let first = trial.granted().await;
        let second = successor(&first);
        trial
            .finds("the same answers", &second, Standing::Yours)
            .await;
        trial.end(&first, &first.holder, ending).await;
        let running = Standing::Running(first.answers);
        let point = format!("after the first holder's {ending:?}");
        trial
            .stranger_finds(&point, first.id, 2 * MINUTE, running)
            .await;
        trial
            .end(&second, &second.holder, Ending::Answered(b"second"))
            .await;
        let done = Standing::Done(first.answers, Some(b"second".to_vec()));
        trial
            .stranger_finds("after the second holder's", first.id, 2 * MINUTE, done)
            .await;
    }
}

async fn a_claim_ends_once<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(new, "a claim that has ended does not end again").await;
    for ending in [Ending::Answered(b"second"), Ending::Used, Ending::Released] {
        let first = trial.granted().await;
        let answered = Ending::Answered(b"first");
        trial.end(&first, &first.holder, answered).await;
        trial.end(&first, &first.holder, ending).await;
        let done = Standing::Done(first.answers, Some(b"first".to_vec()));
        let point = format!("after {answered:?} and {ending:?}");
        trial
            .stranger_finds(&point, first.id, Duration::ZERO, done)
            .await;
    }
}

async fn what_has_ended_is_not_renewed<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(new, "a claim that has ended is not renewed").await;
    let used = trial.granted().await;
    let until = trial.now.after(10 * MINUTE);
    trial.end(&used, &used.holder, Ending::Used).await;
    trial.renew(&used, &used.holder, until).await;
    let done = Standing::Done(used.answers, None);
    trial
        .stranger_finds("a used one", used.id, Duration::ZERO, done)
        .await;
    let released = trial.granted().await;
    trial
        .end(&released, &released.holder, Ending::Released)
        .await;
    trial.renew(&released, &released.holder, until).await;
    trial
        .finds("a released one", &released, Standing::Yours)
        .await;
}

async fn one_of_a_crowd_gets_it<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(new, "of many claims at once, one is granted").await;
    for _ in 0..TIMES {
        let id = StateId(random());
        let claims = (0..CROWD).map(|_| trial.claim_on(id)).collect();
        only_one(&trial, trial.crowd(claims).await);
    }
}

async fn one_of_a_crowd_takes_over<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(new, "of many who take over at once, one does").await;
    for _ in 0..TIMES {
        let first = trial.granted().await;
        let claims = (0..CROWD).map(|_| successor(&first)).collect();
        only_one(&trial, trial.crowd(claims).await);
    }
}

/// One of these must have been granted; the others must have found it running.
fn only_one<G: Guard>(trial: &Trial<G>, found: Vec<(Claim, Standing)>) {
    let (granted, refused): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(_, standing)| *standing == Standing::Yours);
    let [(winner, _)] = granted.as_slice() else {
        let how = format!("{} of {CROWD} were granted", granted.len());
        trial.rule.broken(&how);
    };
    let running = Standing::Running(winner.answers);
    for (_, standing) in &refused {
        trial.rule.expect("one of the others", standing, &running);
    }
}

async fn nothing_is_forgotten_early<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(
        new,
        "nothing is forgotten before its time, whatever else expires",
    )
    .await;
    let held = trial.granted().await;
    trial
        .renew(&held, &held.holder, trial.now.after(2 * HOUR))
        .await;
    let lost = trial.granted().await;
    let used = trial.granted().await;
    trial.end(&used, &used.holder, Ending::Used).await;
    // Others come and expire, and more of them come after that.
    for now in [trial.now, trial.now.after(30 * MINUTE)] {
        let short = |_| Claim {
            keep_until: now.after(2 * MINUTE),
            ..at(&trial.new_claim(), now)
        };
        for (claim, standing) in trial.crowd((0..MANY).map(short).collect()).await {
            let point = format!("one of {MANY} others, {}", claim.id);
            trial.rule.expect(&point, &standing, &Standing::Yours);
        }
    }
    let late = HOUR - Duration::from_secs(1);
    let running = Standing::Running(held.answers);
    trial
        .stranger_finds("a held one", held.id, late, running)
        .await;
    let found = Standing::Lost(lost.answers);
    trial
        .stranger_finds("a lost one", lost.id, late, found)
        .await;
    let done = Standing::Done(used.answers, None);
    trial
        .stranger_finds("a used one", used.id, late, done)
        .await;
}

async fn a_later_claim_counts<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(
        new,
        "a state that is claimed again is remembered as long as the later claim says",
    )
    .await;
    let brief = Claim {
        keep_until: trial.now.after(5 * MINUTE),
        ..trial.new_claim()
    };
    trial
        .finds("the first claim", &brief, Standing::Yours)
        .await;
    trial.end(&brief, &brief.holder, Ending::Released).await;
    let again = Claim {
        answers: brief.answers,
        ..trial.claim_on(brief.id)
    };
    trial
        .finds("a claim after a release", &again, Standing::Yours)
        .await;
    let taken = Claim {
        keep_until: trial.now.after(5 * MINUTE),
        ..trial.new_claim()
    };
    trial
        .finds("the first claim", &taken, Standing::Yours)
        .await;
    trial
        .finds("a take-over", &successor(&taken), Standing::Yours)
        .await;
    // So that there is something to forget by.
    for _ in 0..3 {
        let passing = at(&trial.new_claim(), trial.now.after(30 * MINUTE));
        trial
            .finds("another state", &passing, Standing::Yours)
            .await;
    }
    for (point, claim) in [("released and claimed", again), ("taken over", taken)] {
        let lost = Standing::Lost(claim.answers);
        trial
            .stranger_finds(point, claim.id, 30 * MINUTE, lost)
            .await;
    }
}

async fn states_are_independent<G: Guard>(new: &impl AsyncFn() -> G) {
    let trial = on(new, "what happens to one state changes no other").await;
    let id = random();
    // They differ in a bit at the beginning, in one at the end, and in that they have zeros in them.
    let (mut front, mut back, mut zeros) = (id, id, id);
    front[0] ^= 0x80;
    back[15] ^= 1;
    zeros[8..].fill(0);
    let holder = Holder(random());
    let mut claims = Vec::new();
    for id in [id, front, back, zeros] {
        let claim = Claim {
            holder,
            ..trial.claim_on(StateId(id))
        };
        trial
            .finds("the first claim of each", &claim, Standing::Yours)
            .await;
        claims.push(claim);
    }
    let [used, released, renewed, untouched] = claims.as_slice() else {
        return;
    };
    trial.end(used, &holder, Ending::Used).await;
    trial.end(released, &holder, Ending::Released).await;
    trial
        .renew(renewed, &holder, trial.now.after(10 * MINUTE))
        .await;
    let expected = [
        ("the used one", used, Standing::Done(used.answers, None)),
        (
            "the released one",
            released,
            Standing::Done(released.answers, None),
        ),
        (
            "the renewed one",
            renewed,
            Standing::Running(renewed.answers),
        ),
        (
            "the untouched one",
            untouched,
            Standing::Lost(untouched.answers),
        ),
    ];
    for (point, claim, standing) in expected {
        trial
            .stranger_finds(point, claim.id, 5 * MINUTE, standing)
            .await;
    }
}
