//! The head of an incoming message: just enough of it to know whose it is.

use std::borrow::Cow;

use antiphon_types::RequestId;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

/// Whose a message is, by what it says; whether there is such a request is another matter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The response to this request; `result` if it is no error.
    Response { id: i64, result: bool },
    /// Progress of this request.
    Progress(i64),
    /// News of this subscription.
    Subscription(i64),
    /// The server ended this subscription.
    Ended(i64),
    /// A log message, which does not say whose it is.
    Log,
    /// A message, but nobody's.
    Nobody,
    /// No message.
    Noise,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
    error: Option<IgnoredAny>,
}

/// Borrowed unless it is spelt with escapes.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
    #[serde(borrow, rename = "requestId")]
    request_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription_id: Option<&'a RawValue>,
}

/// What is left of a head with a member of the wrong type.
#[derive(Deserialize)]
struct Bare<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<IgnoredAny>,
}

impl Whose {
    /// Reads the head of a message, and no result.
    pub(super) fn of(message: &[u8]) -> Self {
        // An array would do for the derived readers below.
        if message.trim_ascii_start().first() == Some(&b'{') {
            if let Ok(head) = serde_json::from_slice::<Head<'_>>(message) {
                return Self::by_head(&head);
            }
            if let Ok(bare) = serde_json::from_slice::<Bare<'_>>(message) {
                return match (bare.method, integer(bare.id)) {
                    (None, Some(id)) => Self::Response { id, result: false },
                    _ => Self::Nobody,
                };
            }
        }
        match serde_json::from_slice::<IgnoredAny>(message) {
            Ok(_) => Self::Nobody,
            Err(_) => Self::Noise,
        }
    }

    fn by_head(head: &Head<'_>) -> Self {
        let Some(Text(method)) = &head.method else {
            return match integer(head.id) {
                Some(id) => Self::Response {
                    id,
                    result: head.error.is_none(),
                },
                None => Self::Nobody,
            };
        };
        // A request, which servers of this revision do not send.
        if head.id.is_some() {
            return Self::Nobody;
        }
        let Some(params) = &head.params else {
            return Self::Nobody;
        };
        let subscription = params.meta.as_ref().and_then(|meta| meta.subscription_id);
        let whose = match method.as_ref() {
            "notifications/progress" => integer(params.progress_token).map(Self::Progress),
            "notifications/cancelled" => {
                integer(params.request_id.or(subscription)).map(Self::Ended)
            }
            "notifications/message" => Some(Self::Log),
            _ => integer(subscription).map(Self::Subscription),
        };
        whose.unwrap_or(Self::Nobody)
    }
}

/// An id of ours: all of them are integers, and an id keeps its JSON type.
pub(super) fn integer(raw: Option<&RawValue>) -> Option<i64> {
    RequestId::from_raw(raw?.get())?.as_i64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart_by_their_heads() {
        let tagged = |method: &str, id: &str| {
            format!(
                r#"{{"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
            )
        };
        let answer = |id, result| Whose::Response { id, result };
        for (message, whose) in [
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"method":"x"}}"#,
                answer(7, true),
            ),
            (
                r#" {"id":-7,"error":{"code":1,"message":""}}"#,
                answer(-7, false),
            ),
            // Wrong, but whose it is can be known.
            (r#"{"id":7,"params":5,"result":{}}"#, answer(7, false)),
            (r#"{"id":7}"#, answer(7, true)),
            (r#"{"id":"7","result":{}}"#, Whose::Nobody),
            (r#"{"id":7.0,"result":{}}"#, Whose::Nobody),
            (
                r#"{"id":null,"error":{"code":1,"message":""}}"#,
                Whose::Nobody,
            ),
            (r#"{"error":{"code":1,"message":""}}"#, Whose::Nobody),
            (
                r#"{"id":7,"method":"sampling/createMessage","params":{}}"#,
                Whose::Nobody,
            ),
            (r#"{"id":7,"method":5}"#, Whose::Nobody),
            (r#"{"id":7,"id":8,"result":{}}"#, Whose::Nobody),
            (
                r#"{"method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#,
                Whose::Progress(3),
            ),
            (
                r#"{"method":"notifications\/progress","params":{"progressToken":3}}"#,
                Whose::Progress(3),
            ),
            (
                r#"{"method":"notifications/progress","params":{"progressToken":"3"}}"#,
                Whose::Nobody,
            ),
            (
                r#"{"method":"notifications/message","params":{"progressToken":3}}"#,
                Whose::Log,
            ),
            (
                r#"{"method":"notifications/cancelled","params":{"requestId":4}}"#,
                Whose::Ended(4),
            ),
            (r#"{"method":"notifications/cancelled"}"#, Whose::Nobody),
            (
                &tagged("notifications/tools/list_changed", "5"),
                Whose::Subscription(5),
            ),
            (
                &tagged("notifications/tools/list_changed", r#""5""#),
                Whose::Nobody,
            ),
            (&tagged("notifications/cancelled", "5"), Whose::Ended(5)),
            (r#"[7,null,null,null]"#, Whose::Nobody),
            (r#"[{"id":7,"result":{}}]"#, Whose::Nobody),
            ("42", Whose::Nobody),
            ("Listening on port 42", Whose::Noise),
            (r#"{"id":7,"result":{}"#, Whose::Noise),
            ("", Whose::Noise),
        ] {
            assert_eq!(Whose::of(message.as_bytes()), whose, "{message}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_harm_nobody() {
        assert_eq!(Whose::of(b"\xff\xfe"), Whose::Noise);
        let deep = "[".repeat(1_000_000);
        assert_eq!(Whose::of(deep.as_bytes()), Whose::Noise);
        let deep = format!(r#"{{"id":7,"result":{deep}{}}}"#, "]".repeat(1_000_000));
        let answer = Whose::Response {
            id: 7,
            result: true,
        };
        assert_eq!(Whose::of(deep.as_bytes()), answer);
    }
}
