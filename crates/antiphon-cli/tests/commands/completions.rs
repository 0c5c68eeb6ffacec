//! Shell completion, by the variables with which shells ask; and `antiphon keygen`.

use crate::{room::Room, shop};

/// What bash is offered at the end of this line.
fn completed(room: &Room, line: &str) -> Vec<String> {
    let variables = [
        ("_ANTIPHON_COMPLETE", "bash"),
        ("_ANTIPHON_BEFORE", line),
        ("_ANTIPHON_AFTER", ""),
        ("_ANTIPHON_BREAKS", ""),
    ];
    let ran = room.run_with(&variables, &["--", "antiphon"]).ends(0);
    assert_eq!(ran.err, "", "{line}");
    // Where there is nothing else, options are offered.
    let words = ran.out.lines().filter(|word| !word.starts_with('-'));
    words.map(str::to_owned).collect()
}

#[test]
fn every_shell_has_a_script() {
    let room = Room::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = room.run(&["completions", shell]).ends(0);
        assert_eq!(script.err, "", "{shell}");
        assert!(script.out.contains("_ANTIPHON_COMPLETE"), "{shell}");
        assert!(script.out.contains(crate::room::ANTIPHON), "{shell}");
    }
    room.run(&["completions", "tcl"]).ends(2);
    room.run(&["completions"]).ends(2);
}

#[test]
fn servers_and_tools_are_completed() {
    let (room, shop) = (Room::new(), shop::open());
    room.write(
        "antiphon.toml",
        format!("[servers.shop]\nurl = '{}'\n", shop.url),
    );
    let command = completed(&room, "antiphon comp");
    assert_eq!(command, ["complete", "completions"]);
    assert_eq!(completed(&room, "antiphon call sh"), ["shop"]);
    let asked = shop.heard().len();
    assert_eq!(asked, 0, "a name is no reason to ask anybody");
    // It came with the directory: whoever wrote it may not have us ask anybody, yet.
    assert_eq!(completed(&room, "antiphon call shop or"), [""; 0]);
    assert_eq!(shop.heard().len(), 0, "{:?}", shop.messages());
    let known = room.beside("settings").join("antiphon");
    std::fs::create_dir(&known).expect("a directory");
    std::fs::rename(room.path("antiphon.toml"), known.join("antiphon.toml")).expect("moved");
    assert_eq!(completed(&room, "antiphon call shop or"), ["order"]);
    assert_eq!(completed(&room, "antiphon call shop order ti"), ["title="]);
    assert_eq!(completed(&room, "antiphon prompt shop "), ["review"]);
    // It was asked for tools once, and is remembered.
    assert_eq!(shop.count("tools/list"), 1);
    let url = format!("antiphon call {} pic", shop.url);
    assert_eq!(completed(&room, &url), ["picture"]);
}

/// What another shell is offered for the last of these words.
fn offered(room: &Room, shell: &str, words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let variables = [
        ("_ANTIPHON_COMPLETE", shell),
        ("_CLAP_COMPLETE_INDEX", &index),
        ("_CLAP_IFS", "\n"),
    ];
    let ran = room
        .run_with(&variables, &[&["--"], words].concat())
        .ends(0);
    assert_eq!(ran.err, "", "{words:?}");
    let words = ran
        .out
        .lines()
        .filter_map(|line| line.split(['\t', ':']).next());
    words.map(str::to_owned).collect()
}

#[test]
fn options_and_words_are_apart_in_every_shell() {
    let room = Room::new();
    room.write(
        "antiphon.toml",
        "[servers.shop]\nurl = 'https://a.example'\n",
    );
    room.write("a.paused.json", "{}");
    room.write("b.json", "{}");
    std::fs::create_dir(room.path("calls")).expect("a directory");
    for shell in ["zsh", "fish"] {
        assert_eq!(offered(&room, shell, &["antiphon", "call", ""]), ["shop"]);
        let options = offered(&room, shell, &["antiphon", "call", "-"]);
        assert!(options.contains(&"--json".to_owned()), "{options:?}");
        assert!(options.iter().all(|word| word.starts_with('-')));
        let levels = offered(&room, shell, &["antiphon", "call", "--log", "no"]);
        assert_eq!(levels, ["notice"]);
        for command in ["resume", "show"] {
            let files = offered(&room, shell, &["antiphon", command, ""]);
            assert_eq!(files, ["a.paused.json", "calls/"], "{command}");
        }
    }
}

#[test]
fn values_of_a_prompt_are_the_servers() {
    let (room, shop) = (Room::new(), shop::open());
    let line = |rest: &str| format!("antiphon prompt {} review {rest}", shop.url);
    let titles = completed(&room, &line("title=Du"));
    assert_eq!(titles, ["title=Dune", "title=Dubliners"]);
    let tones = completed(&room, &line("title=Dune tone=po"));
    assert_eq!(tones, ["tone=poetic"]);
    assert_eq!(completed(&room, &line("colour=")), [""; 0]);
}

#[test]
fn a_projects_server_is_completed_after_it_was_used() {
    let (room, shop) = (Room::new(), shop::open());
    let file = |more: &str| format!("[servers.shop]\nurl = '{}'\n{more}", shop.url);
    room.write("antiphon.toml", file(""));
    assert_eq!(completed(&room, "antiphon prompt shop "), [""; 0]);
    room.run(&["call", "shop", "order", "title=Dune"]).ends(1);
    assert_eq!(completed(&room, "antiphon prompt shop "), ["review"]);
    // Another one, though it has the same name.
    room.write("antiphon.toml", file("headers = { x-a = 'b' }\n"));
    let asked = shop.heard().len();
    assert_eq!(completed(&room, "antiphon prompt shop "), [""; 0]);
    assert_eq!(shop.heard().len(), asked);
}

#[test]
fn what_cannot_be_completed_is_no_trouble() {
    let room = Room::new();
    room.write(
        "antiphon.toml",
        "[servers.gone]\nurl = 'http://127.0.0.1:1/mcp'\n",
    );
    for line in [
        "antiphon call gone ",
        "antiphon call http://127.0.0.1:1/mcp ",
        "antiphon call nobody ",
    ] {
        assert_eq!(completed(&room, line), [""; 0], "{line}");
    }
    room.write("antiphon.toml", "[servers");
    assert_eq!(completed(&room, "antiphon call g"), [""; 0]);
}

#[test]
fn keys_are_made() {
    let room = Room::new();
    let key = room.run(&["keygen"]).done();
    assert_ne!(key, room.run(&["keygen"]).done());
    let json = room.run(&["keygen", "--json"]).ends(0).json();
    assert_eq!(
        json["key"].as_str().map(str::len),
        Some(key.trim_end().len())
    );

    let ran = room.run(&["keygen", "--out", "keys"]).ends(0);
    assert_eq!(ran.out, "");
    let kept = room.read("keys");
    assert!(!ran.err.contains(kept.trim_end()), "{}", ran.err);
    #[cfg(unix)]
    assert_eq!(crate::room::mode(&room.path("keys")), 0o600);
    room.run(&["keygen", "--out", "keys"]).fails(2, "keys");
    assert_eq!(room.read("keys"), kept);
    room.run(&["keygen", "--out", "none/keys"])
        .fails(2, "none/keys");
    let json = room.run(&["keygen", "--out", "more", "--json"]).ends(0);
    assert_eq!(json.json()["file"], "more");
    // A server takes them.
    let key = kept.trim_end();
    let demo = ["demo", "--stdio"];
    room.run_with(&[("ANTIPHON_DEMO_KEYS", key)], &demo).done();
    let wrong = room.run_with(&[("ANTIPHON_DEMO_KEYS", "sesame")], &demo);
    let wrong = wrong.fails(2, "ANTIPHON_DEMO_KEYS");
    assert!(!wrong.err.contains("sesame"), "{}", wrong.err);
}
