//! What `antiphon inspect` shows of a server.

use std::fmt::Write;

use antiphon::{
    client::Step,
    types::{
        Implementation, Prompt, PromptArgument, Resource, ResourceTemplate, ServerCapabilities,
        TaskSupport, Tool, ToolAnnotations, Version,
    },
};
use console::measure_text_width;
use indicatif::HumanCount;
use serde::Serialize;
use serde_json::Value;

use super::{
    Style, schema,
    spans::{Face, Span, pad, paint, wrap},
};
use crate::printable;

/// Most characters of a name, and of a description.
const NAME: usize = 200;
const DESCRIPTION: usize = 1000;

/// Widest column, beyond which lines are not aligned any more.
const WIDEST: usize = 36;

/// Fewest columns that a description is squeezed into.
const NARROWEST: usize = 24;

/// Where it begins if it has to stand below.
const BELOW: usize = 8;

/// A server, as it showed itself. This is also what `--json` gives, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Inspected {
    /// Where it was found.
    pub(crate) server: String,
    pub(crate) era: Era,
    pub(crate) protocol_version: Version,
    /// How it came to that.
    pub(crate) negotiation: Vec<Step>,
    /// What it says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server_info: Option<Implementation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instructions: Option<String>,
    pub(crate) capabilities: ServerCapabilities,
    /// Lists that it does not offer are absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<Vec<Tool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prompts: Option<Vec<Prompt>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resources: Option<Vec<Resource>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource_templates: Option<Vec<ResourceTemplate>>,
}

/// Which kind of revision is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Era {
    /// Each request stands alone.
    Modern,
    /// There is a handshake, and a session.
    Legacy,
}

impl Era {
    pub(crate) fn of(version: Version) -> Self {
        match version.is_modern() {
            true => Self::Modern,
            false => Self::Legacy,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Modern => "modern",
            Self::Legacy => "legacy",
        }
    }
}

/// As people read it.
pub(crate) fn inspect(server: &Inspected, style: &Style) -> String {
    let mut sheet = Sheet::new(style);
    sheet.about(server);
    if let Some(tools) = &server.tools {
        sheet.section("Tools");
        sheet.entries(tools.iter().map(of_tool).collect(), "no tools");
    }
    if let Some(prompts) = &server.prompts {
        sheet.section("Prompts");
        sheet.entries(prompts.iter().map(of_prompt).collect(), "no prompts");
    }
    if let Some(resources) = &server.resources {
        sheet.section("Resources");
        let entries = resources.iter().map(of_resource).collect();
        sheet.entries(entries, "no resources");
    }
    if let Some(templates) = &server.resource_templates {
        sheet.section("Resource templates");
        let entries = templates.iter().map(of_template).collect();
        sheet.entries(entries, "no resource templates");
    }
    if let (None, None, None) = (&server.tools, &server.prompts, &server.resources) {
        sheet.section("No tools, prompts or resources");
    }
    sheet.text.trim_end().to_owned()
}

/// Servers, each with where it goes and the file that names it.
pub(crate) fn servers(
    rows: impl Iterator<Item = (String, String, String)>,
    style: &Style,
) -> String {
    let mut sheet = Sheet::new(style);
    let entries = rows.map(|(name, kind, description)| Entry {
        name,
        kind,
        description,
        arguments: Vec::new(),
    });
    sheet.entries(entries.collect(), "");
    sheet.text.trim_end().to_owned()
}

/// A line of a list, and the lines that belong to it.
pub(super) struct Entry {
    name: String,
    /// What it takes or is, in a few words.
    kind: String,
    description: String,
    pub(super) arguments: Vec<Self>,
}

pub(super) fn of_tool(tool: &Tool) -> Entry {
    let root = &tool.input_schema;
    let required = root.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        let mut names = required.into_iter().flatten();
        names.any(|it| it.as_str() == Some(name))
    };
    let properties = root.get("properties").and_then(Value::as_object);
    let arguments = properties.into_iter().flatten();
    let arguments = arguments.map(|(name, argument)| Entry {
        name: printable::excerpt(name, NAME),
        kind: schema::describe(argument, root, is_required(name)),
        description: first_line([schema::description(argument, root)]),
        arguments: Vec::new(),
    });
    let hints = tool.annotations.as_ref();
    let title = hints.and_then(|hints| hints.title.as_deref());
    let said = [tool.description.as_deref(), tool.title.as_deref(), title];
    let words = words(tool);
    Entry {
        name: printable::excerpt(&tool.name, NAME),
        kind: String::new(),
        description: match words.is_empty() {
            true => first_line(said),
            false => format!("[{}] {}", words.join(", "), first_line(said)),
        },
        arguments: arguments.collect(),
    }
}

/// What a tool says of its behaviour, and does not leave open.
pub(super) fn words(tool: &Tool) -> Vec<&'static str> {
    let execution = tool.execution.as_ref();
    let needs_task = execution.is_some_and(|how| how.task_support == Some(TaskSupport::Required));
    let hints = tool.annotations.as_ref().map(hints);
    let task = needs_task.then_some("needs a task");
    hints.into_iter().flatten().chain(task).collect()
}

fn hints(hints: &ToolAnnotations) -> Vec<&'static str> {
    let words = [
        (hints.read_only_hint, "read-only", None),
        (
            hints.destructive_hint,
            "destructive",
            Some("not destructive"),
        ),
        (hints.idempotent_hint, "idempotent", None),
        (hints.open_world_hint, "open world", Some("closed world")),
    ];
    let said = words.into_iter().filter_map(|(hint, yes, no)| match hint {
        Some(true) => Some(yes),
        Some(false) => no,
        None => None,
    });
    said.collect()
}

pub(super) fn of_prompt(prompt: &Prompt) -> Entry {
    let argument = |argument: &PromptArgument| Entry {
        name: printable::excerpt(&argument.name, NAME),
        kind: match argument.required {
            Some(true) => "required".to_owned(),
            _ => "optional".to_owned(),
        },
        description: first_line([argument.description.as_deref(), argument.title.as_deref()]),
        arguments: Vec::new(),
    };
    Entry {
        name: printable::excerpt(&prompt.name, NAME),
        kind: String::new(),
        description: first_line([prompt.description.as_deref(), prompt.title.as_deref()]),
        arguments: prompt.arguments.iter().flatten().map(argument).collect(),
    }
}

fn of_resource(resource: &Resource) -> Entry {
    let name = resource.title.as_deref().unwrap_or(&resource.name);
    let size = resource.size.map(|size| match size {
        1 => "1 byte".to_owned(),
        size => format!("{} bytes", HumanCount(size)),
    });
    let mime_type = resource.mime_type.as_deref();
    let kind = [Some(name), mime_type, size.as_deref()];
    Entry {
        name: printable::excerpt(&resource.uri, NAME),
        kind: listed(kind),
        description: first_line([resource.description.as_deref()]),
        arguments: Vec::new(),
    }
}

fn of_template(template: &ResourceTemplate) -> Entry {
    let name = template.title.as_deref().unwrap_or(&template.name);
    Entry {
        name: printable::excerpt(&template.uri_template, NAME),
        kind: listed([Some(name), template.mime_type.as_deref()]),
        description: first_line([template.description.as_deref()]),
        arguments: Vec::new(),
    }
}

pub(super) fn listed<'a>(words: impl IntoIterator<Item = Option<&'a str>>) -> String {
    let words = words.into_iter().flatten();
    let words = words.map(|word| printable::excerpt(word, NAME));
    words.collect::<Vec<_>>().join(", ")
}

/// The first line of the first text that has one.
fn first_line<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> String {
    let texts = texts.into_iter().flatten().map(str::trim);
    let text = texts.into_iter().find(|text| !text.is_empty());
    let line = text.and_then(|text| text.lines().next());
    printable::excerpt(line.unwrap_or_default().trim_end(), DESCRIPTION)
}

/// What the server declares, and the parts of it that are worth a word.
fn capabilities(of: &ServerCapabilities) -> String {
    let with = |name: &str, parts: &[(Option<bool>, &str)]| {
        let parts: Vec<_> = (parts.iter())
            .filter(|(declared, _)| *declared == Some(true))
            .map(|(_, part)| *part)
            .collect();
        match parts.is_empty() {
            true => name.to_owned(),
            false => format!("{name} ({})", parts.join(", ")),
        }
    };
    let mut words = Vec::new();
    if let Some(tools) = &of.tools {
        words.push(with("tools", &[(tools.list_changed, "changes")]));
    }
    if let Some(prompts) = &of.prompts {
        words.push(with("prompts", &[(prompts.list_changed, "changes")]));
    }
    if let Some(resources) = &of.resources {
        let parts = [
            (resources.list_changed, "changes"),
            (resources.subscribe, "subscriptions"),
        ];
        words.push(with("resources", &parts));
    }
    words.extend(of.completions.as_ref().map(|_| "completions".to_owned()));
    words.extend(of.logging.as_ref().map(|_| "logging".to_owned()));
    words.extend(of.tasks.as_ref().map(|_| "tasks".to_owned()));
    let names = (of.extensions.iter().flatten())
        .chain(of.experimental.iter().flatten())
        .chain(&of.extra);
    words.extend(names.map(|(name, _)| printable::excerpt(name, NAME)));
    match words.is_empty() {
        true => "none".to_owned(),
        false => words.join(", "),
    }
}

/// What is shown, line by line.
pub(super) struct Sheet<'a> {
    style: &'a Style,
    pub(super) text: String,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(style: &'a Style) -> Self {
        Self {
            style,
            text: String::new(),
        }
    }

    pub(super) fn bold(&self, text: &str) -> String {
        paint(&[Span::new(text, Face::BOLD)], self.style.colour)
    }

    fn about(&mut self, server: &Inspected) {
        let heading = self.bold(&printable::line(&server.server));
        _ = writeln!(self.text, "{heading}");
        let era = server.era.as_str();
        self.fact("protocol", &format!("{} ({era})", server.protocol_version));
        if let Some(info) = &server.server_info {
            let name = printable::excerpt(&info.name, NAME);
            let version = printable::excerpt(&info.version, NAME);
            self.fact("calls itself", &format!("{name} {version}"));
            for said in [&info.title, &info.description].into_iter().flatten() {
                self.fact("", &first_line([Some(said.as_str())]));
            }
            if let Some(url) = &info.website_url {
                self.fact("website", &printable::excerpt(url, NAME));
            }
        }
        self.fact("capabilities", &capabilities(&server.capabilities));
        self.section("Negotiation");
        for step in &server.negotiation {
            let step = printable::excerpt(&step.to_string(), DESCRIPTION);
            self.hang("  ", &step);
        }
        if let Some(instructions) = &server.instructions {
            self.section("Instructions");
            self.quote(instructions);
        }
    }

    /// A text of the server's, as long as it is.
    pub(super) fn quote(&mut self, text: &str) {
        let room = self.style.width.saturating_sub(BELOW).max(1);
        let room = Some(room).filter(|_| self.style.terminal);
        let text = printable::block_within(text.trim_end(), room);
        _ = writeln!(self.text, "{text}");
    }

    pub(super) fn section(&mut self, heading: &str) {
        let heading = self.bold(heading);
        _ = write!(self.text, "\n{heading}\n");
    }

    pub(super) fn fact(&mut self, name: &str, value: &str) {
        self.hang(&format!("  {name:<12}  "), value);
    }

    pub(super) fn entries(&mut self, entries: Vec<Entry>, none: &str) {
        if entries.is_empty() {
            _ = writeln!(self.text, "  {none}");
        }
        let (names, kinds) = columns(&entries);
        for entry in entries {
            let name = self.bold(&entry.name);
            self.entry(&format!("  {}", pad(&name, names)), &entry, kinds);
            let (names, kinds) = columns(&entry.arguments);
            for argument in &entry.arguments {
                let name = pad(&argument.name, names);
                self.entry(&format!("      {name}"), argument, kinds);
            }
        }
    }

    fn entry(&mut self, name: &str, entry: &Entry, kinds: usize) {
        let left = match kinds {
            0 => format!("{name}  "),
            _ => format!("{name}  {}  ", pad(&entry.kind, kinds)),
        };
        self.hang(&left, &entry.description);
    }

    /// Text to the right of something, on as many lines as it needs.
    fn hang(&mut self, left: &str, text: &str) {
        let indent = measure_text_width(left);
        let room = self.style.width.saturating_sub(indent);
        if !self.style.terminal || measure_text_width(text) <= room {
            let line = format!("{left}{text}");
            _ = writeln!(self.text, "{}", line.trim_end());
            return;
        }
        let (mut before, indent, room) = match room < NARROWEST {
            false => (left.to_owned(), indent, room),
            // There is no room beside it.
            true => {
                _ = writeln!(self.text, "{}", left.trim_end());
                (
                    " ".repeat(BELOW),
                    BELOW,
                    self.style.width.saturating_sub(BELOW),
                )
            }
        };
        for line in wrap(&[Span::plain(text)], room.max(NARROWEST)) {
            _ = writeln!(self.text, "{before}{}", paint(&line, false));
            before = " ".repeat(indent);
        }
    }
}

/// How wide the columns of names and of kinds are.
fn columns(entries: &[Entry]) -> (usize, usize) {
    let widest = |of: fn(&Entry) -> &String| {
        let widths = entries.iter().map(|entry| measure_text_width(of(entry)));
        widths.max().unwrap_or(0).min(WIDEST)
    };
    (widest(|entry| &entry.name), widest(|entry| &entry.kind))
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{from_value, json};

    use super::super::tests::{HOSTILE, at_a_terminal, is_harmless, piped};
    use super::*;

    pub(in crate::render) fn shop() -> Inspected {
        let tools = json!([
            {
                "name": "order_book",
                "description": "Order a book.\nAnd much more about it.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "title": { "type": "string", "description": "As it stands on the cover." },
                        "copies": { "type": "integer", "minimum": 1, "maximum": 9, "default": 1 },
                        "wrap": { "enum": ["paper", "none"] },
                    },
                    "required": ["title"],
                },
                "annotations": {
                    "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false,
                    "openWorldHint": false,
                },
            },
            {
                "name": "list", "title": "The list", "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": true, "idempotentHint": true },
                "execution": { "taskSupport": "required" },
            },
        ]);
        let resources = json!([
            { "uri": "shop://stock", "name": "stock", "mimeType": "text/csv", "size": 12345 },
            { "uri": "shop://a", "name": "a", "description": "The first.", "size": 1 },
        ]);
        let prompts = json!([{
            "name": "brief", "description": "A brief.",
            "arguments": [
                { "name": "topic", "required": true, "description": "Of what." },
                { "name": "tone" },
            ],
        }]);
        let templates = json!([
            { "uriTemplate": "shop://books/{isbn}", "name": "book", "mimeType": "text/markdown" },
        ]);
        Inspected {
            server: "https://shop.example/mcp".to_owned(),
            era: Era::of(Version::V2026_07_28),
            protocol_version: Version::V2026_07_28,
            negotiation: vec![Step::Settled {
                version: Version::V2026_07_28,
            }],
            server_info: Some(Implementation::new("shop", "1.0").title("The Shop")),
            instructions: Some("Be kind.\nOrder books.\n".to_owned()),
            capabilities: ServerCapabilities::new()
                .tools(true)
                .resources(true, true)
                .prompts(false)
                .logging(),
            tools: Some(from_value(tools).unwrap()),
            prompts: Some(from_value(prompts).unwrap()),
            resources: Some(from_value(resources).unwrap()),
            resource_templates: Some(from_value(templates).unwrap()),
        }
    }

    fn empty() -> Inspected {
        Inspected {
            server: "server --stdio".to_owned(),
            era: Era::of(Version::V2025_06_18),
            protocol_version: Version::V2025_06_18,
            negotiation: Vec::new(),
            server_info: None,
            instructions: None,
            capabilities: ServerCapabilities::new(),
            tools: None,
            prompts: None,
            resources: None,
            resource_templates: None,
        }
    }

    #[test]
    fn a_server_is_shown_section_by_section() {
        let shown = "\
https://shop.example/mcp
  protocol      2026-07-28 (modern)
  calls itself  shop 1.0
                The Shop
  capabilities  tools (changes), prompts, resources (changes, subscriptions), logging

Negotiation
  2026-07-28 it is

Instructions
  | Be kind.
  | Order books.

Tools
  order_book  [destructive, closed world] Order a book.
      title   string, required            As it stands on the cover.
      copies  integer, 1 to 9, default 1
      wrap    paper | none
  list        [read-only, idempotent, needs a task] The list

Prompts
  brief  A brief.
      topic  required  Of what.
      tone   optional

Resources
  shop://stock  stock, text/csv, 12,345 bytes
  shop://a      a, 1 byte                      The first.

Resource templates
  shop://books/{isbn}  book, text/markdown";
        assert_eq!(inspect(&shop(), &piped()), shown);
    }

    #[test]
    fn what_is_offered_and_empty_is_not_what_is_not_offered() {
        let shown = inspect(&empty(), &piped());
        assert!(shown.contains("2025-06-18 (legacy)"), "{shown}");
        assert!(shown.contains("capabilities  none"), "{shown}");
        assert!(
            shown.ends_with("\nNo tools, prompts or resources"),
            "{shown}"
        );
        let server = Inspected {
            tools: Some(Vec::new()),
            ..empty()
        };
        let shown = inspect(&server, &piped());
        assert!(shown.ends_with("\nTools\n  no tools"), "{shown}");
    }

    #[test]
    fn descriptions_hang_at_a_terminal() {
        let mut server = shop();
        let style = Style {
            colour: false,
            ..at_a_terminal(50)
        };
        let long = "Order a book, or as many as there are in stock, and have them sent.";
        server.tools.as_mut().unwrap()[0].description = Some(long.to_owned());
        let shown = inspect(&server, &style);
        let hanging = "
  order_book  [destructive, closed world] Order a
              book, or as many as there are in
              stock, and have them sent.
      title   string, required
        As it stands on the cover.
      copies  integer, 1 to 9, default 1
";
        assert!(shown.contains(hanging), "{shown}");
        assert!(inspect(&server, &piped()).contains(long));
        // Nothing has to fit nowhere.
        for width in [0, 1, 10] {
            assert!(inspect(&server, &at_a_terminal(width)).contains("cover."));
        }
    }

    #[test]
    fn programs_get_every_field_by_its_name() {
        let value = serde_json::to_value(shop()).unwrap();
        let fields: Vec<_> = value.as_object().unwrap().keys().collect();
        let expected = [
            "server",
            "era",
            "protocolVersion",
            "negotiation",
            "serverInfo",
            "instructions",
            "capabilities",
            "tools",
            "prompts",
            "resources",
            "resourceTemplates",
        ];
        assert_eq!(fields, expected);
        assert_eq!(value["era"], "modern");
        assert_eq!(value["negotiation"][0]["step"], "settled");
        let value = serde_json::to_value(empty()).unwrap();
        let fields: Vec<_> = value.as_object().unwrap().keys().collect();
        let expected = [
            "server",
            "era",
            "protocolVersion",
            "negotiation",
            "capabilities",
        ];
        assert_eq!(fields, expected);
        assert_eq!(value["era"], "legacy");
    }

    #[test]
    fn hostile_names_are_harmless_everywhere() {
        let server = json!({ "name": HOSTILE, "uri": HOSTILE, "uriTemplate": HOSTILE,
            "title": HOSTILE, "description": HOSTILE, "mimeType": HOSTILE });
        let mut tool = server.clone();
        tool["inputSchema"] = json!({
            "properties": { HOSTILE: { "type": HOSTILE, "description": HOSTILE } },
            "required": [HOSTILE],
        });
        let mut prompt = server.clone();
        prompt["arguments"] = json!([server]);
        let info = json!({ "name": HOSTILE, "version": HOSTILE, "title": HOSTILE,
            "description": HOSTILE, "websiteUrl": HOSTILE });
        let server = Inspected {
            server: HOSTILE.to_owned(),
            negotiation: vec![Step::Contradicted {
                answer: HOSTILE.to_owned(),
            }],
            server_info: Some(from_value(info).unwrap()),
            instructions: Some(HOSTILE.to_owned()),
            capabilities: from_value(json!({ HOSTILE: {}, "extensions": { HOSTILE: {} } }))
                .unwrap(),
            tools: Some(vec![from_value(tool).unwrap()]),
            prompts: Some(vec![from_value(prompt).unwrap()]),
            resources: Some(vec![from_value(server.clone()).unwrap()]),
            resource_templates: Some(vec![from_value(server).unwrap()]),
            ..empty()
        };
        for style in [piped(), at_a_terminal(40), at_a_terminal(200)] {
            let shown = inspect(&server, &style);
            assert!(is_harmless(&shown), "{shown:?}");
            assert!(shown.matches("owned").count() >= 23, "{shown}");
        }
    }
}
