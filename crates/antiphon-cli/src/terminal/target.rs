//! What a server offers, and what a person wants of it.

use std::io;

use antiphon::{
    client::{CallTool, Connection, Error, GetPrompt, ReadResource},
    types::{FormSchema, PrimitiveSchema, Prompt, Resource, ResourceTemplate, StringSchema, Tool},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::{
    Prompts,
    form::{Left, fill_in},
    printable,
};

/// Something to call, get or read.
pub(crate) enum Target {
    Tool(Tool),
    Prompt(Prompt),
    Resource(Resource),
    Template(ResourceTemplate),
}

/// A call with its arguments.
pub(crate) enum Wanted {
    Tool(CallTool),
    Prompt(GetPrompt),
    Resource(ReadResource),
}

/// Everything there is.
pub(crate) async fn targets(server: &Connection) -> Result<Vec<Target>, Error> {
    let mut targets = Vec::new();
    targets.extend(server.tools().all().await?.into_iter().map(Target::Tool));
    let prompts = server.prompts().all().await?;
    targets.extend(prompts.into_iter().map(Target::Prompt));
    let resources = server.resources().all().await?;
    targets.extend(resources.into_iter().map(Target::Resource));
    let templates = server.resource_templates().all().await?;
    targets.extend(templates.into_iter().map(Target::Template));
    Ok(targets)
}

impl Target {
    /// How it stands in a list.
    pub(crate) fn label(&self) -> String {
        let (kind, name, description) = match self {
            Self::Tool(tool) => ("tool", &tool.name, &tool.description),
            Self::Prompt(prompt) => ("prompt", &prompt.name, &prompt.description),
            Self::Resource(resource) => ("resource", &resource.uri, &resource.description),
            Self::Template(template) => ("template", &template.uri_template, &template.description),
        };
        let name = printable::excerpt(name, 60);
        let description = description.as_deref().unwrap_or_default();
        let first = description.lines().next().unwrap_or_default();
        let first = printable::excerpt(first, 60);
        let label = format!("{name:<16} {kind:<8} {first}");
        label.trim_end().to_owned()
    }

    /// Has a person fill in the arguments; `None` if they would rather not.
    pub(crate) fn fill_in(&self, prompts: &mut dyn Prompts) -> io::Result<Option<Wanted>> {
        Ok(match self {
            Self::Tool(tool) => arguments(prompts, &of_tool(&tool.input_schema))?
                .map(|arguments| Wanted::Tool(CallTool::new(&tool.name, arguments))),
            Self::Prompt(prompt) => arguments(prompts, &of_prompt(prompt))?
                .map(|arguments| Wanted::Prompt(GetPrompt::new(&prompt.name, arguments))),
            Self::Resource(resource) => Some(Wanted::Resource(ReadResource::new(&resource.uri))),
            Self::Template(template) => {
                let uri = uri(prompts, &template.uri_template)?;
                uri.map(|uri| Wanted::Resource(ReadResource::new(uri)))
            }
        })
    }
}

fn arguments(
    prompts: &mut dyn Prompts,
    fields: &FormSchema,
) -> io::Result<Option<Map<String, Value>>> {
    Ok(
        match fill_in(prompts, fields, &[("Choose something else", ())])? {
            Left::Filled(arguments) => Some(arguments),
            Left::By(()) => None,
        },
    )
}

/// A tool takes any object; its members are asked for one by one, those that are no plain fields
/// as JSON.
fn of_tool(schema: &Map<String, Value>) -> FormSchema {
    let names = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| names.is_some_and(|all| all.iter().any(|one| one == name));
    let members = schema.get("properties").and_then(Value::as_object);
    let mut fields = FormSchema::new();
    for (name, member) in members.into_iter().flatten() {
        let member = member.as_object().cloned().unwrap_or_default();
        let field = PrimitiveSchema::from_value(without_null(member));
        fields = match is_required(name) {
            true => fields.required(name, field),
            false => fields.optional(name, field),
        };
    }
    fields
}

/// `["string", "null"]` is a string that may be left out.
fn without_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Array(kinds)) = schema.get("type") {
        let mut kinds: Vec<_> = kinds.iter().filter(|kind| *kind != "null").collect();
        if let (Some(only), true) = (kinds.pop().cloned(), kinds.is_empty()) {
            schema.insert("type".to_owned(), only);
        }
    }
    schema
}

fn of_prompt(prompt: &Prompt) -> FormSchema {
    let mut fields = FormSchema::new();
    for argument in prompt.arguments.iter().flatten() {
        let mut field = StringSchema::new();
        field.title = argument.title.clone();
        field.description = argument.description.clone();
        fields = match argument.required {
            Some(true) => fields.required(&argument.name, field),
            _ => fields.optional(&argument.name, field),
        };
    }
    fields
}

/// What stands for itself where a template has a name.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A URI of a template: its names are asked for, or, where it has more than plain names, the URI.
fn uri(prompts: &mut dyn Prompts, template: &str) -> io::Result<Option<String>> {
    let Some(names) = plain_names(template) else {
        return prompts.write(
            "URI",
            "what the template stands for",
            &printable::line(template),
        );
    };
    let mut fields = FormSchema::new();
    for name in &names {
        fields = fields.required(*name, StringSchema::new().min_length(1));
    }
    let Some(values) = arguments(prompts, &fields)? else {
        return Ok(None);
    };
    let mut uri = template.to_owned();
    for (name, value) in &values {
        let value = utf8_percent_encode(value.as_str().unwrap_or_default(), UNRESERVED);
        uri = uri.replace(&format!("{{{name}}}"), &value.to_string());
    }
    Ok(Some(uri))
}

/// The names in a template that has no other expressions than `{name}`.
fn plain_names(template: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = template;
    while let Some((_, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_plain) {
            return None;
        }
        names.push(name);
        rest = after;
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::prompts::scripted::{Does, Scripted},
        *,
    };

    #[test]
    fn a_tools_arguments_are_fields_as_far_as_they_can_be() {
        let Value::Object(schema) = json!({ "type": "object", "required": ["copies", "tags"],
            "properties": {
                "copies": { "type": "integer", "format": "uint32", "minimum": 0 },
                "note": { "type": ["string", "null"] },
                "tags": { "type": "array", "items": { "type": "string" } },
            } })
        else {
            panic!("a schema is an object");
        };
        let does = ["-1", "2", "", r#"["a"]"#].map(Does::Writes);
        let mut person = Scripted::new(does);
        let filled = arguments(&mut person, &of_tool(&schema)).expect("asked");
        assert!(person.is_done());
        let expected = json!({ "copies": 2, "tags": ["a"] });
        assert_eq!(filled.map(Value::Object), Some(expected));
    }

    #[test]
    fn a_template_is_filled_in_by_name() {
        let mut person = Scripted::new(["", "a/b c"].map(Does::Writes));
        let filled = uri(&mut person, "vault://{id}/x").expect("asked");
        assert_eq!(filled.as_deref(), Some("vault://a%2Fb%20c/x"));
        assert!(person.is_done());
    }

    #[test]
    fn what_is_more_than_names_is_written_out() {
        for template in ["x://{+path}", "x://{?q}", "x://{a,b}", "x://{"] {
            let mut person = Scripted::new([Does::Writes("x://here")]);
            let filled = uri(&mut person, template).expect("asked");
            assert_eq!(filled.as_deref(), Some("x://here"), "{template}");
        }
    }
}
