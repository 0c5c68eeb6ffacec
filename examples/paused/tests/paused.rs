//! Two processes, and a file between them.

use std::{path::Path, process::Command};

fn paused(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_paused"))
        .args(words)
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{text}{errors}");
    text
}

#[test]
fn one_process_asks_and_another_answers() {
    for (word, outcome) in [("yes", "Ordered Dune."), ("no", "Nothing was ordered.")] {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{word}.json"));
        let path = file.to_str().expect("UTF-8");
        let text = paused(&["start", path]);
        assert!(text.contains("paused serve asks `confirm`"), "{text}");
        assert!(text.contains("Order Dune?"), "{text}");
        assert!(file.exists());
        assert_eq!(paused(&["answer", path, word]).trim(), outcome);
        assert!(!file.exists());
    }
}
