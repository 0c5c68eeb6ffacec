//! A call that waits: its file, and how somebody goes on with it.

use std::{fs, process::Command};

use serde_json::json;

use crate::{
    demo::{Demo, STDIO, over_stdio},
    room::{Ran, Room, Running, only, words},
    served::{Says, Served, discovered},
};

/// Calls this, which has to wait; the file.
#[track_caller]
fn paused(room: &Room, call: &[&str]) -> String {
    room.run(call).ends(20);
    only(room, ".paused.json")
}

#[test]
fn a_call_waits_in_a_file_and_goes_on() {
    let (room, demo) = (Room::new(), Demo::start());
    let ran = room
        .run(&["call", &demo.url, "deploy", "env=prod"])
        .ends(20);
    assert_eq!(ran.out, "");
    let file = only(&room, ".paused.json");
    assert!(file.starts_with("deploy-"), "{file}");
    assert_eq!(ran.command("antiphon resume"), ["resume", &file]);
    for part in [
        "[confirm] a form",
        "  | Deploy to prod?",
        "confirm  boolean, required",
        &file,
    ] {
        assert!(ran.err.contains(part), "{part}\n{}", ran.err);
    }
    #[cfg(unix)]
    assert_eq!(crate::room::mode(&room.path(&file)), 0o600);

    let shown = room.run(&["show", &file]).done();
    for part in [
        &*demo.url,
        "tools/call deploy",
        r#"{"env":"prod"}"#,
        "Deploy to prod?",
        &file,
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let shown = room.run(&["show", &file, "--json"]).ends(0).json();
    assert_eq!(shown["kind"], "paused");
    assert_eq!(shown["server"], demo.url);
    assert_eq!(shown["call"]["name"], "deploy");
    assert_eq!(shown["round"], 1);
    assert!(shown["questions"]["confirm"]["params"]["message"].is_string());
    assert_eq!(shown["answered"], serde_json::json!([]));
    assert_eq!(shown["resume"], format!("antiphon resume {file}"));

    let done = room.run(&["resume", &file, "confirm=true"]).done();
    assert_eq!(done, "Deployed to prod\n");
    assert_eq!(room.files(), [format!("{file}.done")]);
    for again in [
        &["resume", &file, "confirm=true"][..],
        &["resume", &format!("{file}.done"), "confirm=true"],
        &["show", &file],
    ] {
        room.run(again).fails(2, "resumed already");
    }
    assert_eq!(room.files(), [format!("{file}.done")]);
}

#[test]
fn answers_are_given_in_every_way() {
    let (room, demo) = (Room::new(), Demo::start());
    room.write("yes.toml", "[[answer]]\naccept = { confirm = true }\n");
    let (yes, no) = ("Deployed to prod\n", "Deployment to prod cancelled\n");
    for (answer, expected) in [
        (vec!["confirm=true"], yes),
        (vec!["confirm.confirm=yes"], yes),
        (vec!["confirm:=true"], yes),
        (vec!["confirm=false"], no),
        (vec!["--decline", "confirm"], no),
        (vec!["--cancel", "confirm"], no),
        (vec!["--answers", "yes.toml"], yes),
        (vec!["--answers", "yes.toml", "--strict", "--json"], ""),
        (vec!["--target", &demo.url, "confirm=true"], yes),
    ] {
        let file = paused(&room, &["call", &demo.url, "deploy", "env=prod"]);
        let ran = room
            .run(&[&["resume", &file], &answer[..]].concat())
            .ends(0);
        match expected {
            "" => assert_eq!(ran.json()["content"][0]["text"], "Deployed to prod"),
            expected => assert_eq!(ran.out, expected, "{answer:?}"),
        }
        fs::remove_file(room.path(&format!("{file}.done"))).expect("done");
    }
}

#[test]
fn wrong_answers_leave_the_call_as_it_was() {
    let (room, demo) = (Room::new(), Demo::start());
    let file = paused(&room, &["call", &demo.url, "wizard"]);
    let before = room.read(&file);
    for (answer, says) in [
        (&["nam=Ada"][..], "name"),
        (&["name"], "name"),
        (&["other.name=Ada"], "other.name"),
        (&["name=Ada", "--decline", "name"], "two ways"),
        (&["--decline", "age"], "age"),
        (&["--accept", "name"], "name"),
        (&["--target", "nobody", "name=Ada"], "nobody"),
        (&["name=Ada", "--answers", "absent.toml"], "absent.toml"),
        (&["name=Ada", "--save", &file], "exists"),
    ] {
        room.run(&[&["resume", &file], answer].concat())
            .fails(2, says);
    }
    // Nor does a server that is not there change anything.
    let gone = [
        "resume",
        &file,
        "name=Ada",
        "--target",
        "http://127.0.0.1:1/mcp",
    ];
    room.run(&gone).fails(3, "127.0.0.1:1");
    // Nor one that speaks as calls cannot go on.
    room.run(&["resume", &file, "name=Ada", "--legacy"])
        .fails(2, "2026-07-28");
    assert_eq!(room.read(&file), before);
    assert_eq!(room.files(), [file]);
}

#[test]
fn several_rounds_and_several_questions() {
    let (room, demo) = (Room::new(), Demo::start());
    let first = paused(&room, &["call", &demo.url, "wizard"]);
    let ran = room.run(&["resume", &first, "name=Ada", "--json"]).ends(20);
    let second = only(&room, ".paused.json");
    assert_ne!(first, second);
    let waiting = ran.json();
    assert_eq!(waiting["kind"], "paused");
    assert_eq!(waiting["file"], *second);
    assert_eq!(waiting["resume"], format!("antiphon resume {second}"));
    assert_eq!(waiting["server"], demo.url);
    assert_eq!(waiting["call"]["name"], "wizard");
    let question = &waiting["questions"]["age"]["params"]["message"];
    assert_eq!(question, "How old are you, Ada?");
    assert_eq!(room.run(&["show", &second, "--json"]).json()["round"], 2);
    // A bad number is noticed here.
    room.run(&["resume", &second, "age=200"]).fails(2, "age");
    room.run(&["resume", &second, "age=old"]).fails(2, "age");
    let done = room.run(&["resume", &second, "age=36"]).done();
    assert_eq!(done, "Welcome, Ada! You are 36 years old.\n");
    for file in room.files() {
        fs::remove_file(room.path(&file)).expect("a file");
    }

    // Two questions in one round: one answer now, which is kept, and one later.
    let file = paused(&room, &["call", &demo.url, "new_database"]);
    let ran = room.run(&["resume", &file, "name.name=books"]).ends(20);
    assert!(!ran.err.contains("[name]"), "{}", ran.err);
    assert!(ran.err.contains("[region]"), "{}", ran.err);
    assert_eq!(room.files(), [&*file], "it waits where it waited");
    let shown = room.run(&["show", &file, "--json"]).json();
    assert_eq!(shown["answered"], serde_json::json!(["name"]));
    #[cfg(unix)]
    assert_eq!(crate::room::mode(&room.path(&file)), 0o600);
    let ran = room.run(&["resume", &file, "region=mars-1"]);
    ran.fails(2, "region");
    let done = room.run(&["resume", &file, "region=eu-west-1"]).done();
    assert_eq!(done, "Provisioned books in eu-west-1\n");
}

#[test]
fn prompts_and_resources_wait_as_well() {
    let (room, demo) = (Room::new(), Demo::start());
    for (call, answer, expected) in [
        (
            ["prompt", &demo.url, "brief", "topic=bees"],
            "audience=children",
            "Write a brief on bees for children.",
        ),
        (
            ["read", &demo.url, "vault://7", "--log=off"],
            "reason=audit",
            "Vault 7, opened because: audit",
        ),
    ] {
        let file = paused(&room, &call);
        let printed = room.run(&["resume", &file, answer]).done();
        assert!(printed.contains(expected), "{printed}");
    }
    // A link is agreed to; the page is another matter.
    let file = paused(&room, &["call", &demo.url, "sign_in"]);
    let ran = room.run(&["resume", &file, "--accept", "signin"]).ends(20);
    assert!(ran.err.contains("/sign-in/"), "{}", ran.err);
}

#[test]
fn the_file_is_saved_where_it_is_wanted() {
    let (room, demo) = (Room::new(), Demo::start());
    let call = ["call", &demo.url, "deploy", "env=it's", "--save"];
    let ran = room.run(&[&call[..], &["a b.json"]].concat()).ends(20);
    #[cfg(unix)]
    assert_eq!(crate::room::mode(&room.path("a b.json")), 0o600);
    // What is printed is what a shell can take.
    let resume = ran.command("antiphon resume");
    assert_eq!(resume, ["resume", "a b.json"]);
    let resume = [&words(&resume)[..], &["confirm=true"]].concat();
    assert_eq!(room.run(&resume).done(), "Deployed to it's\n");

    room.write("taken", "mine");
    room.run(&[&call[..], &["taken"]].concat())
        .fails(2, "taken");
    assert_eq!(room.read("taken"), "mine");
    // The call cannot be saved there, but it was made: it is saved elsewhere.
    let ran = room
        .run(&[&call[..], &["none/there.json"]].concat())
        .ends(20);
    let file = ran.command("antiphon resume")[1].clone();
    assert!(fs::exists(&file).expect("a path"), "{file}");
    assert!(
        file.starts_with(room.beside("tmp").to_str().expect("text")),
        "{file}"
    );
    let done = room.run(&["resume", &file, "confirm=true"]).done();
    assert_eq!(done, "Deployed to it's\n");
}

#[test]
fn of_two_who_resume_at_once_one_does() {
    let (room, demo) = (Room::new(), Demo::start());
    for _ in 0..5 {
        let file = paused(&room, &["call", &demo.url, "charge", "amount=5"]);
        let both: Vec<Running> = (0..2)
            .map(|_| Running::start(&mut room.command(&["resume", &file, "confirm=true"])))
            .collect();
        let mut ended: Vec<Ran> = both.into_iter().map(Running::wait).collect();
        ended.sort_by_key(|ran| ran.code);
        let [second, first] = ended.try_into().expect("two");
        // The next question, or that it is too late.
        assert_eq!((second.code, first.code), (2, 20), "{second:?} {first:?}");
        second.fails(2, "resumed already");
        let next = only(&room, ".paused.json");
        let done = room.run(&["resume", &next, "receipt=false"]).done();
        assert_eq!(done, "Charged 5; effect ran 1 time(s)\n");
    }
}

#[test]
fn another_process_of_the_server_goes_on() {
    let room = Room::new();
    let key = room.run(&["keygen"]).done();
    let keys = [("ANTIPHON_DEMO_KEYS", key.trim_end())];
    let call = over_stdio(&["call", "wizard"]);
    room.run_with(&keys, &call).ends(20);
    let file = only(&room, ".paused.json");
    // Somewhere else: the file is all that is needed.
    let elsewhere = room.path("elsewhere");
    fs::create_dir(&elsewhere).expect("a directory");
    fs::rename(room.path(&file), elsewhere.join("call.json")).expect("moved");
    let there = |words: &[&str]| {
        let mut command = room.command(words);
        command.current_dir(&elsewhere).envs(keys);
        Running::start(&mut command).wait()
    };
    let ran = there(&["resume", "call.json", "name=Ada", "--save", "next.json"]).ends(20);
    assert!(elsewhere.join("call.json.done").exists());
    assert!(elsewhere.join("next.json").exists(), "{ran:?}");
    let done = there(&["resume", "next.json", "age=36"]).done();
    assert_eq!(done, "Welcome, Ada! You are 36 years old.\n");
    assert_eq!(room.files(), ["elsewhere"]);

    // By another command, in place of the one in the file.
    let file = {
        room.run_with(&keys, &over_stdio(&["call", "deploy", "env=prod"]))
            .ends(20);
        only(&room, ".paused.json")
    };
    let resume = [&["resume", &file, "confirm=true"], &STDIO[..]].concat();
    assert_eq!(room.run_with(&keys, &resume).done(), "Deployed to prod\n");
}

#[test]
fn an_answer_that_may_have_arrived_is_not_sent_again_unasked() {
    let room = Room::new();
    let served = Served::script(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(&json!({ "tools": {} })),
        _ if message["params"]["requestState"].is_string() => {
            Says::Raw(502, vec![], "lost".to_owned())
        }
        _ => Says::Result(json!({
            "resultType": "input_required", "requestState": "s", "inputRequests": {
                "go": { "method": "elicitation/create", "params": {
                    "mode": "form", "message": "Go?", "requestedSchema": {
                        "type": "object", "properties": { "ok": { "type": "boolean" } } } } } } })),
    });
    let file = paused(&room, &["call", &served.url, "launch"]);
    let ran = room.run(&["resume", &file, "ok=true"]).fails(4, "502");
    let done = format!("{file}.done");
    assert!(
        ran.err.contains(&format!("rename {done} to {file}")),
        "{}",
        ran.err
    );
    assert_eq!(room.files(), [&*done]);
    room.run(&["resume", &file, "ok=true"])
        .fails(2, "resumed already");
    assert_eq!(served.count("tools/call"), 2);
}

#[test]
fn a_name_is_found_where_it_was() {
    let (room, demo) = (Room::new(), Demo::start());
    room.write(
        "servers.toml",
        format!("[servers.shop]\nurl = '{}'\n", demo.url),
    );
    let call = [
        "call",
        "shop",
        "deploy",
        "env=prod",
        "--config",
        "servers.toml",
    ];
    let file = paused(&room, &call);
    let shown = room.run(&["show", &file, "--json"]).json();
    assert!(
        shown["server"]
            .as_str()
            .is_some_and(|name| name.contains("shop")),
        "{shown}"
    );
    fs::rename(room.path(&file), room.beside("home").join(&file)).expect("moved");
    let mut resume = room.command(&["resume", &file, "confirm=true"]);
    resume.current_dir(room.beside("home"));
    assert_eq!(
        Running::start(&mut resume).wait().done(),
        "Deployed to prod\n"
    );
}

/// Runs what was printed, as a shell would.
fn as_printed(room: &Room, command: &[String]) -> Ran {
    let mut run: Command = room.command(&words(command));
    Running::start(&mut run).wait()
}

#[test]
fn a_state_that_is_not_accepted_any_more_is_told_with_the_way_to_start_again() {
    let room = Room::new();
    // Each process has keys of its own.
    for (call, answer) in [
        (&["call", "deploy", "env=it's \"prod\""][..], "confirm=true"),
        (&["prompt", "brief", "topic=a b"], "audience=us"),
        (&["read", "vault://7"], "reason=x"),
    ] {
        let file = paused(&room, &over_stdio(call));
        let ran = room.run(&["resume", &file, answer]).fails(21, "any more");
        let again = ran.command(&format!("antiphon {}", call[0]));
        let ran = as_printed(&room, &again).ends(20);
        let again = only(&room, ".paused.json");
        assert!(ran.err.contains(&again), "{}", ran.err);
        if call[0] == "call" {
            let shown = room.run(&["show", &again, "--json"]).json();
            assert_eq!(shown["call"]["arguments"]["env"], "it's \"prod\"");
        }
        fs::remove_file(room.path(&again)).expect("a file");
        room.run(&["resume", &file, answer])
            .fails(2, "resumed already");
    }
}

/// A file that others may have written starts nothing, and no secret is sent for it.
#[cfg(unix)]
#[test]
fn a_file_that_others_may_have_written_is_not_trusted() {
    use std::os::unix::fs::PermissionsExt;
    let (room, demo) = (Room::new(), Demo::start());
    let open = |file: &str, mode: u32| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(room.path(file), mode).expect("set");
    };
    // It would start a program.
    let keys = format!("hex:{}", "07".repeat(32));
    let keys = [("ANTIPHON_DEMO_KEYS", keys.as_str())];
    let call = over_stdio(&["call", "deploy", "env=prod"]);
    let ran = room.run_with(&keys, &call).ends(20);
    assert!(ran.err.contains("the same keys"), "{}", ran.err);
    let file = only(&room, ".paused.json");
    open(&file, 0o644);
    let resume = ["resume", &file, "confirm=true"];
    room.run_with(&keys, &resume)
        .fails(2, "would start a program")
        .fails(2, "chmod 600");
    open(&file, 0o600);
    let done = room.run_with(&keys, &resume).done();
    assert_eq!(done, "Deployed to prod\n");
    // It would send a secret.
    let token = [("TOKEN", "s3cret")];
    for (option, value) in [("--bearer-env", "TOKEN"), ("--header", "x-key: $TOKEN")] {
        let call = ["call", &demo.url, "deploy", "env=prod", option, value];
        room.run_with(&token, &call).ends(20);
        let file = only(&room, ".paused.json");
        open(&file, 0o660);
        let resume = ["resume", &file, "confirm=true"];
        room.run_with(&token, &resume)
            .fails(2, "would send a secret");
        open(&file, 0o600);
        assert_eq!(room.run_with(&token, &resume).done(), "Deployed to prod\n");
    }
    // What a name stands for is started, or has its token, wherever it is looked up.
    room.write(
        "antiphon.toml",
        format!("[servers.shop]\nurl = \"{}\"\n", demo.url),
    );
    let named = json!({ "antiphon": 1, "target": { "name": "shop" }, "kind": "restart",
        "restart": { "call": { "method": "tools/call", "name": "issue_card" },
            "answered": [], "open": [] } });
    room.write("named.json", named.to_string());
    open("named.json", 0o644);
    room.run(&["resume", "named.json"])
        .fails(2, "would start a program");
    fs::remove_file(room.path("named.json")).expect("a file");
    // It would do neither.
    let file = paused(&room, &["call", &demo.url, "deploy", "env=prod"]);
    open(&file, 0o644);
    let done = room.run(&["resume", &file, "confirm=true"]).done();
    assert_eq!(done, "Deployed to prod\n");
}

/// A name is found where it was found, from wherever it is resumed.
#[test]
fn a_name_is_found_again() {
    let (room, demo) = (Room::new(), Demo::start());
    let servers = format!("[servers.shop]\nurl = \"{}\"\n", demo.url);
    room.write("antiphon.toml", servers);
    let file = paused(&room, &["call", "shop", "deploy", "env=prod"]);
    let elsewhere = Room::new();
    fs::copy(room.path(&file), elsewhere.path("call.json")).expect("copied");
    let done = elsewhere.run(&["resume", "call.json", "confirm=true"]);
    assert_eq!(done.done(), "Deployed to prod\n");
    // Where the file is not, the name counts.
    fs::remove_file(room.path(&file)).expect("removed");
    let file = paused(&room, &["call", "shop", "deploy", "env=prod"]);
    fs::copy(room.path(&file), elsewhere.path("next.json")).expect("copied");
    fs::rename(room.path("antiphon.toml"), elsewhere.path("antiphon.toml")).expect("moved");
    let done = elsewhere.run(&["resume", "next.json", "confirm=true"]);
    assert_eq!(done.done(), "Deployed to prod\n");
}

/// A command is the same server from wherever it is resumed, also by a path that is relative.
#[cfg(unix)]
#[test]
fn a_relative_command_is_found_again() {
    let room = Room::new();
    std::os::unix::fs::symlink(crate::room::ANTIPHON, room.path("server")).expect("linked");
    let keys = format!("hex:{}", "07".repeat(32));
    let keys = [("ANTIPHON_DEMO_KEYS", keys.as_str())];
    let call = [
        "call", "deploy", "env=prod", "--", "./server", "demo", "--stdio",
    ];
    room.run_with(&keys, &call).ends(20);
    let file = only(&room, ".paused.json");
    let elsewhere = Room::new();
    let file = room.path(&file);
    let resume = ["resume", file.to_str().expect("a name"), "confirm=true"];
    let done = elsewhere.run_with(&keys, &resume).done();
    assert_eq!(done, "Deployed to prod\n");
}
