//! [`Screen`]: what a terminal shows after all that was written to it. It knows the few sequences
//! that prompts and progress bars use, and keeps whatever scrolls away.

/// Lines of text, and where the next character goes.
pub(crate) struct Screen {
    width: usize,
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Where the cursor was when it was asked to be kept.
    saved: (usize, usize),
    cursor: bool,
}

impl Screen {
    /// What is seen of this on a terminal so wide.
    pub(crate) fn of(written: &str, width: usize) -> Self {
        let mut screen = Self {
            width,
            lines: vec![Vec::new()],
            row: 0,
            column: 0,
            saved: (0, 0),
            cursor: true,
        };
        let mut characters = written.chars();
        while let Some(character) = characters.next() {
            match character {
                '\u{1b}' => screen.escape(&mut characters),
                '\r' => screen.column = 0,
                '\n' => screen.down(1),
                '\u{8}' => screen.column = screen.column.saturating_sub(1),
                '\t' => screen.column = screen.column / 8 * 8 + 8,
                other if other.is_control() => {}
                other => screen.put(other),
            }
        }
        screen
    }

    /// The lines, without blanks at their ends and empty ones at the end.
    pub(crate) fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| {
            let line: String = line.iter().collect();
            line.trim_end().to_owned()
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        text.trim_end().to_owned()
    }

    /// Whether the cursor is seen.
    pub(crate) fn has_cursor(&self) -> bool {
        self.cursor
    }

    fn put(&mut self, character: char) {
        if self.column >= self.width {
            self.column = 0;
            self.down(1);
        }
        let line = &mut self.lines[self.row];
        while line.len() <= self.column {
            line.push(' ');
        }
        line[self.column] = character;
        self.column += 1;
    }

    fn down(&mut self, by: usize) {
        self.row += by;
        while self.lines.len() <= self.row {
            self.lines.push(Vec::new());
        }
    }

    fn escape(&mut self, characters: &mut std::str::Chars<'_>) {
        match characters.next() {
            Some('[') => {}
            Some('7') => {
                self.saved = (self.row, self.column);
                return;
            }
            Some('8') => {
                (self.row, self.column) = self.saved;
                return;
            }
            _ => return,
        }
        let mut parameters = String::new();
        let command = loop {
            match characters.next() {
                Some(command @ '@'..='~') => break command,
                Some(other) => parameters.push(other),
                // It is cut off.
                None => return,
            }
        };
        let count = parameters.parse().unwrap_or(1).max(1);
        match (command, parameters.as_str()) {
            ('A', _) => self.row = self.row.saturating_sub(count),
            ('B', _) => self.down(count),
            ('C', _) => self.column += count,
            ('D', _) => self.column = self.column.saturating_sub(count),
            ('G', _) => self.column = count - 1,
            ('K', "2") => self.lines[self.row].clear(),
            ('K', _) => self.lines[self.row].truncate(self.column),
            ('J', _) => {
                self.lines[self.row].truncate(self.column);
                self.lines.truncate(self.row + 1);
            }
            ('h', "?25") => self.cursor = true,
            ('l', "?25") => self.cursor = false,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Screen;

    #[test]
    fn what_is_written_over_is_gone() {
        let written = "one\r\n\u{1b}[1mtwo\u{1b}[0m\u{1b}[?25l\r\nthree\u{1b}[1A\r\u{1b}[KTWO";
        let screen = Screen::of(written, 20);
        assert_eq!(screen.text(), "one\nTWO\nthree");
        assert!(!screen.has_cursor());
    }

    #[test]
    fn long_lines_go_on_below() {
        let screen = Screen::of("abcdef\u{1b}[1A\rX\u{1b}[J\u{1b}[?25h", 3);
        assert_eq!(screen.text(), "X");
        assert_eq!(Screen::of("abcdef", 3).text(), "abc\ndef");
    }
}
