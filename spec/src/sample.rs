//! Samples: values of our types as JSON, and the definitions they must fit.

use antiphon_types::{
    EmptyResult, ErrorObject, InputRequest, InputRequired, Modern, Notification, Request,
    RequestId, Response, Version,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A value of one of our types.
pub(crate) struct Sample {
    /// The definitions it must fit.
    pub(crate) definitions: Vec<String>,
    /// What it was written as.
    pub(crate) json: Value,
    /// The same after decoding it and writing it once more.
    pub(crate) again: Result<Value, String>,
    /// Decodes other text as the same type and writes it again.
    #[cfg(test)]
    pub(crate) rewrite: fn(&str) -> Result<Value, String>,
}

impl Sample {
    pub(crate) fn new<T: Serialize + DeserializeOwned>(definitions: &[&str], value: &T) -> Self {
        let text = serde_json::to_string(value).expect("wire types have string keys only");
        let json = serde_json::from_str(&text).expect("a serializer writes JSON");
        Self {
            definitions: definitions.iter().map(|&name| name.to_owned()).collect(),
            json,
            again: rewrite::<T>(&text),
            #[cfg(test)]
            rewrite: rewrite::<T>,
        }
    }
}

fn rewrite<T: Serialize + DeserializeOwned>(text: &str) -> Result<Value, String> {
    antiphon_types::decode::<T>(text)
        .and_then(serde_json::to_value)
        .map_err(|error| error.to_string())
}

/// The samples of one revision.
pub(crate) struct Samples {
    pub(crate) version: Version,
    pub(crate) list: Vec<Sample>,
}

impl Samples {
    pub(crate) fn new(version: Version) -> Self {
        Self {
            version,
            list: Vec::new(),
        }
    }

    /// Whether the revision is `version` or later.
    pub(crate) fn since(&self, version: Version) -> bool {
        self.version >= version
    }

    pub(crate) fn modern(&self) -> bool {
        self.version.is_modern()
    }

    /// Adds a value of one definition.
    pub(crate) fn value<T: Serialize + DeserializeOwned>(&mut self, definition: &str, value: &T) {
        self.fits(&[definition], value);
    }

    /// Adds a value of several definitions.
    pub(crate) fn fits<T: Serialize + DeserializeOwned>(
        &mut self,
        definitions: &[&str],
        value: &T,
    ) {
        self.list.push(Sample::new(definitions, value));
    }

    /// Adds a value of a definition that params have since 2025-11-25.
    fn params<P: Serialize + DeserializeOwned>(&mut self, definition: &str, params: &P) {
        if self.since(Version::V2025_11_25) && !definition.is_empty() {
            self.value(definition, params);
        }
    }

    /// Adds a request of the client's; `params` names the definition of its
    /// params where there is one.
    pub(crate) fn client_request<P: Serialize + DeserializeOwned>(
        &mut self,
        [definition, params_definition]: [&str; 2],
        method: &str,
        params: P,
    ) {
        self.params(params_definition, &params);
        let request = Request::new(self.id(), method, params);
        self.request(definition, "ClientRequest", &request);
    }

    /// Adds a request without params, which legacy revisions allow.
    pub(crate) fn bare_request(&mut self, definition: &str, union: &str, method: &str) {
        let request = Request::<Value>::new(self.id(), method, None);
        self.request(definition, union, &request);
    }

    /// Adds a question to the client: a request of its own in legacy revisions,
    /// part of a result in modern ones.
    pub(crate) fn ask<P>(&mut self, [definition, params_definition]: [&str; 2], params: P)
    where
        P: Clone + Into<InputRequest> + Serialize + DeserializeOwned,
    {
        self.params(params_definition, &params);
        let input: InputRequest = params.clone().into();
        if self.modern() {
            self.fits(&[definition, "InputRequest", "Request"], &input);
        } else {
            let request = Request::new(self.id(), input.method(), params);
            self.request(definition, "ServerRequest", &request);
        }
    }

    fn request<P: Serialize + DeserializeOwned>(
        &mut self,
        definition: &str,
        union: &str,
        request: &Request<P>,
    ) {
        let mut definitions = vec![definition, union, "JSONRPCRequest", "JSONRPCMessage"];
        if !self.modern() {
            definitions.push("Request");
        }
        self.fits(&definitions, request);
    }

    /// Adds a notification of whom `unions` names.
    pub(crate) fn notification<P: Serialize + DeserializeOwned>(
        &mut self,
        definition: &str,
        unions: &[&str],
        method: &str,
        params: impl Into<Option<P>>,
    ) {
        let mut definitions = vec![definition, "JSONRPCNotification", "JSONRPCMessage"];
        definitions.extend(unions);
        if !self.modern() {
            definitions.push("Notification");
        }
        self.fits(&definitions, &Notification::new(method, params));
    }

    /// Adds a result of the server's, by itself and in a response.
    pub(crate) fn result<T: Clone + Serialize + DeserializeOwned>(
        &mut self,
        definition: &str,
        result: &T,
    ) {
        if self.modern() {
            let result = Complete(result.clone());
            self.fits(&[definition, "ServerResult", "Result"], &result);
            self.response(&format!("{definition}Response"), result);
        } else {
            self.fits(&[definition, "ServerResult", "Result"], result);
            self.response("", result.clone());
        }
    }

    /// Adds a result of the server's that asks for input.
    pub(crate) fn asking(&mut self, result: &InputRequired) {
        let result = Asking(result.clone());
        self.fits(&["InputRequiredResult", "ServerResult", "Result"], &result);
        for method in ["CallTool", "GetPrompt", "ReadResource"] {
            self.response(&format!("{method}ResultResponse"), result.clone());
        }
    }

    /// Adds an answer of the client's: a response in legacy revisions, part of
    /// a request in modern ones.
    pub(crate) fn answer<T: Clone + Serialize + DeserializeOwned>(
        &mut self,
        definition: &str,
        answer: &T,
    ) {
        if self.modern() {
            self.fits(&[definition, "InputResponse"], answer);
        } else {
            self.fits(&[definition, "ClientResult", "Result"], answer);
            self.response("", answer.clone());
        }
    }

    fn response<R: Serialize + DeserializeOwned>(&mut self, definition: &str, result: R) {
        let mut definitions = vec!["JSONRPCResponse", "JSONRPCMessage"];
        if self.since(Version::V2025_11_25) {
            definitions.push("JSONRPCResultResponse");
        }
        if self.modern() && !definition.is_empty() && definition != "EmptyResultResponse" {
            definitions.push(definition);
        }
        let id = self.id();
        self.fits(&definitions, &Response::Result { id, result });
    }

    /// Adds an error response; `definition` may be empty.
    pub(crate) fn error(&mut self, definition: &str, id: Option<RequestId>, error: ErrorObject) {
        let mut definitions = vec!["JSONRPCMessage"];
        if self.since(Version::V2025_11_25) {
            definitions.extend(["JSONRPCErrorResponse", "JSONRPCResponse"]);
        } else {
            definitions.push("JSONRPCError");
        }
        if !definition.is_empty() {
            definitions.push(definition);
        }
        self.fits(&definitions, &Response::<EmptyResult>::Error { id, error });
    }

    /// An id, numbers and strings in turn.
    pub(crate) fn id(&self) -> RequestId {
        match self.list.len() {
            n if n % 2 == 0 => RequestId::from(n as i64),
            n => RequestId::from(format!("r-{n}")),
        }
    }
}

/// A complete modern result; decodes as the result it holds.
struct Complete<T>(T);

impl<T: Serialize> Serialize for Complete<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Modern(&self.0).serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Complete<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Self)
    }
}

/// A modern result that asks, with the `resultType` servers put before it.
#[derive(Clone)]
struct Asking(InputRequired);

impl Serialize for Asking {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(tag = "resultType", rename = "input_required")]
        struct Wire<'a> {
            #[serde(flatten)]
            result: &'a InputRequired,
        }
        Wire { result: &self.0 }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Asking {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        InputRequired::deserialize(from).map(Self)
    }
}
