//! What a server says, fit for a terminal: nothing in it is taken for a command, or hides or
//! reorders what stands around it.

use std::fmt::Write;

/// On one line.
pub(crate) fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match deceives(character) {
            true => _ = write!(shown, "{}", character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

/// On as many lines as it has, each marked as the server's, so that none passes for ours.
pub(crate) fn block(text: &str) -> String {
    let lines = text.split('\n').map(|text| {
        let text = text.strip_suffix('\r').unwrap_or(text);
        format!("  | {}", line(text))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// At most so many characters of it, on one line.
pub(crate) fn excerpt(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => line(&text[..end]) + "…",
        None => line(text),
    }
}

/// Control characters (escape sequences begin with one), what changes the direction of writing,
/// what is not seen at all.
fn deceives(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_deceives_a_terminal() {
        let link = "\u{1b}]8;;http://evil.example\u{7}ok\u{1b}]8;;\u{7}";
        assert_eq!(
            line(link),
            r"\u{1b}]8;;http://evil.example\u{7}ok\u{1b}]8;;\u{7}"
        );
        assert_eq!(line("\u{9b}2J"), r"\u{9b}2J");
        assert_eq!(line("a\u{202e}b\u{2066}c"), r"a\u{202e}b\u{2066}c");
        assert_eq!(line("one\r\ntwo"), r"one\r\ntwo");
        // Letters that are blank, and what selects nothing that is seen.
        let unseen = "no\u{3164}\u{2800}\u{115f}\u{e0100}";
        assert_eq!(line(unseen), r"no\u{3164}\u{2800}\u{115f}\u{e0100}");
    }

    #[test]
    fn what_people_write_stays() {
        let text = "naïve e\u{301} ✓ 日本語 👩\u{200d}🔬 \\ \"'";
        assert_eq!(line(text), text);
    }

    #[test]
    fn every_line_is_marked() {
        assert_eq!(block("a\r\n? Sure"), "  | a\n  | ? Sure");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(excerpt("éé", 2), "éé");
        assert_eq!(excerpt("ééé", 2), "éé…");
    }
}
