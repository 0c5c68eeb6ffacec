//! JSON-RPC 2.0: ids, errors and message envelopes.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::capabilities::ClientCapabilities;
use crate::tagged;
use crate::version::Version;

/// Error codes of JSON-RPC and of the protocol.
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The params do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// An HTTP header disagrees with the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client lacks a capability the request needs.
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The server does not speak the requested revision.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// Legacy revisions: no such resource.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// Revision 2025-11-25: a URL elicitation must be done first.
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
}

/// The id of a request: a string, or an integer of any size.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(Repr);

/// The token that ties progress to a request; same shape as an id.
pub type ProgressToken = RequestId;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Integer(i64),
    /// Decimal digits that do not fit an `i64`.
    Big(Box<str>),
    String(Box<str>),
}

impl RequestId {
    /// Reads an id from its JSON text; `None` unless it is a string or an
    /// integer written without fraction or exponent.
    pub fn from_raw(json_text: &str) -> Option<Self> {
        if let Some(rest) = json_text.strip_prefix('"') {
            let plain = rest.strip_suffix('"')?;
            if plain.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
                return Some(Self::from(plain));
            }
            return serde_json::from_str::<String>(json_text)
                .ok()
                .map(Self::from);
        }
        let digits = json_text.strip_prefix('-').unwrap_or(json_text);
        let leading_zero = digits.len() > 1 && digits.starts_with('0');
        if digits.is_empty() || leading_zero || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(Self(match json_text.parse() {
            Ok(integer) => Repr::Integer(integer),
            Err(_) => Repr::Big(json_text.into()),
        }))
    }

    /// The integer, if it is one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::String(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Integer(integer) => write!(f, "RequestId({integer})"),
            Repr::Big(digits) => write!(f, "RequestId({digits})"),
            Repr::String(text) => write!(f, "RequestId({text:?})"),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Integer(integer) => fmt::Display::fmt(integer, f),
            Repr::Big(text) | Repr::String(text) => f.pad(text),
        }
    }
}

impl From<i64> for RequestId {
    fn from(integer: i64) -> Self {
        Self(Repr::Integer(integer))
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self(Repr::String(text.into()))
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        Self(Repr::String(text.into()))
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Integer(integer) => to.serialize_i64(*integer),
            Repr::String(text) => to.serialize_str(text),
            Repr::Big(digits) => match digits.parse::<u64>() {
                Ok(integer) => to.serialize_u64(integer),
                Err(_) => RawValue::from_string(digits.to_string())
                    .map_err(serde::ser::Error::custom)?
                    .serialize(to),
            },
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // Only the raw text keeps integers beyond 64 bits exact.
        let raw = Box::<RawValue>::deserialize(from)?;
        Self::from_raw(raw.get())
            .ok_or_else(|| D::Error::custom("an id must be a string or an integer"))
    }
}

/// The error member of a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErrorObject {
    /// What kind of error, see [`code`].
    pub code: i64,
    /// One sentence for people.
    pub message: String,
    /// Details for programs.
    #[serde(
        default,
        deserialize_with = "tagged::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub data: Option<Value>,
}

impl ErrorObject {
    /// An error without details.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The text was not JSON.
    pub fn parse_error(message: impl Into<String>) -> Self {
        Self::new(code::PARSE_ERROR, message)
    }

    /// The message was not a valid request.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// The method is unknown.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(
            code::METHOD_NOT_FOUND,
            format!("Method not found: {method}"),
        )
    }

    /// The params do not fit.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// The receiver failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    /// A header and the body disagree.
    pub fn header_mismatch(message: impl Into<String>) -> Self {
        Self::new(code::HEADER_MISMATCH, message)
    }

    /// The client would have to declare `required` as well.
    pub fn missing_capabilities(required: ClientCapabilities) -> Self {
        let required = serde_json::to_value(required).unwrap_or_default();
        Self::new(
            code::MISSING_CLIENT_CAPABILITY,
            "The client lacks a required capability",
        )
        .with_data(json!({ "requiredCapabilities": required }))
    }

    /// The revision is not spoken here; these are.
    pub fn unsupported_version(requested: &str, supported: &[Version]) -> Self {
        Self::new(
            code::UNSUPPORTED_VERSION,
            format!("Protocol version not supported: {requested}"),
        )
        .with_data(json!({ "supported": supported, "requested": requested }))
    }

    /// There is no resource at `uri` (the modern code; legacy peers expect
    /// [`code::RESOURCE_NOT_FOUND`]).
    pub fn resource_not_found(uri: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, "Resource not found")
            .with_data(json!({ "uri": uri.into() }))
    }

    /// A `requestState` was refused. Whatever the reason, the error is the same: a client learns
    /// nothing from it (AMB-07).
    pub fn invalid_request_state() -> Self {
        Self::new(code::INVALID_PARAMS, "Invalid or expired requestState")
            .with_data(json!({ "reason": "invalid_request_state" }))
    }

    /// Adds details.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}

/// The `jsonrpc` member, always `"2.0"`.
struct Two;

impl Serialize for Two {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str("2.0")
    }
}

impl<'de> Deserialize<'de> for Two {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match String::deserialize(from)?.as_str() {
            "2.0" => Ok(Self),
            other => Err(D::Error::custom(format_args!(
                "`jsonrpc` is {other:?}, not \"2.0\""
            ))),
        }
    }
}

/// A request with its envelope.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Request<P> {
    /// Which response will belong to it.
    pub id: RequestId,
    /// What to do.
    pub method: String,
    /// With what; every modern request has some.
    pub params: Option<P>,
}

impl<P> Request<P> {
    /// A request; pass `None` as `params` to leave them out.
    pub fn new(
        id: impl Into<RequestId>,
        method: impl Into<String>,
        params: impl Into<Option<P>>,
    ) -> Self {
        Self {
            id: id.into(),
            method: method.into(),
            params: params.into(),
        }
    }
}

impl<P: Serialize> Serialize for Request<P> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut out = to.serialize_struct("Request", 3 + usize::from(self.params.is_some()))?;
        out.serialize_field("jsonrpc", &Two)?;
        out.serialize_field("id", &self.id)?;
        out.serialize_field("method", &self.method)?;
        if let Some(params) = &self.params {
            out.serialize_field("params", params)?;
        }
        out.end()
    }
}

impl<'de, P: Deserialize<'de>> Deserialize<'de> for Request<P> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "Request")]
        struct Wire<P> {
            #[serde(rename = "jsonrpc")]
            _jsonrpc: Two,
            id: RequestId,
            method: String,
            params: Option<P>,
        }
        let wire = Wire::deserialize(from)?;
        Ok(Self {
            id: wire.id,
            method: wire.method,
            params: wire.params,
        })
    }
}

/// A notification with its envelope.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Notification<P> {
    /// What happened.
    pub method: String,
    /// With what.
    pub params: Option<P>,
}

impl<P> Notification<P> {
    /// A notification; pass `None` as `params` to leave them out.
    pub fn new(method: impl Into<String>, params: impl Into<Option<P>>) -> Self {
        Self {
            method: method.into(),
            params: params.into(),
        }
    }
}

impl<P: Serialize> Serialize for Notification<P> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut out =
            to.serialize_struct("Notification", 2 + usize::from(self.params.is_some()))?;
        out.serialize_field("jsonrpc", &Two)?;
        out.serialize_field("method", &self.method)?;
        if let Some(params) = &self.params {
            out.serialize_field("params", params)?;
        }
        out.end()
    }
}

impl<'de, P: Deserialize<'de>> Deserialize<'de> for Notification<P> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "Notification")]
        struct Wire<P> {
            #[serde(rename = "jsonrpc")]
            _jsonrpc: Two,
            method: String,
            params: Option<P>,
        }
        let wire = Wire::deserialize(from)?;
        Ok(Self {
            method: wire.method,
            params: wire.params,
        })
    }
}

/// A response with its envelope.
#[derive(Debug, Clone, PartialEq)]
pub enum Response<R> {
    /// The request succeeded.
    Result {
        /// Id of the request.
        id: RequestId,
        /// What it gave.
        result: R,
    },
    /// The request failed.
    Error {
        /// Id of the request, unless it could not be read.
        id: Option<RequestId>,
        /// Why.
        error: ErrorObject,
    },
}

impl<R: Serialize> Serialize for Response<R> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Result { id, result } => {
                let mut out = to.serialize_struct("Response", 3)?;
                out.serialize_field("jsonrpc", &Two)?;
                out.serialize_field("id", id)?;
                out.serialize_field("result", result)?;
                out.end()
            }
            Self::Error { id, error } => {
                let mut out = to.serialize_struct("Response", 2 + usize::from(id.is_some()))?;
                out.serialize_field("jsonrpc", &Two)?;
                if let Some(id) = id {
                    out.serialize_field("id", id)?;
                }
                out.serialize_field("error", error)?;
                out.end()
            }
        }
    }
}

impl<'de, R: Deserialize<'de>> Deserialize<'de> for Response<R> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ResponseVisitor(PhantomData))
    }
}

struct ResponseVisitor<R>(PhantomData<R>);

impl<'de, R: Deserialize<'de>> Visitor<'de> for ResponseVisitor<R> {
    type Value = Response<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC response")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Response<R>, A::Error> {
        let mut jsonrpc = None::<Two>;
        let mut id = None::<Option<RequestId>>;
        let mut result = None::<R>;
        let mut error = None::<ErrorObject>;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "jsonrpc" => once(&mut jsonrpc, "jsonrpc", &mut map)?,
                "id" => once(&mut id, "id", &mut map)?,
                "result" => once(&mut result, "result", &mut map)?,
                "error" => once(&mut error, "error", &mut map)?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if jsonrpc.is_none() {
            return Err(A::Error::missing_field("jsonrpc"));
        }
        let id = id.flatten();
        match (result, error) {
            (Some(result), None) => Ok(Response::Result {
                id: id.ok_or_else(|| A::Error::missing_field("id"))?,
                result,
            }),
            (None, Some(error)) => Ok(Response::Error { id, error }),
            (None, None) => Err(A::Error::custom("neither `result` nor `error`")),
            (Some(_), Some(_)) => Err(A::Error::custom("both `result` and `error`")),
        }
    }
}

/// Reads a member that may appear only once.
fn once<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    name: &'static str,
    map: &mut A,
) -> Result<(), A::Error> {
    if slot.is_some() {
        return Err(A::Error::duplicate_field(name));
    }
    *slot = Some(map.next_value()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, from_value, to_string, to_value};

    use super::*;

    #[test]
    fn ids_are_read_exactly() {
        for text in [
            "0",
            "-7",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "18446744073709551616",
            "-123456789012345678901234567890",
            r#""""#,
            r#""7""#,
            r#""é\n\"""#,
        ] {
            let id: RequestId = from_str(text).unwrap();
            assert_eq!(RequestId::from_raw(text).as_ref(), Some(&id), "{text}");
            assert_eq!(to_string(&id).unwrap(), text);
        }
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(RequestId::from_raw("-0"), RequestId::from_raw("0"));
    }

    #[test]
    fn other_ids_are_refused() {
        for text in [
            "null",
            "true",
            "1.0",
            "1e3",
            "1E3",
            "[]",
            "{}",
            "01",
            "-",
            "",
            "\"",
            "\"a",
            "\"\\ud800\"",
            "\"a\"b\"",
            "1 ",
            "+1",
        ] {
            assert_eq!(RequestId::from_raw(text), None, "{text}");
        }
        for text in ["null", "true", "1.0", "1e3", "[]", "{}"] {
            assert!(from_str::<RequestId>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ids_of_different_types_differ() {
        assert_ne!(RequestId::from(7), RequestId::from("7"));
        assert_eq!(
            RequestId::from(7).to_string(),
            RequestId::from("7").to_string()
        );
        assert_eq!(RequestId::from(7).as_i64(), Some(7));
        assert_eq!(RequestId::from("7").as_i64(), None);
        assert_eq!(RequestId::from("7").as_str(), Some("7"));
        let big = RequestId::from_raw("9223372036854775808").unwrap();
        assert_eq!((big.as_i64(), big.as_str()), (None, None));
    }

    #[test]
    fn ids_pass_through_values() {
        for id in [
            RequestId::from(1),
            "a".into(),
            RequestId::from_raw("18446744073709551615").unwrap(),
        ] {
            let value = to_value(&id).unwrap();
            assert_eq!(from_value::<RequestId>(value).unwrap(), id);
        }
    }

    #[test]
    fn error_data_keeps_null() {
        let absent: ErrorObject = from_str(r#"{"code":1,"message":"m"}"#).unwrap();
        assert_eq!(absent.data, None);
        let null: ErrorObject = from_str(r#"{"code":1,"message":"m","data":null}"#).unwrap();
        assert_eq!(null.data, Some(Value::Null));
        assert_eq!(
            to_string(&null).unwrap(),
            r#"{"code":1,"message":"m","data":null}"#
        );
    }

    #[test]
    fn errors_carry_their_data() {
        let error = ErrorObject::unsupported_version("2031-01-01", Version::MODERN);
        assert_eq!(error.code, -32022);
        assert_eq!(
            error.data,
            Some(json!({"supported": ["2026-07-28"], "requested": "2031-01-01"}))
        );
        let url = from_value(json!({"elicitation": {"url": {}}})).unwrap();
        let error = ErrorObject::missing_capabilities(url);
        assert_eq!(error.code, -32021);
        assert_eq!(
            error.data,
            Some(json!({"requiredCapabilities": {"elicitation": {"url": {}}}}))
        );
        let error = ErrorObject::resource_not_found("tide://atlantis");
        assert_eq!(error.code, -32602);
        assert_eq!(error.data, Some(json!({"uri": "tide://atlantis"})));
    }

    #[test]
    fn envelopes_round_trip() {
        let text = r#"{"jsonrpc":"2.0","id":"d1","method":"server/discover","params":{"a":1}}"#;
        let request: Request<Value> = from_str(text).unwrap();
        assert_eq!(
            request,
            Request::new("d1", "server/discover", json!({"a": 1}))
        );
        assert_eq!(to_string(&request).unwrap(), text);

        let text = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let notification: Notification<Value> = from_str(text).unwrap();
        assert_eq!(
            notification,
            Notification::new("notifications/initialized", None)
        );
        assert_eq!(to_string(&notification).unwrap(), text);

        for text in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#,
        ] {
            let response: Response<Value> = from_str(text).unwrap();
            assert_eq!(to_string(&response).unwrap(), text);
        }
    }

    #[test]
    fn an_error_may_have_a_null_id() {
        let text = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#;
        let Response::Error { id, .. } = from_str::<Response<Value>>(text).unwrap() else {
            panic!("not an error");
        };
        assert_eq!(id, None);
    }

    #[test]
    fn broken_envelopes_are_refused() {
        for text in [
            r#"{"id":1,"result":{}}"#,
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        ] {
            assert!(from_str::<Response<Value>>(text).is_err(), "{text}");
        }
        for text in [
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#,
        ] {
            assert!(from_str::<Request<Value>>(text).is_err(), "{text}");
        }
    }
}
