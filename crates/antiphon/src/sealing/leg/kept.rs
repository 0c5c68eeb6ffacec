//! [`Kept`]: what a call carries from round to round where it never leaves this process, so that it
//! is neither written nor sealed (SHIM-S-09).

use antiphon_core::{
    ledger::{LONGEST_KEY, Ledger, Standing},
    moment::Moment,
    seal::{
        claims::{Claims, Method},
        digest::{Digest, Digester, Secret},
        guard::StateId,
        refusal::Refusal,
    },
};
use antiphon_types::InputRequired;

use super::{
    Dialogue, Leg,
    seal::{Unsealed, untold_ledger},
};
use crate::{
    engine::observe::asks,
    legacy::Aside,
    raw,
    sealing::protect::{Trouble, random},
};

/// What a call carries from one round to the next: what a state would say, and what it would hold.
pub(crate) struct Kept {
    pub(super) claims: Claims,
    pub(super) ledger: Ledger,
    pub(super) digester: Box<Digester>,
}

impl Leg<'_> {
    /// Keeps what the next round has to know.
    pub(super) fn keep(
        &self,
        call: &raw::Call<'_>,
        aside: &Aside,
        input: &InputRequired,
    ) -> Result<(), Unsealed> {
        // Asked for although nothing is bound to them: what cannot be asked in one era cannot be
        // asked in the other.
        self.known_principal(call)?;
        if self.opened.is_none() {
            self.unambiguous_arguments()?;
        }
        let dialogue = self.dialogue_to_carry(call)?;
        let (secret, mut digester) = match (dialogue, &self.opened) {
            (Some(dialogue), _) => dialogue.secret(),
            (None, opened) => {
                let secret = match opened {
                    Some(opened) => opened.claims.secret.clone(),
                    None => Secret::new(random()?),
                };
                let digester = Box::new(secret.digester());
                (secret, digester)
            }
        };
        let claims = self.kept_claims(dialogue, secret);
        let mut ledger = self.next_ledger(input, dialogue, claims.round)?;
        let keys = input.requests().map(|(key, _)| key);
        ledger.by_hand = (keys.filter(|key| !ledger.asks(key)).map(str::to_owned)).collect();
        ledger.state = self.state_to_carry(input, dialogue).map(str::to_owned);
        // In the order they have in a state.
        let answered = |standing: &Standing| matches!(standing, Standing::Answered { .. });
        (ledger.questions).sort_by_key(|question| answered(&question.standing));
        if !could_be_written(&ledger) {
            return Err(untold_ledger());
        }
        asks(|| digester.flow(), input.requests().map(|(key, _)| key));
        aside.held.put(Kept {
            claims,
            ledger,
            digester,
        });
        Ok(())
    }

    /// The round, and when the call ends.
    fn kept_claims(&self, dialogue: Option<&Dialogue>, secret: Secret) -> Claims {
        let (settings, opened) = (self.settings, self.opened.as_ref());
        let now = settings.now();
        let deadline = match (opened, dialogue) {
            (Some(opened), _) => opened.claims.deadline,
            (None, Some(dialogue)) => dialogue.deadline(),
            (None, None) => now.after(settings.call_deadline()),
        };
        Claims {
            round: opened.map_or(1, |opened| opened.claims.round.saturating_add(1)),
            ..unbound(self.bound.method, now, deadline, secret)
        }
    }

    /// What never left this process needs no proof of what it is, and does not grow old before
    /// the call does.
    pub(super) fn go_on(
        &self,
        kept: Kept,
        flow: &mut Option<Secret>,
    ) -> Result<(Claims, Ledger, Box<Digester>), Trouble> {
        *flow = Some(kept.claims.secret.clone());
        if self.settings.now() >= kept.claims.deadline {
            return Err(Refusal::Overdue.into());
        }
        Ok((kept.claims, kept.ledger, kept.digester))
    }
}

/// Claims of what never was away: nothing is compared with them, so what they are bound to is left
/// out.
fn unbound(method: Method, now: Moment, deadline: Moment, secret: Secret) -> Claims {
    let nothing = Digest::default();
    Claims {
        method,
        issued: now,
        expires: deadline,
        deadline,
        round: 1,
        id: StateId(nothing),
        secret,
        audience: nothing,
        target: nothing,
        arguments: nothing,
        principal: nothing,
    }
}

/// Whether a state could hold it.
fn could_be_written(ledger: &Ledger) -> bool {
    const LONGEST_PART: usize = 1 << 24;
    let by_hand = ledger.by_hand.iter().map(String::as_str);
    let questions = ledger.questions.iter().map(|question| &*question.key);
    let steps = ledger.steps.iter().map(|step| &*step.key);
    let results = ledger.steps.iter().map(|step| &*step.result);
    let state = ledger.state.as_deref();
    by_hand
        .chain(questions)
        .chain(steps)
        .all(|key| key.len() <= LONGEST_KEY)
        && results.chain(state).all(|part| part.len() < LONGEST_PART)
}

#[cfg(test)]
impl Kept {
    /// With this state of the author's.
    pub(crate) fn of(state: &str) -> Self {
        let secret = Secret::new(Digest::default());
        let digester = Box::new(secret.digester());
        let now = Moment::from_millis(0);
        Self {
            claims: unbound(Method::CallTool, now, now, secret),
            ledger: Ledger {
                state: Some(state.to_owned()),
                ..Ledger::default()
            },
            digester,
        }
    }

    pub(crate) fn state(&self) -> Option<&str> {
        self.ledger.state.as_deref()
    }
}
