//! [`Address`]: a link that a person may be sent to, taken apart for them to see where it leads.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A link that is `https`, or to this very machine, and means the same to everybody who reads it.
#[derive(Debug, PartialEq)]
pub(super) struct Address<'a> {
    /// What stands before the host.
    pub(super) before: &'a str,
    pub(super) host: &'a str,
    /// What stands behind it.
    pub(super) after: &'a str,
}

impl<'a> Address<'a> {
    /// Takes a link apart.
    ///
    /// # Errors
    /// Why nobody should be sent there (ELIC-C-14).
    pub(super) fn of(url: &'a str) -> Result<Self, &'static str> {
        // Browsers read `\` as `/`.
        if url
            .bytes()
            .any(|byte| !byte.is_ascii_graphic() || byte == b'\\')
        {
            return Err("it holds characters that no link is written with");
        }
        let (scheme, rest) = url
            .split_once("://")
            .ok_or("it is not a whole link, such as https://example.com")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = &rest[..end];
        // `https://bank.example@evil.example` leads to the latter.
        if authority.contains('@') {
            return Err("it names a user, which hides where it leads");
        }
        let length = host(authority).ok_or("it does not say clearly which host it leads to")?;
        let start = scheme.len() + "://".len();
        let (before, rest) = url.split_at(start);
        let (host, after) = rest.split_at(length);
        let address = Self {
            before,
            host,
            after,
        };
        match scheme.to_ascii_lowercase().as_str() {
            "https" => Ok(address),
            "http" if address.is_loopback() => Ok(address),
            "http" => Err("it is neither https nor to this machine: others can read along"),
            _ => Err("it is not https"),
        }
    }

    /// What is odd about it, if anything, in words.
    pub(super) fn warnings(&self) -> Vec<&'static str> {
        let mut warnings = Vec::new();
        // Punycode (ELIC-C-19).
        let is_encoded = |label: &str| {
            let start = label.get(..4);
            start.is_some_and(|start| start.eq_ignore_ascii_case("xn--"))
        };
        if self.host.split('.').any(is_encoded) {
            warnings.push(
                "The host is written in punycode (xn--): in a browser it may look like a host \
                 that you know, and be another.",
            );
        }
        let last = self.host.rsplit('.').find(|label| !label.is_empty());
        let is_number = last.is_some_and(|label| label.starts_with(|c: char| c.is_ascii_digit()));
        if !self.is_loopback() && (is_number || self.host.starts_with('[')) {
            warnings.push("The host is a number and has no name.");
        }
        warnings
    }

    /// Whether it leads to this very machine.
    fn is_loopback(&self) -> bool {
        let name = self.host.trim_start_matches('[').trim_end_matches(']');
        let name = name.to_ascii_lowercase();
        match name.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => name == "localhost" || name.ends_with(".localhost"),
        }
    }
}

/// How long the host is at the start of this; `None` if this is not a host and perhaps a port.
fn host(authority: &str) -> Option<usize> {
    let length = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, _) = rest.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            address.len() + 2
        }
        None => {
            let name = authority.split(':').next().unwrap_or_default();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            if !name.contains(|c: char| c.is_ascii_alphanumeric()) || !name.chars().all(is_plain) {
                return None;
            }
            // Browsers read `127.1` and `2130706433` as addresses.
            let is_number = name.chars().all(|c| c.is_ascii_digit() || c == '.');
            if is_number && name.parse::<Ipv4Addr>().is_err() {
                return None;
            }
            name.len()
        }
    };
    match &authority[length..] {
        "" => Some(length),
        port => port.strip_prefix(':')?.parse::<u16>().ok().map(|_| length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_taken_apart_around_its_host() {
        for (url, host, after) in [
            ("https://example.com", "example.com", ""),
            (
                "https://login.example.com:8443/a?b#c",
                "login.example.com",
                ":8443/a?b#c",
            ),
            ("HTTPS://Example.COM?to=@x", "Example.COM", "?to=@x"),
            ("http://127.0.0.1:80/x", "127.0.0.1", ":80/x"),
            ("http://[::1]:80/x", "[::1]", ":80/x"),
            ("http://a.localhost/", "a.localhost", "/"),
        ] {
            let address = Address::of(url).expect(url);
            assert_eq!((address.host, address.after), (host, after));
            assert_eq!(format!("{}{host}{after}", address.before), url);
        }
    }

    #[test]
    fn nobody_is_sent_where_others_listen_or_nobody_can_tell() {
        for url in [
            "http://example.com/",
            "http://localhost.example.com/",
            "http://10.0.0.1/",
            "ftp://example.com/",
            "javascript:alert(1)",
            "javascript://example.com/%0aalert(1)",
            "file:///etc/passwd",
            "https:/example.com",
            "https://",
            "https://:443/",
            "https://./",
            "https://bank.example@evil.example/",
            "https://evil.example\\@bank.example/",
            "https://ex%61mple.com/",
            "https://example.com:port/",
            "https://example.com:99999/",
            "https://[::1/",
            "https://[::1]x/",
            "https://2130706433/",
            "https://exämple.com/",
            "https://example.com/\u{202e}",
            "https://example.com/ x",
            "https://example.com/\u{1b}[2J",
            "-https://example.com",
            "",
        ] {
            assert!(Address::of(url).is_err(), "{url}");
        }
    }

    #[test]
    fn odd_hosts_are_told() {
        let warned = |url| Address::of(url).expect(url).warnings().join(" ");
        assert!(warned("https://xn--pple-43d.com/").contains("punycode"));
        assert!(warned("https://a.XN--pple-43d.com/").contains("punycode"));
        assert!(warned("https://192.0.2.1/").contains("number"));
        assert!(warned("https://[2001:db8::1]/").contains("number"));
        for url in [
            "https://example.com/xn--",
            "http://127.0.0.1/",
            "http://[::1]/",
        ] {
            assert_eq!(warned(url), "", "{url}");
        }
    }
}
