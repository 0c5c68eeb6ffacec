//! `--trace`, `--jsonl` and `--verbose`: what goes over the wire.

use serde_json::Value;

use crate::{
    demo::over_stdio,
    room::{ANTIPHON, Room},
};

#[test]
fn legs_are_shown_and_messages_are_kept() {
    let room = Room::new();
    room.write("a.toml", "[[answer]]\naccept = { confirm = true }\n");
    for (file, era) in [("new.jsonl", &[][..]), ("old.jsonl", &["--legacy"])] {
        let words = ["call", "deploy", "env=prod", "--answers", "a.toml"];
        let words = [&words[..], &["--trace", "--jsonl", file], era].concat();
        let ran = room.run(&over_stdio(&words)).ends(0);
        assert_eq!(ran.out, "Deployed to prod\n");
        let call = r#"-> tools/call deploy {"env":"prod"}"#;
        assert!(ran.err.contains(call), "{}", ran.err);
        if era.is_empty() {
            for part in ["<- input_required [confirm] state ", "<- complete"] {
                assert!(ran.err.contains(part), "{part}\n{}", ran.err);
            }
        }
        let lines = room.read(file);
        let lines: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect();
        let ways = |way: &str| lines.iter().filter(|line| line["way"] == way).count();
        assert_eq!(ways("sent") + ways("received"), lines.len());
        let called = lines
            .iter()
            .filter(|line| line["way"] == "sent" && line["message"]["method"] == "tools/call");
        assert_eq!(called.count(), if era.is_empty() { 2 } else { 1 });
        for line in &lines {
            let at = line["at"].as_str().expect("a time");
            assert!(at.starts_with("20") && at.ends_with('Z'), "{at}");
            assert_eq!(line["message"]["jsonrpc"], "2.0", "{line}");
        }
        #[cfg(unix)]
        assert_eq!(crate::room::mode(&room.path(file)), 0o600);
    }
    // It is never written over.
    let before = room.read("new.jsonl");
    room.run(&over_stdio(&["inspect", "--jsonl", "new.jsonl"]))
        .fails(2, "new.jsonl");
    assert_eq!(room.read("new.jsonl"), before);
}

#[cfg(unix)]
#[test]
fn a_child_is_heard_by_who_wants_to() {
    let room = Room::new();
    // It says something on its standard error, and goes on.
    let says = format!("echo 'all \u{1b}[2Jwell' >&2; exec '{ANTIPHON}' demo --stdio");
    let server = ["--", "sh", "-c", &says];
    let quiet = room.run(&[&["inspect"], &server[..]].concat()).ends(0);
    assert_eq!(quiet.err, "");
    let verbose = room.run(&[&["inspect", "--verbose"], &server[..]].concat());
    let verbose = verbose.ends(0);
    assert!(verbose.err.contains("all "), "{}", verbose.err);
    // Neither its own colours nor ours.
    assert!(!verbose.err.contains('\u{1b}'), "{:?}", verbose.err);
}
