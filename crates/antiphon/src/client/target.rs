//! [`Target`]: what a call is about.

use std::fmt;

use antiphon_core::negotiate::shown;
use antiphon_types::method::{CallTool, GetPrompt, Method, ReadResource};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Error;

/// What is called: a method, what it names, and the arguments, as they were given.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    method: String,
    name: String,
    // As text: whatever it is stored in, not a byte of it changes.
    #[serde(default, with = "as_text", skip_serializing_if = "Option::is_none")]
    arguments: Option<Box<RawValue>>,
}

impl Target {
    /// A tool or a prompt with its arguments.
    pub(super) fn new(
        method: &str,
        name: String,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<Self, Error> {
        let what =
            |why: &dyn fmt::Display| Error::invalid(format!("{method} {}: {why}", shown(&name)));
        let arguments = serde_json::value::to_raw_value(arguments)
            .map_err(|error| what(&format_args!("the arguments do not serialise: {error}")))?;
        let arguments = match arguments.get() {
            "null" => None,
            text if text.starts_with('{') => Some(arguments),
            _ => return Err(what(&"the arguments must be an object, or nothing")),
        };
        Ok(Self {
            method: method.to_owned(),
            name,
            arguments,
        })
    }

    /// A resource.
    pub(super) fn resource(uri: String) -> Self {
        Self {
            method: ReadResource::NAME.to_owned(),
            name: uri,
            arguments: None,
        }
    }

    /// No call in particular.
    pub(super) fn unknown() -> Self {
        Self {
            method: String::new(),
            name: String::new(),
            arguments: None,
        }
    }

    /// Whether it is known what is called. It is, but for questions that a server of 2025-11-25 or
    /// before asks while there are several calls, or none: they do not say whose they are. Such a
    /// target has neither a method nor a name.
    pub fn is_known(&self) -> bool {
        !self.method.is_empty()
    }

    /// The method, such as `tools/call`.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The name of the tool or prompt, or the URI of the resource.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments, a JSON object, byte for byte as they are sent.
    pub fn arguments(&self) -> Option<&RawValue> {
        self.arguments.as_deref()
    }

    /// Whether one that was stored is what could have been called: one of the three methods that
    /// may ask, with an object of arguments or none.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { method, .. } = self;
        if ![CallTool::NAME, GetPrompt::NAME, ReadResource::NAME].contains(&method.as_str()) {
            return Err(format!("{} is no call that can pause", shown(method)));
        }
        match self.arguments() {
            Some(_) if self.is_resource() => Err(format!("{method} takes no arguments")),
            Some(arguments) if !arguments.get().starts_with('{') => {
                Err(format!("the arguments of {method} must be an object"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_tool(&self) -> bool {
        self.method == CallTool::NAME
    }

    pub(super) fn is_resource(&self) -> bool {
        self.method == ReadResource::NAME
    }
}

/// JSON as a text, which any format can hold.
mod as_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use serde_json::value::RawValue;

    pub(super) fn serialize<S: Serializer>(
        json: &Option<Box<RawValue>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        json.as_deref().map(RawValue::get).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Box<RawValue>>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let json = text.map(RawValue::from_string).transpose();
        json.map_err(|error| D::Error::custom(format_args!("the arguments are not JSON: {error}")))
    }
}

/// Names the call, and never its arguments.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_known() {
            true => write!(f, "{} {}", self.method, shown(&self.name)),
            false => f.write_str("no call in particular"),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}
