//! Ctrl-C: the call is withdrawn, and nothing is left behind.
#![cfg(unix)]

use std::sync::atomic::Ordering;

use serde_json::json;

use crate::{
    demo::{Demo, over_stdio},
    room::{ANTIPHON, Room, Running, until},
    served::{Says, Served, discovered},
    shop::{self, Stuck},
};

#[test]
fn a_server_that_works_is_told() {
    for era in [&[][..], &["--legacy"]] {
        let (room, stuck) = (Room::new(), Stuck::default());
        let served = Served::server(shop::server(&stuck));
        let words = [&["call", &served.url, "stuck"], era].concat();
        let running = Running::start(&mut room.command(&words));
        until("it is called", || stuck.called.load(Ordering::SeqCst));
        running.interrupt();
        running.wait().fails(130, "interrupted");
        until("the work is dropped", || {
            stuck.dropped.load(Ordering::SeqCst)
        });
        assert_eq!(room.files(), [""; 0]);
    }
}

#[test]
fn whatever_is_waited_for() {
    // One that says nothing at all, and one that says nothing after its greeting.
    let silent = Served::script(|_| Says::Silence);
    let greets = Served::script(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(&json!({ "tools": {}, "prompts": {} })),
        _ => Says::Silence,
    });
    for served in [&silent, &greets] {
        for command in [
            &["call", "TOOL"][..],
            &["call", "TOOL", "a=b"],
            &["prompt", "P"],
            &["read", "a://b"],
            &["inspect"],
            &["complete", "P", "a=b"],
            &["listen"],
        ] {
            let room = Room::new();
            let before = served.heard().len();
            let words = [&[command[0], &served.url], &command[1..]].concat();
            let running = Running::start(&mut room.command(&words));
            let asked = if std::ptr::eq(served, &silent) { 1 } else { 2 };
            until("it waits", || served.heard().len() >= before + asked);
            running.interrupt();
            running.wait().fails(130, "interrupted");
        }
    }
}

#[test]
fn a_call_that_is_resumed() {
    let (room, demo) = (Room::new(), Demo::start());
    let words = [
        "call",
        &demo.url,
        "report",
        "rounds=200",
        "--timeout",
        "poll=60ms",
    ];
    room.run(&words).ends(5);
    let file = crate::room::only(&room, ".paused.json");
    let done = room.path(&format!("{file}.done"));
    let running = Running::start(&mut room.command(&["resume", &file]));
    until("it goes on", || done.exists());
    running.interrupt();
    let ran = running.wait().fails(130, "interrupted");
    assert!(
        ran.err.contains(".done"),
        "how to send it again: {}",
        ran.err
    );
    // A server that is not there yet: nothing was taken.
    let silent = Served::script(|_| Says::Silence);
    std::fs::rename(&done, room.path(&file)).expect("renamed");
    let words = ["resume", &file, "--target", &silent.url];
    let running = Running::start(&mut room.command(&words));
    until("it waits", || !silent.heard().is_empty());
    running.interrupt();
    running.wait().fails(130, "interrupted");
    assert_eq!(room.files(), [file]);
}

/// The children of a process.
#[cfg(target_os = "linux")]
fn children(process: u32) -> Vec<u32> {
    let path = format!("/proc/{process}/task/{process}/children");
    let children = std::fs::read_to_string(path).unwrap_or_default();
    let children = children.split_whitespace();
    children
        .map(|child| child.parse().expect("a process"))
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn no_child_is_left_behind() {
    let (room, demo) = (Room::new(), Demo::start());
    let silent = format!("'{ANTIPHON}' listen {}", demo.url);
    for command in [
        &["call", "report", "rounds=255"][..],
        &["call", "report", "rounds=255", "--legacy"],
        &["listen"],
        &["call", "summarize", "text=x", "--sampler", &silent],
    ] {
        let words = over_stdio(&[command, &["--jsonl", "log"]].concat());
        let running = Running::start(&mut room.command(&words));
        let log = room.path("log");
        let method = match command[0] {
            "call" => "tools/call",
            _ => "subscriptions/listen",
        };
        until("it is asked", || {
            let log = std::fs::read_to_string(&log).unwrap_or_default();
            log.contains(method)
        });
        let process = running.id();
        let wanted = if command.contains(&"--sampler") { 2 } else { 1 };
        until("its children run", || children(process).len() >= wanted);
        let children = children(process);
        running.interrupt();
        running.wait().ends_with(130, "antiphon: interrupted");
        for child in children {
            let gone = format!("/proc/{child}");
            until("the child is gone", || {
                !std::path::Path::new(&gone).exists()
            });
        }
        std::fs::remove_file(&log).expect("written");
    }
    assert_eq!(room.files(), [""; 0]);
}

/// One that was never greeted, either.
#[cfg(target_os = "linux")]
#[test]
fn a_child_that_says_nothing_is_not_left_behind() {
    let (room, demo) = (Room::new(), Demo::start());
    for command in [&["inspect"][..], &["call", "TOOL"], &["listen"]] {
        let server = ["--", ANTIPHON, "listen", &demo.url];
        let words = [command, &server].concat();
        let running = Running::start(&mut room.command(&words));
        let process = running.id();
        until("its child runs", || !children(process).is_empty());
        let children = children(process);
        running.interrupt();
        running.wait().fails(130, "interrupted");
        for child in children {
            let gone = format!("/proc/{child}");
            until("the child is gone", || {
                !std::path::Path::new(&gone).exists()
            });
        }
    }
}

/// A server that neither ends with its input nor when it is asked to.
#[cfg(target_os = "linux")]
const STUBBORN: [&str; 4] = [
    "--",
    "sh",
    "-c",
    "trap '' TERM; \"$0\" demo --stdio; while :; do sleep 0.1; done",
];

/// Whoever has seen the result need not wait for a server that does not end.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_does_not_end_is_killed_at_once() {
    let room = Room::new();
    let call = ["call", "new_database", "--strict", "--answers", "none.json"];
    room.write("none.json", "[]");
    let words = [&call[..], &STUBBORN, &[ANTIPHON]].concat();
    let running = Running::start(&mut room.command(&words));
    let process = running.id();
    until("the call waits in its file", || room.files().len() > 1);
    let children = children(process);
    assert_eq!(children.len(), 1);
    let start = std::time::Instant::now();
    running.interrupt();
    running.wait().ends(20);
    assert!(
        start.elapsed() < std::time::Duration::from_secs(1),
        "it waited"
    );
    for child in children {
        let gone = format!("/proc/{child}");
        until("the child is gone", || {
            !std::path::Path::new(&gone).exists()
        });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn who_is_asked_to_end_ends_in_good_order() {
    let room = Room::new();
    let words = [
        &["call", "report", "rounds=255"][..],
        &STUBBORN,
        &[ANTIPHON],
    ]
    .concat();
    let running = Running::start(&mut room.command(&words));
    let process = running.id();
    until("its child runs", || !children(process).is_empty());
    let children = children(process);
    running.send(nix::sys::signal::Signal::SIGTERM);
    running.wait().fails(130, "interrupted");
    for child in children {
        let gone = format!("/proc/{child}");
        until("the child is gone", || {
            !std::path::Path::new(&gone).exists()
        });
    }
}
