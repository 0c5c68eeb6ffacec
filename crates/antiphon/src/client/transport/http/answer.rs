//! What a response says: a message, a stream of them, or no.

use std::{future::poll_fn, pin::Pin, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
    response::Parts,
};
use http_body::Body;
use hyper::body::Incoming as HttpBody;
use serde::Deserialize;
use tokio::time::timeout;

use super::cause::Cause;
use crate::client::{Error, ErrorKind, Incoming, excerpt::push_printable};

/// How a request is answered.
pub(super) enum Served {
    /// With this message.
    Whole(Bytes),
    /// With a stream of events.
    Events(HttpBody),
}

/// Reads the response of a request that was served.
pub(super) async fn served(head: &Parts, body: HttpBody, limit: usize) -> Result<Served, Error> {
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
                printable(&text)
            )))
        }
    }
}

/// Reads a response that is nothing of the protocol's, of this length at most.
pub(super) async fn document(head: &Parts, body: HttpBody, limit: usize) -> Result<Bytes, Error> {
    readable(&head.headers)?;
    match gather(body, limit).await {
        (text, End::Whole) => Ok(text),
        (_, End::TooLong) => {
            let message = format!("the response is longer than {limit} bytes");
            Err(Error::decode(message))
        }
        (_, End::Broken(error)) => Err(broken(error)),
    }
}

/// Reads the response of a request that was not served.
pub(super) async fn refused(
    status: StatusCode,
    body: HttpBody,
    limit: usize,
) -> Result<Incoming, Error> {
    let (text, end) = gather(body, limit).await;
    if matches!(end, End::Whole) && Refusal::of(&text).is_some() {
        return Ok(Incoming::Refused {
            status: status.as_u16(),
            message: text,
        });
    }
    Err(status_error(status, &printable(&text)))
}

/// The error of a message that has no answer of its own, and was not taken.
pub(super) async fn not_taken(status: StatusCode, body: HttpBody) -> Error {
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
pub(super) async fn ignore(body: HttpBody) {
    const PATIENCE: Duration = Duration::from_millis(500);
    if !body.is_end_stream() {
        _ = timeout(PATIENCE, gather(body, EXCERPT)).await;
    }
}

/// What the body of a refusal says, in short.
pub(super) async fn in_short(body: HttpBody) -> String {
    let (text, _) = gather(body, EXCERPT).await;
    match Refusal::of(&text) {
        Some(refusal) => printable(refusal.message.as_bytes()),
        None => printable(&text),
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
                printable(encoding.as_bytes())
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
            Self::Other(format!("of content type {}", printable(value)))
        }
    }
}

/// How reading a body ended.
enum End {
    Whole,
    TooLong,
    Broken(hyper::Error),
}

/// Reads a body, but not more than `limit` bytes of it.
async fn gather(mut body: HttpBody, limit: usize) -> (Bytes, End) {
    /// What is allocated on the word of the server.
    const TRUSTED: u64 = 1 << 20;
    let announced = body.size_hint().exact();
    let mut first = Bytes::new();
    let mut all: Vec<u8> = Vec::new();
    let end = loop {
        let frame = match poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => break End::Broken(error),
            None => break End::Whole,
        };
        let Ok(part) = frame.into_data() else {
            continue;
        };
        let room = limit - first.len().max(all.len());
        let fits = part.len() <= room;
        let part = part.slice(..part.len().min(room));
        // Most bodies come in one piece, which can stay as it is.
        if first.is_empty() && all.is_empty() {
            first = part;
        } else {
            if all.is_empty() {
                all.reserve(announced.unwrap_or(0).min(TRUSTED) as usize);
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&part);
        }
        if !fits {
            break End::TooLong;
        }
    };
    let bytes = match all.is_empty() {
        true => first,
        false => all.into(),
    };
    (bytes, end)
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

/// Text of a server on one line, cut short, without anything a terminal could take for a
/// command.
pub(super) fn printable(text: &[u8]) -> String {
    const CHARACTERS: usize = 200;
    // A character takes four bytes at most; blanks are not counted on.
    let text = &text[..text.len().min(EXCERPT)];
    let text = String::from_utf8_lossy(text);
    let mut short = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if !short.is_empty() {
            short.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count >= CHARACTERS {
                short.push_str("...");
                return short;
            }
            push_printable(&mut short, character);
            count += 1;
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_harmless() {
        for (text, expected) in [
            (
                "  <h1>\n\tNot \"found\"</h1>\r\n",
                "<h1> Not \"found\"</h1>",
            ),
            ("\u{1b}[31mred\u{0}", "\\u{1b}[31mred\\0"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("Malmö", "Malmö"),
            ("", ""),
        ] {
            assert_eq!(printable(text.as_bytes()), expected);
        }
        assert_eq!(printable(b"\xffa"), "\u{fffd}a");
        assert_eq!(printable("ö".repeat(9000).as_bytes()).chars().count(), 203);
        assert_eq!(printable("ö".repeat(200).as_bytes()).chars().count(), 200);
    }

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
