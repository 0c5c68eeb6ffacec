//! Scopes: which texts are some, and which a caller needs.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use antiphon_core::negotiate::shown;
use antiphon_types::ErrorObject;
use serde_json::json;

use crate::raw;

/// A text that is no scope.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoScope(String);

impl fmt::Display for NoScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no scope: one has no spaces, quotes, backslashes or letters beyond ASCII",
            self.0
        )
    }
}

/// The scopes among these texts, each once, in their order (RFC 6749, section 3.3).
pub(crate) fn read(
    scopes: impl IntoIterator<Item = impl Into<String>>,
) -> Result<Vec<String>, NoScope> {
    let mut read: Vec<String> = Vec::new();
    for scope in scopes {
        let scope = scope.into();
        let plain = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        if scope.is_empty() || !scope.bytes().all(plain) {
            return Err(NoScope(scope));
        }
        // AUTH-S-17
        if scope == "offline_access" {
            tracing::warn!(
                "`offline_access` is between a client and its authorization server, and no scope \
                 of a resource: left out"
            );
        } else if !read.contains(&scope) {
            read.push(scope);
        }
    }
    Ok(read)
}

/// All scopes of both, each once, in their order.
pub(crate) fn union(first: &[String], more: &[String]) -> Vec<String> {
    let mut all = first.to_vec();
    for scope in more {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

/// The scopes that something needs: mostly none, and then nothing is looked at.
#[derive(Clone, Default)]
pub(crate) struct Required(Option<Arc<Scopes>>);

struct Scopes {
    scopes: Vec<String>,
    /// Whether somebody was told that nobody can have them.
    told: AtomicBool,
}

impl Required {
    pub(crate) fn new(scopes: Vec<String>) -> Self {
        let told = AtomicBool::new(false);
        Self((!scopes.is_empty()).then(|| Arc::new(Scopes { scopes, told })))
    }

    /// All that both need.
    pub(crate) fn and(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (_, None) => self.clone(),
            (None, _) => other.clone(),
            (Some(ours), Some(theirs)) => Self::new(union(&ours.scopes, &theirs.scopes)),
        }
    }

    pub(crate) fn scopes(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |required| &required.scopes)
    }

    /// All of these, and what else is needed now: a client is told of everything at once
    /// (AUTH-S-14).
    pub(crate) fn and_now(&self, more: &[String]) -> Vec<String> {
        union(self.scopes(), more)
    }

    /// Whether whoever calls has them.
    pub(crate) fn is_met(&self, call: &raw::Call<'_>) -> bool {
        let scopes = self.scopes();
        scopes.is_empty() || standing(call, scopes) == Standing::Sufficient
    }

    /// Refuses whoever has not got them.
    ///
    /// # Errors
    /// The error that says what is needed.
    #[inline]
    pub(crate) fn check(&self, call: &raw::Call<'_>, target: &str) -> Result<(), ErrorObject> {
        match &self.0 {
            None => Ok(()),
            Some(required) => required.check(call, target),
        }
    }
}

impl Scopes {
    #[cold]
    fn check(&self, call: &raw::Call<'_>, target: &str) -> Result<(), ErrorObject> {
        match standing(call, &self.scopes) {
            Standing::Sufficient => return Ok(()),
            Standing::Insufficient => {}
            Standing::Unknown => {
                if !self.told.swap(true, Ordering::Relaxed) {
                    let scopes = self.scopes.join(" ");
                    tracing::error!(
                        target = &*shown(target),
                        scopes,
                        "refused, as it always will be: this needs scopes, and the HTTP service \
                         asks for no tokens; add .protected(..) or .verifier(..) to it"
                    );
                }
            }
        }
        Err(call.needs_scopes(self.scopes.iter().cloned()))
    }
}

/// How it stands with a caller and some scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Sufficient,
    Insufficient,
    /// Nobody checks who calls, where somebody should.
    Unknown,
}

/// Whether whoever calls has all of these scopes.
///
/// A caller without a name has them where the transport itself says who that is: on stdio it is the
/// user who started this program (AUTH-B-03), in memory the program itself. Over HTTP it is anyone.
pub(crate) fn standing(call: &raw::Call<'_>, scopes: &[String]) -> Standing {
    let granted = call.principal().map(|principal| &principal.scopes);
    match judged(granted, call.headers().is_some(), scopes) {
        Some(true) => Standing::Sufficient,
        Some(false) => Standing::Insufficient,
        None => Standing::Unknown,
    }
}

/// Whether these scopes are among those that were granted, as far as that is known.
pub(crate) fn judged(
    granted: Option<&BTreeSet<String>>,
    over_http: bool,
    scopes: &[String],
) -> Option<bool> {
    match granted {
        Some(granted) => Some(scopes.iter().all(|scope| granted.contains(scope))),
        None if over_http => None,
        None => Some(true),
    }
}

/// What is answered to a caller who lacks scopes, on every transport.
pub(crate) fn insufficient(scopes: &[String]) -> ErrorObject {
    ErrorObject::invalid_request(format!(
        "The caller's token lacks a scope; this needs: {}",
        scopes.join(" ")
    ))
    .with_data(json!({ "reason": REASON, "requiredScopes": scopes }))
}

const REASON: &str = "insufficient_scope";

/// Whether an error is that one.
pub(crate) fn is_insufficient(error: &ErrorObject) -> bool {
    let data = error.data.as_ref();
    data.is_some_and(|data| data.get("reason").is_some_and(|reason| reason == REASON))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_once_and_only_if_they_are_some() {
        let scopes = ["files:read", "a!#[]~", "files:read", "offline_access"];
        assert_eq!(read(scopes), Ok(vec!["files:read".into(), "a!#[]~".into()]));
        for bad in ["", "a b", "a\"", "a\\", "caf\u{e9}", "a\n"] {
            assert!(read([bad]).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_is_needed_adds_up_in_order() {
        let of = |scopes: &[&str]| Required::new(scopes.iter().map(|&one| one.into()).collect());
        let both = of(&["a", "b"]).and(&of(&["b", "c"]));
        assert_eq!(both.scopes(), ["a", "b", "c"]);
        assert_eq!(of(&[]).and(&of(&["a"])).scopes(), ["a"]);
        assert_eq!(of(&["a"]).and(&of(&[])).scopes(), ["a"]);
        assert_eq!(of(&["a"]).and_now(&["b".into(), "a".into()]), ["a", "b"]);
        assert!(of(&[]).0.is_none());
    }

    /// AUTH-B-03: over HTTP nobody is trusted for having no name.
    #[test]
    fn a_caller_without_a_name() {
        let needed = ["a".to_owned()];
        let granted = BTreeSet::from(["a".to_owned()]);
        let none = BTreeSet::new();
        for (granted, over_http, judgement) in [
            (Some(&granted), true, Some(true)),
            (Some(&granted), false, Some(true)),
            (Some(&none), true, Some(false)),
            (Some(&none), false, Some(false)),
            (None, true, None),
            (None, false, Some(true)),
        ] {
            assert_eq!(judged(granted, over_http, &needed), judgement);
        }
    }
}
