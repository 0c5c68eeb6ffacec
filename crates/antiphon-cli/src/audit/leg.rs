//! [`Leg`]: one leg of the call under audit, whose every part can be another.

use antiphon::types::Tool;
use serde_json::{Map, Value};

use super::{
    answers::Answers,
    wire::{Request, everything},
};

/// One leg of a call of a tool. What is JSON here is text: it is sent as it is written.
#[derive(Debug, Clone)]
pub(super) struct Leg {
    tool: String,
    /// Which arguments headers repeat.
    schema: Map<String, Value>,
    arguments: String,
    answers: Option<String>,
    state: Option<String>,
    capabilities: Value,
}

impl Leg {
    /// The first one.
    pub(super) fn first(tool: &Tool, arguments: &Map<String, Value>) -> Self {
        Self {
            tool: tool.name.clone(),
            schema: tool.input_schema.clone(),
            arguments: Value::Object(arguments.clone()).to_string(),
            answers: None,
            state: None,
            capabilities: everything(),
        }
    }

    pub(super) fn arguments(mut self, text: impl Into<String>) -> Self {
        self.arguments = text.into();
        self
    }

    pub(super) fn answers(self, answers: &Answers) -> Self {
        self.answers_text(Some(Value::Object(answers.clone()).to_string()))
    }

    pub(super) fn answers_text(mut self, text: Option<String>) -> Self {
        self.answers = text;
        self
    }

    pub(super) fn state(mut self, state: Option<String>) -> Self {
        self.state = state;
        self
    }

    pub(super) fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// As it is sent.
    pub(super) fn request(&self) -> Request {
        let mut request = Request::of("tools/call", "name", &self.tool);
        request.mirrored = mirrored(&self.schema, &self.arguments);
        request.capabilities = Some(self.capabilities.clone());
        self.carried(request.with("arguments", &self.arguments))
    }

    /// Another request with what this one carries from round to round.
    pub(super) fn carried(&self, mut request: Request) -> Request {
        if let Some(answers) = &self.answers {
            request = request.with("inputResponses", answers);
        }
        if let Some(state) = &self.state {
            request = request.with("requestState", &Value::from(state.as_str()).to_string());
        }
        request
    }
}

/// The headers that arguments are repeated in (HDR-C-11). Of doubled names the last one counts: a
/// server has other reasons to refuse those.
fn mirrored(schema: &Map<String, Value>, arguments: &str) -> Vec<(String, String)> {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let mut headers = Vec::new();
    walk(schema, &arguments, &mut headers);
    headers
}

fn walk(schema: &Map<String, Value>, arguments: &Value, headers: &mut Vec<(String, String)>) {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return;
    };
    for (name, property) in properties {
        let (Value::Object(property), Some(value)) = (property, arguments.get(name)) else {
            continue;
        };
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(_) | Value::Number(_) => value.to_string(),
                _ => continue,
            };
            headers.push((format!("mcp-param-{}", header.to_ascii_lowercase()), text));
        }
        walk(property, value, headers);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_repeated_where_the_schema_says_so() {
        let Value::Object(schema) = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "plain": {"type": "string"},
        }}) else {
            panic!("an object");
        };
        let headers = mirrored(&schema, r#"{"region":"eu","deep":{"n":7},"plain":"x"}"#);
        let expected = [("mcp-param-region", "eu"), ("mcp-param-n", "7")];
        assert_eq!(
            headers,
            expected.map(|(name, text)| (name.to_owned(), text.to_owned()))
        );
    }
}
