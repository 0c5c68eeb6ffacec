//! Who may call at all: `Host` and `Origin`, against DNS rebinding (HTTP-S-02), and the CORS
//! answers for browsers that may.

use http::{
    HeaderMap, HeaderValue, Response, StatusCode, Uri,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
        HOST, ORIGIN, VARY,
    },
};

use super::body::Body;

/// The allow-lists. Loopback is always on them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guard {
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) any_host: bool,
    pub(crate) any_origin: bool,
}

/// What is refused, and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stranger(pub(crate) &'static str);

impl Guard {
    /// The request's origin, if it has one, when both checks pass.
    pub(crate) fn check<'h>(
        &self,
        uri: &'h Uri,
        headers: &'h HeaderMap,
    ) -> Result<Option<&'h HeaderValue>, Stranger> {
        self.check_host(uri, headers)?;
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(None),
            (Some(origin), None) if self.allows_origin(origin) => Ok(Some(origin)),
            (origin, _) => {
                tracing::warn!(
                    ?origin,
                    "refused: a web page of this origin may not call; if it should, add \
                     .allow_origin(..) to the HTTP service"
                );
                Err(Stranger("Origin not allowed"))
            }
        }
    }

    /// Whether this server is known under the name that a request is for.
    pub(crate) fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Stranger> {
        if self.any_host {
            return Ok(());
        }
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok(),
            // HTTP/2 has the authority in the target instead.
            (None, _) => uri.authority().map(http::uri::Authority::as_str),
            _ => None,
        };
        if host.is_some_and(|host| self.allows_host(host)) {
            return Ok(());
        }
        tracing::warn!(
            ?host,
            "refused: this server is not known under that name; if it should be, add \
             .allow_host(..) to the HTTP service"
        );
        Err(Stranger("Host not allowed"))
    }

    fn allows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        is_loopback(name)
            || self
                .hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(host) || known.eq_ignore_ascii_case(name))
    }

    fn allows_origin(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else {
            return false;
        };
        if self.any_origin {
            return true;
        }
        let rest = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        rest.is_some_and(|rest| is_loopback(without_port(rest)))
            || self
                .origins
                .iter()
                .any(|known| known.eq_ignore_ascii_case(origin))
    }
}

fn is_loopback(name: &str) -> bool {
    name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost") || name == "[::1]"
}

/// A host without its port; text that has no valid port stays whole, and so matches nothing.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if !name.is_empty()
                && !port.is_empty()
                && port.bytes().all(|byte| byte.is_ascii_digit())
                && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => host,
    }
}

/// The answer to a browser that asks first. `sessions` says whether there are any.
pub(crate) fn preflight(origin: &HeaderValue, asked: &HeaderMap, sessions: bool) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static(match sessions {
            true => "GET, POST, DELETE",
            false => "POST",
        }),
    );
    // Which Mcp-Param-* there are depends on the tools, so what is asked for is allowed.
    if let Some(names) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    share(headers, origin, sessions);
    response
}

/// Lets a page of this origin read the response.
pub(crate) fn share(headers: &mut HeaderMap, origin: &HeaderValue, sessions: bool) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(match sessions {
            true => "www-authenticate, retry-after, mcp-session-id",
            false => "www-authenticate, retry-after",
        }),
    );
    headers.append(VARY, HeaderValue::from_static("origin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(guard: &Guard, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).expect("a header"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).expect("a header"));
        }
        guard.check(&Uri::from_static("/mcp"), &headers).is_ok()
    }

    /// HTTP-S-02, HTTP-S-03: only loopback by default, and no name that merely looks like it.
    #[test]
    fn loopback_only_by_default() {
        let guard = Guard::default();
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:3000",
            "[::1]",
            "[::1]:8080",
        ] {
            assert!(verdict(&guard, host, None), "{host}");
        }
        for host in [
            "evil.example.com",
            "localhost.evil.com",
            "127.0.0.1.evil.com",
            "127.0.0.1:80:80",
            "localhost:",
            "localhost:x",
            "[::1",
            "::1",
            "",
        ] {
            assert!(!verdict(&guard, host, None), "{host}");
        }
        for (origin, good) in [
            ("http://localhost:5173", true),
            ("https://127.0.0.1", true),
            ("http://[::1]:9", true),
            ("http://evil.example.com", false),
            ("http://localhost.evil.com", false),
            ("http://localhost@evil.com", false),
            ("null", false),
            ("file://localhost", false),
            ("", false),
        ] {
            assert_eq!(verdict(&guard, "localhost", Some(origin)), good, "{origin}");
        }
    }

    #[test]
    fn allow_lists() {
        let guard = Guard {
            hosts: vec!["mcp.example.com".into(), "other.example.com:8443".into()],
            origins: vec!["https://app.example.com".into()],
            ..Guard::default()
        };
        assert!(verdict(&guard, "MCP.example.com:443", None));
        assert!(verdict(&guard, "other.example.com:8443", None));
        assert!(!verdict(&guard, "other.example.com:1", None));
        assert!(verdict(
            &guard,
            "mcp.example.com",
            Some("https://app.example.com")
        ));
        assert!(!verdict(
            &guard,
            "mcp.example.com",
            Some("http://app.example.com")
        ));
        assert!(!verdict(
            &guard,
            "mcp.example.com",
            Some("https://app.example.com:8443")
        ));
    }

    #[test]
    fn two_hosts_are_none() {
        let mut headers = HeaderMap::new();
        headers.append(HOST, HeaderValue::from_static("localhost"));
        headers.append(HOST, HeaderValue::from_static("evil.example.com"));
        let guard = Guard::default();
        let uri = Uri::from_static("/mcp");
        assert_eq!(
            guard.check(&uri, &headers),
            Err(Stranger("Host not allowed"))
        );
    }
}
