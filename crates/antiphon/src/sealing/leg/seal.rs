//! A state goes out.

use std::{borrow::Cow, sync::atomic::Ordering};

use antiphon_core::{
    ledger::{Body, Ledger},
    negotiate::shown,
    seal::{
        NONCE,
        claims::{self, Claims, Life, SKEW},
        digest::Secret,
        envelope::{self, Draft},
        guard::StateId,
        spill::{Handle, Kept, Owner, Spilled},
    },
};
use antiphon_types::InputRequired;
use sha2::{Digest as _, Sha256};

use super::{Dialogue, Leg, unavailable};
use crate::{
    engine::observe::asks,
    raw::{self, Error},
    sealing::protect::{Protect, Trouble, body_of, random},
};

/// A state before it is sealed.
struct Unsent {
    draft: Draft,
    nonce: [u8; NONCE],
    claims: Claims,
    principal: Cow<'static, [u8]>,
}

impl Leg<'_> {
    /// Whether questions can be sealed without waiting for a codec or a store.
    pub(super) fn seals_here(&self) -> bool {
        self.settings.protect.codec().is_none() && self.settings.spill.is_none()
    }

    /// Seals questions at once, where [that can be done](Self::seals_here).
    pub(super) fn seal_here(
        &self,
        call: &raw::Call<'_>,
        input: &InputRequired,
    ) -> Result<String, Unsealed> {
        match self.draft(call, input)? {
            None => Ok(String::new()),
            Some(unsent) => {
                let state = self
                    .settings
                    .protect
                    .seal_here(unsent.draft, unsent.nonce)?;
                self.measured(state)
            }
        }
    }

    /// Seals questions.
    pub(super) async fn seal(
        &self,
        call: &raw::Call<'_>,
        input: &InputRequired,
    ) -> Result<String, Unsealed> {
        let settings = self.settings;
        let Some(mut unsent) = self.draft(call, input)? else {
            return Ok(String::new());
        };
        if unsent.draft.sealed_len() > settings.budget
            && let Some(spill) = &settings.spill
        {
            let claims = &unsent.claims;
            let body = &unsent.draft.as_bytes()[claims::LENGTH..];
            let body = settings.protect.store(&body_of(&claims.id), body).await?;
            let spilled = Spilled {
                handle: Handle(random()?),
                owner: owner(settings.own_audience(), &unsent.principal),
                body: &body,
                now: claims.issued,
                keep_until: claims.expires.after(SKEW),
                quota: settings.quota,
            };
            match spill.put(&spilled).await {
                Ok(Kept::Kept) => {}
                Ok(refused) => return Err(refused_body(refused)),
                Err(error) => {
                    return Err(Trouble::Unavailable(format!("the spill is {error}")).into());
                }
            }
            let mut draft = Draft::default();
            claims.write(draft.payload());
            Body::write_handle(spilled.handle, draft.payload());
            unsent.draft = draft;
        }
        self.measured(settings.protect.seal(unsent.draft, unsent.nonce).await?)
    }

    /// What is to be sealed; nothing if it stays in this process.
    fn draft(
        &self,
        call: &raw::Call<'_>,
        input: &InputRequired,
    ) -> Result<Option<Unsent>, Unsealed> {
        let settings = self.settings;
        if let Some(aside) = call.aside {
            self.keep(call, aside, input)?;
            return Ok(None);
        }
        let fresh: [u8; 44] = random()?;
        let (id, rest) = fresh.split_first_chunk().expect("16 of 44 bytes");
        let (secret, nonce) = rest.split_first_chunk().expect("16 of 28 bytes");
        let nonce: [u8; NONCE] = nonce.try_into().expect("12 bytes are left");
        let (id, now) = (StateId(*id), settings.now());
        let principal = self.known_principal(call)?;
        let audience = settings.own_audience();
        let dialogue = self.dialogue_to_carry(call)?;
        let (secret, mut digester) = match (dialogue, &self.opened) {
            (Some(dialogue), _) => dialogue.secret(),
            (None, opened) => {
                let secret = match opened {
                    Some(opened) => opened.claims.secret.clone(),
                    None => Secret::new(*secret),
                };
                let digester = Box::new(secret.digester());
                (secret, digester)
            }
        };
        let claims = match &self.opened {
            Some(opened) => opened
                .claims
                .next(audience, now, settings.ttl, id, &mut digester),
            None => {
                let arguments = self.unambiguous_arguments()?;
                let deadline = dialogue.map(|dialogue| dialogue.deadline());
                let life = Life {
                    now,
                    ttl: settings.ttl,
                    deadline: deadline.unwrap_or_else(|| now.after(settings.call_deadline())),
                };
                let request = self.request(&arguments, &principal);
                Claims::first(&request, audience, life, id, secret, &mut digester)
            }
        };
        let mut draft = Draft::default();
        claims.write(draft.payload());
        self.write_ledger(input, dialogue, claims.round, draft.payload())?;
        asks(|| digester.flow(), input.requests().map(|(key, _)| key));
        if call.headers().is_some() {
            self.tell_about_process_key();
        }
        Ok(Some(Unsent {
            draft,
            nonce,
            claims,
            principal,
        }))
    }

    /// A state, unless it is larger than one that would be taken back.
    fn measured(&self, state: String) -> Result<String, Unsealed> {
        let longest = self.settings.longest;
        match state.len() > envelope::encoded_len(longest) {
            true => {
                tracing::error!(
                    bytes = state.len(),
                    most = longest,
                    "a state is too large; carry less, or give Sealing::spill a store"
                );
                Err(Unsealed::Request(too_large()))
            }
            false => Ok(state),
        }
    }

    /// Who calls, and is asked something.
    pub(super) fn known_principal(
        &self,
        call: &raw::Call<'_>,
    ) -> Result<Cow<'static, [u8]>, Unsealed> {
        self.principal(call).ok_or_else(|| {
            tracing::error!(
                "a caller of whom Sealing::bind_principal knows nothing cannot be asked anything"
            );
            Unsealed::Request(Error::internal("It is not known who is calling"))
        })
    }

    /// The arguments in their one spelling.
    pub(super) fn unambiguous_arguments(&self) -> Result<Vec<u8>, Unsealed> {
        self.canonical_arguments().map_err(|ambiguous| {
            let text = format!("The arguments can be read in more than one way: {ambiguous}");
            Unsealed::Request(Error::invalid_params(text))
        })
    }

    /// The dialogue, if something of it is to be carried on, whether or not the handler came to it.
    pub(super) fn dialogue_to_carry(
        &self,
        call: &raw::Call<'_>,
    ) -> Result<Option<&Dialogue>, Unsealed> {
        let carries = self.opened.as_ref().is_some_and(|opened| opened.carries);
        let dialogue = match carries {
            true => Some(self.dialogue(call).map_err(Unsealed::Request)?),
            false => self.begun_dialogue(),
        };
        Ok(dialogue.map(|dialogue| &**dialogue))
    }

    /// Writes what was asked and done, which questions are pending, and the author's state.
    fn write_ledger(
        &self,
        input: &InputRequired,
        dialogue: Option<&Dialogue>,
        round: u16,
        out: &mut Vec<u8>,
    ) -> Result<(), Unsealed> {
        let ledger = self.next_ledger(input, dialogue, round)?;
        let by_hand = input.requests().map(|(key, _)| key);
        let by_hand = by_hand.filter(|key| !ledger.asks(key));
        let state = self.state_to_carry(input, dialogue);
        let written = ledger.with(by_hand, state).write(out);
        written.map_err(|_| untold_ledger())
    }

    /// What was asked and done, and how many rounds asked.
    pub(super) fn next_ledger(
        &self,
        input: &InputRequired,
        dialogue: Option<&Dialogue>,
        round: u16,
    ) -> Result<Ledger, Unsealed> {
        let before = self.opened.as_ref().map_or(0, |opened| opened.rounds);
        let asks = input.requests().len() > 0;
        if asks && before >= self.settings.asking.rounds {
            tracing::error!(
                target = &*shown(self.bound.target),
                before,
                "a call has asked in too many rounds; see Sealing::ask_limits"
            );
            let text = format!("This call has asked in {before} rounds; it may ask in no more");
            return Err(Unsealed::Request(Error::internal(text)));
        }
        let rounds = before.saturating_add(asks.into());
        let mut ledger = match dialogue {
            Some(dialogue) => {
                dialogue.next_ledger(|key| input.requests().any(|(sent, _)| sent == key))
            }
            None => Ledger::default(),
        };
        ledger.rounds = (rounds != round).then_some(rounds);
        Ok(ledger)
    }

    /// What the author carries along.
    pub(super) fn state_to_carry<'s>(
        &'s self,
        input: &'s InputRequired,
        dialogue: Option<&Dialogue>,
    ) -> Option<&'s str> {
        match input.state() {
            // Nothing was asked, so what the author carries along goes on as it is.
            Some("") if dialogue.is_some_and(|it| it.later().is_some()) => self.state(),
            state => state,
        }
    }

    fn tell_about_process_key(&self) {
        let settings = self.settings;
        if matches!(settings.protect, Protect::Process(_))
            && !settings.told.process_key.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                "questions are sealed under a random key of this process: an answer that reaches \
                 another replica, or this server after a restart, is refused; give Sealing::keys \
                 keys that all replicas have"
            );
        }
    }
}

/// Why questions were not sealed.
pub(super) enum Unsealed {
    /// The request is not one that can be asked about.
    Request(Error),
    Trouble(Trouble),
}

impl From<Trouble> for Unsealed {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

fn refused_body(refused: Kept) -> Unsealed {
    match refused {
        Kept::OverQuota => {
            tracing::warn!("a caller has too much in the spill; see Sealing::spill_quota");
            Unsealed::Request(Error::internal(
                "Too much is kept for this caller; try again later",
            ))
        }
        _ => {
            tracing::error!("the spill is full");
            Unsealed::Request(unavailable())
        }
    }
}

/// The same for all that one principal leaves behind at one server.
fn owner(audience: &str, principal: &[u8]) -> Owner {
    let mut hash = Sha256::new();
    hash.update((audience.len() as u64).to_be_bytes());
    hash.update(audience);
    hash.update(principal);
    let hash: [u8; 32] = hash.finalize().into();
    let (owner, _) = hash.split_first_chunk().expect("16 of 32 bytes");
    Owner(*owner)
}

/// A ledger that is larger than any can be.
pub(super) fn untold_ledger() -> Unsealed {
    tracing::error!("a state has parts of 16 MiB and more, or keys of more than 255 bytes");
    Unsealed::Request(too_large())
}

fn too_large() -> Error {
    Error::internal("The state of this call is too large")
}
