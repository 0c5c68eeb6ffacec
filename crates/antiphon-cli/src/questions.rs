//! Questions as text, for whoever is not asked them here and now.

use antiphon::types::{ElicitRequestParams, InputRequest, PrimitiveSchema};
use serde_json::Map;

use crate::{
    command_line::{is_option, quoted},
    printable,
    render::schema,
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
    let field = serde_json::to_value(field).unwrap_or_default();
    let root = Map::new();
    let mut line = format!(
        "{}  {}",
        printable::excerpt(name, 80),
        schema::describe(&field, &root, required)
    );
    if let Some(what) = schema::description(&field, &root) {
        line.push_str(&format!("  {}", printable::excerpt(what, 200)));
    }
    line
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

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn fields_say_all_that_they_take() {
        let form = json!({ "mode": "form", "message": "Where to?", "requestedSchema": {
            "type": "object",
            "required": ["copies", "region"],
            "properties": {
                "copies": { "type": "integer", "minimum": 1, "maximum": 9 },
                "mail": { "type": "string", "format": "email", "maxLength": 40 },
                "region": { "type": "string", "oneOf": [
                    { "const": "eu", "title": "Europe" }, { "const": "us", "title": "America" },
                ] },
                "extras": { "type": "array", "maxItems": 2, "title": "Extras", "items": {
                    "type": "string", "enum": ["wrap", "card"],
                } },
            },
        } });
        let params: ElicitRequestParams = from_value(form).expect("a form");
        let shown = text(&[("order", &params.into())]);
        let expected = "\
[order] a form:
  | Where to?
    copies  integer, 1 to 9, required
    mail  string (email), at most 40 characters
    region  eu (Europe) | us (America), required
    extras  some of wrap | card, at most 2 items  Extras";
        assert_eq!(shown, expected);
    }
}
