//! A server whose every text is an attack on the terminal.

use antiphon::{Ask, Form, Server, Stop};
use serde_json::{Value, json};

use crate::{
    demo::Demo,
    room::{ANTIPHON, Ran, Room, only},
    served::{Says, Served, discovered},
};

/// Colours, a link that hides its address, a C1 sequence, other directions, and a line that
/// passes for one of ours.
const NASTY: &str = "\u{1b}[31mred\u{1b}]8;;http://evil.example\u{7}link\u{1b}]8;;\u{7}\
                     \u{9b}2J\u{202e}rtl\u{2066}iso\u{200b}\u{7f}\u{8}\rover";

/// The same, where lines are told apart.
const FORGED: &str = "nasty\nantiphon: forged\n\u{1b}[2K";

/// A form whose key and whose field go on on lines that would pass for ours.
fn forged_form() -> Value {
    json!({ "resultType": "input_required", "requestState": "s", "inputRequests": { FORGED: {
        "method": "elicitation/create", "params": { "mode": "form", "message": FORGED,
            "requestedSchema": { "type": "object", "required": [FORGED, "-x"], "properties": {
                FORGED: { "type": "string" }, "-x": { "type": "string" } } } } } } })
}

fn form(message: &str) -> Value {
    json!({ "method": "elicitation/create", "params": {
        "mode": "form", "message": message,
        "requestedSchema": { "type": "object", "required": [NASTY], "properties": {
            NASTY: { "type": "string", "title": NASTY, "description": NASTY, "default": NASTY },
            "choice": { "type": "string", "enum": [NASTY, "b"] },
        } },
    } })
}

fn called(params: &Value) -> Says {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let result = |content: Value| json!({ "resultType": "complete", "content": content });
    let asking = |question: Value| {
        let questions = json!({ NASTY: question });
        json!({ "resultType": "input_required", "inputRequests": questions, "requestState": NASTY })
    };
    Says::Result(match params["name"].as_str().unwrap_or_default() {
        "text" => result(json!([text(NASTY), text(FORGED)])),
        "failed" => {
            let mut failed = result(json!([text(NASTY)]));
            failed["isError"] = true.into();
            failed
        }
        "structured" => {
            let mut structured = result(json!([]));
            structured["structuredContent"] = json!({ NASTY: [NASTY] });
            structured
        }
        "link" => result(json!([
            { "type": "resource_link", "uri": format!("a://{NASTY}"), "name": NASTY,
              "title": NASTY, "description": NASTY, "mimeType": NASTY },
            { "type": "resource", "resource": {
                "uri": format!("a://{NASTY}"), "mimeType": NASTY, "text": NASTY } },
        ])),
        "file" => result(json!([
            { "type": "image", "mimeType": NASTY, "data": "AAAA" },
            { "type": "resource", "resource": {
                "uri": format!("a://b/{NASTY}"), "mimeType": NASTY, "blob": "AAAA" } },
        ])),
        "strange" => result(json!([{ "type": NASTY, NASTY: NASTY }])),
        "error" => json!({ "code": -32000, "message": NASTY, "data": NASTY }),
        "forged" => json!({ "code": -32000, "message": FORGED }),
        "form" => asking(form(NASTY)),
        "forged-form" => forged_form(),
        "url" => asking(json!({ "method": "elicitation/create", "params": {
            "mode": "url", "message": NASTY, "url": "https://a.example/x?y=z" } })),
        "sample" => asking(json!({ "method": "sampling/createMessage", "params": {
            "messages": [{ "role": "user", "content": text(NASTY) }],
            "systemPrompt": NASTY, "maxTokens": 5 } })),
        "strange-question" => asking(json!({ "method": NASTY, "params": {} })),
        "busy" => {
            let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": params["_meta"]["progressToken"], "progress": 1,
                    "total": 2, "message": NASTY } });
            let log = |data: Value| {
                json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {
                    "level": "warning", "logger": NASTY, "data": data } })
            };
            return Says::After(
                vec![
                    progress,
                    log(NASTY.into()),
                    log(FORGED.into()),
                    log(json!({ NASTY: NASTY })),
                ],
                result(json!([text("fine")])),
            );
        }
        _ => return Says::Raw(500, vec![], NASTY.to_owned()),
    })
}

fn served() -> Served {
    Served::script(|message| {
        let params = &message["params"];
        let list = |name: &str, items: Value| {
            Says::Result(
                json!({ "resultType": "complete", name: items, "ttlMs": 0, "cacheScope": "private" }),
            )
        };
        let schema = json!({ "type": "object", "required": [NASTY],
            "additionalProperties": false, "properties": {
            NASTY: { "type": "string", "description": NASTY, "enum": [NASTY], "default": NASTY },
        } });
        match message["method"].as_str().unwrap_or_default() {
            "server/discover" => Says::Result(json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0,
                "cacheScope": "private", "instructions": format!("{NASTY}\n{FORGED}"),
                "capabilities": { "tools": {}, "prompts": {}, "resources": {}, "completions": {},
                    "extensions": { NASTY: {} }, "experimental": { NASTY: {} } },
                "_meta": { "io.modelcontextprotocol/serverInfo": {
                    "name": NASTY, "version": NASTY, "title": NASTY, "websiteUrl": NASTY } },
            })),
            "tools/list" => list(
                "tools",
                json!([
                    { "name": NASTY, "title": NASTY, "description": NASTY, "inputSchema": schema },
                    { "name": "plain", "title": NASTY, "description": FORGED, "inputSchema": schema },
                ]),
            ),
            "prompts/list" => list(
                "prompts",
                json!([{ "name": NASTY, "title": NASTY,
                "description": NASTY, "arguments": [{ "name": NASTY, "description": NASTY }] }]),
            ),
            "resources/list" => list(
                "resources",
                json!([{ "uri": format!("a://{NASTY}"),
                "name": NASTY, "title": NASTY, "description": NASTY, "mimeType": NASTY }]),
            ),
            "resources/templates/list" => list(
                "resourceTemplates",
                json!([{
                "uriTemplate": format!("a://{NASTY}/{{x}}"), "name": NASTY, "description": NASTY,
                "mimeType": NASTY }]),
            ),
            "prompts/get" => Says::Result(json!({ "resultType": "complete", "description": NASTY,
                "messages": [{ "role": "user", "content": { "type": "text", "text": FORGED } },
                    { "role": "assistant", "content": { "type": "text", "text": NASTY } }] })),
            "resources/read" => Says::Result(json!({ "resultType": "complete", "ttlMs": 0,
                "cacheScope": "private", "contents": [{
                "uri": format!("a://{NASTY}"), "mimeType": NASTY, "text": NASTY }] })),
            "completion/complete" => Says::Result(json!({ "resultType": "complete",
                "completion": { "values": [NASTY, "fine"] } })),
            "tools/call" => called(params),
            _ => Says::Result(json!({ "code": -32601, "message": NASTY })),
        }
    })
}

/// What a terminal would take for more than text, line ends apart.
fn is_raw(character: char) -> bool {
    (character.is_control() && !['\n', '\t'].contains(&character))
        || matches!(character, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}')
}

/// Nothing of it gets through, and no line of it passes for one of ours.
#[track_caller]
fn is_harmless(ran: &Ran, words: &[&str]) {
    for text in [&ran.out, &ran.err] {
        if let Some(raw) = text.chars().find(|character| is_raw(*character)) {
            panic!("{words:?}: {raw:?} in\n{}", text.escape_debug());
        }
    }
    let lines = ran.err.lines();
    for line in lines {
        assert!(
            !line.starts_with("antiphon: forged"),
            "{words:?}:\n{}",
            ran.err
        );
    }
    assert!(!ran.err.contains("panicked"), "{words:?}:\n{}", ran.err);
}

#[test]
fn nothing_that_a_server_says_reaches_the_terminal_raw() {
    let served = served();
    let calls = [
        ("text", 0),
        ("failed", 1),
        ("structured", 0),
        ("link", 0),
        ("file", 0),
        ("strange", 0),
        ("error", 4),
        ("forged", 4),
        ("form", 20),
        ("forged-form", 20),
        ("url", 20),
        ("sample", 20),
        ("strange-question", 4),
        ("busy", 0),
        ("plain", 4),
    ];
    for (tool, code) in calls {
        for option in [
            "--log=debug",
            "--trace",
            "--verbose",
            "--json",
            "--markdown",
        ] {
            let room = Room::new();
            let words = ["call", &served.url, tool, option];
            let ran = room.run(&words);
            is_harmless(&ran, &words);
            let ran = ran.ends(code);
            for file in room.files() {
                assert!(!file.chars().any(is_raw), "{words:?}: {file:?}");
                if code != 20 {
                    continue;
                }
                for words in [
                    &["show", &file][..],
                    &["show", &file, "--json"],
                    &["resume", &file],
                    &["resume", &file, "x=1"],
                    &["resume", &file, "--accept", "x"],
                ] {
                    is_harmless(&room.run(words), words);
                }
            }
            assert!(ran.out.len() + ran.err.len() < 20_000, "{words:?}");
        }
    }
}

#[test]
fn lists_prompts_resources_and_completions_are_harmless() {
    let (room, served) = (Room::new(), served());
    for (words, code) in [
        (&["inspect"][..], 0),
        (&["inspect", "--json"], 0),
        (&["inspect", "--verbose", "--trace"], 0),
        (&["prompt", "x"], 0),
        (&["prompt", "x", "--json"], 0),
        (&["prompt", "x", "--markdown"], 0),
        (&["read", "a://b"], 0),
        (&["read", "a://b", "--json"], 0),
        (&["complete", "x", "a=b"], 0),
        (&["complete", "x", "a=b", "--json"], 0),
        (&["listen"], 4),
        // What does not fit is explained with the server's words.
        (&["call", "plain", "nothing=1"], 2),
        (&["call", "plain", "x"], 2),
    ] {
        let words = [&[words[0], &served.url], &words[1..]].concat();
        let ran = room.run(&words);
        is_harmless(&ran, &words);
        ran.ends(code);
    }
}

/// The question of a session that cannot wait.
#[test]
fn older_servers_are_harmless() {
    #[derive(Form)]
    struct Sure {
        sure: bool,
    }
    async fn ask(ask: Ask) -> Result<String, Stop> {
        let Sure { sure } = ask.form("sure", format!("{NASTY}\n{FORGED}"))?;
        Ok(format!("{NASTY}{sure}"))
    }
    let server: Server = Server::new("older", "1").tool("ask", ask);
    let (room, served) = (Room::new(), Served::server(server));
    let words = ["call", &served.url, "ask", "--legacy", "--trace"];
    let ran = room.run(&words).ends(20);
    is_harmless(&ran, &words);
    let file = only(&room, ".paused.json");
    for words in [
        &["show", &file][..],
        &["show", &file, "--json"],
        &["resume", &file, "x=1"],
        &["resume", &file, "sure=true"],
    ] {
        is_harmless(&room.run(words), words);
    }
    assert_eq!(room.files(), [format!("{file}.done")]);
}

#[test]
fn reports_and_clocks_are_harmless() {
    let (room, served, demo) = (Room::new(), served(), Demo::start());
    room.write("defaults.toml", "[[answer]]\naccept = true\n");
    room.write("wrong.toml", "[[answer]]\naccept = { x = 1 }\n");
    let silent = format!("'{ANTIPHON}' listen {}", demo.url);
    for (words, code) in [
        // The defaults are the server's, and it is never content.
        (
            vec!["form", "--answers", "defaults.toml", "--max-rounds=2"],
            6,
        ),
        (vec!["form", "--answers", "wrong.toml"], 2),
        (
            vec!["form", "--answers", "wrong.toml", "--strict", "--trace"],
            2,
        ),
        (
            vec!["sample", "--sampler", &silent, "--timeout", "human=100ms"],
            5,
        ),
    ] {
        let words = [&["call", &served.url], &words[..]].concat();
        let ran = room.run(&words);
        is_harmless(&ran, &words);
        ran.ends(code);
    }
}

#[test]
fn what_a_child_process_says_is_harmless() {
    let room = Room::new();
    // It complains about its argument, as it is.
    for options in [&[][..], &["--verbose"], &["--trace", "--legacy"]] {
        let words = [&["inspect"], options, &["--", ANTIPHON, NASTY]].concat();
        let ran = room.run(&words).ends(3);
        is_harmless(&ran, &words);
        assert!(ran.err.contains(r"\u{1b}[31mred"), "{}", ran.err);
    }
}

#[test]
fn changes_are_harmless() {
    let room = Room::new();
    let served = Served::script(|message| {
        let notification = |method: &str, params: Value| {
            let mut params = params;
            params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
            json!({ "jsonrpc": "2.0", "method": method, "params": params })
        };
        match message["method"].as_str() {
            Some("server/discover") => discovered(&json!({ "resources": { "subscribe": true } })),
            Some("subscriptions/listen") => {
                let uri = message["params"]["notifications"]["resourceSubscriptions"].clone();
                let filter = json!({ "notifications": { "resourceSubscriptions": uri } });
                let updated = json!({ "uri": uri[0] });
                Says::After(
                    vec![
                        notification("notifications/subscriptions/acknowledged", filter),
                        notification("notifications/resources/updated", updated),
                    ],
                    json!({ "resultType": "complete" }),
                )
            }
            _ => Says::Silence,
        }
    });
    let uri = format!("a://{NASTY}");
    for option in ["--verbose", "--json", "--trace"] {
        let words = ["listen", &served.url, &uri, option];
        // The server ends it.
        let ran = room.run(&words).ends(4);
        is_harmless(&ran, &words);
        assert!(ran.out.contains("a://"), "{ran:?}");
    }
}

#[test]
fn what_a_user_wants_raw_is_raw() {
    let (room, served) = (Room::new(), served());
    let ran = room
        .run(&["call", &served.url, "text", "--unescaped"])
        .ends(0);
    assert!(ran.out.contains(NASTY));
}
