//! [`Trace`]: what happened in a play, for people.

use std::{fmt, panic::Location};

use antiphon_core::question::Kind;
use antiphon_types::InputRequest;

/// Each leg of a call: what was asked, and what was done. Answers are not in it.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    call: String,
    legs: Vec<Leg>,
    end: Option<String>,
}

#[derive(Debug, Clone)]
enum Leg {
    Asked(Vec<Line>),
    /// So many legs in a row that asked nothing.
    Later(u32),
}

#[derive(Debug, Clone)]
struct Line {
    key: String,
    what: &'static str,
    action: Option<&'static str>,
}

impl Trace {
    /// Of this call.
    pub(super) fn new(call: String) -> Self {
        Self {
            call,
            legs: Vec::new(),
            end: None,
        }
    }

    /// A round of questions.
    pub(super) fn asked<'a>(&mut self, asked: impl Iterator<Item = (&'a str, &'a InputRequest)>) {
        let line = |(key, question): (&str, &InputRequest)| Line {
            key: key.to_owned(),
            what: what(Kind::of(question)),
            action: None,
        };
        self.legs.push(Leg::Asked(asked.map(line).collect()));
    }

    /// What was done about a question of the last round.
    pub(super) fn done(&mut self, key: &str, action: &'static str) {
        if let Some(Leg::Asked(lines)) = self.legs.last_mut() {
            let mut lines = lines.iter_mut();
            if let Some(line) = lines.find(|line| line.key == key) {
                line.action = Some(action);
            }
        }
    }

    /// A leg that asks nothing but to come back; how many there are in a row.
    pub(super) fn later(&mut self) -> u32 {
        if let Some(Leg::Later(times)) = self.legs.last_mut() {
            *times += 1;
            return *times;
        }
        self.legs.push(Leg::Later(1));
        1
    }

    /// All legs that asked nothing.
    pub(super) fn laters(&self) -> u32 {
        let times = |leg: &Leg| match leg {
            Leg::Later(times) => *times,
            Leg::Asked(_) => 0,
        };
        self.legs.iter().map(times).sum()
    }

    pub(super) fn end(&mut self, how: impl Into<String>) {
        self.end = Some(how.into());
    }
}

/// What a kind of question is called.
pub(super) fn what(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::Form) => "a form",
        Some(Kind::Url) => "a link",
        Some(Kind::Sample | Kind::SampleWithTools) => "a completion",
        Some(Kind::Roots) => "a request for roots",
        _ => "something unknown",
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.call)?;
        let mut round = 0;
        for leg in &self.legs {
            match leg {
                Leg::Later(times) => write!(f, "\n  later, {times} x")?,
                Leg::Asked(lines) => {
                    round += 1;
                    write!(f, "\n  round {round}:")?;
                    for (at, Line { key, what, action }) in lines.iter().enumerate() {
                        let before = if at == 0 { "" } else { "," };
                        let action = action.unwrap_or("?");
                        write!(f, "{before} `{key}`, {what}: {action}")?;
                    }
                }
            }
        }
        match &self.end {
            Some(end) => write!(f, "\n  {end}"),
            None => f.write_str("\n  (not over)"),
        }
    }
}

/// Why a play fails the test.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) why: String,
    pub(super) at: &'static Location<'static>,
    pub(super) trace: Trace,
}

impl Failure {
    /// With what led to it.
    pub(super) fn because(mut self, cause: &str) -> Self {
        self.why = format!("{cause}\nand so {}", self.why);
        self
    }

    /// With what was found on the way, instead of what came of that.
    pub(super) fn found(mut self, why: String) -> Self {
        self.why = why;
        self.trace.end("the rehearsal stopped here");
        self
    }

    #[track_caller]
    pub(super) fn panic(self) -> ! {
        panic!("{self}");
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { why, at, trace } = self;
        write!(f, "{why}\nplayed at {at}: {trace}")
    }
}
