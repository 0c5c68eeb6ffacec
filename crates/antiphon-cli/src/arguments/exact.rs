//! Numbers and JSON as they were typed: what would be rounded on its way is refused instead.

use serde::de::IgnoredAny;
use serde_json::{Number, Value};

/// Why a text is not taken for a number.
#[derive(Debug, PartialEq)]
pub(super) enum Unread {
    /// It is none.
    NoNumber,
    /// It is one, with a fraction.
    NotWhole,
    /// It is one that cannot be sent as it is; this says why.
    Inexact(String),
}

/// A number as JSON writes it.
pub(super) fn number(text: &str) -> Result<Number, Unread> {
    let text = text.trim();
    let begins = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if !begins || serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Err(Unread::NoNumber);
    }
    let Ok(number) = serde_json::from_str::<Number>(text) else {
        return Err(Unread::Inexact("it is too large to be sent".to_owned()));
    };
    match Decimal::of(text) == Decimal::of(&number.to_string()) {
        true => Ok(number),
        false => Err(Unread::Inexact(rounded(&number))),
    }
}

/// A whole number; `5.0` and `5e3` are such, too, and are sent without the point.
pub(super) fn whole(text: &str) -> Result<Number, Unread> {
    let number = number(text)?;
    let decimal = Decimal::of(text.trim());
    if decimal.exponent < 0 {
        return Err(Unread::NotWhole);
    }
    if !number.is_f64() {
        return Ok(number);
    }
    let plain = decimal.plain();
    let plain = plain.and_then(|plain| serde_json::from_str::<Number>(&plain).ok());
    Ok(plain.filter(|plain| !plain.is_f64()).unwrap_or(number))
}

/// Whether two numbers are worth the same, however they are written.
pub(crate) fn same(one: &Number, other: &Number) -> bool {
    one == other || Decimal::of(&one.to_string()) == Decimal::of(&other.to_string())
}

/// JSON with all its numbers as they are written. The error says where.
pub(crate) fn json(text: &str) -> Result<Value, String> {
    let value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    for (at, token) in numbers(text) {
        if let Err(Unread::Inexact(why)) = number(token) {
            let before = &text[..at];
            let line = before.matches('\n').count() + 1;
            let column = at - before.rfind('\n').map_or(0, |end| end + 1) + 1;
            return Err(format!(
                "a number cannot be kept as it is at line {line} column {column}: {why}"
            ));
        }
    }
    Ok(value)
}

fn rounded(number: &Number) -> String {
    format!("it would be sent as {number}")
}

/// The numbers in a text that is known to be JSON, and where they begin.
fn numbers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            match bytes[at] {
                b'"' => at = end_of_string(bytes, at + 1),
                b'-' | b'0'..=b'9' => {
                    let start = at;
                    let inside =
                        |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    at += bytes[at..].iter().take_while(|byte| inside(byte)).count();
                    return Some((start, &text[start..at]));
                }
                _ => at += 1,
            }
        }
        None
    })
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// What a number is worth: its digits, without zeros at either end, times a power of ten.
#[derive(Debug, PartialEq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Of a text that is known to be a number in JSON.
    fn of(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{before}{after}");
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Self {
                negative: false,
                digits: String::new(),
                exponent: 0,
            };
        }
        // Whatever does not fit is far from anything that can be sent.
        let exponent = exponent.parse().unwrap_or(match exponent.starts_with('-') {
            true => i64::MIN / 2,
            false => i64::MAX / 2,
        });
        let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX / 4);
        Self {
            negative,
            exponent: exponent - length(after) + length(&digits) - length(significant),
            digits: significant.trim_start_matches('0').to_owned(),
        }
    }

    /// Without an exponent, if it then is short enough to be a machine's whole number.
    fn plain(&self) -> Option<String> {
        let zeros = usize::try_from(self.exponent).ok()?;
        if self.digits.is_empty() {
            return Some("0".to_owned());
        }
        let sign = if self.negative { "-" } else { "" };
        let fits = self.digits.len().checked_add(zeros)? <= 20;
        fits.then(|| format!("{sign}{}{}", self.digits, "0".repeat(zeros)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sent_as_they_are_typed_or_not_at_all() {
        for (typed, sent) in [
            ("0", "0"),
            ("-7", "-7"),
            (" 7 ", "7"),
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("0.1", "0.1"),
            ("1.50", "1.5"),
            ("1e23", "1e+23"),
            ("2E-3", "0.002"),
            ("100000000000000000000", "1e+20"),
            ("0e99999999999999999999", "0.0"),
        ] {
            let number = number(typed).expect(typed);
            let sent: Number = serde_json::from_str(sent).expect("a number");
            assert_eq!(number, sent, "{typed}");
        }
        for typed in [
            "18446744073709551617",
            "-9223372036854775809",
            "123456789012345678901234567890",
            "0.1000000000000000055",
            "1e400",
            "-1e400",
            "1e-400",
            "1e99999999999999999999",
            "9007199254740993.0",
        ] {
            let read = number(typed);
            assert!(matches!(read, Err(Unread::Inexact(_))), "{typed}: {read:?}");
        }
        for typed in [
            "", "x", "+1", ".5", "5.", "0x10", "1_000", "01", "NaN", "true", "1 2", "-",
        ] {
            assert_eq!(number(typed), Err(Unread::NoNumber), "{typed}");
        }
    }

    #[test]
    fn whole_numbers_lose_their_point() {
        for (typed, sent) in [
            ("5", "5"),
            ("5.0", "5"),
            ("5e3", "5000"),
            ("1.5e1", "15"),
            ("-0", "0"),
            ("-2.00", "-2"),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            assert_eq!(whole(typed).expect(typed).to_string(), sent);
        }
        assert!(whole("1e30").expect("whole").is_f64());
        for typed in ["5.5", "1e-1", "15e-1"] {
            assert_eq!(whole(typed), Err(Unread::NotWhole), "{typed}");
        }
    }

    #[test]
    fn json_says_where_a_number_would_be_rounded() {
        let value = json(r#"{"a-1": ["1e400", "\"2", 9007199254740993, -1.5e3]}"#);
        assert_eq!(
            value.expect("JSON").to_string(),
            r#"{"a-1":["1e400","\"2",9007199254740993,-1500.0]}"#
        );
        let error = json("{\n  \"id\": 123456789012345678901234567890\n}").expect_err("rounded");
        assert!(error.contains("line 2 column 9"), "{error}");
        let error = json("{\n  \"id\": }").expect_err("no JSON");
        assert!(error.contains("line 2 column 9"), "{error}");
        assert!(json("1e400").is_err());
    }
}
