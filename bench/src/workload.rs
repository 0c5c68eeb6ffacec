//! The workloads, and which of them were asked for.

use std::str::FromStr;

use crate::{
    request::{FILLERS, Kind},
    server::{Heap, Setup},
};

/// The name of the workload that measures memory, which is not a contest of bursts.
pub(crate) const MEMORY: &str = "memory";
/// The name of the workload that measures clients.
pub(crate) const CLIENTS: &str = "clients";
/// The name of the workload that compares two workers with one.
pub(crate) const WORKERS: &str = "workers";
/// All that are not contests of bursts between servers.
const OTHERS: [&str; 7] = [
    MEMORY,
    CLIENTS,
    WORKERS,
    "growth-tools",
    "growth-connections",
    "growth-sessions",
    "growth-bytes",
];

/// What a server is started with; workloads of one stage share its processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Http(Setup),
    Stdio,
    /// Over HTTP, in sessions of revision 2025-11-25.
    Older,
}

/// The stages, in the order in which they are run.
pub(crate) const STAGES: [Stage; 5] = [PLAIN, LARGE, FULL, Stage::Stdio, Stage::Older];
const PLAIN: Stage = http(0, Heap::Free);
const LARGE: Stage = http(0, Heap::Kept);
const FULL: Stage = http(FILLERS, Heap::Free);

const fn http(fillers: usize, heap: Heap) -> Stage {
    Stage::Http(Setup {
        fillers,
        heap,
        workers: None,
    })
}

/// Something that servers are compared by.
#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) stage: Stage,
    pub(crate) kind: Kind,
    /// How many requests are under way at a time: connections, lines in flight, or sessions.
    pub(crate) width: u32,
}

/// Every contest of bursts between servers.
pub(crate) const WORKLOADS: [Workload; 14] = [
    Workload {
        name: "echo-1",
        title: "echo over HTTP, 1 connection",
        stage: PLAIN,
        kind: Kind::Echo,
        width: 1,
    },
    Workload {
        name: "echo-32",
        title: "echo over HTTP, 32 connections",
        stage: PLAIN,
        kind: Kind::Echo,
        width: 32,
    },
    Workload {
        name: "confirm-1",
        title: "confirm over HTTP, two legs each, 1 connection",
        stage: PLAIN,
        kind: Kind::Confirm,
        width: 1,
    },
    Workload {
        name: "confirm-32",
        title: "confirm over HTTP, two legs each, 32 connections",
        stage: PLAIN,
        kind: Kind::Confirm,
        width: 32,
    },
    Workload {
        name: "nested",
        title: "10 KB of nested, typed arguments over HTTP, 32 connections",
        stage: PLAIN,
        kind: Kind::Nested,
        width: 32,
    },
    Workload {
        name: "large",
        title: "echo of 1 MiB over HTTP, 1 connection",
        stage: LARGE,
        kind: Kind::Large,
        width: 1,
    },
    Workload {
        name: "list",
        title: "tools/list of 503 tools over HTTP, 8 connections",
        stage: FULL,
        kind: Kind::List,
        width: 8,
    },
    Workload {
        name: "echo-503",
        title: "echo among 503 tools over HTTP, 32 connections",
        stage: FULL,
        kind: Kind::Echo,
        width: 32,
    },
    Workload {
        name: "stdio-1",
        title: "echo over stdio, 1 in flight",
        stage: Stage::Stdio,
        kind: Kind::Echo,
        width: 1,
    },
    Workload {
        name: "stdio-32",
        title: "echo over stdio, 32 in flight",
        stage: Stage::Stdio,
        kind: Kind::Echo,
        width: 32,
    },
    Workload {
        name: "stdio-confirm-1",
        title: "confirm over stdio, two legs each, 1 in flight",
        stage: Stage::Stdio,
        kind: Kind::Confirm,
        width: 1,
    },
    Workload {
        name: "stdio-confirm-32",
        title: "confirm over stdio, two legs each, 32 in flight",
        stage: Stage::Stdio,
        kind: Kind::Confirm,
        width: 32,
    },
    Workload {
        name: "older-confirm-1",
        title: "confirm of 2025-11-25, asked on the call's stream, 1 session",
        stage: Stage::Older,
        kind: Kind::Confirm,
        width: 1,
    },
    Workload {
        name: "older-confirm-32",
        title: "confirm of 2025-11-25, asked on the call's stream, 32 sessions",
        stage: Stage::Older,
        kind: Kind::Confirm,
        width: 32,
    },
];

/// The workloads that were asked for.
#[derive(Clone, Debug)]
pub(crate) struct Selection(Vec<String>);

impl Selection {
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.0.iter().any(|asked| matches(asked, name))
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let asked: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        let names = || WORKLOADS.iter().map(|w| w.name).chain(OTHERS);
        match asked
            .iter()
            .find(|asked| !names().any(|name| matches(asked, name)))
        {
            None => Ok(Self(asked)),
            Some(unknown) => {
                let known = names().collect::<Vec<_>>().join(", ");
                Err(format!(
                    "no workload is called {unknown:?}; there are {known}"
                ))
            }
        }
    }
}

/// Whether what was asked stands for the workload of this name.
fn matches(asked: &str, name: &str) -> bool {
    let group = || name.strip_prefix(asked)?.strip_prefix('-');
    asked == "all" || asked == name || group().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_stands_for_its_members() {
        let asked: Selection = "stdio, large".parse().expect("known");
        let wanted: Vec<_> = WORKLOADS.iter().filter(|w| asked.wants(w.name)).collect();
        let names: Vec<_> = wanted.iter().map(|w| w.name).collect();
        let stdio = ["stdio-1", "stdio-32", "stdio-confirm-1", "stdio-confirm-32"];
        assert_eq!(names, [&["large"], &stdio[..]].concat());
        assert!(!asked.wants(MEMORY) && !asked.wants(CLIENTS));
        assert!(OTHERS.iter().all(|name| !asked.wants(name)));
        let growth: Selection = "growth".parse().expect("known");
        assert!(growth.wants("growth-bytes") && !growth.wants(WORKERS));
        let narrower: Selection = "stdio-confirm".parse().expect("known");
        assert!(narrower.wants("stdio-confirm-32") && !narrower.wants("stdio-32"));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let refused = "stdio,ehco".parse::<Selection>();
        assert!(refused.is_err_and(|e| e.contains("ehco") && e.contains("echo-32")));
    }

    #[test]
    fn every_workload_belongs_to_a_stage_that_is_run() {
        assert!(WORKLOADS.iter().all(|w| STAGES.contains(&w.stage)));
    }
}
