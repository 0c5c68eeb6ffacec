//! [`Random`]: which flow comes next. The same for every run, so that one that failed can be run
//! again.

/// A sequence of numbers (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// One of several, the heavier the likelier.
    pub(crate) fn pick<T: Copy>(&mut self, weighed: &[(T, usize)]) -> T {
        let all = weighed.iter().map(|(_, weight)| weight).sum();
        let mut left = self.below(all);
        for (one, weight) in weighed {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return *one,
            }
        }
        unreachable!("the number is below the sum of all weights")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heavier_is_the_likelier() {
        let mut random = Random(1);
        let mut counts = [0; 3];
        for _ in 0..10_000 {
            counts[random.pick(&[(0, 1), (1, 8), (2, 1)])] += 1;
        }
        assert!(counts[1] > 7_500 && counts[0] > 700 && counts[2] > 700);
    }
}
