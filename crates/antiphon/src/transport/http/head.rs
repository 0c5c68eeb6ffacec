//! What the head of a request must say before its body is read.

use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE},
};

/// Why a request is refused on its head alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) text: String,
}

/// Checks verb, media types and announced size (HTTP-S-25, AMB-19).
pub(crate) fn check(method: &Method, headers: &HeaderMap, limit: usize) -> Result<(), Refused> {
    let refuse = |status, text: &str| {
        Err(Refused {
            status,
            text: text.to_owned(),
        })
    };
    if method != Method::POST {
        return refuse(
            StatusCode::METHOD_NOT_ALLOWED,
            "Only POST is served here: protocol revision 2026-07-28 has no GET or DELETE",
        );
    }
    if !headers.get(CONTENT_TYPE).is_some_and(is_json) {
        return refuse(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Type must be application/json",
        );
    }
    if !accepts_both(headers) {
        return refuse(
            StatusCode::NOT_ACCEPTABLE,
            "Accept must allow both application/json and text/event-stream",
        );
    }
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|announced: usize| announced > limit) {
        return Err(too_large(limit));
    }
    Ok(())
}

/// The refusal of a body over the limit.
pub(crate) fn too_large(limit: usize) -> Refused {
    Refused {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        text: format!("The body is longer than {limit} bytes"),
    }
}

fn is_json(value: &HeaderValue) -> bool {
    let bytes = value.as_bytes();
    bytes == b"application/json"
        || bytes
            .split(|byte| *byte == b';')
            .next()
            .is_some_and(|essence| {
                essence
                    .trim_ascii()
                    .eq_ignore_ascii_case(b"application/json")
            })
}

/// Whether both forms of answer are welcome; a request without `Accept` takes anything.
fn accepts_both(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let (mut json, mut events) = (false, false);
    for value in values {
        if value.as_bytes() == b"application/json, text/event-stream" {
            return true;
        }
        for range in value.as_bytes().split(|byte| *byte == b',') {
            let mut parts = range.split(|byte| *byte == b';');
            let essence = parts.next().unwrap_or_default().trim_ascii();
            // A weight of zero takes it back.
            if parts.any(|part| {
                let part = part.trim_ascii();
                part.starts_with(b"q=0") && part[3..].iter().all(|byte| b".0".contains(byte))
            }) {
                continue;
            }
            let is = |name: &[u8]| essence.eq_ignore_ascii_case(name);
            json |= is(b"application/json") || is(b"application/*") || is(b"*/*");
            events |= is(b"text/event-stream") || is(b"text/*") || is(b"*/*");
        }
    }
    json && events
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: &Method, pairs: &[(&'static str, &'static str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        check(method, &headers, 100).map_or_else(|refused| refused.status.as_u16(), |()| 200)
    }

    #[test]
    fn heads() {
        const JSON: (&str, &str) = ("content-type", "application/json");
        assert_eq!(status(&Method::GET, &[JSON]), 405);
        assert_eq!(status(&Method::DELETE, &[JSON]), 405);
        assert_eq!(status(&Method::POST, &[]), 415);
        assert_eq!(
            status(&Method::POST, &[("content-type", "text/plain")]),
            415
        );
        assert_eq!(
            status(&Method::POST, &[("content-type", "application/jsonp")]),
            415
        );
        let charset = ("content-type", "Application/JSON; charset=utf-8");
        assert_eq!(status(&Method::POST, &[charset]), 200);
        for (accept, expected) in [
            ("application/json, text/event-stream", 200),
            ("text/event-stream,application/json;q=0.9", 200),
            ("*/*", 200),
            ("application/*, text/*", 200),
            ("application/json", 406),
            ("text/event-stream", 406),
            ("application/json, text/event-stream;q=0", 406),
            ("text/html", 406),
            ("", 406),
        ] {
            assert_eq!(
                status(&Method::POST, &[JSON, ("accept", accept)]),
                expected,
                "{accept}"
            );
        }
        let apart = [
            JSON,
            ("accept", "application/json"),
            ("accept", "text/event-stream"),
        ];
        assert_eq!(status(&Method::POST, &apart), 200);
        assert_eq!(
            status(&Method::POST, &[JSON, ("content-length", "101")]),
            413
        );
        assert_eq!(
            status(&Method::POST, &[JSON, ("content-length", "100")]),
            200
        );
    }
}
