//! JSON as people write it into settings: with comments and with commas before a closing bracket.

/// The same text as plain JSON. What is left out becomes blanks, so that lines and columns stay.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Where the last comma is, if it follows a value and nothing but blanks and comments came
    // after it.
    let mut comma = None;
    let mut last = ' ';
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while let Some(first) = rest.chars().next() {
        let token = match first {
            '"' => string(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment(rest),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(token);
        rest = after;
        if token.len() > 1 && token.starts_with('/') {
            let blank = |c: char| if matches!(c, '\n' | '\r') { c } else { ' ' };
            plain.extend(token.chars().map(blank));
            continue;
        }
        if !first.is_ascii_whitespace() {
            if let (']' | '}', Some(at)) = (first, comma) {
                plain.replace_range(at..at + 1, " ");
            }
            let follows_value = !matches!(last, '[' | '{' | ',' | ':');
            comma = (first == ',' && follows_value).then_some(plain.len());
            last = first;
        }
        plain.push_str(token);
    }
    plain
}

/// How long the comment is that the text begins with.
fn comment(text: &str) -> usize {
    let end = text[2..].find("*/");
    end.map_or(text.len(), |end| 2 + end + 2)
}

/// How long the string is that the text begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str(&plain(text))
    }

    #[test]
    fn comments_and_last_commas_are_left_out() {
        let text = "\u{feff}// settings\n{ /* ü, } */ \"a\": [1, 2, /* 3 */ ], // \"b\": 2,\n\
                    \"c\": {\"d\": null,\n},\n}\n// the end";
        let expected = json!({ "a": [1, 2], "c": { "d": null } });
        assert_eq!(read(text).expect("JSON"), expected);
    }

    #[test]
    fn strings_stay_as_they_are() {
        let text = r#"["http://a//b", "/* no */", "\"// ,]", ",", "\\", ",}"]"#;
        assert_eq!(plain(text), text);
    }

    /// All short texts of what matters here.
    #[test]
    fn whatever_is_json_already_stays_as_it_is() {
        const CHARACTERS: &[u8] = b"\"/*,]}[{:\\1\n";
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            let longer = texts.iter().flat_map(|text| {
                let characters = CHARACTERS.iter().copied().map(char::from);
                characters.map(move |character| format!("{text}{character}"))
            });
            texts = longer.collect();
            for text in &texts {
                let made = plain(text);
                assert_eq!(made.len(), text.len(), "{text}");
                if serde_json::from_str::<Value>(text).is_ok() {
                    assert_eq!(made, *text);
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_stays_wrong_and_where_it_was() {
        for wrong in [
            "[,]",
            "{\"a\" 1,}",
            "[1,,]",
            "/* {}",
            "\"",
            "[1 / 2]",
            ",",
            "{\"a\":,}",
            "/*/ 1",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let error = read("{ // comment\n/* a\nb */ \"x\": oops }").expect_err("no value");
        assert_eq!((error.line(), error.column()), (3, 11));
    }
}
