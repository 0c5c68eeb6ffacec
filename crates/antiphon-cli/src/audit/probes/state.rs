//! The state itself: changed, cut, extended, written otherwise, read.

use serde_json::Value;

use crate::{
    audit::{
        Audit,
        finding::Finding,
        flow::Taken,
        probe::Probe,
        reading,
        reply::Reply,
        state::{self, MOST, Variant},
    },
    printable,
};

pub(super) static PROBES: [Probe; 5] = [
    Probe {
        id: "state-tampered",
        group: "state",
        title: "the state, changed at each of its parts",
        meaning: "Whoever holds the state can write another: skip questions, forge answers, change \
                  who it is for.",
        advice: "Seal the state with an AEAD, or sign all of it with a HMAC, and refuse what does \
                 not verify with an error.",
        ledger: &["MRTR-S-12", "MRTR-S-13", "MRTR-S-14"],
        effects: MOST,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(tampered(audit)),
        run_older: None,
    },
    Probe {
        id: "state-truncated",
        group: "state",
        title: "the state, cut off at its end",
        meaning: "A part of the state is not authenticated, or is not needed at all: the tag, in the \
                  worst case.",
        advice: "Authenticate the state as a whole, its length included, and refuse anything shorter.",
        ledger: &["MRTR-S-12", "MRTR-S-13", "MRTR-S-14"],
        effects: 7,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(truncated(audit)),
        run_older: None,
    },
    Probe {
        id: "state-extended",
        group: "state",
        title: "the state, with more at either end",
        meaning: "What is added to a state is ignored by one reader and may be read by another.",
        advice: "Check that nothing is left over once the state is decoded.",
        ledger: &["MRTR-S-12", "MRTR-S-13", "MRTR-S-14"],
        effects: 6,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(extended(audit)),
        run_older: None,
    },
    Probe {
        id: "state-respelled",
        group: "state",
        title: "the same state in another spelling",
        meaning: "One state has several texts. A guard against reuse that compares texts takes each \
                  of them once.",
        advice: "Accept the one spelling that you write: strict Base64, no white space. Or let the \
                 guard compare an id inside the sealed state.",
        ledger: &["MRTR-S-13", "MRTR-S-19"],
        effects: MOST,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(respelled(audit)),
        run_older: None,
    },
    Probe {
        id: "state-readable",
        group: "state",
        title: "the state, read without a key",
        meaning: "Whoever sees the state, such as a log or a model, sees what is in it.",
        advice: "Encrypt the state, or keep what it says on the server and send a random handle.",
        ledger: &["MRTR-S-12", "MRTR-S-13"],
        effects: MOST,
        effects_older: 0,
        needs_effects: false,
        run: |audit| Box::pin(readable(audit)),
        run_older: None,
    },
];

/// What a server made of variants of its states.
struct Tried {
    /// Why not all were tried, if they were not.
    broken: Option<Finding>,
    accepted: Vec<(String, Reply)>,
    asked_again: Vec<(String, Reply)>,
    troubled: Vec<(String, Reply)>,
    refused: usize,
}

/// So many states are looked at for what can be done to them: one may happen to have no character that
/// can be written otherwise.
const LOOKS: usize = 4;

/// The variant of a state that was planned for, if this state has it.
fn planned(variants: Vec<Variant>, plan: &[String], at: usize, what: &str) -> Option<Variant> {
    let is_as_planned = variants.len().min(MOST) == plan.len();
    let mut variants = variants.into_iter();
    match is_as_planned {
        true => variants.nth(at),
        false => variants.find(|(name, _)| name == what),
    }
}

/// Sends each variant of a fresh state with honest answers.
async fn each(
    audit: &Audit,
    cause: &'static str,
    vary: impl Fn(&str) -> Vec<Variant>,
) -> Result<Tried, Finding> {
    let mut tried = Tried {
        broken: None,
        accepted: Vec::new(),
        asked_again: Vec::new(),
        troubled: Vec::new(),
        refused: 0,
    };
    let mut plan: Vec<String> = Vec::new();
    for _ in 0..LOOKS {
        let (_, state) = audit.with_state().await?;
        let names: Vec<_> = vary(&state).into_iter().map(|(what, _)| what).collect();
        if names.len() > plan.len() {
            plan = names;
        }
    }
    plan.truncate(MOST);
    'all: for (at, what) in plan.iter().enumerate() {
        let mut looks = 0;
        let (round, (what, variant)) = loop {
            looks += 1;
            let (round, state) = match audit.with_state().await {
                Ok(flow) => flow,
                Err(finding) => {
                    tried.broken = Some(finding);
                    break 'all;
                }
            };
            match planned(vary(&state), &plan, at, what) {
                Some(variant) => break (round, variant),
                None if looks < LOOKS => {}
                None => continue 'all,
            }
        };
        let (_, leg) = audit.second(&round)?;
        let reply = audit.send(&leg.state(Some(variant))).await;
        match audit.taken(&reply) {
            Taken::Accepted => tried.accepted.push((what, reply)),
            Taken::AskedAgain => tried.asked_again.push((what, reply)),
            Taken::Trouble => tried.troubled.push((what, reply)),
            Taken::Refused => {
                audit.note(cause, &reply);
                tried.refused += 1;
            }
        }
    }
    Ok(tried)
}

impl Tried {
    fn count(&self) -> usize {
        self.accepted.len() + self.asked_again.len() + self.troubled.len() + self.refused
    }

    /// What that means, if an accepted one means `worst`.
    fn finding(self, worst: fn(String) -> Finding) -> Finding {
        let count = self.count();
        if count == 0 {
            return Finding::not_tested("there is nothing in it to change");
        }
        let seen = |list: &[(String, Reply)]| {
            let lines = list
                .iter()
                .map(|(what, reply)| format!("{what}: {}", reply.shown()));
            lines.collect::<Vec<_>>()
        };
        if !self.accepted.is_empty() {
            let detail = format!("{} of {count} variants were accepted", self.accepted.len());
            return worst(detail).seen(seen(&self.accepted));
        }
        if !self.asked_again.is_empty() {
            let detail = format!(
                "{} of {count} variants were not refused: the call began anew",
                self.asked_again.len()
            );
            return Finding::weak(detail).seen(seen(&self.asked_again));
        }
        if !self.troubled.is_empty() {
            let detail = format!(
                "{} of {count} variants got no proper answer",
                self.troubled.len()
            );
            return Finding::weak(detail).seen(seen(&self.troubled));
        }
        if let Some(broken) = self.broken {
            let detail = format!(
                "after {count} variants that were refused, {}",
                broken.detail
            );
            return Finding { detail, ..broken };
        }
        Finding::pass(format!("{count} variants were refused"))
    }
}

/// What an accepted variant makes of a probe.
async fn judged(
    audit: &Audit,
    cause: &'static str,
    vary: impl Fn(&str) -> Vec<Variant>,
    worst: fn(String) -> Finding,
) -> Finding {
    match each(audit, cause, vary).await {
        Ok(tried) => tried.finding(worst),
        Err(finding) => finding,
    }
}

async fn tampered(audit: &Audit) -> Finding {
    match each(audit, "tampered with", state::tampered).await {
        Ok(tried) => {
            audit.memory.borrow_mut().tampered = Some(!tried.accepted.is_empty());
            tried.finding(Finding::fail)
        }
        Err(finding) => finding,
    }
}

async fn truncated(audit: &Audit) -> Finding {
    judged(audit, "cut off", state::truncated, Finding::fail).await
}

async fn extended(audit: &Audit) -> Finding {
    judged(audit, "extended", state::extended, Finding::fail).await
}

async fn respelled(audit: &Audit) -> Finding {
    judged(audit, "respelled", state::respelled, Finding::weak).await
}

async fn readable(audit: &Audit) -> Finding {
    let (round, state) = match audit.with_state().await {
        Ok(flow) => flow,
        Err(finding) => return finding,
    };
    let found = reading::readable(&state, &known(audit, &round.questions));
    if found.is_empty() {
        return Finding::pass(format!(
            "nothing can be read in its {} characters",
            state.len()
        ));
    }
    let seen = found.iter().map(|text| printable::excerpt(text, 300));
    let seen: Vec<_> = seen.collect();
    let known = audit.memory.borrow().tampered;
    let is_forgeable = match known {
        Some(is_forgeable) => is_forgeable,
        None => match each(audit, "tampered with", state::tampered).await {
            Ok(tried) => !tried.accepted.is_empty(),
            Err(finding) => return finding,
        },
    };
    match is_forgeable {
        true => Finding::fail("it can be read, and changed as well").seen(seen),
        false => Finding::weak("it can be read, though not changed").seen(seen),
    }
}

/// Texts of the call: if they are in the state, that is not sealed.
fn known(audit: &Audit, questions: &serde_json::Map<String, Value>) -> Vec<String> {
    let mut known = vec![audit.subject.tool.name.clone()];
    known.extend(
        audit
            .subject
            .arguments
            .values()
            .filter_map(|value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            }),
    );
    known.extend(questions.keys().cloned());
    // Shorter ones are anywhere.
    known.retain(|text| text.len() >= 4);
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a state can be written otherwise may depend on its characters.
    #[test]
    fn what_was_planned_is_found_in_another_state() {
        let variant = |what: &str, text: &str| (what.to_owned(), text.to_owned());
        let plan = ["padding", "alphabet", "%XX"].map(str::to_owned);
        let all = vec![
            variant("padding", "1"),
            variant("alphabet", "2"),
            variant("%XX", "3"),
        ];
        let some = vec![variant("padding", "1"), variant("%XX", "3")];
        let text = |variants: &[Variant], at: usize| {
            let found = planned(variants.to_vec(), &plan, at, &plan[at]);
            found.map(|(_, text)| text)
        };
        assert_eq!(text(&all, 1).as_deref(), Some("2"));
        assert_eq!(text(&some, 1), None);
        assert_eq!(text(&some, 2).as_deref(), Some("3"));
        // As many, in other words: such as `character 7 of 30`.
        let others = ["a", "b", "c"].map(|what| variant(what, what));
        assert_eq!(text(&others, 1).as_deref(), Some("b"));
    }
}
