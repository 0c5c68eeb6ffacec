//! [`Report`]: a table for people, one JSON value for programs.

use console::style;
use serde_json::{Value, json};

use super::{Audit, Row, Verdict, probe::Probe};
use crate::{
    failure::Failure,
    printable,
    render::{self, Style},
};

/// What there is to say after an audit.
pub(crate) struct Report {
    rows: Vec<Row>,
    server: String,
    tool: String,
    version: &'static str,
    era: &'static str,
    allow_effects: bool,
    /// Most calls that may have had effects.
    announced: usize,
    requests: u64,
    completed: u64,
}

impl Report {
    pub(crate) fn new(audit: &Audit, rows: Vec<Row>, announced: usize) -> Self {
        let (requests, completed) = audit.counts();
        let version = audit.subject.version;
        Self {
            rows,
            server: audit.answering.server.to_string(),
            tool: audit.subject.tool.name.clone(),
            version: version.as_str(),
            era: match version.is_modern() {
                true => "modern",
                false => "legacy",
            },
            allow_effects: audit.allow_effects,
            announced,
            requests,
            completed,
        }
    }

    fn count(&self, verdict: Verdict) -> usize {
        let rows = self.rows.iter();
        rows.filter(|row| row.finding.verdict == verdict).count()
    }

    /// Whether a probe failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.count(Verdict::Fail) > 0
    }

    /// Whether one is weak.
    pub(crate) fn is_weak(&self) -> bool {
        self.count(Verdict::Weak) > 0
    }

    /// Such as `30 probes: 24 passed, 2 weak, 1 failed, 3 not tested`.
    fn summary(&self) -> String {
        format!(
            "{} probes: {} passed, {} weak, {} failed, {} not tested",
            self.rows.len(),
            self.count(Verdict::Pass),
            self.count(Verdict::Weak),
            self.count(Verdict::Fail),
            self.count(Verdict::NotTested),
        )
    }

    /// For people.
    pub(crate) fn table(&self, how: &Style) -> String {
        let mut lines = vec![format!(
            "{} of {}, revision {}",
            printable::excerpt(&self.tool, 60),
            printable::excerpt(&self.server, 200),
            self.version
        )];
        let mut group = "";
        let width = self.rows.iter().map(|row| row.probe.id.len()).max();
        let width = width.unwrap_or(0);
        for Row { probe, finding } in &self.rows {
            if probe.group != group {
                group = probe.group;
                lines.push(String::new());
                lines.push(bold(group, how));
            }
            lines.push(format!(
                "  {}  {:width$}  {}",
                coloured(finding.verdict, how),
                probe.id,
                finding.detail
            ));
            if let Verdict::Weak | Verdict::Fail = finding.verdict {
                lines.extend(explained(probe, &finding.evidence, how));
            }
        }
        lines.push(String::new());
        lines.push(self.summary());
        lines.join("\n")
    }

    /// For programs.
    pub(crate) fn json(&self, how: &Style) -> Result<String, Failure> {
        let rows = self.rows.iter().map(|Row { probe, finding }| {
            json!({
                "id": probe.id,
                "group": probe.group,
                "verdict": finding.verdict,
                "detail": finding.detail,
                "meaning": probe.meaning,
                "advice": probe.advice,
                "ledger": probe.ledger,
                "evidence": finding.evidence,
            })
        });
        let report = json!({
            "server": self.server,
            "era": self.era,
            "protocolVersion": self.version,
            "tool": self.tool,
            "allowEffects": self.allow_effects,
            "counts": {
                "probes": self.rows.len(),
                "pass": self.count(Verdict::Pass),
                "weak": self.count(Verdict::Weak),
                "fail": self.count(Verdict::Fail),
                "notTested": self.count(Verdict::NotTested),
                "requests": self.requests,
                "callsWithEffects": self.announced,
                "callsCompleted": self.completed,
            },
            "probes": rows.collect::<Vec<Value>>(),
        });
        render::json(&report, how)
    }
}

/// What stands below a row that does not pass: what was seen, what it means, what to do.
fn explained(probe: &Probe, evidence: &[String], how: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for seen in evidence {
        lines.extend(wrapped("| ", seen, how));
    }
    lines.extend(wrapped("", probe.meaning, how));
    lines.extend(wrapped("do: ", probe.advice, how));
    lines.extend(wrapped("see: ", &probe.ledger.join(", "), how));
    lines
}

/// A text below a row, in as many lines as it needs; each is marked where the first is a server's.
fn wrapped(mark: &str, text: &str, how: &Style) -> Vec<String> {
    const INDENT: usize = 14;
    let room = match how.terminal {
        true => how.width.saturating_sub(INDENT + mark.len()).max(20),
        false => usize::MAX,
    };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is always a line");
        let length = console::measure_text_width(last) + 1 + console::measure_text_width(word);
        match (last.is_empty(), length > room) {
            (true, _) => last.push_str(word),
            (false, true) => lines.push(word.to_owned()),
            (false, false) => {
                last.push(' ');
                last.push_str(word);
            }
        }
    }
    let indent = " ".repeat(INDENT);
    let marked = lines.into_iter().enumerate().map(|(at, line)| {
        let mark = match at == 0 || mark == "| " {
            true => mark.to_owned(),
            false => " ".repeat(mark.len()),
        };
        format!("{indent}{mark}{line}")
    });
    marked.collect()
}

fn bold(text: &str, how: &Style) -> String {
    style(text).bold().force_styling(how.colour).to_string()
}

fn coloured(verdict: Verdict, how: &Style) -> String {
    let name = style(format!("{:<10}", verdict.name())).force_styling(how.colour);
    let name = match verdict {
        Verdict::Pass => name.green(),
        Verdict::Weak => name.yellow(),
        Verdict::Fail => name.red().bold(),
        Verdict::NotTested => name.dim(),
    };
    name.to_string()
}
