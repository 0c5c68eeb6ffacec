//! The nesting cap. The envelope skips raw JSON without recursion, so depth has to be bounded by
//! hand before a value is handed to code that does recurse.

/// Whether `json` nests objects and arrays deeper than `max` levels.
///
/// The text need not be valid JSON: brackets inside strings do not count, everything else does.
/// A text with at most `max` opening brackets cannot be too deep, so the usual message costs
/// one vectorised scan.
pub fn exceeds(json: &str, max: usize) -> bool {
    let bytes = json.as_bytes();
    if memchr::memchr2_iter(b'{', b'[', bytes).nth(max).is_none() {
        return false;
    }
    let mut depth = 0usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at + 1),
            b'{' | b'[' => {
                depth += 1;
                if depth > max {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    false
}

/// The index of the quote that closes the string whose content begins at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(step) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += step;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_levels_not_brackets() {
        assert!(!exceeds("[[],[],[],[]]", 2));
        assert!(exceeds("[[[]]]", 2));
        assert!(!exceeds("[[[]]]", 3));
        assert!(exceeds(r#"{"a":[{"b":1}]}"#, 2));
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert!(!exceeds(r#"["[[[[[[","\"[[[[","\\",[1]]"#, 2));
        assert!(exceeds(r#"["\\",[["]"]]]"#, 2));
    }

    #[test]
    fn unfinished_text_is_fine() {
        assert!(!exceeds("[[[\"abc", 3));
        assert!(exceeds("[[[[\"abc\\", 3));
    }

    proptest::proptest! {
        /// Against the obvious recursive measure on real values.
        #[test]
        fn agrees_with_a_parsed_value(levels in 0usize..12, width in 1usize..4, max in 1usize..12) {
            let mut value = serde_json::json!("x[{");
            for level in 0..levels {
                value = if level % 2 == 0 {
                    serde_json::Value::Array(vec![value; width])
                } else {
                    serde_json::json!({ "]}\"\\": value })
                };
                if value.to_string().len() > 4096 { break; }
            }
            fn measure(value: &serde_json::Value) -> usize {
                match value {
                    serde_json::Value::Array(items) => 1 + items.iter().map(measure).max().unwrap_or(0),
                    serde_json::Value::Object(map) => 1 + map.values().map(measure).max().unwrap_or(0),
                    _ => 0,
                }
            }
            proptest::prop_assert_eq!(exceeds(&value.to_string(), max), measure(&value) > max);
        }
    }
}
