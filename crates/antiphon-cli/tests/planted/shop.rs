//! [`Shop`]: the calls that ask, round by round, and what they do in the end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::{Value, value::RawValue};

use super::{
    Flaw, json,
    questions::{Question, is_too_much},
    state::{Cause, Claims, Seal, until},
    used::Used,
};

/// What replicas share.
pub(crate) struct Shop {
    pub(crate) flaw: Option<Flaw>,
    life: Duration,
    seal: Seal,
    asked: AtomicUsize,
    /// How many calls were finished. It is in every result, so that whoever calls can see whether
    /// a call was run again.
    orders: AtomicUsize,
    used: [Arc<Used>; 2],
}

/// One round of a call.
pub(crate) struct Round<'a> {
    pub(crate) principal: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) capabilities: &'a Value,
    pub(crate) state: Option<&'a str>,
    pub(crate) answers: Option<&'a RawValue>,
}

/// How a round ends.
pub(crate) enum End {
    /// The call is finished, with this text.
    Done(String),
    /// These questions, and the state that goes with them.
    Asks(Value, String),
    /// The state is refused.
    Refused(Cause),
    /// The client would have to declare this.
    Needs(Value),
    /// The server does not know how to go on.
    Crashed,
}

impl Shop {
    pub(crate) fn new(flaw: Option<Flaw>, life: Duration) -> Self {
        let used: Arc<Used> = Arc::default();
        let other = match flaw {
            Some(Flaw::OtherReplica) => Arc::default(),
            _ => used.clone(),
        };
        Self {
            flaw,
            life,
            seal: Seal::new(flaw),
            asked: AtomicUsize::new(0),
            orders: AtomicUsize::new(0),
            used: [used, other],
        }
    }

    /// What this call asks; none if there is no such thing.
    pub(crate) fn question(method: &str, name: &str) -> Option<Question> {
        match (method, name) {
            ("tools/call", "order" | "reserve") => Some(Question::Form),
            ("tools/call", "pay") => Some(Question::Link),
            ("prompts/get", "brief") | ("resources/read", "shop://ledger") => Some(Question::Form),
            _ => None,
        }
    }

    /// One round at this replica.
    pub(crate) async fn round(&self, replica: usize, question: Question, round: Round<'_>) -> End {
        let claims = Claims {
            principal: round.principal.map(str::to_owned),
            method: round.method.to_owned(),
            name: round.name.to_owned(),
            arguments: json::bound(round.arguments, self.flaw),
            until: until(self.life),
        };
        let text = round.answers.map_or("", RawValue::get);
        let answers: Option<Value> = serde_json::from_str(text).ok();
        let too_much = answers.as_ref().is_some_and(|all| is_too_much(all, text));
        if too_much && self.flaw == Some(Flaw::OversizedAnswers) {
            return End::Crashed;
        }
        let answered = || match too_much {
            true => None,
            false => question.answered(answers.as_ref(), self.flaw),
        };
        let Some(state) = round.state else {
            return match answered() {
                Some(said) if self.flaw == Some(Flaw::UnsolicitedAnswers) => {
                    End::Done(self.finish(round.name, &said))
                }
                _ => self.ask(question, &round, &claims),
            };
        };
        let id = match self.seal.open(state) {
            Ok((id, sealed)) => sealed.check(&claims, self.flaw).map(|()| id),
            Err(cause) => Err(cause),
        };
        let id = match id {
            Ok(id) => id,
            Err(cause) => return End::Refused(cause),
        };
        let Some(said) = answered() else {
            return self.ask(question, &round, &claims);
        };
        let used = &self.used[replica];
        match used.take(&id, text, replica, self.flaw).await {
            true => End::Done(self.finish(round.name, &said)),
            false => End::Refused(Cause::Used),
        }
    }

    fn ask(&self, question: Question, round: &Round<'_>, claims: &Claims) -> End {
        let can_be_asked = question.can_be_asked(round.capabilities);
        if !can_be_asked && self.flaw != Some(Flaw::UndeclaredCapabilities) {
            return End::Needs(question.needs());
        }
        End::Asks(
            self.question_of(question, round.name),
            self.seal.seal(claims),
        )
    }

    /// The question of this call, by key.
    pub(crate) fn question_of(&self, question: Question, name: &str) -> Value {
        let asked = self.asked.fetch_add(1, Relaxed);
        question.request(name, asked, self.flaw)
    }

    /// Does what was asked about.
    pub(crate) fn finish(&self, name: &str, said: &str) -> String {
        let order = self.orders.fetch_add(1, Relaxed) + 1;
        format!("order {order} by {name}: {said}")
    }
}
