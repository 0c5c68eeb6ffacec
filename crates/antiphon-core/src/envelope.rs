//! One pass over an incoming message.
//!
//! [`Message::parse`] reads a superset of every method's parameters in a single pass and borrows
//! from the text. What is opaque at this level (arguments, answers, capabilities) stays raw JSON,
//! one level deep. It fails only on text that is not JSON, or that spells a name or a value
//! nothing can hold; every other defect is kept as a fact (a wrong type, a repeated name),
//! because which error it deserves depends on the method, the version and the headers (AMB-02).

use std::{borrow::Cow, fmt};

use antiphon_types::meta::{
    CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROGRESS_TOKEN, PROTOCOL_VERSION,
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// What a member holds, when only a string would be right.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Slot<'a> {
    /// The member is not there.
    #[default]
    Absent,
    /// The member is `null`.
    Null,
    /// A string.
    Text(Cow<'a, str>),
    /// Some other JSON value.
    Other,
}

impl Slot<'_> {
    /// The string, if that is what it is.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether there is no member at all.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// What kind of JSON value the whole frame is, and what a JSON-RPC reader makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `method` and an `id`.
    Request,
    /// `method` without an `id`.
    Notification,
    /// `result` or `error` without a `method`.
    Response,
    /// A JSON array: a batch, which the modern era does not have (BASE-B-04).
    Batch,
    /// None of these.
    Invalid(&'static str),
}

/// A message, borrowed from its text.
#[derive(Debug, Default)]
pub struct Message<'a> {
    jsonrpc: Slot<'a>,
    id: Option<&'a RawValue>,
    method: Slot<'a>,
    /// The parameters; those of a message without any are empty.
    pub params: Params<'a>,
    outcome: bool,
    array: bool,
    object: bool,
    repeated: Option<&'static str>,
}

/// The superset of all methods' parameters.
#[derive(Debug, Default)]
pub struct Params<'a> {
    /// Whether `params` is an object, absent, or something that is neither.
    pub state: ParamsState,
    /// `_meta`.
    pub meta: Meta<'a>,
    /// `name` of `tools/call` and `prompts/get`.
    pub name: Slot<'a>,
    /// `uri` of `resources/read`.
    pub uri: Slot<'a>,
    /// `cursor` of the lists.
    pub cursor: Slot<'a>,
    /// `requestState` of a retry.
    pub request_state: Slot<'a>,
    /// `arguments`, as they came.
    pub arguments: Option<&'a RawValue>,
    /// `inputResponses`, as they came.
    pub input_responses: Option<&'a RawValue>,
    rare: Option<Box<Rare<'a>>>,
    /// A name that stands twice where that would be ambiguous.
    pub repeated: Option<&'static str>,
}

/// Parameters of methods that are called now and then, apart from the others: a message is held
/// for as long as its call runs.
#[derive(Debug, Default)]
pub struct Rare<'a> {
    /// `ref` of a completion.
    pub reference: Option<&'a RawValue>,
    /// `argument` of a completion.
    pub argument: Option<&'a RawValue>,
    /// `context` of a completion.
    pub context: Option<&'a RawValue>,
    /// `notifications` of a listen.
    pub notifications: Option<&'a RawValue>,
    /// `requestId` of a cancellation.
    pub request_id: Option<&'a RawValue>,
    /// `reason` of a cancellation.
    pub reason: Slot<'a>,
    /// `protocolVersion` of a legacy `initialize`.
    pub protocol_version: Slot<'a>,
}

impl<'a> Params<'a> {
    /// The parameters of methods that are called now and then; all absent for others.
    pub fn rare(&self) -> &Rare<'a> {
        const NONE: &Rare<'static> = &Rare {
            reference: None,
            argument: None,
            context: None,
            notifications: None,
            request_id: None,
            reason: Slot::Absent,
            protocol_version: Slot::Absent,
        };
        self.rare.as_deref().unwrap_or(NONE)
    }
}

/// Whether `params` was there, and right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParamsState {
    /// No `params` member.
    #[default]
    Absent,
    /// An object.
    Object,
    /// Anything else.
    Wrong,
}

/// `_meta` of a request: the reserved keys by name, all others as they came.
#[derive(Debug, Default)]
pub struct Meta<'a> {
    /// Whether there was a `_meta` object.
    pub present: bool,
    /// Whether `_meta` was something other than an object.
    pub wrong: bool,
    /// `io.modelcontextprotocol/protocolVersion`.
    pub version: Slot<'a>,
    /// `io.modelcontextprotocol/clientInfo`.
    pub client_info: Option<&'a RawValue>,
    /// `io.modelcontextprotocol/clientCapabilities`.
    pub client_capabilities: Option<&'a RawValue>,
    /// `io.modelcontextprotocol/logLevel`.
    pub log_level: Slot<'a>,
    /// `progressToken`.
    pub progress_token: Option<&'a RawValue>,
    /// Every other key, trace context included (META-B-11).
    pub others: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Message<'a> {
    /// Reads one message.
    ///
    /// # Errors
    /// When `text` is not JSON, or JSON that no reader can hold: half a surrogate pair in a
    /// name, a number beyond all ranges where a string belongs.
    pub fn parse(text: &'a str) -> Result<Self, Unreadable<'a>> {
        let mut message = Self::default();
        let mut from = serde_json::Deserializer::from_str(text);
        let read = Into(&mut message).deserialize(&mut from);
        match read.and_then(|()| from.end()) {
            Ok(()) => Ok(message),
            Err(error) => Err(Unreadable::new(text, &error)),
        }
    }

    /// What this message is.
    pub fn shape(&self) -> Shape {
        if self.array {
            return Shape::Batch;
        }
        if !self.object {
            return Shape::Invalid("a message is a JSON object");
        }
        if let Some(name) = self.repeated {
            return Shape::Invalid(match name {
                "id" => "the member `id` stands twice",
                "method" => "the member `method` stands twice",
                "params" => "the member `params` stands twice",
                _ => "the member `jsonrpc` stands twice",
            });
        }
        if self.jsonrpc.as_str() != Some("2.0") {
            return Shape::Invalid("`jsonrpc` must be \"2.0\"");
        }
        match (&self.method, self.id) {
            (Slot::Text(_), _) if self.outcome => {
                Shape::Invalid("`method` beside `result` or `error`")
            }
            (Slot::Text(_), None) => Shape::Notification,
            (Slot::Text(_), Some(_)) if self.id().is_some() => Shape::Request,
            (Slot::Text(_), Some(_)) => Shape::Invalid("`id` must be a string or an integer"),
            (Slot::Absent, _) if self.outcome => Shape::Response,
            (Slot::Absent, _) => Shape::Invalid("`method` is missing"),
            _ => Shape::Invalid("`method` must be a string"),
        }
    }

    /// The id as JSON text, if there is one that can be echoed (BASE-S-01, BASE-S-06).
    pub fn id(&self) -> Option<&'a str> {
        if self.repeated == Some("id") {
            return None;
        }
        self.id.map(RawValue::get).filter(|raw| is_id(raw))
    }

    /// The method; empty if there is none.
    pub fn method(&self) -> &str {
        self.method.as_str().unwrap_or_default()
    }
}

/// Text that is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable<'a> {
    /// Whether it is JSON at all.
    pub is_json: bool,
    /// The id, if it is JSON and the id can be echoed.
    pub id: Option<&'a str>,
    /// What is wrong, and where.
    pub why: String,
}

impl<'a> Unreadable<'a> {
    /// Only a failure pays for finding out which kind it is.
    fn new(text: &'a str, error: &serde_json::Error) -> Self {
        #[derive(Deserialize)]
        struct OnlyId<'a> {
            #[serde(borrow)]
            id: Option<&'a RawValue>,
        }
        let only = serde_json::from_str::<OnlyId<'_>>(text);
        let id = only.ok().and_then(|only| only.id).map(RawValue::get);
        Self {
            is_json: serde_json::from_str::<IgnoredAny>(text).is_ok(),
            id: id.filter(|raw| is_id(raw)),
            why: error.to_string(),
        }
    }
}

/// Whether JSON text is a string or an integer literal.
fn is_id(raw: &str) -> bool {
    let bytes = raw.as_bytes();
    match bytes.first() {
        // An escape may spell half a character, which no string holds.
        Some(b'"') => !raw.contains('\\') || serde_json::from_str::<String>(raw).is_ok(),
        Some(b'-' | b'0'..=b'9') => bytes[1..].iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// The parameters of a message that [`Message::parse`] accepted, as raw JSON: for methods whose
/// parameters are not in the superset.
pub fn raw_params(text: &str) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct OnlyParams<'a> {
        #[serde(borrow)]
        params: Option<&'a RawValue>,
    }
    serde_json::from_str::<OnlyParams<'_>>(text).ok()?.params
}

// ---- one pass, by hand: a derive would fail on the first wrong type ----

/// Marks `$name` as repeated if `$filled` already holds.
macro_rules! once {
    ($into:expr, $name:literal, $filled:expr) => {
        if $filled {
            $into.repeated.get_or_insert($name);
        }
    };
}

/// Keys as the visitor of one object sees them.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor).map(Self)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

fn drain_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

fn drain_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// Scalars that are not what a visitor hoped for.
macro_rules! other_scalars {
    ($value:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

impl<'de> Deserialize<'de> for Slot<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SlotVisitor;
        impl<'de> Visitor<'de> for SlotVisitor {
            type Value = Slot<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Slot::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Slot::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Slot::Null)
            }
            other_scalars!(Slot::Other);
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                drain_map(map).map(|()| Slot::Other)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                drain_seq(seq).map(|()| Slot::Other)
            }
        }
        deserializer.deserialize_any(SlotVisitor)
    }
}

/// What both places hold when the value is no object.
macro_rules! not_an_object {
    ($self:ident, $wrong:expr) => {
        fn visit_bool<E>($self, _: bool) -> Result<(), E> {
            $wrong;
            Ok(())
        }
        fn visit_i64<E>($self, _: i64) -> Result<(), E> {
            $wrong;
            Ok(())
        }
        fn visit_u64<E>($self, _: u64) -> Result<(), E> {
            $wrong;
            Ok(())
        }
        fn visit_f64<E>($self, _: f64) -> Result<(), E> {
            $wrong;
            Ok(())
        }
        fn visit_str<E>($self, _: &str) -> Result<(), E> {
            $wrong;
            Ok(())
        }
        fn visit_unit<E>($self) -> Result<(), E> {
            $wrong;
            Ok(())
        }
    };
}

/// The same for a list.
macro_rules! not_a_list {
    ($self:ident, $wrong:expr) => {
        fn visit_seq<A: SeqAccess<'de>>($self, seq: A) -> Result<(), A::Error> {
            $wrong;
            drain_seq(seq)
        }
    };
}

impl<'de> DeserializeSeed<'de> for Into<'_, Message<'de>> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Into<'_, Message<'de>> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let message = self.0;
        message.object = true;
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "jsonrpc" => {
                    once!(message, "jsonrpc", !message.jsonrpc.is_absent());
                    message.jsonrpc = map.next_value()?;
                }
                "id" => {
                    once!(message, "id", message.id.is_some());
                    message.id = Some(map.next_value()?);
                }
                "method" => {
                    once!(message, "method", !message.method.is_absent());
                    message.method = map.next_value()?;
                }
                "params" => {
                    once!(
                        message,
                        "params",
                        message.params.state != ParamsState::Absent
                    );
                    map.next_value_seed(Into(&mut message.params))?;
                }
                "result" | "error" => {
                    message.outcome = true;
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
    not_an_object!(self, self.0.object = false);
    not_a_list!(self, self.0.array = true);
}

/// Parses an object into a place that exists already: nothing large is moved.
struct Into<'m, T>(&'m mut T);

impl<'de> DeserializeSeed<'de> for Into<'_, Params<'de>> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Into<'_, Params<'de>> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let params = self.0;
        params.state = ParamsState::Object;
        let mut seen_meta = false;
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "_meta" => {
                    once!(params, "_meta", seen_meta);
                    seen_meta = true;
                    map.next_value_seed(Into(&mut params.meta))?;
                }
                "name" => {
                    once!(params, "name", !params.name.is_absent());
                    params.name = map.next_value()?;
                }
                "arguments" => {
                    once!(params, "arguments", params.arguments.is_some());
                    params.arguments = Some(map.next_value()?);
                }
                "inputResponses" => {
                    once!(params, "inputResponses", params.input_responses.is_some());
                    params.input_responses = Some(map.next_value()?);
                }
                "requestState" => {
                    once!(params, "requestState", !params.request_state.is_absent());
                    params.request_state = map.next_value()?;
                }
                "uri" => {
                    once!(params, "uri", !params.uri.is_absent());
                    params.uri = map.next_value()?;
                }
                "cursor" => {
                    once!(params, "cursor", !params.cursor.is_absent());
                    params.cursor = map.next_value()?;
                }
                "ref" => {
                    once!(params, "ref", params.rare().reference.is_some());
                    params.rare.get_or_insert_default().reference = Some(map.next_value()?);
                }
                "argument" => {
                    once!(params, "argument", params.rare().argument.is_some());
                    params.rare.get_or_insert_default().argument = Some(map.next_value()?);
                }
                "context" => {
                    once!(params, "context", params.rare().context.is_some());
                    params.rare.get_or_insert_default().context = Some(map.next_value()?);
                }
                "notifications" => {
                    once!(
                        params,
                        "notifications",
                        params.rare().notifications.is_some()
                    );
                    params.rare.get_or_insert_default().notifications = Some(map.next_value()?);
                }
                "requestId" => {
                    once!(params, "requestId", params.rare().request_id.is_some());
                    params.rare.get_or_insert_default().request_id = Some(map.next_value()?);
                }
                "reason" => params.rare.get_or_insert_default().reason = map.next_value()?,
                "protocolVersion" => {
                    params.rare.get_or_insert_default().protocol_version = map.next_value()?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        params.repeated = params.repeated.or(params.meta.repeated());
        Ok(())
    }

    not_an_object!(self, self.0.state = ParamsState::Wrong);
    not_a_list!(self, self.0.state = ParamsState::Wrong);
}

impl<'de> DeserializeSeed<'de> for Into<'_, Meta<'de>> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Into<'_, Meta<'de>> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let meta = self.0;
        meta.present = true;
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                PROTOCOL_VERSION if meta.version.is_absent() => meta.version = map.next_value()?,
                CLIENT_CAPABILITIES if meta.client_capabilities.is_none() => {
                    meta.client_capabilities = Some(map.next_value()?);
                }
                CLIENT_INFO if meta.client_info.is_none() => {
                    meta.client_info = Some(map.next_value()?);
                }
                LOG_LEVEL if meta.log_level.is_absent() => meta.log_level = map.next_value()?,
                PROGRESS_TOKEN if meta.progress_token.is_none() => {
                    meta.progress_token = Some(map.next_value()?);
                }
                _ => meta.others.push((key, map.next_value()?)),
            }
        }
        Ok(())
    }

    not_an_object!(self, self.0.wrong = true);
    not_a_list!(self, self.0.wrong = true);
}

impl Meta<'_> {
    /// A reserved key that came twice: the second one landed among the others.
    fn repeated(&self) -> Option<&'static str> {
        [
            PROTOCOL_VERSION,
            CLIENT_CAPABILITIES,
            CLIENT_INFO,
            LOG_LEVEL,
            PROGRESS_TOKEN,
        ]
        .into_iter()
        .find(|key| self.others.iter().any(|(other, _)| other == key))
    }

    /// One of the other keys.
    pub fn other(&self, key: &str) -> Option<&RawValue> {
        self.others
            .iter()
            .find_map(|(other, raw)| (other == key).then_some(*raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        Message::parse(text).expect("JSON").shape()
    }

    #[test]
    fn a_call_is_borrowed_whole() {
        let text = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"n":1e400},
            "requestState":"","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p","traceparent":"00-a-b-01"}}}"#;
        let message = Message::parse(text).expect("JSON");
        assert_eq!(message.shape(), Shape::Request);
        assert_eq!((message.id(), message.method()), (Some("7"), "tools/call"));
        let params = &message.params;
        assert!(matches!(&params.name, Slot::Text(Cow::Borrowed("x"))));
        assert_eq!(params.arguments.map(RawValue::get), Some(r#"{"n":1e400}"#));
        assert_eq!(params.request_state.as_str(), Some(""));
        assert_eq!(params.meta.version.as_str(), Some("2026-07-28"));
        assert_eq!(
            params.meta.progress_token.map(RawValue::get),
            Some(r#""p""#)
        );
        assert_eq!(
            params.meta.other("traceparent").map(RawValue::get),
            Some(r#""00-a-b-01""#)
        );
    }

    #[test]
    fn escaped_names_are_the_same_names() {
        let message = Message::parse(r#"{"jsonrpc":"2.0","m\u0065thod":"a\u0062"}"#).expect("JSON");
        assert_eq!(message.method(), "ab");
    }

    /// BASE-C-01, BASE-C-02: ids are strings or integers of any size.
    #[test]
    fn ids() {
        for (id, good) in [
            ("1", true),
            ("-9", true),
            ("0", true),
            ("123456789012345678901234567890", true),
            (r#""""#, true),
            (r#""a\n""#, true),
            ("1.0", false),
            ("1e3", false),
            ("null", false),
            ("true", false),
            ("{}", false),
            ("[1]", false),
            (r#""\ud83d\udea2""#, true),
            (r#""\ud800""#, false),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            let message = Message::parse(&text).expect("JSON");
            assert_eq!(message.id(), good.then_some(id), "{id}");
            assert_eq!(message.shape() == Shape::Request, good, "{id}");
        }
    }

    /// BASE-B-02, BASE-B-04: what is one message, and what is not.
    #[test]
    fn shapes() {
        assert_eq!(
            shape(r#"{"jsonrpc":"2.0","method":"n"}"#),
            Shape::Notification
        );
        assert_eq!(
            shape(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            Shape::Response
        );
        assert_eq!(shape(r#"{"jsonrpc":"2.0","error":{}}"#), Shape::Response);
        assert_eq!(shape(r#"[{"jsonrpc":"2.0","method":"n"}]"#), Shape::Batch);
        for bad in [
            "1",
            "null",
            r#""x""#,
            "true",
            "1.5",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
            r#"{"id":1,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":{}}"#,
        ] {
            assert!(matches!(shape(bad), Shape::Invalid(_)), "{bad}");
        }
    }

    #[test]
    fn wrong_types_are_facts_not_failures() {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":{"a":[1]},"cursor":null,"uri":[2],"_meta":3}}"#;
        let message = Message::parse(text).expect("JSON");
        assert_eq!(message.params.name, Slot::Other);
        assert_eq!(message.params.cursor, Slot::Null);
        assert_eq!(message.params.uri, Slot::Other);
        assert!(message.params.meta.wrong && !message.params.meta.present);
        let message = Message::parse(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#);
        assert_eq!(message.expect("JSON").params.state, ParamsState::Wrong);
    }

    #[test]
    fn repeated_names_are_noticed() {
        for (params, name) in [
            (r#""name":"a","name":"b""#, "name"),
            (r#""arguments":{},"arguments":{}"#, "arguments"),
            (r#""_meta":{},"_meta":{}"#, "_meta"),
            (
                r#""_meta":{"io.modelcontextprotocol/protocolVersion":"a","io.modelcontextprotocol/protocolVersion":"b"}"#,
                PROTOCOL_VERSION,
            ),
            (r#""requestState":"a","requestState":null"#, "requestState"),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{{params}}}}}"#);
            let message = Message::parse(&text).expect("JSON");
            assert_eq!(message.params.repeated, Some(name), "{params}");
        }
    }

    /// BASE-S-06: JSON that cannot be held is still JSON, and its id still an id.
    #[test]
    fn what_cannot_be_held_keeps_its_id() {
        for params in [
            r#"{"cursor":1e999}"#,
            r#"{"name":"\ud800"}"#,
            r#"{"\ud800":1}"#,
            r#"{"_meta":{"\udc00":1}}"#,
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{params}}}"#);
            let unreadable = Message::parse(&text).expect_err(params);
            assert_eq!(
                (unreadable.is_json, unreadable.id),
                (true, Some("7")),
                "{params}"
            );
        }
        let unreadable = Message::parse(r#"{"id":7,"method":}"#).expect_err("not JSON");
        assert_eq!((unreadable.is_json, unreadable.id), (false, None));
    }

    #[test]
    fn only_bad_json_fails() {
        for bad in [
            "",
            "{",
            "nul",
            "{} {}",
            "\u{1}",
            r#"{"a":01}"#,
            r#"{"method":"\ud800"}"#,
        ] {
            assert!(Message::parse(bad).is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            if let Ok(message) = Message::parse(&text) {
                message.shape();
            }
        }
    }
}
