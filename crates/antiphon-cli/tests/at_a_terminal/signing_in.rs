//! Commands sign in as soon as a server wants to know who is calling.

use std::path::Path;

use nix::sys::signal::Signal;

use crate::{
    fresh,
    support::{
        Openers, Terminal,
        authority::{Guarded, page, visit},
    },
};

/// The page that is shown, which is too long for a line.
fn shown(terminal: &mut Terminal) -> String {
    terminal.wait_for("Sign in at ");
    terminal.wait_for("\r\n\r\n    http://");
    terminal.wait_for("\r\n\r\n");
    page(&terminal.transcript()).expect("a page")
}

#[test]
fn a_command_signs_in_and_goes_on() {
    let (guarded, home) = (Guarded::open(), fresh("signs-in"));
    let env: &[(&str, &Path)] = &[("XDG_STATE_HOME", &home)];
    for era in [&[][..], &["--legacy"]] {
        let words = ["call", &guarded.url, "write", "--no-browser"];
        let mut terminal = Terminal::run(&[&words[..], era].concat(), env);
        if era.is_empty() {
            // First for what every request needs, then for what this tool needs besides.
            for scopes in ["for read:", "for read write:"] {
                terminal.wait_for(scopes);
                terminal.wait_for("\r\n\r\n    http://");
                terminal.wait_for("\r\n\r\n");
                visit(&page(&terminal.transcript()).expect("a page"));
            }
        }
        terminal.wait_for("Written.");
        assert_eq!(terminal.wait_for_end(), Some(0));
    }
    assert_eq!(guarded.tokens().len(), 2);
}

#[test]
fn a_browser_is_opened() {
    let (guarded, home) = (Guarded::open(), fresh("opens-a-browser"));
    let openers = Openers::new("openers-of-sign-ins").with_xdg_open();
    let env: &[(&str, &Path)] = &[("XDG_STATE_HOME", &home), ("PATH", openers.place())];
    let mut terminal = Terminal::run(&["call", &guarded.url, "whoami"], env);
    let page = shown(&mut terminal);
    openers.wait_for(&page);
    visit(&page);
    terminal.wait_for("ada");
    assert_eq!(terminal.wait_for_end(), Some(0));
}

/// The browser is on another machine, and ends at an address that it cannot reach.
#[test]
fn the_address_can_be_pasted() {
    let (guarded, home) = (Guarded::open(), fresh("pastes"));
    let env: &[(&str, &Path)] = &[("XDG_STATE_HOME", &home)];
    let mut terminal = Terminal::run(&["login", &guarded.url, "--no-browser"], env);
    let page = shown(&mut terminal);
    terminal.wait_for("paste the address that it ends at here.");
    terminal.press("http://127.0.0.1:1/callback?code=c&state=made-up\n");
    terminal.wait_for("that is not the address");
    let state = page.split("state=").nth(1).expect("a state");
    let state = state.split('&').next().expect("a state");
    // The page is visited where its end cannot be reached; only the address is seen.
    let ended = crate::support::authority::ends_at(&page);
    assert!(ended.contains(state), "{ended}");
    terminal.press(&format!("{ended}\n"));
    terminal.wait_for("Signed in to ");
    assert_eq!(terminal.wait_for_end(), Some(0));
}

#[test]
fn nobody_is_asked_who_does_not_want_to_be() {
    let (guarded, home) = (Guarded::open(), fresh("asks-nobody"));
    let env: &[(&str, &Path)] = &[("XDG_STATE_HOME", &home)];
    let mut terminal = Terminal::run(&["call", &guarded.url, "whoami", "--no-input"], env);
    terminal.wait_for("nobody is signed in");
    assert_eq!(terminal.wait_for_end(), Some(7));
    assert_eq!(guarded.registered(), 0);
}

#[test]
fn a_sign_in_can_be_left() {
    let (guarded, home) = (Guarded::open(), fresh("leaves-a-sign-in"));
    let env: &[(&str, &Path)] = &[("XDG_STATE_HOME", &home)];
    let mut terminal = Terminal::run(&["call", &guarded.url, "whoami", "--no-browser"], env);
    shown(&mut terminal);
    terminal.send(Signal::SIGINT);
    assert_eq!(terminal.wait_for_end(), Some(130));
    assert!(terminal.is_usable(), "{:?}", terminal.written());
}

/// People are waited for as long as `human` says, and the server's clock stands still.
#[test]
fn a_sign_in_has_a_clock_of_its_own() {
    let (guarded, home) = (Guarded::open(), fresh("waits-for-a-sign-in"));
    let env: &[(&str, &Path)] = &[("XDG_STATE_HOME", &home)];
    let words = ["call", &guarded.url, "whoami", "--no-browser", "--timeout"];
    let mut terminal = Terminal::run(&[&words[..], &["work=5s"]].concat(), env);
    let page = shown(&mut terminal);
    std::thread::sleep(std::time::Duration::from_secs(6));
    visit(&page);
    terminal.wait_for("ada");
    assert_eq!(terminal.wait_for_end(), Some(0));
    let home = fresh("waits-in-vain-for-a-sign-in");
    let env: &[(&str, &Path)] = &[("XDG_STATE_HOME", &home)];
    let mut terminal = Terminal::run(&[&words[..], &["human=1s"]].concat(), env);
    terminal.wait_for("nobody signed in within 1s");
    assert_eq!(terminal.wait_for_end(), Some(7));
}
