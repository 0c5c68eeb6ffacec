//! `login`, `logout`, and commands that use what somebody signed in for.

use serde_json::Value;

use crate::{
    authority::{Guarded, page, visit},
    room::{Ran, Room, Running, until},
};

/// Signs in, with a browser that is somewhere else.
fn login(room: &Room, guarded: &Guarded, more: &[&str]) -> Ran {
    let words = [&["login", &guarded.url, "--no-browser"], more].concat();
    let running = Running::start(&mut room.command(&words));
    let mut shown = None;
    until("the page is shown", || {
        // It is there as a whole when the line after it is.
        shown = page(&running.told()).filter(|_| running.told().ends_with("\n\n"));
        shown.is_some()
    });
    let page = shown.expect("a page");
    assert!(page.starts_with(&guarded.issuer), "{page}");
    let end = visit(&page);
    assert!(end.contains("You can close this page"), "{end}");
    running.wait()
}

#[test]
fn whoever_signs_in_is_known_to_later_commands() {
    let (room, guarded) = (Room::new(), Guarded::open());
    let ran = login(&room, &guarded, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let expected = format!(
        "Signed in to {} at {}, for read.\n",
        guarded.url, guarded.issuer
    );
    assert_eq!(ran.out, expected);
    let asks = format!(
        "antiphon: {} wants to know who is calling. Sign in at {}, for read:\n",
        guarded.url, guarded.issuer
    );
    assert!(ran.err.starts_with(&asks), "{}", ran.err);
    let ran = room.run(&["call", &guarded.url, "whoami"]);
    assert_eq!((ran.code, &*ran.out), (0, "ada\n"), "{ran:?}");
    let ran = room.run(&["inspect", &guarded.url]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // Nobody is there to be asked for more.
    room.run(&["call", &guarded.url, "write"])
        .fails(7, "sign in again");
    assert_eq!(guarded.registered(), 1);
}

#[test]
fn what_is_asked_for_can_be_said() {
    let (room, guarded) = (Room::new(), Guarded::open());
    let ran = login(&room, &guarded, &["--scope", "write", "--json"]);
    let told: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(told["scopes"], serde_json::json!(["read", "write"]));
    assert_eq!(told["issuer"], guarded.issuer.as_str());
    assert_eq!(told["resource"], guarded.url.as_str());
    assert_eq!(told["renewable"], false);
    let ran = room.run(&["call", &guarded.url, "write"]);
    assert_eq!((ran.code, &*ran.out), (0, "Written.\n"), "{ran:?}");
}

#[test]
fn a_client_that_is_known_already_does_not_register() {
    let (room, guarded) = (Room::new(), Guarded::open());
    let known = ["--issuer", &guarded.issuer, "--client-id", "4711"];
    let ran = login(&room, &guarded, &known);
    assert_eq!((ran.code, guarded.registered()), (0, 0), "{ran:?}");
    // It is known there, and to nobody else.
    let other = Guarded::open();
    let words = ["login", &other.url, "--no-browser"];
    let words = [&words[..], &known].concat();
    room.run(&words).fails(7, "registered with");
    assert_eq!(other.registered(), 0);
}

/// For authorization servers that compare the port as well.
#[test]
fn the_port_can_be_said() {
    let (room, guarded) = (Room::new(), Guarded::open());
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let port = free.expect("a port").port().to_string();
    let ran = login(&room, &guarded, &["--callback-port", &port]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let address = format!("127.0.0.1%3A{port}%2Fcallback");
    assert!(ran.err.contains(&address), "{}", ran.err);
    // Somebody else is there.
    let _taken = std::net::TcpListener::bind(format!("127.0.0.1:{port}")).expect("the port");
    let words = [
        "login",
        &guarded.url,
        "--no-browser",
        "--callback-port",
        &port,
    ];
    room.run(&words).fails(7, "cannot listen");
}

#[test]
fn who_signs_out_is_a_stranger_again() {
    let (room, guarded) = (Room::new(), Guarded::open());
    login(&room, &guarded, &[]);
    let ran = room.run(&["logout", &guarded.url]);
    let said = format!("The tokens of {} are forgotten.\n", guarded.url);
    assert_eq!((ran.code, &*ran.out), (0, &*said), "{ran:?}");
    let ran = room.run(&["logout", &guarded.url]);
    let said = format!("There are no tokens of {}.\n", guarded.url);
    assert_eq!((ran.code, &*ran.out), (0, &*said), "{ran:?}");
    let ran = room.run(&["call", &guarded.url, "whoami"]);
    assert_eq!(ran.code, 7, "{ran:?}");
    assert!(ran.err.contains("nobody is signed in"), "{}", ran.err);
    assert!(ran.err.contains("antiphon login"), "{}", ran.err);
    assert!(ran.err.contains(&guarded.issuer), "{}", ran.err);
}

#[test]
fn a_token_that_is_not_taken_is_no_sign_in() {
    let (room, guarded) = (Room::new(), Guarded::open());
    guarded.close();
    let ran = login(&room, &guarded, &[]);
    assert_eq!(ran.code, 7, "{ran:?}");
    assert_eq!(ran.out, "");
}

/// AUTH-C-48
#[test]
fn tokens_are_for_their_owner_alone() {
    let (room, guarded) = (Room::new(), Guarded::open());
    let ran = login(&room, &guarded, &["--verbose"]);
    let tokens = guarded.tokens();
    assert_eq!(tokens.len(), 1);
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains(&tokens[0]), "{text}");
    }
    let folder = room.beside("state").join("antiphon").join("tokens");
    let mut found = false;
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        found |= std::fs::read_to_string(&path)
            .expect("text")
            .contains(&tokens[0]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path)
                .expect("a file")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
    }
    assert!(found, "the token is kept");
}

#[test]
fn signing_in_is_for_servers_at_a_url() {
    let (room, guarded) = (Room::new(), Guarded::open());
    room.write("antiphon.toml", "[servers.local]\ncommand = \"cat\"\n");
    room.run(&["login", "local"]).fails(2, "at a URL");
    assert_eq!(room.run(&["login"]).code, 2);
    room.run(&["login", &guarded.url, "--bearer-env", "TOKEN"])
        .fails(2, "need not sign in");
    let ran = room.run(&["login", &guarded.url, "--client-id", "4711"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--issuer"), "{}", ran.err);
    let words = [
        "login",
        &guarded.url,
        "--issuer",
        "https://a.example",
        "--client-id",
        "1",
    ];
    let words = [&words[..], &["--client-secret-env", "ANTIPHON_NOT_SET"]].concat();
    room.run(&words).fails(2, "ANTIPHON_NOT_SET");
    room.run(&["login", "http://127.0.0.1:1/mcp"])
        .fails(3, "127.0.0.1:1");
    let mut homeless = room.command(&["login", &guarded.url]);
    homeless.env_remove("HOME").env_remove("XDG_STATE_HOME");
    Running::start(&mut homeless).wait().fails(2, "HOME");
}

#[test]
fn a_server_that_knows_nothing_of_tokens_says_so() {
    let room = Room::new();
    let open = crate::served::Served::server(antiphon::Server::new("open", "1.0"));
    let ran = room.run(&["login", &open.url, "--no-browser"]);
    assert_eq!(ran.code, 7, "{ran:?}");
    assert!(ran.err.contains("nobody is signed in"), "{}", ran.err);
}
