//! What a user is shown of a value: a line for each of its fields, and nothing in it can pass for
//! another line, another field or the text before.

use std::{
    fmt::{self, Write as _},
    sync::LazyLock,
};

use regex::Regex;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// Most characters of a value, or of a name, that are shown.
const LONGEST: usize = 200;
/// How many of them are the last ones, where it has more: a path says the most at its end.
const LAST: usize = 60;
/// Most lines.
const MOST: usize = 32;
/// Most marks on one letter; more of them reach into other lines.
const MARKS: usize = 3;

/// The text, and a line for each field of this JSON.
pub(super) fn message(text: &str, json: &str) -> String {
    let mut message = text.to_owned();
    if let Some(fields) = fields(json) {
        for (name, value) in fields.iter().take(MOST) {
            line(&mut message, name, value.get());
        }
        if let Some(more) = fields.len().checked_sub(MOST).filter(|more| *more > 0) {
            _ = write!(message, "\n- (and {more} more)");
        }
    } else if json != "null" {
        // There is nothing to a unit.
        line(&mut message, "", json);
    }
    message
}

/// The fields of an object, or the items of a list, as far as there are any.
fn fields(json: &str) -> Option<Vec<(String, &RawValue)>> {
    let fields: Vec<_> = match json.as_bytes().first()? {
        b'{' => {
            let Members(members) = serde_json::from_str(json).ok()?;
            let members = members.into_iter();
            members.map(|(name, value)| (named(&name), value)).collect()
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            let items = items.into_iter().zip(1..);
            items
                .map(|(value, number): (_, u64)| (number.to_string(), value))
                .collect()
        }
        _ => return None,
    };
    Some(fields).filter(|fields| !fields.is_empty())
}

/// What is said about a value stands before it, where the value cannot say the same.
fn line(message: &mut String, name: &str, json: &str) {
    let text = match json.starts_with('"') {
        true => serde_json::from_str::<String>(json).ok(),
        false => None,
    };
    let (count, shown) = match &text {
        Some(text) => shown(text, Shown::quoted),
        // JSON is on one line and has its quotes escaped; what is invisible it leaves as it is.
        None => shown(json, Shown::plain),
    };
    message.push_str("\n- ");
    message.push_str(name);
    if count > LONGEST {
        let space = if name.is_empty() { "" } else { " " };
        _ = write!(message, "{space}({LONGEST} of {count} characters)");
    }
    if count > LONGEST || !name.is_empty() {
        message.push_str(": ");
    }
    match text {
        Some(_) => _ = write!(message, "\"{shown}\""),
        None => message.push_str(&shown),
    }
}

/// How long a text is, and what is shown of it: all, or its beginning and its end.
fn shown(text: &str, show: fn(&mut Shown, char)) -> (usize, String) {
    let count = text.chars().count();
    let part = |characters: &mut dyn Iterator<Item = char>| {
        let mut shown = Shown::default();
        characters.for_each(|character| show(&mut shown, character));
        shown.text
    };
    if count <= LONGEST {
        return (count, part(&mut text.chars()));
    }
    let first = part(&mut text.chars().take(LONGEST - LAST));
    let last = part(&mut text.chars().skip(count - LAST));
    (count, format!("{first}…{last}"))
}

/// A name as it is, if it is one as programs have them; others are quoted.
fn named(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let first = name.bytes().next();
    if first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name.bytes().all(plain)
        && name.len() <= LONGEST
    {
        return name.to_owned();
    }
    let (count, shown) = shown(name, Shown::quoted);
    match count > LONGEST {
        false => format!("\"{shown}\""),
        true => format!("\"{shown}\" ({count} characters)"),
    }
}

/// A text, made visible.
#[derive(Default)]
struct Shown {
    text: String,
    /// How many marks stand on the last letter; nothing where there is no letter to stand on.
    marks: Option<usize>,
    after_space: bool,
}

impl Shown {
    /// A character of what stands between quotes.
    fn quoted(&mut self, character: char) {
        if matches!(character, '"' | '\\') {
            self.text.push('\\');
        }
        self.plain(character);
    }

    fn plain(&mut self, character: char) {
        let visible = match character {
            // Many of them move what follows to where a line begins.
            ' ' => !self.after_space,
            _ if character.is_ascii() => !character.is_ascii_control(),
            _ => self.is_visible(character),
        };
        self.after_space = character == ' ';
        match visible {
            true => self.text.push(character),
            false => _ = write!(self.text, "{}", character.escape_unicode()),
        }
        match (visible, &mut self.marks) {
            (false, marks) => *marks = None,
            (true, Some(marks)) if is(&MARK, character) => *marks += 1,
            (true, marks) => *marks = Some(0),
        }
    }

    fn is_visible(&self, character: char) -> bool {
        match is(&MARK, character) {
            true => self.marks.is_some_and(|marks| marks < MARKS) && !is(&UNSEEN, character),
            false => !is(&UNSEEN, character),
        }
    }
}

/// What is not seen, or changes how the rest is seen: control characters, line and paragraph
/// separators, what changes the direction of writing, spaces that look like the one, what has no
/// width, what no font knows, and marks around more than one letter.
static UNSEEN: LazyLock<Regex> =
    LazyLock::new(|| class(r"[\p{C}\p{Z}\p{Me}\p{Default_Ignorable_Code_Point}\x{2800}\x{1D159}]"));

/// What stands on the letter before.
static MARK: LazyLock<Regex> = LazyLock::new(|| class(r"\p{M}"));

fn class(class: &str) -> Regex {
    Regex::new(class).expect("a class of characters")
}

fn is(class: &Regex, character: char) -> bool {
    !character.is_ascii() && class.is_match(character.encode_utf8(&mut [0; 4]))
}

/// The members of an object, in order, with their values as they are written.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::{Value, json};

    use super::*;

    fn shown(value: impl Serialize) -> String {
        let json = serde_json::to_string(&value).expect("JSON");
        message("Sure?", &json)
            .strip_prefix("Sure?")
            .expect("the text comes first")
            .to_owned()
    }

    #[test]
    fn every_kind_of_value_is_shown() {
        #[derive(Serialize)]
        struct Unit;
        #[derive(Serialize)]
        enum Shape {
            Plain,
            Wide { by: u8 },
        }
        for (told, expected) in [
            (
                shown(json!({"path": "a b", "n": -1.5})),
                "\n- path: \"a b\"\n- n: -1.5",
            ),
            (
                shown(json!({"a": null, "b": true})),
                "\n- a: null\n- b: true",
            ),
            (
                shown(json!({"a": {"b": ["c", 1]}})),
                "\n- a: {\"b\":[\"c\",1]}",
            ),
            (shown("x"), "\n- \"x\""),
            (shown(7), "\n- 7"),
            (shown(("x", [1])), "\n- 1: \"x\"\n- 2: [1]"),
            (shown(Shape::Plain), "\n- \"Plain\""),
            (shown(Shape::Wide { by: 2 }), "\n- Wide: {\"by\":2}"),
            (shown(()), ""),
            (shown(Unit), ""),
            (shown(json!([])), "\n- []"),
            (shown(json!({})), "\n- {}"),
            // Not as a float, which would be another number.
            (
                shown(u128::MAX),
                "\n- 340282366920938463463374607431768211455",
            ),
        ] {
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn what_deceives_is_made_visible() {
        for (text, expected) in [
            ("notes.txt", "notes.txt"),
            ("naïve e\u{301} 日本語 ✓", "naïve e\u{301} 日本語 ✓"),
            ("a\n- b: \"c\"", r#"a\u{a}- b: \"c\""#),
            (
                "a\r\u{85}\u{2028}\u{2029}\u{b}",
                r"a\u{d}\u{85}\u{2028}\u{2029}\u{b}",
            ),
            (r"\u{a}", r"\\u{a}"),
            ("\u{1b}[2J\u{0}\u{7f}\u{9b}", r"\u{1b}[2J\u{0}\u{7f}\u{9b}"),
            ("a\u{202e}b\u{2066}c\u{61c}", r"a\u{202e}b\u{2066}c\u{61c}"),
            (
                "a\u{200b}\u{200d}\u{feff}\u{ad}",
                r"a\u{200b}\u{200d}\u{feff}\u{ad}",
            ),
            (
                "\u{3164}\u{2800}\u{e0041}\u{fe0f}",
                r"\u{3164}\u{2800}\u{e0041}\u{fe0f}",
            ),
            ("a\u{a0}\u{3000}b", r"a\u{a0}\u{3000}b"),
            ("\u{e000}\u{10ffff}", r"\u{e000}\u{10ffff}"),
            ("a   b", r"a \u{20}\u{20}b"),
            // A mark without a letter stands on the quote, and many reach far.
            ("\u{301}a", r"\u{301}a"),
            (
                "a\u{301}\u{301}\u{301}\u{301}\u{301}b",
                "a\u{301}\u{301}\u{301}\\u{301}\\u{301}b",
            ),
        ] {
            assert_eq!(shown(text), format!("\n- \"{expected}\""), "{text:?}");
            let name = json!({ format!("{text} "): 1 });
            let told = shown(&name);
            assert_eq!(told, format!("\n- \"{expected} \": 1"), "{text:?}");
        }
        // In what is nested, too, where JSON has escapes of its own.
        let nested = shown(json!({"a": ["x\n\u{202e}\"  "]}));
        assert_eq!(nested, "\n- a: [\"x\\n\\u{202e}\\\" \\u{20}\"]");
        // What is written by hand may have lines of its own.
        #[derive(Serialize)]
        struct ByHand {
            a: Box<RawValue>,
        }
        let a = RawValue::from_string("[1,\n2]".to_owned()).expect("JSON");
        assert_eq!(shown(ByHand { a }), "\n- a: [1,\\u{a}2]");
    }

    #[test]
    fn what_is_long_is_cut_and_says_so() {
        let fits = "é".repeat(LONGEST);
        assert_eq!(shown(json!({ "a": fits })), format!("\n- a: \"{fits}\""));
        let (first, last) = ("é".repeat(140), "é".repeat(60));
        let told = shown(json!({ "a": format!("{fits}\"") }));
        let end = format!("{}\\\"", "é".repeat(59));
        assert_eq!(
            told,
            format!("\n- a (200 of 201 characters): \"{first}…{end}\"")
        );
        let told = shown(format!("{fits}{fits}"));
        assert_eq!(
            told,
            format!("\n- (200 of 400 characters): \"{first}…{last}\"")
        );
        let list = vec![1; 300];
        let told = shown(json!({ "a": list }));
        let (first, last) = ("[1".to_owned() + &",1".repeat(69), "1,".repeat(29) + "1]");
        assert_eq!(
            told,
            format!("\n- a (200 of 601 characters): {first}…{last}")
        );
        let name = "n".repeat(201);
        let told = shown(json!({ &name: 1 }));
        let (first, last) = ("n".repeat(140), "n".repeat(60));
        assert_eq!(told, format!("\n- \"{first}…{last}\" (201 characters): 1"));
        let told = shown(vec![0; 40]);
        assert!(told.ends_with("\n- 32: 0\n- (and 8 more)"), "{told}");
        assert!(!shown(vec![0; 32]).contains("more"));
    }

    /// Any JSON of strings that deceive.
    fn values() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            "[ -~\\n\\r\"\\\\]{0,12}",
            any::<String>(),
            Just("x\n- path: \"/etc\"".to_owned()),
            Just(": \"a\"\u{2028}- b".to_owned()),
        ];
        let leaf = prop_oneof![
            text.clone().prop_map(Value::String),
            any::<i32>().prop_map(Value::from),
        ];
        let name = text.clone();
        leaf.prop_recursive(3, 24, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::vec((name.clone(), inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// As many lines as there are fields, each beginning with its own name, with quotes that
        /// end where they should and nothing behind them.
        #[test]
        fn no_value_makes_a_line(members in prop::collection::btree_map("[a-z]{1,3}|\\PC{0,4}|\\n- a: ", values(), 1..5)) {
            let told = shown(&members);
            let lines: Vec<_> = told.split('\n').skip(1).collect();
            prop_assert_eq!(lines.len(), members.len());
            for (line, (name, value)) in lines.iter().zip(&members) {
                let rest = line.strip_prefix("- ").expect("a line");
                let rest = rest.strip_prefix(&named(name)).expect("its name");
                let rest = &rest[rest.find(": ").expect("a colon") + 2..];
                prop_assert!(rest.chars().all(|it| !it.is_control()), "{}", rest);
                if value.is_string() {
                    let inner = rest.trim_end_matches('…');
                    let inner = inner.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
                    let mut characters = inner.expect("quoted").chars();
                    while let Some(character) = characters.next() {
                        prop_assert_ne!(character, '"');
                        if character == '\\' {
                            prop_assert!(matches!(characters.next(), Some('"' | '\\' | 'u')));
                        }
                    }
                }
            }
        }

        /// Other values that are shown whole are shown otherwise.
        #[test]
        fn what_differs_looks_different(one in values(), other in values()) {
            if one != other && shown(&one).len() < LONGEST && shown(&other).len() < LONGEST
                && !one.is_null() && !other.is_null() {
                prop_assert_ne!(shown(json!({"a": one})), shown(json!({"a": other})));
            }
        }
    }
}
