//! Nothing that was there is replaced or deleted unless the user agrees to exactly that.

use std::{collections::BTreeMap, fs, path::Path};

use antiphon_tests::{
    asking::{retry, state_of},
    call,
    older::{Older, REVISIONS},
    request_as,
};
use serde_json::{Value, json};

use crate::ground::{Client, Ground, Web, key_of, yes};

/// The server, on either transport.
enum Way {
    Stdio(Client),
    Http(Web),
}

impl Way {
    async fn all(ground: &Ground) -> [Self; 2] {
        [
            Self::Stdio(ground.serve(&[])),
            Self::Http(Web::start(ground).await),
        ]
    }

    /// The response to a message.
    async fn ask(&mut self, message: &Value) -> Value {
        match self {
            Self::Stdio(client) => client.send(message).await,
            Self::Http(web) => web.post(message, true).await.last().clone(),
        }
    }

    /// The state and the key of what this asks.
    async fn asks(&mut self, message: &Value) -> (String, String) {
        let response = self.ask(message).await;
        (state_of(&response["result"]), key_of(&response["result"]))
    }
}

/// All that is under a directory: names, kinds and contents.
fn tree(directory: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).expect("readable") {
            let entry = entry.expect("readable");
            let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
            let contents = kind.is_file().then(|| fs::read(&path).expect("readable"));
            all.insert(format!("{kind:?} {}", path.display()), contents);
            if kind.is_dir() {
                waiting.push(path);
            }
        }
    }
    all
}

fn ground(name: &str) -> Ground {
    let ground = Ground::new(name);
    ground.file("a.txt", "old");
    ground.file("b.txt", "other");
    fs::create_dir(ground.path("empty")).expect("made");
    std::os::unix::fs::symlink("b.txt", ground.path("link")).expect("linked");
    ground
}

/// A tool and arguments with which it destroys something; and the same about something else.
fn destructive() -> [(&'static str, Value, Value); 4] {
    let write = |path: &str| json!({ "path": path, "text": "new", "overwrite": true });
    let delete = |path: &str| json!({ "path": path });
    [
        ("write", write("a.txt"), write("b.txt")),
        ("delete", delete("a.txt"), delete("b.txt")),
        ("delete", delete("empty"), delete("link")),
        ("delete", delete("link"), delete("b.txt")),
    ]
}

fn accepts(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// What a client may answer that is no yes.
fn no_yes() -> Vec<Value> {
    let mut all = vec![
        json!({ "action": "decline" }),
        json!({ "action": "decline", "content": { "confirm": true } }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "Accept", "content": { "confirm": true } }),
        json!({ "confirm": true }),
        json!("accept"),
        json!(true),
        json!([]),
        Value::Null,
    ];
    all.extend(
        [
            json!({}),
            json!({ "confirm": false }),
            json!({ "confirm": "true" }),
            json!({ "confirm": 1 }),
            json!({ "confirm": null }),
            json!({ "confirm": [true] }),
            json!({ "ok": true }),
            json!([true]),
            json!("true"),
        ]
        .iter()
        .map(accepts),
    );
    all
}

#[tokio::test]
async fn a_client_that_cannot_ask_changes_nothing() {
    let ground = ground("cannot-ask");
    let before = tree(&ground.path(""));
    for way in &mut Way::all(&ground).await {
        for (tool, arguments, _) in destructive() {
            for capabilities in [
                json!({}),
                json!({ "elicitation": { "url": {} } }),
                json!({ "sampling": { "tools": {} }, "roots": {} }),
            ] {
                let params = json!({ "name": tool, "arguments": arguments });
                let first = request_as(&capabilities, 1, "tools/call", params);
                let mut unasked = first.clone();
                unasked["params"]["inputResponses"] = json!({ tool: yes(), "overwrite": yes() });
                for message in [first, unasked] {
                    let refused = way.ask(&message).await;
                    assert_eq!(refused["error"]["code"], -32021, "{refused}");
                    assert_eq!(tree(&ground.path("")), before, "{message}");
                }
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_no_yes_changes_nothing() {
    let ground = ground("no-yes");
    let before = tree(&ground.path(""));
    for way in &mut Way::all(&ground).await {
        for (tool, arguments, _) in destructive() {
            let first = call(1, tool, arguments);
            for entry in no_yes() {
                let (state, key) = way.asks(&first).await;
                let message = retry(&first, &state, json!({ key: entry }));
                let response = way.ask(&message).await;
                let result = &response["result"];
                let failed = result["isError"] == true;
                let asks_again = result["resultType"] == "input_required";
                assert!(failed || asks_again, "{entry}: {response}");
                assert_eq!(tree(&ground.path("")), before, "{message}");
            }
        }
    }
}

#[tokio::test]
async fn a_yes_to_something_else_changes_nothing() {
    let ground = ground("another-yes");
    let before = tree(&ground.path(""));
    for way in &mut Way::all(&ground).await {
        for (tool, arguments, other) in destructive() {
            let first = call(1, tool, arguments.clone());
            let mut attempts = Vec::new();

            let mut unasked = first.clone();
            unasked["params"]["inputResponses"] = json!({ "delete": yes(), "overwrite": yes() });
            attempts.push(("unsolicited", unasked));

            let (state, key) = way.asks(&first).await;
            attempts.push(("no answer", retry(&first, &state, json!({}))));
            let (state, _) = way.asks(&first).await;
            let under_another_key = json!({ "confirm": yes(), "other": yes() });
            attempts.push(("another key", retry(&first, &state, under_another_key)));

            let yes = || json!({ &key: yes() });
            let (state, _) = way.asks(&call(1, tool, other.clone())).await;
            attempts.push(("another path", retry(&first, &state, yes())));

            let (tool_of, arguments_of) = match tool {
                "write" => ("delete", json!({ "path": arguments["path"] })),
                _ => (
                    "write",
                    json!({ "path": "a.txt", "text": "new", "overwrite": true }),
                ),
            };
            let (state, _) = way.asks(&call(1, tool_of, arguments_of)).await;
            attempts.push(("another tool", retry(&first, &state, yes())));

            let (state, _) = way.asks(&first).await;
            for at in [0, 1, state.len() / 2, state.len() - 1] {
                let mut bytes = state.clone().into_bytes();
                bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
                let tampered = String::from_utf8(bytes).expect("ASCII");
                attempts.push(("tampered", retry(&first, &tampered, yes())));
            }
            attempts.push(("cut", retry(&first, &state[..state.len() - 4], yes())));
            attempts.push(("made up", retry(&first, "confirmed", yes())));
            let mut text = arguments.clone();
            text["text"] = "newer".into();
            if tool == "write" {
                let message = retry(&call(1, tool, text), &state, yes());
                attempts.push(("another text", message));
            }

            let (state, _) = way.asks(&first).await;
            let declined = json!({ &key: { "action": "decline" } });
            way.ask(&retry(&first, &state, declined)).await;
            attempts.push(("used", retry(&first, &state, yes())));

            // Of another process, which has other keys.
            let mut another = Way::Stdio(ground.serve(&[]));
            let (state, _) = another.asks(&first).await;
            attempts.push(("another server", retry(&first, &state, yes())));

            for (name, message) in attempts {
                let response = way.ask(&message).await;
                let asks_again = response["result"]["resultType"] == "input_required";
                let refused = response["error"]["code"] == -32602;
                assert!(refused || asks_again, "{name}: {response}");
                assert_eq!(tree(&ground.path("")), before, "{name}");
            }
        }
    }
}

/// A session of an older revision, on either transport.
async fn older(
    ground: &Ground,
    over_http: bool,
    version: &str,
    can: &Value,
) -> (Option<Web>, Older) {
    let (web, mut older) = match over_http {
        false => (None, Older::process(ground.process())),
        true => {
            let web = Web::start(ground).await;
            let older = web.older();
            (Some(web), older)
        }
    };
    older.greet(version, can).await;
    (web, older)
}

/// Whoever cannot be asked, or says no, or brings an answer along, in the revisions in which the
/// server asks while the call waits.
#[tokio::test]
async fn no_older_client_changes_anything_without_a_yes() {
    let ground = ground("older");
    let before = tree(&ground.path(""));
    for over_http in [false, true] {
        for version in REVISIONS {
            for can in [json!({}), json!({ "elicitation": {} })] {
                let (_web, mut older) = older(&ground, over_http, version, &can).await;
                let asks = version >= "2025-06-18" && can.get("elicitation").is_some();
                for (tool, arguments, _) in destructive() {
                    let answers = match asks {
                        true => no_yes(),
                        false => vec![Value::Null],
                    };
                    for entry in answers {
                        let params = json!({
                            "name": tool, "arguments": arguments,
                            "inputResponses": { "delete": yes(), "overwrite": yes() },
                            "requestState": "confirmed",
                        });
                        let id = older.begin("tools/call", params).await;
                        // Also when it is asked again and again.
                        let (asked, response) = older.finish(id, |_| Ok(entry.clone())).await;
                        assert_eq!(response["result"]["isError"], true, "{entry}: {response}");
                        assert_eq!(!asked.is_empty(), asks, "{version} {can}: {asked:?}");
                        assert_eq!(tree(&ground.path("")), before, "{version} {tool} {entry}");
                    }
                    let unable = |_: &Value| Err(json!({ "code": -1, "message": "no" }));
                    let (_, response) = older.call(tool, arguments.clone(), unable).await;
                    assert_eq!(response["result"]["isError"], true, "{response}");
                    assert_eq!(tree(&ground.path("")), before, "{version} {tool}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_yes_of_an_older_client_counts_once() {
    for version in ["2025-06-18", "2025-11-25"] {
        for over_http in [false, true] {
            let ground = ground(&format!("older-yes-{version}-{over_http}"));
            let can = json!({ "elicitation": {} });
            let (_web, mut older) = older(&ground, over_http, version, &can).await;
            let delete = json!({ "path": "a.txt" });
            let agree = |_: &Value| Ok(yes());
            let (asked, response) = older.call("delete", delete.clone(), agree).await;
            assert_eq!(asked.len(), 1);
            assert_eq!(response["result"]["isError"], Value::Null, "{response}");
            assert!(!ground.path("a.txt").exists());
            assert_eq!(ground.read("b.txt"), "other");
            // The same answer again is to nobody's question.
            ground.file("a.txt", "a new one");
            older
                .say(&json!({ "jsonrpc": "2.0", "id": asked[0]["id"], "result": yes() }))
                .await;
            let id = older
                .begin(
                    "tools/call",
                    json!({ "name": "delete", "arguments": delete }),
                )
                .await;
            let decline = |_: &Value| Ok(json!({ "action": "decline" }));
            older.finish(id, decline).await;
            assert_eq!(ground.read("a.txt"), "a new one");
        }
    }
}

#[tokio::test]
async fn a_yes_changes_what_was_asked_about_and_nothing_else() {
    for (at, (tool, arguments, _)) in destructive().into_iter().enumerate() {
        for over_http in [false, true] {
            let ground = ground(&format!("yes-{at}-{over_http}"));
            let mut way = match over_http {
                false => Way::Stdio(ground.serve(&[])),
                true => Way::Http(Web::start(&ground).await),
            };
            let mut expected = tree(&ground.path(""));
            let path = ground.path(arguments["path"].as_str().expect("a path"));
            let touched = expected
                .extract_if(.., |name, _| name.ends_with(path.to_str().expect("UTF-8")))
                .collect::<Vec<_>>();
            let [(name, _)] = &touched[..] else {
                panic!("{touched:?}")
            };
            if tool == "write" {
                expected.insert(name.clone(), Some(b"new".to_vec()));
            }
            let first = call(1, tool, arguments.clone());
            let (state, key) = way.asks(&first).await;
            let message = retry(&first, &state, json!({ key: yes() }));
            let done = way.ask(&message).await;
            assert_eq!(done["result"]["isError"], Value::Null, "{done}");
            assert_eq!(tree(&ground.path("")), expected);
            // The same again does nothing, though the file be there again.
            if tool == "delete" && path.ends_with("a.txt") {
                ground.file("a.txt", "a new one");
                assert_eq!(way.ask(&message).await["result"], done["result"]);
                assert_eq!(ground.read("a.txt"), "a new one");
            }
        }
    }
}

#[tokio::test]
async fn the_question_says_what_happens() {
    let ground = ground("question");
    let mut way = Way::Stdio(ground.serve(&[]));
    let write = json!({ "path": "a.txt", "text": "newer", "overwrite": true });
    for (tool, arguments, begins, parts) in [
        (
            "write",
            write,
            "Replace this file? What it contains now is lost.",
            [
                format!("\n- path: \"{}\"", ground.path("a.txt").display()),
                "\n- old: {\"bytes\":3,\"modified\":\"".to_owned(),
                "\n- new: {\"bytes\":5,\"sha256\":\"804f51f71254c4081e37e7c887073560f4a6fa6cdad202e9ac67e032c43ed1e1\"}".to_owned(),
            ],
        ),
        (
            "delete",
            json!({ "path": "link" }),
            "Delete this for good?",
            [
                format!("\n- path: \"{}\"", ground.path("link").display()),
                "\n- kind: \"link\"".to_owned(),
                "\n- version: {\"bytes\":5,".to_owned(),
            ],
        ),
    ] {
        let response = way.ask(&call(1, tool, arguments)).await;
        let questions = &response["result"]["inputRequests"];
        let message = &questions[key_of(&response["result"])]["params"]["message"];
        let message = message.as_str().expect("a text");
        assert!(message.starts_with(begins), "{message}");
        for part in parts {
            assert!(message.contains(&part), "{message}");
        }
    }
}

/// What is no longer what it was is asked about again, as it is now.
#[tokio::test]
async fn a_file_that_changed_meanwhile_is_asked_about_again() {
    for (tool, arguments, _) in &destructive()[..2] {
        let ground = ground(&format!("changed-{tool}"));
        let mut way = Way::Stdio(ground.serve(&[]));
        let first = call(1, tool, arguments.clone());
        let (state, key) = way.asks(&first).await;
        ground.file("a.txt", "changed");
        let message = retry(&first, &state, json!({ &key: yes() }));
        let (state, _) = way.asks(&message).await;
        assert_eq!(ground.read("a.txt"), "changed");
        let message = retry(&first, &state, json!({ &key: yes() }));
        let done = way.ask(&message).await;
        assert_eq!(done["result"]["isError"], Value::Null, "{done}");
        let now = fs::read_to_string(ground.path("a.txt")).ok();
        assert_eq!(now.as_deref(), (*tool == "write").then_some("new"));
    }
}

/// A new file takes no question, and replaces nothing.
#[tokio::test]
async fn a_new_file_is_not_asked_about() {
    let ground = ground("new");
    let mut files = ground.serve(&[]);
    let write = json!({ "path": "new.txt", "text": "new", "overwrite": true });
    let wrote = files.text("write", write).await;
    assert!(wrote.starts_with("Wrote 3 bytes"), "{wrote}");
    assert_eq!(ground.read("new.txt"), "new");
}

/// Where in the source something is removed or takes another's place: a function that takes a
/// `Confirmed`, or a draft, which is the server's own.
#[test]
fn one_function_replaces_and_one_deletes() {
    let mut found = Vec::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(source).expect("readable") {
        let path = entry.expect("readable").path();
        let text = fs::read_to_string(&path).expect("a text");
        let name = path.file_name().expect("a name").to_string_lossy();
        let destroys = [
            ".rename(",
            ".remove_",
            ".truncate(true",
            ".create(true",
            ".set_len(",
            "fs::write(",
            "File::create(",
            ".copy(",
            " std::fs",
        ];
        let program = text.split("#[cfg(test)]").next().expect("a part");
        for line in program.lines().map(str::trim) {
            if destroys.iter().any(|call| line.contains(call)) {
                found.push(format!("{name}: {line}"));
            }
        }
    }
    found.sort();
    assert_eq!(
        found,
        [
            "delete.rs: Kind::Directory => root.remove_dir(inner),",
            "delete.rs: _ => root.remove_file(inner),",
            "write.rs: _ = self.dir.remove_file(&self.name);",
            "write.rs: self.dir.rename(&self.name, self.dir, name)",
        ]
    );
}

/// The file is gone when the answer comes: that makes no yes of a no.
#[tokio::test]
async fn a_no_stays_one_though_there_is_nothing_left_to_replace() {
    let ground = ground("no-and-gone");
    for mut way in Way::all(&ground).await {
        ground.file("a.txt", "old");
        let arguments = json!({ "path": "a.txt", "text": "new", "overwrite": true });
        let write = call(1, "write", arguments);
        let (state, key) = way.asks(&write).await;
        fs::remove_file(ground.path("a.txt")).expect("removed");
        let no = json!({ key: { "action": "decline" } });
        let response = way.ask(&retry(&write, &state, no)).await;
        assert!(!ground.path("a.txt").exists(), "{response}");
    }
}
