//! Elicitation: asking the user.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::form::RequestedSchema;
use crate::meta::MetaObject;
use crate::tagged::{self, Tagged};

/// What to ask the user, told apart by `mode`; none means form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitRequestParams {
    /// A form to fill in.
    Form(ElicitRequestFormParams),
    /// A link to open.
    Url(ElicitRequestUrlParams),
}

impl ElicitRequestParams {
    /// Asks with a form.
    pub fn form(message: impl Into<String>, requested_schema: impl Into<RequestedSchema>) -> Self {
        Self::Form(ElicitRequestFormParams::new(message, requested_schema))
    }

    /// Asks to open a link.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(ElicitRequestUrlParams::new(message, url))
    }

    /// What the user reads first.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(params) => &params.message,
            Self::Url(params) => &params.message,
        }
    }
}

impl From<ElicitRequestFormParams> for ElicitRequestParams {
    fn from(params: ElicitRequestFormParams) -> Self {
        Self::Form(params)
    }
}

impl From<ElicitRequestUrlParams> for ElicitRequestParams {
    fn from(params: ElicitRequestUrlParams) -> Self {
        Self::Url(params)
    }
}

impl Serialize for ElicitRequestParams {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Form(params) => params.serialize(to),
            Self::Url(params) => params.serialize(to),
        }
    }
}

impl Tagged for ElicitRequestParams {
    const TAG: &'static str = "mode";
    const DEFAULT: Option<&'static str> = Some("form");

    fn from_tag<'de, D: Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error> {
        match tag {
            "form" => ElicitRequestFormParams::deserialize(rest).map(Self::Form),
            "url" => ElicitRequestUrlParams::deserialize(rest).map(Self::Url),
            other => Err(D::Error::unknown_variant(other, &["form", "url"])),
        }
    }
}

impl<'de> Deserialize<'de> for ElicitRequestParams {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tagged::deserialize(from)
    }
}

/// A form to fill in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mode", rename = "form", rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitRequestFormParams {
    /// What the user reads first.
    pub message: String,
    /// The fields.
    pub requested_schema: RequestedSchema,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ElicitRequestFormParams {
    /// A form of these fields.
    pub fn new(message: impl Into<String>, requested_schema: impl Into<RequestedSchema>) -> Self {
        Self {
            message: message.into(),
            requested_schema: requested_schema.into(),
            meta: None,
        }
    }
}

setters!(ElicitRequestFormParams { plain { meta: MetaObject } });

/// A link to open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mode", rename = "url", rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitRequestUrlParams {
    /// What the user reads first.
    pub message: String,
    /// Where to go.
    pub url: String,
    /// Revision 2025-11-25: what the completion notice will name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ElicitRequestUrlParams {
    /// A link to this URL.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            url: url.into(),
            elicitation_id: None,
            meta: None,
        }
    }
}

setters!(ElicitRequestUrlParams {
    into { elicitation_id: String }
    plain { meta: MetaObject }
});

/// What the user did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElicitAction {
    /// Filled in the form, or agreed to open the link.
    Accept,
    /// Said no.
    Decline,
    /// Went away without choosing.
    Cancel,
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// The form's values; only with an accepted form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Map<String, Value>>,
    /// Metadata of the answer.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ElicitResult {
    /// An answer without values; an accepted link is one.
    pub fn new(action: ElicitAction) -> Self {
        Self {
            action,
            content: None,
            meta: None,
        }
    }

    /// The form was filled in.
    pub fn accept(content: Map<String, Value>) -> Self {
        Self::new(ElicitAction::Accept).content(content)
    }

    /// The user said no.
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// The user went away.
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

setters!(ElicitResult { plain { content: Map<String, Value>, meta: MetaObject } });

#[cfg(test)]
mod tests {
    use serde_json::{from_str, from_value, json, to_value};

    use super::*;
    use crate::form::{BooleanSchema, FormSchema};

    #[test]
    fn a_missing_mode_is_form() {
        let value = json!({
            "message": "Pay?",
            "requestedSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]},
        });
        let params: ElicitRequestParams = from_value(value.clone()).unwrap();
        let form = FormSchema::new().required("ok", BooleanSchema::new());
        assert_eq!(params, ElicitRequestParams::form("Pay?", form));
        let mut with_mode = value;
        with_mode["mode"] = "form".into();
        assert_eq!(to_value(&params).unwrap(), with_mode);
        assert_eq!(
            from_value::<ElicitRequestParams>(with_mode).unwrap(),
            params
        );
    }

    #[test]
    fn a_link_needs_its_mode() {
        let params: ElicitRequestParams =
            from_str(r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"e"}"#)
                .unwrap();
        assert_eq!(
            to_value(&params).unwrap(),
            json!({"mode": "url", "message": "m", "url": "https://x", "elicitationId": "e"})
        );
        assert_eq!(
            to_value(ElicitRequestParams::url("m", "https://x")).unwrap(),
            json!({"mode": "url", "message": "m", "url": "https://x"})
        );
        for text in [
            r#"{"message":"m","url":"https://x"}"#,
            r#"{"mode":"voice","message":"m"}"#,
            r#"{"mode":null,"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
            r#"{"mode":"url","message":"m"}"#,
        ] {
            assert!(from_str::<ElicitRequestParams>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn answers_round_trip() {
        let content: Map<String, Value> =
            from_value(json!({"ok": true, "n": 1, "s": ["a"]})).unwrap();
        for (answer, value) in [
            (
                ElicitResult::accept(content),
                json!({"action": "accept", "content": {"ok": true, "n": 1, "s": ["a"]}}),
            ),
            (ElicitResult::decline(), json!({"action": "decline"})),
            (ElicitResult::cancel(), json!({"action": "cancel"})),
        ] {
            assert_eq!(to_value(&answer).unwrap(), value);
            assert_eq!(from_value::<ElicitResult>(value).unwrap(), answer);
        }
        assert!(from_str::<ElicitResult>(r#"{"action":"maybe"}"#).is_err());
    }
}
