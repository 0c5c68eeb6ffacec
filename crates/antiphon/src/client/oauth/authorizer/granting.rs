//! Tokens that somebody is asked for: a person, a platform, an identity provider, or nobody but the
//! authorization server.

use std::sync::Arc;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{Authorizer, Inner, forsaken, party::Party};
use crate::{
    client::{
        Identity,
        oauth::{
            Redirect, Registration, SignIn,
            callback::Expected,
            discovery::Issuer,
            dpop::Prover,
            failed::Failed,
            pkce::{Pkce, random},
            record::Record,
            registration::{Registered, register},
            scopes::Known,
            settings::{Grant, IdentityProvider},
            tokens::{Asking, JWT_BEARER, Tokens, exchange_identity},
        },
    },
    excerpt::one_line,
    web::{Endpoint, without_secrets},
};

/// What tokens are asked for.
struct Asked<'a> {
    party: &'a Party,
    scopes: String,
    prover: Option<&'a Prover>,
}

/// What came of it.
struct Given {
    client_id: String,
    registered: Option<Registered>,
    tokens: Tokens,
}

impl Authorizer {
    /// Gets tokens, whoever has to be asked for that.
    pub(super) async fn sign_in_for(
        &self,
        known: &Inner,
        party: &Party,
        challenged: &[String],
        bound: bool,
        given_up: &CancellationToken,
    ) -> Result<Record, Failed> {
        let issuer = &party.issuer;
        let metadata = party.metadata.as_ref();
        let before = known.record.as_ref().map(|record| &*record.scopes);
        let scopes = Known {
            challenged,
            before: before.unwrap_or_default(),
            configured: &self.oauth.scopes,
            offered: metadata
                .map(|known| &*known.scopes_supported)
                .unwrap_or_default(),
            offline: self.oauth.offline
                && matches!(self.oauth.grant, Grant::Person(_))
                && issuer.offers("offline_access"),
        }
        .wanted();
        let demanded =
            metadata.and_then(|known| known.extra.get("dpop_bound_access_tokens_required"));
        let bound = bound || self.oauth.dpop || demanded == Some(&true.into());
        let prover = match bound {
            true => Some(self.prover(issuer)?),
            false => None,
        };
        let asked = Asked {
            party,
            scopes: scopes.join(" "),
            prover: prover.as_deref(),
        };
        let Given {
            client_id,
            registered,
            tokens,
        } = match &self.oauth.grant {
            Grant::Person(redirect) => {
                let person = self.ask_person(&**redirect, &asked, &scopes, given_up);
                person.await?
            }
            Grant::Program => {
                let grant = ("grant_type", "client_credentials");
                self.ask_alone(&asked, &[grant]).await?
            }
            Grant::Workload(assertion) => {
                let assertion = assertion().await.map_err(|error| {
                    Failed::new("the platform does not vouch for this program").caused_by(error)
                })?;
                let grant = ("grant_type", JWT_BEARER);
                self.ask_alone(&asked, &[grant, ("assertion", assertion.reveal())])
                    .await?
            }
            Grant::Enterprise(provider) => self.ask_enterprise(provider, &asked).await?,
            Grant::Stored => return Err(Failed::new("nobody is asked to sign in")),
        };
        Ok(Record {
            issuer: issuer.issuer.clone(),
            client_id,
            registered,
            is_own: metadata.is_none(),
            resource: party.resource.clone(),
            scopes,
            granted: tokens.granted(),
            expires_at: tokens.expires_at(),
            key: prover.map(|prover| prover.key().clone()),
            refresh_token: tokens.refresh_token,
            access_token: tokens.access_token,
        })
    }

    /// The key that tokens are bound to: the one there is, so that others stay good.
    fn prover(&self, issuer: &Issuer) -> Result<Arc<Prover>, Failed> {
        let algorithms = issuer.dpop_signing_alg_values_supported.as_deref();
        if algorithms.is_some_and(|names| !names.iter().any(|name| name == "ES256")) {
            return Err(Failed::new(format!(
                "{} binds tokens to keys of other kinds than ES256 alone",
                issuer.shown()
            )));
        }
        match self.current().and_then(|access| access.prover.clone()) {
            Some(prover) => Ok(prover),
            None => Ok(Arc::new(Prover::new()?)),
        }
    }

    /// Has a person sign in (AUTH-C-35 to AUTH-C-43).
    async fn ask_person(
        &self,
        redirect: &dyn Redirect,
        asked: &Asked<'_>,
        scopes: &[String],
        given_up: &CancellationToken,
    ) -> Result<Given, Failed> {
        let issuer = &asked.party.issuer;
        let endpoint = issuer.authorization_endpoint()?;
        let registered = self.keeping.registered(&issuer.issuer).await?;
        let known = registered.as_ref().map(|known| known.redirect_uri.as_str());
        let visit = redirect.begin(known).await;
        let visit = visit.map_err(|error| Failed::new("nobody can sign in").caused_by(error))?;
        let redirect_uri = visit.redirect_uri().to_owned();
        check_redirect(&redirect_uri)?;
        let (client, registered) = self.client(issuer, registered, &redirect_uri).await?;
        let (pkce, state) = (Pkce::new()?, random()?);
        let expected = Expected::new(state.clone(), issuer);
        let mut params = vec![
            ("response_type", "code"),
            ("client_id", &client.id),
            ("redirect_uri", &redirect_uri),
            ("state", &state),
            ("code_challenge", &pkce.challenge),
            ("code_challenge_method", "S256"),
            ("resource", &asked.party.resource),
        ];
        if !asked.scopes.is_empty() {
            params.push(("scope", &asked.scopes));
        }
        let sign_in = SignIn {
            url: with_query(endpoint, &params),
            server: Identity::from(&self.server),
            issuer: issuer.issuer.clone(),
            scopes: scopes.to_vec(),
            expected: expected.clone(),
        };
        tracing::info!(
            server = self.keeping.server,
            issuer = issuer.shown(),
            "a person is asked to sign in"
        );
        let back = {
            let _held = self.turn.held.begin();
            let waiting = timeout(self.oauth.patience, visit.send(sign_in));
            tokio::select! {
                biased;
                () = given_up.cancelled() => return Err(forsaken()),
                back = waiting => back,
            }
        };
        let back = back.map_err(|_| {
            let patience = self.oauth.patience;
            Failed::new(format!("nobody signed in within {patience:?}"))
        })?;
        let back = back.map_err(|error| Failed::new("nobody signed in").caused_by(error))?;
        let code = expected
            .code(&back)
            .map_err(|failed| failed.during(format!("signing in at {}", issuer.shown())))?;
        let params = [
            ("grant_type", "authorization_code"),
            ("code", code.reveal()),
            ("redirect_uri", &redirect_uri),
            ("code_verifier", pkce.verifier.reveal()),
            ("resource", &asked.party.resource),
        ];
        let tokens = self.asking(asked, &client).ask(&params).await;
        if let Err(failed) = &tokens
            && failed.code.as_deref() == Some("invalid_client")
        {
            self.keeping.forget_registered(&issuer.issuer).await;
        }
        Ok(Given {
            client_id: client.id,
            registered,
            tokens: tokens?,
        })
    }

    /// Gets tokens without a person.
    async fn ask_alone(&self, asked: &Asked<'_>, grant: &[(&str, &str)]) -> Result<Given, Failed> {
        let issuer = &asked.party.issuer;
        let none = || Failed::new(format!("this program is not known to {}", issuer.shown()));
        let client = self.configured(issuer)?.ok_or_else(none)?;
        let mut params = grant.to_vec();
        params.push(("resource", &asked.party.resource));
        if !asked.scopes.is_empty() {
            params.push(("scope", &asked.scopes));
        }
        let tokens = self.asking(asked, &client).ask(&params).await?;
        Ok(Given {
            client_id: client.id,
            registered: None,
            tokens,
        })
    }

    /// Has an identity provider vouch for the person.
    async fn ask_enterprise(
        &self,
        provider: &IdentityProvider,
        asked: &Asked<'_>,
    ) -> Result<Given, Failed> {
        let Party {
            issuer, resource, ..
        } = asked.party;
        // Nothing is asked of the provider for an authorization server that is not meant.
        self.configured(issuer)?;
        let id_token = (provider.id_token)()
            .await
            .map_err(|error| Failed::new("there is no ID token of the person").caused_by(error))?;
        self.trust.endpoint(&provider.token_endpoint)?;
        let mut params = vec![
            ("audience", issuer.issuer.as_str()),
            ("resource", resource),
            ("subject_token", id_token.reveal()),
            ("client_id", &provider.client_id),
        ];
        if !asked.scopes.is_empty() {
            params.push(("scope", &asked.scopes));
        }
        let endpoint = &provider.token_endpoint;
        let assertion = exchange_identity(&self.agent, endpoint, &params).await?;
        let grant = ("grant_type", JWT_BEARER);
        self.ask_alone(asked, &[grant, ("assertion", assertion.reveal())])
            .await
    }

    fn asking<'a>(&'a self, asked: &Asked<'a>, client: &'a Registration) -> Asking<'a> {
        Asking {
            agent: &self.agent,
            issuer: &asked.party.issuer,
            client,
            prover: asked.prover,
            trust: self.trust,
        }
    }

    /// How an authorization server knows this client (AUTH-C-12, AUTH-C-13), and if it had to
    /// register for that, what came of it.
    async fn client(
        &self,
        issuer: &Issuer,
        registered: Option<Registered>,
        redirect_uri: &str,
    ) -> Result<(Registration, Option<Registered>), Failed> {
        if let Some(client) = self.configured(issuer)? {
            return Ok((client, None));
        }
        if let Some(url) = &self.oauth.metadata_url
            && issuer.client_id_metadata_document_supported
        {
            check_document(url)?;
            return Ok((Registration::public(url), None));
        }
        if let Some(registered) = registered.filter(|known| known.is_good_for(redirect_uri)) {
            return Ok((registered.registration(), Some(registered)));
        }
        let Some(endpoint) = issuer
            .registration_endpoint
            .as_deref()
            .filter(|_| self.oauth.registers)
        else {
            return Err(Failed::new(format!(
                "{} does not know this client, and takes no registrations on the way: register it \
                 there, and give its client id",
                issuer.shown()
            )));
        };
        let name = &self.oauth.name;
        let registered = register(&self.agent, issuer, endpoint, name, redirect_uri).await?;
        self.keeping
            .keep_registered(&issuer.issuer, &registered)
            .await;
        Ok((registered.registration(), Some(registered)))
    }

    /// What the caller says of an authorization server.
    ///
    /// # Errors
    /// If it says how this client is known, but to others alone (AUTH-C-27).
    pub(super) fn configured(&self, issuer: &Issuer) -> Result<Option<Registration>, Failed> {
        let registrations = &self.oauth.registrations;
        let mut all = registrations.iter();
        match all.find(|(name, _)| *name == issuer.issuer) {
            Some((_, client)) => Ok(Some(client.clone())),
            None if registrations.is_empty() => Ok(None),
            None => {
                let names = registrations.iter().map(|(name, _)| name.as_str());
                let names: Vec<_> = names.collect();
                Err(Failed::new(format!(
                    "the server's authorization server is {}, and this client is registered with \
                     {} only",
                    issuer.shown(),
                    names.join(", ")
                )))
            }
        }
    }
}

/// A URL with more in its query; what stands in it already stays as it is.
fn with_query(url: &str, params: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(params);
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}{}", query.finish())
}

/// People come back to this machine, or over TLS (AUTH-B-05).
fn check_redirect(uri: &str) -> Result<(), Failed> {
    let place = Endpoint::parse(uri);
    match place.is_ok_and(|place| place.is_secure() || place.is_loopback()) {
        true => Ok(()),
        false => Err(Failed::new(format!(
            "people cannot come back to {}: it must be https, or on this machine",
            one_line(uri.as_bytes())
        ))),
    }
}

/// A document about this client has to be found by others (AUTH-C-15).
fn check_document(url: &str) -> Result<(), Failed> {
    let is_good = !url.contains('#')
        && Endpoint::parse(url).is_ok_and(|place| place.is_secure() && place.uri.path() != "/");
    match is_good {
        true => Ok(()),
        false => Err(Failed::new(format!(
            "the document about this client cannot be at {}: it must be https, with a path",
            one_line(without_secrets(url).as_bytes())
        ))),
    }
}
