//! [`Cell`]: what came of one case between one client and one server.

use std::{fmt, process::Command};

use antiphon_interop::{cases, process::Outcome};
use serde::Deserialize;

use crate::peers::{Defect, Ours, Peer};

/// What a client goes through; `interop/CONTRACT.md` says what each is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Case(pub(crate) &'static str);

/// What the `antiphon` command goes through.
const TOOL_CASES: [&str; 3] = ["inspect", "call", "resume"];

impl Case {
    /// The cases when this end is ours.
    pub(crate) fn of(our_end: End) -> Vec<Self> {
        match our_end {
            End::Tool => TOOL_CASES.map(Self).to_vec(),
            End::Client | End::Server => cases::all().map(Self).collect(),
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let found = cases::all().chain(TOOL_CASES).find(|case| *case == name);
        found.map(Self).ok_or(format!("there is no case {name}"))
    }
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Era {
    Modern,
    Legacy,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    Stdio,
    Http,
}

/// Which end of it is ours.
#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum End {
    Client,
    Server,
    /// Our client is the `antiphon` command.
    Tool,
}

impl End {
    pub(crate) const ALL: [Self; 3] = [Self::Client, Self::Tool, Self::Server];
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Modern => "modern",
            Self::Legacy => "legacy",
        })
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        })
    }
}

/// A peer, and how it is met.
#[derive(Clone, Copy)]
pub(crate) struct Pairing<'a> {
    pub(crate) peer: &'a Peer,
    pub(crate) our_end: End,
    pub(crate) transport: Transport,
    pub(crate) era: Era,
}

impl<'a> Pairing<'a> {
    /// Every way to meet each peer.
    pub(crate) fn all(peers: &'a [Peer]) -> Vec<Self> {
        let mut all = Vec::new();
        for our_end in End::ALL {
            for peer in peers {
                for era in &peer.eras {
                    for transport in [Transport::Stdio, Transport::Http] {
                        all.push(Self {
                            peer,
                            our_end,
                            transport,
                            era: *era,
                        });
                    }
                }
            }
        }
        all
    }

    /// The server's words, and the client's.
    pub(crate) fn programs(&self, ours: &'a Ours) -> (&'a [String], &'a [String]) {
        match self.our_end {
            End::Client => (&self.peer.server, &ours.client),
            End::Tool => (&self.peer.server, &ours.tool),
            End::Server => (&ours.server, &self.peer.client),
        }
    }

    /// What an outcome is worth, given the known defects.
    pub(crate) fn judge(&self, case: Case, outcome: Outcome) -> Cell<'a> {
        let verdict = match (outcome, self.defect(case)) {
            (Outcome::Passed, None) => Verdict::Passed,
            (Outcome::Passed, Some(defect)) if defect.sometimes => Verdict::Passed,
            (Outcome::Passed, Some(_)) => {
                Verdict::Failed("it passes, although a defect is said to be in its way".to_owned())
            }
            (Outcome::Cannot(why), _) => Verdict::Cannot(why),
            (Outcome::Failed(why), None) => Verdict::Failed(why),
            (Outcome::Failed(why), Some(defect)) => match defect.shows() {
                Ok(()) => Verdict::Excused(defect),
                Err(gone) => Verdict::Failed(format!("{why}; and {gone}")),
            },
        };
        Cell {
            pairing: *self,
            case,
            verdict,
        }
    }

    fn defect(&self, case: Case) -> Option<&'a Defect> {
        self.peer.defects.iter().find(|defect| {
            defect.our_end == self.our_end
                && defect.cases.iter().any(|name| name == case.0)
                && defect.era.is_none_or(|era| era == self.era)
                && defect
                    .transport
                    .is_none_or(|transport| transport == self.transport)
        })
    }
}

impl Defect {
    /// Whether its script still shows it.
    fn shows(&self) -> Result<(), String> {
        let name = &self.file;
        let (program, arguments) = self.script.split_first().ok_or("a defect has no script")?;
        match Command::new(program).args(arguments).output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(format!(
                "{name} does not show the defect: {}",
                output.status
            )),
            Err(error) => Err(format!("{name} cannot be run: {error}")),
        }
    }
}

pub(crate) enum Verdict<'a> {
    Passed,
    Failed(String),
    Cannot(String),
    /// It fails because of this.
    Excused(&'a Defect),
}

pub(crate) struct Cell<'a> {
    pub(crate) pairing: Pairing<'a>,
    pub(crate) case: Case,
    pub(crate) verdict: Verdict<'a>,
}

impl Cell<'_> {
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self.verdict, Verdict::Failed(_))
    }
}

impl fmt::Display for Pairing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (peer, transport, era) = (&self.peer.name, self.transport, self.era);
        match self.our_end {
            End::Client => write!(f, "our client, {peer} server, {transport}, {era}"),
            End::Tool => write!(f, "antiphon, {peer} server, {transport}, {era}"),
            End::Server => write!(f, "{peer} client, our server, {transport}, {era}"),
        }
    }
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.pairing, self.case.0)?;
        match &self.verdict {
            Verdict::Failed(why) | Verdict::Cannot(why) => write!(f, ": {why}"),
            Verdict::Excused(defect) => write!(f, ": {}", defect.what),
            Verdict::Passed => Ok(()),
        }
    }
}
