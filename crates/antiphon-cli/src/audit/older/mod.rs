//! The same against servers of the older revisions, which push their questions; and what happens
//! where the eras meet.

mod session;

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{
    Audit,
    answers::{self, Kind},
    finding::Finding,
    probes::{
        answers::{bounded, enlarge},
        questions::drifted,
    },
    reply::Reply,
    wire::{Request, everything},
};
use session::{Heard, Older};

/// Most questions of a flow, and most variants of one kind.
pub(super) const MOST: usize = 10;
/// How long a call is watched that must not go on.
const WATCHED: Duration = Duration::from_secs(1);

/// A call of a tool, from its begin to its end.
#[derive(Debug)]
pub(super) struct Flow {
    questions: Vec<Value>,
    reply: Reply,
}

/// What to say to a question: the first one is 0.
type Says<'a> = &'a dyn Fn(usize, &Value) -> Value;

/// Calls the tool in a session of its own.
async fn flow(audit: &Audit, capabilities: &Value, says: Says<'_>) -> Result<Flow, Finding> {
    let mut older = Older::reach(audit).await.map_err(Finding::not_tested)?;
    older
        .greet(capabilities)
        .await
        .map_err(Finding::not_tested)?;
    let request = older.call(audit);
    let flow = driven(audit, &mut older, &request, says).await;
    older.close().await;
    Ok(flow)
}

async fn driven(audit: &Audit, older: &mut Older, request: &Request, says: Says<'_>) -> Flow {
    let mut questions = Vec::new();
    let mut incoming = match older.begin(request).await {
        Ok(incoming) => incoming,
        Err(reply) => return Flow { questions, reply },
    };
    loop {
        match older.next(&mut incoming).await {
            Heard::Asks { id, question } if questions.len() < MOST => {
                let answer = says(questions.len(), &question);
                older.answer(&id, &answer).await;
                questions.push(question);
            }
            Heard::Asks { .. } => {
                let reply = Reply::Lost("it asks for ever".to_owned());
                return Flow { questions, reply };
            }
            Heard::Ends(reply) => {
                let mut memory = audit.memory.borrow_mut();
                memory.completed += u64::from(reply.is_complete());
                memory.is_late |= matches!(reply, Reply::Late(_));
                return Flow { questions, reply };
            }
        }
    }
}

/// No to everything.
fn no(_: usize, _: &Value) -> Value {
    json!({"action": "decline"})
}

impl Audit {
    /// What an honest user says to the question of this number.
    fn says(&self, at: usize, question: &Value) -> Value {
        let key = (at + 1).to_string();
        let questions = Map::from_iter([(key.clone(), question.clone())]);
        let round = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let answers = self.answering.honest(round, &questions);
        let answer = answers
            .ok()
            .and_then(|mut answers| answers.shift_remove(&key));
        answer.unwrap_or_else(|| json!({"action": "cancel"}))
    }

    /// Uses the tool as an honest client of an older revision does, once.
    pub(super) async fn refer_older(&self) -> Result<Flow, Finding> {
        let flow = flow(self, &everything(), &|at, question| self.says(at, question)).await?;
        match flow.questions.is_empty() {
            true => Err(Finding::not_tested(format!(
                "it did not ask: {}",
                flow.reply.shown()
            ))),
            false => Ok(flow),
        }
    }

    /// What was asked then, by number.
    pub(super) fn older_questions(&self) -> Vec<(String, Value)> {
        let asked = self
            .older
            .get()
            .into_iter()
            .flat_map(|flow| &flow.questions);
        let numbered = asked.enumerate();
        numbered
            .map(|(at, question)| ((at + 1).to_string(), question.clone()))
            .collect()
    }
}

pub(super) async fn undeclared(audit: &Audit) -> Finding {
    let flow = match flow(audit, &json!({}), &no).await {
        Ok(flow) => flow,
        Err(finding) => return finding,
    };
    let seen = [flow.reply.shown()];
    match (flow.questions.len(), &flow.reply) {
        (1.., _) => Finding::fail("it was asked all the same").seen(seen),
        (0, Reply::Done(_)) => Finding::pass("it was done without asking"),
        (0, reply) if reply.is_trouble() => Finding::weak("it got no proper answer").seen(seen),
        (0, _) => Finding::pass("it was refused"),
    }
}

pub(super) async fn drift(audit: &Audit) -> Finding {
    let asked = |flow: Flow| {
        Map::from_iter([(
            "1".to_owned(),
            flow.questions.into_iter().next().unwrap_or_default(),
        )])
    };
    let one = flow(audit, &everything(), &no).await.map(asked);
    let two = flow(audit, &everything(), &no).await.map(asked);
    match (one, two) {
        (Ok(one), Ok(two)) => match drifted(&one, &two, false) {
            Some(seen) => Finding::weak("a second call was asked something else").seen(seen),
            None => Finding::pass("twice it was the same"),
        },
        (Err(finding), _) | (_, Err(finding)) => finding,
    }
}

/// Gives each of these answers to the first question, in a session of its own, and says no to whatever
/// is asked after that.
async fn none_counts(audit: &Audit, wrong: Vec<(String, Value)>) -> Finding {
    let Some(honest) = audit.older.get() else {
        return Finding::not_tested("it never asked");
    };
    let declined = match flow(audit, &everything(), &no).await {
        Ok(flow) => flow.reply,
        Err(finding) => return finding,
    };
    let tells = !declined.is_like(&honest.reply);
    let wrong: Vec<_> = wrong.into_iter().take(MOST).collect();
    let count = wrong.len();
    let mut taken = Vec::new();
    let mut troubled = Vec::new();
    let mut broken = None;
    for (what, answer) in wrong {
        let says = |at: usize, question: &Value| match at {
            0 => answer.clone(),
            _ => no(at, question),
        };
        let reply = match flow(audit, &everything(), &says).await {
            Ok(flow) => flow.reply,
            Err(finding) => {
                broken = Some(finding);
                break;
            }
        };
        let seen = format!("{what}: {}", reply.shown());
        match &reply {
            Reply::Done(_) if !(tells && reply.is_like(&declined)) => taken.push(seen),
            _ if reply.is_trouble() => troubled.push(seen),
            _ => {}
        }
    }
    match (count, taken.len(), troubled.len()) {
        (0, ..) => Finding::not_tested("there is nothing to get wrong in what it asks"),
        (_, 1.., _) => Finding::fail(format!("{} of {count} were taken", taken.len())).seen(taken),
        (_, _, 1..) => {
            let detail = format!("{} of {count} got no proper answer", troubled.len());
            Finding::weak(detail).seen(troubled)
        }
        _ => broken.unwrap_or_else(|| Finding::pass(format!("none of {count} was taken"))),
    }
}

/// The first question of the honest flow, and what was said to it.
fn first(audit: &Audit) -> Option<(Value, Value)> {
    let question = audit.older.get()?.questions.first()?.clone();
    let answer = audit.says(0, &question);
    Some((question, answer))
}

pub(super) async fn mistyped(audit: &Audit) -> Finding {
    match first(audit) {
        Some((question, answer)) => none_counts(audit, answers::mistyped(&question, &answer)).await,
        None => Finding::not_tested("it never asked"),
    }
}

/// A pushed question has no key: it is the fields that have names.
pub(super) async fn renamed(audit: &Audit) -> Finding {
    let Some((question, answer)) = first(audit) else {
        return Finding::not_tested("it never asked");
    };
    let required = super::values::names(answers::schema(&question));
    let content = answer.get("content").and_then(Value::as_object);
    let Some(content) = content.filter(|_| !required.is_empty()) else {
        return Finding::not_tested("what it asks has no fields that it requires");
    };
    type Rename = fn(&str) -> String;
    let ways: [(&str, Rename); 2] = [
        ("a word before", |name| format!("x-{name}")),
        ("a blank behind", |name| format!("{name} ")),
    ];
    let wrong = ways.into_iter().map(|(what, rename)| {
        let content = content
            .iter()
            .map(|(name, value)| (rename(name), value.clone()));
        let content: Map<_, _> = content.collect();
        (
            what.to_owned(),
            json!({"action": "accept", "content": content}),
        )
    });
    none_counts(audit, wrong.collect()).await
}

pub(super) async fn oversized(audit: &Audit) -> Finding {
    match too_much(audit).await {
        Ok(finding) | Err(finding) => finding,
    }
}

/// Answers far too long, and then no: which of them counted shows in how the call ends.
async fn too_much(audit: &Audit) -> Result<Finding, Finding> {
    let declined = flow(audit, &everything(), &no).await?.reply;
    let mut older = Older::reach(audit).await.map_err(Finding::not_tested)?;
    let greeted = older.greet(&everything()).await;
    greeted.map_err(Finding::not_tested)?;
    let begun = older.begin(&older.call(audit)).await;
    let mut incoming = begun.map_err(|reply| Finding::not_tested(reply.shown()))?;
    let Heard::Asks { id, question } = older.next(&mut incoming).await else {
        return Err(Finding::not_tested("it did not ask"));
    };
    let mut answer = audit.says(0, &question);
    enlarge(&question, &mut answer, &"x".repeat(6 << 20));
    older.answer(&id, &answer).await;
    older.answer(&id, &no(0, &question)).await;
    let reply = loop {
        match older.next(&mut incoming).await {
            Heard::Asks { id, question } => older.answer(&id, &no(0, &question)).await,
            Heard::Ends(reply) => break reply,
        }
    };
    if reply.is_complete() {
        audit.memory.borrow_mut().completed += 1;
    }
    drop(incoming);
    older.close().await;
    let honest = audit.older.get().map(|flow| &flow.reply);
    let tells = honest.is_some_and(|honest| !honest.is_like(&declined));
    Ok(match tells && reply.is_like(&declined) {
        true => Finding::pass("it was not taken"),
        false => bounded(&reply),
    })
}

/// What one era says in the shape of the other.
pub(super) async fn confusion(audit: &Audit) -> Finding {
    let is_modern = audit.subject.version.is_modern();
    let mut parts = Vec::new();
    // Whoever asks in one era may act at once in the other.
    let may_call = audit.allow_effects || !is_modern;
    if may_call {
        let what = "answers of 2026 in an older call".to_owned();
        parts.push((what, smuggled(audit).await));
    }
    if is_modern {
        parts.push(("initialize of 2026".to_owned(), initialized(audit).await));
    }
    if may_call && audit.reach.is_http() {
        parts.push((
            "answers of another session".to_owned(),
            crossed(audit).await,
        ));
    }
    Finding::worst(parts)
}

/// An older call with the members of a modern one: it must ask all the same, in its own way.
async fn smuggled(audit: &Audit) -> Finding {
    match smuggle(audit).await {
        Ok(finding) | Err(finding) => finding,
    }
}

async fn smuggle(audit: &Audit) -> Result<Finding, Finding> {
    // A tool that asks nobody in an older session took no answers there.
    if audit.subject.version.is_modern() {
        let mut plain = Older::reach(audit).await.map_err(Finding::not_tested)?;
        let greeted = plain.greet(&everything()).await;
        greeted.map_err(Finding::not_tested)?;
        let request = plain.call(audit);
        let Flow { questions, reply } = driven(audit, &mut plain, &request, &no).await;
        let is_asked = !questions.is_empty() || plain.is_asked_for_roots;
        plain.close().await;
        if !is_asked {
            let why = format!("an older client is not asked: {}", reply.shown());
            return Err(Finding::not_tested(why));
        }
    }
    let mut older = Older::reach(audit).await.map_err(Finding::not_tested)?;
    let (questions, state) = match audit.subject.version.is_modern() {
        // On the same way: what is started by a command knows its own states alone.
        true => {
            let round = audit.first_on(&older.wire, audit.leg()).await?;
            (round.questions, round.state)
        }
        false => {
            let asked = audit
                .older_questions()
                .into_iter()
                .map(|(_, question)| question);
            let names = ["1", "confirm"].map(str::to_owned);
            (names.into_iter().zip(asked.cycle()).collect(), None)
        }
    };
    let answers = audit.answering.honest(1, &questions);
    let answers = Value::Object(answers.map_err(Finding::not_tested)?);
    older
        .greet(&everything())
        .await
        .map_err(Finding::not_tested)?;
    let state = state.unwrap_or_else(|| "antiphon-audit".to_owned());
    let request = older
        .call(audit)
        .with("inputResponses", &answers.to_string())
        .with("requestState", &Value::from(state).to_string());
    let Flow { questions, reply } = driven(audit, &mut older, &request, &no).await;
    let asked = questions.len() + usize::from(older.is_asked_for_roots);
    older.close().await;
    let seen = [reply.shown()];
    Ok(match (&reply, asked) {
        (Reply::Asks(_), _) => Finding::fail("an older client got input_required").seen(seen),
        (_, 1..) => Finding::pass("it was asked all the same"),
        (Reply::Done(_), 0) => Finding::fail("taken, without having asked").seen(seen),
        (reply, 0) if reply.is_trouble() => Finding::weak("no proper answer").seen(seen),
        (_, 0) => Finding::pass("refused"),
    })
}

/// A handshake that says it is of 2026: there is none.
async fn initialized(audit: &Audit) -> Finding {
    let older = match Older::reach(audit).await {
        Ok(older) => older,
        Err(why) => return Finding::not_tested(why),
    };
    let mut request = older.initialize(&everything());
    let modern = Request::new("initialize");
    (request.version, request.capabilities) = (modern.version, modern.capabilities);
    let reply = older.wire.ask(&request).await;
    older.close().await;
    match &reply {
        Reply::Done(_) => Finding::weak("it opened a session").seen([reply.shown()]),
        _ if reply.is_trouble() => Finding::weak("no proper answer").seen([reply.shown()]),
        _ => Finding::pass("refused"),
    }
}

/// A question of one session, answered from another: that must not count.
async fn crossed(audit: &Audit) -> Finding {
    match cross(audit).await {
        Ok(finding) | Err(finding) => finding,
    }
}

async fn cross(audit: &Audit) -> Result<Finding, Finding> {
    let mut ours = Older::reach(audit).await.map_err(Finding::not_tested)?;
    ours.greet(&everything())
        .await
        .map_err(Finding::not_tested)?;
    let mut theirs = Older::reach(audit).await.map_err(Finding::not_tested)?;
    theirs
        .greet(&everything())
        .await
        .map_err(Finding::not_tested)?;
    let begun = ours.begin(&ours.call(audit)).await;
    let mut incoming = begun.map_err(|reply| Finding::not_tested(reply.shown()))?;
    let Heard::Asks { id, question } = ours.next(&mut incoming).await else {
        return Err(Finding::not_tested("an older client is not asked"));
    };
    if Kind::of(&question) == Kind::Unknown {
        return Err(Finding::not_tested("what it asks is not known here"));
    }
    let answer = audit.says(0, &question);
    theirs.answer(&id, &answer).await;
    let found = match timeout(WATCHED, ours.next(&mut incoming)).await {
        Ok(Heard::Ends(reply)) if reply.is_complete() => {
            Finding::fail("it was counted").seen([reply.shown()])
        }
        Ok(Heard::Asks { .. }) => Finding::fail("it was counted: the next question came"),
        _ => Finding::pass("it was not counted"),
    };
    ours.answer(&id, &no(0, &question)).await;
    drop(incoming);
    theirs.close().await;
    ours.close().await;
    Ok(found)
}
