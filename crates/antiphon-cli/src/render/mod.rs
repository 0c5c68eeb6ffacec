//! What a command shows on standard output: the result, and nothing else.
//!
//! [`content`] shows what tools, prompts and resources give, [`markdown`] what is written in it,
//! [`files`] keeps what is not text; [`inspect`] shows a server, with each argument by its
//! [`schema`]; [`json()`] is for programs. Whatever a server says is made
//! [printable](crate::printable) here, unless somebody asked for it as it came.

mod content;
mod files;
pub(crate) mod inspect;
pub(crate) mod item;
mod json;
mod markdown;
pub(crate) mod schema;
mod spans;

use std::path::PathBuf;

use antiphon::types::{CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult};
use console::Term;
use serde_json::Value;

use crate::failure::Failure;
use content::Contents;

pub(crate) use json::{json, json_line};

/// How wide a terminal is taken to be that does not say.
const WIDTH: usize = 80;

/// How results are shown.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    /// Standard output is a terminal.
    pub(crate) terminal: bool,
    /// Bold print and colours are wanted.
    pub(crate) colour: bool,
    /// How many columns there are.
    pub(crate) width: usize,
    /// Texts are markdown, though they do not say so.
    pub(crate) markdown: bool,
    /// Where contents go that are not text; the current directory unless told.
    pub(crate) out: Option<PathBuf>,
    /// Texts are shown as they came: what is in them may command a terminal.
    pub(crate) unescaped: bool,
}

impl Style {
    /// As it fits where standard output goes to; `NO_COLOR` is heeded.
    pub(crate) fn of_stdout() -> Self {
        let stdout = Term::stdout();
        let columns = stdout.size_checked().map(|(_, columns)| columns.into());
        Self {
            terminal: stdout.is_term(),
            colour: stdout.features().colors_supported(),
            width: columns.filter(|columns| *columns > 0).unwrap_or(WIDTH),
            markdown: false,
            out: None,
            unescaped: false,
        }
    }
}

/// A result, ready to be shown.
#[derive(Debug)]
#[must_use]
pub(crate) struct Rendered {
    /// What goes to standard output, without the last line's end. It may be empty.
    pub(crate) text: String,
    /// Why something could not be written to a file. The rest is there all the same: a call that
    /// was made has its result shown.
    pub(crate) unsaved: Option<Failure>,
}

impl Rendered {
    /// Shows it on standard output.
    ///
    /// # Errors
    /// Then, when a file could not be written.
    pub(crate) fn say(self) -> Result<(), Failure> {
        if !self.text.is_empty() {
            say!("{}", self.text);
        }
        self.unsaved.map_or(Ok(()), Err)
    }
}

/// What the tool `name` gave.
pub(crate) fn tool(name: &str, result: &CallToolResult, style: &Style) -> Rendered {
    let structured = result.structured_content.as_ref();
    let mut contents = Contents::new(name, style);
    let is_wrapped = structured.is_some_and(|value| wraps(value, &result.content));
    for block in &result.content {
        // The same as text, for clients that only read text.
        let repeats = block
            .as_text()
            .zip(structured)
            .is_some_and(|(text, value)| {
                serde_json::from_str::<Value>(text).is_ok_and(|text| text == *value)
            });
        if !repeats {
            contents.block(block);
        }
    }
    if let Some(value) = structured.filter(|_| !is_wrapped) {
        contents.json(value);
    }
    contents.rendered()
}

/// Whether structured content is nothing but the texts, in the member that some servers wrap plain
/// results in: `{"result": ..}`.
fn wraps(value: &Value, content: &[ContentBlock]) -> bool {
    let Some((name, wrapped)) = value.as_object().and_then(|members| match members.len() {
        1 => members.iter().next(),
        _ => None,
    }) else {
        return false;
    };
    let texts: Vec<_> = content.iter().filter_map(ContentBlock::as_text).collect();
    let is = |value: &Value, text: &str| match value {
        Value::String(value) => value == text,
        value => serde_json::from_str::<Value>(text).is_ok_and(|text| text == *value),
    };
    let all = match (wrapped, texts.as_slice()) {
        (wrapped, [text]) => is(wrapped, text),
        (Value::Array(list), texts) => {
            list.len() == texts.len() && list.iter().zip(texts).all(|(value, text)| is(value, text))
        }
        _ => false,
    };
    all && ["result", "content"].contains(&name.as_str()) && texts.len() == content.len()
}

/// What the prompt `name` says: who speaks at the margin, what they say set in.
pub(crate) fn prompt(name: &str, result: &GetPromptResult, style: &Style) -> Rendered {
    let mut contents = Contents::new(name, style);
    for message in &result.messages {
        contents.message(message.role, &message.content);
    }
    contents.rendered()
}

/// What a resource holds. What is not text and has no name of its own is named for `uri`.
pub(crate) fn resource(uri: &str, result: &ReadResourceResult, style: &Style) -> Rendered {
    let mut contents = Contents::new(files::last_segment(uri), style);
    for part in &result.contents {
        contents.resource(part);
    }
    contents.rendered()
}

#[cfg(test)]
mod tests {
    use antiphon::types::{PromptMessage, ResourceContents};
    use serde_json::json;

    use super::*;

    /// Where nothing is known of a terminal.
    pub(super) fn piped() -> Style {
        Style {
            terminal: false,
            colour: false,
            width: 80,
            markdown: false,
            out: None,
            unescaped: false,
        }
    }

    pub(super) fn at_a_terminal(width: usize) -> Style {
        Style {
            terminal: true,
            colour: true,
            width,
            ..piped()
        }
    }

    /// In which a server tries everything on a terminal.
    pub(super) const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}x\u{200b}\r\u{8}";

    /// Whether nothing in it is a command, or hides: but for colours, which are ours.
    pub(super) fn is_harmless(text: &str) -> bool {
        let ours = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[3m", "\u{1b}[1;3m"];
        let text = ours
            .iter()
            .fold(text.to_owned(), |text, ours| text.replace(ours, ""));
        !(text.chars()).any(|c| c != '\n' && c != '\t' && crate::printable::deceives(c))
    }

    fn result(content: Vec<ContentBlock>, structured: Option<Value>) -> CallToolResult {
        let mut result = CallToolResult::content(content);
        result.structured_content = structured;
        result
    }

    #[test]
    fn a_tool_s_result_is_shown_once_and_without_a_heading() {
        let pretty = "{\n  \"copies\": 2\n}";
        let value = json!({ "copies": 2 });
        let table = [
            (vec![], None, ""),
            (vec!["Ordered.\n"], None, "Ordered."),
            (vec!["one", "two"], None, "one\ntwo"),
            (vec!["{\"copies\":2}"], Some(value.clone()), pretty),
            (vec!["{ \"copies\" : 2 }"], Some(value.clone()), pretty),
            (vec![], Some(value.clone()), pretty),
            (vec!["{\"copies\":2}"], None, "{\"copies\":2}"),
            (vec!["null"], Some(Value::Null), "null"),
            (
                vec!["Two.", "{\"copies\":2}"],
                Some(value.clone()),
                "Two.\n{\n  \"copies\": 2\n}",
            ),
            (
                vec!["{\"copies\":3}"],
                Some(value),
                "{\"copies\":3}\n{\n  \"copies\": 2\n}",
            ),
        ];
        for (texts, structured, shown) in table {
            let blocks = texts.into_iter().map(ContentBlock::text).collect();
            let rendered = tool("order", &result(blocks, structured), &piped());
            assert_eq!(rendered.text, shown);
            assert!(rendered.unsaved.is_none());
        }
    }

    #[test]
    fn messages_of_a_prompt_say_who_speaks() {
        let messages = vec![
            PromptMessage::user(ContentBlock::text("Sum up:\nassistant:\n  no")),
            PromptMessage::assistant(ContentBlock::text("Done.")),
        ];
        let rendered = prompt("brief", &GetPromptResult::new(messages), &piped());
        let shown = "user:\n  Sum up:\n  assistant:\n    no\nassistant:\n  Done.";
        assert_eq!(rendered.text, shown);
    }

    #[test]
    fn every_part_of_a_resource_is_shown() {
        let parts = vec![
            ResourceContents::text("a:1", "one\n"),
            ResourceContents::text("a:2", "two"),
        ];
        let rendered = resource("a:1", &ReadResourceResult::new(parts), &piped());
        assert_eq!(rendered.text, "one\ntwo");
    }

    #[test]
    fn nothing_that_a_server_says_commands_a_terminal() {
        let markdown = ResourceContents::text("a:1", HOSTILE).mime_type("text/markdown");
        let blocks = vec![
            ContentBlock::text(HOSTILE),
            ContentBlock::resource(markdown),
            ContentBlock::image("!", HOSTILE),
            ContentBlock::link(
                antiphon::types::Resource::new(HOSTILE, HOSTILE).description(HOSTILE),
            ),
            serde_json::from_value(json!({ "type": HOSTILE, HOSTILE: HOSTILE })).unwrap(),
        ];
        let result = result(blocks, Some(json!({ HOSTILE: [HOSTILE] })));
        for style in [piped(), at_a_terminal(40)] {
            for markdown in [false, true] {
                let style = Style {
                    markdown,
                    ..style.clone()
                };
                let text = tool(HOSTILE, &result, &style).text;
                assert!(is_harmless(&text), "{text:?}");
                assert!(text.matches("owned").count() >= 9, "{text}");
            }
        }
    }

    #[test]
    fn who_asks_for_it_gets_the_text_as_it_came() {
        let style = Style {
            unescaped: true,
            markdown: true,
            ..at_a_terminal(80)
        };
        let result = result(vec![ContentBlock::text("# \u{1b}[1mred\r\n")], None);
        assert_eq!(tool("t", &result, &style).text, "# \u{1b}[1mred\r");
    }

    #[test]
    fn a_text_that_is_wrapped_as_well_is_shown_once() {
        let shown = |content: &[&str], structured: Value| {
            let blocks = content.iter().map(|text| ContentBlock::text(*text));
            let mut result = CallToolResult::content(blocks.collect::<Vec<_>>());
            result.structured_content = Some(structured);
            tool("t", &result, &piped()).text
        };
        assert_eq!(shown(&["done"], json!({ "result": "done" })), "done");
        assert_eq!(shown(&["3"], json!({ "result": 3 })), "3");
        let list = json!({ "result": ["a", "b"] });
        assert_eq!(shown(&["a", "b"], list), "a\nb");
        for other in [
            json!({ "result": "other" }),
            json!({ "sum": "done" }),
            json!({ "result": "done", "more": 1 }),
        ] {
            let text = shown(&["done"], other);
            assert!(text.starts_with("done\n{"), "{text}");
        }
    }
}
