//! A state comes back.

use antiphon_core::{
    answers::Answers,
    canonical::canonical,
    ledger::{Body, Ledger},
    negotiate::shown,
    seal::{
        claims::Claims,
        digest::{Digest, Digester, Of, Secret},
        guard::{Fingerprint, StateId},
        refusal::Refusal,
        spill::Handle,
    },
};

use super::{Leg, Opened};
use crate::{
    engine::observe::goes_on,
    raw::{self, Error, Round},
    sealing::protect::{Trouble, body_of},
};

/// What was read from a state, and what makes its digests.
type Read<T> = (Claims, T, Box<Digester>);

impl<'a> Leg<'a> {
    /// Opens the state that a request brings, if it brings one.
    ///
    /// # Errors
    /// The one error for a state that is refused, or that it cannot be checked at present.
    pub(crate) async fn open(
        &mut self,
        call: &raw::Call<'_>,
        round: Round<'a>,
    ) -> Result<(), Error> {
        if round.is_first() || self.open_here(call, round)? {
            return Ok(());
        }
        // What few servers need is kept out of the future that all of them have.
        Box::pin(self.open_elsewhere(call, round)).await
    }

    /// The same at once. Nothing is done, and `false`, if a codec is needed for that, or what a store
    /// keeps.
    fn open_here(&mut self, call: &raw::Call<'_>, round: Round<'a>) -> Result<bool, Error> {
        let answers = round.answers()?;
        let Some(state) = round.state else {
            if !answers.is_empty() {
                let target = &*shown(self.bound.target);
                tracing::debug!(target, "answers came that nobody had asked for; ignored");
            }
            return Ok(true);
        };
        let (settings, mut flow) = (self.settings, None);
        let read = match call.aside.and_then(|aside| aside.held.take()) {
            Some(kept) => self.go_on(kept, &mut flow),
            None if settings.protect.codec().is_some() => return Ok(false),
            None => match settings
                .protect
                .open_here(state, settings.longest)
                .and_then(|payload| self.read(call, payload.as_bytes(), &mut flow))
            {
                Ok((claims, Body::Ledger(ledger), digester)) => Ok((claims, ledger, digester)),
                Ok((_, Body::Elsewhere(_), _)) => return Ok(false),
                Err(trouble) => Err(trouble),
            },
        };
        match read {
            Ok(read) => self.opened(call, answers, read, flow).map(|()| true),
            Err(trouble) => Err(self.refuse(trouble, flow)),
        }
    }

    /// The same with a codec, or what a store keeps.
    async fn open_elsewhere(
        &mut self,
        call: &raw::Call<'_>,
        round: Round<'a>,
    ) -> Result<(), Error> {
        let mut flow = None;
        match self
            .try_open(call, round.state.unwrap_or_default(), &mut flow)
            .await
        {
            Ok(read) => self.opened(call, round.answers()?, read, flow),
            Err(trouble) => Err(self.refuse(trouble, flow)),
        }
    }

    async fn try_open(
        &self,
        call: &raw::Call<'_>,
        state: &str,
        flow: &mut Option<Secret>,
    ) -> Result<Read<Ledger>, Trouble> {
        let settings = self.settings;
        let payload = settings.protect.open(state, settings.longest).await?;
        let (claims, body, digester) = self.read(call, payload.as_bytes(), flow)?;
        let ledger = match body {
            Body::Ledger(ledger) => ledger,
            Body::Elsewhere(handle) => self.fetch(&handle, &claims.id).await?,
        };
        Ok((claims, ledger, digester))
    }

    /// Reads what was sealed, if it is of this request and good here and now.
    fn read(
        &self,
        call: &raw::Call<'_>,
        payload: &[u8],
        flow: &mut Option<Secret>,
    ) -> Result<Read<Body>, Trouble> {
        let (claims, body) = Claims::read(payload)?;
        // Only now is it known that this is ours to tell.
        *flow = Some(claims.secret.clone());
        let principal = self.principal(call).ok_or(Refusal::NoPrincipal)?;
        let arguments = self
            .canonical_arguments()
            .map_err(|_| Refusal::AmbiguousArguments)?;
        let request = self.request(&arguments, &principal);
        let now = self.settings.now();
        let mut digester = Box::new(claims.secret.digester());
        claims.check(&request, self.settings.audiences(), now, &mut digester)?;
        Ok((claims, Body::read(body)?, digester))
    }

    /// With what was read, if the answers are to what was asked.
    fn opened(
        &mut self,
        call: &raw::Call<'_>,
        answers: Answers<'a>,
        (claims, ledger, mut digester): Read<Ledger>,
        flow: Option<Secret>,
    ) -> Result<(), Error> {
        if ledger.pending().next().is_some() && !answers.keys().any(|key| ledger.asks(key)) {
            let refusal = match answers.is_empty() {
                true => Refusal::NoAnswers,
                false => Refusal::UnsolicitedAnswers,
            };
            return Err(self.refuse(refusal.into(), flow));
        }
        let unsolicited = answers.keys().filter(|key| !ledger.asks(key)).count();
        if unsolicited > 0 {
            let target = &*shown(self.bound.target);
            tracing::debug!(target, unsolicited, "answers nobody had asked for; ignored");
        }
        // Nobody else can bring what never left this process, with whatever answers.
        let fingerprint = match call.aside {
            None => fingerprint(&ledger, &answers, &mut digester)?,
            Some(_) => Fingerprint(Digest::default()),
        };
        self.answers = answers.only(|key| ledger.asks(key));
        goes_on(
            || digester.flow(),
            claims.round,
            self.answers.keys(),
            || self.settings.now().since(claims.issued),
        );
        self.opened = Some(Box::new(Opened::new(claims, ledger, digester, fingerprint)));
        Ok(())
    }

    /// A ledger that is kept in the spill.
    async fn fetch(&self, handle: &Handle, id: &StateId) -> Result<Ledger, Trouble> {
        let spill = self.settings.spill.as_deref().ok_or(Refusal::BodyMissing)?;
        let body = spill.get(handle, self.settings.now()).await;
        let body = body.map_err(|error| Trouble::Unavailable(format!("the spill is {error}")))?;
        let body = body.ok_or(Refusal::BodyMissing)?;
        let body = self.settings.protect.restore(&body_of(id), body).await?;
        match Body::read(&body)? {
            Body::Ledger(ledger) => Ok(ledger),
            Body::Elsewhere(_) => Err(Refusal::Contents.into()),
        }
    }
}

/// Stands for the answers to what was asked.
fn fingerprint(
    ledger: &Ledger,
    answers: &Answers<'_>,
    digester: &mut Digester,
) -> Result<Fingerprint, Error> {
    let mut bytes = Vec::with_capacity(128);
    for key in ledger.pending() {
        match answers.raw(key) {
            None => bytes.push(b'-'),
            Some(answer) => canonical(answer.get(), &mut bytes).map_err(|ambiguous| {
                Error::invalid_params(format!("`inputResponses` cannot be read: {ambiguous}"))
            })?,
        }
    }
    Ok(Fingerprint(digester.of(Of::Answers, &bytes)))
}
