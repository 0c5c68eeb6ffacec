//! Headers and tokens: they reach the server, and nothing else.

use std::{fs, path::Path};

use antiphon::{
    Ask, Form, Server, Stop,
    auth::{Principal, StaticTokens},
    http,
    sealing::Sealing,
};

use crate::{
    room::{ANTIPHON, Ran, Room, only, words},
    served::{Says, Served},
};

#[derive(Form)]
struct Confirm {
    ok: bool,
}

async fn deploy(ask: Ask) -> Result<String, Stop> {
    let Confirm { ok } = ask.form("confirm", "Sure?")?;
    Ok(format!("deployed: {ok}"))
}

fn served() -> Served {
    let server: Server = Server::new("safe", "1").tool("deploy", deploy);
    Served::server(server)
}

/// What nobody but the server may see.
const CANARIES: [&str; 3] = ["canary-token", "canary-header", "canary-query"];

#[track_caller]
fn is_discreet(text: &str) {
    for canary in CANARIES {
        assert!(!text.contains(canary), "{canary} is in\n{text}");
    }
}

/// Every file below a directory.
fn everything(directory: &Path) -> String {
    let entries = fs::read_dir(directory).expect("a directory");
    let texts = entries.map(|entry| {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => everything(&path),
            false => String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned(),
        }
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn said(ran: &Ran) -> String {
    format!("{}{}", ran.out, ran.err)
}

#[test]
fn tokens_and_headers_are_sent_and_never_told() {
    let environment = [
        ("THE_TOKEN", "canary-token"),
        ("THE_HEADER", "canary-header"),
    ];
    let room = Room::new();
    fs::write(room.beside("token"), "canary-token\n").expect("written");
    let file = format!("@{}", room.beside("token").display());
    let configured = "bearer_env = 'THE_TOKEN'\nheaders = { X-Tenant = '${THE_HEADER}' }\n";
    for (at, given, again) in [
        (
            "url",
            vec![
                "--bearer-env",
                "THE_TOKEN",
                "--header",
                "X-Tenant: $THE_HEADER",
            ],
            vec![],
        ),
        (
            "url",
            vec!["--bearer", &file, "--header", "X-Tenant: canary-header"],
            vec!["--header", "X-Tenant: canary-header"],
        ),
        ("name", vec![], vec![]),
    ] {
        let served = served();
        let target = match at {
            "url" => served.url.clone(),
            _ => {
                let text = format!("[servers.safe]\nurl = '{}'\n{configured}", served.url);
                room.write("antiphon.toml", text);
                "safe".to_owned()
            }
        };
        for era in [&[][..], &["--legacy"]] {
            let call = [
                "call",
                &target,
                "deploy",
                "--trace",
                "--verbose",
                "--jsonl",
                "log",
            ];
            let call = [&call[..], &given, era].concat();
            let ran = room.run_with(&environment, &call).ends(20);
            is_discreet(&said(&ran));
            is_discreet(&everything(&room.path("")));
            let heard = served.heard();
            assert!(heard.len() > 1);
            for request in &heard {
                assert_eq!(request.header("authorization"), Some("Bearer canary-token"));
                assert_eq!(request.header("x-tenant"), Some("canary-header"));
            }
            fs::remove_file(room.path("log")).expect("written");

            // What the file does not know is asked for, or comes from where it came from.
            let file = only(&room, ".paused.json");
            is_discreet(&room.run(&["show", &file]).done());
            is_discreet(&room.run(&["show", &file, "--json"]).done());
            if !again.is_empty() {
                let ran = room.run_with(&environment, &["resume", &file, "ok=true"]);
                is_discreet(&ran.fails(2, "X-Tenant").err);
            }
            let before = served.heard().len();
            let resume = [&["resume", &file, "ok=true"], &again[..]].concat();
            let ran = room.run_with(&environment, &resume).ends(0);
            assert_eq!(ran.out, "deployed: true\n");
            is_discreet(&said(&ran));
            for request in &served.heard()[before..] {
                assert_eq!(request.header("authorization"), Some("Bearer canary-token"));
                assert_eq!(request.header("x-tenant"), Some("canary-header"));
            }
            is_discreet(&everything(&room.path("")));
            fs::remove_file(room.path(&format!("{file}.done"))).expect("done");
        }
        _ = fs::remove_file(room.path("antiphon.toml"));
    }
    is_discreet(&everything(&room.beside("cache")));
}

#[test]
fn what_a_file_gives_a_child_process_stays_there() {
    let room = Room::new();
    let key = room.run(&["keygen"]).done();
    let key = key.trim_end();
    room.write(
        "antiphon.toml",
        format!(
            "[servers.demo]\ncommand = '{ANTIPHON}'\nargs = ['demo', '--stdio', '--auto-sign-in']\n\
             env = {{ ANTIPHON_DEMO_KEYS = '${{THE_KEY}}' }}\n"
        ),
    );
    let is_silent = |text: &str| {
        assert!(!text.contains(key), "{text}");
        assert!(!text.contains("--auto-sign-in"), "{text}");
    };
    let environment = [("THE_KEY", key)];
    let call = [
        "call",
        "demo",
        "deploy",
        "env=prod",
        "--trace",
        "--verbose",
        "--jsonl",
        "log",
    ];
    let ran = room.run_with(&environment, &call).ends(20);
    is_silent(&said(&ran));
    is_silent(&room.read("log"));
    let file = only(&room, ".paused.json");
    is_silent(&room.read(&file));
    is_silent(&room.run(&["show", &file]).done());
    let ran = room.run_with(&environment, &["resume", &file, "confirm=true"]);
    assert_eq!(ran.done(), "Deployed to prod\n");
    // A server that fails is told of by its name.
    let ran = room.run_with(&[("THE_KEY", "canary-token")], &call[..4]);
    let ran = ran.fails(3, "demo");
    is_discreet(&ran.err);
    is_silent(&ran.err);
}

#[test]
fn the_way_to_start_again_says_where_secrets_come_from() {
    let server: Server = Server::new("safe", "1").tool("deploy", deploy);
    let shortly = Sealing::process_key().ttl(std::time::Duration::from_millis(1));
    let served = Served::server(server.sealing(shortly));
    let room = Room::new();
    let environment = [
        ("THE_TOKEN", "canary-token"),
        ("THE_HEADER", "canary-header"),
    ];
    let call = ["call", &served.url, "deploy", "--bearer-env", "THE_TOKEN"];
    let call = [&call[..], &["--header", "X-Tenant: $THE_HEADER"]].concat();
    room.run_with(&environment, &call).ends(20);
    let file = only(&room, ".paused.json");
    let ran = room.run_with(&environment, &["resume", &file, "ok=true"]);
    let ran = ran.fails(21, "any more");
    is_discreet(&ran.err);
    let again = ran.command("antiphon call");
    let again = words(&again);
    for word in ["--bearer-env", "THE_TOKEN", "X-Tenant: $THE_HEADER"] {
        assert!(again.contains(&word), "{again:?}");
    }
    room.run_with(&environment, &again).ends(20);
    let last = served.heard().last().cloned().expect("a request");
    assert_eq!(last.header("authorization"), Some("Bearer canary-token"));
    assert_eq!(last.header("x-tenant"), Some("canary-header"));
}

#[test]
fn a_server_that_sends_us_elsewhere_is_not_followed() {
    let (room, elsewhere) = (Room::new(), served());
    let there = elsewhere.url.clone();
    let redirects =
        Served::script(move |_| Says::Raw(307, vec![("location", there.clone())], String::new()));
    let words = ["inspect", &redirects.url, "--bearer-env", "THE_TOKEN"];
    let ran = room.run_with(&[("THE_TOKEN", "canary-token")], &words);
    is_discreet(&ran.fails(4, "307").err);
    assert!(elsewhere.heard().is_empty());
}

#[test]
fn a_call_waits_until_its_owner_comes_back() {
    let server: Server = Server::new("safe", "1").tool("deploy", deploy);
    let members = StaticTokens::new().token("canary-token", Principal::subject("Ada"));
    let served = Served::service(http::service(server).verifier(members));
    let room = Room::new();
    let call = ["call", &served.url, "deploy", "--bearer-env", "THE_TOKEN"];
    room.run_with(&[("THE_TOKEN", "canary-token")], &call)
        .ends(20);
    let file = only(&room, ".paused.json");
    let before = room.read(&file);
    let resume = ["resume", &file, "ok=true"];
    room.run_with(&[("THE_TOKEN", "canary-header")], &resume)
        .fails(7, "--bearer");
    room.run(&resume).fails(2, "THE_TOKEN");
    assert_eq!(room.read(&file), before);
    let ran = room.run_with(&[("THE_TOKEN", "canary-token")], &resume);
    assert_eq!(ran.done(), "deployed: true\n");
}

#[test]
fn a_query_is_kept_by_who_typed_it() {
    let (room, served) = (Room::new(), served());
    let url = format!("{}?key=canary-query", served.url);
    let ran = room.run(&["call", &url, "deploy"]).ends(20);
    let file = only(&room, ".paused.json");
    is_discreet(&room.read(&file));
    is_discreet(&room.run(&["show", &file]).done());
    room.run(&["resume", &file, "ok=true"]).fails(2, "--target");
    // The command that was printed is whole: whoever reads it has typed the query before.
    let resume = ran.command("antiphon resume");
    let resume = [&words(&resume)[..], &["ok=true"]].concat();
    assert_eq!(room.run(&resume).done(), "deployed: true\n");
}

#[test]
fn a_token_needs_a_safe_way_and_a_place_to_come_from() {
    let room = Room::new();
    fs::write(room.beside("empty"), "\n").expect("written");
    fs::write(room.beside("two"), "canary-token canary-token\n").expect("written");
    let at = |name: &str| format!("@{}", room.beside(name).display());
    let here = "http://127.0.0.1:1/mcp";
    for (url, options, says) in [
        (
            here,
            ["--bearer-env".to_owned(), "NOT_SET_AT_ALL".to_owned()],
            "NOT_SET_AT_ALL",
        ),
        (here, ["--bearer".to_owned(), at("absent")], "absent"),
        (here, ["--bearer".to_owned(), at("empty")], "no token"),
        (here, ["--bearer".to_owned(), at("two")], "one word"),
        (
            here,
            ["--header".to_owned(), "X-A: $NOT_SET_AT_ALL".to_owned()],
            "NOT_SET_AT_ALL",
        ),
        (
            here,
            ["--header".to_owned(), "X-A: a\u{1}b".to_owned()],
            "X-A",
        ),
        (
            here,
            ["--header".to_owned(), "Mcp-Method: x".to_owned()],
            "mcp-method",
        ),
        (
            "http://shop.example.com/mcp",
            ["--bearer-env".to_owned(), "THE_TOKEN".to_owned()],
            "",
        ),
    ] {
        let call = ["inspect", url, &options[0], &options[1]];
        let ran = room.run_with(&[("THE_TOKEN", "canary-token")], &call);
        is_discreet(&ran.fails(2, says).err);
    }
    // On the command line everybody could see it.
    let ran = room
        .run(&["inspect", here, "--bearer", "canary-token"])
        .ends(2);
    assert!(ran.err.contains("--bearer-env"), "{}", ran.err);
}
