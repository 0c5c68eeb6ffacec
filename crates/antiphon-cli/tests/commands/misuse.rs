//! Files that are no paused calls.

use std::fs;

use crate::{
    demo::Demo,
    room::{Room, Running, only},
};

#[test]
fn a_file_that_is_no_paused_call_is_left_alone() {
    let (room, demo) = (Room::new(), Demo::start());
    room.run(&["call", &demo.url, "deploy", "env=prod"])
        .ends(20);
    let file = only(&room, ".paused.json");
    let whole = room.read(&file);
    fs::remove_file(room.path(&file)).expect("a file");
    let truncated = &whole[..whole.len() / 2];
    let newer = whole.replacen("\"antiphon\": 1", "\"antiphon\": 2", 1);
    let other = whole.replacen("\"kind\": \"paused\"", "\"kind\": \"wish\"", 1);
    let nobody = whole.replacen("\"url\"", "\"carrier\"", 1);
    let huge = format!("{}{}", whole, " ".repeat(80 << 20));
    let deep = "[".repeat(100_000);
    for (what, text) in [
        ("empty", ""),
        ("truncated", truncated),
        ("of a newer format", &newer),
        ("of another kind", &other),
        ("for nobody", &nobody),
        (
            "foreign",
            "{\"name\": \"left-pad\", \"version\": \"1.0.0\"}",
        ),
        ("not JSON", "\u{1b}]0;owned\u{7} hello"),
        ("a list", "[1, 2]"),
        ("null", "null"),
        ("deep", &deep),
        ("huge", &huge),
    ] {
        room.write("bad.json", text);
        for words in [
            &["show", "bad.json"][..],
            &["show", "bad.json", "--json"],
            &["resume", "bad.json", "confirm=true"],
        ] {
            let ran = room.run(words);
            assert_eq!(ran.code, 2, "{what}: {ran:?}");
            let ran = ran.fails(2, "bad.json");
            assert!(!ran.err.contains('\u{1b}'), "{what}: {}", ran.err);
        }
        assert_eq!(room.files(), ["bad.json"], "{what}");
        assert_eq!(room.read("bad.json").len(), text.len(), "{what}");
    }
    room.write("bad.json", [0xff, 0xfe, 0, 0x9b]);
    room.run(&["show", "bad.json"]).fails(2, "bad.json");
    room.run(&["show", "absent.json"]).fails(2, "absent.json");
    room.run(&["resume", "absent.json"]).fails(2, "absent.json");
    room.run(&["show", "."]).fails(2, ".");
    room.run(&["resume", "."]).fails(2, ".");
    room.run(&["show"]).ends(2);
}

#[cfg(unix)]
#[test]
fn no_file_is_read_for_ever() {
    let room = Room::new();
    let at = "http://127.0.0.1:1/mcp";
    for words in [
        &["call", at, "x", "--args", "@/dev/zero"][..],
        &["call", at, "x", "--answers", "/dev/zero"],
        &["call", "shop", "x", "--config", "/dev/zero"],
    ] {
        room.run(words).fails(2, "it is larger than 16 MiB");
    }
    room.run(&["call", at, "x", "--bearer", "@/dev/zero"])
        .fails(2, "--bearer @/dev/zero: it is larger than 64 KiB");
    let endless = fs::File::open("/dev/zero").expect("a device");
    let mut command = room.command(&["call", at, "x", "--args", "@-"]);
    let ran = Running::start(command.stdin(endless)).wait();
    ran.fails(2, "standard input: it is larger than 16 MiB");
}

#[test]
fn a_state_that_somebody_changed_is_not_accepted() {
    let (room, demo) = (Room::new(), Demo::start());
    room.run(&["call", &demo.url, "deploy", "env=staging"])
        .ends(20);
    let file = only(&room, ".paused.json");
    // The arguments are bound to the state.
    let changed = room.read(&file).replace("staging", "prod");
    room.write(&file, changed);
    let ran = room
        .run(&["resume", &file, "confirm=true"])
        .fails(21, "any more");
    assert!(!ran.out.contains("Deployed"));
}

/// To open a pipe is to wait for who writes to it, and that may be nobody.
#[cfg(unix)]
#[test]
fn what_is_no_plain_file_is_not_waited_for() {
    let room = Room::new();
    let mut made = std::process::Command::new("mkfifo");
    made.arg(room.path("pipe"));
    assert!(made.status().expect("mkfifo runs").success());
    fs::create_dir(room.path("directory")).expect("a directory");
    for command in ["show", "resume"] {
        for file in ["pipe", "directory", "/dev/zero"] {
            room.run(&[command, file]).fails(2, "no plain file");
        }
    }
    assert_eq!(room.files(), ["directory", "pipe"]);
}
