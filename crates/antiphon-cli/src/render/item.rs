//! What `antiphon inspect SERVER NAME` shows: one thing that a server offers, in full.

use std::fmt::Write;

use antiphon::types::{Annotations, Prompt, Resource, ResourceTemplate, Tool};
use serde::Serialize;

use super::{
    Style,
    inspect::{Inspected, Sheet, of_prompt, of_tool, words},
    json::pretty,
};
use crate::printable;

/// One of them. As JSON it is what the server sent.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Item<'a> {
    Tool(&'a Tool),
    Prompt(&'a Prompt),
    Resource(&'a Resource),
    Template(&'a ResourceTemplate),
}

impl<'a> Item<'a> {
    /// All that a server offers.
    pub(crate) fn all(server: &'a Inspected) -> Vec<Self> {
        let tools = server.tools.iter().flatten().map(Self::Tool);
        let prompts = server.prompts.iter().flatten().map(Self::Prompt);
        let resources = server.resources.iter().flatten().map(Self::Resource);
        let templates = server.resource_templates.iter().flatten();
        let all = tools.chain(prompts).chain(resources);
        all.chain(templates.map(Self::Template)).collect()
    }

    /// What it is called.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        match self {
            Self::Tool(tool) => vec![&tool.name],
            Self::Prompt(prompt) => vec![&prompt.name],
            Self::Resource(resource) => vec![&resource.uri],
            Self::Template(template) => vec![&template.uri_template, &template.name],
        }
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::Prompt(_) => "prompt",
            Self::Resource(_) => "resource",
            Self::Template(_) => "resource template",
        }
    }

    /// As people read it.
    pub(crate) fn shown(&self, style: &Style) -> String {
        let mut sheet = Sheet::new(style);
        let name = sheet.bold(&printable::line(self.names()[0]));
        _ = writeln!(sheet.text, "{name}");
        sheet.fact("kind", self.kind());
        match self {
            Self::Tool(tool) => of_a_tool(&mut sheet, tool),
            Self::Prompt(prompt) => {
                title(&mut sheet, None, prompt.title.as_deref());
                description(&mut sheet, prompt.description.as_deref());
                sheet.section("Arguments");
                sheet.entries(of_prompt(prompt).arguments, "no arguments");
            }
            Self::Resource(resource) => {
                title(&mut sheet, Some(&resource.name), resource.title.as_deref());
                content(&mut sheet, resource.mime_type.as_deref(), resource.size);
                description(&mut sheet, resource.description.as_deref());
                annotations(&mut sheet, resource.annotations.as_ref());
            }
            Self::Template(template) => {
                title(&mut sheet, Some(&template.name), template.title.as_deref());
                content(&mut sheet, template.mime_type.as_deref(), None);
                description(&mut sheet, template.description.as_deref());
                annotations(&mut sheet, template.annotations.as_ref());
            }
        }
        sheet.text.trim_end().to_owned()
    }
}

fn of_a_tool(sheet: &mut Sheet<'_>, tool: &Tool) {
    title(sheet, None, tool.title.as_deref());
    let words = words(tool);
    if !words.is_empty() {
        sheet.fact("hints", &words.join(", "));
    }
    description(sheet, tool.description.as_deref());
    sheet.section("Arguments");
    sheet.entries(of_tool(tool).arguments, "no arguments");
    document(sheet, "Input schema", &tool.input_schema);
    if let Some(schema) = &tool.output_schema {
        document(sheet, "Output schema", schema);
    }
    if let Some(annotations) = &tool.annotations {
        document(sheet, "Annotations", annotations);
    }
}

fn title(sheet: &mut Sheet<'_>, name: Option<&str>, title: Option<&str>) {
    for (what, text) in [("name", name), ("title", title)] {
        if let Some(text) = text {
            sheet.fact(what, &printable::line(text));
        }
    }
}

fn content(sheet: &mut Sheet<'_>, mime_type: Option<&str>, size: Option<u64>) {
    if let Some(mime_type) = mime_type {
        sheet.fact("type", &printable::line(mime_type));
    }
    if let Some(size) = size {
        sheet.fact("size", &format!("{size} bytes"));
    }
}

fn description(sheet: &mut Sheet<'_>, text: Option<&str>) {
    if let Some(text) = text {
        sheet.section("Description");
        sheet.quote(text);
    }
}

fn annotations(sheet: &mut Sheet<'_>, annotations: Option<&Annotations>) {
    if let Some(annotations) = annotations {
        document(sheet, "Annotations", annotations);
    }
}

fn document(sheet: &mut Sheet<'_>, heading: &str, value: &impl Serialize) {
    sheet.section(heading);
    _ = writeln!(sheet.text, "{}", pretty(value));
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::super::{
        inspect::tests::shop,
        tests::{HOSTILE, at_a_terminal, is_harmless, piped},
    };
    use super::*;

    fn shown(name: &str) -> String {
        let shop = shop();
        let all = Item::all(&shop);
        let item = all.iter().find(|item| item.is_called(name));
        item.expect("offered").shown(&piped())
    }

    #[test]
    fn a_tool_is_shown_in_full() {
        let shown = shown("order_book");
        let beginning = "\
order_book
  kind          tool
  hints         destructive, closed world

Description
  | Order a book.
  | And much more about it.

Arguments
  title   string, required            As it stands on the cover.
  copies  integer, 1 to 9, default 1
  wrap    paper | none

Input schema
{
  \"type\": \"object\",";
        assert!(shown.starts_with(beginning), "{shown}");
        let annotations = "\n\nAnnotations\n{\n  \"readOnlyHint\": false,";
        assert!(shown.contains(annotations), "{shown}");
    }

    #[test]
    fn everything_can_be_shown() {
        let brief = shown("brief");
        assert!(
            brief.contains("\nArguments\n  topic  required  Of what.\n"),
            "{brief}"
        );
        let stock = shown("shop://stock");
        for part in ["name          stock", "text/csv", "12345 bytes"] {
            assert!(stock.contains(part), "{stock}");
        }
        let template = shown("book");
        assert!(template.starts_with("shop://books/{isbn}\n"), "{template}");
        assert_eq!(template, shown("shop://books/{isbn}"));
    }

    #[test]
    fn hostile_ones_are_harmless() {
        let tool = json!({ "name": HOSTILE, "title": HOSTILE, "description": HOSTILE,
            "inputSchema": { HOSTILE: HOSTILE, "properties": { HOSTILE: { "type": HOSTILE } } },
            "outputSchema": { HOSTILE: [HOSTILE] }, "annotations": { "title": HOSTILE } });
        let tool: Tool = from_value(tool).unwrap();
        for style in [piped(), at_a_terminal(40)] {
            let shown = Item::Tool(&tool).shown(&style);
            assert!(is_harmless(&shown), "{shown:?}");
        }
    }
}
