//! What a peer said, short and fit for a log or a terminal.

/// At most so many bytes of `text`; what is not printable is escaped.
pub(crate) fn excerpt(text: &[u8], longest: usize) -> String {
    let cut = &text[..text.len().min(longest)];
    let mut excerpt = printable(&String::from_utf8_lossy(cut), "");
    if cut.len() < text.len() {
        excerpt.push('…');
    }
    excerpt
}

/// A peer's word within a sentence of ours.
pub(crate) fn word(text: &str) -> String {
    excerpt(text.as_bytes(), 100)
}

/// A peer's sentence within one of ours.
pub(crate) fn sentence(text: &str) -> String {
    excerpt(text.as_bytes(), 1000)
}

/// At most so many characters of `text`, which may have several lines; what is not printable is
/// escaped.
pub(crate) fn lines(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => printable(text, "\n"),
        Some((end, _)) => printable(&text[..end], "\n") + "…",
    }
}

fn printable(text: &str, harmless: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        match harmless.contains(character) {
            true => printable.push(character),
            false => push_printable(&mut printable, character),
        }
    }
    printable
}

/// Adds a character, escaped if a terminal could take it for a command.
pub(crate) fn push_printable(text: &mut String, character: char) {
    match character {
        // Common in what is quoted.
        '"' | '\'' | '\\' => text.push(character),
        character => text.extend(character.escape_debug()),
    }
}

/// Text of a server on one line, cut short, without anything a terminal could take for a
/// command.
#[cfg(feature = "http")]
pub(crate) fn one_line(text: &[u8]) -> String {
    const CHARACTERS: usize = 200;
    const EXCERPT: usize = 8 * 1024;
    // A character takes four bytes at most; blanks are not counted on.
    let text = &text[..text.len().min(EXCERPT)];
    let text = String::from_utf8_lossy(text);
    let mut short = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if !short.is_empty() {
            short.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count >= CHARACTERS {
                short.push_str("...");
                return short;
            }
            push_printable(&mut short, character);
            count += 1;
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "http")]
    #[test]
    fn excerpts_are_short_and_harmless() {
        for (text, expected) in [
            (
                "  <h1>\n\tNot \"found\"</h1>\r\n",
                "<h1> Not \"found\"</h1>",
            ),
            ("\u{1b}[31mred\u{0}", "\\u{1b}[31mred\\0"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("Malmö", "Malmö"),
            ("", ""),
        ] {
            assert_eq!(one_line(text.as_bytes()), expected);
        }
        assert_eq!(one_line(b"\xffa"), "\u{fffd}a");
        assert_eq!(one_line("ö".repeat(9000).as_bytes()).chars().count(), 203);
        assert_eq!(one_line("ö".repeat(200).as_bytes()).chars().count(), 200);
    }

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
        assert_eq!(lines("é\né\u{1b}é", 4), "é\né\\u{1b}…");
        assert_eq!(lines("é\né", 3), "é\né");
    }
}
