//! Tables: Markdown that is also legible on a terminal.

use std::fmt::{self, Display, Formatter, Write};

/// A table: names to the left, figures to the right.
#[derive(Debug)]
pub(crate) struct Table {
    head: Vec<String>,
    rows: Vec<(String, Cells)>,
}

/// What stands beside a name.
#[derive(Debug)]
enum Cells {
    Figures(Vec<String>),
    /// A sentence in place of figures.
    Remark(String),
}

impl Table {
    /// With these heads, the first of which is above the names.
    pub(crate) fn new<T: Into<String>>(head: impl IntoIterator<Item = T>) -> Self {
        Self {
            head: head.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, name: impl Into<String>, cells: Vec<String>) {
        self.rows.push((name.into(), Cells::Figures(cells)));
    }

    pub(crate) fn remark(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.rows.push((name.into(), Cells::Remark(text.into())));
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.head.iter().map(|head| width(head)).collect();
        for (name, cells) in &self.rows {
            let cells = match cells {
                Cells::Figures(cells) => &cells[..],
                Cells::Remark(_) => &[],
            };
            let row = [name].into_iter().chain(cells);
            for (wide, cell) in widths.iter_mut().zip(row) {
                *wide = (*wide).max(width(cell));
            }
        }
        widths
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        line(f, &widths, self.head.iter().map(String::as_str))?;
        let (first, others) = widths.split_first().unwrap_or((&0, &[]));
        write!(f, "|{:-<1$}|", "", first + 2)?;
        for wide in others {
            write!(f, "{:-<1$}:|", "", wide + 1)?;
        }
        writeln!(f)?;
        for (name, cells) in &self.rows {
            match cells {
                Cells::Figures(cells) => {
                    let row = [name].into_iter().chain(cells);
                    line(f, &widths, row.map(String::as_str))?;
                }
                Cells::Remark(text) => line(f, &widths[..1], [name.as_str(), text].into_iter())?,
            }
        }
        Ok(())
    }
}

/// One line: the first cell to the left, all others to the right, and those without a width as they
/// are.
fn line<'a>(
    f: &mut Formatter<'_>,
    widths: &[usize],
    cells: impl Iterator<Item = &'a str>,
) -> fmt::Result {
    f.write_char('|')?;
    for (at, cell) in cells.enumerate() {
        let cell = cell.replace('|', "\\|").replace('\n', " ");
        let room = widths.get(at).copied().unwrap_or(0);
        let space = room.saturating_sub(width(&cell));
        let (before, after) = if at == 0 { (0, space) } else { (space, 0) };
        write!(f, " {:before$}{cell}{:after$} |", "", "")?;
    }
    writeln!(f)
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// A whole number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_remarks_do_not_widen_them() {
        let mut table = Table::new(["server", "CPU us", "×"]);
        table.row("floor", vec!["9.5".into(), "1.00".into()]);
        table.remark("broken", "failed: a | b, and it took long to say so");
        let expected = "\
            | server | CPU us |    × |\n\
            |--------|-------:|-----:|\n\
            | floor  |    9.5 | 1.00 |\n\
            | broken | failed: a \\| b, and it took long to say so |\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn thousands_are_grouped() {
        let texts = [0, 999, 1_000, 65_536, 1_000_000].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "65,536", "1,000,000"]);
    }
}
