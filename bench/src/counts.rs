//! What other scripts of the bench printed: the tables of `bench/count`, lines that end in a figure, and
//! tables in Markdown.

use std::collections::HashMap;

/// What one of something costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Count {
    pub(crate) instructions: f64,
    /// Where they were counted, too.
    pub(crate) allocations: Option<f64>,
}

/// By what is counted, such as `echo`, and by the server's name.
#[derive(Debug, Default)]
pub(crate) struct Counts(HashMap<(String, String), Count>);

impl Counts {
    /// Reads tables whose heads begin with `per WORK instructions`, and that end with an empty line.
    pub(crate) fn read(text: &str) -> Self {
        let mut counts = HashMap::new();
        let mut work = None;
        for line in text.lines() {
            if let Some(head) = line.strip_prefix("per ") {
                let title = head
                    .split_once("instructions")
                    .map(|(title, _)| title.trim());
                work = title.map(str::to_owned);
            } else if line.trim().is_empty() {
                work = None;
            } else if let Some(work) = &work
                && let Some((name, count)) = row(line)
            {
                counts.insert((work.clone(), name.to_owned()), count);
            }
        }
        Self(counts)
    }

    pub(crate) fn of(&self, work: &str, name: &str) -> Option<Count> {
        let key = (work.to_owned(), name.to_owned());
        self.0.get(&key).copied()
    }

    /// How many times the instructions of somebody else.
    pub(crate) fn ratio(&self, work: &str, name: &str, other: &str) -> Option<f64> {
        Some(self.of(work, name)?.instructions / self.of(work, other)?.instructions)
    }
}

/// A name, instructions, a multiple that is worked out again, and perhaps allocations and bytes.
fn row(line: &str) -> Option<(&str, Count)> {
    let mut cells = line.split_whitespace();
    let name = cells.next()?;
    let count = Count {
        instructions: cells.next()?.parse().ok()?,
        allocations: cells.nth(1).and_then(|cell| cell.parse().ok()),
    };
    Some((name, count))
}

/// The figure that a line with these words before its colon ends in.
pub(crate) fn figure(text: &str, words: &str) -> Option<f64> {
    let after = |line: &str| {
        line.strip_prefix(words)?
            .strip_prefix(':')?
            .trim()
            .parse()
            .ok()
    };
    text.lines().find_map(after)
}

/// The figure in a table of Markdown, by the head of its column and the name that its row begins with.
pub(crate) fn cell(text: &str, head: &str, name: &str) -> Option<f64> {
    let mut column = None;
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells.len() < 3 {
            column = None;
        } else if column.is_none() {
            column = cells.iter().position(|cell| *cell == head);
        } else if cells[1].trim_matches('`') == name {
            return column.and_then(|column| cells.get(column)?.parse().ok());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_cell_of_a_row_and_a_column() {
        let text = "| seconds | whole | beyond |\n| --- | --- | --- |\n| `rmcp` | 9.00 | 8.00 |\n\
            | `ours` | 5.25 | 3.50 |\n\n| crates | all |\n| --- | --- |\n| `ours` | 140 |\n";
        assert_eq!(cell(text, "beyond", "ours"), Some(3.5));
        assert_eq!(cell(text, "all", "ours"), Some(140.0));
        assert_eq!(cell(text, "all", "rmcp"), None);
        assert_eq!(cell(text, "none", "ours"), None);
    }

    #[test]
    fn reads_the_tables_of_count() {
        let plain = Counts::read("per echo beside  instructions  x few\nfew  36000  1.00\n");
        assert!(
            plain
                .of("echo beside", "few")
                .is_some_and(|few| few.allocations.is_none())
        );
        let counts = Counts::read(
            "counting floor: echo\n\n\
             per echo         instructions  x floor  allocations    bytes\n\
             floor                   28000     1.00           15    10918\n\
             antiphon                35000     1.25           20    14332\n\n\
             per older confirm instructions   x rmcp  allocations    bytes\n\
             antiphon               140000        -          104    49895\n\n\
             antiphon               7 8 9 10\n",
        );
        let echo = Count {
            instructions: 35000.0,
            allocations: Some(20.0),
        };
        assert_eq!(counts.of("echo", "antiphon"), Some(echo));
        assert_eq!(counts.ratio("echo", "antiphon", "floor"), Some(1.25));
        assert_eq!(counts.ratio("older confirm", "antiphon", "rmcp"), None);
        let older = counts.of("older confirm", "antiphon");
        assert_eq!(older.and_then(|count| count.allocations), Some(104.0));
    }

    #[test]
    fn finds_the_figure_behind_some_words() {
        let text = "ten things, against five: 2.00\nten things: 10\n";
        assert_eq!(figure(text, "ten things"), Some(10.0));
        assert_eq!(figure(text, "ten things, against five"), Some(2.0));
        assert_eq!(figure(text, "five things"), None);
    }
}
