//! A protected `requestState`, by hand: encrypted, bound to the tool, and short-lived.

use std::time::{SystemTime, UNIX_EPOCH};

use aes_gcm_siv::{
    Aes256GcmSiv, KeyInit, Nonce,
    aead::{Aead, Payload},
};
use antiphon::raw::Error;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const NONCE: usize = 12;
const LIFETIME: u64 = 600;

/// Seals and opens states under a key of this process.
pub(crate) struct Seal(Aes256GcmSiv);

#[derive(Serialize, Deserialize)]
struct Sealed {
    expires: u64,
    state: Value,
}

impl Seal {
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self(Aes256GcmSiv::new(&key.into())))
    }

    pub(crate) fn seal(&self, tool: &str, state: &Value) -> Result<String, Error> {
        let internal = || Error::internal("the state cannot be sealed");
        let sealed = Sealed {
            expires: now() + LIFETIME,
            state: state.clone(),
        };
        let plain = serde_json::to_vec(&sealed).map_err(|_| internal())?;
        let mut token = vec![0; NONCE];
        getrandom::fill(&mut token).map_err(|_| internal())?;
        let payload = Payload {
            msg: &plain,
            aad: tool.as_bytes(),
        };
        let cipher = self
            .0
            .encrypt(&nonce(&token), payload)
            .map_err(|_| internal())?;
        token.extend(cipher);
        Ok(URL_SAFE_NO_PAD.encode(token))
    }

    /// The state, or one error for whatever is wrong with it.
    pub(crate) fn open(&self, tool: &str, token: &str) -> Result<Value, Error> {
        self.try_open(tool, token)
            .ok_or_else(|| Error::invalid_params("Invalid or expired requestState"))
    }

    fn try_open(&self, tool: &str, token: &str) -> Option<Value> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (front, cipher) = bytes.split_at_checked(NONCE)?;
        let payload = Payload {
            msg: cipher,
            aad: tool.as_bytes(),
        };
        let plain = self.0.decrypt(&nonce(front), payload).ok()?;
        let sealed: Sealed = serde_json::from_slice(&plain).ok()?;
        (now() < sealed.expires).then_some(sealed.state)
    }
}

fn nonce(bytes: &[u8]) -> Nonce {
    let mut nonce = [0; NONCE];
    nonce.copy_from_slice(&bytes[..NONCE]);
    nonce.into()
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// MRTR-S-13, MRTR-S-14, MRTR-S-18
    #[test]
    fn only_an_untouched_state_of_the_same_tool_opens() {
        let seal = Seal::new().expect("randomness");
        let token = seal.seal("a", &json!({ "step": 1 })).expect("sealed");
        assert_eq!(seal.open("a", &token).expect("opens"), json!({ "step": 1 }));
        assert_eq!(
            seal.open("b", &token).expect_err("another tool").code,
            -32602
        );
        assert!(seal.open("a", &format!("{token}-TAMPERED")).is_err());
        assert!(seal.open("a", &token[..token.len() - 2]).is_err());
        assert!(seal.open("a", "").is_err());
        assert!(Seal::new().expect("randomness").open("a", &token).is_err());
    }
}
