//! Every answer reaches the call it belongs to.

use std::process::Command;

#[test]
fn answers_do_not_mix() {
    let output = Command::new(env!("CARGO_BIN_EXE_parallel"))
        .output()
        .expect("it runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    let expected: Vec<_> = (1..=8)
        .map(|ship| format!("ship {ship} is Aurora {ship}"))
        .collect();
    assert_eq!(lines, expected);
}
