//! A state that was used before, or is kept for too long.

use std::sync::Arc;

use tokio::{task::JoinSet, time::sleep};

use crate::audit::{Audit, answers, finding::Finding, flow::Ending, probe::Probe, reply::Reply};

/// So many legs are sent at once.
const AT_ONCE: usize = 8;

pub(super) static PROBES: [Probe; 4] = [
    Probe {
        id: "replayed",
        group: "reuse",
        title: "a finished leg, sent once more",
        meaning: "Whoever can repeat a request, a proxy or a nervous client, has the work done twice.",
        advice: "Remember that a state was used, and refuse it from then on, or repeat the recorded \
                 response to the very same answers.",
        ledger: &["MRTR-S-19"],
        effects: 4,
        needs_effects: true,
        run: |audit| Box::pin(replayed(audit)),
        run_older: None,
    },
    Probe {
        id: "replayed-other-answers",
        group: "reuse",
        title: "a used state, with other answers",
        meaning: "One consent is turned into another after the fact, and the work is done twice.",
        advice: "Remember that a state was used, and with which answers; refuse it with others.",
        ledger: &["MRTR-S-19"],
        effects: 2,
        needs_effects: true,
        run: |audit| Box::pin(replayed_other_answers(audit)),
        run_older: None,
    },
    Probe {
        id: "replayed-concurrently",
        group: "reuse",
        title: "a leg, eight times at once",
        meaning: "Between the look whether a state was used and the note that it was there is room \
                  for a second run.",
        advice: "Claim the state in one atomic step before the work begins, in a store that all \
                 instances share.",
        ledger: &["MRTR-S-19"],
        effects: AT_ONCE + 2,
        needs_effects: true,
        run: |audit| Box::pin(replayed_concurrently(audit)),
        run_older: None,
    },
    Probe {
        id: "expired",
        group: "reuse",
        title: "a state that is kept for too long",
        meaning: "A state that leaked is good for ever.",
        advice: "Put an expiry into the protected state, a few minutes ahead, and refuse it then.",
        ledger: &["MRTR-S-17"],
        effects: 1,
        needs_effects: false,
        run: |audit| Box::pin(expired(audit)),
        run_older: None,
    },
];

/// What came of a used state with other answers, found out once.
async fn with_other_answers(audit: &Audit) -> Result<Reply, Finding> {
    let known = audit.memory.borrow().other_answers.clone();
    if let Some(known) = known {
        return known;
    }
    let found = try_other_answers(audit).await;
    audit.memory.borrow_mut().other_answers = Some(found.clone());
    found
}

async fn try_other_answers(audit: &Audit) -> Result<Reply, Finding> {
    let Ending {
        leg,
        questions,
        answers,
        ..
    } = ended(audit).await?;
    let others = answers::others(&questions, &answers);
    let others = others.ok_or_else(|| Finding::not_tested("its questions have one answer only"))?;
    Ok(audit.send(&leg.answers(&others)).await)
}

/// An honest flow that came to an end, with a state.
async fn ended(audit: &Audit) -> Result<Ending, Finding> {
    if audit
        .reference()
        .rounds
        .iter()
        .all(|round| round.state.is_none())
    {
        return Err(Finding::not_tested("the server sends no requestState"));
    }
    audit.finish().await
}

/// Whether other answers are taken as well; then nothing is remembered, and every repetition is a
/// run of its own. Where that cannot be found out it is taken for granted.
pub(super) async fn runs_again(audit: &Audit) -> bool {
    match with_other_answers(audit).await {
        Ok(reply) => reply.is_complete(),
        Err(_) => true,
    }
}

async fn replayed(audit: &Audit) -> Finding {
    let ending = match ended(audit).await {
        Ok(ending) => ending,
        Err(finding) => return finding,
    };
    let again = audit.send(&ending.leg).await;
    let seen = [
        format!("first: {}", ending.reply.shown()),
        format!("again: {}", again.shown()),
    ];
    if again.is_complete() && !again.is_like(&ending.reply) && matches!(again, Reply::Failed(_)) {
        // Such as: this was done already.
        return Finding::pass("the tool refused it").seen(seen);
    }
    if again.is_complete() {
        if !again.is_same_as(&ending.reply) {
            return Finding::fail("it ran again: the result is another").seen(seen);
        }
        return match runs_again(audit).await {
            true => Finding::fail("it ran again: other answers are taken, too").seen(seen),
            false => Finding::pass("the recorded response was repeated"),
        };
    }
    match again {
        Reply::Asks(_) => Finding::weak("it was not refused: the call began anew").seen(seen),
        _ if again.is_trouble() => Finding::weak("it got no proper answer").seen(seen),
        _ => {
            audit.note("used before", &again);
            Finding::pass("it was refused")
        }
    }
}

async fn replayed_other_answers(audit: &Audit) -> Finding {
    let reply = match with_other_answers(audit).await {
        Ok(reply) => reply,
        Err(finding) => return finding,
    };
    let seen = [reply.shown()];
    match reply {
        Reply::Done(_) => Finding::fail("the other answers were taken").seen(seen),
        Reply::Failed(_) => Finding::weak("the tool ran, and failed").seen(seen),
        Reply::Asks(_) => Finding::weak("it was not refused: the call began anew").seen(seen),
        _ if reply.is_trouble() => Finding::weak("it got no proper answer").seen(seen),
        _ => {
            audit.note("used before with other answers", &reply);
            Finding::pass("it was refused")
        }
    }
}

async fn replayed_concurrently(audit: &Audit) -> Finding {
    // The leg that completes the call, not yet sent.
    let leg = match audit.before_the_end().await {
        Ok(leg) => leg,
        Err(finding) => return finding,
    };
    let mut sending = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (wire, request) = (Arc::clone(&audit.wire), leg.request());
        sending.spawn(async move { wire.ask(&request).await });
    }
    let replies = sending.join_all().await;
    let completed: Vec<_> = replies.iter().filter(|reply| reply.is_complete()).collect();
    audit.memory.borrow_mut().completed += completed.len() as u64;
    let mut seen: Vec<String> = Vec::new();
    for reply in &replies {
        let shown = reply.shown();
        if !seen.contains(&shown) {
            seen.push(shown);
        }
    }
    let [first, others @ ..] = &completed[..] else {
        return Finding::weak(format!("none of {AT_ONCE} was served")).seen(seen);
    };
    // A tool that says that somebody else was first has refused.
    let ran = |reply: &&&Reply| matches!(***reply, Reply::Done(_)) || reply.is_like(first);
    if let Some(other) = others
        .iter()
        .filter(ran)
        .find(|other| !other.is_same_as(first))
    {
        let detail = format!(
            "it ran more than once: {} of {AT_ONCE} were served",
            completed.len()
        );
        return Finding::fail(detail).seen([first.shown(), other.shown()]);
    }
    if others.is_empty() {
        return Finding::pass(format!("one of {AT_ONCE} was served"));
    }
    let detail = format!("{} of {AT_ONCE} were served, all alike", completed.len());
    match runs_again(audit).await {
        true => Finding::fail(format!("{detail}; nothing is remembered")).seen(seen),
        false => Finding::pass(detail),
    }
}

async fn expired(audit: &Audit) -> Finding {
    let Some(wait) = audit.wait else {
        return Finding::not_tested("needs --wait, and as much time");
    };
    let (round, _) = match audit.with_state().await {
        Ok(flow) => flow,
        Err(finding) => return finding,
    };
    let leg = match audit.second(&round) {
        Ok((_, leg)) => leg,
        Err(finding) => return finding,
    };
    let waited = humantime::format_duration(wait);
    audit
        .progress
        .line(&format!("antiphon: waiting {waited} for a state to expire"));
    sleep(wait).await;
    let reply = audit.send(&leg).await;
    let accepted = format!("after {waited} it was still taken");
    audit.must_refuse(Some("expired"), &reply, &accepted)
}
