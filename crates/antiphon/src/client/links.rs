//! Links that a server asks the user to open (ELIC-C-14).

use antiphon_types::{ElicitRequestParams, InputRequest};

use super::transport::is_loopback;

/// ELIC-C-14: why a link must not even be shown; `None` if it may.
pub(super) fn insecure(question: &InputRequest) -> Option<String> {
    let InputRequest::Elicit(ElicitRequestParams::Url(link)) = question else {
        return None;
    };
    // Whatever stands behind a `#` is not looked at by the parser.
    let plain = link.url.bytes().all(|byte| byte.is_ascii_graphic());
    let url: Option<http::Uri> = link.url.parse().ok().filter(|_| plain);
    let safe = url.as_ref().is_some_and(|url| match url.scheme_str() {
        // `https://bank.example@evil.example` leads to the latter.
        _ if url.authority().is_some_and(|to| to.as_str().contains('@')) => false,
        Some("https") => url.host().is_some(),
        Some("http") => url.host().is_some_and(is_loopback),
        _ => false,
    });
    (!safe).then(|| {
        "Links must be https, or to this very machine, plain ASCII, and name no user".to_owned()
    })
}
