//! What the head of a request must say before its body is read.

use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{ACCEPT, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE},
};

/// Why a request is refused on its head alone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) text: String,
}

/// What a request is for, as far as its head says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Post,
    /// Of sessions only.
    Get,
    /// Of sessions only.
    Delete,
}

/// Which sessions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Sessions,
    /// Older clients are served without.
    None,
    /// Older clients are not served.
    Unserved,
}

/// Checks verb, media types and announced size (HTTP-S-25, AMB-19).
pub(crate) fn check(
    method: &Method,
    headers: &HeaderMap,
    limit: usize,
    kept: Kept,
) -> Result<Verb, Refused> {
    let refuse = |status, text: &str| {
        Err(Refused {
            status,
            text: text.to_owned(),
        })
    };
    match (method, kept) {
        (&Method::POST, _) => {}
        (&Method::GET, Kept::Sessions) if accepts_events(headers) => return Ok(Verb::Get),
        (&Method::GET, Kept::Sessions) => {
            return refuse(
                StatusCode::NOT_ACCEPTABLE,
                "Accept must allow text/event-stream: GET opens a stream of a session",
            );
        }
        (&Method::DELETE, Kept::Sessions) => return Ok(Verb::Delete),
        (_, Kept::Sessions) => {
            return refuse(
                StatusCode::METHOD_NOT_ALLOWED,
                "Only POST is served here, and GET and DELETE for sessions of clients of older \
                 protocol revisions",
            );
        }
        (_, Kept::None) => {
            return refuse(
                StatusCode::METHOD_NOT_ALLOWED,
                "Only POST is served here: this server keeps no sessions",
            );
        }
        (_, Kept::Unserved) => {
            return refuse(
                StatusCode::METHOD_NOT_ALLOWED,
                "Only POST is served here: protocol revision 2026-07-28 has no GET or DELETE",
            );
        }
    }
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    if !types.next().is_some_and(is_json) || types.next().is_some() {
        return refuse(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Type must be application/json",
        );
    }
    if headers.contains_key(CONTENT_ENCODING) {
        return refuse(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Encoding is not supported",
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
    Ok(Verb::Post)
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

/// LHTTP-C-05
fn accepts_events(headers: &HeaderMap) -> bool {
    accepts(headers, b"text/event-stream", b"text/*")
}

/// Whether both forms of answer are welcome; a request without `Accept` takes anything.
fn accepts_both(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT).iter();
    match (values.next(), values.next()) {
        (None, _) => true,
        (Some(only), None) if only.as_bytes() == b"application/json, text/event-stream" => true,
        _ => {
            accepts(headers, b"application/json", b"application/*")
                && accepts(headers, b"text/event-stream", b"text/*")
        }
    }
}

/// Whether `Accept` allows a media type: the most specific range that fits decides.
fn accepts(headers: &HeaderMap, exact: &[u8], group: &[u8]) -> bool {
    let mut best = (0, false);
    for value in headers.get_all(ACCEPT) {
        for range in value.as_bytes().split(|byte| *byte == b',') {
            let mut parts = range.split(|byte| *byte == b';');
            let essence = parts.next().unwrap_or_default().trim_ascii();
            let rank = match essence {
                range if range.eq_ignore_ascii_case(exact) => 3,
                range if range.eq_ignore_ascii_case(group) => 2,
                b"*/*" => 1,
                _ => continue,
            };
            if rank > best.0 {
                best = (rank, !parts.any(is_zero_weight));
            }
        }
    }
    best.1
}

/// Whether a parameter of a media range says that it is not wanted.
fn is_zero_weight(parameter: &[u8]) -> bool {
    match parameter.trim_ascii() {
        [b'q' | b'Q', b'=', weight @ ..] => weight.iter().all(|byte| b"0.".contains(byte)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: &Method, pairs: &[(&'static str, &'static str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let checked = check(method, &headers, 100, Kept::Unserved);
        checked.map_or_else(|refused| refused.status.as_u16(), |_| 200)
    }

    /// wire.md 10.1, steps 3, 20 and 21
    #[test]
    fn verbs() {
        let verb = |method: &Method, accept: Option<&'static str>, kept| {
            let mut headers = HeaderMap::new();
            headers.extend(accept.map(|accept| (ACCEPT, HeaderValue::from_static(accept))));
            check(method, &headers, 100, kept).map_err(|refused| refused.status.as_u16())
        };
        let events = Some("text/event-stream");
        assert_eq!(verb(&Method::GET, events, Kept::Sessions), Ok(Verb::Get));
        assert_eq!(
            verb(&Method::DELETE, None, Kept::Sessions),
            Ok(Verb::Delete)
        );
        for accept in [
            None,
            Some("application/json"),
            Some("text/event-stream;q=0"),
        ] {
            assert_eq!(verb(&Method::GET, accept, Kept::Sessions), Err(406));
        }
        assert_eq!(verb(&Method::PUT, events, Kept::Sessions), Err(405));
        for kept in [Kept::None, Kept::Unserved] {
            assert_eq!(verb(&Method::GET, events, kept), Err(405));
            assert_eq!(verb(&Method::DELETE, events, kept), Err(405));
        }
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
        assert_eq!(status(&Method::POST, &[JSON, JSON]), 415);
        assert_eq!(
            status(&Method::POST, &[JSON, ("content-encoding", "gzip")]),
            415
        );
        for (accept, expected) in [
            ("application/json, text/event-stream", 200),
            ("text/event-stream,application/json;q=0.9", 200),
            ("*/*", 200),
            ("application/*, text/*", 200),
            ("application/json", 406),
            ("text/event-stream", 406),
            ("application/json, text/event-stream;q=0", 406),
            ("application/json;q=0, */*", 406),
            ("text/event-stream; Q=0.0, */*", 406),
            ("*/*;q=0, application/json, text/event-stream", 200),
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
