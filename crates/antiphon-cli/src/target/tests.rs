//! The search through the files of a user who has many.

use super::*;
use crate::failure::Exit;

/// A home with files, removed in the end.
struct Home(PathBuf);

impl Home {
    fn new(test: &str, files: &[(&str, &str)]) -> Self {
        let name = format!("antiphon-targets-{test}-{}", std::process::id());
        let home = Self(std::env::temp_dir().join(name));
        for (path, text) in files {
            home.write(path, text);
        }
        home
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        let parent = path.parent().expect("it is below the home");
        std::fs::create_dir_all(parent).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    /// Somebody in a directory below the home.
    fn at(&self, directory: &str) -> Environment {
        let home = self
            .0
            .to_str()
            .expect("a temporary path is text")
            .to_owned();
        let cwd = self.0.join(directory);
        Environment::new("linux", cwd, move |name| match name {
            "HOME" => Some(home.clone()),
            "TOKEN" => Some("s3cret".to_owned()),
            _ => None,
        })
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn hosts(name: &str, url: &str) -> String {
    format!(r#"{{ "mcpServers": {{ "{name}": {{ "url": "{url}" }} }} }}"#)
}

fn named(found: Result<(Place, Vec<String>), Failure>) -> Named {
    match found.expect("found").0 {
        Place::Named(named) => named,
        other => panic!("{other:?} has no name"),
    }
}

fn url(named: &Named) -> &str {
    match &named.server {
        Configured::Http { url, .. } => url,
        other => panic!("{other:?} is at no URL"),
    }
}

#[test]
fn a_word_is_a_url_or_a_name() {
    let home = Home::new("word", &[]);
    let here = home.at("");
    let (place, _) = find_in("http://127.0.0.1:1/mcp", None, &here).expect("a URL");
    assert_eq!(place, Place::Url("http://127.0.0.1:1/mcp".to_owned()));
    for (word, part) in [
        ("ws://a.example", "ws://"),
        ("https://u:s3cret@a.example", "--bearer-env"),
        ("", "no server is given"),
        ("localhost:8080/mcp", "write http://localhost:8080/mcp"),
        ("\u{1b}[2J", r"no server is called \u{1b}[2J"),
    ] {
        let failure = find_in(word, None, &here).expect_err(word);
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.text.contains(part), "{failure}");
        assert!(!failure.text.contains("s3cret"), "{failure}");
    }
}

#[test]
fn the_nearest_file_wins_and_ours_before_those_of_hosts() {
    let home = Home::new("order", &[]);
    let deep = "code/project/src/bin";
    home.write("code/project/src/bin/x", "");
    // From last to first: whatever is written later comes before.
    let files = [
        (".codeium/windsurf/mcp_config.json", "mcpServers"),
        (".config/Claude/claude_desktop_config.json", "mcpServers"),
        (".claude.json", "mcpServers"),
        (".cursor/mcp.json", "mcpServers"),
        (".config/antiphon/antiphon.toml", "toml"),
        ("code/.vscode/mcp.json", "servers"),
        ("code/project/.vscode/mcp.json", "servers"),
        ("code/project/.cursor/mcp.json", "mcpServers"),
        ("code/project/src/.mcp.json", "mcpServers"),
        ("code/antiphon.toml", "toml"),
        ("code/project/antiphon.toml", "toml"),
    ];
    for (number, (path, key)) in files.into_iter().enumerate() {
        let url = format!("https://a.example/{number}");
        let text = match key {
            "toml" => format!("[servers.a]\nurl = \"{url}\"\n"),
            key => format!(r#"{{ "{key}": {{ "a": {{ "url": "{url}" }}, }} }} // JSON"#),
        };
        home.write(path, &text);
        let found = named(find_in("a", None, &home.at(deep)));
        assert_eq!(self::url(&found), url, "{path}");
        assert_eq!(found.from, home.path(path));
    }
    let only = home.path("code/.vscode/mcp.json");
    let found = named(find_in("a", Some(&only), &home.at(deep)));
    assert_eq!(found.from, only);
    // A relative one is relative to here.
    let relative = Path::new("../.mcp.json");
    let found = named(find_in("a", Some(relative), &home.at(deep)));
    assert_eq!(url(&found), "https://a.example/8");
}

#[test]
fn a_projects_server_starts_in_the_project() {
    let entry = r#"{ "command": "./run", "args": ["${workspaceFolder}/data"] }"#;
    let text = format!(r#"{{ "mcpServers": {{ "a": {entry} }} }}"#);
    let home = Home::new("start", &[(".cursor/mcp.json", &text), ("p/src/x", "")]);
    let started = |from: &str| match named(find_in("a", None, &home.at(from))).server {
        Configured::Stdio {
            command, args, cwd, ..
        } => (command, args, cwd),
        other => panic!("{other:?} is not started"),
    };
    // The user's servers start where the user is.
    let (command, args, cwd) = started("p/src");
    assert_eq!(command, PathBuf::from("./run"));
    assert_eq!(args, [home.path("p/src/data").to_string_lossy()]);
    assert_eq!(cwd, None);
    home.write("p/.cursor/mcp.json", &text);
    let (command, args, cwd) = started("p/src");
    assert_eq!(command, home.path("p/./run"));
    assert_eq!(args, [home.path("p/data").to_string_lossy()]);
    assert_eq!(cwd, Some(home.path("p")));
}

#[test]
fn a_name_that_nobody_has_is_told_with_those_there_are() {
    let home = Home::new(
        "unknown",
        &[
            (
                "p/antiphon.toml",
                "[servers.shop]\nurl = \"https://a.example\"\n[servers.yard]\ncommand = \"yard\"\n",
            ),
            (".cursor/mcp.json", &hosts("notes", "https://b.example")),
            (".claude.json", "{ \"mcpServers\": { \"bad\" }"),
            (
                ".codeium/windsurf/mcp_config.json",
                r#"{"mcpServers":{"shpo":{"command":"x","disabled":true}}}"#,
            ),
        ],
    );
    let failure = find_in("shpo", None, &home.at("p")).expect_err("no such name");
    assert_eq!(failure.exit, Exit::Usage);
    for part in [
        "no server is called shpo",
        "[servers.shpo]",
        "antiphon.toml has shop, yard",
        "~/.cursor/mcp.json has notes",
        "~/.claude.json: expected `:` at line 1 column 25; it is passed over",
        "~/.codeium/windsurf/mcp_config.json: the server is disabled there",
        ".vscode/mcp.json",
        "~/.config/Claude/claude_desktop_config.json",
    ] {
        assert!(failure.text.contains(part), "{part} is not in\n{failure}");
    }
    // What one host's file lacks, another may have; one hears of it.
    home.write(
        ".config/Claude/claude_desktop_config.json",
        &hosts("desk", "https://c.example"),
    );
    let (_, notes) = find_in("desk", None, &home.at("p")).expect("found");
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("~/.claude.json"), "{notes:?}");
}

#[test]
fn our_own_file_must_be_right() {
    let home = Home::new("ours", &[(".mcp.json", &hosts("a", "https://b.example"))]);
    for (text, part) in [
        ("[servers.a\n", "line 1 column"),
        ("[server.a]\n", "`server` is not known"),
        (
            "[servers.a]\nurl = \"https://x\"\ntoken = \"s3cret\"\n",
            "server a in ~/antiphon.toml: `token` is not known",
        ),
        (
            "[servers.a]\ncommand = \"x\"\nenv = { K = \"${NONE}\" }\n",
            "`env.K`: the variable NONE is not set",
        ),
    ] {
        home.write("antiphon.toml", text);
        let failure = find_in("a", None, &home.at("")).expect_err(part);
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.text.contains(part), "{failure}");
        assert!(!failure.text.contains("s3cret"), "{failure}");
    }
    // Another server's mistake is not this one's.
    home.write(
        "antiphon.toml",
        "[servers.b]\nurl = 1\n[servers.a]\nurl = \"https://x\"\n",
    );
    assert_eq!(url(&named(find_in("a", None, &home.at("")))), "https://x");
}

#[test]
fn the_given_file_is_the_only_one() {
    let home = Home::new("given", &[(".mcp.json", &hosts("a", "https://b.example"))]);
    home.write("mine", "[servers.b]\ncommand = [\"x\"]\n");
    let given = |file: &str, name| find_in(name, Some(Path::new(file)), &home.at(""));
    assert_eq!(named(given("mine", "b")).name, "b");
    let failure = given("mine", "a").expect_err("it is in another file");
    assert!(failure.text.contains("~/mine has b"), "{failure}");
    assert!(!failure.text.contains("looked for"), "{failure}");
    let failure = given("none.toml", "a").expect_err("there is none");
    assert!(failure.text.contains("no such file"), "{failure}");
    home.write("bad.json", "{");
    let failure = given("bad.json", "a").expect_err("it is broken");
    assert!(failure.text.contains("bad.json: EOF"), "{failure}");
}

#[test]
fn names_are_listed_once() {
    let home = Home::new(
        "names",
        &[
            ("p/antiphon.toml", "[servers.a]\n[servers.b]\n"),
            (
                "p/.mcp.json",
                r#"{"mcpServers":{"a":{},"c":{},"off":{"disabled":true}}}"#,
            ),
            (".claude.json", "broken"),
        ],
    );
    let names = files::names(None, &home.at("p"));
    let expected = [
        ("a", "p/antiphon.toml"),
        ("b", "p/antiphon.toml"),
        ("c", "p/.mcp.json"),
    ];
    assert_eq!(
        names,
        expected.map(|(name, path)| (name.to_owned(), home.path(path)))
    );
}
