//! Where the server is: a URL, a name from a file, a command.

use crate::{
    demo::{Demo, over_stdio},
    room::{ANTIPHON, Room},
    shop,
};

#[test]
fn servers_have_names() {
    let (room, shop) = (Room::new(), shop::open());
    let url = &shop.url;
    let port = url.trim_start_matches("http://127.0.0.1:");
    let port = port.trim_end_matches("/mcp");
    let command = serde_json::to_string(ANTIPHON).expect("text");
    let toml = format!("[servers.shop]\nurl = '{url}'\n");
    for (file, text) in [
        ("antiphon.toml", toml.clone()),
        (
            "antiphon.toml",
            "[servers.shop]\nurl = 'http://127.0.0.1:${SHOP_PORT}/mcp'\n".to_owned(),
        ),
        (
            ".mcp.json",
            format!(r#"{{"mcpServers": {{"shop": {{"type": "http", "url": "{url}"}}}}}}"#),
        ),
        (
            ".mcp.json",
            r#"{"mcpServers": {"shop": {"url": "http://127.0.0.1:${SHOP_PORT}/mcp"}}}"#.to_owned(),
        ),
        (
            ".mcp.json",
            format!(
                r#"{{"mcpServers": {{"shop": {{"command": {command}, "args": ["demo", "--stdio"]}}}}}}"#
            ),
        ),
        (
            ".vscode/mcp.json",
            format!(r#"{{"servers": {{"shop": {{"type": "http", "url": "{url}"}}}}}}"#),
        ),
        ("../settings/antiphon/antiphon.toml", toml.clone()),
        (
            "../home/.claude.json",
            format!(r#"{{"mcpServers": {{"shop": {{"type": "http", "url": "{url}"}}}}}}"#),
        ),
    ] {
        let path = room.path(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(&path, &text).expect("written");
        let ran = room.run_with(&[("SHOP_PORT", port)], &["inspect", "shop", "--json"]);
        let shown = ran.ends(0).json();
        let name = shown["serverInfo"]["name"].as_str().expect("a name");
        assert!(["shop", "antiphon-demo"].contains(&name), "{file}: {text}");
        std::fs::remove_file(&path).expect("written");
    }
    room.write("servers.toml", &toml);
    room.run(&["inspect", "shop", "--config", "servers.toml"])
        .done();
    room.run(&["inspect", "shop"]).fails(2, "shop");
}

#[test]
fn a_file_chooses_the_revision_and_the_directory() {
    let room = Room::new();
    let command = format!("command = '{ANTIPHON}'\nargs = ['demo', '--stdio']");
    room.write(
        "antiphon.toml",
        format!("[servers.old]\n{command}\nlegacy = true\n[servers.older]\n{command}\nprotocol = '2025-06-18'\n"),
    );
    for (words, version) in [
        (&["old"][..], "2025-11-25"),
        (&["older"], "2025-06-18"),
        (&["old", "--protocol", "2026-07-28"], "2026-07-28"),
    ] {
        let words = [&["inspect", "--json"], words].concat();
        let shown = room.run(&words).ends(0).json();
        assert_eq!(shown["protocolVersion"], version, "{words:?}");
    }
}

#[test]
fn what_names_no_server_is_told() {
    let room = Room::new();
    room.write(
        "antiphon.toml",
        "[servers.shop]\nurl = 'https://shop.example.com/mcp'\n[servers.gone]\nurl = '${NOT_SET_AT_ALL}'\n",
    );
    room.write("broken.toml", "[servers");
    room.write("hosts.json", "{\"mcpServers\": []}");
    for (words, says) in [
        (&["call"][..], "which server"),
        (&["inspect", "shpo"], "shop"),
        (&["inspect", "gone"], "NOT_SET_AT_ALL"),
        (&["inspect", "shop", "order", "extra"], "extra"),
        (&["inspect", "--config", "absent.toml"], "absent.toml"),
        (&["inspect", "--config", "broken.toml"], "broken.toml"),
        (&["inspect", "ftp://a.example"], "ftp"),
        (&["inspect", "http://"], "host"),
        (
            &["inspect", "shop", "--config", "absent.toml"],
            "absent.toml",
        ),
        (
            &["inspect", "shop", "--config", "broken.toml"],
            "broken.toml",
        ),
        (&["inspect", "shop", "--config", "hosts.json"], "hosts.json"),
        (&["call", "shop"], "which tool"),
        (&["prompt", "shop"], "which prompt"),
        (&["read", "shop"], "which resource"),
        (&["complete", "shop"], "which prompt"),
    ] {
        let ran = room.run(words).fails(2, says);
        assert!(!ran.err.contains('\u{1b}'));
    }
    assert_eq!(room.files().len(), 3);
}

/// What a file has beside the program may be secret.
#[test]
fn a_named_server_is_shown_by_its_name_and_its_program() {
    let room = Room::new();
    room.write(
        "antiphon.toml",
        format!(
            "[servers.absent]\ncommand = './none'\nargs = ['s3cret']\n\
             [servers.demo]\ncommand = '{ANTIPHON}'\nargs = ['demo', '--stdio']\nlegacy = true\n"
        ),
    );
    let ran = room
        .run(&["inspect", "absent"])
        .fails(3, "connecting to absent: ");
    assert!(
        ran.err.contains("none") && !ran.err.contains("s3cret"),
        "{}",
        ran.err
    );
    let heading = format!("demo ({ANTIPHON})");
    let shown = room.run(&["inspect", "demo"]).done();
    assert_eq!(shown.lines().next(), Some(&*heading));
    room.run(&["call", "demo", "deploy", "env=prod", "--save", "file"])
        .ends(20);
    let shown = room.run(&["show", "file"]).done();
    assert!(shown.contains(&format!("server: {heading}\n")), "{shown}");
    // Elsewhere nobody is called so.
    std::fs::remove_file(room.path("antiphon.toml")).expect("written");
    let shown = room.run(&["show", "file"]).done();
    assert!(shown.contains("server: demo\n"), "{shown}");
}

#[test]
fn options_stand_before_the_command() {
    let room = Room::new();
    let words = over_stdio(&["inspect", "--legacy", "--json"]);
    let shown = room.run(&words).ends(0).json();
    assert_eq!(shown["era"], "legacy");
    // What comes after is the command's own.
    let words = [&over_stdio(&["inspect"])[..], &["--legacy"]].concat();
    room.run(&words).ends(3);
    // A URL before `--` is a word like any other.
    room.run(&over_stdio(&["inspect", "http://127.0.0.1:1/mcp"]))
        .fails(2, "127.0.0.1");
}

#[test]
fn a_proxy_of_the_machine_is_not_asked_for_this_machine() {
    let (room, demo) = (Room::new(), Demo::start());
    let proxies = [
        ("http_proxy", "http://127.0.0.1:1"),
        ("HTTP_PROXY", "http://127.0.0.1:1"),
    ];
    room.run_with(&proxies, &["inspect", &demo.url]).done();
}

/// TLS is built in: what is missing is a server.
#[test]
fn https_is_spoken() {
    let room = Room::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address");
    drop(free);
    let url = format!("https://{address}/mcp");
    let ran = room.run(&["inspect", &url]).fails(3, "no connection");
    assert!(!ran.err.contains("feature"), "{}", ran.err);
}

/// In a directory that everybody may write to, names are not everybody's to give.
#[cfg(unix)]
#[test]
fn somebody_elses_file_names_nobody() {
    let (room, demo) = (Room::new(), Demo::start());
    let servers = format!("[servers.shop]\nurl = '{}'\n", demo.url);
    room.write("antiphon.toml", servers);
    room.run(&["inspect", "shop"]).ends(0);
    // Only who may do anything can give a file away; others have nothing to show here.
    if std::os::unix::fs::chown(room.path("antiphon.toml"), Some(4321), None).is_err() {
        return;
    }
    room.run(&["inspect", "shop"]).fails(2, "somebody else");
    room.run(&["inspect", "shop", "--config", "antiphon.toml"])
        .ends(0);
}
