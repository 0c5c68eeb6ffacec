//! Which URLs a server can have.

/// Checks that a server can be there, without a look at what it names.
///
/// # Errors
/// What is wrong, in words that do not repeat the URL: it may hold a password.
pub(super) fn check(url: &str) -> Result<(), String> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err("a URL begins with http:// or https://".to_owned());
    };
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        let scheme = crate::printable::excerpt(scheme, 20);
        return Err(format!(
            "{scheme}:// is no way to reach a server; a URL begins with http:// or https://"
        ));
    }
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(
            "the URL names a user or a password, which others can read; give a token with \
             --bearer-env VAR, or bearer_env in antiphon.toml"
                .to_owned(),
        );
    }
    if authority.is_empty() || authority.starts_with(':') {
        return Err("the URL names no host".to_owned());
    }
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("the URL has a blank in it".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_on_the_web() {
        for url in [
            "http://127.0.0.1:8080/mcp",
            "https://[::1]/mcp?user=a@b",
            "HTTPS://tools.example.com",
            "https://example.com/@scope",
        ] {
            assert_eq!(check(url), Ok(()), "{url}");
        }
        for (url, part) in [
            ("ftp://example.com", "ftp://"),
            ("example.com", "begins with http://"),
            ("://x", "begins with http://"),
            ("https://ada:s3cret@example.com", "--bearer-env"),
            ("https://s3cret@example.com/x", "--bearer-env"),
            ("https:///mcp", "no host"),
            ("https://:80/mcp", "no host"),
            ("https://a.example/\u{7}s3cret", "blank"),
        ] {
            let told = check(url).expect_err(url);
            assert!(told.contains(part), "{told}");
            assert!(!told.contains("s3cret"), "{told}");
        }
    }
}
