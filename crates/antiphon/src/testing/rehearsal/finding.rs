//! [`Finding`]: what a rehearsal found, in words.

use antiphon_types::InputRequest;

use super::{
    super::play::shown,
    Trouble,
    heard::{End, Heard, Says, keys},
};
use crate::server::fault::Fault;

/// Why a handler cannot be replayed.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// One sentence with the key and the reason, and what shows it.
    what: String,
    /// What to do, and the rule that says so.
    rule: Option<Rule>,
}

/// A rule of the guide on asking.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Questions,
    Spelling,
    Effects,
    Steps,
    Branch,
    Memory,
    Result,
}

impl Rule {
    fn name(self) -> &'static str {
        match self {
            Self::Questions | Self::Spelling => "Make questions of arguments and earlier answers",
            Self::Effects => "Effects after the last question, or in `once`",
            Self::Steps => "The same steps under the same keys",
            Self::Branch => "The same answers, the same branch",
            Self::Memory | Self::Result => "Keep nothing in the process between rounds",
        }
    }

    fn to_do(self) -> &'static str {
        match self {
            Self::Questions => {
                "make it of the arguments and of earlier answers, not of the time, of chance or of \
                 what one process remembers; what changes is to be got in `once`"
            }
            Self::Spelling => {
                "make it of what the arguments say, as a type that `Args` reads them into, and not of \
                 their text or of the order in which a `Value` may have them"
            }
            Self::Effects => "do it after the last question, or within `ask.once(key, ..)`",
            Self::Steps => {
                "take every step each time the handler runs, under a key made of the arguments and \
                 of earlier answers: `once` knows by itself what was done"
            }
            Self::Branch => {
                "let what is asked depend on the arguments, on answers and on results of `once` \
                 alone, and on nothing that one process remembers"
            }
            Self::Memory => {
                "what a later round needs is an answer, a result of `once`, the state of a question \
                 by hand, or in a store that all instances share"
            }
            Self::Result => {
                "make the result of arguments, answers, results of `once` and what all instances \
                 share; if it is meant to be another one each time, add `.result_may_differ()`"
            }
        }
    }
}

impl Finding {
    fn new(rule: Rule, what: String) -> Self {
        let rule = Some(rule);
        Self { what, rule }
    }

    /// What has no rule in the guide, and says itself what to do.
    pub(super) fn plain(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            rule: None,
        }
    }

    pub(super) fn faults(faults: &[Fault]) -> Option<Self> {
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        (!faults.is_empty()).then(|| Self::plain(faults.join("\n")))
    }

    /// A question that was answered is another one now.
    pub(super) fn drift(
        trouble: Option<Trouble>,
        key: &str,
        before: &InputRequest,
        now: &InputRequest,
    ) -> Self {
        let (rule, why) = match trouble {
            Some(Trouble::Respelt) => (Rule::Spelling, "when the arguments are spelt otherwise"),
            Some(Trouble::RunAgain) => (Rule::Questions, "when the handler runs again"),
            _ => (Rule::Questions, "on another instance"),
        };
        let what = format!(
            "the question `{key}` is another one {why}, so no answer to it counts:\n  before: {}\n  \
             now: {}",
            shown(before),
            shown(now),
        );
        Self::new(rule, what)
    }

    /// A question that was answered comes again.
    pub(super) fn lost(key: &str, asked_in: u32) -> Self {
        let what = format!(
            "the answer to `{key}` was lost: it was asked for in leg {asked_in} and answered, and \
             is asked for again"
        );
        Self::new(Rule::Memory, what)
    }

    /// It ended badly, and had not.
    pub(super) fn failed(failed: &str, wanted: Option<&Heard>) -> Self {
        let what = format!(
            "the call failed with {failed}, where {}",
            wanted.map_or("it was over".to_owned(), did),
        );
        Self::new(Rule::Memory, what)
    }

    /// It went another way.
    pub(super) fn branch(wanted: Option<&Heard>, came: &Heard) -> Self {
        let what = format!(
            "the same answers led somewhere else: {}, where {}",
            does(came),
            wanted.map_or("it was over".to_owned(), did),
        );
        Self::new(Rule::Branch, what)
    }

    /// Two results.
    pub(super) fn result(wanted: &End, came: &End) -> Self {
        let what = format!(
            "the call ended with {}, where it had ended with {}",
            came.shown(),
            wanted.shown(),
        );
        Self::new(Rule::Result, what)
    }

    /// Two responses to one request.
    pub(super) fn response(first: &Heard, second: &Heard) -> Self {
        Self::plain(format!(
            "one request got two responses: one time {}, and then {}; what was recorded should have \
             been sent again, so see that the closure changes neither the guard nor the `replay` \
             of the sealing it is handed",
            does(first),
            does(second),
        ))
    }

    /// Something was done that no `once` knows of.
    pub(super) fn effects(more: &str) -> Self {
        let what = format!(
            "something was done outside `once` before a question, and so it is done each time the \
             handler runs: the effects changed by {more} once more"
        );
        Self::new(Rule::Effects, what)
    }

    /// More or less was done than in the smooth play.
    pub(super) fn all_effects(wanted: &str, came: &str) -> Self {
        let what = format!(
            "the effects of the whole call changed by {came}, where those of the smooth play \
             changed by {wanted}"
        );
        Self::new(Rule::Effects, what)
    }

    /// Work was done a second time.
    pub(super) fn done_twice(key: &str) -> Self {
        let what = format!("the work of `once` under `{key}` was done twice in one call");
        Self::new(Rule::Steps, what)
    }

    /// Other steps than before.
    pub(super) fn steps(wanted: &[String], came: &[String]) -> Self {
        let listed = |keys: &[String]| {
            let keys: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
            keys.join(", ")
        };
        let missing = wanted.iter().filter(|key| !came.contains(key));
        let missing: Vec<_> = missing.cloned().collect();
        let more: Vec<_> = came
            .iter()
            .filter(|it| !wanted.contains(it))
            .cloned()
            .collect();
        let what = match (missing.is_empty(), more.is_empty()) {
            (false, true) => format!(
                "the handler skipped the step {} of `once`, which it had taken here before",
                listed(&missing)
            ),
            (true, _) => format!(
                "the handler took the step {} of `once`, which it had not taken here before",
                listed(&more)
            ),
            (false, false) => format!(
                "the key of a step of `once` is another one each time: it is {} now and was {}, so \
                 its work is done again",
                listed(&more),
                listed(&missing)
            ),
        };
        Self::new(Rule::Steps, what)
    }

    /// All that the test is told.
    pub(super) fn told(&self, leg: u32, trouble: Option<Trouble>) -> String {
        let Self { what, rule } = self;
        let found = match trouble {
            None => String::new(),
            Some(trouble) => format!(
                "\nfound by a rehearsal ({trouble:?}) in leg {leg}, {}",
                trouble.words()
            ),
        };
        match rule {
            None => format!("{what}{found}"),
            Some(rule) => format!(
                "{what}{found}\n{}: see \"{}\" among the rules that keep handlers replayable, in the \
                 guide on asking",
                rule.to_do(),
                rule.name(),
            ),
        }
    }
}

fn did(heard: &Heard) -> String {
    match &heard.says {
        Says::Asks(questions) => format!("it had asked for {}", keys(questions)),
        Says::Later => "it had asked to come back later".to_owned(),
        Says::Ends(end) => format!("it had ended with {}", end.shown()),
    }
}

fn does(heard: &Heard) -> String {
    match &heard.says {
        Says::Asks(questions) => format!("the handler asks for {}", keys(questions)),
        Says::Later => "the handler asks to come back later".to_owned(),
        Says::Ends(end) => format!("the call ends with {}", end.shown()),
    }
}
