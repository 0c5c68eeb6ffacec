//! [`Registration`]: how an authorization server knows this client.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Secret, SigningKey, discovery::Issuer, failed::Failed, moment::now, tokens::refusal};
use crate::web::{Agent, Endpoint};

/// How an authorization server knows this client: its id, and how it proves to be that one.
///
/// It belongs to the one authorization server that gave it (AUTH-C-26).
#[derive(Debug, Clone)]
pub struct Registration {
    pub(super) id: String,
    pub(super) proof: Proof,
    /// How a password is sent, if that is known.
    pub(super) method: Option<Method>,
}

/// How a client proves who it is.
#[derive(Debug, Clone)]
pub(super) enum Proof {
    /// Not at all: whoever has the code of a public client has all of it.
    None,
    Password(Secret),
    Key(SigningKey),
}

/// How a password is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Method {
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
    #[serde(rename = "none")]
    None,
}

impl Registration {
    /// A public client: it has an id, and no secret.
    pub fn public(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            proof: Proof::None,
            method: None,
        }
    }

    /// A client with a password.
    pub fn with_secret(id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        Self {
            proof: Proof::Password(secret.into()),
            ..Self::public(id)
        }
    }

    /// A client that signs (`private_key_jwt`).
    pub fn with_key(id: impl Into<String>, key: SigningKey) -> Self {
        Self {
            proof: Proof::Key(key),
            ..Self::public(id)
        }
    }

    /// How the password is sent to this authorization server.
    pub(super) fn method(&self, issuer: &Issuer) -> Method {
        let supported = issuer.token_endpoint_auth_methods_supported.as_deref();
        let offers = |method: &str| match supported {
            // RFC 8414, 2
            None => method == "client_secret_basic",
            Some(supported) => supported.iter().any(|offered| offered == method),
        };
        match self.method {
            Some(method) => method,
            None if !offers("client_secret_basic") && offers("client_secret_post") => Method::Post,
            None => Method::Basic,
        }
    }
}

/// A client that was registered on the way (RFC 7591), as it is stored by its issuer.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Registered {
    pub(super) client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token_endpoint_auth_method: Option<Method>,
    /// 0 is never.
    #[serde(default)]
    client_secret_expires_at: Option<u64>,
    /// Where people come back to. It is what we asked for, whatever the answer says.
    #[serde(default)]
    pub(super) redirect_uri: String,
}

impl Registered {
    /// Whether it is still good for people who come back there.
    pub(super) fn is_good_for(&self, redirect_uri: &str) -> bool {
        let expires = self.client_secret_expires_at.unwrap_or(0);
        self.redirect_uri == redirect_uri && (expires == 0 || expires > now())
    }

    pub(super) fn registration(&self) -> Registration {
        let public = self.token_endpoint_auth_method == Some(Method::None);
        let secret = self.client_secret.clone().filter(|_| !public);
        Registration {
            id: self.client_id.clone(),
            proof: secret.map_or(Proof::None, Proof::Password),
            method: self.token_endpoint_auth_method,
        }
    }
}

/// Registers a client (AUTH-C-20 to AUTH-C-24).
pub(super) async fn register(
    agent: &Agent,
    issuer: &Issuer,
    endpoint: &str,
    name: &str,
    redirect_uri: &str,
) -> Result<Registered, Failed> {
    let about = format!("registering with {}", issuer.shown());
    let supported = issuer.token_endpoint_auth_methods_supported.as_deref();
    let offers = |method: &str| {
        supported.is_none_or(|supported| supported.iter().any(|offered| offered == method))
    };
    // What runs on a person's machine keeps no secret.
    let method = ["none", "client_secret_basic", "client_secret_post"]
        .into_iter()
        .find(|method| offers(method))
        .unwrap_or("client_secret_basic");
    // AUTH-C-22
    let is_web =
        Endpoint::parse(redirect_uri).is_ok_and(|place| place.is_secure() && !place.is_loopback());
    let body = json!({
        "client_name": name,
        "redirect_uris": [redirect_uri],
        // AUTH-C-49
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": if is_web { "web" } else { "native" },
    });
    let json = HeaderValue::from_static("application/json");
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, json)]);
    let body = Bytes::from(body.to_string());
    let answer = agent.post(endpoint, headers, body).await;
    let answer = answer.map_err(|error| Failed::from(error).during(&about))?;
    if !answer.status.is_success() {
        return Err(refusal(&answer, &[]).during(&about));
    }
    // What stands in it may be a secret, so nothing of it is told.
    let mut registered: Registered = answer.json().map_err(|_| {
        let message = "its answer is no registration";
        Failed::new(message).during(&about)
    })?;
    registered.redirect_uri = redirect_uri.to_owned();
    Ok(registered)
}
