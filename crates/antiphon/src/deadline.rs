//! Deadlines, also after spans that somebody made as long as they can be.

use std::time::Duration;

use tokio::time::Instant;

/// So long after `now`, or so late that nobody will see it.
pub(crate) fn after(now: Instant, span: Duration) -> Instant {
    /// No clock goes on for ever.
    const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
    now.checked_add(span.min(FAR)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_span_ends_too() {
        let now = Instant::now();
        let hour = Duration::from_secs(3600);
        assert_eq!(after(now, hour) - now, hour);
        let last = after(now, Duration::MAX);
        assert!(last > after(now, hour * 24 * 365));
        // One more still fits.
        assert!(after(last, hour) > last);
    }
}
