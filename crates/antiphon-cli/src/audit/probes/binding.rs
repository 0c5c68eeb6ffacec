//! A state where it does not belong: with other arguments, on another tool or method, from somebody
//! else, on another instance.

use antiphon::types::{Prompt, Tool};
use serde_json::{Map, Value};

use super::reuse::{OTHERS, other_answers, repeated};
use crate::{
    audit::{
        Audit, Verdict, arguments, finding::Finding, leg::Leg, probe::Probe, reply::Reply,
        wire::Request,
    },
    printable,
};

/// Most of one kind that are tried.
const MOST: usize = 3;

pub(super) static PROBES: [Probe; 9] = [
    Probe {
        id: "other-arguments",
        group: "binding",
        title: "the state with other arguments",
        meaning: "A yes to one thing is used for another: whoever agreed to deploy to staging has \
                  agreed to deploy anywhere.",
        advice: "Put a digest of the method, the tool and all arguments into the protected state, and \
                 compare it in every round.",
        ledger: &["MRTR-S-18", "MRTR-C-10"],
        effects: 2 * MOST,
        effects_older: 0,
        needs_effects: true,
        run: |audit| Box::pin(other_arguments(audit)),
        run_older: None,
    },
    Probe {
        id: "big-numbers",
        group: "binding",
        title: "arguments that differ only beyond 2^53",
        meaning: "Arguments are compared as doubles: a yes for one account number is good for its \
                  neighbours.",
        advice: "Compare numbers as exact decimals, or the arguments as they were written.",
        ledger: &["MRTR-S-18"],
        effects: 2,
        effects_older: 0,
        needs_effects: true,
        run: |audit| Box::pin(big_numbers(audit)),
        run_older: None,
    },
    Probe {
        id: "duplicate-names",
        group: "binding",
        title: "arguments with one name twice",
        meaning: "Parsers disagree about which one counts: what was shown to the user or checked by a \
                  proxy need not be what runs.",
        advice: "Refuse objects with doubled names, at any depth, with -32602.",
        ledger: &["MRTR-S-18", "MRTR-S-28", "TOOL-S-25"],
        effects: 3,
        effects_older: 0,
        needs_effects: true,
        run: |audit| Box::pin(duplicate_names(audit)),
        run_older: None,
    },
    Probe {
        id: "reordered-keys",
        group: "binding",
        title: "the same arguments in another order, which must pass",
        meaning: "Honest clients break that write JSON anew for each leg, as many libraries and \
                  proxies do.",
        advice: "Compare arguments in one canonical form: key order, white space and escapes do not \
                 matter.",
        ledger: &["MRTR-S-18", "MRTR-S-26"],
        effects: 1,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(reordered_keys(audit)),
        run_older: None,
    },
    Probe {
        id: "other-tool",
        group: "binding",
        title: "the state at another tool",
        meaning: "Answers to the questions of one tool are taken for those of another.",
        advice: "Put the tool's name into the protected state, and open every state that comes in \
                 before any tool runs, also those that never ask.",
        ledger: &["MRTR-S-14", "MRTR-S-18"],
        effects: 2 * MOST,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(other_tool(audit)),
        run_older: None,
    },
    Probe {
        id: "other-method",
        group: "binding",
        title: "the state at a prompt or a resource",
        meaning: "Answers to the questions of a tool open what prompts or resources ask for.",
        advice: "Put the method into the protected state, and check states on all three methods.",
        ledger: &["MRTR-S-14", "MRTR-S-18"],
        effects: 0,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(other_method(audit)),
        run_older: None,
    },
    Probe {
        id: "other-principal",
        group: "binding",
        title: "the state from another principal",
        meaning: "Whoever gets hold of a state goes on with somebody else's call.",
        advice: "Put the principal (issuer, client and subject) into the protected state, and compare \
                 it with the caller of each leg.",
        ledger: &["MRTR-S-16", "ELIC-S-24", "SEC-S-01"],
        effects: 2,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(other_principal(audit)),
        run_older: None,
    },
    Probe {
        id: "anonymous",
        group: "binding",
        title: "the state from nobody",
        meaning: "To hold a state is taken for being somebody.",
        advice: "Verify the token of every request, before its state is looked at.",
        ledger: &["MRTR-S-16", "SEC-S-01"],
        effects: 1,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(anonymous(audit)),
        run_older: None,
    },
    Probe {
        id: "other-replica",
        group: "binding",
        title: "the state on another instance",
        meaning: "Refused there, calls must be routed back to the instance that asked. Taken there and \
                  here, every instance is one more use.",
        advice: "Share the keys among all instances, and the guard against reuse as well.",
        ledger: &["MRTR-S-19", "MRTR-S-26", "STATE-S-05"],
        effects: 3 + 2 * OTHERS,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(other_replica(audit)),
        run_older: None,
    },
];

/// Arguments as text.
fn text(arguments: &Map<String, Value>) -> String {
    Value::Object(arguments.clone()).to_string()
}

async fn other_arguments(audit: &Audit) -> Finding {
    let mut parts = Vec::new();
    let mut unusable = None;
    let subject = &audit.subject;
    let others = arguments::others(&subject.tool.input_schema, &subject.arguments);
    for (name, others) in others.into_iter().take(MOST) {
        // Otherwise it would be refused for what it is, and not for being another.
        let control = audit.leg().arguments(text(&others));
        if let Err(finding) = audit.first_on(&audit.wire, control).await {
            unusable = Some(finding);
            continue;
        }
        let found = match leg_with_state(audit).await {
            Ok(leg) => {
                let reply = audit.send(&leg.arguments(text(&others))).await;
                audit.must_refuse(Some("other arguments"), &reply, "another one was taken")
            }
            Err(finding) => finding,
        };
        parts.push((printable::excerpt(&name, 40), found));
    }
    match (parts.is_empty(), unusable) {
        (false, _) => Finding::worst(parts),
        (true, Some(finding)) => finding,
        (true, None) => Finding::not_tested("the tool takes no other arguments"),
    }
}

/// The honest second leg of a fresh flow that has a state.
async fn leg_with_state(audit: &Audit) -> Result<Leg, Finding> {
    let (round, _) = audit.with_state().await?;
    audit.second(&round).map(|(_, leg)| leg)
}

async fn big_numbers(audit: &Audit) -> Finding {
    let subject = &audit.subject;
    let found = arguments::big(&subject.tool.input_schema, &subject.arguments);
    let Some((is_known, [number, next])) = found else {
        return Finding::not_tested("the tool takes no numbers of that size");
    };
    let first = audit.leg().arguments(text(&number));
    let round = match audit.first_on(&audit.wire, first).await {
        Ok(round) => round,
        Err(finding) => return finding,
    };
    if round.state.is_none() {
        return Finding::not_tested("the server sends no requestState");
    }
    let leg = match audit.second(&round) {
        Ok((_, leg)) => leg.arguments(text(&next)),
        Err(finding) => return finding,
    };
    let reply = audit.send(&leg).await;
    let found = audit.must_refuse(
        None,
        &reply,
        "a number beyond 2^53 was taken for its neighbour",
    );
    match (is_known, found.verdict) {
        // The tool never sees it.
        (false, Verdict::Fail) => Finding {
            verdict: Verdict::Weak,
            detail: format!(
                "{}, in an argument that the tool does not know",
                found.detail
            ),
            ..found
        },
        _ => found,
    }
}

async fn duplicate_names(audit: &Audit) -> Finding {
    let subject = &audit.subject;
    let doubled = arguments::doubled(&subject.tool.input_schema, &subject.arguments);
    let Some(doubled) = doubled else {
        return Finding::not_tested("the tool takes no arguments");
    };
    let mut parts = Vec::new();
    let first = audit.leg().arguments(&doubled[0]);
    let reply = audit.send(&first).await;
    let found = match audit.settled(&audit.wire, first, reply).await {
        (_, Reply::Asks(round)) => match audit.second(&round) {
            Ok((_, leg)) => {
                let reply = audit.send(&leg.arguments(&doubled[0])).await;
                audit.must_refuse(None, &reply, "taken on both legs")
            }
            Err(finding) => finding,
        },
        (_, reply) => audit.must_refuse(None, &reply, "taken on the first leg"),
    };
    parts.push(("on both legs".to_owned(), found));
    for (what, doubled) in [
        ("then another", &doubled[0]),
        ("another, then it", &doubled[1]),
    ] {
        let found = match leg_with_state(audit).await {
            Ok(leg) => {
                let reply = audit.send(&leg.arguments(doubled)).await;
                audit.must_refuse(None, &reply, "taken on the second leg")
            }
            Err(finding) => finding,
        };
        parts.push((what.to_owned(), found));
    }
    Finding::worst(parts)
}

async fn reordered_keys(audit: &Audit) -> Finding {
    let round = match audit.first().await {
        Ok(round) => round,
        Err(finding) => return finding,
    };
    let leg = match audit.second(&round) {
        Ok((_, leg)) => leg,
        Err(finding) => return finding,
    };
    let arguments = Value::Object(audit.subject.arguments.clone());
    let reply = audit
        .send(&leg.arguments(arguments::reordered(&arguments)))
        .await;
    match audit.is_honest(&reply) {
        true => Finding::pass("they were taken for the same"),
        false => Finding::weak("they were not taken for the same").seen([reply.shown()]),
    }
}

/// The tools that a state is shown which is not theirs: those that take the same arguments first.
fn other_tools(audit: &Audit) -> Vec<&Tool> {
    let ours = &audit.subject.tool;
    let is_allowed = |tool: &&Tool| {
        let hints = tool.annotations.as_ref();
        let is_read_only = hints.and_then(|hints| hints.read_only_hint) == Some(true);
        tool.name != ours.name && (audit.allow_effects || is_read_only)
    };
    let mut tools: Vec<_> = audit.subject.tools.iter().filter(is_allowed).collect();
    let properties = ours.input_schema.get("properties");
    tools.sort_by_key(|tool| tool.input_schema.get("properties") != properties);
    tools.truncate(MOST);
    tools
}

async fn other_tool(audit: &Audit) -> Finding {
    let tools = other_tools(audit);
    if tools.is_empty() {
        return Finding::not_tested(match audit.subject.tools.len() {
            0 | 1 => "the server has no other tool",
            _ => "needs --allow-effects: other tools might run",
        });
    }
    let mut parts = Vec::new();
    for tool in tools {
        let arguments = arguments::fitted(&tool.input_schema, &audit.subject.arguments);
        let plain = Leg::first(tool, &arguments).request();
        let found = elsewhere(audit, &plain).await;
        parts.push((printable::excerpt(&tool.name, 40), found));
    }
    Finding::worst(parts)
}

async fn other_method(audit: &Audit) -> Finding {
    let prompts = audit.subject.prompts.iter().take(MOST).map(|prompt| {
        let request = Request::of("prompts/get", "name", &prompt.name);
        (
            prompt.name.clone(),
            request.with("arguments", &filled(prompt)),
        )
    });
    let resources = audit.subject.resources.iter().take(MOST).map(|resource| {
        let request = Request::of("resources/read", "uri", &resource.uri);
        (resource.uri.clone(), request)
    });
    let mut parts = Vec::new();
    for (name, request) in prompts.chain(resources) {
        let found = elsewhere(audit, &request).await;
        parts.push((printable::excerpt(&name, 60), found));
    }
    match parts.is_empty() {
        true => Finding::not_tested("the server has neither prompts nor resources"),
        false => Finding::worst(parts),
    }
}

/// What something else makes of the state and the answers of this tool.
async fn elsewhere(audit: &Audit, plain: &Request) -> Finding {
    let leg = match leg_with_state(audit).await {
        Ok(leg) => leg,
        Err(finding) => return finding,
    };
    let carried = leg.carried(plain.clone());
    let reply = audit.ask_on(&audit.wire, &carried).await;
    beside(&reply, &audit.ask_on(&audit.wire, plain).await)
}

/// What a reply to a state that is not its own means, beside what comes without any. What runs without
/// one, too, has gained nothing by it: it only did not look. And what is refused without one, too, was
/// not refused for it.
fn beside(reply: &Reply, plain: &Reply) -> Finding {
    let seen = [reply.shown()];
    match (reply, plain) {
        _ if reply.is_trouble() => Finding::weak("it got no proper answer").seen(seen),
        (Reply::Done(_), Reply::Done(_)) => {
            Finding::weak("it ran, as it does without a state").seen(seen)
        }
        (Reply::Done(_), _) => Finding::fail("it ran").seen(seen),
        (Reply::Asks(one), Reply::Asks(two)) => match one.questions.keys().eq(two.questions.keys())
        {
            true => Finding::weak("it was not refused: the call began anew").seen(seen),
            false => Finding::fail("it went on").seen(seen),
        },
        (Reply::Asks(_), _) => Finding::weak("it was not refused: it asked").seen(seen),
        // What is still at work would have run.
        (_, Reply::Asks(_) | Reply::Done(_) | Reply::Late(_)) => Finding::pass("it was refused"),
        _ => Finding::not_tested(format!(
            "without a state it does not work either: {}",
            plain.shown()
        )),
    }
}

/// Arguments of a prompt: what it requires, as texts.
fn filled(prompt: &Prompt) -> String {
    let arguments = prompt.arguments.iter().flatten();
    let arguments = arguments.filter(|argument| argument.required == Some(true));
    let arguments: Map<_, _> = arguments
        .map(|argument| (argument.name.clone(), Value::from("audit")))
        .collect();
    text(&arguments)
}

async fn other_principal(audit: &Audit) -> Finding {
    let Some(second) = &audit.second else {
        return Finding::not_tested("needs a second token: --bearer2-env or --bearer2");
    };
    // A token that is good for nothing would be refused for that.
    if let Err(finding) = audit.first_on(second, audit.leg()).await {
        let detail = format!("with the second token, {}", finding.detail);
        return Finding::not_tested(detail);
    }
    match leg_with_state(audit).await {
        Ok(leg) => {
            let reply = audit.send_on(second, &leg).await;
            audit.must_refuse(
                Some("another principal"),
                &reply,
                "somebody else went on with it",
            )
        }
        Err(finding) => finding,
    }
}

async fn anonymous(audit: &Audit) -> Finding {
    let Some(nobody) = &audit.anonymous else {
        return Finding::not_tested("no token is in use");
    };
    match leg_with_state(audit).await {
        Ok(leg) => {
            let reply = audit.send_on(nobody, &leg).await;
            audit.must_refuse(None, &reply, "it was taken without a token")
        }
        Err(finding) => finding,
    }
}

async fn other_replica(audit: &Audit) -> Finding {
    let Some(replica) = &audit.replica else {
        return Finding::not_tested("needs another instance: --replica");
    };
    // One that does not serve the tool would refuse for that.
    if let Err(finding) = audit.first_on(replica, audit.leg()).await {
        return Finding::not_tested(format!("there, {}", finding.detail));
    }
    let last = match audit.before_the_end().await {
        Ok(last) => last,
        Err(finding) => return finding,
    };
    let there = audit.send_on(replica, &last.leg).await;
    let honest = audit.reference().end.as_ref().ok();
    let has_run = |reply: &Reply| match reply {
        Reply::Done(_) => true,
        // A tool that fails otherwise than for an honest client has refused.
        reply => honest.is_some_and(|honest| honest.is_like(reply)),
    };
    if !has_run(&there) {
        let detail = "it was refused: calls must be routed back to where they began";
        return Finding::weak(detail).seen([there.shown()]);
    }
    let here = audit.send(&last.leg).await;
    let seen = [
        format!("there: {}", there.shown()),
        format!("here, then: {}", here.shown()),
    ];
    if !has_run(&here) {
        return match here {
            Reply::Asks(_) => Finding::weak("after that the call began anew here").seen(seen),
            _ if here.is_trouble() => {
                Finding::weak("after that it got no proper answer here").seen(seen)
            }
            _ => Finding::pass("it was taken there, and refused here after that"),
        };
    }
    if !here.is_same_as(&there) {
        return Finding::fail("it ran there and here").seen(seen);
    }
    // The same text: recorded, or another run. Other answers tell.
    let recorded = "it was taken there, and its response repeated here";
    let found = repeated(
        audit,
        "it ran there and here: nothing is remembered",
        recorded,
    )
    .await;
    if found.verdict != Verdict::Pass {
        return found.seen(seen);
    }
    match other_answers(audit, &last).await {
        Ok(reuse) if reuse.has_run => {
            Finding::fail("used there, it is taken here with other answers").seen(seen)
        }
        Ok(_) => found,
        Err(finding) => finding,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::audit::reply::Round;

    fn asks(key: &str) -> Reply {
        Reply::Asks(Round {
            questions: Map::from_iter([(key.to_owned(), json!({}))]),
            state: None,
        })
    }

    /// What something else makes of a state is judged by what it does without one.
    #[test]
    fn what_runs_without_a_state_gained_nothing_by_another() {
        let runs = || Reply::Done(json!({ "content": [] }));
        let fails = || Reply::Failed(json!({ "content": [] }));
        let refuses = || Reply::Denied(400);
        let lost = || Reply::Lost(String::new());
        for (with, without, verdict) in [
            (runs(), asks("a"), Verdict::Fail),
            (runs(), runs(), Verdict::Weak),
            (asks("a"), asks("a"), Verdict::Weak),
            (asks("b"), asks("a"), Verdict::Fail),
            (refuses(), asks("a"), Verdict::Pass),
            (fails(), asks("a"), Verdict::Pass),
            (fails(), runs(), Verdict::Pass),
            // For whatever else.
            (refuses(), refuses(), Verdict::NotTested),
            (fails(), fails(), Verdict::NotTested),
            (refuses(), lost(), Verdict::NotTested),
            (lost(), asks("a"), Verdict::Weak),
            (refuses(), Reply::Late(Duration::ZERO), Verdict::Pass),
        ] {
            let found = beside(&with, &without);
            assert_eq!(found.verdict, verdict, "{with:?}, {without:?}");
        }
    }
}
