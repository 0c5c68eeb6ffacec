//! One field of a form, or one argument of a tool: asked for in the way that fits its schema,
//! until what is given fits, too.

use std::io;

use antiphon::types::{NumberKind, PrimitiveSchema};
use jsonschema::error::ValidationErrorKind;
use serde_json::{Number, Value};

use super::{Prompts, labels, printable};

/// What became of a field.
#[derive(Debug, PartialEq)]
pub(super) enum Filled {
    With(Value),
    /// It need not be filled in.
    LeftOut,
    Escaped,
}

/// The choice that leaves a field out.
const LEAVE_OUT: &str = "(leave out)";

/// Asks for a field until it fits. `before` is what became of it the last time.
pub(super) fn fill(
    prompts: &mut dyn Prompts,
    name: &str,
    schema: &PrimitiveSchema,
    required: bool,
    before: Option<&Filled>,
) -> io::Result<Filled> {
    let value = match before {
        None | Some(Filled::Escaped) => schema.default_value(),
        Some(Filled::With(value)) => Some(value.clone()),
        // Its default does not come back.
        Some(Filled::LeftOut) => None,
    };
    let mut start = value.map(Start::Value);
    let field = Field {
        label: labels::label(name, schema, required),
        help: labels::help(schema),
        required,
    };
    loop {
        let filled = ask(prompts, &field, schema, start.as_ref())?;
        let wrong = match &filled {
            Entry::Value(value) => wrong(schema, value),
            Entry::Unreadable(why, _) => Some(why.clone()),
            Entry::LeftOut => return Ok(Filled::LeftOut),
            Entry::Escaped => return Ok(Filled::Escaped),
        };
        match (wrong, filled) {
            (None, Entry::Value(value)) => return Ok(Filled::With(value)),
            (why, filled) => {
                let why = why.unwrap_or_default();
                prompts.tell(&format!("  ! {}", printable::excerpt(&why, 300)));
                start = match filled {
                    Entry::Value(value) => Some(Start::Value(value)),
                    Entry::Unreadable(_, text) => Some(Start::Typed(text)),
                    _ => None,
                };
            }
        }
    }
}

/// What a field is shown with.
enum Start {
    Value(Value),
    /// What was no value.
    Typed(String),
}

/// What is said of a field.
struct Field {
    label: String,
    help: String,
    required: bool,
}

/// What was typed or chosen, before it is checked.
enum Entry {
    Value(Value),
    /// Why it is not a value of this kind, and what was typed.
    Unreadable(String, String),
    LeftOut,
    Escaped,
}

fn ask(
    prompts: &mut dyn Prompts,
    field: &Field,
    schema: &PrimitiveSchema,
    start: Option<&Start>,
) -> io::Result<Entry> {
    let (start, typed) = match start {
        Some(Start::Value(value)) => (Some(value), ""),
        Some(Start::Typed(text)) => (None, text.as_str()),
        None => (None, ""),
    };
    // Without any, what is written instead is told to be wrong, and the field can be left.
    if let Some(options) = labels::options(schema).filter(|options| !options.is_empty()) {
        return match is_multiple(schema) {
            true => choose_some(prompts, field, &options, start),
            false => choose(prompts, field, &options, start),
        };
    }
    if let PrimitiveSchema::Boolean(_) = schema {
        if !field.required {
            let options = [("true".into(), "yes".into()), ("false".into(), "no".into())];
            let start = start.map(|start| Value::String(start.to_string()));
            let chosen = choose(prompts, field, &options, start.as_ref())?;
            return Ok(match chosen {
                Entry::Value(Value::String(text)) => Entry::Value((text == "true").into()),
                other => other,
            });
        }
        let said = prompts.yes_or_no(&field.label, &field.help, start.and_then(Value::as_bool))?;
        return Ok(said.map_or(Entry::Escaped, |said| Entry::Value(said.into())));
    }
    let shown = match (schema, start) {
        (PrimitiveSchema::String(_), Some(Value::String(text))) => text.clone(),
        (_, Some(value)) => value.to_string(),
        (_, None) => typed.to_owned(),
    };
    let shown = printable::line(&shown);
    let Some(text) = prompts.write(&field.label, &field.help, &shown)? else {
        return Ok(Entry::Escaped);
    };
    if text.is_empty() && !field.required {
        return Ok(Entry::LeftOut);
    }
    if let Some(start) = start.filter(|_| text == shown) {
        // As it was, and not as it is shown.
        return Ok(Entry::Value(start.clone()));
    }
    Ok(read(schema, text))
}

fn choose(
    prompts: &mut dyn Prompts,
    field: &Field,
    options: &[(String, String)],
    start: Option<&Value>,
) -> io::Result<Entry> {
    let mut shown: Vec<_> = options.iter().map(|(_, shown)| shown.clone()).collect();
    if !field.required {
        shown.push(LEAVE_OUT.to_owned());
    }
    let start = start.and_then(Value::as_str);
    let start = start.and_then(|start| options.iter().position(|(value, _)| value == start));
    // What need not be chosen is not taken for granted.
    let start = start.unwrap_or(if field.required { 0 } else { options.len() });
    let chosen = prompts.choose(&field.label, &field.help, &shown, start)?;
    Ok(match chosen.map(|at| options.get(at)) {
        Some(Some((value, _))) => Entry::Value(value.clone().into()),
        Some(None) => Entry::LeftOut,
        None => Entry::Escaped,
    })
}

fn choose_some(
    prompts: &mut dyn Prompts,
    field: &Field,
    options: &[(String, String)],
    start: Option<&Value>,
) -> io::Result<Entry> {
    let shown: Vec<_> = options.iter().map(|(_, shown)| shown.clone()).collect();
    let marked = start.and_then(Value::as_array);
    let is_marked = |value: &str| marked.is_some_and(|all| all.iter().any(|one| one == value));
    let start: Vec<_> = (0..options.len())
        .filter(|at| is_marked(&options[*at].0))
        .collect();
    let chosen = prompts.choose_some(&field.label, &field.help, &shown, &start)?;
    Ok(match chosen {
        Some(chosen) if chosen.is_empty() && !field.required => Entry::LeftOut,
        Some(chosen) => {
            let values = chosen.iter().filter_map(|at| options.get(*at));
            Entry::Value(values.map(|(value, _)| value.clone()).collect())
        }
        None => Entry::Escaped,
    })
}

fn is_multiple(schema: &PrimitiveSchema) -> bool {
    matches!(
        schema,
        PrimitiveSchema::UntitledMultiSelect(_) | PrimitiveSchema::TitledMultiSelect(_)
    )
}

/// A text as a value of this kind.
fn read(schema: &PrimitiveSchema, text: String) -> Entry {
    match schema {
        PrimitiveSchema::String(_) => Entry::Value(text.into()),
        PrimitiveSchema::Number(field) => match text.trim().parse::<Number>() {
            Ok(number) => Entry::Value(number.into()),
            Err(_) => {
                let kind = match field.kind {
                    NumberKind::Integer => "a whole number",
                    NumberKind::Number => "a number",
                };
                Entry::Unreadable(format!("this is not {kind}"), text)
            }
        },
        _ => match serde_json::from_str(&text) {
            Ok(value) => Entry::Value(value),
            Err(error) => Entry::Unreadable(format!("this is not JSON: {error}"), text),
        },
    }
}

/// Why a value does not fit its schema. What is not understood here is left to the server.
fn wrong(schema: &PrimitiveSchema, value: &Value) -> Option<String> {
    let format = match schema {
        PrimitiveSchema::Other(_) => return None,
        PrimitiveSchema::String(field) => field.format.and_then(labels::of_format),
        _ => None,
    };
    let schema = serde_json::to_value(schema).ok()?;
    // The draft that checks formats by itself. With options the validator would be built for this
    // crate once more, which is a megabyte of it.
    let validator = jsonschema::draft7::new(&schema).ok()?;
    let error = validator.iter_errors(value).next()?;
    Some(match (error.kind(), format) {
        (ValidationErrorKind::Format { .. }, Some(format)) => format!("this is not {format}"),
        (ValidationErrorKind::MinItems { limit }, _) => format!("choose at least {limit}"),
        (ValidationErrorKind::MaxItems { limit }, _) => format!("choose at most {limit}"),
        _ => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::prompts::scripted::{Does, Scripted},
        *,
    };

    /// What a person who does this fills in, and what they were shown.
    fn filled(
        schema: Value,
        required: bool,
        does: impl IntoIterator<Item = Does>,
    ) -> (Filled, String) {
        let Value::Object(schema) = schema else {
            panic!("a schema is an object");
        };
        let mut person = Scripted::new(does);
        let schema = PrimitiveSchema::from_value(schema);
        let filled = fill(&mut person, "field", &schema, required, None).expect("asked");
        assert!(person.is_done());
        (filled, person.shown)
    }

    #[test]
    fn numbers_are_asked_for_until_they_fit() {
        let schema = json!({ "type": "integer", "minimum": 1, "maximum": 9 });
        let does = ["ten", "1.5", "10", "7"].map(Does::Writes);
        let (value, shown) = filled(schema, true, does);
        assert_eq!(value, Filled::With(json!(7)));
        assert!(shown.contains("a whole number from 1 to 9"), "{shown}");
        assert_eq!(shown.matches("  ! ").count(), 3, "{shown}");
    }

    #[test]
    fn texts_must_have_their_length_and_format() {
        let schema = json!({ "type": "string", "format": "email", "maxLength": 12 });
        let does = ["ada", "ada@math.example", "ada@x.org"].map(Does::Writes);
        let (value, shown) = filled(schema, true, does);
        assert_eq!(value, Filled::With(json!("ada@x.org")));
        assert_eq!(shown.matches("  ! ").count(), 2, "{shown}");
    }

    #[test]
    fn dates_and_times_are_those_of_a_calendar() {
        let schema = json!({ "type": "string", "format": "date" });
        let does = ["28.07.2026", "2026-02-30", "2026-07-28"].map(Does::Writes);
        let (value, shown) = filled(schema, true, does);
        assert_eq!(value, Filled::With(json!("2026-07-28")));
        let told = "  ! this is not a date such as 2026-07-28";
        assert_eq!(shown.matches(told).count(), 2, "{shown}");

        let schema = json!({ "type": "string", "format": "date-time" });
        let does = ["2026-07-28", "2026-07-28T12:00:00Z"].map(Does::Writes);
        let (value, _) = filled(schema, true, does);
        assert_eq!(value, Filled::With(json!("2026-07-28T12:00:00Z")));
    }

    #[test]
    fn what_is_optional_may_be_left_out() {
        for schema in [
            json!({ "type": "string" }),
            json!({ "type": "number" }),
            json!({ "type": "object" }),
        ] {
            let (value, _) = filled(schema, false, [Does::Writes("")]);
            assert_eq!(value, Filled::LeftOut);
        }
        for schema in [
            json!({ "type": "boolean", "default": true }),
            json!({ "type": "string", "enum": ["a"] }),
        ] {
            let (value, _) = filled(schema, false, [Does::Picks(LEAVE_OUT)]);
            assert_eq!(value, Filled::LeftOut);
        }
    }

    #[test]
    fn a_required_text_may_be_empty_and_a_number_may_not() {
        let (value, _) = filled(json!({ "type": "string" }), true, [Does::Writes("")]);
        assert_eq!(value, Filled::With(json!("")));
        let does = ["", "3"].map(Does::Writes);
        let (value, _) = filled(json!({ "type": "number" }), true, does);
        assert_eq!(value, Filled::With(json!(3)));
    }

    #[test]
    fn choices_show_titles_and_give_values() {
        let schema = json!({ "type": "string", "default": "b", "oneOf": [
            { "const": "a", "title": "First" }, { "const": "b", "title": "Second" },
        ] });
        let (value, shown) = filled(schema, true, [Does::Picks("First")]);
        assert_eq!(value, Filled::With(json!("a")));
        assert!(shown.contains("from 1"), "the default comes first: {shown}");

        let schema =
            json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"] });
        let (value, _) = filled(schema, true, [Does::Picks("Second")]);
        assert_eq!(value, Filled::With(json!("b")));
    }

    #[test]
    fn several_may_be_marked_but_only_so_many() {
        let schema = json!({ "type": "array", "maxItems": 1, "default": ["b"],
            "items": { "type": "string", "enum": ["a", "b"] } });
        let does = [Does::Marks(&["a", "b"]), Does::Marks(&["a"])];
        let (value, shown) = filled(schema, true, does);
        assert_eq!(value, Filled::With(json!(["a"])));
        assert!(shown.contains("marked [1]"), "{shown}");
    }

    #[test]
    fn a_yes_is_never_taken_for_granted() {
        let (value, shown) = filled(json!({ "type": "boolean" }), true, [Does::Says(false)]);
        assert_eq!(value, Filled::With(json!(false)));
        assert!(shown.contains("from None"), "{shown}");
        // Nor is any other choice that need not be made.
        for (schema, at) in [
            (json!({ "type": "boolean" }), "from 2"),
            (json!({ "type": "string", "enum": ["a"] }), "from 1"),
        ] {
            let (_, shown) = filled(schema, false, [Does::Picks(LEAVE_OUT)]);
            assert!(shown.contains(at), "{shown}");
        }
    }

    /// There is nothing to choose, so nothing that is shown could be chosen.
    #[test]
    fn a_choice_without_options_can_be_left() {
        for schema in [
            json!({ "type": "string", "enum": [] }),
            json!({ "type": "array", "items": { "type": "string", "enum": [] } }),
        ] {
            let does = [Does::Writes(r#""a""#), Does::Escapes];
            let (value, shown) = filled(schema, true, does);
            assert_eq!(value, Filled::Escaped);
            assert!(shown.contains("  ! "), "{shown}");
        }
    }

    #[test]
    fn what_is_no_plain_field_is_written_as_json() {
        let does = ["{", r#"{"deep":[1]}"#].map(Does::Writes);
        let (value, shown) = filled(json!({ "type": "object" }), true, does);
        assert_eq!(value, Filled::With(json!({ "deep": [1] })));
        assert!(shown.contains("as JSON"), "{shown}");
    }

    #[test]
    fn json_stays_json_when_it_is_shown_again() {
        // As it starts, whatever of it could not be shown as it is.
        for default in [json!("fast"), json!({ "a": "\u{202e}" }), json!(null)] {
            let schema = json!({ "type": ["string", "object"], "default": default });
            let start = printable::line(&default.to_string());
            let does = [Does::Writes(start.leak())];
            let (value, shown) = filled(schema, true, does);
            assert_eq!(value, Filled::With(default), "{shown}");
            assert!(!shown.contains('\u{202e}'), "{shown:?}");
        }
        // What could not be read is shown as it was typed.
        let does = ["fast", r#""fast""#].map(Does::Writes);
        let (value, shown) = filled(json!({}), true, does);
        assert_eq!(value, Filled::With(json!("fast")));
        assert!(shown.contains(r#"from "fast""#), "{shown}");
    }

    #[test]
    fn an_empty_default_does_not_keep_a_field_from_being_left_out() {
        let schema = json!({ "type": "string", "minLength": 1, "default": "" });
        let (value, _) = filled(schema, false, [Does::Writes("")]);
        assert_eq!(value, Filled::LeftOut);
    }

    #[test]
    fn the_texts_of_a_server_do_nothing_to_the_terminal() {
        let schema = json!({ "type": "string", "title": "\u{1b}[2J", "description": "\u{202e}x",
            "default": "\u{7}", "oneOf": [{ "const": "\u{1b}c", "title": "\u{1b}]0;t" }] });
        let (value, shown) = filled(schema, true, [Does::Picks("\\u{1b}]0;t")]);
        assert_eq!(value, Filled::With(json!("\u{1b}c")));
        assert!(
            !shown.chars().any(|c| c.is_control() && c != '\n'),
            "{shown:?}"
        );
        let schema = json!({ "type": "string", "title": "\u{1b}[2J", "description": "\u{202e}x",
            "default": "\u{7}" });
        let (value, shown) = filled(schema, true, [Does::Writes("\\u{7}")]);
        assert_eq!(value, Filled::With(json!("\u{7}")), "as it was");
        assert!(
            !shown.contains(['\u{1b}', '\u{202e}', '\u{7}']),
            "{shown:?}"
        );
    }
}
