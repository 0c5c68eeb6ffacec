//! Rounds: a server that needs input ends the request with questions, and the
//! client sends it again with the answers.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::capabilities::{ClientCapabilities, ElicitationCapability};
use crate::decode::Strict;
use crate::elicit::{ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams};
use crate::meta::MetaObject;
use crate::roots::ListRootsRequestParams;
use crate::sample::{CreateMessageRequestParams, IncludeContext};
use crate::tagged::Name;

const ELICIT: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";

/// So many keys are compared one by one, which costs less than to hash them.
const FEW: usize = 8;

/// One question to the client: a bare `method` and `params`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// `elicitation/create`: ask the user.
    Elicit(ElicitRequestParams),
    /// `sampling/createMessage`: call the model.
    Sample(Box<CreateMessageRequestParams>),
    /// `roots/list`: name the roots.
    Roots(Option<ListRootsRequestParams>),
    /// A method unknown here.
    Other {
        /// Its name.
        method: String,
        /// Its params, if there were any.
        params: Option<Value>,
    },
}

impl InputRequest {
    /// Asks for the roots.
    pub fn roots() -> Self {
        Self::Roots(None)
    }

    /// The method's name.
    pub fn method(&self) -> &str {
        match self {
            Self::Elicit(_) => ELICIT,
            Self::Sample(_) => SAMPLE,
            Self::Roots(_) => ROOTS,
            Self::Other { method, .. } => method,
        }
    }

    fn from_parts(method: String, params: Option<Value>) -> Result<Self, serde_json::Error> {
        let required = |params: Option<Value>| {
            params
                .map(Strict)
                .ok_or_else(|| serde_json::Error::missing_field("params"))
        };
        Ok(match method.as_str() {
            ELICIT => Self::Elicit(Deserialize::deserialize(required(params)?)?),
            SAMPLE => Self::Sample(Deserialize::deserialize(required(params)?)?),
            ROOTS => Self::Roots(Deserialize::deserialize(Strict(
                params.unwrap_or_default(),
            ))?),
            _ => Self::Other { method, params },
        })
    }

    /// Adds what the client must be able to do to answer.
    fn require(&self, required: &mut ClientCapabilities) {
        match self {
            Self::Elicit(params) => {
                let elicitation = required.elicitation.get_or_insert_default();
                let ElicitationCapability { form, url } = elicitation;
                match params {
                    ElicitRequestParams::Form(_) => form.get_or_insert_default(),
                    ElicitRequestParams::Url(_) => url.get_or_insert_default(),
                };
            }
            Self::Sample(params) => {
                let sampling = required.sampling.get_or_insert_default();
                if params.tools.is_some() || params.tool_choice.is_some() {
                    sampling.tools.get_or_insert_default();
                }
                if !matches!(params.include_context, None | Some(IncludeContext::None)) {
                    sampling.context.get_or_insert_default();
                }
            }
            Self::Roots(_) => {
                required.roots.get_or_insert_default();
            }
            Self::Other { .. } => {}
        }
    }
}

impl From<ElicitRequestParams> for InputRequest {
    fn from(params: ElicitRequestParams) -> Self {
        Self::Elicit(params)
    }
}

impl From<ElicitRequestFormParams> for InputRequest {
    fn from(params: ElicitRequestFormParams) -> Self {
        Self::Elicit(params.into())
    }
}

impl From<ElicitRequestUrlParams> for InputRequest {
    fn from(params: ElicitRequestUrlParams) -> Self {
        Self::Elicit(params.into())
    }
}

impl From<CreateMessageRequestParams> for InputRequest {
    fn from(params: CreateMessageRequestParams) -> Self {
        Self::Sample(Box::new(params))
    }
}

impl From<ListRootsRequestParams> for InputRequest {
    fn from(params: ListRootsRequestParams) -> Self {
        Self::Roots(Some(params))
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let bare = matches!(self, Self::Roots(None) | Self::Other { params: None, .. });
        let mut out = to.serialize_struct("InputRequest", 2 - usize::from(bare))?;
        out.serialize_field("method", self.method())?;
        match self {
            Self::Elicit(params) => out.serialize_field("params", params)?,
            Self::Sample(params) => out.serialize_field("params", params)?,
            Self::Roots(Some(params)) => out.serialize_field("params", params)?,
            Self::Other {
                params: Some(params),
                ..
            } => out.serialize_field("params", params)?,
            Self::Roots(None) | Self::Other { params: None, .. } => {}
        }
        out.end()
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(InputRequestVisitor)
    }
}

struct InputRequestVisitor;

impl<'de> Visitor<'de> for InputRequestVisitor {
    type Value = InputRequest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an input request")
    }

    /// Straight through when the method comes first, otherwise by way of a value.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InputRequest, A::Error> {
        fn strict<'de, T: Deserialize<'de>, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
            map.next_value_seed(Strict(PhantomData))
        }

        let mut method = None::<Name<'de>>;
        let mut params = None::<Value>;
        let mut request = None;
        while let Some(Name(key)) = map.next_key()? {
            let twice = match &*key {
                "method" => method.replace(map.next_value()?).is_some(),
                "params" if request.is_some() || params.is_some() => true,
                "params" => {
                    match method.as_ref().map(|Name(method)| &**method) {
                        Some(ELICIT) => request = Some(InputRequest::Elicit(strict(&mut map)?)),
                        Some(SAMPLE) => request = Some(InputRequest::Sample(strict(&mut map)?)),
                        Some(ROOTS) => request = Some(InputRequest::Roots(strict(&mut map)?)),
                        _ => params = Some(map.next_value()?),
                    }
                    false
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    false
                }
            };
            if twice {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
        }
        let Name(method) = method.ok_or_else(|| A::Error::missing_field("method"))?;
        match request {
            Some(request) => Ok(request),
            None => InputRequest::from_parts(method.into_owned(), params).map_err(A::Error::custom),
        }
    }
}

/// A result that asks for input: questions, a state to bring back, or both.
#[derive(Clone, PartialEq)]
pub struct InputRequired {
    requests: Vec<(String, InputRequest)>,
    state: Option<String>,
    meta: Option<MetaObject>,
}

/// Does not show the state: it may be worth as much as a token.
impl fmt::Debug for InputRequired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.as_ref().map(|_| format_args!(".."));
        f.debug_struct("InputRequired")
            .field("requests", &self.requests)
            .field("state", &state)
            .field("meta", &self.meta)
            .finish()
    }
}

impl InputRequired {
    /// Asks one question, to be answered under `key`.
    pub fn ask(key: impl Into<String>, request: impl Into<InputRequest>) -> Self {
        Self {
            requests: vec![(key.into(), request.into())],
            state: None,
            meta: None,
        }
    }

    /// Asks nothing but to come back later with `state`.
    pub fn later(state: impl Into<String>) -> Self {
        Self {
            requests: Vec::new(),
            state: Some(state.into()),
            meta: None,
        }
    }

    /// Asks another question. Keys must differ, see [`Self::duplicate_key`].
    #[must_use]
    pub fn and(mut self, key: impl Into<String>, request: impl Into<InputRequest>) -> Self {
        self.requests.push((key.into(), request.into()));
        self
    }

    /// Sets the state to bring back.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// Sets the state to bring back to a value, as JSON.
    ///
    /// # Errors
    /// If the value does not serialise.
    pub fn carrying(self, state: &(impl Serialize + ?Sized)) -> serde_json::Result<Self> {
        Ok(self.with_state(serde_json::to_string(state)?))
    }

    /// Sets the metadata.
    #[must_use]
    pub fn with_meta(mut self, meta: MetaObject) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The questions by key, in order.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = (&str, &InputRequest)> {
        self.requests
            .iter()
            .map(|(key, request)| (key.as_str(), request))
    }

    /// The state to bring back.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The metadata.
    pub fn meta(&self) -> Option<&MetaObject> {
        self.meta.as_ref()
    }

    /// Takes the metadata out.
    pub fn take_meta(&mut self) -> Option<MetaObject> {
        self.meta.take()
    }

    /// The questions by key, and the state to bring back.
    pub fn into_parts(self) -> (Vec<(String, InputRequest)>, Option<String>) {
        (self.requests, self.state)
    }

    /// The first key used twice; a result that has one must not be sent.
    pub fn duplicate_key(&self) -> Option<&str> {
        let requests = &self.requests;
        if requests.len() <= FEW {
            let twice = |at: &usize| {
                let mut before = requests[..*at].iter();
                before.any(|(key, _)| *key == requests[*at].0)
            };
            let at = (1..requests.len()).find(twice)?;
            return Some(&requests[at].0);
        }
        let mut seen = HashSet::with_capacity(requests.len());
        let mut keys = requests.iter().map(|(key, _)| key.as_str());
        keys.find(|key| !seen.insert(*key))
    }

    /// What the client must be able to do to answer everything.
    pub fn required_capabilities(&self) -> ClientCapabilities {
        let mut required = ClientCapabilities::new();
        for (_, request) in &self.requests {
            request.require(&mut required);
        }
        required
    }
}

impl Serialize for InputRequired {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut out = to.serialize_map(None)?;
        if !self.requests.is_empty() {
            out.serialize_entry("inputRequests", &Requests(&self.requests))?;
        }
        if let Some(state) = &self.state {
            out.serialize_entry("requestState", state)?;
        }
        if let Some(meta) = &self.meta {
            out.serialize_entry("_meta", meta)?;
        }
        out.end()
    }
}

struct Requests<'a>(&'a [(String, InputRequest)]);

impl Serialize for Requests<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, request)| (key, request)))
    }
}

impl<'de> Deserialize<'de> for InputRequired {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(InputRequiredVisitor)
    }
}

struct InputRequiredVisitor;

impl<'de> Visitor<'de> for InputRequiredVisitor {
    type Value = InputRequired;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result that asks for input")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InputRequired, A::Error> {
        let mut requests = None::<Option<OwnedRequests>>;
        let mut state = None::<Option<String>>;
        let mut meta = None::<Option<MetaObject>>;
        while let Some(Name(key)) = map.next_key()? {
            let twice = match &*key {
                "inputRequests" => requests.replace(map.next_value()?).is_some(),
                "requestState" => state.replace(map.next_value()?).is_some(),
                "_meta" => meta.replace(map.next_value()?).is_some(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    false
                }
            };
            if twice {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
        }
        let result = InputRequired {
            requests: requests.flatten().map(|owned| owned.0).unwrap_or_default(),
            state: state.flatten(),
            meta: meta.flatten(),
        };
        if result.requests.is_empty() && result.state.is_none() {
            return Err(A::Error::custom(
                "neither `inputRequests` nor `requestState`",
            ));
        }
        if let Some(key) = result.duplicate_key() {
            return Err(A::Error::custom(format_args!(
                "duplicate input request `{key}`"
            )));
        }
        Ok(result)
    }
}

/// The questions in the order they came, repeated keys included.
struct OwnedRequests(Vec<(String, InputRequest)>);

impl<'de> Deserialize<'de> for OwnedRequests {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OwnedRequestsVisitor;

        impl<'de> Visitor<'de> for OwnedRequestsVisitor {
            type Value = OwnedRequests;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of input requests")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OwnedRequests, A::Error> {
                let mut requests = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    requests.push(entry);
                }
                Ok(OwnedRequests(requests))
            }
        }

        from.deserialize_map(OwnedRequestsVisitor)
    }
}

/// Writes a result with `"resultType": "complete"` in front, as modern peers
/// expect it.
#[derive(Debug, Clone, PartialEq)]
pub struct Modern<T>(pub T);

impl<T: Serialize> Serialize for Modern<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(tag = "resultType", rename = "complete")]
        struct Complete<'a, T> {
            #[serde(flatten)]
            result: &'a T,
        }
        Complete { result: &self.0 }.serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, from_value, json, to_string, to_value};

    use super::*;
    use crate::form::{BooleanSchema, FormSchema};
    use crate::sample::ToolChoice;
    use crate::tool::CallToolResult;

    fn form() -> ElicitRequestParams {
        ElicitRequestParams::form(
            "Pay?",
            FormSchema::new().required("ok", BooleanSchema::new()),
        )
    }

    #[test]
    fn a_round_is_written_in_order() {
        let ask = InputRequired::ask("z", form())
            .and("a", InputRequest::roots())
            .and("m", ListRootsRequestParams::new())
            .with_state("s")
            .with_meta(MetaObject::new());
        let text = concat!(
            r#"{"inputRequests":{"z":{"method":"elicitation/create","params":{"mode":"form","message":"Pay?","#,
            r#""requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}},"#,
            r#""a":{"method":"roots/list"},"m":{"method":"roots/list","params":{}}},"#,
            r#""requestState":"s","_meta":{}}"#,
        );
        assert_eq!(to_string(&ask).unwrap(), text);
        let mut back: InputRequired = from_str(text).unwrap();
        assert_eq!(back, ask);
        assert_eq!(
            back.requests().map(|(key, _)| key).collect::<Vec<_>>(),
            ["z", "a", "m"]
        );
        assert_eq!(back.state(), Some("s"));
        assert_eq!(back.take_meta(), Some(MetaObject::new()));
        assert_eq!(back.meta(), None);
    }

    #[test]
    fn the_order_of_members_does_not_matter() {
        let text = r#"{"requestState":"","inputRequests":{"k":{"params":{"url":"https://x","message":"m","mode":"url"},"method":"elicitation/create"}},"resultType":"input_required"}"#;
        let round: InputRequired = from_str(text).unwrap();
        assert_eq!(
            round,
            InputRequired::ask("k", ElicitRequestParams::url("m", "https://x")).with_state("")
        );
    }

    #[test]
    fn a_request_is_as_strict_in_any_order() {
        let params = r#""params":{"mode":"url","message":"m","url":"https://x"}"#;
        let list = r#""params":{"mode":"form","message":"m","requestedSchema":["object",{}]}"#;
        let method = r#""method":"elicitation/create""#;
        let read = |members: &[&str]| {
            let text = format!("{{{}}}", members.join(","));
            from_str::<InputRequest>(&text).map_err(|error| error.to_string())
        };
        let both = [read(&[method, params]), read(&[params, method])];
        assert_eq!(
            both[0],
            Ok(ElicitRequestParams::url("m", "https://x").into())
        );
        assert_eq!(both[0], both[1]);
        for (members, wrong) in [
            (&[method, list][..], "invalid type"),
            (&[list, method], "invalid type"),
            (&[method, params, params], "duplicate field `params`"),
            (&[params, params, method], "duplicate field `params`"),
            (&[method, method, params], "duplicate field `method`"),
            (&[method, params, method], "duplicate field `method`"),
            (&[method], "missing field `params`"),
            (&[params], "missing field `method`"),
        ] {
            let error = read(members).unwrap_err();
            assert!(error.contains(wrong), "{members:?}: {error}");
        }
    }

    #[test]
    fn later_asks_nothing() {
        let later = InputRequired::later("s");
        assert_eq!(to_string(&later).unwrap(), r#"{"requestState":"s"}"#);
        assert_eq!(later.requests().len(), 0);
        assert_eq!(
            from_str::<InputRequired>(r#"{"inputRequests":{},"requestState":"s"}"#).unwrap(),
            later
        );
        assert!(later.required_capabilities().is_empty());
    }

    #[test]
    fn empty_rounds_are_refused() {
        for text in [
            "{}",
            r#"{"inputRequests":{}}"#,
            r#"{"inputRequests":null,"requestState":null}"#,
            r#"{"_meta":{}}"#,
            r#"{"inputRequests":[]}"#,
            r#"{"requestState":1}"#,
            r#"{"requestState":"a","requestState":"b"}"#,
        ] {
            assert!(from_str::<InputRequired>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn unknown_kinds_are_kept() {
        for text in [
            r#"{"method":"x/y"}"#,
            r#"{"method":"x/y","params":null}"#,
            r#"{"method":"x/y","params":{"b":1,"a":[null]}}"#,
        ] {
            let request: InputRequest = from_str(text).unwrap();
            assert!(matches!(request, InputRequest::Other { .. }));
            assert_eq!(request.method(), "x/y");
            assert_eq!(to_string(&request).unwrap(), text);
        }
    }

    #[test]
    fn known_kinds_are_checked() {
        for text in [
            r#"{"method":"elicitation/create"}"#,
            r#"{"method":"elicitation/create","params":{"mode":"voice","message":"m"}}"#,
            r#"{"method":"sampling/createMessage","params":{"messages":[]}}"#,
            r#"{"method":"roots/list","params":"all"}"#,
            r#"{"params":{}}"#,
        ] {
            assert!(from_str::<InputRequest>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_may_be_used_once() {
        let twice = InputRequired::ask("a", form())
            .and("b", form())
            .and("a", InputRequest::roots());
        assert_eq!(twice.duplicate_key(), Some("a"));
        assert_eq!(
            InputRequired::ask("a", form())
                .and("b", form())
                .duplicate_key(),
            None
        );
        assert!(from_str::<InputRequired>(&to_string(&twice).unwrap()).is_err());
    }

    #[test]
    fn capabilities_follow_from_the_questions() {
        let sample = || CreateMessageRequestParams::user("t", 1);
        for (round, required) in [
            (
                InputRequired::ask("k", form()),
                json!({"elicitation": {"form": {}}}),
            ),
            (
                InputRequired::ask("k", ElicitRequestParams::url("m", "u")).and("l", form()),
                json!({"elicitation": {"form": {}, "url": {}}}),
            ),
            (InputRequired::ask("k", sample()), json!({"sampling": {}})),
            (
                InputRequired::ask("k", sample().tools(Vec::new())),
                json!({"sampling": {"tools": {}}}),
            ),
            (
                InputRequired::ask("k", sample().tool_choice(ToolChoice::auto())),
                json!({"sampling": {"tools": {}}}),
            ),
            (
                InputRequired::ask("k", sample().include_context(IncludeContext::None)),
                json!({"sampling": {}}),
            ),
            (
                InputRequired::ask("k", sample().include_context(IncludeContext::AllServers)),
                json!({"sampling": {"context": {}}}),
            ),
            (
                InputRequired::ask("k", InputRequest::roots()),
                json!({"roots": {}}),
            ),
        ] {
            assert_eq!(to_value(round.required_capabilities()).unwrap(), required);
        }
    }

    #[test]
    fn a_key_used_twice_is_found_among_few_and_many() {
        for count in 1..3 * FEW {
            let ask = |round: InputRequired, at| round.and(format!("{at}"), InputRequest::roots());
            let round = (1..count).fold(InputRequired::ask("0", InputRequest::roots()), ask);
            assert_eq!(round.duplicate_key(), None);
            for at in 0..count {
                let twice = ask(ask(round.clone(), at), 0);
                assert_eq!(twice.duplicate_key(), Some(&*at.to_string()));
            }
        }
    }

    #[test]
    fn modern_results_say_they_are_complete() {
        let result = CallToolResult::text("a");
        let text = to_string(&Modern(&result)).unwrap();
        assert_eq!(
            text,
            r#"{"resultType":"complete","content":[{"type":"text","text":"a"}]}"#
        );
        assert_eq!(from_str::<CallToolResult>(&text).unwrap(), result);
    }

    #[test]
    fn sampling_is_decoded() {
        let value = json!({"method": "sampling/createMessage", "params": {
            "messages": [{"role": "user", "content": {"type": "text", "text": "t"}}], "maxTokens": 1,
        }});
        let request: InputRequest = from_value(value.clone()).unwrap();
        assert_eq!(request, CreateMessageRequestParams::user("t", 1).into());
        assert_eq!(to_value(request).unwrap(), value);
    }
}
