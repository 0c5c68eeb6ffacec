//! [`Issuer`]: an authorization server, by what it publishes about itself.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Deserializer};

use super::failed::Failed;
use crate::{
    excerpt::one_line,
    web::{Agent, Endpoint, issuer_metadata, without_secrets},
};

/// An authorization server (RFC 8414, OpenID Connect Discovery).
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Issuer {
    pub(super) issuer: String,
    #[serde(default)]
    pub(super) authorization_endpoint: Option<String>,
    #[serde(default)]
    pub(super) token_endpoint: Option<String>,
    #[serde(default)]
    pub(super) registration_endpoint: Option<String>,
    #[serde(default)]
    pub(super) code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) scopes_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) dpop_signing_alg_values_supported: Option<Vec<String>>,
    #[serde(default, deserialize_with = "flag")]
    pub(super) client_id_metadata_document_supported: bool,
    #[serde(default, deserialize_with = "flag")]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

impl Issuer {
    /// Finds out about the authorization server of this name, byte for byte (AUTH-C-06 to
    /// AUTH-C-09).
    pub(super) async fn discover(agent: &Agent, name: &str, trust: Trust) -> Result<Self, Failed> {
        let shown = one_line(without_secrets(name).as_bytes());
        let about = format!("the authorization server {shown}");
        let places = well_known(name).map_err(|why| Failed::new(why).during(&about))?;
        let found = first(agent, &places, HeaderMap::new(), trust).await;
        let Some(found) = found.map_err(|failed| failed.during(&about))? else {
            let message = "it publishes nothing about itself at its well-known places";
            return Err(Failed::new(message).during(&about));
        };
        match found.issuer == name {
            true => found.checked(trust).map_err(|failed| failed.during(&about)),
            false => Err(Failed::new(format!(
                "what it publishes is about {}; the two must be spelled alike",
                one_line(without_secrets(&found.issuer).as_bytes())
            ))
            .during(&about)),
        }
    }

    /// What the revision 2025-03-26 has in place of metadata about the server: its own origin
    /// is the authorization server, at fixed places unless that says otherwise (LAUTH-C-02 to
    /// LAUTH-C-05).
    pub(super) async fn of_origin(
        agent: &Agent,
        origin: &str,
        trust: Trust,
    ) -> Result<Self, Failed> {
        let about = format!("{origin}, as the authorization server of its own");
        let place = format!("{origin}/.well-known/oauth-authorization-server");
        let version = HeaderName::from_static("mcp-protocol-version");
        let headers = HeaderMap::from_iter([(version, HeaderValue::from_static("2025-03-26"))]);
        let found = first(agent, &[place], headers, trust).await;
        let found = found.map_err(|failed| failed.during(&about))?;
        let known = found.unwrap_or_else(|| Self {
            issuer: origin.to_owned(),
            authorization_endpoint: Some(format!("{origin}/authorize")),
            token_endpoint: Some(format!("{origin}/token")),
            registration_endpoint: Some(format!("{origin}/register")),
            // Every client of that revision has it, and there is nobody to say so.
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            token_endpoint_auth_methods_supported: None,
            scopes_supported: None,
            dpop_signing_alg_values_supported: None,
            client_id_metadata_document_supported: false,
            authorization_response_iss_parameter_supported: false,
        });
        // With or without the slash it is the same origin.
        match known.issuer.strip_suffix('/').unwrap_or(&known.issuer) == origin {
            true => known.checked(trust).map_err(|failed| failed.during(&about)),
            false => Err(Failed::new(format!(
                "what it publishes is about {}",
                one_line(without_secrets(&known.issuer).as_bytes())
            ))
            .during(&about)),
        }
    }

    /// Whether its endpoints may be used at all (AUTH-B-05, SEC-C-01).
    fn checked(self, trust: Trust) -> Result<Self, Failed> {
        let endpoints = [
            &self.authorization_endpoint,
            &self.token_endpoint,
            &self.registration_endpoint,
        ];
        for url in endpoints.into_iter().flatten() {
            trust.endpoint(url)?;
        }
        Ok(self)
    }

    /// Where tokens are asked for.
    pub(super) fn token_endpoint(&self) -> Result<&str, Failed> {
        let none = || Failed::new(format!("{} names no token endpoint", self.shown()));
        self.token_endpoint.as_deref().ok_or_else(none)
    }

    /// Where people sign in; only if a code that is stolen on the way is worth nothing (AUTH-C-52,
    /// AUTH-C-54).
    pub(super) fn authorization_endpoint(&self) -> Result<&str, Failed> {
        let none = || Failed::new(format!("{} names no authorization endpoint", self.shown()));
        let endpoint = self.authorization_endpoint.as_deref().ok_or_else(none)?;
        let methods = self.code_challenge_methods_supported.as_deref();
        match methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
            true => Ok(endpoint),
            false => Err(Failed::new(format!(
                "{} does not say that it supports PKCE with S256, without which nobody can sign \
                 in safely",
                self.shown()
            ))),
        }
    }

    /// Whether it offers a scope.
    pub(super) fn offers(&self, scope: &str) -> bool {
        let scopes = self.scopes_supported.as_deref().unwrap_or_default();
        scopes.iter().any(|offered| offered == scope)
    }

    /// Its name, for people.
    pub(super) fn shown(&self) -> String {
        one_line(without_secrets(&self.issuer).as_bytes())
    }
}

/// Which servers may be spoken to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trust {
    /// The MCP server is on this machine; then its authorization server may be, too. Otherwise
    /// nobody has any business here (SEC-C-03).
    pub(super) is_here: bool,
}

impl Trust {
    /// Reads a URL that a server gave.
    pub(super) fn endpoint(self, url: &str) -> Result<Endpoint, Failed> {
        let refused = |why: &str| {
            let url = one_line(without_secrets(url).as_bytes());
            Failed::new(format!("{url} is not used: {why}"))
        };
        // It is shown to people, and given to other programs.
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"#<>\\^`{|}".contains(&byte);
        if !url.bytes().all(is_plain) {
            return Err(refused("it must be plain ASCII, without a fragment"));
        }
        let endpoint = Endpoint::parse(url).map_err(|why| refused(&why))?;
        match endpoint.is_loopback() {
            true if self.is_here => Ok(endpoint),
            true => Err(refused("it is on this machine, and the server is not")),
            false if endpoint.is_secure() => Ok(endpoint),
            false => Err(refused("it must be https")),
        }
    }
}

/// Where an authorization server publishes what there is to know, in order (AUTH-C-07, AUTH-C-08).
fn well_known(issuer: &str) -> Result<Vec<String>, String> {
    Endpoint::parse(issuer)?;
    if issuer.contains(['?', '#']) {
        return Err("an issuer has neither query nor fragment".to_owned());
    }
    Ok(issuer_metadata(issuer))
}

/// What the first of these places says that says anything.
async fn first(
    agent: &Agent,
    places: &[String],
    headers: HeaderMap,
    trust: Trust,
) -> Result<Option<Issuer>, Failed> {
    let mut ill = None;
    for place in places {
        trust.endpoint(place)?;
        let answer = agent.get(place, headers.clone()).await?;
        if answer.status.is_server_error() || answer.status == StatusCode::TOO_MANY_REQUESTS {
            ill = ill.or(Some(answer.status));
        }
        // What is no metadata is a page for people more often than not.
        if answer.status.is_success()
            && let Ok(issuer) = answer.json::<Issuer>()
        {
            return Ok(Some(issuer));
        }
    }
    match ill {
        // There may be something, another time.
        Some(status) => Err(Failed::new(format!("it answered {status}"))),
        None => Ok(None),
    }
}

/// A flag; what is nothing is not set.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<bool>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_a_plain_url() {
        assert!(well_known("https://as.example/t").is_ok());
        for wrong in [
            "",
            "as.example",
            "https://as.example/?a",
            "https://u@as.example",
            "file:///a",
        ] {
            assert!(well_known(wrong).is_err(), "{wrong}");
        }
    }

    /// AUTH-B-05, SEC-C-01, SEC-C-03
    #[test]
    fn only_safe_places_are_used() {
        for (is_here, url, is_used) in [
            (false, "https://as.example/token", true),
            (false, "http://as.example/token", false),
            (false, "https://localhost/token", false),
            (false, "http://127.0.0.1:1/token", false),
            (true, "http://127.0.0.1:1/token", true),
            (true, "https://as.example/token", true),
            (true, "http://as.example/token", false),
            (true, "javascript:alert(1)", false),
            (true, "data:text/html,x", false),
            (true, "https://user:canary@as.example/", false),
            (true, "https://as.example/a#b", false),
            (true, "https://as.example/a\"b", false),
            (true, "https://as.example/\u{202e}", false),
            (true, "https://as.example/\u{7f}", false),
        ] {
            let used = Trust { is_here }.endpoint(url);
            assert_eq!(used.is_ok(), is_used, "{url}");
            if let Err(failed) = used {
                assert!(!failed.to_string().contains("canary"), "{failed}");
            }
        }
    }

    /// AUTH-C-54
    #[test]
    fn without_pkce_nobody_signs_in() {
        let read = |more: &str| {
            let text = format!(
                r#"{{"issuer":"https://as.example","authorization_endpoint":"https://as.example/a"{more}}}"#
            );
            serde_json::from_str::<Issuer>(&text).expect("metadata")
        };
        for more in [
            "",
            r#","code_challenge_methods_supported":[]"#,
            r#","code_challenge_methods_supported":["plain"]"#,
            r#","code_challenge_methods_supported":null"#,
        ] {
            assert!(read(more).authorization_endpoint().is_err(), "{more}");
        }
        let with = read(r#","code_challenge_methods_supported":["plain","S256"]"#);
        assert!(with.authorization_endpoint().is_ok());
    }
}
