//! The demo as a new user runs it.

use std::process::{Command, Stdio};

#[test]
fn the_demo_plays_without_a_terminal() {
    let output = Command::new(env!("CARGO_BIN_EXE_antiphon"))
        .arg("demo")
        .stdin(Stdio::null())
        .output()
        .expect("antiphon runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}");
    for part in [
        "input_required",
        "Ordered 2 copies of",
        "Invalid or expired requestState",
    ] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
    // Once when it was ordered and once when the result was asked for again.
    assert_eq!(text.matches("as order number 1.").count(), 2, "{text}");
    assert_eq!(text.matches("-32602").count(), 2, "{text}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_wrong_word_is_explained() {
    let output = Command::new(env!("CARGO_BIN_EXE_antiphon"))
        .arg("dem")
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(text.contains("'demo'"), "{text}");
}

#[test]
fn a_reader_may_leave_early() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_antiphon"))
        .arg("demo")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("antiphon runs");
    drop(demo.stdout.take());
    let output = demo.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{text}");
    assert_eq!(text, "");
}

/// What was not written is not done; only who has read enough is content.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let full = std::fs::File::create("/dev/full").expect("a device of Linux");
    let output = Command::new(env!("CARGO_BIN_EXE_antiphon"))
        .arg("demo")
        .stdin(Stdio::null())
        .stdout(full)
        .output()
        .expect("antiphon runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("cannot write"), "{told}");
}
