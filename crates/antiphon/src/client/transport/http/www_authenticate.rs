//! Reads `WWW-Authenticate` headers (RFC 9110, 11.6.1).
//!
//! Where a server breaks the grammar and means only one thing, it is understood: commas too many or
//! too few, and values such as URLs without their quotes.

use std::borrow::Cow;

/// One challenge of a header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scheme<'a> {
    name: &'a str,
    params: Vec<(&'a str, Cow<'a, str>)>,
}

impl<'a> Scheme<'a> {
    /// The challenges of one header, in order. What is none is passed over.
    pub(super) fn all(header: &'a str) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut rest = header;
        // Just behind the name of a scheme, where a token68 may stand.
        let mut named = false;
        loop {
            let next = rest.trim_start_matches(|c: char| c == ',' || is_blank(c));
            named &= !rest[..rest.len() - next.len()].contains(',');
            if next.is_empty() {
                return found;
            }
            if let Some(text) = next.strip_prefix('"') {
                // Nobody's value; a challenge within it would be none.
                rest = quoted(text).1;
                continue;
            }
            let (word, after) = until(next, |c| is_blank(c) || ",=\"".contains(c));
            let behind = after.trim_start_matches(is_blank);
            match behind.strip_prefix('=') {
                Some(text) => {
                    let (value, after) = value(text.trim_start_matches(is_blank));
                    if let (Some(last), Some(value)) = (found.last_mut(), value) {
                        last.params.push((word, value));
                    }
                    (rest, named) = (after, false);
                }
                None if named => (rest, named) = (after, false),
                None => {
                    found.push(Self {
                        name: word,
                        params: Vec::new(),
                    });
                    (rest, named) = (after, true);
                }
            }
        }
    }

    /// Whether it is this one.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// A parameter. Of one that stands twice, which it must not, the first counts.
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        let mut params = self.params.iter();
        let found = params.find(|(given, _)| given.eq_ignore_ascii_case(name));
        found.map(|(_, value)| &**value)
    }
}

/// The value that a text begins with, and what follows. None is the end of a token68, or is cut
/// off.
fn value(text: &str) -> (Option<Cow<'_, str>>, &str) {
    if let Some(text) = text.strip_prefix('"') {
        return quoted(text);
    }
    let (value, rest) = until(text, |c| c == ',' || is_blank(c));
    let value = (!value.is_empty() && !value.starts_with('=')).then_some(value);
    (value.map(Cow::Borrowed), rest)
}

/// A quoted string whose first quote is gone, and what follows; none if it does not end.
fn quoted(text: &str) -> (Option<Cow<'_, str>>, &str) {
    let mut value = Cow::Borrowed("");
    let mut rest = text;
    loop {
        let (plain, after) = until(rest, |c| "\"\\".contains(c));
        value += plain;
        let mut special = after.chars();
        match (special.next(), special.next()) {
            (Some('"'), _) => return (Some(value), &after[1..]),
            (Some('\\'), Some(escaped)) => value.to_mut().push(escaped),
            _ => return (None, ""),
        }
        rest = special.as_str();
    }
}

/// A text up to the first of these characters, and from there on.
fn until(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

fn is_blank(character: char) -> bool {
    character.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A header as `scheme(name=value|name=value)` for each challenge.
    fn read(header: &str) -> String {
        let shown = Scheme::all(header).into_iter().map(|scheme| {
            let params = scheme.params.iter();
            let params: Vec<_> = params
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            format!("{}({})", scheme.name, params.join("|"))
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn challenges_are_told_apart() {
        for (header, expected) in [
            ("", ""),
            ("Bearer", "Bearer()"),
            (r#"Bearer realm="x""#, "Bearer(realm=x)"),
            (
                r#"Bearer error=invalid_token, scope="a b""#,
                "Bearer(error=invalid_token|scope=a b)",
            ),
            (
                r#"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
                r#"Basic(realm=simple) Newauth(realm=apps|type=1|title=Login to "apps")"#,
            ),
            ("Negotiate, Bearer scope=a", "Negotiate() Bearer(scope=a)"),
            // A token68.
            (
                "NTLM TlRMTVNTUAAC==, Bearer scope=a",
                "NTLM() Bearer(scope=a)",
            ),
            (
                "Bearer scope=a, Negotiate YII/+x=",
                "Bearer(scope=a) Negotiate()",
            ),
            (
                "Negotiate YII/+x ,\tBearer scope=a",
                "Negotiate() Bearer(scope=a)",
            ),
            // Blanks and commas where they may be.
            (
                ", ,Bearer  realm = \"x\" ,, scope\t=\ta,",
                "Bearer(realm=x|scope=a)",
            ),
            // A value is not looked into.
            (
                r#"Basic realm="a, Bearer scope=b, \"c\\", Bearer scope="d,e""#,
                r#"Basic(realm=a, Bearer scope=b, "c\) Bearer(scope=d,e)"#,
            ),
            (r#"Bearer realm="", scope=a"#, "Bearer(realm=|scope=a)"),
        ] {
            assert_eq!(read(header), expected, "{header}");
        }
    }

    #[test]
    fn what_can_be_understood_is() {
        for (header, expected) in [
            (r#"Bearer realm="x" scope="a""#, "Bearer(realm=x|scope=a)"),
            (
                "Bearer resource_metadata=https://a.example/b?c=d, scope=a",
                "Bearer(resource_metadata=https://a.example/b?c=d|scope=a)",
            ),
            (
                r#"Bearer realm="x"Basic realm=y"#,
                "Bearer(realm=x) Basic(realm=y)",
            ),
            ("Bearer scope=, error=e", "Bearer(error=e)"),
            ("scope=a, Bearer error=e", "Bearer(error=e)"),
            (r#"Bearer "scope=a, Basic", error=e"#, "Bearer(error=e)"),
            ("Bearer error=e, =a", "Bearer(error=e|=a)"),
            // What is cut off may not be what was meant.
            (
                r#"Bearer error=e, resource_metadata="https://a.exa"#,
                "Bearer(error=e)",
            ),
            (r#"Bearer realm="\"#, "Bearer()"),
            (r#"Bearer realm="Malmö \ö""#, "Bearer(realm=Malmö ö)"),
        ] {
            assert_eq!(read(header), expected, "{header}");
        }
    }

    #[test]
    fn names_have_no_case_and_count_once() {
        let found = Scheme::all("bEARER Scope=a, sCOPE=b");
        assert!(found[0].is("Bearer") && !found[0].is("Beare"));
        assert_eq!(found[0].param("scope"), Some("a"));
        assert_eq!(found[0].param("realm"), None);
    }

    proptest! {
        /// Nothing panics, and what surrounds a challenge in quotes never becomes one.
        #[test]
        fn any_text_is_read(text in r#"([\x00-\x7f]|[ ,="\\a]|ö|\PC){0,60}"#) {
            Scheme::all(&text);
            let escaped = text.replace('\\', r"\\").replace('"', "\\\"");
            let header = format!("Basic realm=\"{escaped}\", Bearer scope=\"s\"");
            let found = Scheme::all(&header);
            prop_assert_eq!(found.len(), 2);
            prop_assert_eq!(found[0].param("realm"), Some(&*text));
            prop_assert_eq!(found[1].param("scope"), Some("s"));
        }
    }
}
