//! Any head and body through the tower service. The input is a verb, header lines, an empty
//! line and a body.
#![no_main]

use std::pin::pin;

use antiphon::http::HttpService;
use antiphon_fuzz::{endpoint, response_id, runtime};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use libfuzzer_sys::fuzz_target;
use tower_service::Service;

fuzz_target!(|bytes: &[u8]| {
    let Some(request) = read(bytes) else { return };
    let head = request.headers().clone();
    let mut service: HttpService = antiphon::http::service(endpoint().clone());
    runtime().block_on(async {
        let Ok(response) = service.call(request).await;
        check(&head, response).await;
        // What ran for a stream that is gone has to be told.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    });
    assert_eq!(endpoint().calls(), 0, "every call is over");
});

fn read(bytes: &[u8]) -> Option<Request<Full<Bytes>>> {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n")?;
    let (head, body) = (&bytes[..end], &bytes[end + 2..]);
    let mut lines = head.split(|byte| *byte == b'\n');
    let mut request = Request::new(Full::new(Bytes::copy_from_slice(body)));
    *request.method_mut() = http::Method::from_bytes(lines.next()?).ok()?;
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
        request.headers_mut().append(name, value);
    }
    Some(request)
}

async fn check(head: &HeaderMap, response: Response<antiphon::http::Body>) {
    let (parts, body) = response.into_parts();
    let status = parts.status.as_u16();
    assert!(
        [200, 202, 204, 400, 403, 404, 405, 406, 413, 415].contains(&status),
        "{status}"
    );
    if !local(head, "host") {
        assert_eq!(status, 403);
    }
    if head.contains_key("origin") && !local(head, "origin") {
        assert_eq!(status, 403);
    }
    let kind = parts.headers.get("content-type").map(HeaderValue::as_bytes);
    let mut body = pin!(body);
    let mut text = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame;
        text.extend_from_slice(frame.data_ref().expect("no trailers"));
        // A subscription goes on until the client has enough.
        let stream = kind == Some(b"text/event-stream");
        if stream && text.windows(13).any(|part| part == b"/acknowledged") {
            break;
        }
    }
    match kind {
        None => assert!(text.is_empty() && matches!(status, 202 | 204)),
        Some(b"application/json") => assert!(response_id(&text).is_some()),
        Some(b"text/event-stream") => {
            let text = text.strip_suffix(b"\n\n").expect("whole events");
            for event in String::from_utf8(text.to_vec())
                .expect("UTF-8")
                .split("\n\n")
            {
                let data = event.strip_prefix("data: ").expect("one line of data");
                assert!(!data.contains(['\n', '\r']));
                response_id(data.as_bytes());
            }
        }
        Some(other) => panic!("{}", other.escape_ascii()),
    }
}

/// Whether the one header of this name speaks of this machine.
fn local(head: &HeaderMap, name: &str) -> bool {
    let values: Vec<_> = head.get_all(name).iter().collect();
    let [value] = values.as_slice() else {
        return false;
    };
    let Ok(mut text) = value.to_str() else {
        return false;
    };
    if name == "origin" {
        let rest = text
            .strip_prefix("http://")
            .or(text.strip_prefix("https://"));
        text = rest.unwrap_or_default();
    }
    let text = text.to_ascii_lowercase();
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| {
        text.strip_prefix(name)
            .is_some_and(|rest| match rest.strip_prefix(':') {
                Some(port) => !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()),
                None => rest.is_empty(),
            })
    })
}
