//! A state that was used before, or is kept for too long.

use std::sync::Arc;

use tokio::{task::JoinSet, time::sleep};

use crate::audit::{
    Audit, Verdict, answers,
    finding::Finding,
    flow::{Ending, Last},
    probe::Probe,
    reply::Reply,
};

/// So many legs are sent at once.
const AT_ONCE: usize = 8;
/// Most calls that are made to see what comes of other answers.
pub(super) const OTHERS: usize = 3;

pub(super) static PROBES: [Probe; 4] = [
    Probe {
        id: "replayed",
        group: "reuse",
        title: "a finished leg, sent once more",
        meaning: "Whoever can repeat a request, a proxy or a nervous client, has the work done twice.",
        advice: "Remember that a state was used, and refuse it from then on, or repeat the recorded \
                 response to the very same answers.",
        ledger: &["MRTR-S-19"],
        effects: 2 + OTHERS + OTHERS,
        effects_older: 0,
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
        effects: OTHERS,
        effects_older: 0,
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
        effects: AT_ONCE + OTHERS,
        effects_older: 0,
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
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(expired(audit)),
        run_older: None,
    },
];

/// What came of a used state with other answers.
#[derive(Debug, Clone)]
pub(in crate::audit) struct Reuse {
    reply: Reply,
    /// Whether the tool ran.
    pub(super) has_run: bool,
}

/// What came of a used state with other answers, found out once.
async fn with_other_answers(audit: &Audit) -> Result<Reuse, Finding> {
    let known = audit.memory.borrow().other_answers.clone();
    if let Some(known) = known {
        return known;
    }
    let found = match ended(audit).await {
        Ok(ending) => other_answers(audit, &ending.last).await,
        Err(finding) => Err(finding),
    };
    audit.memory.borrow_mut().other_answers = Some(found.clone());
    found
}

/// Sends a leg that was used before with other answers.
pub(super) async fn other_answers(audit: &Audit, used: &Last) -> Result<Reuse, Finding> {
    let others = answers::others(&used.questions, &used.answers);
    let others = others.ok_or_else(|| Finding::not_tested("its questions have one answer only"))?;
    let reply = audit.send(&used.leg.clone().answers(&others)).await;
    // A tool that fails has refused the state, or does not like the answers. Those of a fresh flow tell.
    let has_run = match &reply {
        Reply::Done(_) => true,
        Reply::Failed(_) => {
            let fresh = audit.before_the_end().await?;
            let fresh = audit.send(&fresh.leg.answers(&others)).await;
            fresh.is_like(&reply)
        }
        _ => false,
    };
    Ok(Reuse { reply, has_run })
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

/// What it means that the very same response came again: it was recorded, or it is that of another
/// run. Who takes other answers remembers nothing.
pub(super) async fn repeated(audit: &Audit, ran: &str, recorded: &str) -> Finding {
    match with_other_answers(audit).await {
        Ok(reuse) if reuse.has_run => Finding::fail(ran),
        Ok(_) => Finding::pass(recorded),
        Err(finding) => Finding::weak(format!(
            "the same response came again; whether it was recorded cannot be told: {}",
            finding.detail
        )),
    }
}

async fn replayed(audit: &Audit) -> Finding {
    let last = last_again(audit).await;
    if !matches!(last.verdict, Verdict::Pass | Verdict::Weak) {
        return last;
    }
    match from_the_first_round(audit).await {
        Some(earlier) => Finding::worst([
            ("its last leg".to_owned(), last),
            ("from its first round on".to_owned(), earlier),
        ]),
        None => last,
    }
}

/// Where a tool asks in several rounds: a call that came to its end is gone on with from its first
/// round, and ends with other answers.
async fn from_the_first_round(audit: &Audit) -> Option<Finding> {
    if audit.reference().rounds.len() < 2 {
        return None;
    }
    let found = async {
        let round = audit.first().await?;
        let last = audit.before_the_end_of(round.clone()).await?;
        let reply = audit.send(&last.leg).await;
        if !reply.is_complete() {
            let why = format!("an honest flow did not end: {}", reply.shown());
            return Err(Finding::not_tested(why));
        }
        // That it is not gone on with is in order.
        let Ok(fork) = audit.before_the_end_of(round).await else {
            return Ok(Finding::pass("it was refused"));
        };
        let reuse = other_answers(audit, &fork).await?;
        Ok(match reuse.has_run {
            true => Finding::fail("it ran again").seen([reuse.reply.shown()]),
            false => Finding::pass("it was refused"),
        })
    };
    Some(match found.await {
        Ok(finding) | Err(finding) => finding,
    })
}

async fn last_again(audit: &Audit) -> Finding {
    let Ending { last, reply: first } = match ended(audit).await {
        Ok(ending) => ending,
        Err(finding) => return finding,
    };
    let again = audit.send(&last.leg).await;
    let seen = [
        format!("first: {}", first.shown()),
        format!("again: {}", again.shown()),
    ];
    match &again {
        // Such as: this was done already.
        Reply::Failed(_) if !again.is_like(&first) => {
            audit.note("used before", &again);
            Finding::pass("the tool refused it")
        }
        Reply::Done(_) | Reply::Failed(_) if again.is_same_as(&first) => {
            let ran = "it ran again: other answers are taken, too";
            let found = repeated(audit, ran, "the recorded response was repeated").await;
            found.seen(seen)
        }
        Reply::Done(_) | Reply::Failed(_) => {
            Finding::fail("it ran again: the result is another").seen(seen)
        }
        Reply::Asks(_) => Finding::weak("it was not refused: the call began anew").seen(seen),
        _ if again.is_trouble() => Finding::weak("it got no proper answer").seen(seen),
        _ => {
            audit.note("used before", &again);
            Finding::pass("it was refused")
        }
    }
}

async fn replayed_other_answers(audit: &Audit) -> Finding {
    let Reuse { reply, has_run } = match with_other_answers(audit).await {
        Ok(reuse) => reuse,
        Err(finding) => return finding,
    };
    let seen = [reply.shown()];
    match reply {
        _ if has_run => Finding::fail("the other answers were taken").seen(seen),
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
        Ok(last) => last.leg,
        Err(finding) => return finding,
    };
    let mut sending = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (wire, request) = (Arc::clone(&audit.wire), leg.request());
        sending.spawn(async move { wire.ask(&request).await });
    }
    let replies = sending.join_all().await;
    let completed = replies.iter().filter(|reply| reply.is_complete()).count();
    audit.memory.borrow_mut().completed += completed as u64;
    let mut seen: Vec<String> = Vec::new();
    for reply in &replies {
        let shown = reply.shown();
        if !seen.contains(&shown) {
            seen.push(shown);
        }
    }
    // A tool that fails otherwise than an honest call has refused: somebody else was first.
    let honest = audit.reference().end.as_ref().ok();
    let has_run = |reply: &&Reply| match reply {
        Reply::Done(_) => true,
        reply => honest.is_some_and(|honest| honest.is_like(reply)),
    };
    let ran: Vec<_> = replies.iter().filter(has_run).collect();
    let [first, others @ ..] = &ran[..] else {
        return Finding::weak(format!("none of {AT_ONCE} was served")).seen(seen);
    };
    if let Some(other) = others.iter().find(|other| !other.is_same_as(first)) {
        let detail = format!(
            "it ran more than once: {} of {AT_ONCE} were served",
            ran.len()
        );
        return Finding::fail(detail).seen([first.shown(), other.shown()]);
    }
    if others.is_empty() {
        return Finding::pass(format!("one of {AT_ONCE} was served"));
    }
    let detail = format!("{} of {AT_ONCE} were served, all alike", ran.len());
    let found = repeated(audit, &format!("{detail}; nothing is remembered"), &detail).await;
    found.seen(seen)
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
