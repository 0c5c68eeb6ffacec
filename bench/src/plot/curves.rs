//! Curves on logarithmic scales, in panels.

use super::{
    colour,
    scale::Scale,
    svg::{Anchor, Svg, short},
};

const PANEL_WIDTH: f64 = 440.0;
const PANEL_HEIGHT: f64 = 250.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 78.0;
const BETWEEN: f64 = 74.0;
const COLUMNS: usize = 2;

/// Some curves over the same axis.
pub(crate) struct Panel<'a> {
    /// What grows to the right.
    pub(crate) along: &'a str,
    pub(crate) lines: Vec<Line<'a>>,
}

/// One curve.
pub(crate) struct Line<'a> {
    pub(crate) name: &'a str,
    pub(crate) points: Vec<(u64, f64)>,
}

/// A panel for each axis, all with the same unit upwards.
pub(crate) fn curves(title: &str, unit: &str, panels: &[Panel<'_>]) -> String {
    let rows = panels.len().div_ceil(COLUMNS);
    let height = TOP + rows as f64 * (PANEL_HEIGHT + BETWEEN);
    let mut svg = Svg::new(COLUMNS as f64 * PANEL_WIDTH + 20.0, height, title);
    svg.heading((16.0, 26.0), title);
    let names = names(panels);
    let legend = names.iter().enumerate();
    svg.legend(
        (16.0, 52.0),
        legend.map(|(place, name)| (*name, colour(name, place))),
    );
    for (at, panel) in panels.iter().enumerate() {
        let (row, column) = (at / COLUMNS, at % COLUMNS);
        let left = LEFT + column as f64 * PANEL_WIDTH;
        let top = TOP + row as f64 * (PANEL_HEIGHT + BETWEEN);
        let frame = Frame {
            left,
            right: left + PANEL_WIDTH - LEFT - RIGHT,
            top,
            bottom: top + PANEL_HEIGHT,
        };
        frame.draw(&mut svg, panel, unit, &names);
    }
    svg.finish()
}

/// Where a panel is.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn draw(&self, svg: &mut Svg, panel: &Panel<'_>, unit: &str, names: &[&str]) {
        let points = || panel.lines.iter().flat_map(|line| &line.points);
        let across = {
            let first = points().map(|(at, _)| *at).min().unwrap_or(0);
            let last = points().map(|(at, _)| *at).max().unwrap_or(1);
            Scale::between(first as f64, last as f64, self.left, self.right)
        };
        let up = Scale::around(points().map(|(_, value)| *value), self.bottom, self.top);
        for tick in up.ticks() {
            let y = up.place(tick);
            svg.grid((self.left, y), (self.right, y));
            svg.label((self.left - 7.0, y + 4.0), Anchor::End, &short(tick));
        }
        let mut levels: Vec<u64> = points().map(|(at, _)| *at).collect();
        levels.sort_unstable();
        levels.dedup();
        for level in levels {
            let x = across.place(level as f64);
            svg.axis((x, self.bottom), (x, self.bottom + 5.0));
            svg.label((x, self.bottom + 19.0), Anchor::Middle, &counted(level));
        }
        svg.axis((self.left, self.top), (self.left, self.bottom));
        svg.axis((self.left, self.bottom), (self.right, self.bottom));
        let middle = f64::midpoint(self.left, self.right);
        svg.label((middle, self.bottom + 38.0), Anchor::Middle, panel.along);
        let middle = f64::midpoint(self.top, self.bottom);
        svg.upright((self.left - 44.0, middle), unit);
        for line in &panel.lines {
            let place = names
                .iter()
                .position(|name| *name == line.name)
                .unwrap_or(0);
            let colour = colour(line.name, place);
            let places: Vec<(f64, f64)> = (line.points.iter())
                .map(|(at, value)| (across.place(*at as f64), up.place(*value)))
                .collect();
            svg.curve(&places, colour);
            for place in places {
                svg.dot(place, colour);
            }
        }
    }
}

/// All names, in the order in which they first come.
fn names<'a>(panels: &[Panel<'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for line in panels.iter().flat_map(|panel| &panel.lines) {
        if !names.contains(&line.name) {
            names.push(line.name);
        }
    }
    names
}

/// A number, with K and M for powers of 1,024 where it is made of them.
fn counted(number: u64) -> String {
    match number {
        0 => "0".to_owned(),
        number if number.is_multiple_of(1 << 20) => format!("{}M", number >> 20),
        number if number.is_multiple_of(1 << 10) => format!("{}K", number >> 10),
        number => crate::table::grouped(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_panel_has_its_curves_and_every_level_a_label() {
        let line = |name, points: &[(u64, f64)]| Line {
            name,
            points: points.to_vec(),
        };
        let panels = [
            Panel {
                along: "idle sessions",
                lines: vec![
                    line("antiphon", &[(0, 8.0), (10_000, 8.5)]),
                    line("rmcp", &[(0, 40.0), (10_000, 60.0)]),
                ],
            },
            Panel {
                along: "bytes",
                lines: vec![line("antiphon", &[(64, 8.0), (1 << 20, 800.0)])],
            },
        ];
        let text = curves("Growth", "microseconds", &panels);
        assert_eq!(text.matches("<polyline ").count(), 3);
        assert_eq!(text.matches("<circle ").count(), 6);
        for label in ["0", "10,000", "64", "1M", "idle sessions", "bytes", "rmcp"] {
            assert!(text.contains(&format!(">{label}</text>")), "{label}");
        }
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }
}
