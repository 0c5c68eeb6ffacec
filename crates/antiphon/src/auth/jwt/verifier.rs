//! [`JwtVerifier`]: tokens that an authorization server signed.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{
    Algorithm, KeySet,
    cache::KeyCache,
    claims::{self, Expected, Seconds},
    discovery::{Published, Source},
    token::{Defect, Token},
};
use crate::auth::{Principal, Refusal, Verifier, is_safe};

/// Verifies access tokens that are JSON Web Tokens, by the keys that their issuer publishes.
///
/// ```no_run
/// use antiphon::{Server, auth::{Protected, jwt::JwtVerifier}, http};
///
/// # async fn run(server: Server) -> std::io::Result<()> {
/// let verifier = JwtVerifier::new("https://auth.example.com", "https://mcp.example.com/mcp");
/// let protected = Protected::new("https://mcp.example.com/mcp", ["https://auth.example.com"]);
/// let service = http::service(server).protected(protected, verifier);
/// # let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
/// http::serve(listener, service).await
/// # }
/// ```
///
/// A token is let in if
///
/// * one of the issuer's keys signed it, with an [`Algorithm`] that is accepted and fits the key; a
///   token that names a key is compared with that one alone;
/// * it is of the issuer (`iss`, to the letter), for this audience (`aud`), and not expired (`exp`, which
///   it must have; `nbf` and `iat` if it has them);
/// * it names a user or a client, and is no token of another type, or one that is bound to a key.
///
/// Scopes are those of `scope` and `scp`. All else it says is at [`Principal::claim`]. What is wrong with
/// a token is in the log, without anything of the token; its sender is told only that it is not valid.
///
/// Keys are read when first needed, at the place that the issuer's metadata names (RFC 8414, or OpenID
/// Connect Discovery), kept as long as their publisher allows, between a minute and a day, and read again
/// when a token names one that is not known, at most every 30 seconds. If they cannot be read, those that
/// are there stay good for an hour. While there are none, requests are answered with `503`.
pub struct JwtVerifier {
    issuer: String,
    expected: Expected,
    algorithms: Vec<Algorithm>,
    keys: Keys,
}

enum Keys {
    Given(KeySet),
    Published(Box<KeyCache<Published>>),
}

impl JwtVerifier {
    /// Tokens of `issuer`, for `audience`: mostly the URL of this server, as clients connect to it. Both
    /// are compared to the letter, a slash at the end included.
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        let issuer = issuer.into();
        let source = Source::Issuer(issuer.clone());
        Self {
            issuer,
            expected: Expected {
                audiences: vec![audience.into()],
                leeway: 30,
            },
            algorithms: Algorithm::ALL.to_vec(),
            keys: Keys::Published(Box::new(KeyCache::new(Published::new(source)))),
        }
    }

    /// Where the keys are, for issuers that publish no metadata.
    ///
    /// # Panics
    /// If it is no `https` URL (`http` on a loopback host): whoever can change the keys on their way can
    /// issue tokens.
    #[track_caller]
    pub fn jwks_url(mut self, url: impl Into<String>) -> Self {
        let url = url.into();
        if let Err(why) = is_safe(&url) {
            panic!("keys cannot be read at {url:?}: {why}");
        }
        let source = Source::Url(url);
        self.keys = Keys::Published(Box::new(KeyCache::new(Published::new(source))));
        self
    }

    /// These keys and no others: nothing is read from anywhere.
    pub fn keys(mut self, keys: KeySet) -> Self {
        self.keys = Keys::Given(keys);
        self
    }

    /// Takes tokens for this audience too: another name of this server.
    pub fn accept_audience(mut self, audience: impl Into<String>) -> Self {
        self.expected.audiences.push(audience.into());
        self
    }

    /// Accepts these algorithms only, of those that there are.
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// How far this clock and the issuer's may differ. 30 seconds.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.expected.leeway = leeway.as_secs();
        self
    }

    pub(super) async fn verify_at(&self, token: &str, now: Seconds) -> Result<Principal, Refusal> {
        let token = Token::read(token, &self.algorithms).map_err(invalid)?;
        // Whoever has tokens of another issuer makes nobody look for keys.
        if token.issuer() != Some(&self.issuer) {
            return Err(invalid("it is not of the issuer that is trusted (iss)"));
        }
        if !self.is_signed(&token).await? {
            return Err(invalid("its signature is not of the key"));
        }
        let claims = token.into_claims();
        if !claims.contains_key("exp") {
            return Err(invalid("it does not say when it expires (exp)"));
        }
        self.expected.check_at(&claims, now).map_err(invalid)?;
        claims::principal(&self.issuer, claims).map_err(invalid)
    }

    async fn is_signed(&self, token: &Token<'_>) -> Result<bool, Refusal> {
        const UNKNOWN: Defect = "no key of the issuer is the one it is signed with (kid)";
        let signed = match &self.keys {
            Keys::Given(keys) => token.is_signed_by(keys),
            Keys::Published(cache) => {
                let unavailable = |why: Arc<str>| Refusal::Unavailable(why.to_string());
                let (keys, new) = cache.current().await.map_err(unavailable)?;
                match token.is_signed_by(&keys) {
                    // The issuer may have changed its keys since.
                    None if !new => match cache.renewed(&keys).await {
                        Some(keys) => token.is_signed_by(&keys),
                        None => None,
                    },
                    signed => signed,
                }
            }
        };
        signed.ok_or_else(|| invalid(UNKNOWN))
    }
}

fn invalid(defect: Defect) -> Refusal {
    Refusal::Invalid(defect.to_owned())
}

/// What time it is. Before 1970 nothing has begun.
pub(crate) fn now() -> Seconds {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

impl Verifier for JwtVerifier {
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Principal, Refusal>> + Send + 'a>> {
        Box::pin(self.verify_at(token, now()))
    }
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtVerifier")
            .field("issuer", &self.issuer)
            .field("audiences", &self.expected.audiences)
            .field("algorithms", &self.algorithms)
            .finish_non_exhaustive()
    }
}
