//! Prompts: `prompts/list` and `prompts/get`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cache::{self, CacheScope, cacheable};
use crate::content::{ContentBlock, Role};
use crate::extra;
use crate::implementation::Icon;
use crate::meta::MetaObject;

/// A prompt or template the server offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prompt {
    /// Name for programs.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// What can be filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<PromptArgument>>,
    /// Metadata of the prompt.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl Prompt {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            icons: None,
            arguments: None,
            meta: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.get_or_insert_default().push(argument);
        self
    }
}

setters!(Prompt {
    into { title: String, description: String }
    plain { icons: Vec<Icon>, arguments: Vec<PromptArgument>, meta: MetaObject }
});

/// Something to fill in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Name for programs.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
}

impl PromptArgument {
    /// An argument of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            required: None,
        }
    }
}

setters!(PromptArgument {
    into { title: String, description: String }
    plain { required: bool }
});

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: ContentBlock,
}

impl PromptMessage {
    /// A message of either role.
    pub fn new(role: Role, content: ContentBlock) -> Self {
        Self { role, content }
    }

    /// The person speaks.
    pub fn user(content: ContentBlock) -> Self {
        Self::new(Role::User, content)
    }

    /// The model speaks.
    pub fn assistant(content: ContentBlock) -> Self {
        Self::new(Role::Assistant, content)
    }
}

/// One page of prompts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// The prompts.
    pub prompts: Vec<Prompt>,
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

impl ListPromptsResult {
    /// A last page that is not to be cached.
    pub fn new(prompts: Vec<Prompt>) -> Self {
        Self {
            prompts,
            next_cursor: None,
            ttl_ms: Some(0),
            cache_scope: Some(CacheScope::Private),
            meta: None,
            extra: Map::new(),
        }
    }
}

setters!(ListPromptsResult {
    into { next_cursor: String }
    plain { meta: MetaObject }
});
cacheable!(ListPromptsResult);

/// Params of `prompts/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetPromptRequestParams {
    /// Which prompt.
    pub name: String,
    /// What to fill in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, String>>,
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

impl GetPromptRequestParams {
    /// The prompt of this name, nothing filled in.
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

setters!(GetPromptRequestParams {
    into { request_state: String }
    plain {
        arguments: BTreeMap<String, String>,
        input_responses: Map<String, Value>,
        meta: MetaObject,
    }
});

/// A prompt, filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What to say.
    pub messages: Vec<PromptMessage>,
    /// Metadata of the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
    /// Members this revision does not define.
    #[serde(flatten, deserialize_with = "extra::beyond_result")]
    pub extra: Map<String, Value>,
}

impl GetPromptResult {
    /// These messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self {
            description: None,
            messages,
            meta: None,
            extra: Map::new(),
        }
    }
}

setters!(GetPromptResult {
    into { description: String }
    plain { meta: MetaObject }
});

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn shapes_round_trip() {
        let value = json!({
            "name": "brief", "title": "t", "description": "d", "icons": [],
            "arguments": [{"name": "vessel", "title": "t", "description": "d", "required": true}],
            "_meta": {},
        });
        let prompt: Prompt = from_value(value.clone()).unwrap();
        assert_eq!(to_value(prompt).unwrap(), value);

        let value =
            json!({"name": "brief", "arguments": {"vessel": "Aurora"}, "requestState": "s"});
        let params: GetPromptRequestParams = from_value(value.clone()).unwrap();
        assert_eq!(to_value(params).unwrap(), value);
        assert!(
            from_value::<GetPromptRequestParams>(json!({"name": "b", "arguments": {"a": 1}}))
                .is_err()
        );

        let result = GetPromptResult::new(vec![
            PromptMessage::user(ContentBlock::text("Brief me.")),
            PromptMessage::assistant(ContentBlock::text("Yes.")),
        ]);
        let value = json!({"messages": [
            {"role": "user", "content": {"type": "text", "text": "Brief me."}},
            {"role": "assistant", "content": {"type": "text", "text": "Yes."}},
        ]});
        assert_eq!(to_value(&result).unwrap(), value);
        assert_eq!(from_value::<GetPromptResult>(value).unwrap(), result);
    }
}
