//! What a form's checks let pass, it reads, and writes back as it came.

use antiphon::{Choice, Form};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Map, Value, json};

#[derive(Choice)]
enum Plain {
    One,
    #[form(rename = "two, or more")]
    Two,
}

#[derive(Choice)]
enum Titled {
    #[form(title = "The first")]
    One,
    Two,
}

#[derive(Form)]
struct Everything {
    text: String,
    #[form(min_length = 1, max_length = 3)]
    short: Option<String>,
    #[form(format = "date")]
    date: Option<String>,
    #[form(pattern = "^[a-c]*$")]
    letters: Option<String>,
    yes: bool,
    byte: Option<u8>,
    signed: Option<i8>,
    wide: Option<i64>,
    natural: Option<u64>,
    #[form(min = -5, max = 5)]
    narrow: Option<i32>,
    #[form(min = -0.5, max = 1e20)]
    float: Option<f64>,
    single: Option<f32>,
    plain: Option<Plain>,
    titled: Option<Titled>,
    #[form(min_items = 1, max_items = 3)]
    several: Option<Vec<Plain>>,
    others: Option<Vec<Titled>>,
    #[form(options("x", "y"))]
    picked: Option<String>,
    #[form(options("x", "y"))]
    list: Option<Vec<String>>,
}

fn number() -> impl Strategy<Value = Value> {
    let edges = [
        json!(0),
        json!(-0.0),
        json!(2.0),
        json!(-5),
        json!(-5.5),
        json!(5),
        json!(127),
        json!(128.0),
        json!(255),
        json!(-128),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(9_223_372_036_854_775_808_u64),
        json!(9_223_372_036_854_775_808.0),
        json!(-9_223_372_036_854_775_808.0),
        json!(u64::MAX),
        json!(18_446_744_073_709_551_616.0),
        json!(1e20),
        json!(1e39),
        json!(f64::MAX),
        json!(1e-300),
    ];
    prop_oneof![
        select(edges.to_vec()),
        (-300_i64..300).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-300.0..300.0_f64).prop_map(|float| Value::from(float.round())),
    ]
}

fn text() -> impl Strategy<Value = Value> {
    let edges = [
        "",
        "x",
        "y",
        "one",
        "two",
        "two, or more",
        "The first",
        "2024-02-29",
        "2026-02-29",
        "äöü",
        "abc",
    ];
    prop_oneof![
        4 => select(edges.to_vec()).prop_map(Value::from),
        1 => "\\PC{0,4}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => number(),
        4 => text(),
        2 => vec(text(), 0..4).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => select(vec![json!(null), json!({}), json!([1])]),
    ]
}

/// Any value for one field or two; what must be there is, mostly.
fn content() -> impl Strategy<Value = Map<String, Value>> {
    let names: Vec<String> = (Everything::definition().schema().properties.iter())
        .map(|(name, _)| name.clone())
        .chain(["unknown".to_owned()])
        .collect();
    let some = vec((select(names), value()), 1..3);
    (option::weighted(0.95, any::<bool>()), some).prop_map(|(yes, some)| {
        let mut content = Map::new();
        content.insert("text".into(), "x".into());
        content.extend(yes.map(|yes| ("yes".to_owned(), yes.into())));
        content.extend(some);
        content
    })
}

/// Whether it is the same, however numbers are spelt.
fn same(a: &Value, b: &Value, single: bool) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            let [a, b] = [a.as_f64(), b.as_f64()].map(|it| it.expect("a number"));
            a == b || single && a as f32 == b as f32
        }
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_fits_is_read_and_written_back(content in content()) {
        let errors = Everything::definition().errors(&content);
        match Everything::read(content.clone()) {
            Ok(form) => {
                prop_assert!(errors.is_empty(), "{errors:?}");
                let mut expected = content;
                expected.remove("unknown");
                // Left blank is left out.
                expected.retain(|_, value| !value.is_null());
                let written = form.write();
                prop_assert_eq!(written.len(), expected.len());
                for (name, value) in &expected {
                    let back = &written[name];
                    prop_assert!(same(value, back, name == "single"), "{name}: {value} {back}");
                }
            }
            Err(told) => {
                prop_assert!(!errors.is_empty(), "{told:?} was not told before");
                prop_assert_eq!(told, errors);
            }
        }
    }

    /// The validator of JSON Schema is of the same mind, where it knows as much.
    #[test]
    fn a_validator_is_of_the_same_mind(content in content()) {
        let schema = Everything::definition().schema();
        let schema = serde_json::to_value(schema).expect("a value");
        let validator = jsonschema::options().should_validate_formats(true).build(&schema);
        let validator = validator.expect("a schema");
        let ours = Everything::definition().errors(&content);
        let mut told = content.clone();
        // A field that is left blank is left out, unless it is required.
        told.retain(|name, value| !value.is_null() || ours.iter().any(|line| line.contains(name)));
        let theirs = validator.is_valid(&Value::Object(told));
        // Patterns, what a type holds at most, and that a choice is made once are not in the schema.
        let hidden = ["letters", "wide", "natural", "single", "an item twice"];
        let only_hidden = ours.iter().all(|line| hidden.iter().any(|it| line.contains(it)));
        prop_assert!(theirs == ours.is_empty() || theirs && only_hidden, "{ours:?} {content:?}");
    }
}
