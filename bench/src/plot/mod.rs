//! Plots, as SVG written by hand.

mod bars;
mod curves;
mod scale;
mod svg;

pub(crate) use bars::{Group, bars};
pub(crate) use curves::{Line, Panel, curves};

/// Colours that people who see fewer of them can still tell apart; those of the limits are grey.
const NAMED: [(&str, &str); 8] = [
    ("bare", "#c8c8c8"),
    ("floor", "#8a8a8a"),
    ("antiphon", "#d55e00"),
    ("rmcp", "#0072b2"),
    ("tower", "#56b4e9"),
    ("ts", "#009e73"),
    ("py", "#e69f00"),
    ("hyper", "#8a8a8a"),
];
/// For servers that are not known.
const OTHERS: [&str; 3] = ["#cc79a7", "#000000", "#b8a800"];

/// The colour of the server of this name, which stands at this place.
fn colour(name: &str, place: usize) -> &'static str {
    let named = NAMED.iter().find(|(known, _)| *known == name);
    named.map_or(OTHERS[place % OTHERS.len()], |(_, colour)| colour)
}
