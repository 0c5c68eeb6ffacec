//! What a journal must do: the rules of a lease, and what becomes of results and of failures.

use super::{
    lease::{self, CROWD, Contract, Trial, others_pass, successor},
    rule::{MINUTE, noise},
};
use crate::store::{
    Claim, Ended, Ending, Entered, Entry, Guard, Holder, Journal, Moment, Standing, StateId,
    StepId, Storing,
};

const CONTRACT: Contract = Contract {
    name: "journal",
    lost: "Unknown",
    endings: &[
        ("result", Ending::Answered(b"another")),
        ("failure", FAILED),
    ],
};

/// As a claim, a step that failed was released.
const FAILED: Ending<'static> = Ending::Released;

/// Tests a [`Journal`]: what its methods promise, on a new store for every rule.
///
/// # Panics
///
/// If a rule does not hold.
pub async fn journal_contract<J: Journal, F: AsyncFn() -> J>(new: F) {
    let words = "the first to enter a step gets it";
    lease::the_first_gets_it(on(&new, words).await).await;
    let words = "while an entry is held, others find the step running upon the first answers";
    lease::others_find_it_running(on(&new, words).await).await;
    let words = "what came of a step is unknown once its lease is over, and stays so until it is taken over";
    lease::one_not_renewed_is_lost(on(&new, words).await).await;
    let words = "an unknown step is taken over upon the same answers, and is then held anew";
    lease::the_same_answers_take_over(on(&new, words).await).await;
    let words = "an unknown step is not taken over upon other answers";
    lease::other_answers_do_not_take_over(on(&new, words).await).await;
    let words = "an entry that its holder renews is held for longer";
    lease::its_holder_renews_it(on(&new, words).await).await;
    let words = "only its holder renews an entry";
    lease::a_stranger_does_not_renew(on(&new, words).await).await;
    let words =
        "what came of a step that was done is given to all who come to it, with the first answers";
    let large = noise(1 << 20);
    let results = [
        ("a result", (0..=u8::MAX).collect()),
        ("an empty result", Vec::new()),
        ("a result of 64 KiB and a byte", noise((64 << 10) + 1)),
        ("a result of 1 MiB", large.clone()),
    ];
    lease::an_answer_is_given_again(on(&new, words).await, &results).await;
    let words = "a step that failed is free to anyone, as if nobody had begun it";
    a_failed_step_is_free(on(&new, words).await).await;
    let words = "only its holder ends an entry";
    lease::a_stranger_does_not_end(on(&new, words).await).await;
    let words = "an entry that was taken over is no longer its first holder's";
    lease::whoever_was_overtaken_does_not_end_it(on(&new, words).await).await;
    let words = "whoever is late still renews and ends an entry that nobody took over";
    whoever_is_late_still_holds_it(on(&new, words).await).await;
    let words = "an entry that has ended does not end again";
    lease::it_ends_once(on(&new, words).await).await;
    let words = "an entry that has ended is not renewed";
    lease::what_has_ended_is_not_renewed(on(&new, words).await).await;
    let words = "of many who enter at once, one gets it";
    lease::one_of_a_crowd_gets_it(on(&new, words).await).await;
    let words = "of many who take over at once, one does";
    lease::one_of_a_crowd_takes_over(on(&new, words).await).await;
    let words = "results that are written at once are all kept";
    results_at_once_are_kept_apart(on(&new, words).await).await;
    let words = "nothing is forgotten before its time, whatever else expires";
    let small = ("a result", Ending::Answered(b"small"));
    let results = [small, ("a large result", Ending::Answered(&large))];
    lease::nothing_is_forgotten_early(on(&new, words).await, &results).await;
    let words =
        "a step that is entered again is remembered as long as the later of both entries says";
    let rule = on(&new, words).await;
    lease::a_later_claim_counts(&rule).await;
    the_later_of_both_counts(rule).await;
    let words = "what happens to one step changes no other";
    let done = Ending::Answered(b"done");
    lease::each_is_independent(on(&new, words).await, done).await;
}

async fn on<J: Journal>(new: &impl AsyncFn() -> J, words: &'static str) -> Trial<Steps<J>> {
    CONTRACT.trial(Steps(new().await), words)
}

async fn a_failed_step_is_free<J: Journal>(trial: Trial<Steps<J>>) {
    let first = trial.ended(FAILED).await;
    let second = trial.claim_on(first.id);
    trial.gets("other answers", &second).await;
    let running = Standing::Running(second.answers);
    trial.finds("the first answers", &first, running).await;
    let unknown = Standing::Lost(second.answers);
    let eager = successor(&first);
    trial
        .finds("the first answers, to take over", &eager, unknown)
        .await;
    trial.end(&second, FAILED).await;
    trial
        .gets("the first answers, once it is free", &first)
        .await;
    trial.end(&first, Ending::Answered(b"at last")).await;
    let done = Standing::Done(first.answers, Some(b"at last".to_vec()));
    trial.finds("when it is done", &second, done).await;
}

async fn whoever_is_late_still_holds_it<J: Journal>(trial: Trial<Steps<J>>) {
    let late = trial.granted().await;
    let unknown = Standing::Lost(late.answers);
    trial
        .stranger_finds("after the lease", &late, 2 * MINUTE, unknown.clone())
        .await;
    trial.renew(&late, 5 * MINUTE).await;
    let running = Standing::Running(late.answers);
    trial
        .stranger_finds("when it is renewed", &late, 3 * MINUTE, running)
        .await;
    trial
        .stranger_finds("after that", &late, 6 * MINUTE, unknown)
        .await;
    trial.end(&late, Ending::Answered(b"late")).await;
    let done = Standing::Done(late.answers, Some(b"late".to_vec()));
    trial
        .stranger_finds("when it is done", &late, 7 * MINUTE, done)
        .await;
}

async fn results_at_once_are_kept_apart<J: Journal>(trial: Trial<Steps<J>>) {
    let step = |number| (trial.new_claim(), Some(noise(number)));
    let steps: Vec<_> = (1..=CROWD).map(step).collect();
    for (_, standing) in trial.crowd(steps.clone()).await {
        trial.found("one of many", &standing, &Standing::Yours);
    }
    for (claim, result) in steps {
        let done = Standing::Done(claim.answers, result);
        trial.finds("one of them, again", &claim, done).await;
    }
}

/// Also for a result, and if the later entry is to be remembered for less.
async fn the_later_of_both_counts<J: Journal>(trial: Trial<Steps<J>>) {
    let brief = trial.brief_claim();
    trial.gets("the first", &brief).await;
    let longer = successor(&brief);
    trial.gets("a take-over", &longer).await;
    trial.end(&longer, Ending::Answered(b"taken")).await;
    let long = trial.granted().await;
    let shorter = Claim {
        keep_until: trial.now.after(5 * MINUTE),
        ..successor(&long)
    };
    trial.gets("a brief take-over", &shorter).await;
    let late = 30 * MINUTE;
    others_pass(&trial, late).await;
    let done = Standing::Done(brief.answers, Some(b"taken".to_vec()));
    trial
        .stranger_finds("taken over for longer", &brief, late, done)
        .await;
    let unknown = Standing::Lost(long.answers);
    trial
        .stranger_finds("taken over for less", &long, late, unknown)
        .await;
}

/// Steps as states, for the rules of a lease.
struct Steps<J>(J);

impl<J: Journal> Guard for Steps<J> {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing> {
        Box::pin(async move {
            let entry = Entry {
                step: StepId(claim.id.0),
                upon: claim.answers,
                holder: claim.holder,
                now: claim.now,
                lease_until: claim.lease_until,
                keep_until: claim.keep_until,
                take_over: claim.take_over,
            };
            Ok(match self.0.enter(&entry).await? {
                Entered::Yours => Standing::Yours,
                Entered::Running(upon) => Standing::Running(upon),
                Entered::Unknown(upon) => Standing::Lost(upon),
                Entered::Done(upon, result) => Standing::Done(upon, Some(result)),
                Entered::Full => Standing::Full,
            })
        })
    }

    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        Box::pin(async move { self.0.renew(&StepId(id.0), holder, until).await })
    }

    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()> {
        let ended = match ending {
            Ending::Answered(result) => Ended::Done(result),
            // There is no use without a result, if only an empty one.
            Ending::Used => Ended::Done(b""),
            Ending::Released => Ended::Failed,
        };
        Box::pin(async move { self.0.end(&StepId(id.0), holder, ended).await })
    }

    fn is_shared(&self) -> bool {
        self.0.is_shared()
    }
}
