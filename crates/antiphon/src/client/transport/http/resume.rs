//! Coming back to a stream of events that ended too early (LHTTP-C-03, LHTTP-C-07).

use std::time::Duration;

use http::{HeaderValue, StatusCode, Uri};
use tokio::time::sleep;

use super::{
    answer::{self, Served},
    events::Reader,
    head::Sent,
    stamp::Stamp,
    wire::Wire,
};
use crate::{
    client::{Error, ErrorKind},
    web::Content,
};

/// The first pause, unless the server names one.
const FIRST: Duration = Duration::from_secs(1);

/// What pauses grow to.
pub(super) const LONGEST: Duration = Duration::from_secs(30);

/// The shortest pause, whatever the server says.
const SHORTEST: Duration = Duration::from_millis(100);

/// Failures in a row after which a stream is given up.
const FAILURES: u32 = 8;

/// How often one comes back in vain, though the server is there, until the stream is given up.
const VISITS: u32 = 1000;

/// How often one came back since there was a message.
#[derive(Debug, Default)]
pub(super) struct Tries {
    /// The stream could not be opened, in a row.
    failures: u32,
    /// It could, but there was no message.
    visits: u32,
}

impl Tries {
    /// There was a message.
    pub(super) fn rewarded(&mut self) {
        *self = Self::default();
    }

    /// The stream was opened again.
    pub(super) fn opened(&mut self) {
        self.failures = 0;
        self.visits += 1;
    }

    /// The stream could not be opened.
    pub(super) fn failed(&mut self) {
        self.failures += 1;
    }

    fn are_over(&self) -> bool {
        self.failures >= FAILURES || self.visits >= VISITS
    }

    /// How long to wait where somebody waits for an answer: as long as the server says, while it
    /// is there.
    fn pause(&self, retry: Option<Duration>, jitter: u8) -> Duration {
        match (self.failures, retry) {
            (0, Some(retry)) => retry.max(SHORTEST),
            _ => self.long_pause(retry, jitter),
        }
    }

    /// How long to wait where nobody does: longer each time, and never shorter than the server
    /// says.
    pub(super) fn long_pause(&self, retry: Option<Duration>, jitter: u8) -> Duration {
        let grown = match (self.failures.saturating_add(self.visits), retry) {
            (0, Some(retry)) => return retry.max(SHORTEST),
            (tries, _) => LONGEST.min(FIRST * (1 << tries.min(5))),
        };
        // Up to a quarter less, so that not everybody comes back at once.
        let grown = grown - grown * u32::from(jitter) / 1024;
        grown.max(retry.unwrap_or_default())
    }
}

/// A random byte.
pub(super) fn jitter() -> u8 {
    let mut byte = [0];
    // It may as well be the same for all.
    _ = getrandom::fill(&mut byte);
    byte[0]
}

/// Why a stream could not be opened.
pub(super) enum Unopened {
    /// The server does not want it.
    Refused(Error),
    /// Another try may help.
    Failed(Error),
}

impl Unopened {
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Refused(error) | Self::Failed(error) => error,
        }
    }
}

/// Opens a stream, from the event after this one on.
pub(super) async fn open(
    wire: &Wire,
    stamp: &Stamp,
    last: Option<HeaderValue>,
) -> Result<(Content, Uri), Unopened> {
    let asked = wire.ask(&wire.endpoint.uri, &Sent::Get(stamp, last)).await;
    let answered = asked.map_err(|error| match error.kind() {
        ErrorKind::Transport => Unopened::Failed(error),
        _ => Unopened::Refused(error),
    })?;
    let status = answered.head.status;
    if status.is_success() {
        return match answer::served(&answered.head, answered.body, wire.limit).await {
            Ok(Served::Events(body)) => Ok((body, answered.from)),
            Ok(Served::Whole(_)) => Err(Unopened::Refused(Error::decode(
                "the server answered with a message in place of a stream",
            ))),
            Err(error) => Err(Unopened::Refused(error)),
        };
    }
    let error = answer::not_taken(status, answered.body).await;
    let busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status);
    Err(match busy || status.is_server_error() {
        true => Unopened::Failed(error),
        false => Unopened::Refused(error),
    })
}

/// Comes back to a stream until it is open again.
///
/// # Errors
/// When it cannot be: the request whose stream it is is lost.
pub(super) async fn reopen(
    wire: &Wire,
    stamp: &Stamp,
    last: HeaderValue,
    reader: &mut Reader,
    tries: &mut Tries,
) -> Result<(), Error> {
    let mut failure = None;
    while !tries.are_over() {
        sleep(tries.pause(reader.retry(), jitter())).await;
        match open(wire, stamp, Some(last.clone())).await {
            Ok((body, _)) => {
                tries.opened();
                reader.open(body);
                return Ok(());
            }
            Err(Unopened::Refused(error)) => {
                failure = Some(error);
                break;
            }
            Err(Unopened::Failed(error)) => {
                tries.failed();
                failure = Some(error);
            }
        }
    }
    let lost = Error::transport(
        "the response stream ended before the response, and could not be resumed: the request \
         is lost",
    );
    Err(match failure {
        Some(failure) => lost.caused_by(failure),
        None => lost,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(failures: u32, visits: u32) -> Tries {
        Tries { failures, visits }
    }

    /// LHTTP-C-03
    #[test]
    fn nobody_comes_back_earlier_than_the_server_says() {
        for retry in [0, 1, 500, 1000, 10_000, 1_000_000, u64::MAX] {
            let retry = Duration::from_millis(retry);
            for (failures, visits) in [(0, 0), (1, 0), (0, 1), (7, 0), (0, 999), (u32::MAX, 7)] {
                for jitter in [0, 100, 255] {
                    let tries = after(failures, visits);
                    for pause in [
                        tries.pause(Some(retry), jitter),
                        tries.long_pause(Some(retry), jitter),
                    ] {
                        assert!(pause >= retry.max(SHORTEST), "{tries:?} {retry:?}");
                        assert!(pause <= retry.max(LONGEST), "{tries:?} {retry:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn pauses_grow_where_the_server_names_none() {
        for pause in [Tries::pause, Tries::long_pause] {
            let grown: Vec<_> = (0..8)
                .map(|tries| pause(&after(tries, 0), None, 0).as_secs())
                .collect();
            assert_eq!(grown, [1, 2, 4, 8, 16, 30, 30, 30]);
            let early = pause(&after(0, 2), None, 255);
            assert!(early > Duration::from_secs(3) && early < Duration::from_secs(4));
        }
        // Somebody waits, and the server said when: that is then.
        let half = Duration::from_millis(500);
        assert_eq!(after(0, 7).pause(Some(half), 0), half);
        assert_eq!(after(0, 7).long_pause(Some(half), 0), LONGEST);
    }

    #[test]
    fn no_stream_is_come_back_to_for_ever() {
        let mut tries = Tries::default();
        for _ in 0..VISITS {
            assert!(!tries.are_over());
            tries.failed();
            tries.opened();
        }
        assert!(tries.are_over());
        tries.rewarded();
        for _ in 0..FAILURES {
            assert!(!tries.are_over());
            tries.failed();
        }
        assert!(tries.are_over());
    }
}
