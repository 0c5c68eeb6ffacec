//! The message as it is read: one pass, strings and raw JSON borrowed from the body.

use std::borrow::Cow;

use bytes::Bytes;
use contract::VERSION;
use serde::Deserialize;
use serde_json::{error::Category, value::RawValue};

use super::reply::Refusal;

/// A string that is copied only if it holds escapes. Serde borrows a `Cow` only where it is the
/// field itself, not inside an `Option`; this type borrows in both places.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    jsonrpc: Text<'a>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Text<'a>,
    #[serde(borrow, default)]
    params: Params<'a>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "inputResponses")]
    answers: Option<&'a RawValue>,
    #[serde(borrow, rename = "requestState")]
    state: Option<Text<'a>>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Text<'a>>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
}

/// What is still looked for in a request whose parameters have the wrong shape.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow, rename = "method")]
    _method: Text<'a>,
}

impl<'a> Message<'a> {
    pub(super) fn parse(body: &'a Bytes) -> Result<Self, (Bytes, Refusal)> {
        let error = match serde_json::from_slice::<Self>(body) {
            Ok(message) if message.jsonrpc.0 == "2.0" && message.id.is_none_or(names) => {
                return Ok(message);
            }
            Ok(_) => return Err((Bytes::from_static(b"null"), Refusal::Request)),
            Err(error) => error,
        };
        Err(match serde_json::from_slice::<Outline<'_>>(body) {
            Ok(outline) if names(outline.id) => (
                body.slice_ref(outline.id.get().as_bytes()),
                Refusal::Params("the parameters have the wrong shape"),
            ),
            _ if error.classify() == Category::Data => {
                (Bytes::from_static(b"null"), Refusal::Request)
            }
            _ => (Bytes::from_static(b"null"), Refusal::Json),
        })
    }

    pub(super) fn id(&self) -> Option<&'a str> {
        self.id.map(RawValue::get)
    }

    pub(super) fn method(&self) -> &str {
        &self.method.0
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.params.name.as_ref().map(|name| &*name.0)
    }

    pub(super) fn arguments(&self) -> Option<&'a str> {
        self.params.arguments.map(RawValue::get)
    }

    pub(super) fn answers(&self) -> Option<&'a str> {
        self.params.answers.map(RawValue::get)
    }

    pub(super) fn state(&self) -> Option<&Cow<'a, str>> {
        self.params.state.as_ref().map(|state| &state.0)
    }

    pub(super) fn version(&self) -> Option<&str> {
        self.params.meta.version.as_ref().map(|version| &*version.0)
    }

    /// What must hold of every request, on any transport.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let version = self
            .version()
            .ok_or(Refusal::Params("the protocol version is missing"))?;
        if version != VERSION {
            return Err(Refusal::Version(version.to_owned()));
        }
        match self.params.meta.capabilities {
            Some(capabilities) if capabilities.get().starts_with('{') => Ok(()),
            _ => Err(Refusal::Params("the client capabilities are missing")),
        }
    }

    /// What must also hold of a call that may ask the user with a form.
    pub(super) fn check_form(&self) -> Result<(), Refusal> {
        #[derive(Deserialize)]
        struct Capabilities<'a> {
            #[serde(borrow)]
            elicitation: Option<Modes<'a>>,
        }
        #[derive(Deserialize)]
        struct Modes<'a> {
            #[serde(borrow)]
            form: Option<&'a RawValue>,
            #[serde(borrow)]
            url: Option<&'a RawValue>,
        }
        let declared = self.params.meta.capabilities.map_or("{}", RawValue::get);
        match serde_json::from_str::<Capabilities<'_>>(declared) {
            // Without any mode, forms are meant.
            Ok(Capabilities {
                elicitation: Some(modes),
            }) if modes.form.is_some() || modes.url.is_none() => Ok(()),
            Ok(_) => Err(Refusal::NoForms),
            Err(_) => Err(Refusal::Params(
                "the client capabilities have the wrong shape",
            )),
        }
    }
}

/// Whether this is an id: a string or an integer.
fn names(id: &RawValue) -> bool {
    let json = id.get().as_bytes();
    match json[0] {
        b'"' => true,
        b'-' | b'0'..=b'9' => !json.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')),
        _ => false,
    }
}
