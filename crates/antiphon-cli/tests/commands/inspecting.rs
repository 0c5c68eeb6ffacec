//! `antiphon inspect`.

use crate::{
    demo::{Demo, over_stdio},
    room::Room,
};

/// What of a document in `--json` is promised.
const FIELDS: [&str; 11] = [
    "server",
    "era",
    "protocolVersion",
    "negotiation",
    "serverInfo",
    "instructions",
    "capabilities",
    "tools",
    "prompts",
    "resources",
    "resourceTemplates",
];

/// Options, the revision that is spoken then, its era, and the first step of the negotiation.
const ERAS: [(&[&str], &str, &str, &str); 4] = [
    (&[], "2026-07-28", "modern", "server/discover in 2026-07-28"),
    (
        &["--protocol", "2026-07-28"],
        "2026-07-28",
        "modern",
        "server/discover in 2026-07-28",
    ),
    (&["--legacy"], "2025-11-25", "legacy", "initialize"),
    (
        &["--protocol", "2025-06-18"],
        "2025-06-18",
        "legacy",
        "initialize",
    ),
];

#[test]
fn a_server_is_shown_in_every_era_over_every_transport() {
    let (room, demo) = (Room::new(), Demo::start());
    for (options, version, era, step) in ERAS {
        let by_url = [&["inspect", &demo.url], options].concat();
        let by_command = over_stdio(&[&["inspect"], options].concat());
        for words in [by_url, by_command] {
            let ran = room.run(&words).ends(0);
            assert_eq!(ran.err, "", "{words:?}");
            for part in [
                &*format!("protocol      {version} ({era})"),
                "calls itself  antiphon-demo",
                step,
                "Every tool here needs something",
                "[destructive] Deploy to an environment.",
                "rounds  integer, 0 to 255, required",
                "brief  Brief somebody about a topic.",
                "topic  required  What it is about.",
                "no resources",
                "vault://{id}  vault",
            ] {
                assert!(ran.out.contains(part), "{words:?}: {part}\n{}", ran.out);
            }

            let shown = room.run(&[&words[..1], &["--json"], &words[1..]].concat());
            let shown = shown.ends(0).json();
            for field in FIELDS {
                assert!(!shown[field].is_null(), "{words:?}: {field}");
            }
            assert_eq!(shown.as_object().map(|all| all.len()), Some(FIELDS.len()));
            assert_eq!(shown["protocolVersion"], version);
            assert_eq!(shown["era"], era);
            assert_eq!(shown["serverInfo"]["name"], "antiphon-demo");
            let tools = shown["tools"].as_array().expect("a list");
            let deploy = tools.iter().find(|tool| tool["name"] == "deploy");
            let deploy = deploy.expect("a tool");
            assert_eq!(deploy["inputSchema"]["required"][0], "env");
            assert_eq!(shown["prompts"][0]["arguments"][0]["name"], "topic");
            assert_eq!(shown["resourceTemplates"][0]["uriTemplate"], "vault://{id}");
        }
    }
}

#[test]
fn a_revision_that_the_server_does_not_speak_is_an_error() {
    let room = Room::new();
    let server: antiphon::Server = antiphon::Server::new("new", "1").modern_only();
    let served = crate::served::Served::server(server);
    let words = ["inspect", &served.url, "--protocol", "2025-06-18"];
    room.run(&words).fails(4, "2025-06-18");
    room.run(&["inspect", &served.url, "--protocol", "2023-01-01"])
        .ends(2);
}

#[test]
fn one_thing_is_shown_in_full() {
    let (room, shop) = (Room::new(), crate::shop::open());
    for (name, parts) in [
        (
            "order",
            &[
                "kind          tool",
                "copies  integer",
                "\nInput schema\n{",
                "\nOutput schema\n{",
            ][..],
        ),
        ("review", &["kind          prompt", "tone   optional"]),
        ("shop://about", &["kind          resource\n"]),
        ("shop://books/{title}", &["kind          resource template"]),
    ] {
        let shown = room.run(&["inspect", &shop.url, name]).done();
        assert!(shown.starts_with(&format!("{name}\n")), "{shown}");
        for part in parts {
            assert!(shown.contains(part), "{part} is not in\n{shown}");
        }
        let ran = room.run(&["inspect", &shop.url, name, "--json"]).ends(0);
        let json = ran.json();
        let is_called = ["name", "uri", "uriTemplate"]
            .iter()
            .any(|it| json[it] == name);
        assert!(is_called, "{json}");
    }
    let json = room.run(&["inspect", &shop.url, "order", "--json"]).json();
    assert_eq!(json["inputSchema"]["required"][0], "title");
    let by_command = over_stdio(&["inspect", "deploy"]);
    assert!(room.run(&by_command).done().starts_with("deploy\n"));
    for (name, says) in [
        ("ordr", "Did you mean order?"),
        ("shop://abuot", "Did you mean shop://about?"),
        ("frobnicate", "It has: order, fail,"),
    ] {
        room.run(&["inspect", &shop.url, name]).fails(2, says);
    }
}

#[test]
fn known_servers_are_listed() {
    let room = Room::new();
    let ran = room.run(&["inspect"]).ends(0);
    assert_eq!(ran.out, "");
    for file in ["antiphon.toml", ".mcp.json", "~/.claude.json"] {
        assert!(ran.err.contains(file), "{}", ran.err);
    }
    assert_eq!(room.run(&["inspect", "--json"]).done(), "[]\n");

    room.write(
        "antiphon.toml",
        "[servers.shop]\nurl = 'https://shop.example.com/mcp?key=s3cret'\n\
         headers = { x-key = 's3cret' }\n[servers.gone]\nurl = '${NOT_SET_AT_ALL}'\n",
    );
    room.write(
        ".mcp.json",
        r#"{"mcpServers": {"files": {"command": "files-server", "args": ["--token", "s3cret"]},
            "shop": {"url": "https://other.example"}}}"#,
    );
    let ran = room.run(&["inspect"]).ends(0);
    let lines: Vec<Vec<_>> = ran
        .out
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines.len(), 3, "{}", ran.out);
    let shop = ["shop", "https://shop.example.com/mcp", "antiphon.toml"];
    assert!(lines.contains(&shop.to_vec()), "{}", ran.out);
    let files = ["files", "files-server", ".mcp.json"];
    assert!(lines.contains(&files.to_vec()), "{}", ran.out);
    assert!(ran.out.contains("NOT_SET_AT_ALL is not set"), "{}", ran.out);
    assert!(ran.err.contains("antiphon inspect NAME"), "{}", ran.err);
    let listed = room.run(&["inspect", "--json"]).ends(0);
    assert!(!format!("{ran:?}{listed:?}").contains("s3cret"));
    let listed = listed.json();
    let listed = listed.as_array().expect("a list");
    let of = |name: &str| {
        listed
            .iter()
            .find(|one| one["name"] == name)
            .expect("listed")
    };
    assert_eq!(of("shop")["url"], "https://shop.example.com/mcp");
    assert_eq!(of("files")["command"], "files-server");
    assert!(
        of("files")["file"]
            .as_str()
            .expect("a path")
            .ends_with("work/.mcp.json")
    );
    assert!(of("gone")["error"].is_string());
    assert!(of("gone").get("url").is_none());

    room.write("none.toml", "");
    room.run(&["inspect", "--config", "none.toml"]).ends(0);
}

/// Some servers list only what their client can answer.
#[test]
fn what_can_be_answered_is_declared() {
    let (room, shop) = (Room::new(), crate::shop::open());
    for era in [&[][..], &["--legacy"]] {
        let words = [&["inspect", &*shop.url], era].concat();
        room.run(&words).ends(0);
        let meta = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
        let declared = shop.messages().into_iter().rev().find_map(|message| {
            let of_request = message.pointer(meta);
            let declared = of_request.or_else(|| message.pointer("/params/capabilities"));
            declared.cloned()
        });
        let declared = declared.expect("capabilities");
        for kind in ["elicitation", "sampling", "roots"] {
            assert!(declared[kind].is_object(), "{declared}");
        }
    }
}
