//! Our stores keep the contracts that we hold others to, and stores that break a rule are told which.

mod guards;
mod journals;
mod spills;

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    store::{
        Claim, Ended, Ending, Entered, Entry, FileStore, Fingerprint, Guard, Holder, Journal,
        MemoryStore, Moment, Standing, StepId,
    },
    testing::{guard_contract, journal_contract, spill_contract},
};
use antiphon_tests::ground::Ground;

#[tokio::test(flavor = "multi_thread")]
async fn memory_keeps_its_contracts() {
    guard_contract(async || MemoryStore::new()).await;
    spill_contract(async || MemoryStore::new()).await;
    journal_contract(async || MemoryStore::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_keeps_its_contracts() {
    let ground = Ground::new();
    let count = AtomicUsize::new(0);
    let new = async || {
        let name = count.fetch_add(1, Ordering::Relaxed).to_string();
        FileStore::open(ground.file(&name)).expect("a new file")
    };
    guard_contract(&new).await;
    spill_contract(&new).await;
    journal_contract(&new).await;
}

/// A suite asks for new stores, but does not need them to be empty.
#[tokio::test(flavor = "multi_thread")]
async fn one_file_keeps_its_contracts_again_and_again() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).expect("a new file");
    for _ in 0..2 {
        guard_contract(async || store.clone()).await;
        spill_contract(async || store.clone()).await;
        journal_contract(async || store.clone()).await;
    }
}

#[tokio::test]
async fn contracts_hold_on_a_runtime_with_one_thread() {
    guard_contract(async || MemoryStore::new()).await;
    spill_contract(async || Arc::new(MemoryStore::new())).await;
    journal_contract(async || Arc::new(MemoryStore::new())).await;
}

/// They are told apart by what they are, not by their numbers.
async fn states_and_steps_are_apart(store: impl Guard + Journal) {
    let now = Moment::from_millis(1_789_000_000_000);
    let entry = Entry {
        step: StepId([7; 16]),
        upon: Fingerprint([1; 16]),
        holder: Holder([2; 16]),
        now,
        lease_until: now.after(Duration::from_secs(60)),
        keep_until: now.after(Duration::from_secs(3600)),
        take_over: false,
    };
    let claim = Claim {
        answers: Fingerprint([3; 16]),
        ..entry.as_claim()
    };
    let Entry { step, holder, .. } = &entry;
    assert_eq!(store.enter(&entry).await, Ok(Entered::Yours));
    assert_eq!(store.claim(&claim).await, Ok(Standing::Yours));
    let ended = Journal::end(&store, step, holder, Ended::Done(b"of the step"));
    assert_eq!(ended.await, Ok(()));
    let running = Standing::Running(claim.answers);
    assert_eq!(store.claim(&claim).await, Ok(running));
    let ended = Guard::end(&store, &claim.id, holder, Ending::Answered(b"of the state"));
    assert_eq!(ended.await, Ok(()));
    let done = Entered::Done(entry.upon, b"of the step".to_vec());
    assert_eq!(store.enter(&entry).await, Ok(done));
    let done = Standing::Done(claim.answers, Some(b"of the state".to_vec()));
    assert_eq!(store.claim(&claim).await, Ok(done));
}

#[tokio::test]
async fn a_state_and_a_step_of_one_number_are_apart() {
    states_and_steps_are_apart(MemoryStore::new()).await;
    let ground = Ground::new();
    let file = FileStore::open(ground.file("store")).expect("a new file");
    states_and_steps_are_apart(file).await;
}

/// The suite must have panicked, and named the rule.
pub(crate) fn told(
    flaw: &str,
    suite: Result<(), tokio::task::JoinError>,
    contract: &str,
    rule: &str,
) {
    let error = suite.expect_err(&format!("{flaw} went unnoticed"));
    let panic: Box<dyn Any + Send> = error.into_panic();
    let message = panic.downcast_ref::<String>().expect("a message");
    let begin = format!("the {contract} contract is broken: ");
    assert!(message.starts_with(&begin), "{flaw}: {message}");
    assert!(message.contains(rule), "{flaw}: {message}");
}

/// The least difference that a store can be told.
pub(crate) const TICK: Duration = Duration::from_millis(1);

pub(crate) fn earlier(moment: Moment) -> Moment {
    Moment::from_millis(moment.as_millis() - 1)
}
