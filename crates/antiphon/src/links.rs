//! Links that users are asked to open, and the hosts that are this very machine.

use std::net::IpAddr;

/// What every link must be (ELIC-C-14, ELIC-S-28).
pub(crate) const RULE: &str =
    "Links must be https, or to this very machine, plain ASCII, and name no user";

/// Whether a user may be asked to open a link.
pub(crate) fn is_safe(link: &str) -> bool {
    // Whatever stands behind a `#` is not looked at by the parser.
    let plain = link.bytes().all(|byte| byte.is_ascii_graphic());
    let url: Option<http::Uri> = link.parse().ok().filter(|_| plain);
    url.as_ref().is_some_and(|url| match url.scheme_str() {
        // `https://bank.example@evil.example` leads to the latter.
        _ if url.authority().is_some_and(|to| to.as_str().contains('@')) => false,
        Some("https") => url.host().is_some(),
        Some("http") => url.host().is_some_and(is_loopback),
        _ => false,
    })
}

/// Whether what is sent to a host stays on this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let name = host.trim_start_matches('[').trim_end_matches(']');
    match name.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => {
            name.eq_ignore_ascii_case("localhost")
                || name.to_ascii_lowercase().ends_with(".localhost")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_this_machine_only() {
        for host in [
            "localhost",
            "LocalHost",
            "a.localhost",
            "127.0.0.1",
            "127.9.9.9",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "localhost.example.com",
            "127.0.0.1.example.com",
            "notlocalhost",
            "10.0.0.1",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
