//! One pass over a message that a server sent.

use std::{borrow::Cow, fmt, ops::Range};

use antiphon_types::{ErrorObject, RequestId, decode};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A message of a server, borrowed from its text.
#[derive(Debug)]
pub enum Reply<'a> {
    /// A request succeeded.
    Result {
        /// Which.
        id: RequestId,
        /// What it gave.
        result: &'a RawValue,
    },
    /// A request failed.
    Error {
        /// Which; none when the server could not read it.
        id: Option<RequestId>,
        /// Why.
        error: ErrorObject,
    },
    /// A notification.
    Notification {
        /// What happened.
        method: Cow<'a, str>,
        /// With what.
        params: Option<&'a RawValue>,
    },
    /// A request, which servers of this revision do not send (STDIO-S-03).
    Request {
        /// Its id.
        id: &'a RawValue,
        /// What it wants.
        method: Cow<'a, str>,
        /// With what.
        params: Option<&'a RawValue>,
    },
}

/// Text that is no message.
#[derive(Debug)]
pub struct NoMessage(String);

impl fmt::Display for NoMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoMessage {}

/// Where the result of a response is, and which request it is of, if the response looks as most
/// servers write one: `jsonrpc`, `id` and `result`, and nothing after that.
///
/// This reads no JSON, and so is only a guess, which saves going over the result twice. It was
/// right if that part turns out to be one JSON value; if not, [`Reply::parse`] tells what it is.
pub fn guess_result(message: &[u8]) -> Option<(i64, Range<usize>)> {
    const BEFORE: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    const BETWEEN: &[u8] = br#","result":"#;
    let message = message.trim_ascii_end();
    let rest = message.strip_prefix(BEFORE)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (id, rest) = rest.split_at(digits);
    // No number begins with a zero that is not all of it.
    let id = std::str::from_utf8(id)
        .ok()
        .filter(|id| !id.starts_with('0'))?;
    let result = rest.strip_prefix(BETWEEN)?.strip_suffix(b"}")?;
    let start = BEFORE.len() + digits + BETWEEN.len();
    Some((id.parse().ok()?, start..start + result.len()))
}

impl<'a> Reply<'a> {
    /// Reads a message.
    ///
    /// # Errors
    /// When it is not JSON, not JSON-RPC 2.0, or not just one of the four.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, NoMessage> {
        #[derive(Deserialize)]
        struct Wire<'a> {
            #[serde(borrow)]
            jsonrpc: Cow<'a, str>,
            #[serde(borrow, default)]
            id: Option<&'a RawValue>,
            #[serde(borrow, default)]
            method: Option<Cow<'a, str>>,
            #[serde(borrow, default)]
            params: Option<&'a RawValue>,
            #[serde(borrow, default)]
            result: Option<&'a RawValue>,
            #[serde(borrow, default)]
            error: Option<&'a RawValue>,
        }

        let text = std::str::from_utf8(bytes)
            .map_err(|error| NoMessage(format!("it is not UTF-8: {error}")))?;
        let wire: Wire<'a> = decode(text).map_err(|error| NoMessage(error.to_string()))?;
        if wire.jsonrpc != "2.0" {
            return Err(NoMessage("`jsonrpc` is not \"2.0\"".to_owned()));
        }
        let id = |raw: &RawValue| {
            RequestId::from_raw(raw.get())
                .ok_or_else(|| NoMessage("`id` is neither a string nor an integer".to_owned()))
        };
        let params = wire.params;
        match (wire.method, wire.result, wire.error) {
            (None, Some(result), None) => {
                let raw = wire
                    .id
                    .ok_or_else(|| NoMessage("a result without an id".into()))?;
                Ok(Self::Result {
                    id: id(raw)?,
                    result,
                })
            }
            (None, None, Some(error)) => Ok(Self::Error {
                id: wire.id.map(id).transpose()?,
                error: decode(error.get())
                    .map_err(|error| NoMessage(format!("`error` is malformed: {error}")))?,
            }),
            (Some(method), None, None) => Ok(match wire.id {
                None => Self::Notification { method, params },
                Some(id) => Self::Request { id, method, params },
            }),
            _ => Err(NoMessage(
                "it must have just one of `result`, `error` and `method`".to_owned(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart_by_their_members() {
        let parse = |text: &'static str| Reply::parse(text.as_bytes());
        let result = parse(r#"{"id":1,"result":{"a":[1.0]},"jsonrpc":"2.0","more":1}"#);
        let Ok(Reply::Result { id, result }) = result else {
            panic!("{result:?}")
        };
        assert_eq!((id, result.get()), (1.into(), r#"{"a":[1.0]}"#));
        let error = parse(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#);
        let Ok(Reply::Error { id: None, error }) = error else {
            panic!("{error:?}")
        };
        assert_eq!(error.code, -32700);
        let notification = parse(r#"{"jsonrpc":"2.0","method":"n\u0061","params":{}}"#);
        let Ok(Reply::Notification { method, .. }) = notification else {
            panic!("{notification:?}")
        };
        assert_eq!(method, "na");
        let request = parse(r#"{"jsonrpc":"2.0","id":"x","method":"roots/list"}"#);
        assert!(matches!(request, Ok(Reply::Request { .. })));
    }

    #[test]
    fn a_result_is_found_where_most_servers_write_it() {
        let guess = |text: &'static str| {
            let (id, place) = guess_result(text.as_bytes())?;
            Some((id, &text[place]))
        };
        let plain = r#"{"jsonrpc":"2.0","id":12,"result":{"a":[1.0]}}"#;
        assert_eq!(guess(plain), Some((12, r#"{"a":[1.0]}"#)));
        let broken = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"more\":1} \n";
        assert_eq!(guess(broken), Some((1, r#"{},"more":1"#)));
        for text in [
            "",
            r#"{"jsonrpc":"2.0","id":1,"result":"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1"#,
            r#"{"jsonrpc":"2.0","id":01,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":-1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":99999999999999999999,"result":{}}"#,
            r#"{"jsonrpc":"2.0", "id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
            r#"{"id":1,"jsonrpc":"2.0","result":{}}"#,
        ] {
            assert_eq!(guess(text), None, "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_message() {
        for text in [
            "",
            "{",
            "[]",
            "null",
            r#"["2.0",1,null,null,{},null]"#,
            r#"{"id":1,"result":{}}"#,
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":""}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":"x"}"#,
        ] {
            assert!(Reply::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Reply::parse(b"\xff{}").is_err());
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#,
            "[".repeat(100_000)
        );
        assert!(Reply::parse(deep.as_bytes()).is_err());
    }
}
