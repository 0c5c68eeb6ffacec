//! [`Challenge`]: what a server that wants a token says.

use http::{HeaderMap, StatusCode, header::WWW_AUTHENTICATE};

use super::www_authenticate::Scheme;
use crate::client::{Error, ErrorKind};

/// Why a server refused a token, or the lack of one.
///
/// ```
/// use antiphon::client::{Challenge, Error, ErrorKind};
///
/// /// The scopes that a token should have had.
/// fn wanted(error: &Error) -> Vec<String> {
///     let ErrorKind::Unauthorized { status, challenges } = error.kind() else {
///         return Vec::new();
///     };
///     let bearer = Challenge::of(*status, challenges).bearer();
///     bearer.map(|bearer| bearer.scopes).unwrap_or_default()
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Challenge {
    /// 401, or 403 for a token that does not allow enough.
    pub status: u16,
    /// The `WWW-Authenticate` headers.
    pub www_authenticate: Vec<String>,
}

impl Challenge {
    /// A challenge of this status without headers, for tests of a [`Bearer`](super::Bearer).
    pub fn new(status: u16) -> Self {
        Self::of(status, &[])
    }

    /// The challenge of an error, see [`ErrorKind::Unauthorized`].
    pub fn of(status: u16, www_authenticate: &[String]) -> Self {
        Self {
            status,
            www_authenticate: www_authenticate.to_vec(),
        }
    }

    pub(super) fn read(status: StatusCode, headers: &HeaderMap) -> Self {
        let texts = headers.get_all(WWW_AUTHENTICATE).into_iter();
        let texts = texts.map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned());
        Self {
            status: status.as_u16(),
            www_authenticate: texts.collect(),
        }
    }

    /// What it says of bearer tokens (AUTH-C-02), and of those that are good with a key alone. Of
    /// several such challenges it is the first that names metadata, or else the first.
    pub fn bearer(&self) -> Option<BearerChallenge> {
        BearerChallenge::of(&self.www_authenticate)
    }

    /// Whether the server wants to see something of its own in the proof for a token.
    pub(super) fn wants_nonce(&self) -> bool {
        let mut all = BearerChallenge::all(&self.www_authenticate);
        all.any(|bearer| bearer.error.as_deref() == Some("use_dpop_nonce"))
    }

    /// Whether another token may help.
    pub(super) fn can_be_met(&self) -> bool {
        let mut all = BearerChallenge::all(&self.www_authenticate);
        let more = "insufficient_scope";
        self.status == 401 || all.any(|bearer| bearer.error.as_deref() == Some(more))
    }

    /// The error for the caller; `text` is what else the server said.
    pub(super) fn into_error(self, text: &str) -> Error {
        let what = match self.status {
            401 => "the server wants to know who is calling (401)",
            _ => "the server does not serve this caller (403)",
        };
        let message = match text {
            "" => what.to_owned(),
            text => format!("{what}: {text}"),
        };
        let kind = ErrorKind::Unauthorized {
            status: self.status,
            challenges: self.www_authenticate,
        };
        Error::new(kind, message)
    }
}

/// What a server says of the bearer token that it wants (RFC 6750, RFC 9728).
///
/// These are the server's words. To show them to a person, escape what a terminal could take for
/// a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BearerChallenge {
    /// Where the server's metadata is, see
    /// [`Http::resource_metadata`](super::Http::resource_metadata).
    pub resource_metadata: Option<String>,
    /// The scopes that the token needs for this request (AUTH-C-29).
    pub scopes: Vec<String>,
    /// Why the token was refused, such as `invalid_token` or `insufficient_scope`. None if there
    /// was no token.
    pub error: Option<String>,
    /// The same in words.
    pub error_description: Option<String>,
    /// What the token is for.
    pub realm: Option<String>,
    /// The token has to be good with a key of the client alone (DPoP, RFC 9449).
    pub dpop: bool,
}

impl BearerChallenge {
    pub(super) fn of(headers: &[String]) -> Option<Self> {
        let named = Self::all(headers).find(|bearer| bearer.resource_metadata.is_some());
        named.or_else(|| Self::all(headers).next())
    }

    fn all(headers: &[String]) -> impl Iterator<Item = Self> {
        let schemes = headers.iter().flat_map(|header| Scheme::all(header));
        let known = schemes.filter(|scheme| scheme.is("Bearer") || scheme.is("DPoP"));
        known.map(|scheme| {
            let param = |name| scheme.param(name).map(str::to_owned);
            let scopes = scheme.param("scope").unwrap_or_default();
            Self {
                resource_metadata: param("resource_metadata"),
                scopes: scopes.split_ascii_whitespace().map(str::to_owned).collect(),
                error: param("error"),
                error_description: param("error_description"),
                realm: param("realm"),
                dpop: scheme.is("DPoP"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(status: u16, headers: &[&str]) -> Challenge {
        let headers: Vec<_> = headers.iter().map(|&header| header.to_owned()).collect();
        Challenge::of(status, &headers)
    }

    /// AUTH-C-02, with the challenge of AUTH-S-13.
    #[test]
    fn a_challenge_says_what_the_token_lacks() {
        let said = challenge(
            403,
            &[
                "Negotiate",
                r#"Basic realm="b", bearer error="insufficient_scope", scope=" files:read  files:write",
                   resource_metadata="https://a.example/meta", error_description="more, please""#,
            ],
        );
        let bearer = said.bearer().expect("a challenge");
        assert_eq!(
            bearer,
            BearerChallenge {
                resource_metadata: Some("https://a.example/meta".into()),
                scopes: vec!["files:read".into(), "files:write".into()],
                error: Some("insufficient_scope".into()),
                error_description: Some("more, please".into()),
                realm: None,
                dpop: false,
            }
        );
        assert_eq!(challenge(401, &["Basic realm=x"]).bearer(), None);
        let empty = challenge(401, &["Bearer"]).bearer();
        assert_eq!(empty, Some(BearerChallenge::default()));
    }

    #[test]
    fn metadata_is_found_behind_another_challenge() {
        let first = "Bearer realm=gate";
        let second = "Bearer realm=server, resource_metadata=https://a.example/";
        for headers in [&[first, second][..], &[second, first]] {
            let bearer = challenge(401, headers).bearer().expect("a challenge");
            assert_eq!(bearer.realm.as_deref(), Some("server"));
        }
        let bearer = challenge(401, &[first, first]).bearer();
        assert_eq!(bearer.expect("a challenge").realm.as_deref(), Some("gate"));
    }

    #[test]
    fn a_token_helps_where_one_was_wanted() {
        for (status, header, can) in [
            (401, "Basic", true),
            (403, "Basic, Bearer error=insufficient_scope", true),
            (403, "Bearer error=invalid_token", false),
            (403, "Bearer realm=\"no insufficient_scope\"", false),
        ] {
            assert_eq!(challenge(status, &[header]).can_be_met(), can, "{header}");
        }
    }
}
