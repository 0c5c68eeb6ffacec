//! The modern methods, and decoding of their results.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::complete::{CompleteRequestParams, CompleteResult};
use crate::decode::decode;
use crate::discover::DiscoverResult;
use crate::listen::{SubscriptionsListenRequestParams, SubscriptionsListenResult};
use crate::meta::{PaginatedRequestParams, RequestParams};
use crate::prompt::{GetPromptRequestParams, GetPromptResult, ListPromptsResult};
use crate::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams, ReadResourceResult,
};
use crate::round::InputRequired;
use crate::tagged;
use crate::tool::{CallToolRequestParams, CallToolResult, ListToolsResult};

/// A request method and the shapes that belong to it.
pub trait Method {
    /// Its name on the wire.
    const NAME: &'static str;
    /// Whether its result may ask for input.
    const MAY_ASK: bool;
    /// Its params.
    type Params: Serialize + DeserializeOwned;
    /// Its complete result.
    type Result: Serialize + DeserializeOwned;
}

macro_rules! methods {
    ($($(#[$doc:meta])* $type:ident = $name:literal($params:ty) -> $result:ty, $may_ask:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $type;

        impl Method for $type {
            const NAME: &'static str = $name;
            const MAY_ASK: bool = $may_ask;
            type Params = $params;
            type Result = $result;
        }
    )*};
}

methods! {
    /// `server/discover`.
    Discover = "server/discover"(RequestParams) -> DiscoverResult, false;
    /// `tools/list`.
    ListTools = "tools/list"(PaginatedRequestParams) -> ListToolsResult, false;
    /// `tools/call`.
    CallTool = "tools/call"(CallToolRequestParams) -> CallToolResult, true;
    /// `prompts/list`.
    ListPrompts = "prompts/list"(PaginatedRequestParams) -> ListPromptsResult, false;
    /// `prompts/get`.
    GetPrompt = "prompts/get"(GetPromptRequestParams) -> GetPromptResult, true;
    /// `resources/list`.
    ListResources = "resources/list"(PaginatedRequestParams) -> ListResourcesResult, false;
    /// `resources/templates/list`.
    ListResourceTemplates = "resources/templates/list"(PaginatedRequestParams)
        -> ListResourceTemplatesResult, false;
    /// `resources/read`.
    ReadResource = "resources/read"(ReadResourceRequestParams) -> ReadResourceResult, true;
    /// `completion/complete`.
    Complete = "completion/complete"(CompleteRequestParams) -> CompleteResult, false;
    /// `subscriptions/listen`.
    SubscriptionsListen = "subscriptions/listen"(SubscriptionsListenRequestParams)
        -> SubscriptionsListenResult, false;
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome<T> {
    /// With its result.
    Complete(T),
    /// With questions; send it again with the answers.
    InputRequired(InputRequired),
}

impl<T> Outcome<T> {
    /// The same with another result.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Complete(result) => Outcome::Complete(f(result)),
            Self::InputRequired(asked) => Outcome::InputRequired(asked),
        }
    }
}

/// The type of a result that begins with it, as most do, and cannot name it again, be it in escapes:
/// found without parsing the rest.
fn leading_type(text: &str) -> Option<&'static str> {
    let rest = text.strip_prefix(r#"{"resultType":""#)?;
    let known = ["complete", "input_required"];
    let known = known.into_iter().find(|known| {
        let rest = rest.strip_prefix(known);
        rest.is_some_and(|rest| rest.starts_with('"'))
    })?;
    (!rest.contains("resultType") && !rest.contains("\\u")).then_some(known)
}

/// Decodes a result by the method that was asked and its `resultType` alone;
/// without one it is complete. As strict as [`decode()`](crate::decode()).
pub fn decode_result<M: Method>(raw: &RawValue) -> Result<Outcome<M::Result>, DecodeError> {
    decode_result_text::<M>(raw.get())
}

/// The same, from JSON text.
pub fn decode_result_text<M: Method>(text: &str) -> Result<Outcome<M::Result>, DecodeError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Peek {
        #[serde(default, deserialize_with = "tagged::present")]
        result_type: Option<String>,
    }

    let json = |source| DecodeError {
        method: M::NAME,
        kind: DecodeErrorKind::Shape,
        detail: None,
        source: Some(source),
    };
    let result_type = match leading_type(text) {
        Some(known) => Some(Cow::Borrowed(known)),
        None => decode::<Peek>(text)
            .map_err(json)?
            .result_type
            .map(Cow::Owned),
    };
    match result_type.as_deref() {
        None | Some("complete") => decode(text).map(Outcome::Complete).map_err(json),
        Some("input_required") if M::MAY_ASK => {
            decode(text).map(Outcome::InputRequired).map_err(json)
        }
        Some("input_required") => Err(DecodeError {
            method: M::NAME,
            kind: DecodeErrorKind::MayNotAsk,
            detail: None,
            source: None,
        }),
        Some(_) => Err(DecodeError {
            method: M::NAME,
            kind: DecodeErrorKind::UnknownResultType,
            detail: result_type.map(Cow::into_owned),
            source: None,
        }),
    }
}

/// A result that is not valid for its method.
#[derive(Debug)]
pub struct DecodeError {
    method: &'static str,
    kind: DecodeErrorKind,
    detail: Option<String>,
    source: Option<serde_json::Error>,
}

impl DecodeError {
    /// What is wrong with it.
    pub fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// The `resultType` that is not known.
    pub fn unknown_result_type(&self) -> Option<&str> {
        match self.kind {
            DecodeErrorKind::UnknownResultType => self.detail.as_deref(),
            _ => None,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid result of {}: ", self.method)?;
        let detail = self.detail.as_deref().unwrap_or_default();
        match (self.kind, &self.source) {
            (DecodeErrorKind::Shape, Some(source)) => fmt::Display::fmt(source, f),
            (DecodeErrorKind::Shape, None) => f.write_str(detail),
            (DecodeErrorKind::UnknownResultType, _) => {
                write!(f, "unknown resultType {detail:?}")
            }
            (DecodeErrorKind::MayNotAsk, _) => f.write_str("this method may not ask for input"),
        }
    }
}

impl std::error::Error for DecodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// What is wrong with a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// Its members do not fit.
    Shape,
    /// Its `resultType` is not known.
    UnknownResultType,
    /// It asks for input, which the method may not.
    MayNotAsk,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode<M: Method>(text: &str) -> Result<Outcome<M::Result>, DecodeError> {
        decode_result::<M>(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn results_are_decoded_by_method_and_type() {
        use DecodeErrorKind::{MayNotAsk, Shape, UnknownResultType};

        /// `Ok(true)` is complete, `Ok(false)` asks for input.
        fn brief<M: Method>(text: &str) -> Result<bool, DecodeErrorKind> {
            decode::<M>(text)
                .map(|outcome| matches!(outcome, Outcome::Complete(_)))
                .map_err(|error| error.kind())
        }

        for (text, outcome) in [
            (r#"{"content":[]}"#, Ok(true)),
            (r#"{"content":[],"resultType":"complete"}"#, Ok(true)),
            (r#"{"content":[],"requestState":"s"}"#, Ok(true)),
            (
                r#"{"resultType":"input_required","requestState":"s"}"#,
                Ok(false),
            ),
            (
                r#"{"resultType":"input_required","requestState":"s","content":[]}"#,
                Ok(false),
            ),
            (
                r#"{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}}"#,
                Ok(false),
            ),
            (r#"{"resultType":"input_required"}"#, Err(Shape)),
            (
                r#"{"resultType":"input_required","content":[]}"#,
                Err(Shape),
            ),
            (r#"{"requestState":"s"}"#, Err(Shape)),
            (
                r#"{"resultType":"complete","requestState":"s"}"#,
                Err(Shape),
            ),
            (
                r#"{"resultType":"task","content":[]}"#,
                Err(UnknownResultType),
            ),
            (r#"{"resultType":"","content":[]}"#, Err(UnknownResultType)),
            (r#"{"resultType":null,"content":[]}"#, Err(Shape)),
            (
                r#"{"resultType":"complete","resultType":"complete","content":[]}"#,
                Err(Shape),
            ),
            (
                r#"{"resultType":"complete","result\u0054ype":"input_required","content":[]}"#,
                Err(Shape),
            ),
            (
                r#"{"resultType":"complete","content":[{"type":"text","text":"\u0000"}]}"#,
                Ok(true),
            ),
            (
                r#"{"resultType":"complete_","content":[]}"#,
                Err(UnknownResultType),
            ),
            (r#"[[]]"#, Err(Shape)),
            (r#"[[],null,null,null]"#, Err(Shape)),
            (
                r#"{"content":[{"type":"text","text":"","annotations":[null,1,null]}]}"#,
                Err(Shape),
            ),
            ("null", Err(Shape)),
        ] {
            assert_eq!(brief::<CallTool>(text), outcome, "{text}");
        }

        let asks = r#"{"resultType":"input_required","requestState":"s"}"#;
        assert_eq!(brief::<GetPrompt>(asks), Ok(false));
        assert_eq!(brief::<ReadResource>(asks), Ok(false));
        assert_eq!(brief::<Discover>(asks), Err(MayNotAsk));
        assert_eq!(brief::<ListTools>(asks), Err(MayNotAsk));
        assert_eq!(brief::<ListPrompts>(asks), Err(MayNotAsk));
        assert_eq!(brief::<ListResources>(asks), Err(MayNotAsk));
        assert_eq!(brief::<ListResourceTemplates>(asks), Err(MayNotAsk));
        assert_eq!(brief::<Complete>(asks), Err(MayNotAsk));
        assert_eq!(brief::<SubscriptionsListen>(asks), Err(MayNotAsk));
    }

    #[test]
    fn an_unknown_type_is_named() {
        let error = decode::<CallTool>(r#"{"resultType":"task"}"#).unwrap_err();
        assert_eq!(error.unknown_result_type(), Some("task"));
        assert_eq!(
            error.to_string(),
            r#"invalid result of tools/call: unknown resultType "task""#
        );
    }
}
