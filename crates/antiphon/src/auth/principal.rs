//! [`Principal`]: the party that a token stands for.

use std::{
    collections::BTreeSet,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::{Map, Value};

/// The party a token was issued to and for.
///
/// Equal principals are the same party; scopes and claims are what it may do and what else is known
/// of it, and are no part of who it is.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Principal {
    /// Who vouches: the token's issuer.
    pub issuer: Option<String>,
    /// The client the token was issued to.
    pub client: Option<String>,
    /// The user it speaks for.
    pub subject: Option<String>,
    /// What it may do.
    pub scopes: BTreeSet<String>,
    /// What else its issuer says.
    claims: Option<Arc<Map<String, Value>>>,
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.issuer == other.issuer && self.client == other.client && self.subject == other.subject
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.issuer, &self.client, &self.subject).hash(state);
    }
}

impl Principal {
    /// A principal known by its subject.
    pub fn subject(subject: impl Into<String>) -> Self {
        Self {
            subject: Some(subject.into()),
            ..Self::default()
        }
    }

    /// With this issuer.
    pub fn issued_by(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// With this client.
    pub fn through(mut self, client: impl Into<String>) -> Self {
        self.client = Some(client.into());
        self
    }

    /// With these scopes.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// With these claims, for handlers that look at one.
    pub fn claims(mut self, claims: Map<String, Value>) -> Self {
        self.claims = Some(Arc::new(claims));
        self
    }

    /// What its issuer says under this name, such as a tenant or an address; nothing if it says
    /// nothing, or what is no `T`.
    ///
    /// ```
    /// # use antiphon::auth::Principal;
    /// async fn invoices(who: Principal) -> String {
    ///     let tenant: Option<String> = who.claim("tenant");
    ///     format!("Invoices of {}", tenant.as_deref().unwrap_or("nobody"))
    /// }
    /// # let _ = antiphon::Server::<()>::new("shop", "1").tool("invoices", invoices);
    /// ```
    pub fn claim<'a, T: Deserialize<'a>>(&'a self, name: &str) -> Option<T> {
        T::deserialize(self.claims.as_ref()?.get(name)?).ok()
    }
}

/// Nothing of the claims: who knows what they are.
impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal")
            .field("issuer", &self.issuer)
            .field("client", &self.client)
            .field("subject", &self.subject)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scopes_are_no_part_of_who_one_is() {
        let ada = Principal::subject("ada");
        assert_eq!(ada.clone().scopes(["read"]), ada);
        assert_ne!(ada.clone().issued_by("https://a"), ada);
        assert_ne!(ada.clone().through("app"), ada);
    }

    #[test]
    fn claims_are_there_to_be_read_and_not_shown() {
        let Value::Object(claims) = json!({"tenant": "canary", "level": 3}) else {
            unreachable!("an object")
        };
        let ada = Principal::subject("ada").claims(claims);
        assert_eq!(ada, Principal::subject("ada"));
        assert_eq!(ada.claim::<String>("tenant").as_deref(), Some("canary"));
        assert_eq!(ada.claim::<u8>("level"), Some(3));
        assert_eq!(ada.claim::<String>("level"), None);
        assert_eq!(ada.claim::<String>("none"), None);
        assert!(!format!("{ada:?}").contains("canary"));
    }
}
