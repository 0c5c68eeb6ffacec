//! Bars on a logarithmic scale, in groups.

use super::{
    colour,
    scale::Scale,
    svg::{Anchor, Svg, short},
};

const WIDTH: f64 = 900.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 60.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 46.0;
const BAR: f64 = 13.0;
const GAP: f64 = 14.0;

/// Bars that belong together.
pub(crate) struct Group<'a> {
    pub(crate) name: &'a str,
    /// Names with figures.
    pub(crate) bars: Vec<(&'a str, f64)>,
}

/// One bar for each figure, longer for more of these units.
pub(crate) fn bars(title: &str, unit: &str, groups: &[Group<'_>]) -> String {
    let height = |group: &Group<'_>| group.bars.len() as f64 * BAR + GAP;
    let bottom = TOP + groups.iter().map(height).sum::<f64>();
    let values = groups.iter().flat_map(|group| &group.bars);
    let scale = Scale::around(values.map(|(_, value)| *value), LEFT, WIDTH - RIGHT);
    let mut svg = Svg::new(WIDTH, bottom + BOTTOM, title);
    svg.heading((16.0, 26.0), title);
    let names = names(groups);
    let legend = names.iter().enumerate();
    svg.legend(
        (16.0, 52.0),
        legend.map(|(place, name)| (*name, colour(name, place))),
    );
    for tick in scale.ticks() {
        let x = scale.place(tick);
        svg.grid((x, TOP - 8.0), (x, bottom));
        svg.label((x, bottom + 16.0), Anchor::Middle, &short(tick));
    }
    let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
    svg.label((middle, bottom + 36.0), Anchor::Middle, unit);
    let mut y = TOP;
    for group in groups {
        let rows = group.bars.len() as f64 * BAR;
        svg.label((LEFT - 10.0, y + rows / 2.0 + 4.0), Anchor::End, group.name);
        for (name, value) in &group.bars {
            let place = names.iter().position(|known| known == name).unwrap_or(0);
            let end = scale.place(*value);
            svg.rect([LEFT, y + 1.0, end - LEFT, BAR - 2.0], colour(name, place));
            svg.label((end + 5.0, y + BAR - 2.5), Anchor::Start, &short(*value));
            y += BAR;
        }
        y += GAP;
    }
    svg.axis((LEFT, TOP - 8.0), (LEFT, bottom));
    svg.finish()
}

/// All names, in the order in which they first come.
fn names<'a>(groups: &[Group<'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (name, _) in groups.iter().flat_map(|group| &group.bars) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_bar_and_every_name_a_colour() {
        let groups = [
            Group {
                name: "echo",
                bars: vec![("floor", 7.5), ("antiphon", 8.5)],
            },
            Group {
                name: "older",
                bars: vec![("antiphon", 30.0), ("mine", 70.0)],
            },
        ];
        let text = bars("CPU", "microseconds", &groups);
        // The ground, the legend, and the bars.
        assert_eq!(text.matches("<rect ").count(), 1 + 3 + 4);
        assert_eq!(text.matches("#d55e00").count(), 3);
        for label in ["7.5", "8.5", "30", "70", "mine", "microseconds"] {
            assert!(text.contains(&format!(">{label}</text>")), "{label}");
        }
    }
}
