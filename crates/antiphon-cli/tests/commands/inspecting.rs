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
