//! URI templates ([RFC 6570](https://www.rfc-editor.org/rfc/rfc6570)), in both directions: the
//! URI that some values make, and the values that some URI holds.
//!
//! All operators of levels 1 to 3 are here (`{x}` `{+x}` `{#x}` `{.x}` `{/x}` `{;x}` `{?x}`
//! `{&x}`, with several variables each), and from level 4 the `*` for lists. What could not be
//! read back, such as a prefix (`{x:3}`) or `{a}{b}`, is refused by [`Template::parse`].

use std::fmt;

use parse::Part;

mod bindings;
mod charset;
mod expand;
mod matching;
mod parse;

pub use bindings::{Binding, Bindings};

/// A URI template, parsed once and then used for any number of URIs.
///
/// ```
/// use antiphon_core::template::{Bindings, Template};
///
/// let books = Template::parse("shop://books/{isbn}{?lang}")?;
/// let found = books.matches("shop://books/978-3?lang=sv").expect("one of ours");
/// assert_eq!(found, Bindings::new().with("isbn", "978-3").with("lang", "sv"));
/// assert!(books.matches("shop://films/978-3").is_none());
///
/// let uri = books.expand(&Bindings::new().with("isbn", "Ä 1"));
/// assert_eq!(uri, "shop://books/%C3%84%201");
/// # Ok::<(), antiphon_core::template::InvalidTemplate>(())
/// ```
#[derive(Debug, Clone)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

impl Template {
    /// Reads a template. One without any expression is fine: it matches itself alone.
    ///
    /// # Errors
    /// The first thing that is not RFC 6570, or not supported, or could not be read back: two
    /// expressions side by side of which nobody could tell where one ends, a variable that
    /// stands twice, a prefix (`{x:3}`).
    pub fn parse(text: &str) -> Result<Self, InvalidTemplate> {
        Ok(Self {
            text: text.to_owned(),
            parts: parse::parse(text)?,
        })
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether `text` has an expression at all, well-formed or not; otherwise it is a plain URI.
    pub fn is_template(text: &str) -> bool {
        text.contains('{')
    }

    /// The names of the variables, each once, in the order they stand.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let variables = self.parts.iter().flat_map(Part::variables);
        variables.map(|variable| &*variable.name)
    }

    /// The values that `uri` holds, decoded, or `None` if it is not one of this template's.
    ///
    /// - Literal text is compared byte for byte.
    /// - `{x}` and `{+x}` must be there, and not empty; the other operators are optional. A value
    ///   holds nothing unescaped that the operator would have escaped, so `{x}` has no `/`, `?` or
    ///   `#`, while `{+x}` may have them. Letters beyond ASCII may come unescaped.
    /// - `{/x*}` and its kind give a [`Binding::Many`], everything else a [`Binding::One`].
    /// - `{?a,b}`, `{&a,b}` and `{;a,b}` take their parameters in any order, each at most once
    ///   unless it is a list, and no others.
    /// - If a URI can be read in two ways, as with `{x}-{y}` and `1-2-3`, the first value is the
    ///   shorter one (`1`). A URI whose values would be read otherwise once written out again
    ///   (`1%2D2-3`) is not matched.
    ///
    /// The work grows with the length of the URI times the number of expressions, not faster.
    ///
    /// # Security
    /// Values are passed on as they are, once decoded. That includes `..`, `/` (also from `%2F`
    /// in a plain `{x}`), `\` and NUL: a handler that turns a value into a path has to check that
    /// it stays where it should (RES-S-16).
    pub fn matches(&self, uri: &str) -> Option<Bindings> {
        let found = matching::read(&self.parts, uri)?;
        let again = self.expand(&found);
        let stable = again == uri || matching::read(&self.parts, &again).as_ref() == Some(&found);
        stable.then_some(found)
    }

    /// The URI that `values` make. A variable without a value leaves nothing, and a value
    /// without a variable is not used.
    ///
    /// Values are plain text, not yet escaped. So, unlike in the RFC, `{+x}` and `{#x}` escape a
    /// `%` even where it looks like an escape already, as well as a comma between several
    /// values, and `{+x}` escapes a `?` or `#` where a `{?...}` or `{#...}` follows directly.
    ///
    /// [`matches`](Self::matches) gives the same values back, provided that none is empty, all
    /// of `{x}` and `{+x}` are there, of `{/a,b}`, `{.a,b}` and `{#a,b}` none is missing before
    /// one that is there, lists are where a `*` is and only there, and no value holds what ends
    /// it in this template, such as a `-` in `{x}-{y}` or a `.` in `{.x*}`.
    pub fn expand(&self, values: &Bindings) -> String {
        expand::expand(&self.parts, values)
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a text is not a template, where, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidTemplate {
    at: usize,
    why: String,
}

impl InvalidTemplate {
    fn new(at: usize, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { at, why }
    }

    /// The offset of the fault in the template, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl fmt::Display for InvalidTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "URI template, at byte {}: {}", self.at, self.why)
    }
}

impl std::error::Error for InvalidTemplate {}

#[cfg(test)]
mod tests {
    use proptest::{
        collection::vec, option, prelude::*, sample::select, strategy::Just,
        test_runner::TestCaseError,
    };

    use super::*;

    fn template(text: &str) -> Template {
        Template::parse(text).expect("a template")
    }

    #[test]
    fn variables_come_in_order() {
        let template = template("a:{b}/{+a,c}{?e*,d}");
        assert_eq!(
            template.variables().collect::<Vec<_>>(),
            ["b", "a", "c", "e", "d"]
        );
        assert_eq!(template.as_str(), "a:{b}/{+a,c}{?e*,d}");
    }

    #[test]
    fn a_plain_uri_is_no_template_and_matches_itself() {
        assert!(!Template::is_template("shop://books?all=1"));
        assert!(Template::is_template("shop://books/{isbn}"));
        let plain = template("shop://books?all=1");
        assert_eq!(plain.matches("shop://books?all=1"), Some(Bindings::new()));
        assert_eq!(plain.matches("shop://books?all=12"), None);
        assert_eq!(plain.expand(&Bindings::new()), "shop://books?all=1");
    }

    /// Templates of which every set of filled values can be read back.
    const FAITHFUL: [&str; 22] = [
        "shop://books/{x}",
        "{x}",
        "{+x}",
        "{x}.json",
        "v{x}/{+y}",
        "file:///{+x}",
        "file:///{+x}{?y,z}",
        "file:///{+x}{?y*}{#z}",
        "{+x,y,z}",
        "{+x}/edit",
        "{x,y}:{z*}",
        "a{/x}{?y,z}",
        "a{/x,y}",
        "{x}{/y*}{?z}",
        "{/x*}/edit/{y}",
        "{;x,y*,z}",
        "a{.x}/{y}",
        "a?b=1{&x,y*}",
        "a{#x,y}",
        "a{#x*}",
        "{x*}/{+y*}",
        "{?x}{&y}{#z}",
    ];

    /// Text with much in it that means something in a URI.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            3 => select(vec![
                "a", "-", "..", "/", "?", "#", "%", "%41", "%2F", ",", "&", "=", ";", "x=", "{y}",
                "+", " ", "\0", "é", "😀", ".json", "/edit", "/edit/", "\\",
            ]).prop_map(str::to_owned),
            1 => any::<char>().prop_map(String::from),
        ];
        vec(piece, 1..5).prop_map(|pieces| pieces.concat())
    }

    /// Values for a template: all of what must be there, and some of what may.
    fn values(template: &Template) -> BoxedStrategy<Bindings> {
        let mut bindings = Just(Bindings::new()).boxed();
        for part in &template.parts {
            let Part::Expression(expression) = part else {
                continue;
            };
            let (needed, named) = (
                expression.operator.prefix().is_none(),
                expression.operator.is_named(),
            );
            let each: Vec<_> = expression
                .variables
                .iter()
                .map(|variable| {
                    let value = if variable.explode {
                        vec(text(), 1..4).prop_map(Binding::Many).boxed()
                    } else {
                        text().prop_map(Binding::One).boxed()
                    };
                    let value = if needed {
                        value.prop_map(Some).boxed()
                    } else {
                        option::of(value).boxed()
                    };
                    (Just(variable.name.clone()), value)
                })
                .collect();
            bindings = (bindings, each)
                .prop_map(move |(mut bindings, each)| {
                    for (name, value) in each {
                        match value {
                            Some(value) => bindings = bindings.with(name, value),
                            None if named => {}
                            None => break,
                        }
                    }
                    bindings
                })
                .boxed();
        }
        bindings
    }

    fn any_values() -> impl Strategy<Value = (Template, Bindings)> {
        select(FAITHFUL.to_vec()).prop_flat_map(|text| {
            let template = template(text);
            (Just(template.clone()), values(&template))
        })
    }

    /// A template of random parts, faithful or not, and a URI that often has its shape.
    fn any_parts() -> impl Strategy<Value = (String, String)> {
        let value = || {
            let unit = select(vec![
                "a", "b", "-", ".", ",", "/", "?", "%41", "%2D", "%2e", "%2F", "%25", "%3F", "é",
                "%C3%A9",
            ]);
            vec(unit, 1..4).prop_map(|units| units.concat())
        };
        let part = select(vec![
            ("a", "a"),
            ("-", "-"),
            ("/", "/"),
            (".", "."),
            ("%41", "%41"),
            ("{x}", "1"),
            ("{+y}", "1/2"),
            ("{#z}", "#1"),
            ("{.u}", ""),
            ("{.t,v*}", ".1.2"),
            ("{/w*}", "/1/2"),
            ("{/s,i}", "/1"),
            ("{;r,q}", ";q=1;r"),
            ("{?p,o*}", "?o=1&p=2&o=3"),
            ("{&n}", "&n=1"),
            ("{m,l}", "1,2"),
            ("{k*}", "1,2,3"),
        ]);
        let part = (part, value(), value()).prop_map(|((part, sample), one, two)| {
            let uri = sample.replacen('1', &one, 1).replacen('2', &two, 1);
            (part, uri)
        });
        vec(part, 1..6).prop_map(|parts| parts.into_iter().unzip())
    }

    fn reads_back(template: &Template, values: &Bindings) -> Result<(), TestCaseError> {
        let uri = template.expand(values);
        prop_assert!(uri.is_ascii());
        let found = template.matches(&uri);
        prop_assert_eq!(found.as_ref(), Some(values), "{} {}", template, uri);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_was_expanded_is_read_back((template, values) in any_values()) {
            reads_back(&template, &values)?;
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*", uri in "\\PC*") {
            if let Ok(template) = Template::parse(&text) {
                template.matches(&uri);
            }
            template("{x}-{+y}{?z}").matches(&uri);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn what_was_matched_survives_another_trip((text, uri) in any_parts()) {
            if let Ok(template) = Template::parse(&text)
                && let Some(found) = template.matches(&uri)
            {
                reads_back(&template, &found)?;
            }
        }
    }
}
