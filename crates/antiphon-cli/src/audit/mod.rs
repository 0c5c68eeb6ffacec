//! `antiphon audit`: an interactive server, attacked from outside.
//!
//! A [`Probe`] tries one thing, in flows of its own ([`flow`]), and says what it [found](finding).
//! What is sent is written here byte by byte ([`leg`], [`wire`]); what comes back is a [`Reply`],
//! measured by what an honest client gets. [`report`] shows it.

mod answers;
mod arguments;
mod finding;
mod flow;
mod leg;
mod links;
mod older;
mod probe;
mod probes;
mod reading;
mod reply;
mod report;
mod setup;
mod state;
mod values;
mod wire;

use std::{
    cell::{OnceCell, RefCell},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use antiphon::types::{Prompt, Resource, ServerCapabilities, Tool, Version};
use serde_json::{Map, Value};

use crate::{
    failure::{Exit, Failure},
    progress::Progress,
};
use answers::Answering;
use finding::Finding;
use flow::Reference;
use probe::Probe;
use probes::Reuse;
use reply::{Refusal, Reply};
use wire::Wire;

pub(crate) use finding::Verdict;
pub(crate) use report::Report;
use setup::Reach;
pub(crate) use setup::Settings;

/// What is audited.
pub(crate) struct Subject {
    pub(crate) version: Version,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) tool: Tool,
    pub(crate) arguments: Map<String, Value>,
    /// What else the server has.
    pub(crate) tools: Vec<Tool>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<Resource>,
}

/// An audit of one tool.
pub(crate) struct Audit {
    subject: Subject,
    answering: Answering,
    /// Whether calls may have effects.
    allow_effects: bool,
    /// How long a state is kept to see whether it expires.
    wait: Option<Duration>,
    wire: Arc<Wire>,
    /// The same server as somebody else, and as nobody.
    second: Option<Arc<Wire>>,
    anonymous: Option<Arc<Wire>>,
    /// Another instance of it.
    replica: Option<Arc<Wire>>,
    progress: Progress,
    /// Further ways to it.
    reach: Reach,
    reference: OnceCell<Reference>,
    /// The same for a server of an older revision.
    older: OnceCell<older::Flow>,
    memory: RefCell<Memory>,
    sent: Arc<AtomicU64>,
}

/// What probes know of one another.
#[derive(Default)]
struct Memory {
    /// How states were refused, by cause.
    refusals: Vec<(&'static str, Refusal)>,
    /// What came of a state that was used before, with other answers.
    other_answers: Option<Result<Reuse, Finding>>,
    /// Whether a state that was tampered with was taken.
    tampered: Option<bool>,
    /// What a server does when its user says no.
    declined: Option<Reply>,
    /// How many calls of tools came to their end.
    completed: u64,
    /// Whether a request had no answer in time.
    is_late: bool,
}

/// A probe and what it found.
pub(crate) struct Row {
    probe: &'static Probe,
    finding: Finding,
}

impl Audit {
    /// Runs these probes, in order.
    ///
    /// # Errors
    /// When the tool is none that can be audited.
    pub(crate) async fn run(&self, probes: &[&'static Probe]) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        if self.subject.version.is_modern() {
            let reference = self.refer().await.map_err(|finding| self.unfit(&finding))?;
            _ = self.reference.set(reference);
        } else {
            let flow = self.refer_older().await;
            let flow = flow.map_err(|finding| self.unfit(&finding))?;
            _ = self.older.set(flow);
        }
        for probe in probes {
            let finding = self.find(probe).await;
            rows.push(Row { probe, finding });
        }
        Ok(rows)
    }

    async fn find(&self, probe: &'static Probe) -> Finding {
        let run = match (self.subject.version.is_modern(), probe.run_older) {
            (true, _) => probe.run,
            (false, Some(run)) => run,
            (false, None) => {
                return Finding::not_tested("there is no requestState in this revision");
            }
        };
        if probe.needs_effects && !self.allow_effects {
            return Finding::not_tested("needs --allow-effects");
        }
        let what = format!("{}…", probe.title);
        self.progress.while_waiting(&what, run(self)).await
    }

    /// What to say of a tool that does not ask.
    fn unfit(&self, finding: &Finding) -> Failure {
        let tool = crate::printable::excerpt(&self.subject.tool.name, 60);
        let exit = match self.memory.borrow().is_late {
            true => Exit::TimedOut,
            false => Exit::Protocol,
        };
        Failure::new(
            exit,
            format!("{tool} cannot be audited: {}", finding.detail),
        )
    }

    /// Most calls that these probes could make the server complete, the honest one included.
    pub(crate) fn effects(&self, probes: &[&'static Probe]) -> usize {
        let possible = probes.iter().filter(|probe| self.can_run(probe));
        let effects = possible.map(|probe| match self.subject.version.is_modern() {
            true => probe.effects,
            false => probe.effects_older,
        });
        1 + effects.sum::<usize>()
    }

    /// Whether a probe was given what it needs, but for leave to have effects.
    fn can_run(&self, probe: &Probe) -> bool {
        match probe.id {
            "expired" => self.wait.is_some(),
            "other-principal" => self.second.is_some(),
            "anonymous" => self.anonymous.is_some(),
            "other-replica" => self.replica.is_some(),
            _ => true,
        }
    }

    fn reference(&self) -> &Reference {
        self.reference
            .get()
            .expect("it is set before any probe of the modern era runs")
    }

    /// How many requests there were, and how many calls came to their end.
    fn counts(&self) -> (u64, u64) {
        (
            self.sent.load(Ordering::Relaxed),
            self.memory.borrow().completed,
        )
    }
}

/// The probes with these names; all if there are none.
///
/// # Errors
/// When there is no such probe.
pub(crate) fn chosen(only: &[String]) -> Result<Vec<&'static Probe>, Failure> {
    let all = probes::all();
    for id in only {
        if !all.iter().any(|probe| probe.id == *id) {
            let ids: Vec<_> = all.iter().map(|probe| probe.id).collect();
            let instead = crate::nearest::instead(id, &ids);
            let id = crate::printable::excerpt(id, 60);
            return Err(Failure::usage(format!(
                "--only: there is no probe {id}: {instead}"
            )));
        }
    }
    let is_chosen = |probe: &&Probe| only.is_empty() || only.iter().any(|id| id == probe.id);
    Ok(all.into_iter().filter(is_chosen).collect())
}
