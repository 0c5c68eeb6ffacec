//! `docs/design/elsewhere.md` names tests that exist.

use std::{fs, path::Path};

const TABLES: &str = include_str!("../../docs/design/elsewhere.md");

/// The last cell of a row: each test in backticks, as `path::name`.
fn named(row: &str) -> Vec<(&str, &str)> {
    let shown_by = row.trim_end_matches('|').rsplit('|').next();
    let quoted = shown_by.into_iter().flat_map(|cell| cell.split('`'));
    quoted
        .skip(1)
        .step_by(2)
        .map(|test| test.rsplit_once("::").expect("a path and a name"))
        .collect()
}

#[test]
fn every_test_that_is_named_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let heads = ["| what goes wrong", "|---"];
    let rows = TABLES
        .lines()
        .filter(|line| line.starts_with('|') && !heads.iter().any(|head| line.starts_with(head)));
    let (mut missing, mut found) = (Vec::new(), 0);
    for row in rows {
        let tests = named(row);
        assert!(!tests.is_empty(), "nothing shows this: {row}");
        for (path, name) in tests {
            let source = fs::read_to_string(root.join(path)).unwrap_or_default();
            match source.contains(&format!("fn {name}(")) {
                true => found += 1,
                false => missing.push(format!("{path}::{name}")),
            }
        }
    }
    assert_eq!(missing, [""; 0]);
    assert!(found > 0, "there are tables");
}
