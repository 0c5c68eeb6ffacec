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

/// What stands around a form has no say in what is written for it.
mod bare {
    #![no_implicit_prelude]
    #![deny(warnings)]
    #![allow(dead_code)]

    #[derive(::antiphon::Choice)]
    pub(super) enum Size {
        #[form(title = "Small")]
        Small,
        #[deprecated]
        Large,
    }

    #[derive(::antiphon::Form)]
    #[allow(non_snake_case)]
    pub(super) struct Bare {
        r#type: ::std::string::String,
        #[form(min = 1, max = 5, default = 2)]
        r#match: ::std::option::Option<u8>,
        size: Size,
        #[deprecated]
        #[form(min_items = 1, default = [Size::Small])]
        sizes: ::std::vec::Vec<Size>,
        #[cfg(any())]
        not_there: (),
        #[cfg_attr(all(), form(max_length = 9))]
        Capital: ::std::string::String,
        #[form(format = "date", default = "2026-07-28")]
        day: ::std::string::String,
    }

    #[derive(::antiphon::Form)]
    #[allow(non_snake_case)]
    pub(super) struct One {
        Size: Size,
    }
}

/// Another trait has a method of that name, too.
mod ambiguous {
    #[allow(dead_code)]
    trait Into {
        fn into(self) -> u8;
    }

    impl Into for &str {
        fn into(self) -> u8 {
            7
        }
    }

    #[derive(antiphon::Choice)]
    pub(super) enum Side {
        Left,
    }

    #[derive(antiphon::Form)]
    pub(super) struct Ambiguous {
        pub(super) side: Side,
    }
}

/// Forms are written by macros of others, too.
macro_rules! form {
    ($name:ident { $field:ident: $kind:ty }, $title:literal, $wire:expr, $about:expr, $most:expr) => {
        #[derive(Form)]
        struct $name {
            #[doc = $about]
            #[form(title = $title, rename = $wire, max_length = $most, default = $wire)]
            $field: $kind,
            #[doc = $title]
            #[form(title, options($title), default = $title)]
            #[allow(dead_code)]
            chosen: String,
            #[form(pattern = $title, default = $title)]
            #[allow(dead_code)]
            written: Option<String>,
        }
    };
}
form!(Made { text: String }, "A title", "wire", "About it.", 5 + 4);

#[test]
fn forms_can_be_made_by_macros() {
    let schema = serde_json::to_value(Made::definition().schema()).expect("a value");
    let wire = &schema["properties"]["wire"];
    assert_eq!(wire["title"], "A title");
    assert_eq!(wire["description"], "About it.");
    assert_eq!(wire["maxLength"], 9);
    assert_eq!(schema["properties"]["chosen"]["title"], "A title");
    let made = Made {
        text: "x".to_owned(),
        chosen: "A title".to_owned(),
        written: None,
    };
    assert_eq!(made.write().len(), 2);
    assert_eq!(made.text, "x");
}

#[test]
fn nothing_around_a_form_changes_it() {
    let bare = bare::Bare::definition().schema();
    let names: Vec<_> = bare.properties.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["type", "match", "size", "sizes", "Capital", "day"]);
    let ambiguous = ambiguous::Ambiguous {
        side: ambiguous::Side::Left,
    };
    assert_eq!(ambiguous.write()["side"], "left");
    assert!(is_documented());
}

fn is_documented() -> bool {
    /// Doc
    #[derive(Form)]
    struct Documented {
        /** "Quoted" {braces} \ back
         * and a second line
         */
        #[form(title)]
        #[allow(dead_code)]
        block: String,
        /// One.
        ///
        /// - "a"
        ///   - b
        #[allow(dead_code)]
        lines: String,
    }
    let schema = serde_json::to_value(Documented::definition().schema()).expect("a value");
    let fields = &schema["properties"];
    assert_eq!(fields["block"]["title"], r#""Quoted" {braces} \ back"#);
    assert_eq!(fields["block"]["description"], "and a second line");
    assert_eq!(fields["lines"]["description"], "One.\n\n- \"a\"\n  - b");
    true
}
