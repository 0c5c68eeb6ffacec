//! What is done once, and when: every cell of the table in the guide on asking is a test here, named
//! by its row and its column. Where the row says crash, a real process is killed.

mod scenes;
mod shop;

use self::{
    scenes::{Seen, Told},
    shop::Column,
};

/// A cell of the table.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Once,
    Repeated,
    Twice,
    TwoCalls,
    Refused,
    CallAgain,
    RefusedUnknown,
    FailedUnknown,
}

impl Cell {
    /// What the guide says.
    fn words(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Repeated => "once, the answer is repeated",
            Self::Twice => "twice",
            Self::TwoCalls => "two calls: once each",
            Self::Refused => "refused",
            Self::CallAgain => "tool error: call again",
            Self::RefusedUnknown => "refused: it is not known",
            Self::FailedUnknown => "tool error: it is not known",
        }
    }

    /// Whether that is what was seen: how often the effect happened, and what the client was told
    /// when it sent its request again.
    fn holds(self, seen: &Seen) -> bool {
        let Seen {
            before,
            effects,
            told,
        } = seen;
        match (self, told) {
            (Self::Once, Told::Done(text)) => *effects == 1 && text.contains("number 1"),
            (Self::Repeated, Told::Repeated(text)) => *effects == 1 && text.contains("number 1"),
            (Self::Twice | Self::TwoCalls, Told::Done(text)) => {
                *before == 1 && *effects == 2 && text.contains("number 2")
            }
            (Self::Refused, Told::Refused(reason)) => *effects == 1 && reason == "other_answers",
            (Self::RefusedUnknown, Told::Refused(reason)) => {
                effects == before && reason == "outcome_unknown"
            }
            (Self::CallAgain, Told::Failed(text)) => *effects == 1 && text.ends_with("call again."),
            (Self::FailedUnknown, Told::Failed(text)) => {
                *effects == 1 && text.starts_with("It is not known whether `charge` was done")
            }
            _ => false,
        }
    }
}

/// The columns, as the guide calls them.
const COLUMNS: [&str; 5] = [
    "neither",
    "guard",
    "journal",
    "both",
    "both, `Sealing::rerun_if_unknown()`",
];

/// Makes the table, and of each cell a test.
macro_rules! guarantees {
    ($($row:ident $words:literal: $a:ident, $b:ident, $c:ident, $d:ident, $e:ident;)*) => {
        const ROWS: &[(&str, [Cell; 5])] = &[
            $(($words, [Cell::$a, Cell::$b, Cell::$c, Cell::$d, Cell::$e]),)*
        ];
        $(mod $row {
            use super::*;
            guarantees!(@cell $row neither Neither $a);
            guarantees!(@cell $row guard Guard $b);
            guarantees!(@cell $row journal Journal $c);
            guarantees!(@cell $row both Both $d);
            guarantees!(@cell $row both_and_rerun BothAndRerun $e);
        })*
    };
    (@cell $row:ident $name:ident $column:ident $cell:ident) => {
        #[tokio::test]
        async fn $name() {
            let seen = scenes::$row(Column::$column).await;
            assert!(Cell::$cell.holds(&seen), "\"{}\": {seen:?}", Cell::$cell.words());
        }
    };
}

guarantees! {
    first_request_again "The first request is sent again, as its response was lost":
        TwoCalls, TwoCalls, TwoCalls, TwoCalls, TwoCalls;
    first_request_again_with_an_anchor "The same, and the handler begins with `anchor`":
        Once, Once, Once, Once, Once;
    later_request_again "A later request is sent again, as its response was lost":
        Twice, Repeated, Once, Repeated, Repeated;
    two_at_once "It is sent twice at the same time":
        Twice, Repeated, Once, Repeated, Repeated;
    older_state_same_answers "An older state is sent again, with the same answers":
        Twice, Repeated, Once, Repeated, Repeated;
    older_state_other_answers "An older state is sent again, with other answers":
        Twice, Refused, CallAgain, Refused, Refused;
    crash_before "The process ends before the effect":
        Once, RefusedUnknown, Once, RefusedUnknown, Once;
    crash_during "The process ends during the effect":
        Twice, RefusedUnknown, FailedUnknown, RefusedUnknown, FailedUnknown;
    crash_during_what_may_be_done_again "The same, and the step says `rerun_if_unknown()`":
        Twice, RefusedUnknown, Twice, RefusedUnknown, Twice;
    crash_after "The process ends after the effect, before the response":
        Twice, RefusedUnknown, Once, RefusedUnknown, Once;
}

/// The table of the guide is the one that is tested here.
#[test]
fn the_guide_says_the_same() {
    let guide = include_str!("../../../docs/asking.md");
    let (_, section) = guide
        .split_once("\n## What is done once, and when\n")
        .expect("the section");
    let table: Vec<&str> = section
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .collect();
    let mut expected = vec![format!("| | {} |", COLUMNS.join(" | "))];
    expected.push("|---|---|---|---|---|---|".to_owned());
    for (words, cells) in ROWS {
        let cells = cells.map(Cell::words).join(" | ");
        expected.push(format!("| {words} | {cells} |"));
    }
    assert_eq!(table, expected);
}
