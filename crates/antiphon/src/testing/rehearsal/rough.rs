//! [`Way`]: a transport on which things go wrong as a [`Trouble`] says, and which looks at what comes
//! of it.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use bytes::Bytes;

use super::{
    Trouble,
    course::{Course, Leniency, same_run},
    effects::Effects,
    finding::Finding,
    heard::Heard,
    spelling::{Members, respelt},
    stage::{Guarding, Sent, Stage},
};
use crate::client::{Connect, Error, Events, Identity, Incoming, Outgoing, Pending, Transport};

/// A way to the instances of a server.
#[derive(Clone)]
pub(super) struct Way(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) stage: Stage,
    /// None in a smooth play.
    pub(super) trouble: Option<Trouble>,
    /// How it has to go.
    pub(super) wanted: Option<Arc<Way>>,
    pub(super) effects: Effects,
    pub(super) reworded: Vec<String>,
    pub(super) result_may_differ: bool,
    pub(super) legs: AtomicU32,
    pub(super) course: Mutex<Course>,
    pub(super) found: Mutex<Option<Finding>>,
}

impl Connect for Way {
    type Transport = Self;

    async fn connect(self, _: Events) -> Result<Self, Error> {
        Ok(self)
    }
}

impl Transport for Way {
    fn identity(&self) -> &Identity {
        &Identity::Memory
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        Box::pin(async move {
            let is_leg = matches!(
                request.method,
                "tools/call" | "prompts/get" | "resources/read"
            );
            let answer = match is_leg {
                true => self.0.leg(request.body).await,
                false => self.0.stage.ask(request.body).await,
            };
            answer.map(Incoming::Whole).map_err(|finding| {
                self.0.find(finding);
                Error::transport("the rehearsal found something")
            })
        })
    }
}

impl Inner {
    /// What was found first.
    pub(super) fn finding(&self) -> Option<Finding> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.clone().or_else(|| self.stage.late())
    }

    fn find(&self, finding: Finding) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get_or_insert(finding);
    }

    /// How many requests the call took so far.
    pub(super) fn legs(&self) -> u32 {
        self.legs.load(Ordering::Relaxed)
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn leg(&self, body: Bytes) -> Result<Bytes, Finding> {
        let leg = self.legs.fetch_add(1, Ordering::Relaxed) + 1;
        let message = Message::of(&body);
        let answers = message.as_ref().map(Message::answers).unwrap_or_default();
        let keys = answers.0.iter().map(|(key, _)| key.as_str());
        self.course().answers(keys);
        let first = leg == 1;
        let heard = match (self.trouble, &message) {
            (Some(Trouble::RunAgain), _) => self.run_again(leg, body).await?,
            (Some(Trouble::ResponseLost), _) if !first => self.response_lost(leg, body).await?,
            (Some(Trouble::AtOnce), _) if !first => self.at_once(leg, body).await?,
            (Some(Trouble::Respelt), Some(message)) if !first => {
                self.send(leg, message.respelt()).await?.heard
            }
            (Some(Trouble::OneByOne), Some(message)) if answers.0.len() > 1 => {
                self.one_by_one(leg, message, answers).await?
            }
            _ => self.send(leg, body).await?.heard,
        };
        let leniency = Leniency {
            trouble: self.trouble,
            reworded: &self.reworded,
            result_may_differ: self.result_may_differ,
        };
        let wanted = self.wanted.as_ref().map(|wanted| wanted.0.course());
        self.course()
            .came(leg, &heard, wanted.as_deref(), &leniency)?;
        Ok(heard.response)
    }

    /// To an instance of its own, with the stores of all.
    async fn send(&self, leg: u32, body: Bytes) -> Result<Sent, Finding> {
        let sent = self.stage.send(leg, Guarding::All, body).await?;
        self.course().took(&sent.steps)?;
        Ok(sent)
    }

    async fn run_again(&self, leg: u32, body: Bytes) -> Result<Heard, Finding> {
        let sent = self.send(leg, body.clone()).await?;
        // A run that ends the call may do what it likes, and the guard keeps it from being repeated. A
        // first request is another call each time, with steps of its own.
        let is_new = leg == 1;
        if sent.heard.questions().is_none() || (is_new && !sent.steps.done.is_empty()) {
            return Ok(sent.heard);
        }
        let counting = self.effects.count();
        let again = self.stage.send(leg, Guarding::Alone, body).await?;
        let reworded = is_new.then_some(&*self.reworded);
        same_run(
            (&sent.heard, &sent.steps),
            (&again.heard, &again.steps),
            reworded,
        )?;
        match counting.changed() {
            Some(more) => Err(Finding::effects(&more)),
            None => Ok(again.heard),
        }
    }

    async fn response_lost(&self, leg: u32, body: Bytes) -> Result<Heard, Finding> {
        let lost = self.send(leg, body.clone()).await?.heard;
        let again = self.send(leg, body).await?.heard;
        match lost.is_repeated_by(&again) {
            true => Ok(again),
            false => Err(Finding::response(&lost, &again)),
        }
    }

    async fn at_once(&self, leg: u32, body: Bytes) -> Result<Heard, Finding> {
        let both = tokio::join!(self.send(leg, body.clone()), self.send(leg, body));
        let (one, other) = (both.0?.heard, both.1?.heard);
        match one.is_repeated_by(&other) {
            true => Ok(other),
            false => Err(Finding::response(&one, &other)),
        }
    }

    /// Answers one at a time, as far as they are asked for, and returns what came in the end.
    async fn one_by_one(
        &self,
        leg: u32,
        message: &Message,
        Members(mut left): Members,
    ) -> Result<Heard, Finding> {
        let mut state = message.params.get("requestState").map(ToOwned::to_owned);
        let mut next = 0;
        loop {
            let answer = Members(vec![left.remove(next)]);
            let body = message.with(state, &answer);
            let heard = self.send(leg, body).await?.heard;
            let asked = left.iter().position(|(key, _)| heard.asks(key).is_some());
            let Some(asked) = asked else {
                return Ok(heard);
            };
            (state, next) = (heard.state, asked);
        }
    }
}

/// A request, as far as it is changed on the way.
struct Message {
    all: Members,
    params: Members,
}

impl Message {
    fn of(body: &[u8]) -> Option<Self> {
        let all = Members::of(std::str::from_utf8(body).ok()?)?;
        let params = Members::of(all.get("params")?)?;
        Some(Self { all, params })
    }

    fn answers(&self) -> Members {
        let answers = self.params.get("inputResponses");
        answers.and_then(Members::of).unwrap_or_default()
    }

    fn respelt(&self) -> Bytes {
        let arguments = self.params.get("arguments").map(respelt);
        self.body(&self.params.clone().with("arguments", arguments))
    }

    fn with(&self, state: Option<String>, answers: &Members) -> Bytes {
        let params = self.params.clone().with("requestState", state);
        self.body(&params.with("inputResponses", Some(answers.to_string())))
    }

    fn body(&self, params: &Members) -> Bytes {
        let all = self.all.clone().with("params", Some(params.to_string()));
        all.to_string().into()
    }
}
