//! States of the planted server, as text:
//!
//! ```text
//! base64url of                               .  base64url of
//!   1  form                                       16  code over all that is before it
//!   3  id of the key
//!  12  nonce, by which it is known when used
//!   n  AES-256-GCM-SIV of the claims
//!  16  tag
//! ```

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aes_gcm_siv::{
    Aes256GcmSiv,
    aead::{Aead, KeyInit, Payload},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::Flaw;

/// Form and key id, in which the letters `-` and `_` occur, so that every state has some.
const HEAD: [u8; 4] = [1, 0xff, 0xfb, 0xff];
const NONCE: usize = 12;
const TAG: usize = 16;

/// What a state is good for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) principal: Option<String>,
    pub(crate) method: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// In milliseconds.
    pub(crate) until: u64,
}

/// Why a state is refused, which only a flawed server tells.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    Spelling,
    Code,
    Expired,
    Principal,
    Method,
    Name,
    Arguments,
    Used,
}

/// Under which states are sealed; replicas have the same.
pub(crate) struct Seal {
    flaw: Option<Flaw>,
    body: Aes256GcmSiv,
    code: Aes256GcmSiv,
}

impl Seal {
    pub(crate) fn new(flaw: Option<Flaw>) -> Self {
        let key = || Aes256GcmSiv::new(&random::<32>().into());
        let (body, code) = (key(), key());
        Self { flaw, body, code }
    }

    pub(crate) fn seal(&self, claims: &Claims) -> String {
        let nonce = random::<NONCE>();
        let claims = serde_json::to_vec(claims).expect("claims are JSON");
        let mut bytes = [&HEAD[..], &nonce].concat();
        match self.flaw {
            Some(Flaw::StateReadable) => bytes.extend(claims),
            _ => {
                let sealed = self.body.encrypt(&nonce.into(), claims.as_slice());
                bytes.extend(sealed.expect("claims are short"));
            }
        }
        format!("{}.{}", URL_SAFE_NO_PAD.encode(&bytes), self.code(&bytes))
    }

    /// What is in a state, and what it is known by.
    pub(crate) fn open(&self, text: &str) -> Result<(String, Claims), Cause> {
        let text = match self.flaw {
            Some(Flaw::StateRespelled) => &*text.replace('+', "-").replace('/', "_"),
            _ => text,
        };
        let (front, code) = text.split_once('.').ok_or(Cause::Spelling)?;
        let bytes = URL_SAFE_NO_PAD.decode(front);
        let bytes = bytes.map_err(|_| Cause::Spelling)?;
        let (head, rest) = bytes.split_first_chunk().ok_or(Cause::Spelling)?;
        if *head != HEAD && self.flaw != Some(Flaw::StateTampered) {
            return Err(Cause::Code);
        }
        if !self.is_code(code, &self.code(&bytes)) {
            return Err(Cause::Code);
        }
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>().ok_or(Cause::Spelling)?;
        let claims = match self.flaw {
            Some(Flaw::StateReadable) => sealed.to_vec(),
            _ => {
                let opened = self.body.decrypt(&(*nonce).into(), sealed);
                opened.map_err(|_| Cause::Code)?
            }
        };
        let claims = serde_json::from_slice(&claims).map_err(|_| Cause::Spelling)?;
        Ok((URL_SAFE_NO_PAD.encode(nonce), claims))
    }

    fn code(&self, bytes: &[u8]) -> String {
        let covered = match self.flaw {
            Some(Flaw::StateTampered) => bytes.get(HEAD.len()..).unwrap_or_default(),
            _ => bytes,
        };
        let covered = Payload {
            msg: &[],
            aad: covered,
        };
        let code = self.code.encrypt(&[0; NONCE].into(), covered);
        let code = code.expect("a state is short");
        assert_eq!(code.len(), TAG, "there is nothing to encrypt");
        URL_SAFE_NO_PAD.encode(code)
    }

    fn is_code(&self, given: &str, right: &str) -> bool {
        match self.flaw {
            Some(Flaw::StateTruncated) => right.starts_with(given),
            // Padding and white space are no end of a state, but another spelling.
            Some(Flaw::StateExtended) => given.strip_prefix(right).is_some_and(|more| {
                let mut more = more.bytes();
                more.all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
            }),
            _ => given == right,
        }
    }
}

impl Claims {
    /// Whether they are good for a request of which these would be the claims.
    pub(crate) fn check(&self, wanted: &Self, flaw: Option<Flaw>) -> Result<(), Cause> {
        let is = |one| flaw == Some(one);
        // Who needs no token has the state's own.
        let is_borne = is(Flaw::Anonymous) && wanted.principal.is_none();
        if self.principal != wanted.principal && !is(Flaw::OtherPrincipal) && !is_borne {
            return Err(Cause::Principal);
        }
        if self.until <= now() && !is(Flaw::Expired) {
            return Err(Cause::Expired);
        }
        if is(Flaw::OtherMethod) && wanted.method != "tools/call" {
            return Ok(());
        }
        if self.method != wanted.method {
            return Err(Cause::Method);
        }
        if self.name != wanted.name && !(is(Flaw::OtherTool) && self.method == "tools/call") {
            return Err(Cause::Name);
        }
        match self.arguments == wanted.arguments {
            true => Ok(()),
            false => Err(Cause::Arguments),
        }
    }
}

impl Cause {
    /// What is said about it.
    pub(crate) fn text(self, flaw: Option<Flaw>) -> &'static str {
        match self {
            _ if flaw != Some(Flaw::ErrorTexts) => "The request state is not valid here.",
            Self::Spelling => "The request state is malformed.",
            Self::Code => "The request state was changed.",
            Self::Expired => "The request state has expired.",
            Self::Principal => "The request state belongs to somebody else.",
            Self::Method => "The request state belongs to another method.",
            Self::Name => "The request state belongs to another call.",
            Self::Arguments => "The request state belongs to other arguments.",
            Self::Used => "The request state was used before.",
        }
    }
}

/// When a state ends that is sealed now.
pub(crate) fn until(life: Duration) -> u64 {
    now() + millis(life)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    millis(since.expect("it is past 1970"))
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// So many bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("there is a generator");
    bytes
}
