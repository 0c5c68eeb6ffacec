//! `antiphon call`, `prompt`, `read` and `complete`: what is printed of a result.

use serde_json::json;

use crate::{
    demo::over_stdio,
    room::Room,
    shop::{self, PNG},
};

#[test]
fn text_is_printed_and_nothing_else() {
    let (room, shop) = (Room::new(), shop::open());
    for (words, expected) in [
        (
            ["prompt", &shop.url, "review", "title=Dune"],
            "Review Dune in a plain tone.",
        ),
        (
            ["read", &shop.url, "shop://about", "--trace"],
            "A book shop.",
        ),
        (
            ["read", &shop.url, "shop://books/Emma", "--unescaped"],
            "About Emma.",
        ),
        (["call", &shop.url, "busy", "--log=off"], "busy no more"),
    ] {
        let printed = room.run(&words).done();
        assert!(printed.contains(expected), "{words:?}: {printed}");
    }
    let printed = room.run(&["call", &shop.url, "busy"]).ends(0);
    assert_eq!(printed.out, "busy no more\n");
}

/// What was not written is not done.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let (room, shop) = (Room::new(), shop::open());
    for words in [
        ["call", &shop.url, "busy", "--log=off"],
        ["inspect", &shop.url, "--json", "--log=off"],
        ["read", &shop.url, "shop://about", "--json"],
    ] {
        let full = std::fs::File::create("/dev/full").expect("a device of Linux");
        let mut command = room.command(&words);
        let output = command.stdout(full).output().expect("antiphon runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {told}");
        assert!(told.contains("cannot write"), "{told}");
    }
}

#[test]
fn json_is_the_result_as_the_server_sent_it() {
    let (room, shop) = (Room::new(), shop::open());
    let order = room.run(&[
        "call",
        &shop.url,
        "order",
        "title=Dune",
        "copies=1",
        "--json",
    ]);
    let order = order.ends(0).json();
    assert_eq!(order["structuredContent"]["title"], "Dune");
    assert_eq!(order["content"][0]["type"], "text");
    let prompt = room.run(&["prompt", &shop.url, "review", "title=Dune", "--json"]);
    let prompt = prompt.ends(0).json();
    assert_eq!(prompt["messages"][0]["role"], "user");
    assert_eq!(
        prompt["messages"][0]["content"]["text"],
        "Review Dune in a plain tone."
    );
    let about = room.run(&["read", &shop.url, "shop://about", "--json"]);
    let about = about.ends(0).json();
    assert_eq!(about["contents"][0]["uri"], "shop://about");
    assert_eq!(about["contents"][0]["text"], "A book shop.");
    let failed = room.run(&["call", &shop.url, "fail", "--json"]).ends(1);
    assert_eq!(failed.json()["isError"], true);
    assert_eq!(failed.err, "");
}

#[test]
fn a_tool_that_fails_has_its_text_printed_harmlessly() {
    let (room, shop) = (Room::new(), shop::open());
    let failed = room.run(&["call", &shop.url, "fail"]).ends(1);
    assert!(
        failed.out.contains(r"sold out: \u{1b}[2Jnothing left"),
        "{failed:?}"
    );
    let raw = room
        .run(&["call", &shop.url, "fail", "--unescaped"])
        .ends(1);
    assert!(raw.out.contains("sold out: \u{1b}[2Jnothing"), "{raw:?}");
}

#[test]
fn bytes_become_files() {
    let (room, shop) = (Room::new(), shop::open());
    std::fs::create_dir(room.path("covers")).expect("a directory");
    for (words, file) in [
        (vec!["read", &shop.url, "shop://cover.png"], "cover.png"),
        (
            vec!["read", &shop.url, "shop://cover.png", "--out", "covers"],
            "covers/cover.png",
        ),
        (vec!["call", &shop.url, "picture"], "picture-1.png"),
        (
            vec!["call", &shop.url, "picture", "--out", "new/er"],
            "new/er/picture-1.png",
        ),
    ] {
        let ran = room.run(&words).ends(0);
        let bytes = std::fs::read(room.path(file));
        let bytes = bytes.unwrap_or_else(|error| panic!("{file}: {error}\n{ran:?}"));
        assert_eq!(bytes, PNG);
        let name = file.rsplit('/').next().expect("a name");
        assert!(format!("{}{}", ran.out, ran.err).contains(name), "{ran:?}");
    }
    // Nothing is written over.
    room.run(&["read", &shop.url, "shop://cover.png"]).ends(0);
    let files = room.files();
    let covers = files.iter().filter(|name| name.starts_with("cover"));
    assert_eq!(covers.count(), 3, "{files:?}");
    // In JSON they stay what they are.
    let json = room.run(&["read", &shop.url, "shop://cover.png", "--json"]);
    assert!(json.ends(0).json()["contents"][0]["blob"].is_string());
    assert_eq!(room.files(), files);
}

#[test]
fn arguments_are_completed() {
    let (room, shop) = (Room::new(), shop::open());
    for (words, expected) in [
        (["review", "title=Du", "tone=plain"], "Dune\nDubliners\n"),
        (["shop://books/{title}", "title=E", "x=y"], "Emma\n"),
        (["review", "title=zz", "x=y"], ""),
    ] {
        let words = [&["complete", &shop.url], &words[..]].concat();
        assert_eq!(room.run(&words).done(), expected, "{words:?}");
        let json = room.run(&[&words[..], &["--json"]].concat()).ends(0).json();
        let values: Vec<_> = expected.lines().collect();
        assert_eq!(json["values"], json!(values));
    }
    for words in [&["review"][..], &["review", "title"], &[]] {
        let words = [&["complete", &shop.url], words].concat();
        room.run(&words).fails(2, "");
    }
}

#[test]
fn logs_and_progress_go_to_standard_error() {
    let (room, shop) = (Room::new(), shop::open());
    for (level, told, silent) in [
        (
            "debug",
            &["debug: quietly", "warning: careful"][..],
            &[][..],
        ),
        ("info", &["warning: careful"], &["quietly"]),
        ("error", &[], &["careful"]),
    ] {
        let ran = room
            .run(&["call", &shop.url, "busy", "--log", level])
            .ends(0);
        assert_eq!(ran.out, "busy no more\n");
        for part in told {
            assert!(ran.err.contains(part), "{level}: {}", ran.err);
        }
        for part in silent {
            assert!(!ran.err.contains(part), "{level}: {}", ran.err);
        }
    }
}

#[test]
fn commands_work_over_stdio_and_with_older_servers() {
    let room = Room::new();
    for era in [&[][..], &["--legacy"], &["--protocol", "2025-06-18"]] {
        let call = over_stdio(&[&["call", "report", "rounds=2"], era].concat());
        let printed = room.run(&call).done();
        assert_eq!(printed, "Done after 2 round(s)\n", "{era:?}");
        for (command, answer, expected) in [
            (
                &["prompt", "brief", "topic=x"][..],
                "audience = 'us'",
                "Write a brief on x for us.",
            ),
            (
                &["read", "vault://7"],
                "reason = 'why not'",
                "Vault 7, opened because: why not",
            ),
        ] {
            room.write(
                "answers.toml",
                format!("[[answer]]\naccept = {{ {answer} }}\n"),
            );
            let words = [command, era, &["--answers", "answers.toml"]].concat();
            let printed = room.run(&over_stdio(&words)).done();
            assert!(printed.contains(expected), "{words:?}: {printed}");
        }
    }
}
