//! [`Receipt`]: what was confirmed, by whom and when, to be kept.

use std::fmt;

use antiphon_core::canonical::canonical;
use antiphon_types::Implementation;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::sealing::Dialogue;

/// What a [`Receipt`] says of itself.
const NOTE: &str = "The client says that its user agreed. This is no proof of a person.";

/// A record of what was confirmed, to be kept or handed on: what the question said, about what, to
/// whom, and when. Unlike a [`Confirmed`](crate::Confirmed) it lets nobody do anything.
///
/// It records what the client says: that its user agreed. No signature is on it, and nothing proves
/// that a person saw the question. `Debug` leaves out the message, which shows the values.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Receipt {
    /// The key of the question.
    pub key: String,
    /// What the user was shown, as the handler that got the answer would show it: of a map whose
    /// order is not fixed, the order may differ, and with it what of more than 32 is left out.
    pub message: String,
    /// The SHA-256 of what was confirmed, of all of it, also where the message cuts it short: of
    /// its [canonical form](antiphon_core::canonical), in hexadecimal digits.
    pub sha256: String,
    /// The method of the call, such as `tools/call`.
    pub method: String,
    /// The tool, the prompt or the resource.
    pub target: String,
    /// Who vouches for the caller: the token's issuer.
    pub issuer: Option<String>,
    /// The client that the token was issued to.
    pub client: Option<String>,
    /// The user it speaks for, by the bearer verifier or by
    /// [`Sealing::bind_principal`](crate::sealing::Sealing::bind_principal).
    pub subject: Option<String>,
    /// What the client calls itself. Anybody can say anything.
    pub client_name: Option<String>,
    /// The version it says it has.
    pub client_version: Option<String>,
    /// The call in all its rounds, as logs name it: `antiphon.flow`.
    pub flow: String,
    /// When the handler got the answer, by the clock of the server, in milliseconds since the
    /// beginning of 1970 (UTC). A later round of the call has a later one.
    pub at_ms: u64,
    /// That all of this rests on what the client says, always in the same words.
    pub note: String,
}

impl Receipt {
    /// The record of an answer that was a yes.
    pub(super) fn new(dialogue: &Dialogue, key: &str, message: String, known: &Exact) -> Self {
        let caller = dialogue.caller();
        let client: Option<Implementation> = serde_json::from_str(caller.info()).ok();
        let principal = caller.principal.as_deref();
        let (client_name, client_version) = client.map(|it| (it.name, it.version)).unzip();
        Self {
            key: key.to_owned(),
            message,
            sha256: known.sha256(),
            method: caller.method.to_owned(),
            target: caller.target().to_owned(),
            issuer: principal.and_then(|who| who.issuer.clone()),
            client: principal.and_then(|who| who.client.clone()),
            subject: dialogue.subject().map(ToOwned::to_owned),
            client_name,
            client_version,
            flow: dialogue.run().flow().to_string(),
            at_ms: dialogue.now().as_millis(),
            note: NOTE.to_owned(),
        }
    }

    /// Whether it is this that was confirmed.
    pub fn is_for<A: Serialize + ?Sized>(&self, args: &A) -> bool {
        Exact::of(args).is_some_and(|exact| exact.sha256() == self.sha256)
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receipt")
            .field("key", &self.key)
            .field("sha256", &self.sha256)
            .field("method", &self.method)
            .field("target", &self.target)
            .field("issuer", &self.issuer)
            .field("client", &self.client)
            .field("subject", &self.subject)
            .field("flow", &self.flow)
            .field("at_ms", &self.at_ms)
            .finish_non_exhaustive()
    }
}

/// What is to be confirmed, to the last character.
pub(super) struct Exact {
    pub(super) json: String,
    pub(super) canonical: Vec<u8>,
}

impl Exact {
    /// Nothing if it cannot be written as JSON that can be read in one way only.
    pub(super) fn of<A: Serialize + ?Sized>(args: &A) -> Option<Self> {
        let json = serde_json::to_string(args).ok()?;
        let mut bytes = Vec::new();
        canonical(&json, &mut bytes).ok()?;
        Some(Self {
            json,
            canonical: bytes,
        })
    }

    fn sha256(&self) -> String {
        let digest = Sha256::digest(&self.canonical);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
