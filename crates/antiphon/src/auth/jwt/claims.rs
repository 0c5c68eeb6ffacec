//! What an issuer says in a token or about one, and whether that lets somebody in now.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::token::Defect;
use crate::auth::Principal;

/// Seconds since 1970.
pub(crate) type Seconds = u64;

/// What claims have to say.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    /// One of these is among the audiences.
    pub(crate) audiences: Vec<String>,
    /// How far clocks may differ.
    pub(crate) leeway: Seconds,
}

impl Expected {
    /// Checks times, audience and binding as they are at `now`.
    pub(crate) fn check_at(&self, claims: &Map<String, Value>, now: Seconds) -> Result<(), Defect> {
        self.check_times(claims, now)?;
        self.check_audience(claims)?;
        is_bearer(claims)
    }

    pub(crate) fn check_times(
        &self,
        claims: &Map<String, Value>,
        now: Seconds,
    ) -> Result<(), Defect> {
        let at = |name: &str, malformed: Defect| match claims.get(name) {
            None => Ok(None),
            Some(value) => seconds(value).map(Some).ok_or(malformed),
        };
        if let Some(expires) = at("exp", "its end (exp) is no time")?
            && now >= expires.saturating_add(self.leeway)
        {
            return Err("it has expired (exp)");
        }
        let latest = now.saturating_add(self.leeway);
        if at("nbf", "its beginning (nbf) is no time")?.is_some_and(|begins| begins > latest) {
            return Err("it is not valid yet (nbf)");
        }
        if at("iat", "when it was issued (iat) is no time")?.is_some_and(|issued| issued > latest) {
            return Err("it was issued in the future (iat): look at the clocks");
        }
        Ok(())
    }

    /// AUTH-S-08
    pub(crate) fn check_audience(&self, claims: &Map<String, Value>) -> Result<(), Defect> {
        let ours = |text: &str| self.audiences.iter().any(|known| known == text);
        let meant = match claims.get("aud") {
            None => return Err("it does not say for whom it is (aud)"),
            Some(Value::String(one)) => ours(one),
            Some(Value::Array(many)) => many.iter().any(|one| one.as_str().is_some_and(ours)),
            Some(_) => false,
        };
        match meant {
            true => Ok(()),
            false => Err("it is for somebody else (aud)"),
        }
    }
}

/// A token that only the holder of some key may use is worth nothing without that proof (RFC 7800).
pub(crate) fn is_bearer(claims: &Map<String, Value>) -> Result<(), Defect> {
    match claims.contains_key("cnf") {
        true => Err("it is bound to a key (cnf), and came as a plain bearer token"),
        false => Ok(()),
    }
}

/// Whom the claims are about.
pub(crate) fn principal(issuer: &str, claims: Map<String, Value>) -> Result<Principal, Defect> {
    let text = |name: &str| match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
        Some(_) => Err("a name in it is not a text (sub, client_id, azp)"),
    };
    let subject = text("sub")?;
    let client = match text("client_id")? {
        Some(client) => Some(client),
        None => text("azp")?,
    };
    if subject.is_none() && client.is_none() {
        return Err("it names neither a user nor a client (sub, client_id, azp)");
    }
    let mut scopes = scopes(&claims, "scope")?;
    scopes.extend(self::scopes(&claims, "scp")?);
    let mut principal = Principal::default()
        .issued_by(issuer)
        .scopes(scopes)
        .claims(claims);
    (principal.subject, principal.client) = (subject, client);
    Ok(principal)
}

/// Scopes with spaces between them, or in a list.
fn scopes(claims: &Map<String, Value>, name: &str) -> Result<BTreeSet<String>, Defect> {
    const ODD: Defect = "its scopes are neither a text nor a list of texts (scope, scp)";
    match claims.get(name) {
        None | Some(Value::Null) => Ok(BTreeSet::new()),
        Some(Value::String(text)) => Ok(text.split_ascii_whitespace().map(Into::into).collect()),
        Some(Value::Array(list)) => {
            let texts = list.iter().map(|one| one.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().ok_or(ODD)
        }
        Some(_) => Err(ODD),
    }
}

/// A time, which may have a fraction (RFC 7519, section 2).
fn seconds(value: &Value) -> Option<Seconds> {
    if let Some(whole) = value.as_u64() {
        return Some(whole);
    }
    let time = value
        .as_f64()
        .filter(|time| time.is_finite() && *time >= 0.0)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is not negative, and what is too large is the end of time"
    )]
    Some(time as Seconds)
}
