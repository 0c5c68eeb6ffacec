//! Questions as text, for whoever is not asked them here and now.

use antiphon::types::{ElicitRequestParams, InputRequest, PrimitiveSchema};
use serde_json::Value;

use crate::{
    command_line::{is_option, quoted},
    printable,
};

/// What is asked, and what an answer needs.
pub(crate) fn text(open: &[(&str, &InputRequest)]) -> String {
    let mut lines = Vec::new();
    for (key, question) in open {
        let key = printable::excerpt(key, 80);
        match question {
            InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
                lines.push(format!("[{key}] a form:"));
                lines.push(printable::block(&form.message));
                for (name, field) in &form.requested_schema.properties {
                    let required = form.requested_schema.is_required(name);
                    lines.push(format!("    {}", described(name, field, required)));
                }
            }
            InputRequest::Elicit(ElicitRequestParams::Url(link)) => {
                lines.push(format!("[{key}] a link:"));
                lines.push(printable::block(&link.message));
                lines.push(format!("    {}", printable::line(&link.url)));
            }
            InputRequest::Sample(sample) => {
                let count = sample.messages.len();
                lines.push(format!("[{key}] a model's answer to {count} message(s):"));
                let texts = sample.messages.iter().flat_map(|message| {
                    let parts = message.content.as_slice().iter();
                    parts.filter_map(|part| part.as_text())
                });
                lines.extend(
                    texts
                        .last()
                        .map(|text| printable::block(&text.chars().take(2000).collect::<String>())),
                );
            }
            InputRequest::Roots(_) => {
                lines.push(format!("[{key}] the directories it may work in"));
            }
            other => {
                let method = printable::excerpt(other.method(), 80);
                lines.push(format!("[{key}] {method}"));
            }
        }
    }
    lines.join("\n")
}

fn described(name: &str, field: &PrimitiveSchema, required: bool) -> String {
    let name = printable::excerpt(name, 80);
    let schema = serde_json::to_value(field).unwrap_or_default();
    let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    let kind = printable::excerpt(text("type").unwrap_or("any"), 40);
    let need = match required {
        true => "required",
        false => "optional",
    };
    let mut line = format!("{name}  {kind}, {need}");
    for (values, label) in [(choices(&schema), "one of"), (default(&schema), "default")] {
        if let Some(values) = values {
            line.push_str(&format!(", {label} {}", printable::excerpt(&values, 200)));
        }
    }
    if let Some(what) = text("description").or(text("title")) {
        line.push_str(&format!("  {}", printable::excerpt(what, 200)));
    }
    line
}

fn choices(schema: &Value) -> Option<String> {
    let plain = schema.get("enum").or_else(|| schema.pointer("/items/enum"));
    let titled = schema
        .get("oneOf")
        .or_else(|| schema.pointer("/items/anyOf"));
    let values: Vec<_> = match (plain, titled) {
        (Some(plain), _) => plain.as_array()?.iter().filter_map(Value::as_str).collect(),
        (None, Some(titled)) => {
            let options = titled.as_array()?.iter();
            options
                .filter_map(|option| option.get("const")?.as_str())
                .collect()
        }
        (None, None) => return None,
    };
    Some(values.join(", "))
}

fn default(schema: &Value) -> Option<String> {
    schema.get("default").map(ToString::to_string)
}

/// How answers could look on a command line; empty if they cannot be written there.
pub(crate) fn example(open: &[(&str, &InputRequest)]) -> String {
    let is_alone = open.len() == 1;
    let words = open.iter().flat_map(|(key, question)| match question {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
            let schema = &form.requested_schema;
            let names = schema.properties.iter().map(|(name, _)| name);
            let needed: Vec<_> = names.filter(|name| schema.is_required(name)).collect();
            match needed.is_empty() {
                true => vec![accepted(key)],
                false => {
                    let words = needed.into_iter().map(|name| match is_alone {
                        true if !is_option(name) => given(name),
                        _ => given(&format!("{key}.{name}")),
                    });
                    words.collect()
                }
            }
        }
        InputRequest::Elicit(_) => vec![accepted(key)],
        InputRequest::Sample(_) => vec![given(key)],
        InputRequest::Roots(_) => vec![Some("--root .".to_owned())],
        _ => Vec::new(),
    });
    let words: Option<Vec<_>> = words.collect();
    words.unwrap_or_default().join(" ")
}

fn accepted(key: &str) -> Option<String> {
    Some(match is_option(key) {
        true => format!("--accept={}", quoted(key)),
        false => format!("--accept {}", quoted(key)),
    })
}

/// `name=…`, unless that would be read as something else.
fn given(name: &str) -> Option<String> {
    let is_clear = !is_option(name) && !name.contains('=') && !name.ends_with(':');
    (is_clear && !name.is_empty()).then(|| format!("{}=…", quoted(name)))
}
