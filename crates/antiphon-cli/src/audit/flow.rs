//! Flows: a first leg, the honest rounds after it, and what it means when something else was sent.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::time::sleep;

use super::{
    Audit,
    answers::{Answers, declined},
    finding::Finding,
    leg::Leg,
    probes::questions::drifted,
    reply::{Reply, Round},
    wire::{Request, Wire},
};

/// Most rounds of an honest flow.
const ROUNDS: u32 = 10;
/// How often a server is come back to that is not ready, and how soon.
const POLLS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(250);

/// How the tool is used by an honest client.
pub(super) struct Reference {
    /// What came of the first answers.
    pub(super) second: Reply,
    /// All that was asked, round by round.
    pub(super) rounds: Vec<Round>,
    /// How it ended, or why it did not.
    pub(super) end: Result<Reply, String>,
}

/// The leg that completes an honest flow.
pub(super) struct Last {
    pub(super) leg: Leg,
    pub(super) questions: Map<String, Value>,
    pub(super) answers: Answers,
}

/// How an honest flow ended.
pub(super) struct Ending {
    pub(super) last: Last,
    pub(super) reply: Reply,
}

/// What a server made of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It went on as it does for an honest client.
    Accepted,
    /// It began anew.
    AskedAgain,
    Refused,
    /// It broke, or did not answer.
    Trouble,
}

impl Audit {
    /// The first leg, as it is sent by an honest client.
    pub(super) fn leg(&self) -> Leg {
        Leg::first(&self.subject.tool, &self.subject.arguments)
    }

    /// Sends a leg as the first principal.
    pub(super) async fn send(&self, leg: &Leg) -> Reply {
        self.send_on(&self.wire, leg).await
    }

    pub(super) async fn send_on(&self, wire: &Arc<Wire>, leg: &Leg) -> Reply {
        self.ask_on(wire, &leg.request()).await
    }

    pub(super) async fn ask_on(&self, wire: &Arc<Wire>, request: &Request) -> Reply {
        let reply = wire.ask(request).await;
        let mut memory = self.memory.borrow_mut();
        memory.is_late |= matches!(reply, Reply::Late(_));
        if reply.is_complete() && request.method == "tools/call" {
            memory.completed += 1;
        }
        reply
    }

    /// A fresh flow, up to what the server asks first.
    pub(super) async fn first(&self) -> Result<Round, Finding> {
        self.first_on(&self.wire, self.leg()).await
    }

    pub(super) async fn first_on(&self, wire: &Arc<Wire>, leg: Leg) -> Result<Round, Finding> {
        let reply = self.send_on(wire, &leg).await;
        match self.settled(wire, leg, reply).await {
            (_, Reply::Asks(round)) => Ok(round),
            (_, reply) if reply.is_trouble() => Err(Finding::weak(format!(
                "a first leg got no proper answer: {}",
                reply.shown()
            ))),
            (_, reply) => Err(Finding::not_tested(format!(
                "a first leg did not ask: {}",
                reply.shown()
            ))),
        }
    }

    /// Comes back to a server that is not ready, until it asks something or is done; with the last
    /// leg.
    pub(super) async fn settled(
        &self,
        wire: &Arc<Wire>,
        mut leg: Leg,
        mut reply: Reply,
    ) -> (Leg, Reply) {
        for _ in 0..POLLS {
            match &reply {
                Reply::Asks(round) if round.questions.is_empty() => {
                    leg = leg.answers_text(None).state(round.state.clone());
                }
                _ => break,
            }
            sleep(PAUSE).await;
            reply = self.send_on(wire, &leg).await;
        }
        (leg, reply)
    }

    /// The honest answers to a first round, and the leg that carries them.
    pub(super) fn second(&self, round: &Round) -> Result<(Answers, Leg), Finding> {
        let answers = self.answering.honest(1, &round.questions);
        let answers = answers.map_err(Finding::not_tested)?;
        let leg = self.leg().answers(&answers).state(round.state.clone());
        Ok((answers, leg))
    }

    /// A fresh flow and its state; servers may have none.
    pub(super) async fn with_state(&self) -> Result<(Round, String), Finding> {
        let round = self.first().await?;
        match round.state.clone() {
            Some(state) => Ok((round, state)),
            None => Err(Finding::not_tested("the server sends no requestState")),
        }
    }

    /// An honest flow from its begin to its end.
    pub(super) async fn finish(&self) -> Result<Ending, Finding> {
        let mut rounds = vec![self.first().await?];
        self.go_on(&mut rounds, &mut None).await
    }

    /// The leg that would complete an honest flow, before it is sent.
    pub(super) async fn before_the_end(&self) -> Result<Last, Finding> {
        let reference = self.reference();
        if let Err(why) = &reference.end {
            return Err(Finding::not_tested(why.clone()));
        }
        if reference.rounds.iter().all(|round| round.state.is_none()) {
            return Err(Finding::not_tested("the server sends no requestState"));
        }
        let round = self.first().await?;
        self.before_the_end_of(round).await
    }

    /// The same in a flow that has begun.
    pub(super) async fn before_the_end_of(&self, mut round: Round) -> Result<Last, Finding> {
        let reference = self.reference();
        for number in 1..=ROUNDS {
            let answers = self.answering.honest(number, &round.questions);
            let answers = answers.map_err(Finding::not_tested)?;
            let leg = self.leg().answers(&answers).state(round.state.clone());
            if number as usize == reference.rounds.len() {
                let questions = round.questions;
                return Ok(Last {
                    leg,
                    questions,
                    answers,
                });
            }
            let reply = self.send(&leg).await;
            match self.settled(&self.wire, leg, reply).await {
                (_, Reply::Asks(next)) => round = next,
                (_, reply) => {
                    let why = format!("it does not ask as often as before: {}", reply.shown());
                    return Err(Finding::not_tested(why));
                }
            }
        }
        Err(Finding::not_tested("it asks for ever"))
    }

    /// The honest rounds after the first; `second` is what came of that one's answers.
    async fn go_on(
        &self,
        rounds: &mut Vec<Round>,
        second: &mut Option<Reply>,
    ) -> Result<Ending, Finding> {
        for number in 1..=ROUNDS {
            let round = rounds.last().cloned().unwrap_or_default();
            let answers = self.answering.honest(number, &round.questions);
            let answers = answers.map_err(Finding::not_tested)?;
            let leg = self.leg().answers(&answers).state(round.state.clone());
            let reply = self.send(&leg).await;
            second.get_or_insert_with(|| reply.clone());
            match self.settled(&self.wire, leg, reply).await {
                (leg, reply @ (Reply::Done(_) | Reply::Failed(_))) => {
                    let questions = round.questions;
                    let last = Last {
                        leg,
                        questions,
                        answers,
                    };
                    return Ok(Ending { last, reply });
                }
                (_, Reply::Asks(next)) => rounds.push(next),
                (_, reply) => {
                    let why = format!("an honest answer brought no result: {}", reply.shown());
                    return Err(Finding::not_tested(why));
                }
            }
        }
        Err(Finding::not_tested(format!(
            "honest answers did not complete the call within {ROUNDS} rounds"
        )))
    }

    /// Uses the tool as an honest client does, once.
    pub(super) async fn refer(&self) -> Result<Reference, Finding> {
        let mut rounds = vec![self.first().await?];
        let mut second = None;
        let ended = self.go_on(&mut rounds, &mut second).await;
        let end = match ended {
            Ok(ending) => Ok(ending.reply),
            Err(finding) => Err(finding.detail),
        };
        let unfit = |why: &str, reply: &Reply| {
            let (honest, hint) = match self.allow_effects {
                true => (
                    "answers that fit its questions",
                    "--answers says what to answer",
                ),
                false => ("a no", "with --allow-effects it is told yes"),
            };
            Finding::not_tested(format!("{why} {honest}: {}; {hint}", reply.shown()))
        };
        match (second, &end) {
            (None, Err(why)) => Err(Finding::not_tested(why.clone())),
            (Some(reply), Err(_)) if reply.is_trouble() => Err(Finding::not_tested(format!(
                "an honest answer got no proper answer: {}",
                reply.shown()
            ))),
            // Nothing can be measured by that: all that is refused would seem to be in order.
            (Some(reply), Err(_)) if !reply.is_complete() && !matches!(reply, Reply::Asks(_)) => {
                Err(unfit("it does not take", &reply))
            }
            (Some(reply), Err(_)) if is_one_question(&rounds) => {
                Err(unfit("it asks the same again after", &reply))
            }
            (Some(second), _) => Ok(Reference {
                second,
                rounds,
                end,
            }),
            (None, Ok(_)) => unreachable!("what ended had a second leg"),
        }
    }

    /// What a server does when a user says no; `None` if that cannot be found out.
    pub(super) async fn refused_by_user(&self) -> Option<Reply> {
        let known = self.memory.borrow().declined.clone();
        if known.is_some() {
            return known;
        }
        let round = self.first().await.ok()?;
        let answers = declined(&round.questions)?;
        let leg = self.leg().answers(&answers).state(round.state);
        let reply = self.send(&leg).await;
        self.memory.borrow_mut().declined = Some(reply.clone());
        Some(reply)
    }

    /// What a server made of a leg, measured by what it makes of an honest one.
    pub(super) fn taken(&self, reply: &Reply) -> Taken {
        let honest = &self.reference().second;
        match reply {
            Reply::Done(_) => Taken::Accepted,
            // A tool may fail on honest answers as well: it fails when its user says no.
            Reply::Failed(_) if honest.is_like(reply) => Taken::Accepted,
            Reply::Failed(_) => Taken::Refused,
            Reply::Asks(round) if self.goes_on(round) => Taken::Accepted,
            Reply::Asks(_) => Taken::AskedAgain,
            reply if reply.is_trouble() => Taken::Trouble,
            _ => Taken::Refused,
        }
    }

    /// Whether a server asks what it asks an honest client in the second round.
    fn goes_on(&self, round: &Round) -> bool {
        let reference = self.reference();
        match (reference.rounds.first(), &reference.second) {
            (Some(first), Reply::Asks(second)) => {
                is_second(&first.questions, &second.questions, &round.questions)
            }
            _ => false,
        }
    }

    /// What it means for a leg that should have been refused.
    pub(super) fn must_refuse(
        &self,
        cause: Option<&'static str>,
        reply: &Reply,
        accepted: &str,
    ) -> Finding {
        let seen = [reply.shown()];
        match self.taken(reply) {
            Taken::Accepted => Finding::fail(accepted).seen(seen),
            Taken::AskedAgain => {
                Finding::weak("it was not refused: the call began anew").seen(seen)
            }
            Taken::Trouble => Finding::weak("it got no proper answer").seen(seen),
            Taken::Refused => {
                if let Some(cause) = cause {
                    self.note(cause, reply);
                }
                Finding::pass("it was refused")
            }
        }
    }

    /// Whether a server did as it does for an honest client.
    pub(super) fn is_honest(&self, reply: &Reply) -> bool {
        match reply {
            Reply::Done(_) => true,
            Reply::Asks(round) => self.goes_on(round),
            _ => reply.is_like(&self.reference().second),
        }
    }

    /// Remembers how a state was refused, for whoever compares the texts.
    pub(super) fn note(&self, cause: &'static str, reply: &Reply) {
        if let Some(refusal) = reply.refusal() {
            let mut memory = self.memory.borrow_mut();
            let refusals = &mut memory.refusals;
            if !refusals.iter().any(|(known, _)| *known == cause) {
                refusals.push((cause, refusal));
            }
        }
    }
}

/// Whether questions are those of the second round. Rounds are told apart by their keys; where two
/// have the same ones, by their forms, and where those are the same as well, by every word.
fn is_second(
    first: &Map<String, Value>,
    second: &Map<String, Value>,
    now: &Map<String, Value>,
) -> bool {
    if !now.keys().eq(second.keys()) {
        return false;
    }
    if !first.keys().eq(second.keys()) {
        return true;
    }
    let by_form = drifted(first, second, true).is_some();
    drifted(first, second, false).is_some() && drifted(second, now, by_form).is_none()
}

/// Whether the same is asked in every round, but for what it says.
fn is_one_question(rounds: &[Round]) -> bool {
    let mut pairs = rounds.windows(2);
    rounds.len() > 1
        && pairs.all(|pair| drifted(&pair[0].questions, &pair[1].questions, true).is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(key: &str, message: &str, field: &str) -> Map<String, Value> {
        let schema = json!({"properties": {field: {"type": "boolean"}}});
        let question = json!({"method": "elicitation/create",
            "params": {"message": message, "requestedSchema": schema}});
        Map::from_iter([(key.to_owned(), question)])
    }

    #[test]
    fn rounds_are_told_apart() {
        let first = asked("a", "Sure?", "ok");
        let by_key = asked("b", "Really?", "ok");
        assert!(is_second(&first, &by_key, &asked("b", "Is that so?", "ok")));
        assert!(!is_second(&first, &by_key, &first));
        let by_form = asked("a", "Really?", "yes");
        assert!(is_second(
            &first,
            &by_form,
            &asked("a", "Is that so?", "yes")
        ));
        assert!(!is_second(&first, &by_form, &asked("a", "Really?", "ok")));
        let by_text = asked("a", "Really?", "ok");
        assert!(is_second(&first, &by_text, &by_text));
        assert!(!is_second(&first, &by_text, &first));
        assert!(!is_second(&first, &first, &first));
    }

    #[test]
    fn one_question_again_and_again_is_no_progress() {
        let round = |message: &str| Round {
            questions: asked("a", message, "ok"),
            state: None,
        };
        assert!(is_one_question(&[
            round("n?"),
            round("n? It is too short.")
        ]));
        assert!(!is_one_question(&[round("n?")]));
        let other = Round {
            questions: asked("b", "n?", "ok"),
            state: None,
        };
        assert!(!is_one_question(&[round("n?"), other]));
    }
}
