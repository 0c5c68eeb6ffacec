//! [`Used`]: the states that calls were finished with.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::Flaw;

/// How long a flawed server waits for a second to come with the same state. Every call waits for it.
const ALONE: Duration = Duration::from_millis(200);
/// How long it waits for the rest once there are two. Long, because how many come must not depend on
/// how busy the machine is.
const TOGETHER: Duration = Duration::from_secs(5);
/// How many come at once.
const CROWD: usize = 8;

/// Shared by replicas, unless that is the flaw.
#[derive(Default)]
pub(crate) struct Used(Mutex<HashMap<String, Use>>);

#[derive(Default)]
struct Use {
    /// How many came with this state.
    came: usize,
    /// A call has it, or had it.
    is_taken: bool,
    /// With what it was finished, and at which replica.
    finished: Option<(String, usize)>,
}

impl Used {
    /// Takes a state for a call with these answers at this replica, once; whether it could be had.
    pub(crate) async fn take(
        &self,
        id: &str,
        answers: &str,
        replica: usize,
        flaw: Option<Flaw>,
    ) -> bool {
        let id = match flaw {
            Some(Flaw::ReplayedOtherAnswers) => format!("{id} {answers}"),
            _ => id.to_owned(),
        };
        let finished = (answers.to_owned(), replica);
        {
            let mut all = self.lock();
            let this = all.entry(id.clone()).or_default();
            this.came += 1;
            if flaw == Some(Flaw::Replayed) && this.finished.as_ref() == Some(&finished) {
                return true;
            }
            if this.is_taken {
                return false;
            }
            // Too late is the flaw: others come before it is marked.
            this.is_taken = flaw != Some(Flaw::ReplayedConcurrently);
        }
        match flaw {
            Some(Flaw::ReplayedConcurrently) => self.wait(&id, 2).await,
            Some(Flaw::Replayed) => self.wait(&id, CROWD).await,
            _ => {}
        }
        let mut all = self.lock();
        let this = all.entry(id).or_default();
        this.is_taken = true;
        this.finished = Some(finished);
        true
    }

    /// Waits until so many came with a state, or nobody comes any more.
    async fn wait(&self, id: &str, crowd: usize) {
        let start = Instant::now();
        loop {
            let came = self.lock().get(id).map_or(0, |this| this.came);
            let patience = if came > 1 { TOGETHER } else { ALONE };
            if came >= crowd || start.elapsed() > patience {
                return;
            }
            sleep(Duration::from_millis(5)).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Use>> {
        self.0.lock().expect("nobody panics")
    }
}
