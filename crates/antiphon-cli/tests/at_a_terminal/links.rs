//! Links: shown, agreed to or not, opened or not, and asked about again.

use serde_json::json;

use crate::{
    ERAS,
    support::{
        ENTER, ESC, Host, Openers, Terminal,
        host::{ask, link, steps},
    },
};

/// Calls a tool that sends people there as often as this, with whatever opens links.
fn sent_to(
    server: &Host,
    url: &str,
    times: usize,
    openers: &Openers,
    options: &[&str],
) -> Terminal {
    let asks: Vec<_> = (0..times)
        .map(|_| ask("signin", link("Sign in", url)))
        .collect();
    let asks = steps(&asks);
    let mut args = vec!["call", server.url(), "play", "--args", &asks];
    args.extend(options);
    Terminal::run(&args, &[("PATH", openers.place())])
}

const URL: &str = "https://login.example.com/a?b=c&d=$(touch%20x)";

#[test]
fn a_link_is_shown_in_full_and_opened_only_by_who_agrees() {
    for (era, name) in ERAS.into_iter().zip(["modern", "legacy"]) {
        for (choice, action, opens) in [
            ("Agree, and open", "accept", true),
            ("Agree: I", "accept", false),
            ("Decline", "decline", false),
            // Enter alone agrees to nothing.
            ("", "cancel", false),
        ] {
            let server = Host::open();
            let openers = Openers::new(&format!("{name}-{action}-{opens}")).with_xdg_open();
            let mut terminal = sent_to(&server, URL, 1, &openers, era);
            terminal.wait_for("  | Sign in");
            terminal.wait_for(&format!("\r\n    {URL}\r\n    host: login.example.com\r\n"));
            terminal.wait_for("Your answer");
            assert_eq!(openers.opened(), None, "it was opened unasked");
            terminal.press(choice);
            terminal.press(ENTER);
            assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
            assert_eq!(server.answer(), json!({ "action": action }));
            if opens {
                openers.wait_for(URL);
            }
            assert_eq!(openers.opened().is_some(), opens);
            assert!(!terminal.transcript().contains("noise"));
        }
    }
}

#[test]
fn esc_and_enter_decline_a_link() {
    let server = Host::open();
    let openers = Openers::new("escaped").with_xdg_open();
    let mut terminal = sent_to(&server, URL, 1, &openers, &[]);
    terminal.wait_for("Your answer");
    terminal.press(ESC);
    terminal.answer("Leave?", "");
    assert_eq!(terminal.wait_for_end(), Some(0));
    assert_eq!(server.answer(), json!({ "action": "decline" }));
}

#[test]
fn a_host_in_punycode_is_flagged() {
    let server = Host::open();
    let openers = Openers::new("punycode").with_xdg_open();
    let mut terminal = sent_to(&server, "https://xn--pple-43d.com/", 1, &openers, &[]);
    terminal.wait_for("host: xn--pple-43d.com");
    terminal.wait_for("! The host is written in punycode (xn--)");
    terminal.answer("Your answer", "");
    assert_eq!(terminal.wait_for_end(), Some(0));
    assert_eq!(openers.opened(), None);
}

/// An older server is told that the link is not good, and what it makes of it is up to it.
#[test]
fn nobody_is_sent_there_by_an_older_server_either() {
    let server = Host::open();
    let openers = Openers::new("refused-legacy").with_xdg_open();
    let url = "http://login.example.com/";
    let mut terminal = sent_to(&server, url, 1, &openers, &["--legacy"]);
    terminal.wait_for_end();
    let screen = terminal.screen();
    assert!(!screen.contains("Your answer"), "{screen}");
    assert_eq!(openers.opened(), None);
    assert_ne!(server.answer()["action"], "accept");
}

/// Nobody is asked at all: the call ends, and says why.
#[test]
fn nobody_is_sent_to_where_others_listen() {
    for (at, url) in [
        "http://login.example.com/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://bank.example@evil.example/",
    ]
    .into_iter()
    .enumerate()
    {
        let server = Host::open();
        let openers = Openers::new(&format!("refused-{at}")).with_xdg_open();
        let mut terminal = sent_to(&server, url, 1, &openers, &[]);
        assert_eq!(terminal.wait_for_end(), Some(4), "{}", terminal.screen());
        let screen = terminal.screen();
        assert!(
            screen.contains("`signin`, but: Links must be https"),
            "{screen}"
        );
        assert!(!screen.contains("Your answer"), "{screen}");
        assert_eq!(openers.opened(), None);
        assert!(server.answers().is_empty(), "{url}");
    }
}

#[test]
fn a_server_that_still_waits_can_be_tried_again_or_left() {
    for (era, name) in ERAS.into_iter().zip(["again", "again-legacy"]) {
        let server = Host::open();
        let openers = Openers::new(name).with_xdg_open();
        let mut terminal = sent_to(&server, URL, 3, &openers, era);
        terminal.wait_for("which is not opened unless you say so");
        terminal.answer("Your answer", "Agree: I");
        terminal.wait_for("It still waits for you to finish at this address:");
        // Enter alone tries again.
        terminal.answer("Your answer", "");
        terminal.wait_for("It still waits for you");
        terminal.wait_for("Your answer");
        assert_eq!(openers.opened(), None);
        terminal.press("Open it again");
        terminal.press(ENTER);
        assert_eq!(terminal.wait_for_end(), Some(0));
        openers.wait_for(URL);
        assert_eq!(server.answers().len(), 3);
    }
}

#[test]
fn where_nothing_opens_links_the_person_is_told() {
    let server = Host::open();
    let openers = Openers::new("nothing-opens");
    let mut terminal = sent_to(&server, URL, 1, &openers, &[]);
    terminal.answer("Your answer", "Agree, and open");
    terminal.wait_for("! It could not be opened: there is no program here that opens links");
    terminal.answer("Your answer", "Agree: I");
    assert_eq!(terminal.wait_for_end(), Some(0));
    assert_eq!(server.answer(), json!({ "action": "accept" }));
}
