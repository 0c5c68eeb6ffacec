//! `--answers`, `--strict`, `--root`, `--sampler`: who answers when nobody is there.

use serde_json::json;

use crate::{
    demo::{Demo, over_stdio},
    room::{ANTIPHON, Room, only},
};

#[test]
fn rules_are_chosen_by_server_tool_key_and_schema() {
    let (room, demo) = (Room::new(), Demo::start());
    let yes = "accept = { confirm = true }";
    let origin = demo.url.trim_end_matches("mcp");
    for (condition, is_for) in [
        (String::new(), true),
        (format!("server = '{origin}*'"), true),
        (format!("server = '{}'", demo.url), true),
        ("server = 'https://other.example/*'".to_owned(), false),
        ("tool = 'deploy'".to_owned(), true),
        ("tool = 'dep*'".to_owned(), true),
        ("tool = 'charge'".to_owned(), false),
        ("prompt = 'deploy'".to_owned(), false),
        ("key = 'confirm'".to_owned(), true),
        ("key = 'other'".to_owned(), false),
        ("kind = 'form'".to_owned(), true),
        (
            "schema = { properties = { confirm = { type = 'boolean' } } }".to_owned(),
            true,
        ),
        (
            "schema = { properties = { confirm = { type = 'string' } } }".to_owned(),
            false,
        ),
    ] {
        room.write("a.toml", format!("[[answer]]\n{condition}\n{yes}\n"));
        let words = [
            "call",
            &demo.url,
            "deploy",
            "env=prod",
            "--answers",
            "a.toml",
            "--save",
        ];
        let ran = room.run(&[&words[..], &["waiting"]].concat());
        match is_for {
            true => {
                let ran = ran.ends(0);
                assert_eq!(ran.out, "Deployed to prod\n", "{condition}");
                assert_eq!(
                    ran.err, "answered [confirm] by rule 1 of a.toml: accept {\"confirm\":true}\n",
                    "{condition}"
                );
            }
            false => {
                let ran = ran.ends(20);
                assert_eq!(ran.out, "", "{condition}");
                std::fs::remove_file(room.path("waiting")).expect("it was saved");
            }
        }
    }
}

#[test]
fn rules_may_be_json_and_decline_or_cancel() {
    let room = Room::new();
    for (file, text, expected) in [
        (
            "a.json",
            r#"{"answer": [{"tool": "deploy", "decline": true}]}"#,
            "Deployment to prod cancelled",
        ),
        (
            "b.json",
            r#"[{"cancel": true}]"#,
            "Deployment to prod cancelled",
        ),
        (
            "c",
            r#"[{"accept": {"confirm": true}}]"#,
            "Deployed to prod",
        ),
        (
            "d.toml",
            "[[answer]]\nkey = 'no'\ncancel = true\n[[answer]]\naccept = { confirm = false }",
            "Deployment to prod cancelled",
        ),
    ] {
        room.write(file, text);
        for era in [&[][..], &["--legacy"]] {
            let words = [&["call", "deploy", "env=prod", "--answers", file], era].concat();
            let ran = room.run(&over_stdio(&words)).ends(0);
            assert_eq!(ran.out.trim_end(), expected, "{file} {era:?}");
            assert!(ran.err.contains(&format!("of {file}: ")), "{ran:?}");
        }
    }
}

#[test]
fn every_round_is_answered() {
    let room = Room::new();
    room.write(
        "a.toml",
        "[[answer]]\nkey = 'name'\naccept = { name = 'Ada' }\n\
         [[answer]]\nkey = 'age'\naccept = { age = 36 }\n",
    );
    let words = over_stdio(&["call", "wizard", "--answers", "a.toml", "--strict"]);
    let ran = room.run(&words).ends(0);
    assert_eq!(ran.out, "Welcome, Ada! You are 36 years old.\n");
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
}

#[test]
fn strict_refuses_what_no_rule_answers_and_rules_that_answer_nothing() {
    let room = Room::new();
    room.write("none.toml", "[[answer]]\nkey = 'other'\ndecline = true\n");
    let words = [
        "call",
        "deploy",
        "env=prod",
        "--strict",
        "--answers",
        "none.toml",
    ];
    let ran = room.run(&over_stdio(&words)).ends(20);
    assert!(ran.err.starts_with("antiphon: --strict: "), "{}", ran.err);
    let file = only(&room, ".paused.json");
    assert!(ran.err.contains(&file), "{}", ran.err);
    std::fs::remove_file(room.path(&file)).expect("saved");

    room.write(
        "both.toml",
        "[[answer]]\nkey = 'confirm'\naccept = { confirm = true }\n\
         [[answer]]\nkey = 'other'\ndecline = true\n",
    );
    let words = [
        "call",
        "deploy",
        "env=prod",
        "--strict",
        "--answers",
        "both.toml",
    ];
    let ran = room.run(&over_stdio(&words)).ends(2);
    // The result is there all the same.
    assert_eq!(ran.out, "Deployed to prod\n");
    assert!(ran.err.contains("rule 2 of both.toml"), "{}", ran.err);
    assert_eq!(room.files(), ["both.toml", "none.toml"]);

    let words = ["call", "deploy", "env=prod", "--strict"];
    room.run(&over_stdio(&words)).ends(2);
}

#[test]
fn a_rule_that_does_not_fit_is_a_mistake_and_the_call_is_kept() {
    let room = Room::new();
    for answer in [
        "accept = { confirm = 'perhaps' }",
        "accept = { other = true }",
        "accept = true",
        "sample = 'yes'",
    ] {
        room.write("a.toml", format!("[[answer]]\ntool = 'deploy'\n{answer}\n"));
        let words = ["call", "deploy", "env=prod", "--answers", "a.toml"];
        let ran = room.run(&over_stdio(&words)).fails(2, "rule 1 of a.toml");
        let file = only(&room, ".paused.json");
        assert!(ran.err.contains(&file), "{}", ran.err);
        std::fs::remove_file(room.path(&file)).expect("kept");
        // There is nothing to keep of a session that cannot wait.
        let words = [&words[..], &["--legacy"]].concat();
        room.run(&over_stdio(&words)).fails(2, "rule 1 of a.toml");
        assert_eq!(room.files(), ["a.toml"]);
    }
}

#[test]
fn malformed_rules_are_told_before_anything_is_done() {
    let room = Room::new();
    let url = "http://127.0.0.1:1/mcp";
    for (name, text, says) in [
        ("a.toml", "[[answer]", "line 1"),
        ("a.toml", "", "no rules"),
        ("a.toml", "[[answer]]\n", "rule 1"),
        (
            "a.toml",
            "[[answer]]\naccept = true\ndecline = true",
            "rule 1",
        ),
        ("a.toml", "[[answer]]\nkee = 'x'\naccept = true", "kee"),
        ("a.toml", "[[answer]]\nkey = 7\naccept = true", "key"),
        ("a.toml", "[[rule]]\naccept = true", "rule"),
        (
            "a.toml",
            "[[answer]]\nserver = 'https://shop.example.com*'\naccept = true",
            "hosts of others",
        ),
        ("a.json", "[", "JSON"),
        ("a.json", "7", "list"),
        ("a.json", r#"[{"kind": "magic", "accept": true}]"#, "magic"),
        ("a.json", r#"{"answer": {}}"#, "list"),
        ("a.json", "\u{1b}[31m", "JSON"),
    ] {
        room.write(name, text);
        let words = ["call", url, "deploy", "--answers", name];
        let ran = room.run(&words).fails(2, says);
        assert!(ran.err.contains(name), "{}", ran.err);
        std::fs::remove_file(room.path(name)).expect("written");
    }
    room.run(&["call", url, "deploy", "--answers", "absent.toml"])
        .fails(2, "absent.toml");
    assert_eq!(room.files(), [""; 0]);
}

#[test]
fn roots_are_told() {
    let room = Room::new();
    std::fs::create_dir(room.path("src dir")).expect("a directory");
    for era in [&[][..], &["--legacy"]] {
        let words = [
            &["call", "workspace", "--root", "src dir", "--root", "."],
            era,
        ]
        .concat();
        let ran = room.run(&over_stdio(&words)).ends(0);
        assert!(ran.out.starts_with("2 root(s): file:///"), "{}", ran.out);
        assert!(ran.out.contains("/src%20dir"), "{}", ran.out);
        assert!(ran.err.contains("answered [") && ran.err.contains("by the command line"));
    }
    room.run(&over_stdio(&["call", "workspace", "--root", "absent"]))
        .fails(2, "absent");
}

#[test]
fn a_command_answers_for_the_model() {
    let (room, demo) = (Room::new(), Demo::start());
    // Any program that says something will do.
    let sampler = format!("'{ANTIPHON}' keygen --json");
    for era in [&[][..], &["--legacy"]] {
        let call = ["call", &demo.url, "summarize", "text=Long.", "--sampler"];
        let ran = room.run(&[&call[..], &[&sampler], era].concat());
        let ran = ran.ends(0);
        assert!(ran.out.starts_with("Summary: "), "{}", ran.out);
        assert!(ran.err.contains("answered [") && ran.err.contains("by the sampler"));
    }
    // One that fails answers nothing: the call waits.
    let fails = format!("'{ANTIPHON}' show absent");
    let call = [
        "call",
        &demo.url,
        "summarize",
        "text=Long.",
        "--sampler",
        &fails,
    ];
    let ran = room.run(&call).ends(20);
    assert!(ran.err.contains("absent"), "{}", ran.err);
    let file = only(&room, ".paused.json");
    let done = room.run(&["resume", &file, "summary=Short."]).done();
    assert_eq!(done, "Summary: Short.\n");
    room.run(&[
        "call",
        &demo.url,
        "summarize",
        "text=x",
        "--sampler",
        "'open",
    ])
    .fails(2, "--sampler");
}

#[test]
fn what_cannot_be_answered_here_is_refused_by_nobody() {
    let room = Room::new();
    let words = over_stdio(&["call", "client_features", "--json"]);
    let features = room.run(&words).ends(0).json();
    let features = features["structuredContent"]["features"].clone();
    for feature in ["elicitation", "elicitation.url", "sampling", "roots"] {
        let listed = features.as_array().expect("a list");
        assert!(listed.contains(&json!(feature)), "{feature}: {features}");
    }
}
