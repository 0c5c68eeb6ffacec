//! What a peer said, short and fit for a log or a terminal.

use std::fmt::Write;

/// At most so many bytes of `text`; what is not printable is escaped.
pub(super) fn excerpt(text: &[u8], longest: usize) -> String {
    let cut = &text[..text.len().min(longest)];
    let mut excerpt = String::with_capacity(cut.len());
    for character in String::from_utf8_lossy(cut).chars() {
        match character {
            // Harmless, and common in what is quoted.
            '"' | '\'' | '\\' => excerpt.push(character),
            _ => write!(excerpt, "{}", character.escape_debug()).expect("a String takes any text"),
        }
    }
    if cut.len() < text.len() {
        excerpt.push('…');
    }
    excerpt
}

/// A peer's word within a sentence of ours.
pub(super) fn word(text: &str) -> String {
    excerpt(text.as_bytes(), 100)
}

/// A peer's sentence within one of ours.
pub(super) fn sentence(text: &str) -> String {
    excerpt(text.as_bytes(), 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_deceives_a_terminal() {
        let said = "it's \"é\"\t\u{1b}[2J\u{202e}\0".as_bytes();
        let shown = r#"it's "é"\t\u{1b}[2J\u{202e}\0"#;
        assert_eq!(excerpt(said, 100), shown);
        assert_eq!(excerpt(b"\xff\xfe", 100), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(excerpt(b"abcdef", 6), "abcdef");
        assert_eq!(excerpt(b"abcdef", 5), "abcde…");
    }
}
