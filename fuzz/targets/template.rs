//! URI templates: the first line is a template, the second a URI. Values that were found make a
//! URI in which the same are found again.
#![no_main]

use antiphon_core::template::{Binding, Bindings, Template};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (text, uri) = text.split_once('\n').unwrap_or((text, ""));
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(error) => {
            assert!(text.is_char_boundary(error.at()), "{error}");
            return;
        }
    };
    assert_eq!(template.as_str(), text);
    let names: Vec<_> = template.variables().collect();
    for (index, name) in names.iter().enumerate() {
        assert!(!names[..index].contains(name), "{name} twice");
    }
    if !Template::is_template(text) {
        assert!(names.is_empty());
        assert_eq!(template.expand(&Bindings::new()), text);
        assert_eq!(template.matches(uri).is_some(), uri == text);
    }
    // Expansion writes nothing but URIs, whatever the values are.
    let filled = names
        .iter()
        .fold(Bindings::new(), |all, name| all.with(*name, uri));
    check_uri(&template.expand(&filled));
    let Some(found) = template.matches(uri) else {
        return;
    };
    for (name, value) in found.iter() {
        assert!(names.contains(&name), "{name}");
        assert_ne!(*value, Binding::Many(Vec::new()), "{name}");
    }
    let again = template.expand(&found);
    check_uri(&again);
    assert_eq!(
        template.matches(&again),
        Some(found),
        "{text} {uri} {again}"
    );
});

fn check_uri(uri: &str) {
    let allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    assert!(uri.bytes().all(allowed), "{uri}");
    for (at, _) in uri.match_indices('%') {
        let digits = uri.as_bytes().get(at + 1..at + 3);
        assert!(
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
            "{uri}"
        );
    }
}
