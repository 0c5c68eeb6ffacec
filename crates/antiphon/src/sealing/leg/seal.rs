//! A state goes out.

use std::sync::atomic::Ordering;

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

impl Leg<'_> {
    pub(super) async fn seal(
        &self,
        call: &raw::Call<'_>,
        input: &InputRequired,
    ) -> Result<String, Unsealed> {
        let settings = self.settings;
        let fresh: [u8; 44] = random()?;
        let (id, rest) = fresh.split_first_chunk().expect("16 of 44 bytes");
        let (secret, nonce) = rest.split_first_chunk().expect("16 of 28 bytes");
        let nonce: [u8; NONCE] = nonce.try_into().expect("12 bytes are left");
        let (id, now) = (StateId(*id), settings.now());
        let principal = self.principal(call).ok_or_else(|| {
            tracing::error!(
                "a caller of whom Sealing::bind_principal knows nothing cannot be asked anything"
            );
            Unsealed::Request(Error::internal("It is not known who is calling"))
        })?;
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
                let arguments = self.canonical_arguments().map_err(|ambiguous| {
                    let text =
                        format!("The arguments can be read in more than one way: {ambiguous}");
                    Unsealed::Request(Error::invalid_params(text))
                })?;
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
        if let Some(aside) = call.aside {
            aside.held.put(draft.as_bytes().to_vec());
            return Ok(String::new());
        }
        if draft.sealed_len() > settings.budget
            && let Some(spill) = &settings.spill
        {
            let body = &draft.as_bytes()[claims::LENGTH..];
            let body = settings.protect.store(&body_of(&id), body).await?;
            let spilled = Spilled {
                handle: Handle(random()?),
                owner: owner(audience, &principal),
                body: &body,
                now,
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
            draft = Draft::default();
            claims.write(draft.payload());
            Body::write_handle(spilled.handle, draft.payload());
        }
        if call.headers().is_some() {
            self.tell_about_process_key();
        }
        let state = settings.protect.seal(draft, nonce).await?;
        match state.len() > envelope::encoded_len(settings.longest) {
            true => {
                tracing::error!(
                    bytes = state.len(),
                    most = settings.longest,
                    "a state is too large; carry less, or give Sealing::spill a store"
                );
                Err(Unsealed::Request(too_large()))
            }
            false => Ok(state),
        }
    }

    /// The dialogue, if something of it is to be carried on, whether or not the handler came to it.
    fn dialogue_to_carry(&self, call: &raw::Call<'_>) -> Result<Option<&Dialogue>, Unsealed> {
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
        let by_hand = input.requests().map(|(key, _)| key);
        let by_hand = by_hand.filter(|key| !ledger.asks(key));
        let state = match input.state() {
            // Nothing was asked, so what the author carries along goes on as it is.
            Some("") if dialogue.is_some_and(|it| it.later().is_some()) => self.state(),
            state => state,
        };
        let written = ledger.with(by_hand, state).write(out);
        written.map_err(|_| {
            tracing::error!("a state has parts of 16 MiB and more, or keys of more than 255 bytes");
            Unsealed::Request(too_large())
        })
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

fn too_large() -> Error {
    Error::internal("The state of this call is too large")
}
