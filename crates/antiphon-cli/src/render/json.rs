//! JSON that is harmless on a terminal: the same value, with everything escaped that deceives.

use std::fmt::Write;

use serde::Serialize;

use super::Style;
use crate::{failure::Failure, printable};

/// On one line for programs, on many at a terminal.
///
/// # Errors
/// When the value is none that JSON can hold.
pub(crate) fn json(value: &impl Serialize, style: &Style) -> Result<String, Failure> {
    let text = match style.terminal {
        true => serde_json::to_string_pretty(value)?,
        false => serde_json::to_string(value)?,
    };
    Ok(harmless(&text))
}

/// On one line, wherever it goes; of values that are JSON anyway.
pub(crate) fn json_line(value: &serde_json::Value) -> String {
    harmless(&value.to_string())
}

/// On many lines; of values that are JSON anyway.
pub(super) fn pretty(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    harmless(&text.unwrap_or_else(|error| format!("{:?}", error.to_string())))
}

/// What deceives stands within strings, but for white space between values.
fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push('\n'),
            '\r' | '\t' => shown.push(' '),
            _ if printable::deceives(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    _ = write!(shown, "\\u{unit:04x}");
                }
            }
            _ => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json, value::RawValue};

    use super::super::tests::{HOSTILE, at_a_terminal, is_harmless, piped};

    #[test]
    fn the_value_stays_the_same_and_does_no_harm() {
        let value = json!({ HOSTILE: [HOSTILE, "\u{7f}\u{e0041}", "é日本\u{1f600}\n\t\"\\", 1.5] });
        for style in [piped(), at_a_terminal(80)] {
            let text = super::json(&value, &style).unwrap();
            assert!(is_harmless(&text), "{text:?}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
        let text = super::json(&"\u{e0041}\u{202e}é", &piped()).unwrap();
        assert_eq!(text, r#""\udb40\udc41\u202eé""#);
    }

    #[test]
    fn programs_get_one_line_and_people_many() {
        let value = json!({ "a": [1] });
        assert_eq!(super::json(&value, &piped()).unwrap(), r#"{"a":[1]}"#);
        let text = super::json(&value, &at_a_terminal(80)).unwrap();
        assert_eq!(text, "{\n  \"a\": [\n    1\n  ]\n}");
    }

    #[test]
    fn text_that_is_passed_on_keeps_its_value() {
        let raw: Box<RawValue> = serde_json::from_str("{\r\"a\"\t:\"\u{9b}2J\"}").unwrap();
        let text = super::json(&raw, &piped()).unwrap();
        assert_eq!(text, r#"{ "a" :"\u009b2J"}"#);
    }
}
