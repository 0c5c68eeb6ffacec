//! A name in a rule, in which `*` stands for anything.

/// A text, or several: `*` is any run of characters, also none.
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        let Some((first, others)) = self.0.split_once('*') else {
            return self.0 == text;
        };
        let (middle, last) = others.rsplit_once('*').unwrap_or(("", others));
        let inner = text.strip_prefix(first);
        let Some(mut inner) = inner.and_then(|inner| inner.strip_suffix(last)) else {
            return false;
        };
        // The first place for each part leaves the most to the next.
        middle.split('*').all(|part| match inner.find(part) {
            Some(at) => {
                inner = &inner[at + part.len()..];
                true
            }
            None => false,
        })
    }

    /// Whether a server at this URL is meant. A `*` in the host stays in the host: what
    /// `https://*.example.com/*` says of `https://evil.example/a.example.com/` is no. Without a
    /// scheme it is for the host alone.
    pub(super) fn matches_url(&self, origin: &str, path: &str) -> bool {
        let Some((scheme, host, rest)) = self.url() else {
            return self.0 == "*" || self.matches_host(origin);
        };
        let is_there = Self(format!("{scheme}://{host}")).matches(origin);
        is_there && (rest.is_empty() && host.ends_with('*') || Self::new(rest).matches(path))
    }

    /// Whether it is for the host of this origin, on any port unless it names one. One that ends
    /// with `*` is for names alone: `shop*` would also be for `shop.evil.example`.
    fn matches_host(&self, origin: &str) -> bool {
        let (_, authority) = origin.split_once("://").unwrap_or(("", origin));
        let ((host, port), (wanted, on)) = (split_port(authority), split_port(&self.0));
        let is_open = wanted.ends_with('*') && wanted != "*";
        !is_open
            && Self::new(wanted).matches(host)
            && on.is_none_or(|on| Self::new(on).matches(port.unwrap_or_default()))
    }

    /// Whether it is for a URL whose host goes on as it likes: `https://example.com*` is also for
    /// `https://example.com.evil.example`.
    pub(super) fn leaves_host_open(&self) -> bool {
        let host = self.url().map(|(_, host, _)| host);
        host.is_some_and(|host| host.ends_with('*') && host != "*" && !host.ends_with(":*"))
    }

    /// The scheme, the host with its port, and what follows.
    fn url(&self) -> Option<(&str, &str, &str)> {
        let (scheme, rest) = self.0.split_once("://")?;
        let (host, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        Some((scheme, host, rest))
    }
}

/// A host and its port; the colons of `[::1]` are its own.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_scheme_it_is_for_the_host() {
        for (pattern, matching, others) in [
            (
                "*.example.com",
                &["https://a.example.com", "http://a.b.example.com:8080"][..],
                &["https://example.com", "https://a.example.com.evil.example"][..],
            ),
            (
                "localhost:3000",
                &["http://localhost:3000"],
                &["http://localhost", "http://localhost:3001"],
            ),
            (
                "localhost:*",
                &["http://localhost:3000"],
                &["http://localhost.evil.example:3000"],
            ),
            (
                "[::1]",
                &["http://[::1]:3000", "http://[::1]"],
                &["http://[::2]"],
            ),
            ("[::1]:3000", &["http://[::1]:3000"], &["http://[::1]:1"]),
            ("shop", &["http://shop"], &["https://shop.evil.example"]),
            ("shop*", &[], &["http://shop", "https://shop.evil.example"]),
            ("shop.*", &[], &["https://shop.example"]),
            ("*", &["https://anybody.example"], &[]),
            ("a.example/*", &[], &["https://a.example"]),
        ] {
            let of = Pattern::new(pattern);
            for origin in matching {
                assert!(of.matches_url(origin, "/mcp"), "{pattern} and {origin}");
            }
            for origin in others {
                assert!(!of.matches_url(origin, "/mcp"), "{pattern} and {origin}");
                // Nor does a path help.
                assert!(!of.matches_url(origin, "/a.example.com"), "{pattern}");
            }
        }
    }

    #[test]
    fn a_star_in_a_host_stays_there() {
        for (pattern, matching, others) in [
            (
                "https://*.example.com/*",
                &["https://a.example.com/", "https://a.b.example.com/mcp"][..],
                &[
                    "https://evil.example/x.example.com/mcp",
                    "https://a.example.com.evil.example/",
                ][..],
            ),
            (
                "https://*",
                &["https://a.example/mcp"],
                &["http://a.example/mcp"],
            ),
            (
                "http://127.0.0.1:*",
                &["http://127.0.0.1:80/mcp"],
                &["http://127.0.0.1.evil.example/"],
            ),
            (
                "https://a.example/mcp",
                &["https://a.example/mcp"],
                &["https://a.example/mcp/b"],
            ),
            ("*", &["https://a.example/mcp"], &[]),
        ] {
            let pattern_of = Pattern::new(pattern);
            assert!(!pattern_of.leaves_host_open(), "{pattern}");
            let matches = |url: &str| {
                let at = url.find("://").map_or(0, |at| at + 3);
                let at = url[at..].find('/').map_or(url.len(), |slash| at + slash);
                pattern_of.matches_url(&url[..at], &url[at..])
            };
            for url in matching {
                assert!(matches(url), "{pattern} and {url}");
            }
            for url in others {
                assert!(!matches(url), "{pattern} and {url}");
            }
        }
        assert!(Pattern::new("https://shop.example.com*").leaves_host_open());
        assert!(Pattern::new("https://shop.*/mcp").leaves_host_open());
    }

    #[test]
    fn a_star_is_any_run() {
        for (pattern, matching, others) in [
            ("a", &["a"][..], &["", "b", "aa", "*"][..]),
            ("", &[""], &["a"]),
            ("*", &["", "a", "a\nb"], &[]),
            (
                "https://x/*",
                &["https://x/", "https://x/mcp"],
                &["https://x", "http://x/"],
            ),
            ("*.txt", &[".txt", "a.txt.txt"], &["a.txt.gz"]),
            ("a*a", &["aa", "aba"], &["a", "ab"]),
            (
                "a*b*c",
                &["abc", "a-b-b-c", "abcbc"],
                &["ac", "acb", "ab", "bc"],
            ),
            ("a**b", &["ab", "a-b"], &["a"]),
            ("*é*", &["é", "naïve é!"], &["e"]),
        ] {
            let pattern_of = Pattern::new(pattern);
            for text in matching {
                assert!(pattern_of.matches(text), "{pattern} and {text}");
            }
            for text in others {
                assert!(!pattern_of.matches(text), "{pattern} and {text}");
            }
        }
    }
}
