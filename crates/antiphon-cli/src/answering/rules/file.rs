//! A file of answers as plain data, be it TOML or JSON.

use std::path::Path;

use serde_json::{Map, Value};

use crate::{arguments, bounded, failure::Failure, printable};

/// What is in a file. Errors name the place, and nothing that stands there: answers may be
/// nobody else's business.
pub(super) fn read(path: &Path) -> Result<Value, Failure> {
    let name = printable::line(&path.to_string_lossy());
    let text = bounded::read(path, bounded::LARGEST)
        .map_err(|error| Failure::usage(format!("cannot read the answers: {name}: {error}")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let read = match is_json(path, text) {
        true => arguments::json(text).map_err(|error| format!("this is not JSON: {error}")),
        false => toml(text),
    };
    read.map_err(|error| Failure::usage(format!("{name}: {error}")))
}

/// As the name says, or else as it looks.
fn is_json(path: &Path, text: &str) -> bool {
    let extension = path.extension().unwrap_or_default();
    if extension.eq_ignore_ascii_case("json") || extension.eq_ignore_ascii_case("toml") {
        return extension.eq_ignore_ascii_case("json");
    }
    let text = text.trim_start();
    // `[[answer]]` begins like a list.
    let items = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{') || items.is_some_and(|items| items.starts_with(['{', ']']))
}

fn toml(text: &str) -> Result<Value, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let place = error.span().and_then(|span| text.get(..span.start));
        let place = place.map(|before| {
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default();
            let column = column.chars().count() + 1;
            format!(" at line {line} column {column}")
        });
        let place = place.unwrap_or_default();
        format!(
            "this is not TOML: {}{place}",
            printable::line(error.message())
        )
    })?;
    json(toml::Value::Table(table))
}

/// Dates become texts, as forms have them.
fn json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .ok_or_else(|| "inf and nan cannot be sent".to_owned())?
            .into(),
        toml::Value::Boolean(said) => said.into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(items) => {
            Value::Array(items.into_iter().map(json).collect::<Result<_, _>>()?)
        }
        toml::Value::Table(members) => {
            let members = members.into_iter();
            let members = members.map(|(name, member)| Ok((name, json(member)?)));
            Value::Object(members.collect::<Result<Map<_, _>, String>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unnamed_files_are_what_they_look_like() {
        for (path, text, expected) in [
            ("a.json", "x = 1", true),
            ("a.TOML", "{}", false),
            ("a", " {\"answer\": []}", true),
            ("a", "[\n {}]", true),
            ("a", "[]", true),
            ("a.txt", "[[answer]]", false),
            ("a", "# rules", false),
            ("a", "", false),
        ] {
            assert_eq!(is_json(Path::new(path), text), expected, "{path} {text}");
        }
    }

    #[test]
    fn toml_becomes_json() {
        let text = "a = [1, 2.5, true]\nday = 2026-07-28\nat = 2026-07-28T10:00:00Z\n[b]\nc = 'd'";
        let expected = json!({
            "a": [1, 2.5, true], "day": "2026-07-28", "at": "2026-07-28T10:00:00Z", "b": {"c": "d"},
        });
        assert_eq!(toml(text).expect("TOML"), expected);
        assert!(toml("a = inf").is_err());
    }

    #[test]
    fn errors_say_where_and_not_what() {
        let error = toml("[[answer]]\nkey = \"k\"\npin = \"sesame\" x").expect_err("no TOML");
        assert!(error.contains("line 3 column"), "{error}");
        assert!(!error.contains("sesame"), "{error}");
    }
}
