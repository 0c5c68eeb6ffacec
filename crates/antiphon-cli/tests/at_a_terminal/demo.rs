//! The demo at a terminal: a pseudo-terminal, with a person who types.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::Stdio,
};

use crate::support::{ENTER, ESC, INTERRUPT, Openers, Terminal};
use nix::sys::signal::Signal;

fn demo() -> Terminal {
    Terminal::run(&["demo"], &[])
}

#[test]
fn a_person_deploys_and_sees_each_leg() {
    let mut terminal = demo();
    terminal.answer("What next?", "deploy");
    terminal.answer("? env", "prod");
    terminal.wait_for(r#"-> tools/call deploy {"env":"prod"}"#);
    terminal.wait_for("<- input_required [confirm] state ");
    terminal.wait_for("/mcp asks [confirm]");
    terminal.wait_for("for tools/call deploy, round 1, 9 min 5");
    terminal.wait_for("| Deploy to prod?");
    terminal.answer("? confirm", "y");
    terminal.wait_for(r#"[confirm: accept {"confirm":true}]"#);
    terminal.wait_for("<- complete");
    terminal.wait_for("| Deployed to prod");
    // And again, with another answer.
    terminal.answer("What next?", "wipe_cache");
    terminal.answer("? confirm", "y");
    terminal.wait_for("round 2");
    terminal.answer("? scope", "sess");
    terminal.wait_for("| Wiped sessions");
    terminal.wait_for("What next?");
    terminal.press(ESC);
    assert_eq!(terminal.wait_for_end(), Some(0));
    assert!(terminal.is_usable());
}

#[test]
fn declining_is_two_keys_away() {
    let mut terminal = demo();
    terminal.answer("What next?", "deploy");
    terminal.answer("? env", "prod");
    terminal.wait_for("? confirm");
    terminal.press(ESC);
    terminal.answer("Leave?", "");
    terminal.wait_for("[confirm: decline]");
    terminal.wait_for("| Deployment to prod cancelled");
    terminal.answer("What next?", "Quit");
    assert_eq!(terminal.wait_for_end(), Some(0));
}

#[test]
fn an_answer_is_reviewed_and_changed_before_it_is_sent() {
    let mut terminal = demo();
    terminal.answer("What next?", "issue_card");
    terminal.answer("? name", "Adda");
    terminal.wait_for("Your answer:");
    terminal.wait_for("name: Adda");
    terminal.answer("Send it?", "Change");
    // What was typed is there, and goes on.
    terminal.answer("? name", " Lovelace");
    terminal.wait_for("name: Adda Lovelace");
    terminal.wait_for("Send it?");
    terminal.press(ESC);
    terminal.answer("Leave?", "Back");
    terminal.wait_for("? name");
    terminal.press(&"\u{7f}".repeat("Adda Lovelace".len()));
    terminal.press("Ada");
    terminal.press(ENTER);
    terminal.wait_for("name: Ada\r\n");
    terminal.answer("Send it?", "");
    terminal.wait_for("| Card issued to Ada.");
    // What is left on the screen is a line for each question, and nothing that was typed too
    // early.
    let screen = terminal.screen();
    let review = "\n? name Ada\nYour answer:\n    name: Ada\n? Send it? Send it\n";
    assert!(screen.contains(review), "{screen}");
    assert_eq!(screen.matches("? name").count(), 3, "{screen}");
}

#[test]
fn resources_models_and_roots_are_asked_for_too() {
    let mut terminal = demo();
    terminal.answer("What next?", "vault");
    terminal.answer("? id", "7");
    terminal.answer("? reason", "audit");
    terminal.answer("Send it?", "");
    terminal.wait_for("| Vault 7, opened because: audit");
    terminal.answer("What next?", "summarize");
    terminal.answer("? text", "A long story.");
    terminal.answer("Your answer", "Write");
    terminal.answer("? assistant", "Short.");
    terminal.wait_for("| Summary: Short.");
    terminal.answer("What next?", "summarize");
    terminal.answer("? text", "A long story.");
    terminal.answer("Your answer", "Decline");
    terminal.wait_for("given up: declined at the terminal");
    terminal.answer("What next?", "workspace");
    terminal.answer("? Path", "/");
    terminal.answer("? Path 2", "");
    terminal.wait_for("| 1 root(s): file:///");
    terminal.answer("What next?", "report");
    terminal.answer("? rounds", "2");
    terminal.wait_for("<- input_required [] state ");
    terminal.wait_for("| Done after 2 round(s)");
}

/// The link that is shown next.
fn link(terminal: &mut Terminal) -> String {
    terminal.wait_for("this address");
    terminal.wait_for("\r\n    ");
    terminal.line_with("http://127.0.0.1:")
}

/// Signs in at the page of this link.
fn sign_in(link: &str) {
    let (host, path) = link
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .expect("an address");
    let mut page = TcpStream::connect(host).expect("served");
    write!(
        page,
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    )
    .expect("sent");
    let mut text = String::new();
    page.read_to_string(&mut text).expect("a page");
    assert!(text.contains("You are signed in"), "{text}");
}

#[test]
fn a_link_is_shown_and_its_page_is_there_while_the_person_is_asked() {
    let openers = Openers::new("unasked").with_xdg_open();
    let mut terminal = Terminal::run(&["demo"], &[("PATH", openers.place())]);
    terminal.answer("What next?", "sign_in");
    let link = link(&mut terminal);
    terminal.wait_for("host: 127.0.0.1\r\n");
    terminal.wait_for("Your answer");
    sign_in(&link);
    terminal.press("Agree: I");
    terminal.press(ENTER);
    terminal.wait_for("| Signed in as Ada.");
    assert_eq!(openers.opened(), None, "it was opened unasked");
}

#[test]
fn a_link_is_opened_for_who_agrees_and_waited_for() {
    let openers = Openers::new("asked").with_xdg_open();
    let mut terminal = Terminal::run(&["demo"], &[("PATH", openers.place())]);
    terminal.answer("What next?", "sign_in");
    let first = link(&mut terminal);
    // Enter alone agrees to nothing.
    terminal.answer("Your answer", "");
    terminal.wait_for("[signin: cancel]");
    terminal.answer("What next?", "sign_in");
    let second = link(&mut terminal);
    assert_ne!(first, second, "another call");
    terminal.answer("Your answer", "Agree, and open");
    terminal.wait_for("It still waits for you");
    terminal.wait_for("Your answer");
    assert_eq!(openers.opened().as_deref(), Some(second.as_str()));
    sign_in(&second);
    terminal.press(ENTER);
    terminal.wait_for("| Signed in as Ada.");
    assert!(!terminal.transcript().contains("noise"));
}

#[test]
fn a_link_that_cannot_be_opened_is_shown_again() {
    let openers = Openers::new("none");
    let mut terminal = Terminal::run(&["demo"], &[("PATH", openers.place())]);
    terminal.answer("What next?", "sign_in");
    let link = link(&mut terminal);
    terminal.answer("Your answer", "Agree, and open");
    terminal.wait_for("It could not be opened: there is no program here that opens links");
    terminal.wait_for(&link);
    terminal.answer("Your answer", "Decline");
    terminal.wait_for("[signin: decline]");
}

#[test]
fn the_host_stands_out_where_there_are_colours() {
    let mut terminal = Terminal::run(&["demo"], &[("NO_COLOR", Path::new(""))]);
    terminal.answer("What next?", "sign_in");
    terminal.wait_for("host: 127.0.0.1");
    let written = terminal.written();
    assert!(
        written.contains("http://\u{1b}[1m127.0.0.1\u{1b}[22m:"),
        "{written:?}"
    );
}

#[test]
fn an_interrupt_ends_it_and_leaves_the_terminal_usable() {
    for question in ["What next?", "? env"] {
        let mut terminal = demo();
        if question != "What next?" {
            terminal.answer("What next?", "deploy");
        }
        terminal.wait_for(question);
        terminal.press(INTERRUPT);
        assert_eq!(terminal.wait_for_end(), Some(130));
        assert!(terminal.is_usable(), "{:?}", terminal.written());
        let screen = terminal.screen();
        assert!(screen.ends_with("\nantiphon: interrupted"), "{screen}");
    }
}

/// Whoever ends the program while a prompt waits for a key.
#[test]
fn a_prompt_that_is_still_open_at_the_end_is_put_away() {
    let mut terminal = demo();
    terminal.answer("What next?", "deploy");
    terminal.wait_for("[Esc to leave]");
    terminal.press("pr");
    terminal.wait_for("pr");
    assert!(!terminal.is_usable(), "a prompt takes the terminal over");
    terminal.send(Signal::SIGINT);
    assert_eq!(terminal.wait_for_end(), Some(130));
    assert!(terminal.is_usable(), "{:?}", terminal.written());
    let screen = terminal.screen();
    assert!(
        screen.ends_with("? env pr\nantiphon: interrupted"),
        "{screen}"
    );
}

#[test]
fn a_demo_whose_output_goes_elsewhere_is_played() {
    let mut terminal = Terminal::run_to(&["demo"], &[], Stdio::piped());
    let mut story = String::new();
    terminal.output().read_to_string(&mut story).expect("text");
    assert!(story.contains("input_required"), "{story}");
    assert_eq!(terminal.wait_for_end(), Some(0));
    assert_eq!(terminal.screen(), "");
}
