//! What a response says: a message, a stream of them, or no.

use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderMap, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
    response::Parts,
};
use http_body::Body;
use serde::Deserialize;
use tokio::time::timeout;

use crate::{
    client::{Error, ErrorKind, Incoming},
    excerpt::one_line,
    web::{Cause, Content, End, gather},
};

/// How a request is answered.
pub(super) enum Served {
    /// With this message.
    Whole(Bytes),
    /// With a stream of events.
    Events(Content),
}

/// Reads the response of a request that was served.
pub(super) async fn served(head: &Parts, body: Content, limit: usize) -> Result<Served, Error> {
    let status = head.status.as_u16();
    readable(&head.headers)?;
    if body.is_end_stream() {
        return Err(empty(status));
    }
    match Media::of(&head.headers) {
        Media::Json if body.size_hint().lower() > limit as u64 => Err(too_long(limit)),
        Media::Json => match gather(body, limit).await {
            (message, End::Whole) if message.is_empty() => Err(empty(status)),
            (message, End::Whole) => Ok(Served::Whole(message)),
            (_, End::TooLong) => Err(too_long(limit)),
            (_, End::Broken(error)) => Err(broken(error)),
        },
        Media::Events => Ok(Served::Events(body)),
        Media::Other(kind) => {
            let (text, _) = gather(body, EXCERPT).await;
            Err(Error::decode(format!(
                "the response is {kind}, neither application/json nor text/event-stream; is this \
                 the URL of an MCP server? It begins: {}",
                one_line(&text)
            )))
        }
    }
}

/// Reads the response of a request that was not served.
pub(super) async fn refused(
    status: StatusCode,
    body: Content,
    limit: usize,
) -> Result<Incoming, Error> {
    let (text, end) = gather(body, limit).await;
    if matches!(end, End::Whole) && Refusal::of(&text).is_some() {
        return Ok(Incoming::Refused {
            status: status.as_u16(),
            message: text,
        });
    }
    Err(status_error(status, &one_line(&text)))
}

/// The error of a message that has no answer of its own, and was not taken.
pub(super) async fn not_taken(status: StatusCode, body: Content) -> Error {
    status_error(status, &in_short(body).await)
}

fn status_error(status: StatusCode, text: &str) -> Error {
    let message = match text {
        "" => format!("the server answered {status}"),
        text => format!("the server answered {status}: {text}"),
    };
    Error::new(ErrorKind::Status(status.as_u16()), message)
}

/// Reads a body that does not matter, so that its connection can be used again. One that is long,
/// or slow, is not worth it.
pub(super) async fn ignore(body: Content) {
    const PATIENCE: Duration = Duration::from_millis(500);
    if !body.is_end_stream() {
        _ = timeout(PATIENCE, gather(body, EXCERPT)).await;
    }
}

/// What the body of a refusal says, in short.
pub(super) async fn in_short(body: Content) -> String {
    let (text, _) = gather(body, EXCERPT).await;
    match Refusal::of(&text) {
        Some(refusal) => one_line(refusal.message.as_bytes()),
        None => one_line(&text),
    }
}

/// The error of a response that did not come to its end.
pub(super) fn broken(error: hyper::Error) -> Error {
    Error::transport("the response stream ended before the response").caused_by(Cause::new(error))
}

/// Whether a body is as it was asked for.
fn readable(headers: &HeaderMap) -> Result<(), Error> {
    match headers.get(CONTENT_ENCODING) {
        Some(encoding) if !encoding.as_bytes().eq_ignore_ascii_case(b"identity") => {
            Err(Error::decode(format!(
                "the response is encoded as {}, which was not asked for",
                one_line(encoding.as_bytes())
            )))
        }
        _ => Ok(()),
    }
}

fn empty(status: u16) -> Error {
    Error::decode(format!(
        "the server answered {status} without the response to the request"
    ))
}

fn too_long(limit: usize) -> Error {
    Error::decode(format!(
        "the response is longer than {limit} bytes, the limit of .max_message_bytes(..)"
    ))
}

/// What kind of body it is.
enum Media {
    Json,
    Events,
    Other(String),
}

impl Media {
    fn of(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(CONTENT_TYPE) else {
            return Self::Other("of no content type".into());
        };
        let value = value.as_bytes();
        let essence = value.split(|byte| *byte == b';').next();
        let essence = essence.unwrap_or_default().trim_ascii();
        if essence.eq_ignore_ascii_case(b"application/json") {
            Self::Json
        } else if essence.eq_ignore_ascii_case(b"text/event-stream") {
            Self::Events
        } else {
            Self::Other(format!("of content type {}", one_line(value)))
        }
    }
}

/// The error in a JSON-RPC message that is one.
#[derive(Deserialize)]
struct Refusal {
    #[serde(rename = "code")]
    _code: i64,
    message: String,
}

impl Refusal {
    fn of(text: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Message {
            jsonrpc: String,
            error: Refusal,
        }
        // Most of what is not JSON is a page.
        text.trim_ascii_start()
            .first()
            .filter(|byte| **byte == b'{')?;
        let message: Message = serde_json::from_slice(text).ok()?;
        (message.jsonrpc == "2.0").then_some(message.error)
    }
}

/// As much of a body as is read to quote from it.
const EXCERPT: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_rpc_errors_pass_for_messages() {
        let is = |text: &str| Refusal::of(text.as_bytes()).is_some();
        assert!(is(
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#
        ));
        assert!(is(
            r#" {"jsonrpc":"2.0","error":{"code":-32020,"message":"","data":1}}"#
        ));
        assert!(!is(r#"{"error":{"code":404,"message":"not found"}}"#));
        assert!(!is(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
        assert!(!is(r#"{"jsonrpc":"2.0","error":"no"}"#));
        assert!(!is("<html>"));
        assert!(!is(""));
    }
}
