//! [`Protected`]: what a server says of itself to those who have no token yet (RFC 9728).

use serde_json::{Map, Value, json};

use super::scopes;

/// Where metadata is found, before the path of what it is about.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A server that wants tokens: which one it is, and who issues them. What is here is published, for
/// everyone to read (RFC 9728).
///
/// ```
/// use antiphon::{Server, auth::{Principal, Protected, StaticTokens}, http};
///
/// let protected = Protected::new("https://mcp.example.com/mcp", ["https://auth.example.com"])
///     .scopes_supported(["files:read", "files:write"])
///     .name("Files");
/// # let verifier = StaticTokens::new().token("t", Principal::subject("ada"));
/// let service = http::service(Server::<()>::new("files", "1.0"))
///     .protected(protected, verifier)
///     .require_scopes(["files:read"]);
/// ```
#[derive(Debug, Clone)]
pub struct Protected {
    place: Place,
    document: Map<String, Value>,
}

impl Protected {
    /// The server at `resource`, the URL that clients connect to, for which `authorization_servers`
    /// issue tokens, each named by its issuer.
    ///
    /// # Panics
    /// If `resource` is no `https` URL (`http` on a loopback host), or has a fragment or credentials;
    /// if there is no authorization server (AUTH-S-02).
    #[track_caller]
    pub fn new(
        resource: impl Into<String>,
        authorization_servers: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let resource = resource.into();
        let issuers: Vec<String> = authorization_servers.into_iter().map(Into::into).collect();
        assert!(
            !issuers.is_empty(),
            "at least one authorization server issues tokens for {resource}"
        );
        let place = match Place::of(&resource) {
            Ok(place) => place,
            Err(why) => panic!("{resource:?} cannot be what a token is for: {why}"),
        };
        for issuer in &issuers {
            if let Err(why) = Place::of(issuer) {
                panic!("{issuer:?} cannot be an authorization server: {why}");
            }
        }
        let mut document = Map::new();
        document.insert("resource".into(), resource.into());
        document.insert("authorization_servers".into(), issuers.into());
        document.insert("bearer_methods_supported".into(), json!(["header"]));
        Self { place, document }
    }

    /// The scopes that there are, for clients that were not told which one they need. `offline_access`
    /// is none of a resource's, and left out (AUTH-S-17).
    ///
    /// # Panics
    /// If one is no scope.
    #[track_caller]
    pub fn scopes_supported(self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        match scopes::read(scopes) {
            Ok(scopes) => self.with("scopes_supported", scopes),
            Err(why) => panic!("{why}"),
        }
    }

    /// Its name for people.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.with("resource_name", name.into())
    }

    /// Where developers read about it.
    pub fn documentation(self, url: impl Into<String>) -> Self {
        self.with("resource_documentation", url.into())
    }

    /// Anything else that RFC 9728 or an extension of it knows. What the other methods say cannot be
    /// said anew.
    ///
    /// # Panics
    /// If it was said already.
    #[track_caller]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let name = name.into();
        assert!(
            !self.document.contains_key(&name),
            "`{name}` is in the metadata already"
        );
        self.document.insert(name, value.into());
        self
    }

    /// The URL of what is protected, as it was given.
    pub fn resource(&self) -> &str {
        self.document["resource"].as_str().unwrap_or_default()
    }

    /// Where the metadata is, as clients are told.
    pub fn metadata_url(&self) -> String {
        format!("{}{}", self.place.origin, self.metadata_path())
    }

    /// The path of that: where to mount it.
    pub fn metadata_path(&self) -> String {
        format!("{WELL_KNOWN}{}", self.place.path)
    }

    /// The document.
    #[cfg(feature = "http")]
    pub(crate) fn into_json(self) -> Vec<u8> {
        serde_json::to_vec(&self.document).expect("a map of texts has a JSON")
    }

    /// The host by which clients know it, with its port if that is said.
    #[cfg(feature = "http")]
    pub(crate) fn host(&self) -> &str {
        let (_, host) = self.place.origin.split_once("://").unwrap_or_default();
        host
    }
}

/// Whether tokens, keys and what is said about them may travel to and from a place.
#[cfg(feature = "jwt")]
pub(crate) fn is_safe(url: &str) -> Result<(), &'static str> {
    Place::of(url).map(|_| ())
}

/// A URL, in two.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    origin: String,
    /// And the query. A lone slash is nothing.
    path: String,
}

impl Place {
    fn of(url: &str) -> Result<Self, &'static str> {
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a URL has no spaces and no letters beyond ASCII; escape them");
        }
        if url.contains('#') {
            return Err("it has a fragment");
        }
        let (scheme, rest) = url.split_once("://").ok_or("it is no URL")?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        if host.contains('@') {
            return Err("it has credentials in it");
        }
        let authority: http::uri::Authority = host.parse().map_err(|_| "it has no host")?;
        let loopback = matches!(authority.host(), "localhost" | "127.0.0.1" | "[::1]");
        match (scheme, loopback) {
            ("https", _) | ("http", true) => {}
            ("http", false) => {
                return Err("tokens travel over https; http is for loopback hosts only");
            }
            _ => return Err("it is no https URL"),
        }
        let path = if path == "/" { "" } else { path };
        Ok(Self {
            origin: format!("{scheme}://{host}"),
            path: path.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9728, section 3.1: the well-known part comes between host and path.
    #[test]
    fn where_the_metadata_is() {
        for (resource, url) in [
            (
                "https://a.example/mcp",
                "https://a.example/.well-known/oauth-protected-resource/mcp",
            ),
            (
                "https://a.example",
                "https://a.example/.well-known/oauth-protected-resource",
            ),
            (
                "https://a.example/",
                "https://a.example/.well-known/oauth-protected-resource",
            ),
            (
                "https://a.example:8443/x/y/?k=v",
                "https://a.example:8443/.well-known/oauth-protected-resource/x/y/?k=v",
            ),
            (
                "http://127.0.0.1:3000/mcp",
                "http://127.0.0.1:3000/.well-known/oauth-protected-resource/mcp",
            ),
        ] {
            let protected = Protected::new(resource, ["https://login.example"]);
            assert_eq!(protected.metadata_url(), url);
            assert_eq!(protected.resource(), resource);
        }
    }

    #[test]
    fn what_no_token_can_be_for() {
        for bad in [
            "",
            "mcp.example.com",
            "http://a.example/mcp",
            "ftp://a.example",
            "https:///mcp",
            "https://user@a.example/",
            "https://a.example/#x",
            "https://a.example/a b",
            "https://caf\u{e9}.example",
        ] {
            assert!(Place::of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    #[should_panic(expected = "at least one authorization server")]
    fn somebody_issues_tokens() {
        _ = Protected::new("https://a.example/mcp", [""; 0]);
    }
}
