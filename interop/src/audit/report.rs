//! What was found, as Markdown: a table for each tool, and a note for each verdict but `pass`.

use std::{error::Error, fmt::Write};

use crate::{
    auditing::{Audited, Finding, TOOLS},
    servers::Candidate,
};

/// The page.
pub(crate) fn page(
    candidates: &[Candidate],
    all: &[Vec<Option<Audited>>],
    day: &str,
) -> Result<String, Box<dyn Error>> {
    let mut page = include_str!("preface.md").replace("DAY", day);
    for (at, tool) in TOOLS.iter().enumerate() {
        let audits = all.iter().map(|audits| audits[at].as_ref());
        let audits = candidates.iter().zip(audits);
        let audits: Vec<_> = audits
            .filter_map(|(candidate, audited)| Some((candidate, audited?)))
            .collect();
        let more = if tool.is_older { ", 2025-11-25" } else { "" };
        _ = write!(page, "\n## `{}`{more}\n\n{}\n\n", tool.name, tool.why);
        let mut notes = Vec::new();
        page.push_str(&table(&audits, &mut notes)?);
        if !notes.is_empty() {
            page.push('\n');
        }
        for (number, note) in notes.iter().enumerate() {
            _ = writeln!(page, "{}. {note}", number + 1);
        }
    }
    Ok(page)
}

fn table(
    audits: &[(&Candidate, &Audited)],
    notes: &mut Vec<String>,
) -> Result<String, Box<dyn Error>> {
    let mut table = String::from("| |");
    for (candidate, _) in audits {
        _ = write!(table, " {} |", candidate.name);
    }
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(audits.len()));
    table.push('\n');
    let (_, first) = audits.first().ok_or("there are no audits")?;
    for (at, probe) in first.probes.iter().enumerate() {
        _ = write!(table, "| `{}` |", probe.id);
        for (candidate, audited) in audits {
            let found = audited.probes.get(at).filter(|found| found.id == probe.id);
            let found =
                found.ok_or(format!("{} was not probed by {}", candidate.name, probe.id))?;
            _ = write!(table, " {} |", cell(found, &candidate.name, notes));
        }
        table.push('\n');
    }
    Ok(table)
}

/// A verdict, with the number of what there is to say of it.
fn cell(found: &Finding, name: &str, notes: &mut Vec<String>) -> String {
    let verdict = match found.verdict.as_str() {
        "pass" => return "pass".to_owned(),
        "not tested" => "–".to_owned(),
        other => format!("**{other}**"),
    };
    let said = format!("`{}`: {}", found.id, plain(&found.detail));
    // What several have in common is said once.
    let (number, note) = match notes
        .iter()
        .position(|note| note.starts_with(&format!("{said} (")))
    {
        Some(at) => (at + 1, &mut notes[at]),
        None => {
            notes.push(format!("{said} ()"));
            (notes.len(), notes.last_mut().expect("it was pushed"))
        }
    };
    let seen = match (&*found.verdict, found.evidence.first()) {
        ("weak" | "fail", Some(seen)) => format!("{name}: {}", code(seen)),
        _ => name.to_owned(),
    };
    let names = note.trim_end_matches(')').to_owned();
    *note = match names.ends_with('(') {
        true => format!("{names}{seen})"),
        false => format!("{names}; {seen})"),
    };
    format!("{verdict} {number}")
}

/// Text of a server, harmless in Markdown.
fn code(text: &str) -> String {
    let short: String = text.chars().take(160).collect();
    let short = short.replace('`', "'").replace('|', "¦");
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("`{short}{more}`")
}

fn plain(text: &str) -> String {
    text.replace('|', "\\|")
}
