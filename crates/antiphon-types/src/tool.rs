//! Tools: `tools/list` and `tools/call`.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::cache::{self, CacheScope, cacheable};
use crate::content::ContentBlock;
use crate::extra;
use crate::implementation::Icon;
use crate::meta::MetaObject;
use crate::tagged::Name;

/// A function the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// Name for programs.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// JSON Schema of the arguments, `type: "object"` at its root.
    pub input_schema: Map<String, Value>,
    /// JSON Schema of the structured result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Map<String, Value>>,
    /// Hints about its behaviour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Revision 2025-11-25: how it may be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<ToolExecution>,
    /// Metadata of the tool.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl Tool {
    /// A tool whose arguments fit `input_schema`.
    pub fn new(name: impl Into<String>, input_schema: Map<String, Value>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            icons: None,
            input_schema,
            output_schema: None,
            annotations: None,
            execution: None,
            meta: None,
        }
    }

    /// A tool without arguments.
    pub fn empty(name: impl Into<String>) -> Self {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("additionalProperties".to_owned(), false.into());
        Self::new(name, schema)
    }
}

setters!(Tool {
    into { title: String, description: String }
    plain {
        icons: Vec<Icon>,
        output_schema: Map<String, Value>,
        annotations: ToolAnnotations,
        execution: ToolExecution,
        meta: MetaObject,
    }
});

/// What a tool says of its behaviour; not to be trusted blindly.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Changes nothing. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// May destroy. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second equal call changes nothing more. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Reaches the outside world. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// No hints.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(ToolAnnotations {
    into { title: String }
    plain {
        read_only_hint: bool,
        destructive_hint: bool,
        idempotent_hint: bool,
        open_world_hint: bool,
    }
});

/// Revision 2025-11-25: how a tool may be run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether as a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport>,
}

impl ToolExecution {
    /// Nothing said.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(ToolExecution { plain { task_support: TaskSupport } });

/// Revision 2025-11-25: whether a tool runs as a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskSupport {
    /// Never.
    Forbidden,
    /// If asked to.
    Optional,
    /// Always.
    Required,
}

/// One page of tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListToolsResult {
    /// The tools.
    pub tools: Vec<Tool>,
    /// Where the next page starts; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How long the result stays fresh, in milliseconds.
    #[serde(
        default,
        deserialize_with = "cache::ttl",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Who may share the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Metadata of the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
    /// Members this revision does not define.
    #[serde(flatten, deserialize_with = "extra::beyond_result")]
    pub extra: Map<String, Value>,
}

impl ListToolsResult {
    /// A last page that is not to be cached.
    pub fn new(tools: Vec<Tool>) -> Self {
        Self {
            tools,
            next_cursor: None,
            ttl_ms: Some(0),
            cache_scope: Some(CacheScope::Private),
            meta: None,
            extra: Map::new(),
        }
    }
}

setters!(ListToolsResult {
    into { next_cursor: String }
    plain { meta: MetaObject }
});
cacheable!(ListToolsResult);

/// Params of `tools/call`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolRequestParams {
    /// Which tool.
    pub name: String,
    /// The arguments, an object, as the text that came.
    #[serde(
        default,
        deserialize_with = "object_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub arguments: Option<Box<RawValue>>,
    /// Answers to the questions of the last round, by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<Map<String, Value>>,
    /// State of the last round, returned unread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CallToolRequestParams {
    /// A call without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
            input_responses: None,
            request_state: None,
            meta: None,
        }
    }
}

setters!(CallToolRequestParams {
    into { request_state: String }
    plain {
        arguments: Box<RawValue>,
        input_responses: Map<String, Value>,
        meta: MetaObject,
    }
});

impl PartialEq for CallToolRequestParams {
    /// Arguments are equal if their text is.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.arguments.as_deref().map(RawValue::get)
                == other.arguments.as_deref().map(RawValue::get)
            && self.input_responses == other.input_responses
            && self.request_state == other.request_state
            && self.meta == other.meta
    }
}

/// What a tool gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolResult {
    /// For the model and the person.
    pub content: Vec<ContentBlock>,
    /// For programs: any JSON, `null` included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the tool failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Metadata of the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
    /// Members this revision does not define.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

// By hand, because `flatten` has every member buffered first.
impl<'de> Deserialize<'de> for CallToolResult {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct CallToolResultVisitor;

        impl<'de> Visitor<'de> for CallToolResultVisitor {
            type Value = CallToolResult;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("struct CallToolResult")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CallToolResult, A::Error> {
                let mut content = None;
                let mut structured_content = None;
                let mut is_error = None;
                let mut meta = None;
                let mut extra = Map::new();
                while let Some(Name(key)) = map.next_key()? {
                    let twice = match &*key {
                        "content" => content.replace(map.next_value()?).is_some(),
                        "structuredContent" => {
                            structured_content.replace(map.next_value()?).is_some()
                        }
                        "isError" => is_error.replace(map.next_value()?).is_some(),
                        "_meta" => meta.replace(map.next_value()?).is_some(),
                        // It belongs to the envelope.
                        "resultType" => map.next_value::<IgnoredAny>().map(|_| false)?,
                        _ => {
                            extra.insert(key.clone().into_owned(), map.next_value()?);
                            false
                        }
                    };
                    if twice {
                        return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
                    }
                }
                Ok(CallToolResult {
                    content: content.ok_or_else(|| A::Error::missing_field("content"))?,
                    structured_content,
                    is_error: is_error.flatten(),
                    meta: meta.flatten(),
                    extra,
                })
            }
        }

        from.deserialize_map(CallToolResultVisitor)
    }
}

impl CallToolResult {
    /// A success of these blocks.
    pub fn content(content: Vec<ContentBlock>) -> Self {
        Self {
            content,
            structured_content: None,
            is_error: None,
            meta: None,
            extra: Map::new(),
        }
    }

    /// A success of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::content(vec![ContentBlock::text(text)])
    }

    /// A failure the model should read.
    pub fn error(text: impl Into<String>) -> Self {
        Self::text(text).is_error(true)
    }

    /// Adds structured content, and the same as a text block for clients that
    /// only read those.
    #[must_use]
    pub fn structured(mut self, value: Value) -> Self {
        self.content.push(ContentBlock::text(value.to_string()));
        self.structured_content = Some(value);
        self
    }

    /// Whether the tool says that it failed.
    pub fn failed(&self) -> bool {
        self.is_error == Some(true)
    }

    /// The first text block.
    pub fn first_text(&self) -> Option<&str> {
        self.content.iter().find_map(ContentBlock::as_text)
    }

    /// The structured content as a type of one's own.
    pub fn structured_as<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match &self.structured_content {
            Some(value) => T::deserialize(value),
            None => Err(serde_json::Error::custom("there is no structured content")),
        }
    }
}

setters!(CallToolResult { plain { is_error: bool, meta: MetaObject } });

fn object_text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    let raw = Option::<Box<RawValue>>::deserialize(from)?;
    match &raw {
        Some(raw) if !raw.get().starts_with('{') => {
            Err(D::Error::custom("`arguments` must be an object"))
        }
        _ => Ok(raw),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, from_value, json, to_string, to_value};

    use super::*;

    #[test]
    fn structured_null_is_not_absence() {
        let absent: CallToolResult = from_str(r#"{"content":[]}"#).unwrap();
        assert_eq!(absent.structured_content, None);
        assert_eq!(to_string(&absent).unwrap(), r#"{"content":[]}"#);

        let text = r#"{"content":[],"structuredContent":null}"#;
        let null: CallToolResult = from_str(text).unwrap();
        assert_eq!(null.structured_content, Some(Value::Null));
        assert_eq!(to_string(&null).unwrap(), text);
    }

    #[test]
    fn constructors_write_the_wire_form() {
        assert_eq!(
            to_value(CallToolResult::error("No berth free")).unwrap(),
            json!({"content": [{"type": "text", "text": "No berth free"}], "isError": true})
        );
        assert_eq!(
            to_value(CallToolResult::content(Vec::new()).structured(json!(["B12"]))).unwrap(),
            json!({"content": [{"type": "text", "text": "[\"B12\"]"}], "structuredContent": ["B12"]})
        );
        assert_eq!(
            to_value(Tool::empty("ping").title("Ping")).unwrap(),
            json!({
                "name": "ping", "title": "Ping",
                "inputSchema": {"type": "object", "additionalProperties": false},
            })
        );
    }

    #[test]
    fn a_tool_round_trips() {
        let value = json!({
            "name": "berth.reserve", "title": "Reserve", "description": "d",
            "icons": [{"src": "data:,", "mimeType": "image/png", "sizes": ["any"], "theme": "light"}],
            "inputSchema": {"type": "object", "properties": {"port": {"type": "string", "x-mcp-header": "Port"}}},
            "outputSchema": {"type": "array"},
            "annotations": {
                "title": "t", "readOnlyHint": false, "destructiveHint": true,
                "idempotentHint": true, "openWorldHint": false,
            },
            "execution": {"taskSupport": "optional"},
            "_meta": {},
        });
        let tool: Tool = from_value(value.clone()).unwrap();
        assert_eq!(to_value(tool).unwrap(), value);
        assert!(from_value::<Tool>(json!({"name": "n", "inputSchema": null})).is_err());
    }

    #[test]
    fn arguments_keep_their_text() {
        let text = r#"{"name":"t","arguments":{"n": 123456789012345678901234567890 },"inputResponses":{"k":{}},"requestState":"","_meta":{}}"#;
        let params: CallToolRequestParams = from_str(text).unwrap();
        assert_eq!(to_string(&params).unwrap(), text);
        assert_eq!(params, params.clone());
        assert_ne!(params, CallToolRequestParams::new("t"));
        assert_eq!(
            from_str::<CallToolRequestParams>(r#"{"name":"t","arguments":null}"#)
                .unwrap()
                .arguments
                .map(|_| ()),
            None
        );
        for text in [
            r#"{"name":"t","arguments":[]}"#,
            r#"{"name":"t","arguments":"{}"}"#,
            r#"{"name":"t","inputResponses":[]}"#,
            r#"{"name":"t","requestState":1}"#,
            r#"{"name":"t","name":"u"}"#,
            r#"{"arguments":{}}"#,
        ] {
            assert!(from_str::<CallToolRequestParams>(text).is_err(), "{text}");
        }
    }
}
