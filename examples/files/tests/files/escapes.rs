//! Nothing leads out of what is served.

use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::{Value, json};

use crate::ground::{Ground, Meanwhile};

/// Every tool with this path, each of which has to fail.
fn attempts(path: &str) -> [(&'static str, Value); 5] {
    [
        ("list", json!({ "path": path })),
        ("read", json!({ "path": path })),
        ("search", json!({ "path": path, "text": "secret" })),
        (
            "write",
            json!({ "path": path, "text": "gotcha", "overwrite": true }),
        ),
        ("delete", json!({ "path": path })),
    ]
}

#[tokio::test]
async fn no_path_leads_out() {
    let ground = Ground::new("paths");
    ground.file("sub/file.txt", "inside");
    let served = ground.path("").display().to_string();
    let secret = ground.outside("secret.txt").display().to_string();
    let mut files = ground.serve(&[]);
    for path in [
        "..".to_owned(),
        "../secret.txt".to_owned(),
        "sub/../../secret.txt".to_owned(),
        "./sub/.././../secret.txt".to_owned(),
        format!("{served}/../secret.txt"),
        format!("{served}/sub/../../secret.txt"),
        secret,
        "/etc/passwd".to_owned(),
        "//etc/passwd".to_owned(),
        "/".to_owned(),
        "/proc/self/root/etc/passwd".to_owned(),
        "sub\0/../../secret.txt".to_owned(),
        "\0".to_owned(),
        // The name of the root continues: a neighbour.
        format!("{}-not/x", served.trim_end_matches('/')),
    ] {
        for (tool, arguments) in attempts(&path) {
            let failed = files.failure(tool, arguments).await;
            assert!(!failed.contains("The secret"), "{path:?}: {failed}");
        }
        ground.assert_untouched();
    }
    assert_eq!(ground.read("sub/file.txt"), "inside");
}

#[tokio::test]
async fn no_symbolic_link_leads_out() {
    let ground = Ground::new("links");
    ground.file("sub/file.txt", "inside");
    symlink(ground.outside(""), ground.path("absolute")).expect("linked");
    symlink("../..", ground.path("sub/relative")).expect("linked");
    symlink("sub/relative", ground.path("chain")).expect("linked");
    symlink("/", ground.path("slash")).expect("linked");
    symlink("/proc/self/root", ground.path("magic")).expect("linked");
    let secret = ground.outside("secret.txt");
    let beyond = |link: &str| format!("{link}/secret.txt");
    let mut files = ground.serve(&[]);
    for path in [
        beyond("absolute"),
        beyond("sub/relative"),
        beyond("chain"),
        format!("slash{}", secret.display()),
        format!("magic{}", secret.display()),
    ] {
        for (tool, arguments) in attempts(&path) {
            let failed = files.failure(tool, arguments).await;
            let why = "leads out of the served directories";
            assert!(failed.contains(why), "{tool} {path}: {failed}");
        }
        ground.assert_untouched();
    }
    // A new file beyond a link, and directories for it.
    for path in [
        "absolute/new.txt",
        "chain/new/new.txt",
        "sub/relative/new/new.txt",
    ] {
        files
            .failure("write", json!({ "path": path, "text": "gotcha" }))
            .await;
        ground.assert_untouched();
    }
}

#[tokio::test]
async fn a_link_to_a_file_outside_is_neither_read_nor_written_through() {
    let ground = Ground::new("file-link");
    let secret = ground.outside("secret.txt");
    symlink(&secret, ground.path("absolute")).expect("linked");
    symlink("../secret.txt", ground.path("relative")).expect("linked");
    symlink("../new.txt", ground.path("dangling")).expect("linked");
    let mut files = ground.serve(&[]);
    for path in ["absolute", "relative", "dangling"] {
        let failed = files.failure("read", json!({ "path": path })).await;
        assert!(failed.contains("leads out"), "{failed}");
        for overwrite in [true, false] {
            let write = json!({ "path": path, "text": "gotcha", "overwrite": overwrite });
            files.failure("write", write).await;
        }
        ground.assert_untouched();
    }
    let found = files
        .structured("search", json!({ "text": "secret" }))
        .await;
    assert_eq!(found["hits"], json!([]));
    // The link is in a served directory and may go; what it leads to stays.
    files.agreed("delete", json!({ "path": "relative" })).await;
    assert!(fs::symlink_metadata(ground.path("relative")).is_err());
    ground.assert_untouched();
}

#[tokio::test]
async fn a_link_that_stays_inside_is_followed() {
    let ground = Ground::new("inner-link");
    ground.file("sub/file.txt", "inside");
    symlink("sub/file.txt", ground.path("link")).expect("linked");
    symlink("sub", ground.path("also")).expect("linked");
    let mut files = ground.serve(&[]);
    for path in ["link", "also/file.txt"] {
        assert_eq!(files.text("read", json!({ "path": path })).await, "inside");
    }
    // A link is not quietly turned into a file.
    let write = json!({ "path": "link", "text": "new", "overwrite": true });
    files.failure("write", write).await;
    assert_eq!(ground.read("sub/file.txt"), "inside");
}

/// Directories and links that take each other's place all the time: whatever a call meets, it never
/// brings or changes what is outside.
#[tokio::test]
async fn no_race_leads_out() {
    let ground = Ground::new("race");
    let target = ground.outside("secrets");
    fs::create_dir(&target).expect("made");
    fs::write(target.join("file.txt"), "outside").expect("written");
    ground.file("real/file.txt", "inside");
    symlink("real", ground.path("swap")).expect("linked");
    let swapping = Meanwhile::start({
        let (link, draft) = (ground.path("swap"), ground.path("draft"));
        let target = target.clone();
        move || {
            for to in [&target, Path::new("real")] {
                symlink(to, &draft).expect("linked");
                fs::rename(&draft, &link).expect("swapped");
            }
        }
    });
    let mut files = ground.serve(&[]);
    let (mut inside, mut refused) = (0, 0);
    for turn in 0..400 {
        let read = files.call("read", json!({ "path": "swap/file.txt" })).await;
        let text = read["content"][0]["text"].as_str().expect("a text");
        assert_ne!(text, "outside");
        inside += i32::from(text == "inside");
        refused += i32::from(text.contains("leads out"));
        let write = json!({ "path": format!("swap/new-{turn}.txt"), "text": "x" });
        files.call("write", write).await;
    }
    swapping.end();
    assert!(inside > 0 && refused > 0, "{inside} and {refused}: no race");
    let names = fs::read_dir(&target).expect("readable");
    assert_eq!(names.count(), 1, "only what was there");
}
