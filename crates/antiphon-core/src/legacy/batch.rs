//! Several messages in one, which only 2025-03-26 has.

use serde_json::value::RawValue;

/// Splits a JSON-RPC batch into its messages, as the text that came (LEG-B-05); `None` if the
/// text is not an array. An empty batch is `Some` of nothing, and no valid message.
///
/// The messages are not looked into and need not be objects.
#[must_use]
pub fn batch(text: &str) -> Option<Vec<&RawValue>> {
    // Most texts are no batch, which the first byte tells.
    let first = text.bytes().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(b'[') => serde_json::from_str(text).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<Vec<&str>> {
        Some(batch(text)?.into_iter().map(RawValue::get).collect())
    }

    /// LEG-B-05
    #[test]
    fn messages_keep_their_text() {
        assert_eq!(
            parts(" [ {\"id\": 1 ,\"a\":[1, 2]} , {\"id\":12345678901234567890123}, 7]\n"),
            Some(vec![
                r#"{"id": 1 ,"a":[1, 2]}"#,
                r#"{"id":12345678901234567890123}"#,
                "7"
            ])
        );
        assert_eq!(parts("[]"), Some(Vec::new()));
    }

    #[test]
    fn nothing_else_is_a_batch() {
        for text in [
            "", " ", "{}", "7", "\"[]\"", "[", "[1,]", "[1 2]", "[{}] x", "[{]}", "null",
        ] {
            assert_eq!(parts(text), None, "{text}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!("[{}{}]", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(parts(&deep).map(|parts| parts.len()), Some(1));
    }
}
