//! [`Claims`]: what a state says of itself, and of the request it belongs to.
//!
//! ```text
//!   1  method: 1 tools/call, 2 prompts/get, 3 resources/read
//!   6  issued at, in milliseconds since 1970, big-endian as all numbers
//!   6  expires at
//!   6  the whole call expires at
//!   2  round, counted from 1
//!  16  id of this state
//!  16  secret of the call
//!  16  digest of the audience
//!  16  digest of the target: the name, or the URI byte for byte
//!  16  digest of the canonical arguments
//!  16  digest of the principal
//! ```

use std::time::Duration;

use super::{
    digest::{Digest, Digester, Of, Secret},
    guard::StateId,
    refusal::Refusal,
};
use crate::moment::Moment;

/// By how much clocks may differ.
pub const SKEW: Duration = Duration::from_secs(30);

/// Bytes that claims take.
pub const LENGTH: usize = 1 + 3 * 6 + 2 + 2 * 16 + 4 * 16;

/// What a state says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The method it was made for.
    pub method: Method,
    /// When it was made.
    pub issued: Moment,
    /// From when on it is refused.
    pub expires: Moment,
    /// From when on every state of the call is refused.
    pub deadline: Moment,
    /// Which round of the call it ends, counted from 1.
    pub round: u16,
    /// This state and no other.
    pub id: StateId,
    /// The same in all rounds of the call.
    pub secret: Secret,
    /// Whose it is.
    pub audience: Digest,
    /// The tool, prompt or resource.
    pub target: Digest,
    /// The arguments.
    pub arguments: Digest,
    /// Who called.
    pub principal: Digest,
}

/// The methods that may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// `tools/call`
    CallTool,
    /// `prompts/get`
    GetPrompt,
    /// `resources/read`
    ReadResource,
}

/// The request a state is made for, or comes back with.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Its method.
    pub method: Method,
    /// The tool's or the prompt's name, or the resource's URI.
    pub target: &'a str,
    /// Its arguments, canonical.
    pub arguments: &'a [u8],
    /// Who calls; see [`principal`].
    pub principal: &'a [u8],
}

/// How long states are good for.
#[derive(Debug, Clone, Copy)]
pub struct Life {
    /// What time it is.
    pub now: Moment,
    /// How long this state is good.
    pub ttl: Duration,
    /// When the call ends, if this is its first state.
    pub deadline: Moment,
}

impl Claims {
    /// The claims of a call's first state. The digester is that of its secret.
    pub fn first(
        request: &Request<'_>,
        audience: &str,
        life: Life,
        id: StateId,
        secret: Secret,
        digester: &mut Digester,
    ) -> Self {
        let deadline = life.deadline;
        Self {
            method: request.method,
            issued: life.now,
            expires: life.now.after(life.ttl).min(deadline),
            deadline,
            round: 1,
            id,
            audience: digester.of(Of::Audience, audience.as_bytes()),
            target: digester.of(Of::Target, request.target.as_bytes()),
            arguments: digester.of(Of::Arguments, request.arguments),
            principal: digester.of(Of::Principal, request.principal),
            secret,
        }
    }

    /// The claims of the state after this one, made for the request that this one was checked
    /// against. The digester is that of the call's secret.
    pub fn next(
        &self,
        audience: &str,
        now: Moment,
        ttl: Duration,
        id: StateId,
        digester: &mut Digester,
    ) -> Self {
        Self {
            issued: now,
            expires: now.after(ttl).min(self.deadline),
            round: self.round.saturating_add(1),
            id,
            audience: digester.of(Of::Audience, audience.as_bytes()),
            ..self.clone()
        }
    }

    /// Whether a state with these claims may come back with this request, at this time, to a
    /// server of one of these names. The digester is that of the call's secret.
    ///
    /// # Errors
    /// Why not.
    pub fn check<'n>(
        &self,
        request: &Request<'_>,
        audiences: impl IntoIterator<Item = &'n str>,
        now: Moment,
        digester: &mut Digester,
    ) -> Result<(), Refusal> {
        if self.issued > now.after(SKEW) {
            return Err(Refusal::Future);
        }
        if now >= self.deadline {
            return Err(Refusal::Overdue);
        }
        if now >= self.expires {
            return Err(Refusal::Expired);
        }
        let mut is = |what, bytes: &[u8], digest: &Digest| digester.of(what, bytes) == *digest;
        let mut audiences = audiences.into_iter();
        if !audiences.any(|name| is(Of::Audience, name.as_bytes(), &self.audience)) {
            return Err(Refusal::Audience);
        }
        if request.method != self.method {
            return Err(Refusal::Method);
        }
        if !is(Of::Target, request.target.as_bytes(), &self.target) {
            return Err(Refusal::Target);
        }
        if !is(Of::Principal, request.principal, &self.principal) {
            return Err(Refusal::Principal);
        }
        if !is(Of::Arguments, request.arguments, &self.arguments) {
            return Err(Refusal::Arguments);
        }
        Ok(())
    }

    /// Writes them.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(match self.method {
            Method::CallTool => 1,
            Method::GetPrompt => 2,
            Method::ReadResource => 3,
        });
        for moment in [self.issued, self.expires, self.deadline] {
            out.extend_from_slice(&moment.as_millis().to_be_bytes()[2..]);
        }
        out.extend_from_slice(&self.round.to_be_bytes());
        for bytes in [
            &self.id.0,
            self.secret.as_bytes(),
            &self.audience,
            &self.target,
            &self.arguments,
            &self.principal,
        ] {
            out.extend_from_slice(bytes);
        }
    }

    /// Reads them; the rest is the body.
    ///
    /// # Errors
    /// If they are not there.
    pub fn read(payload: &[u8]) -> Result<(Self, &[u8]), Refusal> {
        let mut rest = Reader(payload);
        let method = match rest.take::<1>()? {
            [1] => Method::CallTool,
            [2] => Method::GetPrompt,
            [3] => Method::ReadResource,
            _ => return Err(Refusal::Contents),
        };
        let claims = Self {
            method,
            issued: rest.moment()?,
            expires: rest.moment()?,
            deadline: rest.moment()?,
            round: u16::from_be_bytes(rest.take()?),
            id: StateId(rest.take()?),
            secret: Secret::new(rest.take()?),
            audience: rest.take()?,
            target: rest.take()?,
            arguments: rest.take()?,
            principal: rest.take()?,
        };
        Ok((claims, rest.0))
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Refusal::Contents)?;
        self.0 = rest;
        Ok(*bytes)
    }

    fn moment(&mut self) -> Result<Moment, Refusal> {
        let [a, b, c, d, e, f] = self.take()?;
        Ok(Moment::from_millis(u64::from_be_bytes([
            0, 0, a, b, c, d, e, f,
        ])))
    }
}

/// What [`principal`] makes of one of whom none of the four parts is known.
pub const NOBODY: &[u8] = &[0; 4];

/// Who calls, as bytes: different for different parties, whatever their names are. Each part is
/// there or not, and what is not there is not the same as an empty one.
pub fn principal(parts: &[Option<&str>], out: &mut Vec<u8>) {
    for part in parts {
        match part {
            None => out.push(0),
            Some(text) => {
                out.push(1);
                out.extend_from_slice(&(text.len() as u64).to_be_bytes());
                out.extend_from_slice(text.as_bytes());
            }
        }
    }
}
