//! A point in time, handed in by whoever has a clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since the beginning of 1970. Never beyond 48 bits, which last to the year 10889.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(u64);

impl Moment {
    /// The last one there is.
    pub const LAST: Self = Self((1 << 48) - 1);

    /// So many milliseconds since the beginning of 1970.
    pub fn from_millis(millis: u64) -> Self {
        Self(millis.min(Self::LAST.0))
    }

    /// Milliseconds since the beginning of 1970.
    pub fn as_millis(self) -> u64 {
        self.0
    }

    /// This long after.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        let span = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self::from_millis(self.0.saturating_add(span))
    }

    /// How long it is from `earlier` to this; nothing if it is the other way round.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// What lies before 1970 is its beginning.
impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::default().after(since)
    }
}

impl From<Moment> for SystemTime {
    fn from(moment: Moment) -> Self {
        UNIX_EPOCH + Duration::from_millis(moment.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_first_and_a_last() {
        assert_eq!(
            Moment::from(UNIX_EPOCH - Duration::from_secs(1)).as_millis(),
            0
        );
        assert_eq!(Moment::from_millis(u64::MAX), Moment::LAST);
        assert_eq!(Moment::from_millis(5).after(Duration::MAX), Moment::LAST);
        assert_eq!(Moment::from_millis(5).since(Moment::LAST), Duration::ZERO);
        let later = Moment::from_millis(1_500).since(Moment::from_millis(1_000));
        assert_eq!(later, Duration::from_millis(500));
        let time = UNIX_EPOCH + Duration::from_millis(1_500);
        assert_eq!(SystemTime::from(Moment::from(time)), time);
    }
}
