//! What somebody may have meant who mistyped a name.

use crate::printable;

/// So many names are listed.
const LISTED: usize = 10;

/// Names that are longer are not looked at.
const LONGEST: usize = 100;

/// Those of the names that are close to this one, closest first, at most three.
pub(crate) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name: Vec<char> = name.chars().take(LONGEST).collect();
    let close = (name.len() / 3).max(2);
    let mut found: Vec<_> = names
        .into_iter()
        .filter(|other| other.len() <= LONGEST)
        .map(|other| (distance(&name, other), other))
        .filter(|(distance, other)| *distance <= close && *distance < other.chars().count())
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.truncate(3);
    found.into_iter().map(|(_, other)| other).collect()
}

/// Names, as a list to read.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, |name| format!("`{name}`"))
}

/// The same, as plain words.
pub(crate) fn plain<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, |name| name)
}

fn joined<'a>(
    names: impl IntoIterator<Item = &'a str>,
    shown: impl Fn(String) -> String,
) -> String {
    let mut names = names.into_iter();
    let first = names.by_ref().take(LISTED);
    let mut listed: Vec<_> = first
        .map(|name| shown(printable::excerpt(name, 60)))
        .collect();
    if names.next().is_some() {
        listed.push("…".to_owned());
    }
    listed.join(", ")
}

/// What to do about a name that is not among these.
pub(crate) fn instead(name: &str, names: &[&str]) -> String {
    let near = nearest(name, names.iter().copied());
    match (near.is_empty(), names.is_empty()) {
        (false, _) => format!("did you mean {}?", listed(near)),
        (true, false) => format!("there are {}", listed(names.iter().copied())),
        (true, true) => "there are none".to_owned(),
    }
}

/// The same of a server that has these, as a sentence.
pub(crate) fn meant(name: &str, names: &[&str]) -> String {
    let near = nearest(name, names.iter().copied());
    match (near.as_slice(), names.is_empty()) {
        ([], true) => "It has none".to_owned(),
        ([], false) => format!("It has: {}", plain(names.iter().copied())),
        (near, _) => format!("Did you mean {}?", plain(near.iter().copied())),
    }
}

/// How many characters must be put in, left out or replaced. Case does not count.
fn distance(name: &[char], other: &str) -> usize {
    let same = |a: char, b: char| a.to_lowercase().eq(b.to_lowercase());
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (at, character) in other.chars().enumerate() {
        let mut before = row[0];
        row[0] = at + 1;
        for column in 1..row.len() {
            let replaced = before + usize::from(!same(name[column - 1], character));
            before = row[column];
            row[column] = replaced.min(row[column - 1] + 1).min(before + 1);
        }
    }
    row[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_come_closest_first() {
        let names = ["title", "tile", "copies", "t"];
        for (typed, expected) in [
            ("titel", &["title", "tile"][..]),
            ("TITLE", &["title", "tile"]),
            ("copy", &[]),
            ("copie", &["copies"]),
            ("colour", &[]),
            ("", &[]),
        ] {
            assert_eq!(nearest(typed, names), expected, "{typed}");
        }
    }

    #[test]
    fn there_is_always_something_to_go_on_with() {
        for (names, expected) in [
            (&["title", "copies"][..], "did you mean `title`?"),
            (&["a", "b\u{1b}"], r"there are `a`, `b\u{1b}`"),
            (&[], "there are none"),
        ] {
            assert_eq!(instead("titel", names), expected);
        }
        let many = instead("x", &["name"; 30]);
        assert_eq!(many.matches("`name`").count(), LISTED);
        assert!(many.ends_with('…'), "{many}");
    }

    #[test]
    fn a_server_is_said_to_have_what_it_has() {
        for (names, expected) in [
            (&["order", "return"][..], "Did you mean order?"),
            (&["a\u{1b}", "b"], r"It has: a\u{1b}, b"),
            (&[], "It has none"),
        ] {
            assert_eq!(meant("ordr", names), expected);
        }
        let many = meant("x", &["name"; 30]);
        assert_eq!(many.matches("name").count(), LISTED);
        assert!(many.ends_with(", …"), "{many}");
    }

    #[test]
    fn long_names_cost_nothing() {
        let long = "é".repeat(100_000);
        assert!(nearest(&long, [long.as_str(), "e"]).is_empty());
    }
}
