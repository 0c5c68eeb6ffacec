//! JSON numbers, compared without rounding.

use std::cmp::Ordering;

use serde_json::Number;

/// Beyond this, floats are compared as what they are.
const FAR: f64 = 1e37;

/// A JSON number: an integer however it is spelt, or another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Exact {
    Integer(i128),
    Float(f64),
}

impl Exact {
    /// Nothing if it is too great for any number there is.
    pub(super) fn of(number: &Number) -> Option<Self> {
        if let Some(integer) = number.as_i64() {
            return Some(Self::Integer(integer.into()));
        }
        if let Some(integer) = number.as_u64() {
            return Some(Self::Integer(integer.into()));
        }
        let float = number.as_f64().filter(|float| float.is_finite())?;
        Some(match float.fract() == 0.0 && float.abs() < FAR {
            true => Self::Integer(float as i128),
            false => Self::Float(float),
        })
    }

    /// Whether there is nothing after the point.
    pub(super) fn is_integer(self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(float) => float.fract() == 0.0,
        }
    }

    pub(super) fn at_most(self, most: Self) -> bool {
        self.order(most) != Some(Ordering::Greater)
    }

    fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b),
            (Self::Integer(a), Self::Float(b)) => Some(against(a, b)),
            (Self::Float(a), Self::Integer(b)) => Some(against(b, a).reverse()),
        }
    }
}

/// An integer against a float that is none, or is far away.
fn against(integer: i128, float: f64) -> Ordering {
    if float.abs() >= FAR {
        return match float > 0.0 {
            true => Ordering::Less,
            false => Ordering::Greater,
        };
    }
    // It has a fraction, so it lies between two integers, and equals none.
    match integer <= float.floor() as i128 {
        true => Ordering::Less,
        false => Ordering::Greater,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        let number: Number = serde_json::from_str(text).expect("a number");
        Exact::of(&number).expect("not too great")
    }

    #[test]
    fn numbers_are_compared_as_they_are_written() {
        // Each is less than the next.
        let sorted = [
            "-1e300",
            "-9223372036854775808",
            "-9007199254740993",
            "-9007199254740992",
            "-1.5",
            "-1",
            "-0.5",
            "0",
            "0.5",
            "1",
            "1.5",
            "9007199254740992",
            "9007199254740993",
            "18446744073709551614",
            "18446744073709551615",
            "1e30",
            "1e300",
        ];
        for (at, low) in sorted.iter().enumerate() {
            assert!(exact(low).at_most(exact(low)), "{low}");
            for high in &sorted[at + 1..] {
                assert!(exact(low).at_most(exact(high)), "{low} {high}");
                assert!(!exact(high).at_most(exact(low)), "{high} {low}");
            }
        }
    }

    #[test]
    fn an_integer_may_be_spelt_with_a_point() {
        for integer in ["2", "2.0", "-0.0", "1e3", "1e300", "-5e0"] {
            assert!(exact(integer).is_integer(), "{integer}");
        }
        for other in ["2.5", "-0.1", "1e-3"] {
            assert!(!exact(other).is_integer(), "{other}");
        }
        assert_eq!(exact("2.0"), exact("2"));
    }
}
