//! Every exit code, and what is said with it.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    thread,
};

use antiphon::{
    Ask, Form, Server, Stop,
    auth::{Principal, StaticTokens},
    http,
};
use serde_json::{Value, json};

use crate::{
    demo::{Demo, over_stdio},
    room::{ANTIPHON, Room, only},
    served::{Says, Served, discovered},
    shop,
};

/// A server that answers calls like this, and lists nothing.
fn answers(call: impl Fn(&Value) -> Says + Send + Sync + 'static) -> Served {
    Served::script(move |message| match message["method"].as_str() {
        Some("server/discover") => discovered(&json!({ "tools": {} })),
        _ => call(message),
    })
}

#[test]
fn done_and_failed() {
    let (room, shop) = (Room::new(), shop::open());
    room.run(&["call", &shop.url, "busy"]).ends(0);
    let failed = room.run(&["call", &shop.url, "fail"]).ends(1);
    assert!(
        failed.err.is_empty(),
        "the tool has said it all: {}",
        failed.err
    );
}

#[test]
fn a_server_that_cannot_be_reached_or_started() {
    let room = Room::new();
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = closed.local_addr().expect("an address").port();
    drop(closed);
    let refused = format!("http://127.0.0.1:{port}/mcp");
    room.write(
        "antiphon.toml",
        format!("[servers.gone]\nurl = '{refused}'\n"),
    );
    room.write("no-program", "");
    for (at, says) in [
        (&[&*refused][..], "127.0.0.1"),
        (&["gone"], "gone"),
        (&["http://nowhere.invalid/mcp"], "nowhere.invalid"),
        (&["--", "./absent-program"], "absent-program"),
        (&["--", "./no-program"], "no-program"),
        (&["--", ANTIPHON, "show", "absent"], "antiphon show absent"),
    ] {
        for command in [
            &["inspect"][..],
            &["call", "TOOL"],
            &["listen"],
            &["read", "x://y"],
        ] {
            let words = match (at.len(), command) {
                (1, [command, rest @ ..]) => [&[*command], at, rest].concat(),
                _ => [command, at].concat(),
            };
            room.run(&words).fails(3, says);
        }
    }
    assert_eq!(room.files(), ["antiphon.toml", "no-program"]);
}

#[test]
fn what_is_no_mcp_server() {
    let room = Room::new();
    let raw = |status: u16, kind: &'static str, body: &'static str| {
        Served::script(move |_| {
            Says::Raw(
                status,
                vec![("content-type", kind.to_owned())],
                body.to_owned(),
            )
        })
    };
    let said = |result: Value| Served::script(move |_| Says::Result(result.clone()));
    for served in [
        raw(200, "text/html", "<h1>Hello</h1>"),
        raw(200, "application/json", "hello"),
        raw(200, "application/json", "{\"hello\": true}"),
        raw(200, "application/json", "[]"),
        raw(200, "text/event-stream", "data: hello\n\n"),
        raw(404, "text/html", "<h1>Not here</h1>"),
        raw(500, "text/plain", "out of order"),
        said(json!("hello")),
        said(json!({ "supportedVersions": ["1999-01-01"] })),
    ] {
        for command in [&["inspect"][..], &["call", "TOOL", "a=b"], &["prompt", "P"]] {
            let words = [&[command[0], &served.url], &command[1..]].concat();
            room.run(&words).fails(4, "");
        }
    }
    // A program that says something else, and ends, or does not end.
    for program in [&["completions", "bash"][..], &["demo", "--http", "0"]] {
        let command = ["inspect", "--timeout", "work=500ms", "--", ANTIPHON];
        let ran = room.run(&[&command, program].concat());
        assert!([3, 4, 5].contains(&ran.code), "{ran:?}");
        let code = ran.code;
        ran.fails(code, "antiphon ");
    }
    assert_eq!(room.files(), [""; 0]);
}

#[test]
fn an_error_of_the_server() {
    let room = Room::new();
    let served = answers(|_| {
        Says::Result(json!({ "code": -32603, "message": "the disk is full", "data": { "x": 1 } }))
    });
    for command in [&["call", "TOOL"][..], &["prompt", "P"], &["read", "a://b"]] {
        let words = [&[command[0], &served.url], &command[1..]].concat();
        let ran = room.run(&words).fails(4, "the disk is full");
        assert!(ran.err.contains("-32603"), "{}", ran.err);
    }
    room.run(&["complete", &served.url, "P", "a=b"]).ends(4);
    // Results of other shapes.
    for wrong in [
        json!({ "content": 7 }),
        json!([]),
        json!({ "resultType": "input_required" }),
    ] {
        let served = answers(move |_| Says::Result(wrong.clone()));
        room.run(&["call", &served.url, "TOOL"]).fails(4, "");
    }
}

#[test]
fn clocks_run_out_by_name() {
    let room = Room::new();
    let stuck = shop::open();
    let silent = Served::script(|_| Says::Silence);
    for words in [
        ["call", &*stuck.url, "stuck"],
        ["call", &*silent.url, "TOOL"],
        ["prompt", &*silent.url, "TOOL"],
        ["inspect", &*silent.url, "--json"],
        ["listen", &*silent.url, "--json"],
    ] {
        let words = [&words[..], &["--timeout", "work=200ms"]].concat();
        room.run(&words).fails(5, "work");
    }
    assert_eq!(room.files(), [""; 0]);

    // Poll: the call is kept, and goes on.
    let demo = Demo::start();
    let words = [
        "call",
        &demo.url,
        "report",
        "rounds=4",
        "--timeout",
        "poll=60ms",
    ];
    let ran = room.run(&words).fails(5, "poll");
    let resume = ran.command("antiphon resume");
    assert_eq!(resume[1], only(&room, ".paused.json"));
    let done = room
        .run(&["resume", &resume[1], "--timeout", "poll=1m"])
        .done();
    assert_eq!(done, "Done after 4 round(s)\n");
    std::fs::remove_file(room.path(&format!("{}.done", resume[1]))).expect("done");

    // Human: a command that takes the model's place, and its time.
    let sampler = format!("'{ANTIPHON}' listen {}", demo.url);
    let words = [
        "call",
        &demo.url,
        "summarize",
        "text=x",
        "--sampler",
        &sampler,
    ];
    let words = [&words[..], &["--timeout", "human=300ms"]].concat();
    let ran = room.run(&words).fails(5, "human");
    let file = only(&room, ".paused.json");
    assert_eq!(ran.command("antiphon resume"), ["resume", &file]);
    assert_eq!(
        room.run(&["resume", &file, "summary=y"]).done(),
        "Summary: y\n"
    );
    // An older server goes on by itself: what it makes of that is printed.
    let ran = room.run(&[&words[..], &["--legacy"]].concat()).ends(5);
    assert!(ran.out.contains("`summary` was not answered"), "{ran:?}");
    assert!(ran.err.contains("the human clock"), "{}", ran.err);
    assert!(!ran.err.contains("resume"), "{}", ran.err);
}

/// What is wrong is no result.
/// A server that says something beside its messages is one all the same.
#[cfg(unix)]
#[test]
fn a_clock_runs_out_whatever_else_was_said() {
    // It greets, and is silent from then on.
    let server = r#"echo starting
        read -r line; id=${line#*\"id\":}; id=${id%%[,\}]*}
        about='"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}'
        kept='"resultType":"complete","ttlMs":0,"cacheScope":"private"'
        echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{$about,$kept}}"
        while read -r line; do :; done"#;
    let room = Room::new();
    let call = ["call", "TOOL", "--timeout", "work=2s", "--"];
    let ran = room.run(&[&call[..], &["sh", "-c", server]].concat());
    let ran = ran.fails(5, "the work clock");
    assert!(ran.err.contains("no message: starting"), "{}", ran.err);
    // One that never greets is none.
    let ran = room.run(
        &[
            &call[..],
            &["sh", "-c", "echo starting; while read -r line; do :; done"],
        ]
        .concat(),
    );
    ran.fails(4, "Is it an MCP server?");
}

#[test]
fn errors_are_never_on_standard_output() {
    let room = Room::new();
    let refused = answers(|_| Says::Result(json!({ "code": -32602, "message": "no" })));
    let silent = Served::script(|_| Says::Silence);
    for (words, code) in [
        (vec!["call", &refused.url, "x", "a=b"], 4),
        (vec!["read", &refused.url, "a://b"], 4),
        (vec!["inspect", "http://127.0.0.1:1/mcp"], 3),
        (vec!["call", "nobody", "x"], 2),
        (vec!["call", &silent.url, "x", "--timeout=100ms"], 5),
        (vec!["complete", &refused.url, "x", "a=b"], 4),
        (vec!["listen", &refused.url], 4),
        (vec!["show", "absent"], 2),
        (vec!["resume", "absent"], 2),
    ] {
        room.run(&[&words[..], &["--json"]].concat())
            .fails(code, "");
    }
}

#[derive(Form)]
struct More {
    more: bool,
}

/// Nobody reads what is said, or it cannot be written: the exit code is the same, and what was to
/// be kept is.
#[cfg(target_os = "linux")]
#[test]
fn nobody_need_read_what_is_said() {
    use std::{fs::File, process::Stdio};
    let (room, demo) = (Room::new(), Demo::start());
    let full = || {
        let full = File::options().write(true).open("/dev/full");
        Stdio::from(full.expect("a device"))
    };
    // A pipe that nobody reads from any more.
    let broken = || Stdio::from(std::io::pipe().expect("a pipe").1);
    let call = ["call", &demo.url, "deploy", "env=x", "--json", "--save"];
    for (file, out, err) in [
        ("a", full(), Stdio::null()),
        ("b", Stdio::null(), full()),
        ("c", broken(), Stdio::null()),
        ("d", Stdio::null(), broken()),
        ("e", broken(), broken()),
    ] {
        let mut command = room.command(&[&call[..], &[file]].concat());
        let status = command.stdout(out).stderr(err).status().expect("it runs");
        assert_eq!(status.code(), Some(20), "{file}");
        room.run(&["show", file]).done();
    }
    for err in [full(), broken()] {
        let mut command = room.command(&["show", "nothing"]);
        let status = command.stderr(err).status().expect("it runs");
        assert_eq!(status.code(), Some(2));
    }
}

/// The exit code is that of the call, and the session is ended.
#[cfg(target_os = "linux")]
#[test]
fn whoever_reads_or_not_the_call_ends_as_it_does() {
    use std::{fs::File, process::Stdio};
    let room = Room::new();
    let broken = || Stdio::from(std::io::pipe().expect("a pipe").1);
    let full = || Stdio::from(File::create("/dev/full").expect("a device"));
    for (tool, out, code) in [
        ("busy", broken(), 0),
        ("fail", broken(), 1),
        ("busy", full(), 1),
        ("fail", full(), 1),
    ] {
        let shop = shop::open();
        let mut command = room.command(&["call", &shop.url, tool, "--legacy"]);
        let ran = command.stdout(out).output().expect("it runs");
        let err = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{tool}: {err}");
        assert!(shop.heard().iter().any(|heard| heard.verb == "DELETE"));
    }
}

/// What a child said is shown line by line: of its standard error, and beside its messages.
#[cfg(unix)]
#[test]
fn last_words_stand_on_lines_of_their_own() {
    let room = Room::new();
    let inspect = ["inspect", "--", "sh", "-c"];
    let ran = room.run(
        &[
            &inspect[..],
            &["echo 'no key' >&2; echo 'no port' >&2; exit 3"],
        ]
        .concat(),
    );
    let ran = ran.fails(3, "the server exited with status 3; it last said:\n");
    let words: Vec<_> = ran.err.lines().skip(1).collect();
    assert_eq!(words, ["  | no key", "  | no port"]);
    let ran = room.run(&[&inspect[..], &["echo 'no key'; exit 3"]].concat());
    let ran = ran.fails(3, "the server exited with status 3\n");
    let words: Vec<_> = ran.err.lines().skip(1).collect();
    assert_eq!(words, ["It said what is no message: no key"]);

    // What it said before the call is not shown.
    let server = r#"echo 'good morning' >&2; echo 'good morning'
        answer() { id=${line#*\"id\":}; id=${id%%[,\}]*}
            echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{$1,$kept}}"; }
        kept='"resultType":"complete","ttlMs":0,"cacheScope":"private"'
        while read -r line; do case $line in
            *server/discover*) answer '"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}';;
            *tools/list*) answer '"tools":[{"name":"die","inputSchema":{"type":"object"}}]';;
            *) echo ouch >&2; exit 3;;
        esac; done"#;
    let ran = room.run(&["call", "die", "--", "sh", "-c", server]);
    let ran = ran.fails(
        3,
        "the server exited with status 3; it last said:\n  | ouch\n",
    );
    assert!(!ran.err.contains("morning"), "{}", ran.err);
}

#[test]
fn a_server_that_asks_and_asks() {
    async fn endless(ask: Ask) -> Result<String, Stop> {
        for round in 0..100 {
            let More { more } = ask.form(&format!("more{round}"), "More?")?;
            if !more {
                break;
            }
        }
        Ok("enough".to_owned())
    }
    let room = Room::new();
    let server: Server = Server::new("endless", "1").tool("endless", endless);
    let served = Served::server(server);
    room.write("a.toml", "[[answer]]\naccept = { more = true }\n");
    for (rounds, era) in [(3, "--log=off"), (3, "--legacy")] {
        let most = format!("--max-rounds={rounds}");
        let words = [
            "call",
            &served.url,
            "endless",
            "--answers",
            "a.toml",
            &most,
            era,
        ];
        let ran = room.run(&words).ends(6);
        assert_eq!(ran.out, "", "{era}");
        let asked = ran.err.matches("answered [").count();
        assert!(asked <= rounds + 1, "{era}: {}", ran.err);
        let last = ran.err.lines().find(|line| line.starts_with("antiphon: "));
        assert!(
            last.is_some_and(|line| line.contains("round")),
            "{}",
            ran.err
        );
    }
    assert_eq!(room.files(), ["a.toml"]);
}

#[test]
fn who_is_not_let_in() {
    let room = Room::new();
    let server: Server = Server::new("club", "1").tool("dance", async || "fine");
    let members = StaticTokens::new().token("member", Principal::subject("Ada"));
    let guarded = http::service(server).verifier(members);
    let served = Served::service(guarded);
    for variables in [&[][..], &[("TOKEN", "stranger")]] {
        let options: &[&str] = match variables.is_empty() {
            true => &[],
            false => &["--bearer-env", "TOKEN"],
        };
        for command in [&["inspect"][..], &["call", "dance"]] {
            let words = [&[command[0], &served.url], &command[1..], options].concat();
            let ran = room.run_with(variables, &words).fails(7, "--bearer");
            assert!(!ran.err.contains("stranger"), "{}", ran.err);
        }
    }
    let words = ["call", &served.url, "dance", "--bearer-env", "TOKEN"];
    assert_eq!(
        room.run_with(&[("TOKEN", "member")], &words).done(),
        "fine\n"
    );
}

/// A server that wants a token, and publishes who issues it.
fn guarded(scope: &'static str) -> String {
    publishing(scope, |url| {
        let metadata = json!({
            "resource": url,
            "authorization_servers": ["https://login.example.com/\u{202e}tenant"],
            "scopes_supported": ["books.read", "books.write"],
        });
        ("200 OK", "application/json", metadata.to_string())
    })
}

/// A server that wants a token, and answers with this where its metadata should be: a status, a
/// type, and a body.
fn publishing(
    scope: &'static str,
    published: impl Fn(&str) -> (&'static str, &'static str, String),
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    let url = format!("{origin}/mcp");
    let (status, kind, body) = published(&url);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let mut first = String::new();
            _ = reader.read_line(&mut first);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                line.clear();
            }
            let text = match first.contains("/.well-known/books") {
                true => format!(
                    "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n\
                     connection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                ),
                false => format!(
                    "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer \
                     resource_metadata=\"{origin}/.well-known/books\"{scope}\r\n\
                     connection: close\r\ncontent-length: 0\r\n\r\n"
                ),
            };
            _ = (&stream).write_all(text.as_bytes());
        }
    });
    url
}

#[test]
fn who_issues_tokens_is_told() {
    let room = Room::new();
    for (scope, told) in [
        (", scope=\"books.write\"", "scopes:  books.write\n"),
        ("", "scopes:  books.read books.write\n"),
    ] {
        let url = guarded(scope);
        let ran = room.run(&["call", &url, "order"]).fails(7, "--bearer");
        let issuer = "issuer:  https://login.example.com/\\u{202e}tenant\n";
        assert!(ran.err.contains(issuer), "{}", ran.err);
        assert!(ran.err.contains(told), "{}", ran.err);
    }
}

#[test]
fn a_page_where_metadata_should_be_is_not_repeated() {
    let room = Room::new();
    for status in ["200 OK", "404 Not Found"] {
        let page = "<!DOCTYPE html><title>Welcome</title>".to_owned();
        let url = publishing("", |_| (status, "text/html; charset=utf-8", page.clone()));
        let ran = room
            .run(&["call", &url, "order"])
            .fails(7, "issuer:  not known");
        let told = format!("{status} with text/html; charset=utf-8, which is no metadata");
        assert!(ran.err.contains(&told), "{}", ran.err);
        for part in ["DOCTYPE", "Welcome"] {
            assert!(!ran.err.contains(part), "{}", ran.err);
        }
    }
}

/// After `--` comes a command, so that is no way to say what looks like an option.
#[test]
fn a_wrong_option_is_told_without_wrong_advice() {
    let room = Room::new();
    for words in [
        &["call", "shop", "order", "-x"][..],
        &["call", "shop", "order", "--titel=x"],
        &["inspect", "-x"],
        &["resume", "file", "-x"],
    ] {
        let ran = room.run(words).ends(2);
        assert!(ran.err.contains("unexpected argument"), "{}", ran.err);
        assert!(!ran.err.contains("as a value"), "{}", ran.err);
    }
    let ran = room.run(&["call", "shop", "order", "--jsn"]).ends(2);
    assert!(ran.err.contains("--json"), "{}", ran.err);
}

#[test]
fn help_has_examples() {
    let room = Room::new();
    for command in [
        "inspect",
        "call",
        "prompt",
        "read",
        "complete",
        "listen",
        "resume",
        "show",
        "keygen",
        "completions",
        "demo",
    ] {
        let help = room.run(&[command, "--help"]).done();
        assert!(help.contains("Examples:"), "{command}");
        assert!(help.contains(&format!("antiphon {command}")), "{command}");
        assert!(help.contains("Exit codes"), "{command}");
        room.run(&[command, "--no-such-option"]).ends(2);
    }
    // The rules in it are rules.
    let help = room.run(&["call", "--help"]).done();
    let rules = help.lines().map(str::trim_start);
    let rules = rules.skip_while(|line| !line.starts_with("[[answer]]"));
    let rules: Vec<_> = rules.take_while(|line| !line.is_empty()).collect();
    room.write("a.toml", rules.join("\n"));
    let words = [
        "call",
        "deploy",
        "env=prod",
        "--answers",
        "a.toml",
        "--strict",
    ];
    assert_eq!(room.run(&over_stdio(&words)).done(), "Deployed to prod\n");
    let help = room.run(&["--help"]).done();
    assert!(help.contains("130 interrupted"), "{help}");
    room.run(&over_stdio(&["inspect", "--timeout", "soon"]))
        .ends(2);
}
