//! What the tools do, seen from a client.

use std::fs;

use serde_json::{Value, json};

use crate::ground::{Client, Ground, Meanwhile, Web};

fn paths(hits: &Value) -> Vec<&str> {
    let hits = hits.as_array().expect("a list").iter();
    hits.map(|hit| hit["path"].as_str().expect("a path"))
        .collect()
}

#[tokio::test]
async fn a_directory_is_listed_in_order() {
    let ground = Ground::new("list");
    ground.file("b.txt", "12345");
    ground.file("a/inner.txt", "");
    std::os::unix::fs::symlink("b.txt", ground.path("c")).expect("linked");
    let mut files = ground.serve(&[]);
    let roots = files.structured("list", json!({})).await;
    let root = ground.path("").canonicalize().expect("there");
    assert_eq!(paths(&roots["entries"]), [root.to_str().expect("UTF-8")]);
    let listing = files.structured("list", json!({ "path": root })).await;
    assert_eq!(
        listing,
        json!({ "more": false, "entries": [
            { "path": ground.path("a"), "kind": "directory", "size": null },
            { "path": ground.path("b.txt"), "kind": "file", "size": 5 },
            { "path": ground.path("c"), "kind": "link", "size": null },
        ] })
    );
    let failed = files.failure("list", json!({ "path": "b.txt" })).await;
    assert!(failed.contains("b.txt"), "{failed}");
}

#[tokio::test]
async fn lines_of_a_file_are_read() {
    let ground = Ground::new("read");
    let path = ground.file("poem.txt", "one\ntwo\nthree\n");
    let mut files = ground.serve(&[]);
    let whole = files.text("read", json!({ "path": path })).await;
    assert_eq!(whole, "one\ntwo\nthree\n");
    let some = files
        .call("read", json!({ "path": "poem.txt", "from": 2, "lines": 1 }))
        .await;
    assert_eq!(some["content"][0]["text"], "two\n");
    let note = some["content"][1]["text"].as_str().expect("a note");
    assert!(note.contains("`from`: 3"), "{note}");
    let refused = files
        .failure("read", json!({ "path": "poem.txt", "from": 0 }))
        .await;
    assert!(refused.contains("from"), "{refused}");
    let missing = files.failure("read", json!({ "path": "prose.txt" })).await;
    assert!(missing.starts_with("There is no `"), "{missing}");
    let directory = files.failure("read", json!({ "path": "" })).await;
    assert!(directory.ends_with("is a directory."), "{directory}");
}

#[tokio::test]
async fn a_big_file_comes_in_parts() {
    let ground = Ground::new("big");
    let line = "x".repeat(99) + "\n";
    ground.file("big.log", line.repeat(50_000));
    ground.file("long.json", "é".repeat(400_000));
    let mut files = ground.serve(&[]);
    let (mut from, mut total, mut calls) = (json!(1), 0, 0);
    loop {
        let part = files
            .call("read", json!({ "path": "big.log", "from": from }))
            .await;
        let text = part["content"][0]["text"].as_str().expect("a text");
        assert!(text.len() <= 256 * 1024 && text.ends_with('\n'));
        (total, calls) = (total + text.len(), calls + 1);
        let Some(note) = part["content"][1]["text"].as_str() else {
            break;
        };
        let digits: String = note.chars().filter(char::is_ascii_digit).collect();
        from = digits.parse::<u64>().expect("a line").into();
    }
    assert_eq!((total, calls), (5_000_000, 20));
    let cut = files.call("read", json!({ "path": "long.json" })).await;
    let text = cut["content"][0]["text"].as_str().expect("a text");
    assert_eq!(text, "é".repeat(128 * 1024));
    let note = cut["content"][1]["text"].as_str().expect("a note");
    assert!(note.contains("Line 1 goes on"), "{note}");
}

#[tokio::test]
async fn a_binary_file_is_no_text() {
    let ground = Ground::new("binary");
    ground.file("picture.png", b"\x89PNG\r\n\x1a\n\0\0");
    ground.file("zeros", b"a\0b");
    let mut files = ground.serve(&[]);
    for (name, bytes) in [("picture.png", "10 bytes"), ("zeros", "3 bytes")] {
        let failed = files.failure("read", json!({ "path": name })).await;
        assert!(failed.contains(bytes), "{failed}");
        assert!(failed.contains("file:///"), "{failed}");
    }
}

/// Opening a pipe would wait for somebody to write to it.
#[tokio::test]
async fn a_pipe_is_not_waited_for() {
    let ground = Ground::new("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(ground.path("pipe"))
        .status();
    assert!(made.expect("mkfifo runs").success());
    let mut files = ground.serve(&[]);
    for (tool, arguments) in [
        ("read", json!({ "path": "pipe" })),
        (
            "write",
            json!({ "path": "pipe", "text": "", "overwrite": true }),
        ),
    ] {
        let failed = files.failure(tool, arguments).await;
        assert!(failed.contains("regular file"), "{failed}");
    }
    let found = files.structured("search", json!({ "text": "x" })).await;
    assert_eq!(found["hits"], json!([]));
}

#[tokio::test]
async fn files_are_found_by_name_and_by_text() {
    let ground = Ground::new("search");
    let main = ground.file("src/main.rs", "fn main() {\n    greet();\n}\n");
    let deep = ground.file("src/a/b/greet.rs", "pub fn greet() {}\n");
    ground.file("greet.bin", b"greet\0");
    let hidden = ground.file(".git/greet.rs", "greet");
    std::os::unix::fs::symlink("..", ground.path("src/up")).expect("linked");
    let mut files = ground.serve(&[]);
    let named = files.structured("search", json!({ "name": "*.rs" })).await;
    assert_eq!(
        named["hits"],
        json!([
            { "path": main, "line": null, "text": null },
            { "path": deep, "line": null, "text": null },
        ])
    );
    let texts = files.structured("search", json!({ "text": "greet" })).await;
    assert_eq!(
        texts["hits"],
        json!([
            { "path": main, "line": 2, "text": "    greet();" },
            { "path": deep, "line": 1, "text": "pub fn greet() {}" },
        ])
    );
    let both = json!({ "path": "src/a", "name": "g*", "text": "greet", "hidden": true });
    let both = files.structured("search", both).await;
    assert_eq!(paths(&both["hits"]), [deep.to_str().expect("UTF-8")]);
    let all = json!({ "text": "greet", "hidden": true });
    let all = files.structured("search", all).await;
    assert_eq!(paths(&all["hits"])[0], hidden.to_str().expect("UTF-8"));
    let failed = files.failure("search", json!({ "path": "lib" })).await;
    assert!(failed.starts_with("There is no `"), "{failed}");
}

#[tokio::test]
async fn a_search_says_that_there_is_more() {
    let ground = Ground::new("more");
    ground.file("many.txt", "yes\n".repeat(201));
    ground.file("enough/some.txt", "yes\n".repeat(200));
    let mut files = ground.serve(&[]);
    let found = files.structured("search", json!({ "text": "yes" })).await;
    assert_eq!(found["hits"].as_array().expect("hits").len(), 200);
    assert_eq!(found["more"], true);
    let enough = json!({ "text": "yes", "path": "enough" });
    assert_eq!(files.structured("search", enough).await["more"], false);
}

#[tokio::test]
async fn a_file_is_written_with_its_directories() {
    let ground = Ground::new("write");
    let mut files = ground.serve(&[]);
    let wrote = files
        .text("write", json!({ "path": "a/b/c.txt", "text": "Grüße\n" }))
        .await;
    assert!(wrote.starts_with("Wrote 8 bytes to `"), "{wrote}");
    assert_eq!(ground.read("a/b/c.txt"), "Grüße\n");
    files
        .text("write", json!({ "path": "top.txt", "text": "" }))
        .await;
    assert_eq!(ground.read("top.txt"), "");
    for path in ["", ground.path("").to_str().expect("UTF-8")] {
        let failed = files
            .failure("write", json!({ "path": path, "text": "x" }))
            .await;
        assert!(failed.ends_with("is a served directory."), "{failed}");
    }
    // A directory is not replaced by a file, nor a file by a directory.
    for path in ["a/b", "top.txt/c"] {
        let arguments = json!({ "path": path, "text": "x", "overwrite": true });
        files.failure("write", arguments).await;
    }
    assert_eq!(ground.read("top.txt"), "");
    assert_eq!(ground.read("a/b/c.txt"), "Grüße\n");
}

#[tokio::test]
async fn a_file_is_not_overwritten_unless_told() {
    let ground = Ground::new("overwrite");
    ground.file("a.txt", "old");
    let mut files = ground.serve(&[]);
    let refused = files
        .failure("write", json!({ "path": "a.txt", "text": "new" }))
        .await;
    assert!(refused.contains("`overwrite`"), "{refused}");
    assert_eq!(ground.read("a.txt"), "old");
    let wrote = json!({ "path": "a.txt", "text": "new", "overwrite": true });
    assert!(files.agreed("write", wrote).await.starts_with("Replaced"));
    assert_eq!(ground.read("a.txt"), "new");
}

#[tokio::test]
async fn of_many_new_files_of_one_name_the_first_stays() {
    let ground = Ground::new("first");
    let mut files = ground.serve(&[]);
    for round in 0..20 {
        let name = format!("{round}.txt");
        let write = |text: u32| json!({ "path": name, "text": text.to_string() });
        let all: Vec<Value> = (0..20).map(write).collect();
        let results = files.call_all("write", &all).await;
        let wrote = results.iter().filter(|result| result["isError"] != true);
        assert_eq!(wrote.count(), 1, "{results:?}");
        let said = |result: &Value| result["content"][0]["text"].to_string();
        let refused = results.iter().filter(|one| said(one).contains("overwrite"));
        assert_eq!(refused.count(), 19, "{results:?}");
    }
    let names = fs::read_dir(ground.path("")).expect("readable");
    assert_eq!(names.count(), 20, "no drafts are left");
}

/// A reader sees a whole file, old or new; nothing is left lying about; a program stays one.
#[tokio::test]
async fn a_file_is_replaced_at_once() {
    use std::os::unix::fs::PermissionsExt;
    let ground = Ground::new("atomic");
    let versions = ["a".repeat(300_000), "b".repeat(200_000)];
    let path = ground.file("run.sh", &versions[0]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
    let mut files = ground.serve(&[]);
    let reading = Meanwhile::start({
        let (path, versions) = (path.clone(), versions.clone());
        move || {
            let text = fs::read_to_string(&path).expect("always there");
            assert!(versions.contains(&text), "a file of {} bytes", text.len());
        }
    });
    for turn in 0..40 {
        let text = &versions[turn % 2];
        let arguments = json!({ "path": "run.sh", "text": text, "overwrite": true });
        files.agreed("write", arguments).await;
    }
    reading.end();
    let names = fs::read_dir(ground.path("")).expect("readable");
    assert_eq!(names.count(), 1, "no drafts are left");
    let mode = fs::metadata(&path).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[tokio::test]
async fn files_and_empty_directories_are_deleted() {
    let ground = Ground::new("delete");
    ground.file("a/b.txt", "");
    let mut files = ground.serve(&[]);
    let full = files.failure("delete", json!({ "path": "a" })).await;
    assert!(full.to_lowercase().contains("not empty"), "{full}");
    for path in ["a/b.txt", "a"] {
        files.agreed("delete", json!({ "path": path })).await;
        assert!(!ground.path(path).exists());
    }
    let root = files.failure("delete", json!({ "path": "." })).await;
    assert!(root.ends_with("is a served directory."), "{root}");
    let gone = files.failure("delete", json!({ "path": "a" })).await;
    assert!(gone.starts_with("There is no `"), "{gone}");
}

#[tokio::test]
async fn names_are_unicode() {
    let ground = Ground::new("unicode");
    let name = "Übersicht 日本語 🦀 'a\"b\n.txt";
    let mut files = ground.serve(&[]);
    files
        .text("write", json!({ "path": name, "text": "ok" }))
        .await;
    assert_eq!(ground.read(name), "ok");
    assert_eq!(files.text("read", json!({ "path": name })).await, "ok");
    let found = files.structured("search", json!({ "name": "*🦀*" })).await;
    let path = ground.path(name);
    assert_eq!(paths(&found["hits"]), [path.to_str().expect("UTF-8")]);
    files.agreed("delete", json!({ "path": path })).await;
    assert!(!path.exists());
}

#[tokio::test]
async fn read_only_has_no_tools_that_write() {
    let ground = Ground::new("read-only");
    ground.file("a.txt", "old");
    let mut tools = Vec::new();
    for options in [&[][..], &["--read-only"]] {
        let mut files = ground.serve(options);
        let listed = files.ask("tools/list", json!({})).await;
        let listed = listed.result()["tools"].as_array().expect("tools").clone();
        let hint = |tool: &Value, hint: &str| tool["annotations"][hint] == true;
        tools.push(
            listed
                .iter()
                .map(|tool| {
                    let name = tool["name"].as_str().expect("a name").to_owned();
                    (
                        name,
                        hint(tool, "readOnlyHint"),
                        hint(tool, "destructiveHint"),
                    )
                })
                .collect::<Vec<_>>(),
        );
        let delete = json!({ "name": "delete", "arguments": { "path": "a.txt" } });
        if !options.is_empty() {
            assert_eq!(files.ask("tools/call", delete).await.code(), -32602);
        }
    }
    let reading = ["list", "read", "search"].map(|name| (name.to_owned(), true, false));
    let writing = ["write", "delete"].map(|name| (name.to_owned(), false, true));
    assert_eq!(tools[0], [&reading[..], &writing[..]].concat());
    assert_eq!(tools[1], reading);
    assert_eq!(ground.read("a.txt"), "old");
}

#[tokio::test]
async fn several_roots_are_told_apart() {
    let (one, two) = (Ground::new("several-1"), Ground::new("several-2"));
    let (a, b) = (one.file("a.txt", "a"), two.file("b.txt", "b"));
    let roots = [one.path(""), two.path("")];
    let mut files = Client::start(&roots.each_ref().map(|root| root.to_str().expect("UTF-8")));
    assert_eq!(files.text("read", json!({ "path": a })).await, "a");
    assert_eq!(files.text("read", json!({ "path": b })).await, "b");
    let found = files.structured("search", json!({ "name": "*.txt" })).await;
    assert_eq!(
        paths(&found["hits"]),
        [&a, &b].map(|path| path.to_str().expect("UTF-8"))
    );
    let relative = files.failure("read", json!({ "path": "a.txt" })).await;
    assert!(relative.contains("several-1"), "{relative}");
}

#[tokio::test]
async fn on_http_a_token_is_needed() {
    let ground = Ground::new("http");
    ground.file("a.txt", "over HTTP");
    let refused = tokio::process::Command::new(env!("CARGO_BIN_EXE_antiphon-files"))
        .args(["--http", "0"])
        .arg(ground.path(""))
        .env_remove("ANTIPHON_FILES_TOKEN")
        .output();
    assert!(!refused.await.expect("it runs").status.success());

    let web = Web::start(&ground).await;
    let read = antiphon_tests::call(1, "read", json!({ "path": "a.txt" }));
    assert_eq!(web.post(&read, false).await.status, 401);
    let answer = web.post(&read, true).await;
    assert_eq!(answer.last()["result"]["content"][0]["text"], "over HTTP");
}
