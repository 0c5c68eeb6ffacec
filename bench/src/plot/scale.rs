//! A logarithmic axis.

/// From a figure to a place on the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The logarithms of the ends.
    low: f64,
    high: f64,
    /// Where the ends are.
    from: f64,
    to: f64,
}

impl Scale {
    /// That holds all of these figures between two places, and begins and ends at a tick.
    pub(super) fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| *value > 0.0) {
            low = low.min(value.log10());
            high = high.max(value.log10());
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let (low, mut high) = (tick_below(low), tick_above(high));
        if low >= high {
            high = low + 1.0;
        }
        Self {
            low,
            high,
            from,
            to,
        }
    }

    /// From the first of these figures to the last, just as they are; nothing counts as one.
    pub(super) fn between(first: f64, last: f64, from: f64, to: f64) -> Self {
        let (low, high) = (first.max(1.0).log10(), last.max(10.0).log10());
        Self {
            low,
            high,
            from,
            to,
        }
    }

    pub(super) fn place(self, value: f64) -> f64 {
        let part = (value.max(f64::MIN_POSITIVE).log10() - self.low) / (self.high - self.low);
        self.from + part.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// The figures that are named along the axis: fewer where there are many decades.
    pub(super) fn ticks(self) -> Vec<f64> {
        let steps: &[f64] = match self.high - self.low {
            decades if decades > 3.0 => &[1.0],
            decades if decades > 1.5 => &[1.0, 3.0],
            _ => &[1.0, 2.0, 5.0],
        };
        let mut ticks = Vec::new();
        for decade in (self.low.floor() as i32)..=(self.high.ceil() as i32) {
            for step in steps {
                let tick = step * 10_f64.powi(decade);
                let log = tick.log10();
                if log > self.low - 1e-9 && log < self.high + 1e-9 {
                    ticks.push(tick);
                }
            }
        }
        ticks
    }
}

/// The logarithm of 1, 2 or 5 times a power of ten, at or below this one.
fn tick_below(log: f64) -> f64 {
    let steps = [5_f64, 2.0, 1.0].map(f64::log10);
    let found = steps.iter().find(|step| log.floor() + **step <= log + 1e-9);
    log.floor() + found.unwrap_or(&0.0)
}

/// The same, at or above.
fn tick_above(log: f64) -> f64 {
    let steps = [1_f64, 2.0, 5.0, 10.0].map(f64::log10);
    let found = steps.iter().find(|step| log.floor() + **step >= log - 1e-9);
    log.floor() + found.unwrap_or(&1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_ticks_around_the_figures() {
        let scale = Scale::around([7.0, 42.0].into_iter(), 0.0, 100.0);
        let ticks: Vec<String> = scale.ticks().iter().map(|t| format!("{t:.0}")).collect();
        assert_eq!(ticks, ["5", "10", "20", "50"]);
        assert!(scale.place(5.0).abs() < 1e-6 && (scale.place(50.0) - 100.0).abs() < 1e-6);
        assert!(scale.place(7.0) > 0.0 && scale.place(42.0) < 100.0);
    }

    #[test]
    fn many_decades_have_one_tick_each() {
        let scale = Scale::around([0.5, 20_000.0].into_iter(), 0.0, 1.0);
        let ticks = scale.ticks();
        assert_eq!(ticks.first().map(|tick| tick.round()), Some(1.0));
        assert_eq!(ticks.last().map(|tick| tick.round()), Some(10_000.0));
    }

    #[test]
    fn nothing_is_where_one_is() {
        let scale = Scale::between(0.0, 10_000.0, 10.0, 50.0);
        assert_eq!(scale.place(0.0), 10.0);
        assert!((scale.place(100.0) - 30.0).abs() < 1e-9);
        let empty = Scale::around(std::iter::empty(), 0.0, 1.0);
        assert!(empty.place(3.0).is_finite());
    }
}
