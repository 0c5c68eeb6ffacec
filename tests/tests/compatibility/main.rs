//! What a client of each revision gets of the same server: the table of `docs/older-peers.md`, a
//! cell a test.

mod desk;
mod peers;

use std::collections::BTreeMap;

use desk::{Feature, desk};
use peers::Column;

/// The table of the guide: a row for each feature, a column for each kind of client.
fn table() -> BTreeMap<(String, String), String> {
    let guide = include_str!("../../../docs/older-peers.md");
    let mut lines = guide
        .lines()
        .skip_while(|line| !line.starts_with("| | 2024-11-05"));
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let columns = cells(lines.next().expect("the guide has the table"));
    let mut table = BTreeMap::new();
    for line in lines.skip(1).take_while(|line| line.starts_with('|')) {
        let row = cells(line);
        assert_eq!(row.len(), columns.len(), "{line}");
        for (column, cell) in columns.iter().zip(&row).skip(1) {
            table.insert((row[0].clone(), column.clone()), cell.clone());
        }
    }
    table
}

#[tokio::test]
async fn every_cell_is_what_happens() {
    let mut table = table();
    let mut wrong = Vec::new();
    for column in Column::ALL {
        for feature in Feature::ALL {
            let happens = peers::try_out(column, feature, desk()).await;
            let cell = table.remove(&(feature.name().to_owned(), column.name().to_owned()));
            if cell.as_deref() != Some(happens) {
                let (feature, column) = (feature.name(), column.name());
                wrong.push(format!("{feature}, {column}: {happens}, not {cell:?}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0], "{wrong:#?}");
    assert!(table.is_empty(), "cells that nothing tests: {table:?}");
}
