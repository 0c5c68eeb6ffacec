//! What came of it, as text: a line for each pair, and a page with all cells.

use std::fmt::Write;

use crate::{
    cell::{Case, Cell, End, Era, Pairing, Transport, Verdict},
    peers::Peer,
};

/// How many cells came to what.
pub(crate) fn summary(cells: &[Cell<'_>]) -> String {
    let count =
        |is: fn(&Verdict<'_>) -> bool| cells.iter().filter(|cell| is(&cell.verdict)).count();
    format!(
        "{} cells: {} passed, {} excused by a defect of the peer, {} beyond the peer's SDK, {} failed",
        cells.len(),
        count(|verdict| matches!(verdict, Verdict::Passed)),
        count(|verdict| matches!(verdict, Verdict::Excused(_))),
        count(|verdict| matches!(verdict, Verdict::Cannot(_))),
        count(|verdict| matches!(verdict, Verdict::Failed(_))),
    )
}

/// One pair in short.
pub(crate) fn line(pairing: &Pairing<'_>, cells: &[Cell<'_>]) -> String {
    let marks: String = cells.iter().map(mark).collect();
    format!("{marks} {pairing}")
}

fn mark(cell: &Cell<'_>) -> char {
    match cell.verdict {
        Verdict::Passed => '✓',
        Verdict::Failed(_) => '✗',
        Verdict::Cannot(_) => '–',
        Verdict::Excused(_) => 'D',
    }
}

/// Everything, as Markdown.
pub(crate) fn page(peers: &[Peer], cells: &[Cell<'_>], day: &str) -> String {
    let names: Vec<_> = peers.iter().map(|peer| peer.name.as_str()).collect();
    let mut page = format!(
        "# Antiphon and others\n\n\
         Written by `interop/run all` on {day}, with {}.\n\n{}.\n\n\
         What each case is says [the contract](CONTRACT.md). ✓ passed, ✗ failed, – the peer's SDK cannot do it at all, D \
         the peer has a defect there, which a script shows without any code of ours; notes are below.\n",
        names.join(", "),
        summary(cells),
    );
    let mut notes = Vec::new();
    for (our_end, title) in [
        (End::Client, "Our client, their server"),
        (End::Tool, "The `antiphon` command, their server"),
        (End::Server, "Their client, our server"),
    ] {
        _ = write!(
            page,
            "\n## {title}\n\n{}",
            table(peers, cells, our_end, &mut notes)
        );
    }
    page.push_str("\n## Notes\n\n");
    for (number, note) in notes.iter().enumerate() {
        _ = writeln!(page, "{}. {note}", number + 1);
    }
    page
}

fn table(peers: &[Peer], cells: &[Cell<'_>], our_end: End, notes: &mut Vec<String>) -> String {
    let mut columns = Vec::new();
    for peer in peers {
        for era in &peer.eras {
            for transport in [Transport::Stdio, Transport::Http] {
                columns.push((peer, *era, transport));
            }
        }
    }
    let mut table = String::from("| |");
    for (peer, era, transport) in &columns {
        let era = match era {
            Era::Modern => "2026-07-28",
            Era::Legacy => "older",
        };
        _ = write!(table, " {} {era} {transport} |", peer.name);
    }
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(columns.len()));
    table.push('\n');
    for case in Case::of(our_end) {
        _ = write!(table, "| {} |", case.0);
        for (peer, era, transport) in &columns {
            let cell = cells.iter().find(|cell| {
                let of = &cell.pairing;
                cell.case == case
                    && of.our_end == our_end
                    && of.peer.name == peer.name
                    && of.era == *era
                    && of.transport == *transport
            });
            match cell {
                None => table.push_str(" not played |"),
                Some(cell) => _ = write!(table, " {}{} |", mark(cell), note(cell, notes)),
            }
        }
        table.push('\n');
    }
    table
}

/// The number of what there is to say of a cell, if anything.
fn note(cell: &Cell<'_>, notes: &mut Vec<String>) -> String {
    let text = match &cell.verdict {
        Verdict::Passed => return String::new(),
        Verdict::Cannot(why) => format!("{}: {why}", cell.pairing.peer.name),
        Verdict::Failed(why) => format!("{}: {why}", cell.pairing.peer.name),
        Verdict::Excused(defect) => {
            let script = &defect.file;
            let peer = &cell.pairing.peer.name;
            format!("{peer}: {} ([shown](defects/{script}))", defect.what)
        }
    };
    let at = match notes.iter().position(|note| *note == text) {
        Some(at) => at,
        None => {
            notes.push(text);
            notes.len() - 1
        }
    };
    format!(" {}", at + 1)
}
