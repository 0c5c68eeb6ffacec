//! [`Dialogue`]: what a handler asks and has done, for as long as it runs.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use antiphon_core::{
    asking::{Asking, Upon},
    ledger::Ledger,
    link::Handle,
    moment::Moment,
    seal::{
        digest::{Digest, Digester, FlowId, Of, Secret},
        guard::Fingerprint,
        journal::StepId,
    },
};
use antiphon_types::InputRequired;
use serde_json::value::RawValue;

use super::{Caller, Leg, Settings, method_name};
use crate::{
    legacy::Links,
    raw::{self, Error},
    sealing::protect::random,
    server::Begun,
};

/// What a handler asks and has done. Handlers share it with whatever they start.
pub(crate) struct Dialogue {
    pub(super) settings: Arc<Settings>,
    run: Mutex<Run>,
    over: AtomicBool,
    /// Whether the same may be tried again, because the journal could not be used.
    may_try_again: AtomicBool,
    /// Whether the state is claimed, if there is one: what is done before that may be done twice.
    claimed: AtomicBool,
    deadline: Moment,
    /// Who calls, as far as somebody who opens a link can be compared with that.
    subject: Option<String>,
    caller: Caller,
    /// The links of a call that waits while they are used.
    links: Option<Arc<Links>>,
}

/// What changes while a handler runs.
pub(crate) struct Run {
    pub(crate) asking: Asking,
    secret: Secret,
    /// Nothing while another has it. It is large, and all of this is moved.
    digester: Option<Box<Digester>>,
    /// How long to wait before the client comes back, and what asked for that.
    later: Option<(Duration, &'static str)>,
    /// What steps build upon besides what this asks, if there is a journal.
    beside: Upon,
    /// A mistake of the author's, or trouble of a store, which ends the call whatever the handler
    /// makes of it.
    pub(crate) broken: Option<Error>,
    pub(crate) steps: Vec<Arc<Begun>>,
    /// The keys that a handler wanted confirmed.
    pub(crate) confirming: Vec<String>,
    /// Whether the user agreed to one of them.
    pub(crate) confirmed: bool,
}

impl Leg<'_> {
    /// What the handler asks and has done.
    ///
    /// # Errors
    /// If there is no randomness.
    pub(crate) fn dialogue(&self, call: &raw::Call<'_>) -> Result<&Arc<Dialogue>, Error> {
        if let Some(dialogue) = self.dialogue.get() {
            return Ok(dialogue);
        }
        let random = match &self.opened {
            None => random().map_err(|trouble| self.refuse(trouble, None))?,
            Some(_) => [0; 16],
        };
        let begin = || Arc::new(self.begin_dialogue(call, random));
        Ok(self.dialogue.get_or_init(begin))
    }

    fn begin_dialogue(&self, call: &raw::Call<'_>, random: [u8; 16]) -> Dialogue {
        let limits = self.settings.asking;
        let mut beside = Upon::default();
        let (asking, secret, digester, deadline) = match &self.opened {
            None => (
                Asking::first(limits),
                Secret::new(random),
                None,
                self.settings.now().after(self.settings.call_deadline()),
            ),
            Some(opened) => {
                let answers = self.answers.keys().filter_map(|key| {
                    let answer = self.answers.raw(key)?;
                    Some((key, RawValue::get(answer)))
                });
                let ((ledger, digester), claims) = (opened.take(), &opened.claims);
                if self.settings.journal.is_some() {
                    beside = self.beside(&ledger);
                }
                let asking = Asking::next(ledger, claims.round, answers, limits);
                (asking, claims.secret.clone(), digester, claims.deadline)
            }
        };
        let principal = call.principal().and_then(|who| who.subject.clone());
        Dialogue {
            settings: self.settings.clone(),
            run: Mutex::new(Run {
                asking,
                digester,
                secret,
                later: None,
                beside,
                broken: None,
                steps: Vec::new(),
                confirming: Vec::new(),
                confirmed: false,
            }),
            over: AtomicBool::new(false),
            may_try_again: AtomicBool::new(false),
            claimed: AtomicBool::new(
                (self.opened.as_ref()).is_none_or(|opened| opened.claimed.get().is_some()),
            ),
            deadline,
            subject: principal.or_else(|| self.named_by_author(call).flatten()),
            caller: Caller::new(method_name(self.bound.method), self.bound.target, call),
            links: call.aside.map(|aside| aside.links.clone()),
        }
    }

    /// What the author asked and carried along by hand.
    fn beside(&self, ledger: &Ledger) -> Upon {
        let mut upon = Upon::default();
        let mut keys: Vec<&str> = ledger.by_hand.iter().map(String::as_str).collect();
        keys.sort_unstable();
        for key in keys {
            if let Some(answer) = self.answers.raw(key) {
                upon.by_hand(key, answer.get());
            }
        }
        if let Some(state) = self.state() {
            upon.carried(state);
        }
        upon
    }
}

impl Dialogue {
    pub(crate) fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on nothing can be asked any more.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    pub(super) fn set_claimed(&self) {
        self.claimed.store(true, Ordering::Release);
    }

    pub(crate) fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Acquire)
    }

    /// The journal could not be used, and what was done before that is in it.
    pub(super) fn let_try_again(&self) {
        self.may_try_again.store(true, Ordering::Release);
    }

    pub(super) fn may_try_again(&self) -> bool {
        self.may_try_again.load(Ordering::Acquire) && !self.has_confirmed()
    }

    /// Whether a yes was handed out in this run. What was done upon it nobody can see, and it must
    /// not be good a second time.
    pub(super) fn has_confirmed(&self) -> bool {
        self.run().confirmed
    }

    /// Work that was begun, and of which nobody knows how it ends.
    pub(crate) fn unfinished(&self) -> Option<String> {
        let run = self.run();
        let open = run.steps.iter().find(|begun| begun.is_open());
        open.map(|begun| begun.key.to_string())
    }

    /// Whether something was done in this run that no state tells of yet.
    pub(super) fn has_done(&self) -> bool {
        self.run().asking.has_done()
    }

    /// What the request says of itself.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Who calls, as far as somebody who opens a link can be compared with that.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// The links of a call that waits while they are used, if this is one.
    pub(crate) fn links(&self) -> Option<&Links> {
        self.links.as_deref()
    }

    pub(crate) fn now(&self) -> Moment {
        self.settings.now()
    }

    /// What a link says of this call and the question under this key.
    pub(crate) fn handle(&self, key: &str) -> Handle {
        let question = self.run().digester().of(Of::Link, key.as_bytes());
        Handle::new(&question, self.deadline, self.subject.as_deref())
    }

    /// The secret of the call, and what makes digests of it.
    pub(super) fn secret(&self) -> (Secret, Box<Digester>) {
        let mut run = self.run();
        let secret = run.secret.clone();
        let digester = run.digester.take();
        let digester = digester.unwrap_or_else(|| Box::new(secret.digester()));
        (secret, digester)
    }

    pub(super) fn deadline(&self) -> Moment {
        self.deadline
    }

    pub(super) fn next_ledger(&self, sent: impl Fn(&str) -> bool) -> Ledger {
        self.run().asking.next_ledger(sent)
    }

    /// How long an answer is held back that asks nothing but to come back later, if this is one.
    pub(crate) fn later(&self) -> Option<Duration> {
        self.run().later.map(|(span, _)| span)
    }

    /// What is asked, together with what the author built.
    pub(crate) fn questions(&self, by_hand: Option<InputRequired>) -> Option<InputRequired> {
        let mut run = self.run();
        let mut all = by_hand;
        for (key, request) in run.asking.take_questions() {
            all = Some(match all {
                None => InputRequired::ask(key, request),
                Some(all) => all.and(key, request),
            });
        }
        match (all, run.later) {
            (None, Some(_)) => Some(InputRequired::later("")),
            (all, _) => {
                run.later = None;
                all
            }
        }
    }
}

impl Run {
    fn digester(&mut self) -> &mut Digester {
        (self.digester).get_or_insert_with(|| Box::new(self.secret.digester()))
    }

    /// What a question is known by.
    pub(crate) fn digest(&mut self, canonical: &[u8]) -> Digest {
        self.digester().of(Of::Question, canonical)
    }

    /// The same in every round of this call, and in no other.
    pub(crate) fn key(&mut self, key: &str) -> Digest {
        self.digester().of(Of::Key, key.as_bytes())
    }

    pub(crate) fn flow(&mut self) -> FlowId {
        self.digester().flow()
    }

    /// What a step is known by in the journal.
    pub(super) fn step(&mut self, key: &str) -> StepId {
        StepId(self.digester().of(Of::Step, key.as_bytes()))
    }

    /// Stands for all that a step of this run may depend on.
    pub(super) fn upon(&mut self) -> Fingerprint {
        let upon = self.asking.upon(&self.beside);
        Fingerprint(self.digester().of(Of::Upon, &upon))
    }

    /// Asks to come back later, on behalf of `what`.
    pub(crate) fn wait(&mut self, span: Duration, what: &'static str) {
        self.later = Some((span, what));
    }

    /// What asked for that.
    pub(crate) fn waits_for(&self) -> Option<&'static str> {
        self.later.map(|(_, what)| what)
    }
}
