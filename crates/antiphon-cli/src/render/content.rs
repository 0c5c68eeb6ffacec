//! Contents of results, one after the other.

use antiphon::types::{ContentBlock, Resource, ResourceContents, Role};
use indicatif::HumanCount;
use serde_json::Value;

use super::{
    Rendered, Style,
    files::{Files, Unsaved},
    json, markdown,
};
use crate::{failure::Failure, printable};

/// Takes contents, and shows them.
pub(super) struct Contents<'a> {
    style: &'a Style,
    files: Files<'a>,
    shown: Vec<String>,
    unsaved: Option<Failure>,
}

impl<'a> Contents<'a> {
    /// Nothing yet, of what is called `name`.
    pub(super) fn new(name: &str, style: &'a Style) -> Self {
        Self {
            style,
            files: Files::new(name, style.out.as_deref()),
            shown: Vec::new(),
            unsaved: None,
        }
    }

    pub(super) fn rendered(self) -> Rendered {
        Rendered {
            text: self.shown.join("\n"),
            unsaved: self.unsaved,
        }
    }

    pub(super) fn block(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(block) => self.text(&block.text, false),
            ContentBlock::Image(image) => self.bytes(None, Some(&image.mime_type), &image.data),
            ContentBlock::Audio(sound) => self.bytes(None, Some(&sound.mime_type), &sound.data),
            ContentBlock::ResourceLink(link) => self.shown.push(of_link(link)),
            ContentBlock::Resource(embedded) => self.resource(&embedded.resource),
            ContentBlock::Other(object) => self.shown.push(json::pretty(object)),
            // What this program does not know yet.
            _ => self.shown.push(json::pretty(block)),
        }
    }

    pub(super) fn message(&mut self, role: Role, block: &ContentBlock) {
        let who = match role {
            Role::User => "user:",
            Role::Assistant => "assistant:",
        };
        let before = self.shown.len();
        self.block(block);
        let said = self.shown.split_off(before).join("\n");
        self.shown.push(who.to_owned());
        self.shown.extend(said.split('\n').map(|line| match line {
            "" => String::new(),
            _ => format!("  {line}"),
        }));
    }

    pub(super) fn resource(&mut self, contents: &ResourceContents) {
        match contents {
            ResourceContents::Text(part) => {
                self.text(&part.text, is_markdown(part.mime_type.as_deref()));
            }
            ResourceContents::Blob(part) => {
                self.bytes(Some(&part.uri), part.mime_type.as_deref(), &part.blob);
            }
            // What this program does not know yet.
            other => self.shown.push(json::pretty(other)),
        }
    }

    pub(super) fn json(&mut self, value: &Value) {
        self.shown.push(json::pretty(value));
    }

    fn text(&mut self, text: &str, is_markdown: bool) {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let style = self.style;
        self.shown.push(match style {
            Style {
                unescaped: true, ..
            } => text.to_owned(),
            Style { terminal: true, .. } if is_markdown || style.markdown => {
                markdown::render(text, style)
            }
            _ => printable::text(text),
        });
    }

    /// What is not text goes to a file, and a line says where.
    fn bytes(&mut self, uri: Option<&str>, mime_type: Option<&str>, data: &str) {
        let mime_type = mime_type.unwrap_or("application/octet-stream");
        let kind = printable::excerpt(mime_type, 100);
        let line = match self.files.save(uri, mime_type, data) {
            Ok((path, 1)) => format!("{kind}, 1 byte: {path}"),
            Ok((path, size)) => format!("{kind}, {} bytes: {path}", HumanCount(size as u64)),
            Err(Unsaved::NotBase64) => {
                format!("{kind}, not saved: the server did not send valid Base64")
            }
            Err(Unsaved::Failed(failure)) => {
                let line = format!("{kind}, not saved: {failure}");
                self.unsaved.get_or_insert(failure);
                line
            }
        };
        self.shown.push(line);
    }
}

fn of_link(link: &Resource) -> String {
    let name = link.title.as_deref().unwrap_or(&link.name);
    let parts = [Some(name), Some(&link.uri), link.description.as_deref()];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    parts.map(printable::line).collect::<Vec<_>>().join("  ")
}

fn is_markdown(mime_type: Option<&str>) -> bool {
    let essence = mime_type.and_then(|it| it.split(';').next());
    let essence = essence.unwrap_or_default().trim();
    ["text/markdown", "text/x-markdown"]
        .iter()
        .any(|it| essence.eq_ignore_ascii_case(it))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{at_a_terminal, piped};
    use super::*;

    fn shown(block: &ContentBlock, style: &Style) -> String {
        let mut contents = Contents::new("tool", style);
        contents.block(block);
        contents.rendered().text
    }

    #[test]
    fn markdown_is_rendered_at_a_terminal_if_it_says_so_or_somebody_does() {
        let told = |mime_type: &str| {
            let contents = ResourceContents::text("a:b", "* x").mime_type(mime_type);
            ContentBlock::resource(contents)
        };
        let forced = Style {
            markdown: true,
            ..at_a_terminal(80)
        };
        let table = [
            (told("text/markdown"), at_a_terminal(80), "• x"),
            (
                told("Text/Markdown; charset=utf-8"),
                at_a_terminal(80),
                "• x",
            ),
            (told("text/plain"), at_a_terminal(80), "* x"),
            (told("text/plain"), forced.clone(), "• x"),
            (ContentBlock::text("* x"), at_a_terminal(80), "* x"),
            (ContentBlock::text("* x"), forced.clone(), "• x"),
            (told("text/markdown"), piped(), "* x"),
            (
                ContentBlock::text("* x"),
                Style {
                    terminal: false,
                    ..forced
                },
                "* x",
            ),
        ];
        for (block, style, expected) in table {
            assert_eq!(shown(&block, &style), expected, "{block:?} {style:?}");
        }
    }

    #[test]
    fn links_are_a_line() {
        let link = Resource::new("file:///a.md", "a").description("The first\nof all.");
        let expected = r"a  file:///a.md  The first\nof all.";
        assert_eq!(shown(&ContentBlock::link(link), &piped()), expected);
    }

    #[test]
    fn what_is_unknown_is_shown_as_it_is() {
        let block = serde_json::from_value(json!({"type": "hologram", "depth": 3})).unwrap();
        let expected = "{\n  \"type\": \"hologram\",\n  \"depth\": 3\n}";
        assert_eq!(shown(&block, &piped()), expected);
    }
}
