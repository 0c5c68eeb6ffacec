//! Forms that are derived.

use antiphon::{Choice, Form, types::Version};
use serde_json::{Map, Value, json};

#[derive(Debug, Form)]
struct Confirm {
    confirm: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Choice)]
enum Class {
    Economy,
    #[form(title = "First class")]
    First,
}

#[derive(Debug, Clone, Copy, PartialEq, Choice)]
enum Extra {
    Meal,
    #[form(rename = "wi-fi")]
    Wifi,
    LegRoom,
}

#[derive(Debug, PartialEq, Form)]
struct Booking {
    /// Who travels
    #[form(title = "Name", min_length = 1, max_length = 80)]
    name: String,
    #[form(format = "email", default = "nobody@example.org")]
    mail: String,
    #[form(pattern = "^[A-Z]{2}[0-9]+$", rule = "two letters, then digits")]
    code: String,
    #[form(min = 1, max = 120, default = 30)]
    age: u8,
    #[form(min = 0.0)]
    weight: f64,
    vegetarian: bool,
    #[form(default = true)]
    insured: bool,
    #[form(default = Class::First)]
    class: Class,
    #[form(min_items = 1, max_items = 2, default = [Extra::Meal, Extra::Wifi])]
    extras: Vec<Extra>,
    /// Where to book
    #[form(
        title = "Region",
        options("eu-west-1", "us-east-1"),
        default = "us-east-1"
    )]
    region: String,
    #[form(options("a", "b"), default = ["b"])]
    zones: Vec<String>,
    classes: Option<Vec<Class>>,
    r#type: Option<String>,
    #[form(rename = "bigNumber")]
    big: Option<i64>,
    /// Short note
    ///
    /// At the desk.
    #[form(title)]
    note: Option<String>,
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

fn filled_in() -> Map<String, Value> {
    object(json!({
        "name": "Ada", "mail": "ada@example.org", "code": "AB12", "age": 36, "weight": 61.5,
        "vegetarian": false, "insured": true, "class": "economy", "extras": ["leg_room", "wi-fi"],
        "region": "eu-west-1", "zones": [],
    }))
}

#[test]
fn a_form_is_sent_as_it_is_declared() {
    let schema = serde_json::to_value(Booking::definition().schema()).expect("a value");
    assert_eq!(
        schema,
        json!({"type": "object", "properties": {
            "name": {"type": "string", "title": "Name", "description": "Who travels",
                "minLength": 1, "maxLength": 80},
            "mail": {"type": "string", "format": "email", "default": "nobody@example.org"},
            "code": {"type": "string"},
            "age": {"type": "integer", "minimum": 1, "maximum": 120, "default": 30},
            "weight": {"type": "number", "minimum": 0.0},
            "vegetarian": {"type": "boolean"},
            "insured": {"type": "boolean", "default": true},
            "class": {"type": "string", "default": "first", "oneOf": [
                {"const": "economy", "title": "Economy"},
                {"const": "first", "title": "First class"}]},
            "extras": {"type": "array", "minItems": 1, "maxItems": 2,
                "items": {"type": "string", "enum": ["meal", "wi-fi", "leg_room"]},
                "default": ["meal", "wi-fi"]},
            "region": {"type": "string", "title": "Region", "description": "Where to book",
                "enum": ["eu-west-1", "us-east-1"], "default": "us-east-1"},
            "zones": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]},
                "default": ["b"]},
            "classes": {"type": "array", "items": {"anyOf": [
                {"const": "economy", "title": "Economy"},
                {"const": "first", "title": "First class"}]}},
            "type": {"type": "string"},
            "bigNumber": {"type": "integer"},
            "note": {"type": "string", "title": "Short note", "description": "At the desk."},
        }, "required": ["name", "mail", "code", "age", "weight", "vegetarian", "insured", "class",
            "extras", "region", "zones"]})
    );
}

#[test]
fn later_revisions_know_all_of_it() {
    let definition = Booking::definition();
    for version in [Version::V2025_11_25, Version::V2026_07_28] {
        assert_eq!(definition.schema_in(version), *definition.schema());
        assert_eq!(definition.content_from(version, filled_in()), filled_in());
    }
}

#[test]
fn the_first_revision_with_forms_gets_what_it_knows() {
    let early = Booking::definition().schema_in(Version::V2025_06_18);
    let classes = "Any of these, separated by commas: economy (Economy), first (First class)";
    assert_eq!(
        serde_json::to_value(early).expect("a value"),
        json!({"type": "object", "properties": {
            "name": {"type": "string", "title": "Name", "description": "Who travels",
                "minLength": 1, "maxLength": 80},
            "mail": {"type": "string", "format": "email"},
            "code": {"type": "string"},
            "age": {"type": "integer", "minimum": 1, "maximum": 120},
            "weight": {"type": "number", "minimum": 0.0},
            "vegetarian": {"type": "boolean"},
            "insured": {"type": "boolean", "default": true},
            "class": {"type": "string", "enum": ["economy", "first"],
                "enumNames": ["Economy", "First class"]},
            "extras": {"type": "string", "description":
                "1 to 2 of these, separated by commas: meal, wi-fi, leg_room"},
            "region": {"type": "string", "title": "Region", "description": "Where to book",
                "enum": ["eu-west-1", "us-east-1"]},
            "zones": {"type": "string", "description": "Any of these, separated by commas: a, b"},
            "classes": {"type": "string", "description": classes},
            "type": {"type": "string"},
            "bigNumber": {"type": "integer"},
            "note": {"type": "string", "title": "Short note", "description": "At the desk."},
        }, "required": ["name", "mail", "code", "age", "weight", "vegetarian", "insured", "class",
            "extras", "region", "zones"]})
    );
}

#[test]
fn what_the_first_revision_sends_is_read() {
    let mut content = filled_in();
    content.insert("extras".into(), "leg_room, wi-fi".into());
    content.insert("zones".into(), "".into());
    let content = Booking::definition().content_from(Version::V2025_06_18, content);
    assert_eq!(content, filled_in());
}

#[test]
fn what_fits_is_read_and_written_back() {
    let booking = Booking::read(filled_in()).expect("it fits");
    assert_eq!(booking.extras, [Extra::LegRoom, Extra::Wifi]);
    assert_eq!(booking.class, Class::Economy);
    assert_eq!((booking.age, booking.note.as_deref()), (36, None));
    assert_eq!(booking.write(), filled_in());

    let mut more = filled_in();
    more.insert("note".into(), "x".into());
    more.insert("bigNumber".into(), i64::MIN.into());
    more.insert("unknown".into(), Value::Null);
    let booking = Booking::read(more.clone()).expect("what is unknown is ignored");
    more.remove("unknown");
    assert_eq!(booking.write(), more);
}

#[test]
fn all_that_is_wrong_is_told_in_the_order_of_the_fields() {
    let content = object(json!({
        "note": 5, "name": "", "code": "a s3cret", "age": 0, "weight": -0.5, "vegetarian": "yes",
        "insured": null, "class": "First class", "extras": [], "region": "mars", "zones": ["c"],
        "classes": ["first", 1], "bigNumber": 1e30,
    }));
    let errors = Booking::read(content.clone()).expect_err("much is wrong");
    assert_eq!(
        errors,
        [
            "`name`: must have at least 1 character",
            "`mail`: is required",
            "`code`: must be two letters, then digits",
            "`age`: must be at least 1",
            "`weight`: must be at least 0.0",
            "`vegetarian`: must be true or false",
            "`insured`: must be true or false",
            "`class`: must be one of `economy`, `first`",
            "`extras`: must have at least 1 item",
            "`region`: must be one of `eu-west-1`, `us-east-1`",
            "`zones`: must be one of `a`, `b`",
            "`classes`: must be a list of texts",
            "`bigNumber`: must be at most 9223372036854775807",
            "`note`: must be a text",
        ]
    );
    assert_eq!(Booking::definition().errors(&content), errors);
}

#[test]
fn a_form_with_one_field_is_made_of_it() {
    assert!(Confirm::from(true).confirm);
    assert_eq!(
        Confirm::from(false).write(),
        object(json!({"confirm": false}))
    );
}
