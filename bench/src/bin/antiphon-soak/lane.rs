//! [`lane`]: one flow after the other, at a steady rate.

use std::{collections::BTreeMap, fmt::Debug, future::Future, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use crate::{
    message::{Done, Failure},
    random::Random,
};

/// How long a flow may take; one that takes longer is stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// Somebody who calls the server.
pub(crate) trait Guest: Send {
    /// What it does.
    type Flow: Copy + Debug + Send + 'static;

    /// All of it, and how often.
    fn flows(&self) -> &'static [(Self::Flow, usize)];

    fn run(&mut self, flow: Self::Flow) -> impl Future<Output = Done> + Send;
}

/// When flows begin.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) first: Instant,
    pub(crate) every: Duration,
    pub(crate) until: Instant,
}

/// How often each flow was run.
pub(crate) type Tally = BTreeMap<String, u64>;

/// Runs flows of a guest until it is time to stop, or one fails.
pub(crate) async fn lane<G: Guest>(
    name: &'static str,
    mut guest: G,
    mut random: Random,
    pace: Pace,
) -> Result<Tally, Failure> {
    let mut tally = Tally::new();
    let mut ticks = interval_at(pace.first, pace.every);
    // What could not be done in time is not made up for.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while ticks.tick().await < pace.until {
        let flow = random.pick(guest.flows());
        let named = format!("{name} {flow:?}");
        match timeout(PATIENCE, guest.run(flow)).await {
            Ok(Ok(())) => *tally.entry(named).or_default() += 1,
            Ok(Err(error)) => return Err(format!("{named}: {error}").into()),
            Err(_) => return Err(format!("{named}: no end after {PATIENCE:?}").into()),
        }
    }
    Ok(tally)
}
