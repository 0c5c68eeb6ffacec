//! One run of `antiphon audit`, and what it printed.

use std::{error::Error, fmt::Write, process::Command};

use serde::Deserialize;

use crate::{Given, servers::Candidate};

/// A tool of the contract.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    arguments: &'static [&'static str],
    /// The probes that it is for; all, if none is named.
    only: &'static [&'static str],
    /// Whether its states are kept to see whether they expire.
    pub(crate) waits: bool,
    /// Whether it is called in a session of the revision before.
    pub(crate) is_older: bool,
    /// What it is here for.
    pub(crate) why: &'static str,
}

/// What is audited.
pub(crate) const TOOLS: [Tool; 5] = [
    Tool {
        name: "confirm",
        arguments: &["action=deploy"],
        only: &[],
        waits: true,
        is_older: false,
        why: "It has an argument, and asks once.",
    },
    Tool {
        name: "quiz",
        arguments: &[],
        only: &[],
        waits: true,
        is_older: false,
        why: "It asks in three rounds, so that every server has a state to carry.",
    },
    Tool {
        name: "order",
        arguments: &[],
        only: &[
            "unsolicited-answers",
            "missing-answers",
            "renamed-answers",
            "wrapped-answers",
            "mistyped-answers",
            "oversized-answers",
            "secret-fields",
        ],
        waits: false,
        is_older: false,
        why: "Its form has a field of every kind.",
    },
    Tool {
        name: "sign_in",
        arguments: &[],
        only: &["link-scheme", "link-identity"],
        waits: false,
        is_older: false,
        why: "It asks by link.",
    },
    Tool {
        name: "order",
        arguments: &[],
        only: &[
            "renamed-answers",
            "mistyped-answers",
            "oversized-answers",
            "undeclared-capabilities",
            "questions-drift",
            "secret-fields",
            "era-confusion",
        ],
        waits: false,
        is_older: true,
        why: "The same for clients of 2025-11-25, whom servers ask in sessions.",
    },
];

/// What was found.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Audited {
    protocol_version: String,
    pub(crate) probes: Vec<Finding>,
}

/// What one probe found.
#[derive(Deserialize)]
pub(crate) struct Finding {
    pub(crate) id: String,
    pub(crate) verdict: String,
    pub(crate) detail: String,
    pub(crate) evidence: Vec<String>,
}

impl Audited {
    pub(crate) fn summary(&self) -> String {
        let mut summary = String::new();
        for verdict in ["pass", "weak", "fail", "not tested"] {
            let count = self
                .probes
                .iter()
                .filter(|probe| probe.verdict == verdict)
                .count();
            _ = write!(summary, "{count} {verdict}, ");
        }
        summary.trim_end_matches(", ").to_owned()
    }

    /// What does not stand.
    pub(crate) fn holes(&self) -> impl Iterator<Item = String> {
        let is_hole = |probe: &&Finding| matches!(probe.verdict.as_str(), "weak" | "fail");
        let holes = self.probes.iter().filter(is_hole);
        holes.map(|probe| format!("{} is {}: {}", probe.id, probe.verdict, probe.detail))
    }
}

/// Audits one tool of a server that is started for it.
pub(crate) fn audit(
    candidate: &Candidate,
    tool: &Tool,
    given: &Given,
) -> Result<Audited, Box<dyn Error>> {
    let (_running, urls) = candidate.start()?;
    let mut command = Command::new(given.built.join("antiphon"));
    command
        .args(["audit", &urls[0], "--tool", tool.name])
        .args(tool.arguments)
        .args(["--allow-effects", "--json"]);
    if !tool.only.is_empty() {
        command.args(["--only", &tool.only.join(",")]);
    }
    if let Some(replica) = urls.get(1) {
        command.args(["--replica", replica]);
    }
    if candidate.has_tokens {
        command.args(["--bearer-env", "ONE", "--bearer2-env", "TWO"]);
        command.envs([("ONE", "one"), ("TWO", "two")]);
    }
    if tool.is_older {
        command.arg("--legacy");
    }
    if let Some(wait) = given.wait.as_ref().filter(|_| tool.waits) {
        command.args(["--wait", wait]);
    }
    let output = command.output()?;
    // 1 is a server that does not stand, which is a result.
    if !matches!(output.status.code(), Some(0 | 1)) {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the audit ended with {}: {}", output.status, said.trim()).into());
    }
    let audited: Audited = serde_json::from_slice(&output.stdout)?;
    let revision = match tool.is_older {
        true => "2025-11-25",
        false => "2026-07-28",
    };
    if audited.protocol_version != revision {
        return Err(format!("it speaks {}", audited.protocol_version).into());
    }
    Ok(audited)
}
