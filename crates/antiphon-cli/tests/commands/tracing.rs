//! `--trace`, `--jsonl` and `--verbose`: what goes over the wire.

use serde_json::{Value, json};

use crate::{
    demo::over_stdio,
    room::{ANTIPHON, Room},
    served::{Says, Served},
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

/// What a server did not read it may refuse under an id of its own.
#[test]
fn a_refusal_under_another_id_is_a_leg() {
    let room = Room::new();
    for id in [json!("server-error"), json!(null), json!(77)] {
        let refused = json!({
            "jsonrpc": "2.0", "id": id, "error": { "code": -32600, "message": "Bad Request" },
        });
        let served = Served::script(move |message| match message["method"].as_str() {
            Some("initialize") => Says::Result(json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "serverInfo": { "name": "scripted", "version": "9" },
            })),
            _ => {
                let kind = vec![("content-type", "application/json".to_owned())];
                Says::Raw(400, kind, refused.to_string())
            }
        });
        let ran = room.run(&["inspect", &served.url, "--trace"]);
        let legs: Vec<_> = ran.err.lines().map(str::trim_start).collect();
        let probe = legs
            .iter()
            .position(|leg| leg.starts_with("-> server/discover"));
        let answer = legs[probe.expect("a probe") + 1];
        let id = id.as_str().map_or(id.to_string(), str::to_owned);
        let id = id.trim_matches('"');
        assert_eq!(answer, format!("<- [{id}] error -32600 Bad Request"));
    }
}

/// Each thing once.
#[cfg(unix)]
#[test]
fn what_is_said_beside_messages_is_told_once() {
    let room = Room::new();
    let says = "echo 'no key' >&2; echo 'no \u{1b}message'; echo; exit 3";
    let inspect = ["inspect", "-v", "--", "sh", "-c", says];
    // One that leaves when it is probed is started once more, and greeted.
    let ran = room.run(&inspect).ends(3);
    let exits = ran.err.matches("exited with status 3").count();
    assert_eq!((exits, ran.err.lines().count()), (1, 5), "{}", ran.err);

    let ran = room.run(&[&["inspect", "--legacy"], &inspect[1..]].concat());
    let ran = ran.ends(3);
    let mut lines: Vec<_> = ran.err.lines().collect();
    let last = lines.pop().expect("a line");
    assert!(last.starts_with("antiphon: "), "{}", ran.err);
    assert!(
        last.ends_with("the server exited with status 3"),
        "{}",
        ran.err
    );
    lines.sort_unstable();
    let told = [r"antiphon: no message: no \u{1b}message", "server| no key"];
    assert_eq!(lines, told);

    // A way that fails is what the command ends with.
    let ran = room.run(&["inspect", "-v", "http://127.0.0.1:1/mcp"]);
    assert_eq!(ran.ends(3).err.lines().count(), 1);
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
    assert_eq!(verbose.err, "server| all \\u{1b}[2Jwell\n");
    // Neither its own colours nor ours.
    assert!(!verbose.err.contains('\u{1b}'), "{:?}", verbose.err);
}
