//! Where authorization servers publish what there is to know of them.

/// Where the metadata of an issuer may be, in order (AUTH-C-07, AUTH-C-08). The issuer is not written
/// anew: whatever else stands in it stays as it is.
pub(crate) fn issuer_metadata(issuer: &str) -> Vec<String> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";
    let host = issuer.find("://").map_or(0, |at| at + 3);
    let path = issuer[host..]
        .find('/')
        .map_or(issuer.len(), |at| host + at);
    let (origin, path) = issuer.split_at(path);
    let path = path.trim_end_matches('/');
    let mut places = vec![
        format!("{origin}{OAUTH}{path}"),
        format!("{origin}{OPENID}{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{origin}{path}{OPENID}"));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_for_in_order() {
        for issuer in ["https://as.example", "https://as.example/"] {
            assert_eq!(
                issuer_metadata(issuer),
                [
                    "https://as.example/.well-known/oauth-authorization-server",
                    "https://as.example/.well-known/openid-configuration",
                ]
            );
        }
        assert_eq!(
            issuer_metadata("https://as.example:8443/a/b"),
            [
                "https://as.example:8443/.well-known/oauth-authorization-server/a/b",
                "https://as.example:8443/.well-known/openid-configuration/a/b",
                "https://as.example:8443/a/b/.well-known/openid-configuration",
            ]
        );
    }
}
