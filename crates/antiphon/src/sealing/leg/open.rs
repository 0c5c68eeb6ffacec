//! A state comes back.

use antiphon_core::{
    answers::Answers,
    canonical::canonical,
    ledger::{Body, Ledger},
    negotiate::shown,
    seal::{
        claims::Claims,
        digest::{Digester, Of, Secret},
        guard::{Fingerprint, StateId},
        refusal::Refusal,
        spill::Handle,
    },
};

use super::{Bound, Leg, Opened};
use crate::{
    engine::observe::goes_on,
    raw::{self, Error, Round},
    sealing::{
        Sealing,
        protect::{Trouble, body_of},
    },
};

impl<'a> Leg<'a> {
    /// Opens the state that a request brings.
    ///
    /// # Errors
    /// The one error for a state that is refused, or that it cannot be checked at present.
    pub(crate) async fn open(
        sealing: &'a Sealing,
        call: &raw::Call<'_>,
        bound: Bound<'a>,
        round: Round<'a>,
    ) -> Result<Self, Error> {
        let mut leg = Self::first(sealing, bound);
        let answers = round.answers()?;
        let Some(state) = round.state else {
            if !answers.is_empty() {
                let target = &*shown(bound.target);
                tracing::debug!(target, "answers came that nobody had asked for; ignored");
            }
            return Ok(leg);
        };
        let mut flow = None;
        match leg.try_open(call, state, &answers, &mut flow).await {
            Ok((claims, ledger, mut digester)) => {
                let fingerprint = fingerprint(&ledger, &answers, &mut digester)?;
                leg.answers = answers.only(|key| ledger.asks(key));
                goes_on(
                    || digester.flow(),
                    claims.round,
                    leg.answers.keys(),
                    leg.settings.now().since(claims.issued),
                );
                leg.opened = Some(Box::new(Opened::new(claims, ledger, digester, fingerprint)));
                Ok(leg)
            }
            Err(trouble) => Err(leg.refuse(trouble, flow)),
        }
    }

    async fn try_open(
        &self,
        call: &raw::Call<'_>,
        state: &str,
        answers: &Answers<'_>,
        flow: &mut Option<Secret>,
    ) -> Result<(Claims, Ledger, Box<Digester>), Trouble> {
        let settings = self.settings;
        if let Some(kept) = call.aside.and_then(|aside| aside.held.take()) {
            return self.go_on(&kept, flow);
        }
        let payload = settings.protect.open(state, settings.longest).await?;
        let (claims, body) = Claims::read(payload.as_bytes())?;
        // Only now is it known that this is ours to tell.
        *flow = Some(claims.secret.clone());
        let principal = self.principal(call).ok_or(Refusal::NoPrincipal)?;
        let arguments = self
            .canonical_arguments()
            .map_err(|_| Refusal::AmbiguousArguments)?;
        let request = self.request(&arguments, &principal);
        let now = settings.now();
        let mut digester = Box::new(claims.secret.digester());
        claims.check(&request, settings.audiences(), now, &mut digester)?;
        let ledger = match Body::read(body)? {
            Body::Ledger(ledger) => ledger,
            Body::Elsewhere(handle) => self.fetch(&handle, &claims.id).await?,
        };
        if ledger.pending().next().is_some() && !answers.keys().any(|key| ledger.asks(key)) {
            return Err(match answers.is_empty() {
                true => Refusal::NoAnswers,
                false => Refusal::UnsolicitedAnswers,
            }
            .into());
        }
        let unsolicited = answers.keys().filter(|key| !ledger.asks(key)).count();
        if unsolicited > 0 {
            let target = &*shown(self.bound.target);
            tracing::debug!(target, unsolicited, "answers nobody had asked for; ignored");
        }
        Ok((claims, ledger, digester))
    }

    /// What never left this process needs no proof of what it is, and does not grow old before
    /// the call does (SHIM-S-09).
    fn go_on(
        &self,
        kept: &[u8],
        flow: &mut Option<Secret>,
    ) -> Result<(Claims, Ledger, Box<Digester>), Trouble> {
        let (claims, body) = Claims::read(kept)?;
        *flow = Some(claims.secret.clone());
        if self.settings.now() >= claims.deadline {
            return Err(Refusal::Overdue.into());
        }
        let digester = Box::new(claims.secret.digester());
        match Body::read(body)? {
            Body::Ledger(ledger) => Ok((claims, ledger, digester)),
            Body::Elsewhere(_) => Err(Refusal::Contents.into()),
        }
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
    let mut bytes = Vec::new();
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
