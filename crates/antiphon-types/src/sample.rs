//! Sampling: calling the client's model.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use crate::content::{AudioContent, ContentBlock, ImageContent, Role, TextContent};
use crate::meta::MetaObject;
use crate::tagged::{self, Tagged};
use crate::tool::Tool;

/// Params of `sampling/createMessage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageRequestParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// Which model to prefer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// What to tell the model first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Context to include.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// How freely to choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Number>,
    /// Most tokens to make.
    pub max_tokens: u64,
    /// Where to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<Vec<String>>,
    /// For the provider of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// What the model may call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// Whether it may, must or must not call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CreateMessageRequestParams {
    /// Goes on from `messages`.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages,
            model_preferences: None,
            system_prompt: None,
            include_context: None,
            temperature: None,
            max_tokens,
            stop_sequences: None,
            metadata: None,
            tools: None,
            tool_choice: None,
            meta: None,
        }
    }

    /// Answers one text of the user's.
    pub fn user(text: impl Into<String>, max_tokens: u64) -> Self {
        Self::new(vec![SamplingMessage::user(text.into())], max_tokens)
    }

    /// Adds a message.
    #[must_use]
    pub fn message(mut self, message: SamplingMessage) -> Self {
        self.messages.push(message);
        self
    }
}

setters!(CreateMessageRequestParams {
    into { system_prompt: String }
    plain {
        model_preferences: ModelPreferences,
        include_context: IncludeContext,
        stop_sequences: Vec<String>,
        metadata: Map<String, Value>,
        tools: Vec<Tool>,
        tool_choice: ToolChoice,
        meta: MetaObject,
    }
    real { temperature }
});

/// Context to include in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IncludeContext {
    /// None.
    None,
    /// The asking server's; deprecated.
    ThisServer,
    /// Every server's; deprecated.
    AllServers,
}

/// Which model to prefer; priorities go from 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Parts of model names, the first match wins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<ModelHint>>,
    /// How much a low price matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<Number>,
    /// How much speed matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<Number>,
    /// How much ability matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<Number>,
}

impl ModelPreferences {
    /// No preference.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, name: impl Into<String>) -> Self {
        let hints = self.hints.get_or_insert_default();
        hints.push(ModelHint::new(name));
        self
    }
}

setters!(ModelPreferences {
    plain { hints: Vec<ModelHint> }
    real { cost_priority, speed_priority, intelligence_priority }
});

/// Part of a model's name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelHint {
    /// The part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ModelHint {
    /// Models with this in their name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
        }
    }
}

/// Whether the model calls tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolChoice {
    /// The mode; absent means auto.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
}

impl ToolChoice {
    /// In this mode.
    pub fn new(mode: ToolChoiceMode) -> Self {
        Self { mode: Some(mode) }
    }

    /// The model decides.
    pub fn auto() -> Self {
        Self::new(ToolChoiceMode::Auto)
    }

    /// The model must call at least one.
    pub fn required() -> Self {
        Self::new(ToolChoiceMode::Required)
    }

    /// The model must not call any.
    pub fn none() -> Self {
        Self::new(ToolChoiceMode::None)
    }
}

/// See [`ToolChoice`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoiceMode {
    /// The model decides.
    Auto,
    /// At least one call.
    Required,
    /// No calls.
    None,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: OneOrMany<SamplingContent>,
    /// Metadata of the message.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SamplingMessage {
    /// A message of either role.
    pub fn new(role: Role, content: impl Into<OneOrMany<SamplingContent>>) -> Self {
        Self {
            role,
            content: content.into(),
            meta: None,
        }
    }

    /// The person speaks.
    pub fn user(content: impl Into<OneOrMany<SamplingContent>>) -> Self {
        Self::new(Role::User, content)
    }

    /// The model speaks.
    pub fn assistant(content: impl Into<OneOrMany<SamplingContent>>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

setters!(SamplingMessage { plain { meta: MetaObject } });

/// What the model said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: OneOrMany<SamplingContent>,
    /// Which model it was.
    pub model: String,
    /// Why it stopped, such as `endTurn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Metadata of the answer.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CreateMessageResult {
    /// A message by `model`.
    pub fn new(
        role: Role,
        content: impl Into<OneOrMany<SamplingContent>>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            role,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: None,
        }
    }

    /// A text said by `model`.
    pub fn text(text: impl Into<String>, model: impl Into<String>) -> Self {
        Self::new(Role::Assistant, text.into(), model)
    }

    /// The first text in it.
    pub fn first_text(&self) -> Option<&str> {
        self.content
            .as_slice()
            .iter()
            .find_map(SamplingContent::as_text)
    }
}

setters!(CreateMessageResult {
    into { stop_reason: String }
    plain { meta: MetaObject }
});

/// One thing or a list of them, kept in the form it came in.
#[derive(Debug, Clone, PartialEq)]
pub enum OneOrMany<T> {
    /// A thing by itself.
    One(T),
    /// A list, be it of one.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// The things, either way.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }

    /// The things, either way.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

impl<T> From<T> for OneOrMany<T> {
    fn from(one: T) -> Self {
        Self::One(one)
    }
}

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(many: Vec<T>) -> Self {
        Self::Many(many)
    }
}

impl From<String> for OneOrMany<SamplingContent> {
    fn from(text: String) -> Self {
        Self::One(SamplingContent::text(text))
    }
}

impl From<&str> for OneOrMany<SamplingContent> {
    fn from(text: &str) -> Self {
        Self::One(SamplingContent::text(text))
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(one) => one.serialize(to),
            Self::Many(many) => many.serialize(to),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OneOrManyVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or a list of objects")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMany<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(OneOrMany::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<OneOrMany<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(OneOrMany::Many)
            }
        }

        from.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

/// One piece of a sampling message, told apart by its `type`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SamplingContent {
    /// `text`.
    Text(TextContent),
    /// `image`.
    Image(ImageContent),
    /// `audio`.
    Audio(AudioContent),
    /// `tool_use`: the model calls a tool.
    ToolUse(ToolUseContent),
    /// `tool_result`: what the tool gave.
    ToolResult(ToolResultContent),
    /// A type unknown here, the whole object as it came.
    Other(Map<String, Value>),
}

impl SamplingContent {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// The text, if it is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

impl From<TextContent> for SamplingContent {
    fn from(block: TextContent) -> Self {
        Self::Text(block)
    }
}

impl From<ImageContent> for SamplingContent {
    fn from(block: ImageContent) -> Self {
        Self::Image(block)
    }
}

impl From<AudioContent> for SamplingContent {
    fn from(block: AudioContent) -> Self {
        Self::Audio(block)
    }
}

impl From<ToolUseContent> for SamplingContent {
    fn from(block: ToolUseContent) -> Self {
        Self::ToolUse(block)
    }
}

impl From<ToolResultContent> for SamplingContent {
    fn from(block: ToolResultContent) -> Self {
        Self::ToolResult(block)
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(block) => block.serialize(to),
            Self::Image(block) => block.serialize(to),
            Self::Audio(block) => block.serialize(to),
            Self::ToolUse(block) => block.serialize(to),
            Self::ToolResult(block) => block.serialize(to),
            Self::Other(object) => object.serialize(to),
        }
    }
}

impl Tagged for SamplingContent {
    const TAG: &'static str = "type";
    const DEFAULT: Option<&'static str> = None;

    fn from_tag<'de, D: Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error> {
        Ok(match tag {
            "text" => Self::Text(TextContent::deserialize(rest)?),
            "image" => Self::Image(ImageContent::deserialize(rest)?),
            "audio" => Self::Audio(AudioContent::deserialize(rest)?),
            "tool_use" => Self::ToolUse(ToolUseContent::deserialize(rest)?),
            "tool_result" => Self::ToolResult(ToolResultContent::deserialize(rest)?),
            _ => Self::Other(tagged::object::<Self, D>(tag, rest)?),
        })
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tagged::deserialize(from)
    }
}

/// The model calls a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tool_use")]
#[non_exhaustive]
pub struct ToolUseContent {
    /// What the result will refer to.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// The arguments.
    pub input: Map<String, Value>,
    /// Metadata of the block.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ToolUseContent {
    /// A call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Map<String, Value>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input,
            meta: None,
        }
    }
}

setters!(ToolUseContent { plain { meta: MetaObject } });

/// What a called tool gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tool_result", rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResultContent {
    /// The call's id.
    pub tool_use_id: String,
    /// For the model.
    pub content: Vec<ContentBlock>,
    /// For programs: any JSON, `null` included.
    #[serde(
        default,
        deserialize_with = "tagged::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<Value>,
    /// Whether the tool failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Metadata of the block.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ToolResultContent {
    /// The result of the call with this id.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content,
            structured_content: None,
            is_error: None,
            meta: None,
        }
    }
}

setters!(ToolResultContent {
    plain { structured_content: Value, is_error: bool, meta: MetaObject }
});

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn params_round_trip() {
        let value = json!({
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "a"}, "_meta": {}},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "t", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "toolUseId": "1", "content": [{"type": "text", "text": "r"}], "structuredContent": null, "isError": false},
                ]},
                {"role": "user", "content": []},
                {"role": "user", "content": [{"type": "hologram"}]},
            ],
            "modelPreferences": {"hints": [{"name": "small"}, {}], "costPriority": 1, "speedPriority": 0.5, "intelligencePriority": 0},
            "systemPrompt": "s", "includeContext": "thisServer", "temperature": 1, "maxTokens": 9,
            "stopSequences": ["x"], "metadata": {"k": 1},
            "tools": [{"name": "t", "inputSchema": {"type": "object"}}],
            "toolChoice": {"mode": "required"},
        });
        let params: CreateMessageRequestParams = from_value(value.clone()).unwrap();
        let SamplingContent::ToolResult(result) = &params.messages[2].content.as_slice()[0] else {
            panic!("not a tool result");
        };
        assert_eq!(result.structured_content, Some(Value::Null));
        assert_eq!(to_value(params).unwrap(), value);
    }

    #[test]
    fn one_stays_one_and_a_list_stays_a_list() {
        for content in [
            json!({"type": "text", "text": "a"}),
            json!([{"type": "text", "text": "a"}]),
        ] {
            let value = json!({"role": "assistant", "content": content, "model": "m", "stopReason": "endTurn"});
            let result: CreateMessageResult = from_value(value.clone()).unwrap();
            assert_eq!(result.content.as_slice(), [SamplingContent::text("a")]);
            assert_eq!(to_value(result).unwrap(), value);
        }
        let bare = json!({"role": "assistant", "content": "a", "model": "m"});
        assert!(from_value::<CreateMessageResult>(bare).is_err());
    }

    #[test]
    fn builders_write_the_wire_form() {
        let params = CreateMessageRequestParams::user("Sum up.", 200)
            .temperature(0.2)
            .tool_choice(ToolChoice::none())
            .model_preferences(ModelPreferences::new().hint("small").cost_priority(0.5));
        assert_eq!(
            to_value(params).unwrap(),
            json!({
                "messages": [{"role": "user", "content": {"type": "text", "text": "Sum up."}}],
                "maxTokens": 200, "temperature": 0.2, "toolChoice": {"mode": "none"},
                "modelPreferences": {"hints": [{"name": "small"}], "costPriority": 0.5},
            })
        );
    }
}
