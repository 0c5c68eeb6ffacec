//! Some lines of a text, however long the text is.

use std::io::{self, BufRead, Read};

/// Lines of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: Vec<u8>,
    /// The line after the last of these, if there is one.
    pub(crate) next: Option<u64>,
    /// Whether the last line is longer than what is here of it.
    pub(crate) cut: bool,
}

/// At most `lines` lines from line `from` on, the first being 1, and at most `cap` bytes. Ends after
/// a whole line, unless a single one is too long.
pub(crate) fn excerpt(
    mut text: impl BufRead,
    from: u64,
    lines: u64,
    cap: usize,
) -> io::Result<Excerpt> {
    let mut excerpt = Excerpt {
        text: Vec::new(),
        next: None,
        cut: false,
    };
    let mut line = 1;
    while line < from {
        if text.skip_until(b'\n')? == 0 {
            return Ok(excerpt);
        }
        line += 1;
    }
    while line - from < lines {
        let whole = excerpt.text.len();
        let room = cap - whole;
        // One byte more than there is room for tells whether the line fits.
        let mut rest = text.by_ref().take(room as u64 + 1);
        if rest.read_until(b'\n', &mut excerpt.text)? == 0 {
            return Ok(excerpt);
        }
        if excerpt.text.len() > cap {
            if whole > 0 {
                excerpt.text.truncate(whole);
                excerpt.next = Some(line);
                return Ok(excerpt);
            }
            excerpt.cut = true;
            trim_to_character(&mut excerpt.text, cap);
            if text.skip_until(b'\n')? == 0 {
                return Ok(excerpt);
            }
            line += 1;
            break;
        }
        line += 1;
    }
    if !text.fill_buf()?.is_empty() {
        excerpt.next = Some(line);
    }
    Ok(excerpt)
}

/// Shortens to `cap` bytes, or a few less where that would split a character.
fn trim_to_character(text: &mut Vec<u8>, cap: usize) {
    let mut end = cap;
    while end > 0 && text[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    text.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, from: u64, count: u64, cap: usize) -> (String, Option<u64>, bool) {
        let excerpt = excerpt(text.as_bytes(), from, count, cap).expect("readable");
        let text = String::from_utf8(excerpt.text).expect("whole characters");
        (text, excerpt.next, excerpt.cut)
    }

    #[test]
    fn a_range_of_lines() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(lines(text, 1, 9, 99), (text.into(), None, false));
        assert_eq!(lines(text, 2, 1, 99), ("two\n".into(), Some(3), false));
        assert_eq!(lines(text, 3, 1, 99), ("three\n".into(), None, false));
        assert_eq!(lines(text, 4, 1, 99), (String::new(), None, false));
        assert_eq!(lines("", 1, 1, 99), (String::new(), None, false));
        assert_eq!(lines("no end", 1, 5, 99), ("no end".into(), None, false));
    }

    #[test]
    fn the_cap_ends_after_a_whole_line() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(lines(text, 1, 9, 8), ("one\ntwo\n".into(), Some(3), false));
        assert_eq!(lines(text, 1, 9, 9), ("one\ntwo\n".into(), Some(3), false));
        assert_eq!(lines(text, 1, 9, 14), (text.into(), None, false));
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_characters() {
        assert_eq!(lines("ééé\nx\n", 1, 9, 3), ("é".into(), Some(2), true));
        assert_eq!(lines("ééé", 1, 9, 4), ("éé".into(), None, true));
        // Going on leads to the end, never back.
        assert_eq!(lines("ééé\nx\n", 2, 9, 3), ("x\n".into(), None, false));
    }
}
