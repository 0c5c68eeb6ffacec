//! Files as resources.

use std::{collections::BTreeMap, os::unix::fs::symlink};

use serde_json::{Value, json};

use crate::ground::Ground;

fn uri(ground: &Ground, name: &str) -> String {
    format!("file://{}", ground.path(name).display())
}

#[tokio::test]
async fn a_file_is_read_as_what_it_is() {
    let ground = Ground::new("resource");
    ground.file("a.md", "# A\n");
    ground.file("sub/plain", "text");
    ground.file("picture.png", b"\x89PNG");
    ground.file("data", b"\xff\xfe");
    let mut files = ground.serve(&[]);
    for (name, mime_type, member, body) in [
        ("a.md", "text/markdown", "text", "# A\n"),
        ("sub/plain", "text/plain", "text", "text"),
        ("picture.png", "image/png", "blob", "iVBORw=="),
        ("data", "application/octet-stream", "blob", "//4="),
    ] {
        let uri = uri(&ground, name);
        let read = files.resource(&uri).await;
        let contents = &read.result()["contents"][0];
        assert_eq!(contents["uri"], uri);
        assert_eq!(contents["mimeType"], mime_type, "{name}");
        assert_eq!(contents[member], body, "{name}");
    }
}

#[tokio::test]
async fn the_files_are_listed_and_every_uri_can_be_read() {
    let ground = Ground::new("resources");
    let names = [
        "a b.txt",
        "ü/日本.md",
        "100%25 #1?.txt",
        "{x}.txt",
        "plus+and&.txt",
    ];
    for name in names {
        ground.file(name, name);
    }
    ground.file(".hidden", "");
    ground.file(".git/config", "");
    symlink(ground.outside("secret.txt"), ground.path("link.txt")).expect("linked");
    let mut files = ground.serve(&[]);
    let list = files.ask("resources/list", json!({})).await;
    let list = list.result()["resources"]
        .as_array()
        .expect("resources")
        .clone();
    assert_eq!(list.len(), names.len());
    let mut read = BTreeMap::new();
    for resource in list {
        let uri = resource["uri"].as_str().expect("a URI");
        let answer = files.resource(uri).await;
        let text = answer.result()["contents"][0]["text"].as_str();
        let text = text.expect("a text").to_owned();
        assert_eq!(resource["size"], text.len());
        read.insert(text, resource["mimeType"].clone());
    }
    let expected = names.map(|name| {
        let kind = if name.ends_with(".md") {
            "text/markdown"
        } else {
            "text/plain"
        };
        (name.to_owned(), Value::from(kind))
    });
    assert_eq!(read, BTreeMap::from(expected));
}

#[tokio::test]
async fn no_uri_leads_out() {
    let ground = Ground::new("uris");
    ground.file("sub/file.txt", "inside");
    symlink("../secret.txt", ground.path("link.txt")).expect("linked");
    symlink(ground.outside(""), ground.path("up")).expect("linked");
    let outside = ground.outside("secret.txt");
    let base = uri(&ground, "");
    let base = base.trim_end_matches('/');
    let mut files = ground.serve(&[]);
    for uri in [
        format!("file://{}", outside.display()),
        format!("{base}/../secret.txt"),
        format!("{base}/%2e%2e/secret.txt"),
        format!("{base}/%2E%2E%2Fsecret.txt"),
        format!("{base}/sub/..%2f..%2fsecret.txt"),
        format!("{base}%2f..%2fsecret.txt"),
        format!("{base}/sub%00/../../secret.txt"),
        format!("{base}/link.txt"),
        format!("{base}/up/secret.txt"),
        format!("{base}/%252e%252e/secret.txt"),
        "file:///etc/passwd".to_owned(),
        "file:////etc/passwd".to_owned(),
        "file:///%2fetc%2fpasswd".to_owned(),
        "file:///..%2f..%2f..%2fetc/passwd".to_owned(),
        "file://localhost/etc/passwd".to_owned(),
        format!("{base}/sub"),
        format!("{base}/missing.txt"),
    ] {
        let answer = files.resource(&uri).await;
        assert_eq!(answer.code(), -32602, "{uri}: {}", answer.response);
    }
    let inside = files.resource(&format!("{base}/sub/file.txt")).await;
    assert_eq!(inside.result()["contents"][0]["text"], "inside");
}

#[tokio::test]
async fn a_file_that_is_too_big_is_refused() {
    let ground = Ground::new("big-resource");
    ground.file("big.bin", vec![0; 4 * 1024 * 1024 + 1]);
    let mut files = ground.serve(&[]);
    let answer = files.resource(&uri(&ground, "big.bin")).await;
    let message = answer.response["error"]["message"].as_str();
    assert!(message.expect("an error").contains("4194304 bytes"));
}
