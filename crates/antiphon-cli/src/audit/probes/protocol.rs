//! What the protocol forbids: errors that tell too much, questions where none may be, one era taken
//! for the other.

use serde_json::{Map, Value, json};

use crate::{
    audit::{
        Audit, arguments,
        finding::Finding,
        older,
        probe::Probe,
        reply::{Refusal, Reply},
        state,
        wire::Request,
    },
    printable,
};

pub(super) static PROBES: [Probe; 3] = [
    Probe {
        id: "error-texts",
        group: "protocol",
        title: "errors that tell causes apart",
        meaning: "Whoever tries is told how far they came: whether the tag was right, the state too \
                  old, or somebody else's.",
        advice: "Refuse every state with one error: the same code, text, data and status. The reason \
                 is for the log.",
        ledger: &["MRTR-S-12", "MRTR-S-14"],
        effects: 5,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(error_texts(audit)),
        run_older: None,
    },
    Probe {
        id: "input-required-elsewhere",
        group: "protocol",
        title: "questions on methods that may not ask",
        meaning: "Clients take it for an invalid answer, or for an empty list.",
        advice: "Answer input_required on tools/call, prompts/get and resources/read alone.",
        ledger: &["MRTR-S-02", "MRTR-S-03", "MRTR-C-15"],
        effects: 0,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(elsewhere(audit)),
        run_older: None,
    },
    Probe {
        id: "era-confusion",
        group: "protocol",
        title: "one era taken for the other",
        meaning: "What one era checks is passed in the shape of the other: answers that were never \
                  asked for, or somebody else's session.",
        advice: "Decide by the body which era a message is of; ignore inputResponses and requestState \
                 in older calls; count an answer only in the session that was asked.",
        ledger: &[
            "ERA-S-02",
            "ERA-S-04",
            "ERA-S-06",
            "SHIM-S-01",
            "SHIM-S-09",
            "SEC-S-03",
        ],
        effects: 3,
        effects_older: 2,
        needs_effects: false,
        run: |audit| Box::pin(older::confusion(audit)),
        run_older: Some(|audit| Box::pin(older::confusion(audit))),
    },
];

async fn error_texts(audit: &Audit) -> Finding {
    if let Err(finding) = refuse(audit).await {
        return finding;
    }
    let refusals: Vec<_> = audit.memory.borrow().refusals.clone();
    compared(&refusals)
}

/// Has states refused for some reasons, whatever other probes did.
async fn refuse(audit: &Audit) -> Result<(), Finding> {
    let (round, state) = audit.with_state().await?;
    let (_, leg) = audit.second(&round)?;
    if let Some((_, variant)) = state::tampered(&state).into_iter().nth_back(0) {
        let reply = audit.send(&leg.state(Some(variant))).await;
        audit.note("tampered with", &reply);
    }
    let (round, state) = audit.with_state().await?;
    let (_, leg) = audit.second(&round)?;
    if let Some((_, variant)) = state::truncated(&state).into_iter().next() {
        let reply = audit.send(&leg.state(Some(variant))).await;
        audit.note("cut off", &reply);
    }
    // With other arguments the tool might not ask.
    if !audit.allow_effects {
        return Ok(());
    }
    let subject = &audit.subject;
    let others = arguments::others(&subject.tool.input_schema, &subject.arguments);
    for (_, others) in others.into_iter().take(2) {
        let others = Value::Object(others).to_string();
        // What is refused for itself says nothing about states.
        let control = audit.leg().arguments(&others);
        if audit.first_on(&audit.wire, control).await.is_ok() {
            let (round, _) = audit.with_state().await?;
            let (_, leg) = audit.second(&round)?;
            let reply = audit.send(&leg.arguments(&others)).await;
            audit.note("other arguments", &reply);
            break;
        }
    }
    Ok(())
}

/// Whether refusals for several causes are one.
fn compared(refusals: &[(&'static str, Refusal)]) -> Finding {
    let [(_, first), others @ ..] = refusals else {
        return Finding::not_tested("no state was refused with an error");
    };
    if others.is_empty() {
        return Finding::not_tested("states were refused for one cause only");
    }
    let is_same =
        |refusal: &Refusal| refusal.text() == first.text() && refusal.status == first.status;
    if others.iter().all(|(_, refusal)| is_same(refusal)) {
        return Finding::pass(format!("{} causes, one error", refusals.len()));
    }
    let seen = refusals.iter().map(|(cause, refusal)| {
        let status = refusal.status.map(|status| format!(", HTTP {status}"));
        format!("{cause}: {}{}", refusal.shown(), status.unwrap_or_default())
    });
    Finding::weak(format!("{} causes are told apart", refusals.len())).seen(seen)
}

async fn elsewhere(audit: &Audit) -> Finding {
    let mut requests = vec![Request::new("server/discover"), Request::new("tools/list")];
    let has = &audit.subject.capabilities;
    if has.prompts.is_some() {
        requests.push(Request::new("prompts/list"));
    }
    if has.resources.is_some() {
        requests.push(Request::new("resources/list"));
        requests.push(Request::new("resources/templates/list"));
    }
    let prompt = audit.subject.prompts.first();
    if has.completions.is_some() {
        let name = prompt.map_or("antiphon-audit", |prompt| &prompt.name);
        let argument = prompt.and_then(|prompt| prompt.arguments.as_ref()?.first());
        let argument = argument.map_or("name", |argument| &argument.name);
        let reference = json!({"type": "ref/prompt", "name": name});
        let argument = json!({"name": argument, "value": ""});
        let request = Request::new("completion/complete").with("ref", &reference.to_string());
        requests.push(request.with("argument", &argument.to_string()));
    }
    // These are gone from the protocol, and may still be there.
    requests.push(Request::new("ping"));
    requests.push(Request::new("logging/setLevel").with("level", "\"info\""));
    let mut asked = Vec::new();
    let mut count = 0;
    for request in requests {
        for request in [request.clone(), carrying(request)] {
            count += 1;
            let reply = audit.ask_on(&audit.wire, &request).await;
            if let Reply::Asks(_) = reply {
                let method = printable::line(&request.method);
                asked.push(format!("{method}: {}", reply.shown()));
            }
        }
    }
    match asked.len() {
        0 => Finding::pass(format!("{count} requests, none was asked")),
        number => Finding::fail(format!("{number} of {count} requests were asked")).seen(asked),
    }
}

/// The same with what only three methods know.
fn carrying(request: Request) -> Request {
    let answers = Value::Object(Map::from_iter([(
        "antiphon-audit".to_owned(),
        json!({"action": "accept", "content": {}}),
    )]));
    request
        .with("inputResponses", &answers.to_string())
        .with("requestState", "\"antiphon-audit\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Verdict;

    #[test]
    fn errors_that_differ_tell_causes_apart() {
        let refusal = |message: &str, status| Refusal {
            code: -32602,
            message: message.to_owned(),
            data: None,
            status,
        };
        let verdict = |refusals: &[(&'static str, Refusal)]| compared(refusals).verdict;
        let bad = refusal("bad", None);
        assert_eq!(verdict(&[]), Verdict::NotTested);
        assert_eq!(verdict(&[("a", bad.clone())]), Verdict::NotTested);
        assert_eq!(
            verdict(&[("a", bad.clone()), ("b", bad.clone())]),
            Verdict::Pass
        );
        let old = refusal("old", None);
        assert_eq!(verdict(&[("a", bad.clone()), ("b", old)]), Verdict::Weak);
        let status = refusal("bad", Some(400));
        assert_eq!(verdict(&[("a", bad), ("b", status)]), Verdict::Weak);
    }
}
