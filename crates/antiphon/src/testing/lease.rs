//! What a guard does with states and a journal with steps: the rules of a lease, one function each.
//!
//! They are put in the words of a [`Guard`]; a journal is tested as one.

use std::{sync::Arc, time::Duration};

use super::rule::{HOUR, MINUTE, Rule, in_short, present, random};
use crate::store::{Claim, Ending, Fingerprint, Guard, Holder, Moment, Standing, StateId};

/// How many at once, and how often.
pub(super) const CROWD: usize = 64;
const TIMES: usize = 8;
/// How many expire while one must not be forgotten.
const MANY: usize = 2_000;
/// The least difference that a store can be told.
const TICK: Duration = Duration::from_millis(1);

/// What is told differently by the contracts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contract {
    pub(super) name: &'static str,
    /// What it calls [`Standing::Lost`].
    pub(super) lost: &'static str,
    /// All the ways to end, and what it calls them.
    pub(super) endings: &'static [(&'static str, Ending<'static>)],
}

impl Contract {
    /// Puts a new store to the test of one rule.
    pub(super) fn trial<G: Guard>(self, store: G, words: &'static str) -> Trial<G> {
        let contract = self.name;
        Trial {
            contract: self,
            rule: Rule { contract, words },
            store: Arc::new(store),
            now: present(),
        }
    }

    /// Answers may be large.
    fn described(self, standing: &Standing) -> String {
        match standing {
            Standing::Lost(answers) => format!("{}({answers:?})", self.lost),
            Standing::Done(answers, Some(answer)) => {
                format!("Done({answers:?}, {})", in_short(answer))
            }
            other => format!("{other:?}"),
        }
    }
}

/// A new store, put to the test of one rule.
pub(super) struct Trial<G> {
    contract: Contract,
    rule: Rule,
    store: Arc<G>,
    pub(super) now: Moment,
}

impl<G: Guard> Trial<G> {
    /// Someone's claim on this: held for a minute, remembered for an hour.
    pub(super) fn claim_on(&self, id: StateId) -> Claim {
        let claim = Claim {
            id,
            answers: Fingerprint(random()),
            holder: Holder(random()),
            now: self.now,
            lease_until: self.now,
            keep_until: self.now,
            take_over: false,
        };
        at(&claim, self.now)
    }

    /// A claim on what nobody has claimed.
    pub(super) fn new_claim(&self) -> Claim {
        self.claim_on(StateId(random()))
    }

    /// Such a claim, to be remembered for a few minutes only.
    pub(super) fn brief_claim(&self) -> Claim {
        Claim {
            keep_until: self.now.after(5 * MINUTE),
            ..self.new_claim()
        }
    }

    /// Makes a claim, which must be granted.
    pub(super) async fn granted(&self) -> Claim {
        let claim = self.new_claim();
        self.gets("the first", &claim).await;
        claim
    }

    /// Makes a claim and ends it.
    pub(super) async fn ended(&self, ending: Ending<'_>) -> Claim {
        let claim = self.granted().await;
        self.end(&claim, ending).await;
        claim
    }

    /// A claim must be granted.
    pub(super) async fn gets(&self, point: &str, claim: &Claim) {
        self.finds(point, claim, Standing::Yours).await;
    }

    /// What a claim finds must be this.
    pub(super) async fn finds(&self, point: &str, claim: &Claim, expected: Standing) {
        let standing = self.rule.answered(self.store.claim(claim).await);
        self.found(point, &standing, &expected);
    }

    /// What a stranger with other answers finds, so much after the beginning.
    pub(super) async fn stranger_finds(
        &self,
        point: &str,
        claim: &Claim,
        after: Duration,
        expected: Standing,
    ) {
        let stranger = at(&self.claim_on(claim.id), self.now.after(after));
        self.finds(point, &stranger, expected).await;
    }

    pub(super) fn found(&self, point: &str, standing: &Standing, expected: &Standing) {
        if standing != expected {
            let [came, expected] = [standing, expected].map(|it| self.contract.described(it));
            let how = format!("{point}: expected {expected}, came {came}");
            self.rule.broken(&how);
        }
    }

    /// Its holder renews a claim, until so much after the beginning.
    pub(super) async fn renew(&self, claim: &Claim, after: Duration) {
        let until = self.now.after(after);
        let renewed = self.store.renew(&claim.id, &claim.holder, until).await;
        self.rule.answered(renewed);
    }

    /// Its holder ends a claim.
    pub(super) async fn end(&self, claim: &Claim, ending: Ending<'_>) {
        let ended = self.store.end(&claim.id, &claim.holder, ending).await;
        self.rule.answered(ended);
    }

    /// What each of many claims finds that are made at once, and then answered if there is an answer.
    pub(super) async fn crowd(
        &self,
        claims: Vec<(Claim, Option<Vec<u8>>)>,
    ) -> Vec<(Claim, Standing)> {
        let claim = |(claim, answer): (Claim, Option<Vec<u8>>)| {
            let store = Arc::clone(&self.store);
            async move {
                let standing = store.claim(&claim).await?;
                if let Some(answer) = answer {
                    let ending = Ending::Answered(&answer);
                    store.end(&claim.id, &claim.holder, ending).await?;
                }
                Ok((claim, standing))
            }
        };
        let found = self.rule.at_once(claims.into_iter().map(claim).collect());
        let answered = |found| self.rule.answered(found);
        found.await.into_iter().map(answered).collect()
    }

    /// Of these claims at once one must be granted; the others must find it running.
    async fn only_one_of(&self, claims: impl Iterator<Item = Claim>) {
        let found = self.crowd(claims.map(|claim| (claim, None)).collect());
        let (granted, refused): (Vec<_>, Vec<_>) = found
            .await
            .into_iter()
            .partition(|(_, standing)| *standing == Standing::Yours);
        let [(winner, _)] = granted.as_slice() else {
            let how = format!("{} of {CROWD} got it", granted.len());
            self.rule.broken(&how);
        };
        let running = Standing::Running(winner.answers);
        for (_, standing) in &refused {
            self.found("one of the others", standing, &running);
        }
    }
}

/// The same claim, made at another time.
pub(super) fn at(claim: &Claim, now: Moment) -> Claim {
    Claim {
        now,
        lease_until: now.after(MINUTE),
        keep_until: now.after(HOUR),
        ..claim.clone()
    }
}

/// The same claim by someone else.
fn by_another(claim: &Claim) -> Claim {
    Claim {
        holder: Holder(random()),
        ..claim.clone()
    }
}

/// The same with the same answers by someone else, after the lease, to take it over.
pub(super) fn successor(claim: &Claim) -> Claim {
    let successor = Claim {
        take_over: true,
        ..by_another(claim)
    };
    at(&successor, claim.lease_until.after(MINUTE))
}

/// What the same answers find after a claim that ended so.
fn after(ending: Ending<'_>, claim: &Claim) -> Standing {
    match ending {
        Ending::Answered(answer) => Standing::Done(claim.answers, Some(answer.to_vec())),
        Ending::Used => Standing::Done(claim.answers, None),
        Ending::Released => Standing::Yours,
    }
}

pub(super) async fn the_first_gets_it<G: Guard>(trial: Trial<G>) {
    trial.granted().await;
    let eager = Claim {
        take_over: true,
        ..trial.new_claim()
    };
    trial.gets("the first, ready to take over", &eager).await;
}

pub(super) async fn others_find_it_running<G: Guard>(trial: Trial<G>) {
    let first = trial.granted().await;
    let running = Standing::Running(first.answers);
    trial
        .stranger_finds("other answers", &first, Duration::ZERO, running.clone())
        .await;
    trial.finds("the same again", &first, running.clone()).await;
    let eager = Claim {
        take_over: true,
        ..by_another(&first)
    };
    trial
        .finds("the same answers, to take over", &eager, running.clone())
        .await;
    let last = MINUTE - TICK;
    trial
        .stranger_finds("just before the lease is over", &first, last, running)
        .await;
}

pub(super) async fn one_not_renewed_is_lost<G: Guard>(trial: Trial<G>) {
    let first = trial.granted().await;
    let lost = Standing::Lost(first.answers);
    trial
        .stranger_finds("when the lease is over", &first, MINUTE, lost.clone())
        .await;
    let same = Claim {
        take_over: false,
        ..successor(&first)
    };
    trial
        .finds("the same answers, not to take over", &same, lost.clone())
        .await;
    trial
        .stranger_finds("once more", &first, 3 * MINUTE, lost)
        .await;
}

pub(super) async fn the_same_answers_take_over<G: Guard>(trial: Trial<G>) {
    let first = trial.granted().await;
    trial.gets("the same answers", &successor(&first)).await;
    let running = Standing::Running(first.answers);
    trial
        .stranger_finds("while it is held anew", &first, 2 * MINUTE, running)
        .await;
    let lost = Standing::Lost(first.answers);
    trial
        .stranger_finds("when that is over too", &first, 10 * MINUTE, lost)
        .await;
}

pub(super) async fn other_answers_do_not_take_over<G: Guard>(trial: Trial<G>) {
    let first = trial.granted().await;
    let other = Claim {
        answers: Fingerprint(random()),
        ..successor(&first)
    };
    let lost = Standing::Lost(first.answers);
    trial.finds("other answers", &other, lost).await;
    let same = successor(&first);
    trial.gets("the same answers, after that", &same).await;
}

pub(super) async fn its_holder_renews_it<G: Guard>(trial: Trial<G>) {
    let first = trial.granted().await;
    trial.renew(&first, 10 * MINUTE).await;
    let running = Standing::Running(first.answers);
    trial
        .stranger_finds("after the first lease", &first, 5 * MINUTE, running)
        .await;
    let lost = Standing::Lost(first.answers);
    trial
        .stranger_finds("after the second lease", &first, 11 * MINUTE, lost)
        .await;
}

pub(super) async fn a_stranger_does_not_renew<G: Guard>(trial: Trial<G>) {
    let first = trial.granted().await;
    trial.renew(&by_another(&first), 10 * MINUTE).await;
    let lost = Standing::Lost(first.answers);
    trial
        .stranger_finds("after the lease", &first, 5 * MINUTE, lost.clone())
        .await;
    // Who was overtaken is a stranger too.
    trial.gets("the same answers", &successor(&first)).await;
    trial.renew(&first, HOUR).await;
    trial
        .stranger_finds("after the lease of the second", &first, 10 * MINUTE, lost)
        .await;
}

pub(super) async fn an_answer_is_given_again<G: Guard>(
    trial: Trial<G>,
    answers: &[(&str, Vec<u8>)],
) {
    for (what, answer) in answers {
        let first = trial.ended(Ending::Answered(answer)).await;
        let done = Standing::Done(first.answers, Some(answer.clone()));
        for time in ["the first time", "the second time"] {
            let point = format!("{what}, to the same answers, {time}");
            trial.finds(&point, &first, done.clone()).await;
        }
        let point = format!("{what}, to other answers");
        trial
            .stranger_finds(&point, &first, Duration::ZERO, done.clone())
            .await;
        let point = format!("{what}, to one who would take over");
        trial.finds(&point, &successor(&first), done).await;
    }
}

pub(super) async fn a_stranger_does_not_end<G: Guard>(trial: Trial<G>) {
    for (name, ending) in trial.contract.endings {
        let first = trial.granted().await;
        trial.end(&by_another(&first), *ending).await;
        let running = Standing::Running(first.answers);
        let point = format!("after a stranger's {name}");
        trial
            .stranger_finds(&point, &first, Duration::ZERO, running)
            .await;
        let nobodys = trial.new_claim();
        trial.end(&nobodys, *ending).await;
        let point = format!("after the {name} of what nobody had begun");
        trial.gets(&point, &nobodys).await;
    }
}

pub(super) async fn whoever_was_overtaken_does_not_end_it<G: Guard>(trial: Trial<G>) {
    for (name, ending) in trial.contract.endings {
        let first = trial.granted().await;
        let second = successor(&first);
        trial.gets("the same answers", &second).await;
        trial.end(&first, *ending).await;
        let running = Standing::Running(first.answers);
        let point = format!("after the first holder's {name}");
        trial
            .stranger_finds(&point, &first, 2 * MINUTE, running)
            .await;
        trial.end(&second, Ending::Answered(b"second")).await;
        let done = Standing::Done(first.answers, Some(b"second".to_vec()));
        trial
            .stranger_finds("after the second holder's", &first, 2 * MINUTE, done)
            .await;
    }
}

pub(super) async fn it_ends_once<G: Guard>(trial: Trial<G>) {
    for (name, ending) in trial.contract.endings {
        let first = trial.ended(Ending::Answered(b"first")).await;
        trial.end(&first, *ending).await;
        let done = Standing::Done(first.answers, Some(b"first".to_vec()));
        let point = format!("done, and after that: {name}");
        trial
            .stranger_finds(&point, &first, Duration::ZERO, done)
            .await;
    }
    let freed = trial.ended(Ending::Released).await;
    trial.end(&freed, Ending::Answered(b"after all")).await;
    trial
        .gets("one that was free, done after all", &freed)
        .await;
}

pub(super) async fn what_has_ended_is_not_renewed<G: Guard>(trial: Trial<G>) {
    for (name, ending) in trial.contract.endings {
        let ended = trial.ended(*ending).await;
        trial.renew(&ended, 10 * MINUTE).await;
        let point = format!("renewed after this: {name}");
        trial.finds(&point, &ended, after(*ending, &ended)).await;
    }
}

pub(super) async fn one_of_a_crowd_gets_it<G: Guard>(trial: Trial<G>) {
    for _ in 0..TIMES {
        let id = StateId(random());
        let claims = (0..CROWD).map(|_| trial.claim_on(id));
        trial.only_one_of(claims).await;
    }
}

pub(super) async fn one_of_a_crowd_takes_over<G: Guard>(trial: Trial<G>) {
    for _ in 0..TIMES {
        let first = trial.granted().await;
        let claims = (0..CROWD).map(|_| successor(&first));
        trial.only_one_of(claims).await;
    }
}

/// With endings after which nothing may be forgotten.
pub(super) async fn nothing_is_forgotten_early<G: Guard>(
    trial: Trial<G>,
    endings: &[(&str, Ending<'_>)],
) {
    let held = trial.granted().await;
    trial.renew(&held, 2 * HOUR).await;
    let lost = trial.granted().await;
    let mut expected = vec![
        ("a held one", held.clone(), Standing::Running(held.answers)),
        (
            "one that was not renewed",
            lost.clone(),
            Standing::Lost(lost.answers),
        ),
    ];
    for (name, ending) in endings {
        let ended = trial.ended(*ending).await;
        let standing = after(*ending, &ended);
        expected.push((name, ended, standing));
    }
    // Others come and expire, done or not, and more of them come after that.
    for now in [trial.now, trial.now.after(30 * MINUTE)] {
        let short = |number| {
            let claim = Claim {
                keep_until: now.after(2 * MINUTE),
                ..at(&trial.new_claim(), now)
            };
            (claim, (number % 2 == 0).then(|| b"another".to_vec()))
        };
        for (_, standing) in trial.crowd((0..MANY).map(short).collect()).await {
            trial.found("one of many others", &standing, &Standing::Yours);
        }
    }
    // The last moment counts.
    for (point, claim, standing) in expected {
        trial.stranger_finds(point, &claim, HOUR, standing).await;
    }
}

pub(super) async fn a_later_claim_counts<G: Guard>(trial: &Trial<G>) {
    let [taken, freed] = [trial.brief_claim(), trial.brief_claim()];
    for claim in [&taken, &freed] {
        trial.gets("the first", claim).await;
    }
    trial.gets("a take-over", &successor(&taken)).await;
    trial.end(&freed, Ending::Released).await;
    let again = at(&by_another(&freed), trial.now);
    trial.gets("one that was free, again", &again).await;
    let late = 30 * MINUTE;
    others_pass(trial, late).await;
    for (point, claim) in [("taken over", taken), ("free and claimed", freed)] {
        let lost = Standing::Lost(claim.answers);
        trial.stranger_finds(point, &claim, late, lost).await;
    }
}

/// So that there is something to forget by.
pub(super) async fn others_pass<G: Guard>(trial: &Trial<G>, after: Duration) {
    for _ in 0..3 {
        let passing = at(&trial.new_claim(), trial.now.after(after));
        trial.gets("another", &passing).await;
    }
}

/// With an ending after which nothing may be forgotten.
pub(super) async fn each_is_independent<G: Guard>(trial: Trial<G>, ending: Ending<'_>) {
    let id = random();
    // They differ in a bit at the beginning, in one at the end, and in that they have zeros in them.
    let (mut front, mut back, mut zeros) = (id, id, id);
    front[0] ^= 0x80;
    back[15] ^= 1;
    zeros[8..].fill(0);
    let holder = Holder(random());
    let claim = |id| Claim {
        holder,
        ..trial.claim_on(StateId(id))
    };
    let [done, freed, renewed, untouched] = [id, front, back, zeros].map(claim);
    for claim in [&done, &freed, &renewed, &untouched] {
        trial.gets("the first of each", claim).await;
    }
    trial.end(&done, ending).await;
    trial.end(&freed, Ending::Released).await;
    trial.renew(&renewed, 10 * MINUTE).await;
    let expected = [
        ("the one that was done", &done, after(ending, &done)),
        ("the free one", &freed, Standing::Yours),
        (
            "the renewed one",
            &renewed,
            Standing::Running(renewed.answers),
        ),
        (
            "the untouched one",
            &untouched,
            Standing::Lost(untouched.answers),
        ),
    ];
    for (point, claim, standing) in expected {
        let same = at(claim, trial.now.after(5 * MINUTE));
        trial.finds(point, &same, standing).await;
    }
}
