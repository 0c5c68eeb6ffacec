//! Numbers: exact decimals, however they are spelt.

use super::{Broken, Reader, write_decimal};

impl<'a> Reader<'a> {
    pub(super) fn number(&mut self) -> Result<(), Broken> {
        let start = self.at;
        let negative = self.eat(b'-');
        let whole = self.digits()?;
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(Broken::NotJson);
        }
        let fraction = if self.eat(b'.') { self.digits()? } else { "" };
        let exponent = if self.eat(b'e') || self.eat(b'E') {
            self.exponent()?
        } else {
            Some(0)
        };
        let fraction = fraction.trim_end_matches('0');
        let (digits, more, shift) = match (whole, fraction) {
            (_, "") => {
                let digits = whole.trim_end_matches('0');
                (digits, "", (whole.len() - digits.len()) as i64)
            }
            ("0", _) => (fraction.trim_start_matches('0'), "", last_power(fraction)),
            _ => (whole, fraction, last_power(fraction)),
        };
        if digits.is_empty() {
            self.out.extend_from_slice(b"#0e0;");
            return Ok(());
        }
        let Some(power) = exponent.and_then(|exponent| exponent.checked_add(shift)) else {
            self.out.push(b'~');
            self.out
                .extend_from_slice(&self.text.as_bytes()[start..self.at]);
            self.out.push(b';');
            return Ok(());
        };
        self.out
            .extend_from_slice(if negative { b"#-" } else { b"#" });
        self.out.extend_from_slice(digits.as_bytes());
        self.out.extend_from_slice(more.as_bytes());
        self.out
            .extend_from_slice(if power < 0 { b"e-" } else { b"e" });
        write_decimal(power.unsigned_abs(), self.out);
        self.out.push(b';');
        Ok(())
    }

    /// What follows the `e` of a number; `None` if it is beyond 64 bits.
    fn exponent(&mut self) -> Result<Option<i64>, Broken> {
        let start = self.at;
        let _sign = self.eat(b'+') || self.eat(b'-');
        self.digits()?;
        Ok(self.text[start..self.at].parse().ok())
    }

    /// One decimal digit or more.
    fn digits(&mut self) -> Result<&'a str, Broken> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        match &self.text[start..self.at] {
            "" => Err(Broken::NotJson),
            digits => Ok(digits),
        }
    }
}

/// The power of ten of the last digit of a fraction. No text is so long that it does not fit.
fn last_power(fraction: &str) -> i64 {
    -(fraction.len() as i64)
}
