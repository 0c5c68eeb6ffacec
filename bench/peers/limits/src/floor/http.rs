//! The floor over HTTP: one POST, one JSON answer.

use std::{convert::Infallible, io, sync::Arc};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, HOST, HeaderValue, ORIGIN},
    http::request::Parts,
    service::service_fn,
};

use super::{
    Floor, Step,
    message::Message,
    reply::{Refusal, tool_answer},
};
use crate::body::{Unread, json, read};

pub(crate) async fn http(port: u16, fillers: usize) -> io::Result<()> {
    let floor = Arc::new(Floor::new(fillers));
    let service = service_fn(move |request| {
        let floor = floor.clone();
        async move { Ok::<_, Infallible>(floor.post(request).await) }
    });
    contract::serve(port, service).await
}

impl Floor {
    async fn post(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        if let Some(refused) = refuse(&head) {
            return refused;
        }
        let body = match read(body).await {
            Ok(body) => body,
            Err(Unread::TooLong) => return empty(StatusCode::PAYLOAD_TOO_LARGE),
            Err(Unread::Broken) => return empty(StatusCode::BAD_REQUEST),
        };
        let step = self.take(&body, |message| mirrored(&head.headers, message));
        match step {
            Ok(Step::Work(id, work)) => {
                let outcome = work.await;
                json(StatusCode::OK, tool_answer(&id, &outcome))
            }
            Ok(Step::Answer(answer)) => json(StatusCode::OK, answer),
            Ok(Step::Nothing) => empty(StatusCode::ACCEPTED),
            Err((id, refusal)) => json(refusal.status(), refusal.answer(&id)),
        }
    }
}

/// Turns away what must not be read at all.
fn refuse(head: &Parts) -> Option<Response<Full<Bytes>>> {
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(is_loopback) {
        return Some(empty(StatusCode::FORBIDDEN));
    }
    // Without an Origin there is no browser, and nothing that could have been lured here.
    if let Some(origin) = head.headers.get(ORIGIN) {
        let host = origin.to_str().ok().and_then(|o| o.strip_prefix("http://"));
        if !host.is_some_and(is_loopback) {
            return Some(empty(StatusCode::FORBIDDEN));
        }
    }
    if head.uri.path() != "/mcp" {
        return Some(empty(StatusCode::NOT_FOUND));
    }
    if head.method != Method::POST {
        let mut refused = empty(StatusCode::METHOD_NOT_ALLOWED);
        refused
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("POST"));
        return Some(refused);
    }
    None
}

/// Whether a `Host`, with or without its port, is this machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

/// Checks the headers that repeat a part of the body.
fn mirrored(headers: &HeaderMap, message: &Message<'_>) -> Result<(), Refusal> {
    let repeats = |header: &str, value: Option<&str>| {
        headers.get(header).map(HeaderValue::as_bytes) == value.map(str::as_bytes)
    };
    if !repeats("mcp-protocol-version", message.version()) {
        return Err(Refusal::Mirror("MCP-Protocol-Version"));
    }
    if !repeats("mcp-method", Some(message.method())) {
        return Err(Refusal::Mirror("Mcp-Method"));
    }
    if message.method() == "tools/call" && !repeats("mcp-name", message.name()) {
        return Err(Refusal::Mirror("Mcp-Name"));
    }
    Ok(())
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_this_machine_is_loopback() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost:9",
            "[::1]:7",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["127.0.0.1.example.com", "example.com:80", "localhost:x", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
