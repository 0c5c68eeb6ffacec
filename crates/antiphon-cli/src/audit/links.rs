//! Links that users are sent to: whether others can read along, and what they say of the user.

use std::net::IpAddr;

use percent_encoding::percent_decode_str;

/// Names of parameters that say who somebody is, or let one be taken for them.
const TELLING: [&str; 33] = [
    "access_token",
    "account_id",
    "api_key",
    "apikey",
    "auth",
    "auth_token",
    "authorization",
    "bearer",
    "credential",
    "credentials",
    "e-mail",
    "email",
    "id_token",
    "jwt",
    "login",
    "login_hint",
    "mail",
    "owner",
    "password",
    "phone",
    "principal",
    "refresh_token",
    "secret",
    "session",
    "session_id",
    "sessionid",
    "sid",
    "sub",
    "subject",
    "token",
    "uid",
    "user",
    "username",
];

/// Why a link should not be opened at all.
pub(super) fn insecure(url: &str) -> Option<&'static str> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Some("it is not https");
    };
    match scheme.to_ascii_lowercase().as_str() {
        "https" => None,
        "http" if is_loopback(rest) => None,
        "http" => Some("it is http: others can read along"),
        _ => Some("it is not https"),
    }
}

/// Whether what follows the scheme leads to this very machine.
fn is_loopback(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.to_ascii_lowercase();
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// What a link says of its user, if anything; `states` must not be in it either.
pub(super) fn telling(url: &str, states: &[String]) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Some("it names a user before its host".to_owned());
    }
    if states
        .iter()
        .any(|state| state.len() >= 8 && url.contains(state.as_str()))
    {
        return Some("it holds the state of the call".to_owned());
    }
    let after = &rest[authority.len()..];
    // Both what follows `?` and what follows `#`.
    let query = after.split_once(['?', '#']).map_or("", |(_, query)| query);
    for part in query.split(['&', ';', '#', '?']) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = decoded(name)
            .to_ascii_lowercase()
            .replace("user_id", "user");
        let name = name.replace("userid", "user").replace("user-id", "user");
        if !value.is_empty() && TELLING.contains(&name.as_str()) {
            return Some(format!("its parameter {name} says who the user is"));
        }
    }
    let words = decoded(after);
    let mut words = words.split(['/', '?', '&', '=', '#', ';', ',']);
    if words.clone().any(is_mail) {
        return Some("there is a mail address in it".to_owned());
    }
    // What tokens of three parts begin with.
    match words.any(|word| word.starts_with("eyJ") && word.matches('.').count() >= 2) {
        true => Some("there is a token in it".to_owned()),
        false => None,
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn is_mail(word: &str) -> bool {
    let Some((name, host)) = word.split_once('@') else {
        return false;
    };
    let is_plain = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    is_plain(name) && is_plain(host) && host.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_https_or_to_this_machine() {
        for url in [
            "https://example.com/x",
            "HTTPS://example.com",
            "http://localhost:3000/a",
            "http://127.0.0.1/",
            "http://[::1]:80/",
        ] {
            assert_eq!(insecure(url), None, "{url}");
        }
        for url in [
            "http://example.com",
            "http://localhost.example.com",
            "http://localhost@example.com/",
            "javascript:alert(1)",
            "ftp://example.com",
            "",
        ] {
            assert!(insecure(url).is_some(), "{url}");
        }
    }

    #[test]
    fn links_do_not_tell() {
        let states = ["AQAAWGtleTFub25j".to_owned()];
        for url in [
            "https://example.com/sign-in?handle=Zk3hQ",
            "https://login.example.com/authorize?client_id=x&state=abc&scope=user%20email",
            "https://example.com/user/settings",
            "https://example.com/@handle",
            "https://example.com/#token",
        ] {
            assert_eq!(telling(url, &states), None, "{url}");
        }
        for url in [
            "https://ada@example.com/",
            "https://example.com/?user=ada",
            "https://example.com/?a=b&User_Id=7",
            "https://example.com/?access_token=x",
            "https://example.com/#access_token=x",
            "https://example.com/?a=b#user=ada",
            "https://example.com/for/ada%40example.com",
            "https://example.com/?h=eyJhbGciOiJub25lIn0.e30.",
            "https://example.com/?s=AQAAWGtleTFub25j",
        ] {
            assert!(telling(url, &states).is_some(), "{url}");
        }
    }
}
