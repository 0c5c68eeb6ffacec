//! Answers that nobody asked for, and some that are none.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::{
    audit::{
        Audit, Verdict,
        answers::{self, Answers, Kind},
        finding::Finding,
        flow::Taken,
        older,
        probe::Probe,
        reply::{Reply, Round},
        values,
    },
    printable,
};

/// Most variants of one kind.
const MOST: usize = 24;
/// Most answers that are left out, one at a time.
const LEFT_OUT: usize = 3;
/// How much text is too much. A server may hang up on one that is far above its bounds before it was
/// sent, and its answer to that is lost with HTTP; then less is tried.
const BYTES: [usize; 4] = [6 << 20, 1 << 20, 128 << 10, 16 << 10];
/// How often a server is tried again that does not serve after that, and how soon.
const RETRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(250);
/// How many answers are too many.
const COUNT: usize = 20_000;

pub(super) static PROBES: [Probe; 6] = [
    Probe {
        id: "unsolicited-answers",
        group: "answers",
        title: "answers that nobody asked for",
        meaning: "A model or a client answers before the user is asked: the question is skipped.",
        advice: "Count an answer only if that very question was pending in the state that came with \
                 it; ignore all others.",
        ledger: &["MRTR-S-12", "MRTR-S-29"],
        effects: 4,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(unsolicited(audit)),
        run_older: None,
    },
    Probe {
        id: "missing-answers",
        group: "answers",
        title: "the state without answers",
        meaning: "No answer is taken for a yes.",
        advice: "Ask again for what is missing.",
        ledger: &["MRTR-S-30"],
        effects: 3 + LEFT_OUT,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(missing(audit)),
        run_older: None,
    },
    Probe {
        id: "renamed-answers",
        group: "answers",
        title: "answers under other names",
        meaning: "An answer to one question is taken for that to another.",
        advice: "Look answers up by the very key of the question: no other case, no trimming, no \
                 guessing.",
        ledger: &["MRTR-S-29", "MRTR-S-30", "MRTR-C-02"],
        effects: 5,
        effects_older: 3,
        needs_effects: true,
        run: |audit| Box::pin(renamed(audit)),
        run_older: Some(|audit| Box::pin(older::renamed(audit))),
    },
    Probe {
        id: "wrapped-answers",
        group: "answers",
        title: "answers that are wrapped once more",
        meaning: "What is not an answer is made one, and need not be what its sender meant.",
        advice: "Take bare results only: an object with an action, and nothing around it.",
        ledger: &["MRTR-S-27", "MRTR-C-03"],
        effects: 5,
        effects_older: 0,
        needs_effects: true,
        run: |audit| Box::pin(wrapped(audit)),
        run_older: None,
    },
    Probe {
        id: "mistyped-answers",
        group: "answers",
        title: "answers that break the rules of their form",
        meaning: "What a form promises does not hold: values out of bounds, missing ones and other \
                  types reach the tool, or a yes is read into them.",
        advice: "Check every answer against the schema that was sent, and ask again with what is \
                 wrong.",
        ledger: &["ELIC-S-30", "MRTR-S-27"],
        effects: 1 + MOST,
        effects_older: 1 + older::MOST,
        needs_effects: true,
        run: |audit| Box::pin(mistyped(audit)),
        run_older: Some(|audit| Box::pin(older::mistyped(audit))),
    },
    Probe {
        id: "oversized-answers",
        group: "answers",
        title: "answers that are huge, and far too many",
        meaning: "A client can exhaust or stop the server; or what is kept of answers grows without \
                  bound.",
        advice: "Bound the size of a message and of an answer, and the number of answers; refuse what \
                 is above with an error.",
        ledger: &["MRTR-S-12", "MRTR-S-28", "MRTR-S-29"],
        effects: 8,
        effects_older: 2,
        needs_effects: true,
        run: |audit| Box::pin(oversized(audit)),
        run_older: Some(|audit| Box::pin(older::oversized(audit))),
    },
];

async fn unsolicited(audit: &Audit) -> Finding {
    let Some(first) = audit.reference().rounds.first() else {
        return Finding::not_tested("it never asked");
    };
    let guessed = match audit.answering.honest(1, &first.questions) {
        Ok(guessed) => guessed,
        Err(why) => return Finding::not_tested(why),
    };
    let mut parts = Vec::new();
    let reply = audit.send(&audit.leg().answers(&guessed)).await;
    parts.push((
        "guessed, without a state".to_owned(),
        still_asks(audit, &reply),
    ));
    let mut nobodys = Map::new();
    // Without leave there is no yes to anything.
    let said = match audit.allow_effects {
        true => json!({"action": "accept", "content": {}}),
        false => json!({"action": "decline"}),
    };
    nobodys.insert("antiphon-audit".to_owned(), said.clone());
    let reply = audit.send(&audit.leg().answers(&nobodys)).await;
    parts.push(("to no question".to_owned(), still_asks(audit, &reply)));
    let found = match audit.first().await {
        Ok(round) => match audit.second(&round) {
            Ok((mut answers, leg)) => {
                answers.insert("antiphon-audit".to_owned(), said);
                let reply = audit.send(&leg.answers(&answers)).await;
                match audit.is_honest(&reply) {
                    true => Finding::pass("had no effect"),
                    false => Finding::weak("was not ignored").seen([reply.shown()]),
                }
            }
            Err(finding) => finding,
        },
        Err(finding) => finding,
    };
    parts.push(("one too many".to_owned(), found));
    if let Some(found) = before_it_is_asked(audit).await {
        parts.push(("to the next question as well".to_owned(), found));
    }
    Finding::worst(parts)
}

/// Where a tool asks in several rounds: the answers of the second are given with those of the first.
async fn before_it_is_asked(audit: &Audit) -> Option<Finding> {
    let [_, second, later @ ..] = &audit.reference().rounds[..] else {
        return None;
    };
    let early = audit.answering.honest(2, &second.questions).ok()?;
    let round = match audit.first().await {
        Ok(round) => round,
        Err(finding) => return Some(finding),
    };
    let (mut answers, leg) = match audit.second(&round) {
        Ok(leg) => leg,
        Err(finding) => return Some(finding),
    };
    if early.keys().any(|key| answers.contains_key(key)) {
        return None;
    }
    answers.extend(early);
    let reply = audit.send(&leg.answers(&answers)).await;
    let seen = [reply.shown()];
    let is_later = |asks: &Round| {
        let mut later = later.iter();
        later.any(|round| round.questions.keys().eq(asks.questions.keys()))
    };
    Some(match (&reply, audit.taken(&reply)) {
        (Reply::Asks(_), Taken::Accepted) => Finding::pass("it was asked all the same"),
        (Reply::Done(_), _) => Finding::fail("it counted before it was asked").seen(seen),
        (Reply::Asks(asks), _) if is_later(asks) => {
            Finding::fail("it counted before it was asked").seen(seen)
        }
        _ => Finding::weak("was not ignored").seen(seen),
    })
}

/// Whether a first leg asks, whatever answers came with it.
fn still_asks(audit: &Audit, reply: &Reply) -> Finding {
    let seen = [reply.shown()];
    match (reply, audit.taken(reply)) {
        (_, Taken::Accepted) => Finding::fail("taken, without having asked").seen(seen),
        (Reply::Asks(_), _) => Finding::pass("it asked all the same"),
        (_, Taken::Trouble) => Finding::weak("no proper answer").seen(seen),
        (_, _) => Finding::pass("refused"),
    }
}

/// Sends each of these in a flow of its own; none must be taken for the honest answer.
async fn none_counts(
    audit: &Audit,
    vary: impl Fn(&Round, &Answers) -> Vec<(String, Option<String>)>,
) -> Finding {
    let mut taken = Vec::new();
    let mut as_a_no = Vec::new();
    let mut troubled = Vec::new();
    let honest = &audit.reference().second;
    let no = match audit.allow_effects {
        true => audit.refused_by_user().await,
        false => Some(honest.clone()),
    };
    // A tool that says the same either way tells nothing by what it says.
    let no = no.filter(|no| !audit.allow_effects || !no.is_like(honest));
    let mut at = 0;
    let mut broken = None;
    loop {
        let round = match audit.first().await {
            Ok(round) => round,
            Err(finding) if at == 0 => return finding,
            Err(finding) => {
                broken = Some(finding);
                break;
            }
        };
        let (given, leg) = match audit.second(&round) {
            Ok(leg) => leg,
            Err(finding) => return finding,
        };
        let Some((what, text)) = vary(&round, &given).into_iter().nth(at) else {
            break;
        };
        let reply = audit.send(&leg.answers_text(text)).await;
        let seen = format!("{what}: {}", reply.shown());
        match audit.taken(&reply) {
            Taken::Accepted if no.as_ref().is_some_and(|no| no.is_like(&reply)) => {
                as_a_no.push(seen);
            }
            Taken::Accepted => taken.push(seen),
            Taken::Trouble => troubled.push(seen),
            Taken::AskedAgain | Taken::Refused => {}
        }
        at += 1;
        if at == MOST {
            break;
        }
    }
    if at == 0 {
        return Finding::not_tested("there is nothing to get wrong in what it asks");
    }
    if !taken.is_empty() {
        return Finding::fail(format!("{} of {at} were taken", taken.len())).seen(taken);
    }
    if !as_a_no.is_empty() {
        let detail = format!("{} of {at} were taken for a no", as_a_no.len());
        return Finding::weak(detail).seen(as_a_no);
    }
    if !troubled.is_empty() {
        let detail = format!("{} of {at} got no proper answer", troubled.len());
        return Finding::weak(detail).seen(troubled);
    }
    if let Some(broken) = broken {
        let detail = format!("after {at} that were not taken, {}", broken.detail);
        return Finding { detail, ..broken };
    }
    Finding::pass(format!("none of {at} was taken"))
}

async fn missing(audit: &Audit) -> Finding {
    let vary = |_: &Round, given: &Answers| {
        let mut variants = vec![
            ("none at all".to_owned(), None),
            ("an empty object".to_owned(), Some("{}".to_owned())),
        ];
        let several = given.keys().filter(|_| given.len() > 1);
        variants.extend(several.take(LEFT_OUT).map(|key| {
            let mut rest = given.clone();
            rest.shift_remove(key);
            let what = format!("all but {}", printable::excerpt(key, 40));
            (what, Some(Value::Object(rest).to_string()))
        }));
        variants
    };
    none_counts(audit, vary).await
}

async fn renamed(audit: &Audit) -> Finding {
    let vary = |_: &Round, given: &Answers| {
        type Rename = fn(&str) -> String;
        let ways: [(&str, Rename); 4] = [
            ("another case", other_case),
            ("a blank behind", |key| format!("{key} ")),
            ("a word before", |key| format!("x-{key}")),
            ("a blank before", |key| format!(" {key}")),
        ];
        let variants = ways.into_iter().filter_map(|(what, rename)| {
            let renamed: Answers = given
                .iter()
                .map(|(key, answer)| (rename(key), answer.clone()))
                .collect();
            (renamed != *given).then(|| (what.to_owned(), Some(Value::Object(renamed).to_string())))
        });
        variants.collect()
    };
    none_counts(audit, vary).await
}

fn other_case(key: &str) -> String {
    match key.to_uppercase() {
        upper if upper != key => upper,
        _ => key.to_lowercase(),
    }
}

async fn wrapped(audit: &Audit) -> Finding {
    let vary = |_: &Round, given: &Answers| {
        type Wrap = fn(&str, &Value) -> Value;
        let ways: [(&str, Wrap); 4] = [
            (
                "under its key once more",
                |key, answer| json!({ key: answer }),
            ),
            ("in a list", |_, answer| json!([answer])),
            ("as a text", |_, answer| answer.to_string().into()),
            (
                "as a response",
                |_, answer| json!({"jsonrpc": "2.0", "id": 1, "result": answer}),
            ),
        ];
        let variants = ways.into_iter().map(|(what, wrap)| {
            let wrapped: Answers = given
                .iter()
                .map(|(key, answer)| (key.clone(), wrap(key, answer)))
                .collect();
            (what.to_owned(), Some(Value::Object(wrapped).to_string()))
        });
        variants.collect()
    };
    none_counts(audit, vary).await
}

async fn mistyped(audit: &Audit) -> Finding {
    let vary = |round: &Round, given: &Answers| {
        let mut variants = Vec::new();
        for (key, question) in &round.questions {
            let honest = given.get(key).unwrap_or(&Value::Null);
            for (what, wrong) in answers::mistyped(question, honest) {
                let mut all = given.clone();
                all.insert(key.clone(), wrong);
                variants.push((what, Some(Value::Object(all).to_string())));
            }
        }
        variants
    };
    none_counts(audit, vary).await
}

/// In which way an answer is too much.
#[derive(Clone, Copy, PartialEq)]
enum Much {
    Bytes,
    Fields,
    Answers,
}

async fn oversized(audit: &Audit) -> Finding {
    let mut parts = Vec::new();
    for (what, much) in [
        ("in bytes", Much::Bytes),
        ("in fields", Much::Fields),
        ("in number", Much::Answers),
    ] {
        let sizes = match much {
            Much::Bytes => &BYTES[..],
            Much::Fields | Much::Answers => &[COUNT, COUNT / 20],
        };
        parts.push((what.to_owned(), less_and_less(audit, much, sizes).await));
    }
    Finding::worst(parts)
}

/// Tries these sizes until the server does not hang up before all was sent.
async fn less_and_less(audit: &Audit, much: Much, sizes: &[usize]) -> Finding {
    let mut last = Finding::not_tested("nothing was sent");
    for (at, size) in sizes.iter().enumerate() {
        match too_much(audit, much, *size).await {
            Ok((finding, true)) => last = finding,
            // It has a bound above that.
            Ok((finding, false)) if at > 0 && finding.verdict == Verdict::Weak => {
                return Finding::pass("it hangs up on more");
            }
            Ok((finding, false)) | Err(finding) => return finding,
        }
    }
    last
}

/// What came of so much of it, and whether the server hung up before it was sent.
async fn too_much(audit: &Audit, much: Much, size: usize) -> Result<(Finding, bool), Finding> {
    let round = audit.first().await?;
    let (mut given, leg) = audit.second(&round)?;
    match much {
        Much::Bytes => {
            for (key, answer) in &mut given {
                let question = round.questions.get(key).unwrap_or(&Value::Null);
                enlarge(question, answer, &"x".repeat(size));
            }
        }
        Much::Fields => {
            let contents = given
                .values_mut()
                .filter_map(|answer| answer.get_mut("content"));
            let contents = contents.filter_map(Value::as_object_mut);
            let mut forms = 0;
            for content in contents {
                forms += 1;
                content.extend((0..size).map(|at| (format!("antiphonAudit{at}"), at.into())));
            }
            if forms == 0 {
                return Err(Finding::not_tested("it asked with no form"));
            }
        }
        Much::Answers => given.extend((0..size).map(|at| {
            let yes = json!({"action": "accept", "content": {}});
            (format!("antiphon-audit-{at}"), yes)
        })),
    }
    let reply = audit.send(&leg.answers(&given)).await;
    if let Err(after) = serves(audit).await {
        let seen = [reply.shown(), after.detail];
        let finding = Finding::fail("the server did not serve after that");
        return Ok((finding.seen(seen), false));
    }
    let is_cut = matches!(reply, Reply::Cut);
    let finding = match much {
        // What nobody asked for is to be ignored (MRTR-S-29), however much it is.
        Much::Answers if audit.is_honest(&reply) => Finding::pass("the others were ignored"),
        // In a call of several rounds that is how it is taken.
        _ if matches!(reply, Reply::Asks(_)) && audit.is_honest(&reply) => {
            Finding::weak("it was taken").seen([reply.shown()])
        }
        _ => bounded(&reply),
    };
    Ok((finding, is_cut))
}

/// Whether the server serves. One that refused what was not sent to its end closes that connection,
/// maybe only when the next request is on it: that is not yet the end of it.
async fn serves(audit: &Audit) -> Result<(), Finding> {
    for _ in 0..RETRIES {
        if audit.first().await.is_ok() {
            return Ok(());
        }
        sleep(PAUSE).await;
    }
    audit.first().await.map(|_| ())
}

/// Whether a server kept to its bounds.
pub(in crate::audit) fn bounded(reply: &Reply) -> Finding {
    let seen = [reply.shown()];
    match reply {
        _ if reply.is_trouble() => Finding::fail("the server broke").seen(seen),
        Reply::Done(_) => Finding::weak("it was taken").seen(seen),
        Reply::Asks(_) => Finding::pass("it was asked again"),
        _ => Finding::pass("it was refused"),
    }
}

/// Makes an answer huge: in a field that is a text, or in one that the form does not have.
pub(in crate::audit) fn enlarge(question: &Value, answer: &mut Value, text: &str) {
    let properties = answers::schema(question)
        .get("properties")
        .and_then(Value::as_object);
    let mut fields = properties.into_iter().flatten();
    let field = fields.find(|(_, field)| values::kind(field) == "string");
    let name = field.map_or("antiphonAudit", |(name, _)| name);
    let content = match Kind::of(question) {
        Kind::Form => answer.get_mut("content"),
        _ => Some(answer),
    };
    if let Some(Value::Object(members)) = content {
        members.insert(name.to_owned(), text.into());
    }
}
