//! Pieces of a line, each with its face, and lines made of them that fit a width.

use console::measure_text_width;

/// How a piece looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Face {
    pub(super) bold: bool,
    pub(super) italic: bool,
}

impl Face {
    pub(super) const BOLD: Self = Self {
        bold: true,
        italic: false,
    };

    /// What switches it on.
    fn code(self) -> Option<&'static str> {
        match (self.bold, self.italic) {
            (false, false) => None,
            (true, false) => Some("\u{1b}[1m"),
            (false, true) => Some("\u{1b}[3m"),
            (true, true) => Some("\u{1b}[1;3m"),
        }
    }
}

/// A piece of a line. Its text is printable.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) face: Face,
}

impl Span {
    pub(super) fn new(text: impl Into<String>, face: Face) -> Self {
        let text = text.into();
        Self { text, face }
    }

    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Face::default())
    }

    /// What ends a line. No printable text has one.
    pub(super) fn line_break() -> Self {
        Self::plain("\n")
    }
}

/// How many columns they take.
pub(super) fn width(spans: &[Span]) -> usize {
    spans.iter().map(|it| measure_text_width(&it.text)).sum()
}

/// Filled up with spaces to so many columns.
pub(super) fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(measure_text_width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// As it is written to a terminal; without colour, faces are lost.
pub(super) fn paint(spans: &[Span], colour: bool) -> String {
    let mut line = String::new();
    let mut face = Face::default();
    for span in spans {
        if colour && span.face != face {
            line += face.code().map_or("", |_| "\u{1b}[0m");
            line += span.face.code().unwrap_or_default();
            face = span.face;
        }
        line += &span.text;
    }
    line + face.code().map_or("", |_| "\u{1b}[0m")
}

/// Lines of at most so many columns, unless a single word has more.
pub(super) fn wrap(spans: &[Span], columns: usize) -> Vec<Vec<Span>> {
    let mut lines = Lines {
        columns,
        lines: vec![Vec::new()],
        used: 0,
    };
    let mut word = Vec::new();
    for span in spans {
        if *span == Span::line_break() {
            lines.place(&mut word);
            lines.next();
            continue;
        }
        for (at, piece) in span.text.split(' ').enumerate() {
            if at > 0 {
                lines.place(&mut word);
            }
            if !piece.is_empty() {
                word.push(Span::new(piece, span.face));
            }
        }
    }
    lines.place(&mut word);
    lines.lines
}

struct Lines {
    columns: usize,
    lines: Vec<Vec<Span>>,
    /// Columns of the last line.
    used: usize,
}

impl Lines {
    fn next(&mut self) {
        self.lines.push(Vec::new());
        self.used = 0;
    }

    /// Puts a word where there is room.
    fn place(&mut self, word: &mut Vec<Span>) {
        let Some(first) = word.first() else { return };
        let columns = width(word);
        if self.used > 0 && self.used + 1 + columns > self.columns {
            self.next();
        }
        let line = self.lines.last_mut().expect("there is a first line");
        if let Some(before) = line.last() {
            let face = match before.face == first.face {
                true => first.face,
                false => Face::default(),
            };
            line.push(Span::new(" ", face));
            self.used += 1;
        }
        line.append(word);
        self.used += columns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(spans: &[Span], columns: usize) -> Vec<String> {
        let lines = wrap(spans, columns);
        lines.iter().map(|line| paint(line, true)).collect()
    }

    #[test]
    fn lines_break_between_words() {
        let table: [(&str, usize, &[&str]); 6] = [
            ("", 10, &[""]),
            ("one two", 7, &["one two"]),
            ("one two", 6, &["one", "two"]),
            ("  one   two ", 80, &["one two"]),
            ("a enormous b", 3, &["a", "enormous", "b"]),
            // Two columns each.
            ("日本 日本", 8, &["日本", "日本"]),
        ];
        for (text, columns, lines) in table {
            assert_eq!(wrapped(&[Span::plain(text)], columns), lines, "{text:?}");
        }
    }

    #[test]
    fn a_word_may_have_many_faces_and_none_goes_on_with_the_next_line() {
        let spans = [
            Span::plain("un"),
            Span::new("believ", Face::BOLD),
            Span::plain("able and "),
            Span::new("very bold", Face::BOLD),
        ];
        let lines = [
            "un\u{1b}[1mbeliev\u{1b}[0mable",
            "and \u{1b}[1mvery\u{1b}[0m",
            "\u{1b}[1mbold\u{1b}[0m",
        ];
        assert_eq!(wrapped(&spans, 12), lines);
        let whole = [Span::new("very bold", Face::BOLD)];
        assert_eq!(wrapped(&whole, 12), ["\u{1b}[1mvery bold\u{1b}[0m"]);
    }

    #[test]
    fn a_break_is_a_break() {
        let spans = [Span::plain("a"), Span::line_break(), Span::plain("b")];
        assert_eq!(wrapped(&spans, 80), ["a", "b"]);
    }

    #[test]
    fn columns_are_what_is_seen() {
        assert_eq!(pad("日本", 6), "日本  ");
        assert_eq!(pad("abc", 2), "abc");
    }
}
