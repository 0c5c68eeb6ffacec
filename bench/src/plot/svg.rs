//! The few shapes that plots are made of.

use std::fmt::Write;

const TEXT: &str = "#222222";
const GRID: &str = "#dddddd";
const AXIS: &str = "#777777";

/// Where a text begins, or ends, or has its middle.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture that is being drawn.
pub(super) struct Svg {
    text: String,
}

impl Svg {
    /// An empty one, on a light ground.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let title = escaped(title);
        let mut svg = Self {
            text: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
                 width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{title}\" \
                 font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\">\n\
                 <title>{title}</title>\n"
            ),
        };
        svg.rect([0.0, 0.0, width, height], "#ffffff");
        svg
    }

    /// X, Y, width and height.
    pub(super) fn rect(&mut self, [x, y, width, height]: [f64; 4], fill: &str) {
        self.shape(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>"
        ));
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), fill: &str) {
        self.shape(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{fill}\"/>"
        ));
    }

    pub(super) fn grid(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.straight(from, to, GRID);
    }

    pub(super) fn axis(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.straight(from, to, AXIS);
    }

    fn straight(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), stroke: &str) {
        self.shape(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{stroke}\"/>"
        ));
    }

    pub(super) fn curve(&mut self, points: &[(f64, f64)], stroke: &str) {
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let points = points.join(" ");
        self.shape(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"2\"/>"
        ));
    }

    pub(super) fn label(&mut self, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        self.words((x, y), anchor, text, "");
    }

    pub(super) fn heading(&mut self, (x, y): (f64, f64), text: &str) {
        self.words(
            (x, y),
            Anchor::Start,
            text,
            " font-size=\"14\" font-weight=\"bold\"",
        );
    }

    /// A label that is read from below.
    pub(super) fn upright(&mut self, (x, y): (f64, f64), text: &str) {
        let turn = format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"");
        self.words((x, y), Anchor::Middle, text, &turn);
    }

    fn words(&mut self, (x, y): (f64, f64), anchor: Anchor, text: &str, more: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.shape(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{TEXT}\"{more}>{text}</text>"
        ));
    }

    /// Names beside their colours, from left to right.
    pub(super) fn legend<'a>(
        &mut self,
        (mut x, y): (f64, f64),
        names: impl Iterator<Item = (&'a str, &'a str)>,
    ) {
        for (name, fill) in names {
            self.rect([x, y - 10.0, 12.0, 12.0], fill);
            self.label((x + 17.0, y), Anchor::Start, name);
            x += 34.0 + 7.5 * name.len() as f64;
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn shape(&mut self, shape: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{shape}").expect("a string can be written to");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// As short as a figure at an axis or a bar should be.
pub(super) fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{:.0}M", value / 1e6),
        value if value >= 1e4 => format!("{:.0}k", value / 1e3),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => trimmed(&format!("{value:.1}")),
        value => trimmed(&format!("{value:.2}")),
    }
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_picture() {
        let mut svg = Svg::new(10.0, 10.0, "a & b");
        svg.label((1.0, 2.0), Anchor::End, "<script>\"");
        let text = svg.finish();
        assert!(text.contains(">&lt;script&gt;&quot;</text>"), "{text}");
        assert!(text.contains("<title>a &amp; b</title>"), "{text}");
        assert!(text.ends_with("</svg>\n"));
    }

    #[test]
    fn figures_are_short() {
        let texts = [0.5, 1.0, 9.876, 10.0, 42.42, 123.4, 1234.0, 56_700.0].map(short);
        assert_eq!(
            texts,
            ["0.5", "1", "9.88", "10", "42.4", "123", "1234", "57k"]
        );
    }
}
