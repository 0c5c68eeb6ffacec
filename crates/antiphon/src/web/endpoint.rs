//! [`Endpoint`]: the URL of a server, taken apart once, and where its redirects lead.

use http::{Uri, uri::Scheme};

use super::error::Error;
use crate::links::is_loopback;

/// The URL of a server.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// The URL with its host in lower case.
    pub(crate) uri: Uri,
    /// Scheme, host and port.
    pub(crate) origin: String,
    /// What the `Host` header says.
    pub(crate) host: String,
}

impl Endpoint {
    /// Reads a URL.
    ///
    /// # Errors
    /// A sentence about what is wrong with it.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("{error}"))?;
        let Some(scheme) = uri.scheme().filter(|scheme| is_web(scheme)) else {
            return Err("it must begin with http:// or https://".into());
        };
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        if authority.contains('@') {
            return Err("a user name or password must not stand in it".into());
        }
        let name = uri.host().unwrap_or_default().to_ascii_lowercase();
        if name.is_empty() {
            return Err("it names no host".into());
        }
        let rest = authority.get(name.len()..).unwrap_or_default();
        let port = match rest.strip_prefix(':').unwrap_or(rest) {
            "" => default_port(scheme),
            port => port.parse().map_err(|_| format!("{port} is no port"))?,
        };
        let host = match port == default_port(scheme) {
            true => name,
            false => format!("{name}:{port}"),
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let origin = format!("{scheme}://{host}");
        let uri = format!("{origin}{path}")
            .parse()
            .map_err(|error| format!("{error}"))?;
        Ok(Self { uri, origin, host })
    }

    /// Where it is, without the query.
    pub(crate) fn place(&self) -> String {
        format!("{}{}", self.origin, self.uri.path())
    }

    /// Whether it is spoken to over TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.uri.scheme() == Some(&Scheme::HTTPS)
    }

    /// Whether what is sent to it stays on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(self.uri.host().unwrap_or_default())
    }

    /// Where a redirect from `from`, a URI of this origin, leads, if it is in the same origin.
    pub(crate) fn redirect(&self, from: &Uri, location: &str) -> Option<Uri> {
        let location = location.split('#').next().unwrap_or_default();
        let target = if has_scheme(location) {
            Self::parse(location).ok()?
        } else if location.starts_with("//") {
            Self::parse(&format!("{}:{location}", self.uri.scheme_str()?)).ok()?
        } else {
            let path = relative(from, location);
            Self::parse(&format!("{}{path}", self.origin)).ok()?
        };
        (target.origin == self.origin).then_some(target.uri)
    }
}

/// The error of a URL that cannot be used.
pub(crate) fn unusable(what: &str, url: &str, why: &str) -> Error {
    Error::invalid(format!(
        "{what} {:?} cannot be used: {why}",
        without_secrets(url)
    ))
}

/// A URL without what may be secret in it.
pub(crate) fn without_secrets(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = &url[..end];
    match (url.rfind('@'), url.find("//")) {
        (Some(at), Some(start)) if start < at => format!("{}...{}", &url[..start + 2], &url[at..]),
        (Some(at), _) => format!("...{}", &url[at..]),
        _ => url.to_owned(),
    }
}

fn is_web(scheme: &Scheme) -> bool {
    [Scheme::HTTP, Scheme::HTTPS].contains(scheme)
}

fn default_port(scheme: &Scheme) -> u16 {
    match *scheme == Scheme::HTTPS {
        true => 443,
        false => 80,
    }
}

fn has_scheme(reference: &str) -> bool {
    let scheme = reference.split(['/', '?']).next().unwrap_or_default();
    scheme.contains(':')
}

/// A reference without scheme and host, from where it was found to a path (RFC 3986, 5.2).
fn relative(from: &Uri, reference: &str) -> String {
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    let base = from.path();
    let (path, query) = match path {
        "" => (base.to_owned(), query.or(from.query())),
        path if path.starts_with('/') => (without_dots(path), query),
        path => {
            let folder = base.rfind('/').map_or("/", |end| &base[..=end]);
            (without_dots(&format!("{folder}{path}")), query)
        }
    };
    match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    }
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match part {
            "." | ".." => {
                if part == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_has_one_spelling() {
        for (url, identity) in [
            ("https://example.com/mcp", "https://example.com/mcp"),
            ("HTTPS://Example.COM:443/Mcp", "https://example.com/Mcp"),
            ("http://example.com:80", "http://example.com/"),
            ("http://example.com:/a", "http://example.com/a"),
            ("https://example.com:80/", "https://example.com:80/"),
            ("http://[::1]:3000/a?key=secret", "http://[::1]:3000/a"),
            ("http://127.0.0.1:08080/a#b", "http://127.0.0.1:8080/a"),
        ] {
            let endpoint = Endpoint::parse(url).expect(url);
            assert_eq!(endpoint.place(), identity);
        }
        let endpoint = Endpoint::parse("http://[::1]:3000/a?key=secret").expect("a URL");
        assert_eq!(endpoint.host, "[::1]:3000");
        assert_eq!(endpoint.uri.to_string(), "http://[::1]:3000/a?key=secret");
    }

    #[test]
    fn what_is_no_server_is_refused() {
        for (url, why) in [
            ("example.com/mcp", ""),
            ("localhost:3000", "http://"),
            ("/mcp", "http://"),
            ("ftp://example.com/", "http://"),
            ("http://user:pw@example.com/", "password"),
            ("http://example.com:99999/", "99999"),
            ("http://example.com:x/", ""),
            ("http:///mcp", ""),
            ("http://:80/", ""),
            ("http://exa mple.com/", ""),
            ("", ""),
        ] {
            let error = Endpoint::parse(url).expect_err(url);
            assert!(error.contains(why), "{url}: {error}");
        }
    }

    #[test]
    fn errors_keep_secrets() {
        for url in [
            "http://user:hidden@example.com/",
            "user:hidden@example.com",
            "http://example.com/?key=hidden",
            "http://example.com/#hidden",
        ] {
            let text = unusable("the URL", url, "no").to_string();
            assert!(!text.contains("hidden"), "{text}");
            assert!(text.contains("example.com"), "{text}");
        }
    }

    #[test]
    fn redirects_stay_in_their_origin() {
        let endpoint = Endpoint::parse("http://example.com/a/b?q=1").expect("a URL");
        for (location, target) in [
            ("/c", Some("http://example.com/c")),
            ("c", Some("http://example.com/a/c")),
            ("b/", Some("http://example.com/a/b/")),
            ("../c?x=/../y", Some("http://example.com/c?x=/../y")),
            ("../../../c", Some("http://example.com/c")),
            ("./", Some("http://example.com/a/")),
            ("..", Some("http://example.com/")),
            ("?x", Some("http://example.com/a/b?x")),
            ("", Some("http://example.com/a/b?q=1")),
            ("/c#d", Some("http://example.com/c")),
            ("/c:d", Some("http://example.com/c:d")),
            ("//EXAMPLE.com:80/c", Some("http://example.com/c")),
            ("http://example.com:80/c", Some("http://example.com/c")),
            ("https://example.com/c", None),
            ("http://example.com:81/c", None),
            ("http://user@example.com/c", None),
            ("http://example.com.evil.org/c", None),
            ("//evil.org/c", None),
            ("javascript:alert(1)", None),
            ("http:example.com", None),
        ] {
            let found = endpoint.redirect(&endpoint.uri, location);
            assert_eq!(
                found.map(|uri| uri.to_string()).as_deref(),
                target,
                "{location}"
            );
        }
    }
}
