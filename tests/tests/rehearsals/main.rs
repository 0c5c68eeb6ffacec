//! Rehearsals: what is played on a fleet in which everything goes wrong, and which handlers do not
//! stand that.

mod again;
mod done;
mod good;
mod questions;
mod troubles;

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use antiphon::{Form, Server, testing::Played};

#[derive(Form, Clone)]
struct Name {
    name: String,
}

#[derive(Form)]
struct Confirm {
    confirm: bool,
}

/// A number that somebody counts up.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicU32>);

impl Counter {
    /// How often it was, this time included.
    fn up(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn get(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

fn server() -> Server<Counter> {
    Server::new("rehearsed", "1.0")
}

/// What a test is told of a rehearsal that must fail.
async fn told<T: Send + 'static>(
    rehearsal: impl Future<Output = Played<T>> + Send + 'static,
) -> String {
    let ended = tokio::spawn(async move { rehearsal.await.trace() }).await;
    let panic = match ended {
        Ok(trace) => panic!("nothing was found: {trace}"),
        Err(error) => error.into_panic(),
    };
    panic.downcast_ref::<String>().expect("a text").clone()
}

#[track_caller]
fn says(told: &str, parts: &[&str]) {
    for part in parts {
        assert!(told.contains(part), "{part:?} is missing in:\n{told}");
    }
}
