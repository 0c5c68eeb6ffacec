//! Markdown, for people at a terminal.
//!
//! Whatever is written in it is made printable piece by piece, after it was parsed: an entity
//! such as `&#27;` is a control character only then.

use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

use super::{
    Style,
    spans::{Face, Span, paint, width, wrap},
};
use crate::printable;

/// Fewest columns that text is wrapped to.
const NARROWEST: usize = 20;

/// How deep quotes and lists are set in; what is deeper stays there.
const DEEPEST: usize = 12;

/// Most quotes and lists that begin on one line. Beyond that nobody reads it, and to parse it takes
/// time for each of them with every line that follows.
const BEGUN: usize = 100;

/// Most characters of a column's heading where each cell is on its own line.
const HEADING: usize = 40;

/// As it is read at a terminal.
pub(super) fn render(source: &str, style: &Style) -> String {
    if source.split(['\r', '\n']).any(is_deep) {
        return printable::text(source);
    }
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page::new(style);
    for event in Parser::new_ext(source, options) {
        page.event(event);
    }
    page.flush();
    page.lines.join("\n")
}

/// Whether too many quotes and lists begin on this line.
fn is_deep(line: &str) -> bool {
    let bytes = line.as_bytes().iter().copied();
    let next = bytes.clone().skip(1).chain([b' ']);
    let begun = bytes.zip(next).map_while(|it| match it {
        (b'>', _) | (b'-' | b'+' | b'*' | b'.' | b')', b' ' | b'\t') => Some(1),
        (b'-' | b'+' | b'*' | b'.' | b')' | b'0'..=b'9' | b' ' | b'\t', _) => Some(0),
        _ => None,
    });
    begun.sum::<usize>() > BEGUN
}

/// What stands around a line.
enum Around {
    Quote,
    /// The mark stands on its first line only.
    Item {
        mark: Option<String>,
        width: usize,
    },
}

/// Lines that are no paragraph: they are neither joined nor wrapped.
struct Verbatim {
    text: String,
    indent: &'static str,
}

struct Link {
    to: String,
    /// The first piece of what it is called.
    begin: usize,
    is_image: bool,
}

struct Page<'a> {
    style: &'a Style,
    lines: Vec<String>,
    around: Vec<Around>,
    /// How many more there are that are not shown.
    deeper: usize,
    /// The lists around, with the number of the next item.
    lists: Vec<Option<u64>>,
    /// The pieces of the paragraph so far.
    inline: Vec<Span>,
    bold: usize,
    italic: usize,
    links: Vec<Link>,
    verbatim: Option<Verbatim>,
    /// The rows of the table so far, the headings first.
    table: Option<Vec<Vec<Vec<Span>>>>,
    /// An empty line is due before the next block.
    gap: bool,
}

impl<'a> Page<'a> {
    fn new(style: &'a Style) -> Self {
        Self {
            style,
            lines: Vec::new(),
            around: Vec::new(),
            deeper: 0,
            lists: Vec::new(),
            inline: Vec::new(),
            bold: 0,
            italic: 0,
            links: Vec::new(),
            verbatim: None,
            table: None,
            gap: false,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Code(code) => self.write(&format!("`{}`", printable::line(&code))),
            Event::SoftBreak => self.write(" "),
            Event::HardBreak => self.inline.push(Span::line_break()),
            Event::Rule => {
                self.space();
                let columns = self.columns().min(40);
                self.line(&"─".repeat(columns));
                self.gap = true;
            }
            Event::TaskListMarker(true) => self.write("[x] "),
            Event::TaskListMarker(false) => self.write("[ ] "),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => match &mut self.verbatim {
                Some(verbatim) => verbatim.text += &text,
                None => self.write(&printable::line(&text.replace('\t', " "))),
            },
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Emphasis => self.emphasis(true),
            Tag::Strong => self.strong(true),
            Tag::Strikethrough => self.write("~~"),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => self.link(link_type, &dest_url, false),
            Tag::Image { dest_url, .. } => self.link(LinkType::Inline, &dest_url, true),
            Tag::TableHead | Tag::TableRow => {
                if let Some(rows) = &mut self.table {
                    rows.push(Vec::new());
                }
            }
            Tag::TableCell => {}
            // The others are blocks.
            tag => {
                self.flush();
                self.space();
                self.open(&tag);
            }
        }
    }

    fn open(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => match self.style.colour {
                true => self.bold += 1,
                false => self.write(&format!("{} ", "#".repeat(depth(*level)))),
            },
            Tag::BlockQuote(_) => self.enter(Around::Quote),
            Tag::List(first) => self.lists.push(*first),
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    _ => "• ".to_owned(),
                };
                let width = mark.chars().count();
                let mark = Some(mark);
                self.enter(Around::Item { mark, width });
            }
            Tag::CodeBlock(_) => self.begin_verbatim("    "),
            Tag::HtmlBlock | Tag::MetadataBlock(_) => self.begin_verbatim(""),
            Tag::Table(_) => self.table = Some(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis => self.emphasis(false),
            TagEnd::Strong => self.strong(false),
            TagEnd::Strikethrough => self.write("~~"),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableHead | TagEnd::TableRow => {}
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Item => {
                self.flush();
                self.leave();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.gap = self.gap || self.lists.is_empty();
            }
            tag => {
                self.flush();
                match tag {
                    TagEnd::Heading(_) => self.bold = self.bold.saturating_sub(1),
                    TagEnd::BlockQuote(_) => self.leave(),
                    TagEnd::Table => self.end_table(),
                    _ => self.end_verbatim(),
                }
                self.gap = true;
            }
        }
    }

    fn enter(&mut self, around: Around) {
        match self.around.len() < DEEPEST {
            true => self.around.push(around),
            false => self.deeper += 1,
        }
    }

    fn leave(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        // An item without content.
        if let Some(Around::Item { mark: Some(_), .. }) = self.around.last() {
            self.line("");
        }
        self.around.pop();
    }

    fn emphasis(&mut self, begins: bool) {
        match (self.style.colour, begins) {
            (true, true) => self.italic += 1,
            (true, false) => self.italic = self.italic.saturating_sub(1),
            (false, _) => self.write("*"),
        }
    }

    fn strong(&mut self, begins: bool) {
        match (self.style.colour, begins) {
            (true, true) => self.bold += 1,
            (true, false) => self.bold = self.bold.saturating_sub(1),
            (false, _) => self.write("**"),
        }
    }

    fn link(&mut self, link_type: LinkType, to: &str, is_image: bool) {
        let to = match link_type {
            LinkType::Email => to.strip_prefix("mailto:").unwrap_or(to),
            _ => to,
        };
        self.links.push(Link {
            to: printable::line(to),
            begin: self.inline.len(),
            is_image,
        });
    }

    /// Says where a link leads, whatever it is called.
    fn end_link(&mut self) {
        let Some(link) = self.links.pop() else { return };
        let called = self.inline.get(link.begin..).unwrap_or_default();
        let called: String = called.iter().map(|span| &*span.text).collect();
        match called.is_empty() {
            true if link.is_image => self.write("image"),
            true => self.write("link"),
            false => {}
        }
        if called != link.to && !link.to.is_empty() {
            self.write(&format!(" ({})", link.to));
        }
    }

    fn begin_verbatim(&mut self, indent: &'static str) {
        let text = String::new();
        self.verbatim = Some(Verbatim { text, indent });
    }

    fn end_verbatim(&mut self) {
        let Some(Verbatim { text, indent }) = self.verbatim.take() else {
            return;
        };
        let text = text.strip_suffix('\n').unwrap_or(&text);
        for line in printable::text(text).split('\n') {
            let line = format!("{indent}{}", line.replace('\t', "    "));
            self.line(line.trim_end());
        }
    }

    /// Columns if they fit, otherwise a line for each cell.
    fn end_table(&mut self) {
        let rows = self.table.take().unwrap_or_default();
        let count = rows.first().map_or(0, Vec::len);
        let mut widths = vec![0; count];
        for row in &rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = width(cell).max(*widest);
            }
        }
        let whole: usize = widths.iter().map(|width| width + 2).sum();
        match whole <= self.columns() + 2 {
            true => self.columns_of(&rows, &widths),
            false => self.cells_of(&rows),
        }
    }

    fn columns_of(&mut self, rows: &[Vec<Vec<Span>>], widths: &[usize]) {
        for (at, row) in rows.iter().enumerate() {
            let mut line = Vec::new();
            for (cell, columns) in row.iter().zip(widths) {
                line.extend(cell.iter().map(|span| match at {
                    0 => Span::new(&*span.text, Face::BOLD),
                    _ => span.clone(),
                }));
                let missing = columns.saturating_sub(width(cell));
                line.push(Span::plain(" ".repeat(missing + 2)));
            }
            let line = paint(&line, self.style.colour);
            self.line(line.trim_end());
            if at == 0 {
                let rules: Vec<_> = widths.iter().map(|columns| "─".repeat(*columns)).collect();
                self.line(rules.join("  ").trim_end());
            }
        }
    }

    fn cells_of(&mut self, rows: &[Vec<Vec<Span>>]) {
        let Some((headings, rows)) = rows.split_first() else {
            return;
        };
        let headings: Vec<_> = (headings.iter())
            .map(|cell| {
                let heading: String = cell.iter().map(|span| &*span.text).collect();
                let heading = printable::excerpt(&heading, HEADING);
                Span::new(heading + ":", Face::BOLD)
            })
            .collect();
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                self.line("");
            }
            for (heading, cell) in headings.iter().zip(row) {
                if !cell.is_empty() {
                    let mut line = vec![heading.clone(), Span::plain(" ")];
                    line.extend_from_slice(cell);
                    self.paragraph(&line);
                }
            }
        }
    }

    /// Adds text, which is printable, to the paragraph.
    fn write(&mut self, text: &str) {
        let face = Face {
            bold: self.bold > 0,
            italic: self.italic > 0,
        };
        self.inline.push(Span::new(text, face));
    }

    /// Ends the paragraph.
    fn flush(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        if !inline.is_empty() {
            self.paragraph(&inline);
        }
    }

    fn paragraph(&mut self, spans: &[Span]) {
        for line in wrap(spans, self.columns()) {
            let line = paint(&line, self.style.colour);
            self.line(&line);
        }
    }

    /// The empty line that is due.
    fn space(&mut self) {
        if std::mem::take(&mut self.gap) {
            let marks = self.around.iter().map(|around| match around {
                Around::Quote => "│ ".to_owned(),
                Around::Item { width, .. } => " ".repeat(*width),
            });
            let line: String = marks.collect();
            self.lines.push(line.trim_end().to_owned());
        }
    }

    /// Adds a line, with what stands around it.
    fn line(&mut self, line: &str) {
        let mut whole = String::new();
        for around in &mut self.around {
            match around {
                Around::Quote => whole += "│ ",
                Around::Item { mark, width } => match mark.take() {
                    Some(mark) => whole += &mark,
                    None => whole += &" ".repeat(*width),
                },
            }
        }
        whole += line;
        self.lines.push(whole.trim_end_matches(' ').to_owned());
    }

    /// How many columns a line has.
    fn columns(&self) -> usize {
        let around = self.around.iter().map(|around| match around {
            Around::Quote => 2,
            Around::Item { width, .. } => *width,
        });
        let around: usize = around.sum();
        self.style.width.saturating_sub(around).max(NARROWEST)
    }
}

fn depth(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOSTILE, at_a_terminal, is_harmless};
    use super::*;

    /// Without bold print, which is hard to read in tests.
    fn plain(source: &str, width: usize) -> String {
        let style = Style {
            colour: false,
            ..at_a_terminal(width)
        };
        render(source, &style)
    }

    #[test]
    fn blocks_read_well() {
        let table = [
            ("", ""),
            ("one\ntwo\n\n\n\nthree", "one two\n\nthree"),
            ("# Title\ntext", "# Title\n\ntext"),
            ("one  \ntwo", "one\ntwo"),
            ("- a\n- b\n  - c\n- d\n\nend", "• a\n• b\n  • c\n• d\n\nend"),
            ("- a\n\n- b", "• a\n\n• b"),
            ("9. a\n1. b\n   more", "9. a\n10. b more"),
            ("- [ ] a\n- [x] b\n-", "• [ ] a\n• [x] b\n•"),
            ("> a\n>\n> b\n\nc", "│ a\n│\n│ b\n\nc"),
            ("> - a\n>   > b", "│ • a\n│   │ b"),
            ("- a\n\n  b", "• a\n\n  b"),
            (
                "```rust\nfn a() {\n\tb\n}\n```\nc",
                "    fn a() {\n        b\n    }\n\nc",
            ),
            (
                "a\n\n---\n\nb",
                "a\n\n────────────────────────────────────────\n\nb",
            ),
            ("<p>\nhi\n</p>", "<p>\nhi\n</p>"),
            ("1 < 2 <b>x</b>", "1 < 2 <b>x</b>"),
            ("a\tb", "a b"),
            ("- ```\n  x\n  ```", "•     x"),
        ];
        for (source, shown) in table {
            assert_eq!(plain(source, 80), shown, "{source:?}");
        }
    }

    #[test]
    fn links_say_where_they_lead() {
        let table = [
            ("[shop](https://a.example)", "shop (https://a.example)"),
            ("<https://a.example>", "https://a.example"),
            ("<a@b.example>", "a@b.example"),
            (
                "[https://good.example](https://evil.example)",
                "https://good.example (https://evil.example)",
            ),
            ("[**b**][1]\n\n[1]: x:y", "**b** (x:y)"),
            ("![a chart](x.png)", "a chart (x.png)"),
            ("![](x.png)", "image (x.png)"),
            ("[](x:y)", "link (x:y)"),
        ];
        for (source, shown) in table {
            assert_eq!(plain(source, 80), shown, "{source:?}");
        }
    }

    #[test]
    fn emphasis_is_seen_with_and_without_colours() {
        let source = "# A *b*\nc **d** ~~e~~ `f`";
        assert_eq!(plain(source, 80), "# A *b*\n\nc **d** ~~e~~ `f`");
        let shown = "\u{1b}[1mA\u{1b}[0m \u{1b}[1;3mb\u{1b}[0m\n\nc \u{1b}[1md\u{1b}[0m ~~e~~ `f`";
        assert_eq!(render(source, &at_a_terminal(80)), shown);
    }

    #[test]
    fn tables_are_columns_where_they_fit() {
        let source = "| Title | Copies |\n|---|--:|\n| Dune | 2 |\n| 日本 | |";
        let columns = "Title  Copies\n─────  ──────\nDune   2\n日本";
        assert_eq!(plain(source, 80), columns);
        let source = format!(
            "| Title | Note |\n|-|-|\n| Dune | {} |\n| Emma | |",
            "a b ".repeat(9)
        );
        let cells = "Title: Dune\nNote: a b a b a b a b a b\na b a b a b a b\n\nTitle: Emma";
        assert_eq!(plain(&source, 25), cells);
    }

    #[test]
    fn lines_fit_the_width_within_quotes_and_lists() {
        let source = "> - one two three four five six seven";
        let shown = "│ • one two three four\n│   five six seven";
        assert_eq!(plain(source, 24), shown);
    }

    #[test]
    fn no_byte_of_a_server_reaches_the_terminal_raw() {
        let places = [
            "@",
            "# @",
            "*@*",
            "`@`",
            "```\n@\n```",
            "    @",
            "<p>@</p>",
            "a <b>@</b>",
            "[@](@)",
            "[a](<@>)",
            "![@](@)",
            "<https://@>",
            "| @ |\n|-|\n| @ |",
            "- @",
            "> @",
            "1. @",
            "[a][r]\n\n[r]: <@> \"@\"",
            "[x](a '@')",
            "~~@~~",
        ];
        let entities = "&#27;[31m&#x9b;2J&#8238;&#x200b;&ZeroWidthSpace;&#7;&#13;&NewLine;";
        for place in places {
            for hostile in [HOSTILE, entities] {
                let source = place.replace('@', hostile);
                for width in [1, 40] {
                    let shown = render(&source, &at_a_terminal(width));
                    assert!(is_harmless(&shown), "{source:?} {shown:?}");
                }
            }
        }
    }

    #[test]
    fn what_nobody_can_read_is_shown_as_it_is() {
        let deep = format!("a\n{} \u{1b}b", ">".repeat(101));
        assert_eq!(plain(&deep, 80), deep.replace('\u{1b}', r"\u{1b}"));
        let list = "1. - + * ".repeat(26) + "a";
        assert_eq!(plain(&list, 80), list);
        let dashes = "-".repeat(500);
        let rule = plain(&format!("a\n\n{dashes}\n"), 80);
        assert!(rule.ends_with('─'), "{rule}");
    }

    #[test]
    fn what_is_deep_or_wide_stays_small() {
        let deep = format!("{} a\n{}", ">".repeat(BEGUN), "a  \n".repeat(5000));
        let list = format!("{}a\n{}", "- ".repeat(BEGUN - 1), "a  \n".repeat(5000));
        let heading = "h".repeat(100_000);
        let table = format!("| {heading} | b |\n|-|-|\n{}", "| x | y |\n".repeat(5000));
        let reference = format!("{}\n\n[a]: {heading}", "[a] ".repeat(5000));
        let steps = (0..300).map(|depth| format!("{}- a\n", "  ".repeat(depth)));
        let steps: String = steps.collect();
        for source in [deep, list, table, reference, steps] {
            let shown = plain(&source, 80);
            assert!(shown.len() < 20 * source.len() + 1000, "{}", shown.len());
        }
    }
}
