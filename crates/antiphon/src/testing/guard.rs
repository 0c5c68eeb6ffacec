//! What a guard must do: the rules of a lease, and what becomes of a state that was used or released.

use std::time::Duration;

use super::lease::{self, Contract, Trial, successor};
use crate::store::{Claim, Ending, Guard, Standing};

const CONTRACT: Contract = Contract {
    name: "guard",
    lost: "Lost",
    endings: &[
        ("answer", Ending::Answered(b"another")),
        ("use", Ending::Used),
        ("release", Ending::Released),
    ],
};

/// Tests a [`Guard`]: what its methods promise, on a new store for every rule.
///
/// # Panics
///
/// If a rule does not hold.
pub async fn guard_contract<G: Guard, F: AsyncFn() -> G>(new: F) {
    let words = "the first to claim a state gets it";
    lease::the_first_gets_it(on(&new, words).await).await;
    let words = "while a claim is held, others find the state running with the first answers";
    lease::others_find_it_running(on(&new, words).await).await;
    let words = "a claim is lost once its lease is over, and stays so until it is taken over";
    lease::one_not_renewed_is_lost(on(&new, words).await).await;
    let words = "a lost claim is taken over with the same answers, and is then held anew";
    lease::the_same_answers_take_over(on(&new, words).await).await;
    let words = "a lost claim is not taken over with other answers";
    lease::other_answers_do_not_take_over(on(&new, words).await).await;
    let words = "a claim that its holder renews is held for longer";
    lease::its_holder_renews_it(on(&new, words).await).await;
    let words = "only its holder renews a claim";
    lease::a_stranger_does_not_renew(on(&new, words).await).await;
    let words = "a state that was answered is done, with the first answers and what was answered";
    let every_byte = (0..=u8::MAX).collect();
    let answers = [("an answer", every_byte), ("an empty answer", Vec::new())];
    lease::an_answer_is_given_again(on(&new, words).await, &answers).await;
    let words = "a state that was used is done, with the first answers and nothing else";
    a_used_state_is_done(on(&new, words).await).await;
    let words = "a state that was released is free to the same answers, and to no others";
    a_released_state_is_free(on(&new, words).await).await;
    let words = "only its holder ends a claim";
    lease::a_stranger_does_not_end(on(&new, words).await).await;
    let words = "a claim that was taken over is no longer its first holder's";
    lease::whoever_was_overtaken_does_not_end_it(on(&new, words).await).await;
    let words = "a claim that has ended does not end again";
    lease::it_ends_once(on(&new, words).await).await;
    let words = "a claim that has ended is not renewed";
    lease::what_has_ended_is_not_renewed(on(&new, words).await).await;
    let words = "of many claims at once, one is granted";
    lease::one_of_a_crowd_gets_it(on(&new, words).await).await;
    let words = "of many who take over at once, one does";
    lease::one_of_a_crowd_takes_over(on(&new, words).await).await;
    let words = "nothing is forgotten before its time, whatever else expires";
    let used = [("a used one", Ending::Used)];
    lease::nothing_is_forgotten_early(on(&new, words).await, &used).await;
    let words = "a state that is claimed again is remembered as long as the later claim says";
    lease::a_later_claim_counts(&on(&new, words).await).await;
    let words = "what happens to one state changes no other";
    lease::each_is_independent(on(&new, words).await, Ending::Used).await;
}

async fn on<G: Guard>(new: &impl AsyncFn() -> G, words: &'static str) -> Trial<G> {
    CONTRACT.trial(new().await, words)
}

async fn a_used_state_is_done<G: Guard>(trial: Trial<G>) {
    let first = trial.ended(Ending::Used).await;
    let done = Standing::Done(first.answers, None);
    trial.finds("the same answers", &first, done.clone()).await;
    trial
        .stranger_finds("other answers", &first, Duration::ZERO, done.clone())
        .await;
    trial
        .finds("one who would take over", &successor(&first), done)
        .await;
}

async fn a_released_state_is_free<G: Guard>(trial: Trial<G>) {
    let first = trial.ended(Ending::Released).await;
    let done = Standing::Done(first.answers, None);
    trial
        .stranger_finds("other answers", &first, Duration::ZERO, done)
        .await;
    let second = Claim {
        answers: first.answers,
        ..trial.claim_on(first.id)
    };
    trial.gets("the next claim", &second).await;
    let running = Standing::Running(second.answers);
    trial.finds("the one after that", &first, running).await;
}
