//! [`ResourceMetadata`]: what a server publishes about its tokens, and where it is found.

use http::{HeaderMap, header::CONTENT_TYPE};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{challenge::BearerChallenge, settings::Http};
use crate::{
    client::{Error, ErrorKind},
    excerpt,
    web::{Answer, Endpoint, without_secrets},
};

/// Where metadata is, unless the server says otherwise (RFC 9728, 3.1).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// What a server publishes about the tokens that it takes (RFC 9728).
///
/// It comes from [`Http::resource_metadata`]. These are the server's words: to show them to a
/// person, escape what a terminal could take for a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// Which server it is, as a URL.
    pub resource: String,
    /// Who issues tokens for it, each by its issuer's URL. There should be one at least
    /// (AUTH-S-02).
    #[serde(default, deserialize_with = "list")]
    pub authorization_servers: Vec<String>,
    /// The scopes that a token may have. Which of them a request needs is in the challenge, which
    /// may name others (AUTH-C-28).
    #[serde(
        default,
        deserialize_with = "list",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub scopes_supported: Vec<String>,
    /// The name of the server, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<String>,
    /// Anything else.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Http {
    /// Reads what the server publishes about its tokens: who issues them, and which scopes there
    /// are.
    ///
    /// `challenges` are those of [`ErrorKind::Unauthorized`]. If they name the place, it is read
    /// there, and otherwise where such metadata usually is; so none at all will do as well.
    ///
    /// No token is sent for it, nor any header of one's own, nor to another origin a client
    /// certificate. The place must be of the server's own origin, or `https`; and on this machine
    /// only if the server is. Each place may take as long as a connection may take to open and five
    /// seconds more, and 64 KiB.
    ///
    /// ```no_run
    /// use antiphon::client::{Client, Error, ErrorKind, Http};
    ///
    /// # async fn example() -> Result<(), Error> {
    /// let server = Http::new("https://example.com/mcp");
    /// let connected = Client::new("desk", "1.0").connect(server.clone()).await;
    /// if let Err(error) = connected
    ///     && let ErrorKind::Unauthorized { challenges, .. } = error.kind()
    /// {
    ///     let metadata = server.resource_metadata(challenges).await?;
    ///     println!("tokens are issued by {:?}", metadata.authorization_servers);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Status`] if there is no metadata; [`ErrorKind::Decode`] for a place that must
    /// not be read, for what is no metadata, and for that of another server than the one asked
    /// (AUTH-C-05). Whatever a request may fail with besides.
    pub async fn resource_metadata(
        &self,
        challenges: &[String],
    ) -> Result<ResourceMetadata, Error> {
        let server = self.endpoint()?;
        // AUTH-C-03
        let told = BearerChallenge::of(challenges).and_then(|bearer| bearer.resource_metadata);
        if let Some(url) = told {
            return self.metadata_at(&server, &told_by(&server, &url)?).await;
        }
        // AUTH-C-04
        let root = beneath(&server, "")?;
        if server.uri.path() != "/" {
            let place = beneath(&server, server.uri.path())?;
            let found = self.metadata_at(&server, &place).await;
            let Err(error) = found else {
                return found;
            };
            let ErrorKind::Status(status) = *error.kind() else {
                return Err(error);
            };
            let found = self.metadata_at(&server, &root).await;
            // There may be something at the first place, another time.
            let is_ill = status >= 500 || [408, 429].contains(&status);
            return found.map_err(|other| if is_ill { error } else { other });
        }
        self.metadata_at(&server, &root).await
    }

    async fn metadata_at(
        &self,
        server: &Endpoint,
        place: &Endpoint,
    ) -> Result<ResourceMetadata, Error> {
        let read = self.read_metadata(server, place).await;
        read.map_err(|error| error.during(format_args!("resource metadata at {}", place.place())))
    }

    async fn read_metadata(
        &self,
        server: &Endpoint,
        place: &Endpoint,
    ) -> Result<ResourceMetadata, Error> {
        let agent = self.agent(place.origin == server.origin);
        let answer = agent.get(&place.uri.to_string(), HeaderMap::new()).await?;
        if !answer.status.is_success() {
            let kind = ErrorKind::Status(answer.status.as_u16());
            return Err(Error::new(kind, no_metadata(&answer)));
        }
        let metadata: ResourceMetadata = answer
            .json()
            .map_err(|error| Error::decode(no_metadata(&answer)).caused_by(error))?;
        if self.names(server, place).contains(&metadata.resource) {
            return Ok(metadata);
        }
        Err(Error::decode(format!(
            "it is about {}, and not about {}; the two must be spelled alike",
            excerpt::one_line(without_secrets(&metadata.resource).as_bytes()),
            server.place()
        )))
    }

    /// What the metadata at a place may call the server, byte for byte (AUTH-C-05; RFC 9728, 3.3).
    fn names(&self, server: &Endpoint, place: &Endpoint) -> Vec<String> {
        let given = self.url().split('#').next().unwrap_or_default();
        // A query is no part of what the well-known places are made of.
        let plain = server.place();
        let mut names = vec![given.to_owned(), server.uri.to_string(), plain];
        // Metadata in the root is that of the origin.
        let in_root = place.uri.to_string() == format!("{}{WELL_KNOWN}", server.origin);
        if in_root || server.uri.path() == "/" {
            names.push(server.origin.clone());
            names.push(format!("{}/", server.origin));
        }
        names
    }
}

/// What is said of a response that is none; what it holds is a page for people more often than not.
fn no_metadata(answer: &Answer) -> String {
    let kind = answer.headers.get(CONTENT_TYPE);
    let kind = kind.map(|kind| format!(" with {}", excerpt::one_line(kind.as_bytes())));
    format!(
        "the server answered {}{}, which is no metadata of a protected resource",
        answer.status,
        kind.unwrap_or_default()
    )
}

/// The place that a server named.
fn told_by(server: &Endpoint, url: &str) -> Result<Endpoint, Error> {
    let refuse = |why: &str| {
        Error::decode(format!(
            "the server says that its resource metadata is at {}, which is not read: {why}",
            excerpt::one_line(without_secrets(url).as_bytes())
        ))
    };
    let place = Endpoint::parse(url).map_err(|why| refuse(&why))?;
    let is_safe = match place.is_loopback() {
        // Nobody else has any business there.
        true => server.is_loopback(),
        false => place.is_secure(),
    };
    match is_safe || place.origin == server.origin {
        true => Ok(place),
        false => Err(refuse(
            "it must be https, or of the server's own origin, and not on this machine unless \
             the server is",
        )),
    }
}

/// A well-known place of a server. A query may hold secrets, and does not go there.
fn beneath(server: &Endpoint, path: &str) -> Result<Endpoint, Error> {
    let url = format!("{}{WELL_KNOWN}{path}", server.origin);
    Endpoint::parse(&url).map_err(Error::invalid)
}

/// A list; what is nothing is an empty one.
fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let list = Option::<Vec<String>>::deserialize(deserializer)?;
    Ok(list.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str) -> Endpoint {
        Endpoint::parse(url).expect(url)
    }

    #[test]
    fn only_safe_places_are_read() {
        let (far, open) = ("https://a.example/mcp", "http://a.example/mcp");
        let here = "http://localhost:1/mcp";
        for (from, place, is_read) in [
            (far, "https://a.example/meta", true),
            (far, "https://b.example/meta", true),
            (far, "http://a.example/meta", false),
            (far, "http://b.example/meta", false),
            (far, "http://127.0.0.1/meta", false),
            (far, "https://localhost/meta", false),
            (far, "https://user:hidden@b.example/meta", false),
            (far, "file:///etc/passwd", false),
            (far, "/meta", false),
            (far, "", false),
            (open, "http://A.example:80/meta", true),
            (open, "https://b.example/meta", true),
            (open, "http://b.example/meta", false),
            (open, "http://a.example:81/meta", false),
            (here, "http://localhost:1/meta", true),
            (here, "http://[::1]:2/meta", true),
            (here, "https://b.example/meta", true),
            (here, "http://b.example/meta", false),
        ] {
            let told = told_by(&server(from), place);
            assert_eq!(told.is_ok(), is_read, "{from}: {place}");
            if let Err(error) = told {
                assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
                assert!(!error.to_string().contains("hidden"), "{error}");
            }
        }
    }

    /// AUTH-C-04
    #[test]
    fn a_query_stays_where_it_is() {
        let server = server("https://a.example/t/mcp?key=hidden");
        let place = beneath(&server, server.uri.path()).expect("a place");
        assert_eq!(
            place.uri.to_string(),
            "https://a.example/.well-known/oauth-protected-resource/t/mcp"
        );
    }

    /// AUTH-C-05; RFC 9728, 3.3
    #[test]
    fn metadata_calls_the_server_by_its_url() {
        let root = "https://a.example/.well-known/oauth-protected-resource";
        let below = &*format!("{root}/mcp");
        for (url, place, name, is_its) in [
            (
                "https://a.example/mcp",
                below,
                "https://a.example/mcp",
                true,
            ),
            (
                "https://A.example:443/mcp#x",
                below,
                "https://a.example/mcp",
                true,
            ),
            (
                "https://A.example/mcp#x",
                below,
                "https://A.example/mcp",
                true,
            ),
            (
                "https://a.example/mcp?k=1",
                below,
                "https://a.example/mcp",
                true,
            ),
            (
                "https://a.example/mcp?k=1",
                below,
                "https://a.example/mcp?k=1",
                true,
            ),
            (
                "https://a.example/mcp",
                below,
                "https://a.example/mcp/",
                false,
            ),
            (
                "https://a.example/mcp/",
                below,
                "https://a.example/mcp",
                false,
            ),
            (
                "https://a.example/mcp",
                below,
                "https://a.example/MCP",
                false,
            ),
            (
                "https://a.example/mcp",
                below,
                "https://a.example/%6Dcp",
                false,
            ),
            (
                "https://a.example/mcp",
                below,
                "https://a.example:443/mcp",
                false,
            ),
            (
                "https://a.example/mcp",
                below,
                "http://a.example/mcp",
                false,
            ),
            (
                "https://a.example/mcp",
                below,
                "https://b.example/mcp",
                false,
            ),
            ("https://a.example/mcp", below, "https://a.example", false),
            ("https://a.example/mcp", root, "https://a.example", true),
            ("https://a.example/mcp", root, "https://a.example/", true),
            ("https://a.example/mcp", root, "https://a.example/mcp", true),
            (
                "https://a.example/mcp",
                root,
                "https://a.example/other",
                false,
            ),
            ("https://a.example", root, "https://a.example/", true),
            (
                "https://a.example/",
                "https://b.example/x",
                "https://a.example",
                true,
            ),
            (
                "https://a.example/mcp",
                "https://b.example/.well-known/oauth-protected-resource",
                "https://b.example",
                false,
            ),
        ] {
            let names = Http::new(url).names(&server(url), &server(place));
            assert_eq!(
                names.iter().any(|known| known == name),
                is_its,
                "{url}: {name}"
            );
        }
    }

    #[test]
    fn metadata_is_an_object() {
        let read = |text: &str| serde_json::from_str::<ResourceMetadata>(text);
        let text = r#"{"resource":"r","authorization_servers":["a"],"jwks_uri":"j","scopes_supported":null}"#;
        let metadata = read(text).expect("metadata");
        assert_eq!(metadata.authorization_servers, ["a"]);
        assert_eq!(metadata.scopes_supported, [""; 0]);
        assert_eq!(metadata.extra["jwks_uri"], "j");
        let written = serde_json::to_string(&metadata).expect("JSON");
        assert_eq!(read(&written).expect("metadata"), metadata);
        for text in [
            "{}",
            r#"["r",["a"],[],null]"#,
            r#""r""#,
            r#"{"resource":1}"#,
            r#"{"resource":"r","resource":"s"}"#,
            r#"{"resource":"r","authorization_servers":"a"}"#,
            r#"{"resource":"r","authorization_servers":[1]}"#,
            r#"{"resource":"r"} {}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
