//! Canonical JSON: only JSON has a form, and the form says all of it, in whatever order.
#![no_main]

use antiphon_core::{
    canonical::{Ambiguous, canonical},
    depth::exceeds,
};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

fuzz_target!(|text: &str| {
    let json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    let mut form = b"before".to_vec();
    if let Err(why) = canonical(text, &mut form) {
        assert_eq!(form, b"before");
        match why {
            Ambiguous::TooDeep => assert!(exceeds(text, 128)),
            why => assert_eq!(json, why != Ambiguous::NotJson, "{text}"),
        }
        return;
    }
    assert!(json && !exceeds(text, 128), "{text}");
    let form = &form["before".len()..];

    let mut rest = form;
    let mut back = String::new();
    read(&mut rest, &mut back);
    assert!(rest.is_empty());
    same(&back, form);

    // Some numbers fit no tree, and others lose digits there.
    if let Ok(tree) = serde_json::from_str::<Value>(text)
        && whole_numbers_only(&tree)
    {
        assert_eq!(
            serde_json::from_str::<Value>(&back).ok().map(whole),
            Some(tree.clone())
        );
        same(&reversed(tree).to_string(), form);
    }
});

fn same(text: &str, form: &[u8]) {
    let mut again = Vec::new();
    canonical(text, &mut again).expect("it had a form");
    assert_eq!(again, form, "{text}");
}

/// Spells the value at the start of a form as JSON.
fn read(form: &mut &[u8], json: &mut String) {
    match take(form) {
        b'n' => json.push_str("null"),
        b't' => json.push_str("true"),
        b'f' => json.push_str("false"),
        b'#' | b'~' => json.push_str(until(form, b';')),
        b's' => {
            let length: usize = until(form, b':').parse().expect("a length");
            let (bytes, rest) = form.split_at(length);
            *form = rest;
            let text = str::from_utf8(bytes).expect("UTF-8");
            json.push_str(&serde_json::to_string(text).expect("a string"));
        }
        b'[' => {
            json.push('[');
            while form[0] != b']' {
                read(form, json);
                json.push_str(if form[0] == b']' { "" } else { "," });
            }
            take(form);
            json.push(']');
        }
        b'{' => {
            json.push('{');
            while form[0] != b'}' {
                read(form, json);
                json.push(':');
                read(form, json);
                json.push_str(if form[0] == b'}' { "" } else { "," });
            }
            take(form);
            json.push('}');
        }
        other => panic!("{other} begins no value"),
    }
}

fn take(form: &mut &[u8]) -> u8 {
    let (first, rest) = form.split_first().expect("more");
    *form = rest;
    *first
}

fn until<'a>(form: &mut &'a [u8], end: u8) -> &'a str {
    let length = form.iter().position(|byte| *byte == end).expect("an end");
    let (before, rest) = form.split_at(length);
    *form = &rest[1..];
    str::from_utf8(before).expect("ASCII")
}

fn whole_numbers_only(tree: &Value) -> bool {
    match tree {
        // Beyond this, a number that comes back with an exponent is rounded.
        Value::Number(number) => number.as_i64().is_some_and(|n| n.unsigned_abs() < 1 << 53),
        Value::Array(items) => items.iter().all(whole_numbers_only),
        Value::Object(map) => map.values().all(whole_numbers_only),
        _ => true,
    }
}

/// The same tree, with numbers that came as `12e1` whole again.
fn whole(tree: Value) -> Value {
    match tree {
        Value::Number(number) => Value::from(number.as_f64().expect("a number") as i64),
        Value::Array(items) => Value::Array(items.into_iter().map(whole).collect()),
        Value::Object(map) => map
            .into_iter()
            .map(|(name, value)| (name, whole(value)))
            .collect(),
        other => other,
    }
}

fn reversed(tree: Value) -> Value {
    match tree {
        Value::Array(items) => Value::Array(items.into_iter().map(reversed).collect()),
        Value::Object(map) => {
            let members = map.into_iter().rev();
            Value::Object(Map::from_iter(
                members.map(|(name, value)| (name, reversed(value))),
            ))
        }
        other => other,
    }
}
