//! The nesting cap. The envelope skips raw JSON without recursion, so depth has to be bounded by
//! hand before a value is handed to code that does recurse.

/// Whether `json` nests objects and arrays deeper than `max` levels.
///
/// The text need not be valid JSON: brackets inside strings do not count, everything else does.
/// A text with at most `max` opening brackets cannot be too deep, so the usual message costs
/// one vectorised scan.
pub fn exceeds(json: &str, max: usize) -> bool {
    let bytes = json.as_bytes();
    let few = match bytes.len() < SHORT {
        true => openings(bytes) <= max,
        false => memchr::memchr2_iter(b'{', b'[', bytes).nth(max).is_none(),
    };
    if few {
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

/// Texts up to here have their brackets counted, not searched for: a usual message has some ten within
/// a few hundred bytes, and each that is found costs more than those bytes. Counting takes a fifth of
/// the instructions there, and five times as many where a megabyte has few.
const SHORT: usize = 4096;

/// How many opening brackets there are.
fn openings(bytes: &[u8]) -> usize {
    // Short enough to be counted in a byte each, so that the compiler compares many at a time: 16,
    // of which this is a multiple. One bit is all that the two brackets differ by.
    let chunks = bytes.chunks(240);
    let count = |chunk: &[u8]| {
        let opens = chunk.iter().map(|byte| u8::from(byte | 0x20 == b'{'));
        usize::from(opens.sum::<u8>())
    };
    chunks.map(count).sum()
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
    fn it_does_not_matter_how_long_a_text_is() {
        for padding in [0, 239, 240, 241, SHORT, 3 * SHORT] {
            let padding = "x".repeat(padding);
            for (levels, max) in [(3, 2), (3, 3), (300, 299), (300, 300)] {
                let (open, close) = ("[".repeat(levels), "]".repeat(levels));
                let text = format!("{open}\"{padding}\"{close}");
                assert_eq!(exceeds(&text, max), levels > max, "{levels} {max}");
            }
        }
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
