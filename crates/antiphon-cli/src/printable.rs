//! What a server says, fit for a terminal: nothing in it is taken for a command, or hides or
//! reorders what stands around it.

use std::fmt::Write;

use console::{Term, measure_text_width};

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

/// On as many lines as it has.
pub(crate) fn text(text: &str) -> String {
    let lines = text.split('\n').map(|text| {
        let text = text.strip_suffix('\r').unwrap_or(text);
        let cells = text.split('\t').map(line);
        cells.collect::<Vec<_>>().join("\t")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What stands before each line of a server's text.
const MARK: &str = "  | ";

/// On as many lines as it has on standard error, each marked as the server's, so that none passes
/// for ours: nor does one that a terminal breaks.
pub(crate) fn block(text: &str) -> String {
    block_within(text, columns().map(|columns| columns - MARK.len()))
}

/// The same where lines have so much room behind their mark, if they are not as long as they like.
pub(crate) fn block_within(text: &str, room: Option<usize>) -> String {
    let lines = text.split('\n').flat_map(|text| {
        let text = line(text.strip_suffix('\r').unwrap_or(text));
        match room {
            Some(room) => rows(&text, room),
            None => vec![text],
        }
    });
    let lines = lines.map(|text| format!("{MARK}{text}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The same within a message of ours: its first line goes on where the message stands.
pub(crate) fn quoted(text: &str) -> String {
    let room = columns().map(|columns| columns - "antiphon: ".len());
    let text = block_within(text, room);
    text.strip_prefix(MARK).unwrap_or(&text).to_owned()
}

/// How many columns standard error has, if it is a terminal.
fn columns() -> Option<usize> {
    let terminal = Term::stderr();
    let (_, columns) = terminal.size_checked().filter(|_| terminal.is_term())?;
    // One that does not know has none.
    (columns > 0).then(|| usize::from(columns).max(20))
}

/// A line in pieces that have room, broken at blanks where there are any.
fn rows(line: &str, room: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let (mut row, mut width) = (String::new(), 0);
    for character in line.chars() {
        let wide = match character.is_ascii() {
            true => 1,
            false => measure_text_width(character.encode_utf8(&mut [0; 4])),
        };
        if width + wide > room {
            let blank = row.rfind(' ').filter(|at| *at > row.len() / 2);
            let rest = blank.map(|at| row.split_off(at + 1)).unwrap_or_default();
            rows.push(std::mem::replace(&mut row, rest));
            width = measure_text_width(&row);
        }
        row.push(character);
        width += wide;
    }
    rows.push(row);
    rows
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
pub(crate) fn deceives(character: char) -> bool {
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
    fn lines_and_tabs_stay() {
        assert_eq!(text("a\tb\r\nc\u{1b}"), "a\tb\nc\\u{1b}");
    }

    #[test]
    fn every_line_is_marked() {
        assert_eq!(block("a\r\n? Sure"), "  | a\n  | ? Sure");
        assert_eq!(quoted("a\nantiphon: b"), "a\n  | antiphon: b");
    }

    #[test]
    fn a_line_that_a_terminal_would_break_is_marked_where_it_is_broken() {
        let room = |text| block_within(text, Some(10));
        assert_eq!(room("0123456789"), "  | 0123456789");
        assert_eq!(room("0123456789abc"), "  | 0123456789\n  | abc");
        assert_eq!(room("so it goes on"), "  | so it goes\n  |  on");
        assert_eq!(room("abcdefg hijk"), "  | abcdefg \n  | hijk");
        assert_eq!(room("日本語日本語"), "  | 日本語日本\n  | 語");
        assert_eq!(room("one\n\n"), "  | one\n  | \n  | ");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(excerpt("éé", 2), "éé");
        assert_eq!(excerpt("ééé", 2), "éé…");
    }
}
