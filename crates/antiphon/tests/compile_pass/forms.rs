//! Forms of every shape.

use antiphon::{Choice, Form};

/// The derives write whole paths, whatever is called like what they need.
mod shadowed {
    #![allow(dead_code, non_camel_case_types, clippy::upper_case_acronyms)]

    struct Option;
    struct Some;
    struct None;
    struct Result;
    struct Ok;
    struct Err;
    struct String;
    struct Vec;
    struct Value;
    struct Map;
    struct Field;
    struct Definition;
    struct u64;
    struct str;
    trait Form {}
    const DEFAULT: bool = true;

    #[derive(antiphon::Choice)]
    pub(super) enum Choice {
        Left,
        #[form(title = "Right")]
        Right,
    }

    #[derive(antiphon::Form)]
    pub(super) struct Shadowed {
        #[form(default = DEFAULT)]
        flag: bool,
        #[form(min_length = 1, max_length = 5, pattern = "^a", default = "abc")]
        text: std::string::String,
        #[form(min_items = 1, default = [Choice::Left])]
        list: std::vec::Vec<Choice>,
        #[form(options("a"))]
        picked: std::option::Option<std::string::String>,
    }
}

const MOST: u32 = 7;

#[derive(Form)]
pub(crate) struct Everything {
    a: i8,
    b: i16,
    c: i32,
    d: i64,
    e: isize,
    f: u8,
    g: u16,
    h: u32,
    i: u64,
    j: usize,
    #[form(min = -1.5, max = 2.5e3, default = 0.5)]
    k: f32,
    l: f64,
    #[form(min = -5, max = 5, default = -5)]
    m: Option<i32>,
    #[form(max = MOST * 2, default = MOST)]
    n: Option<u32>,
    #[form(title = concat!("a", "b"), description = "c")]
    o: Option<bool>,
    p: Option<Side>,
    #[form(max_items = 1, default = [])]
    q: Option<Vec<Side>>,
    #[form(options("x"), min_items = 1)]
    r: Option<Vec<String>>,
    #[form(not_a_secret, rename = "{pin}")]
    s: String,
    #[form(format = "date-time", default = "2026-07-28T09:30:00Z")]
    t: Option<String>,
    content: String,
    errors: String,
    value: String,
}

#[derive(Choice)]
pub(crate) enum Side {
    Left = 5,
    Right = 7,
}

/// A form with a single field of a type that is itself optional.
#[derive(Form)]
struct Perhaps {
    content: Option<String>,
}

fn is_form<T: Form>() {}

#[test]
fn they_are_forms() {
    is_form::<Everything>();
    is_form::<shadowed::Shadowed>();
    assert!(Perhaps::from(None).write().is_empty());
}

#[test]
fn every_definition_can_be_made() {
    assert_eq!(Everything::definition().schema().properties.len(), 23);
    assert_eq!(
        shadowed::Shadowed::definition().schema().properties.len(),
        4
    );
    assert_eq!(
        Side::from_value(Side::Left.value()).map(|it| it as u8),
        Some(5)
    );
    assert_eq!(
        Side::from_value(Side::Right.value()).map(|it| it as u8),
        Some(7)
    );
}
