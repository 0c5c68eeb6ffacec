//! What stands on the screen: bars that come and go, logs beside them, colours where there are any,
//! and nothing that a server has put there behind our back.

use std::{path::Path, thread, time::Duration};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{
    ERAS, call, fresh,
    support::{
        ENTER, Host, Terminal,
        host::{ask, form, link, sample, steps},
    },
};

fn sure() -> Value {
    ask(
        "sure",
        form("Sure?", &[("sure", json!({ "type": "boolean" }))]),
    )
}

/// A terminal breaks what is too long for it, and what follows stands where our own words do.
#[test]
fn a_line_that_is_broken_passes_for_none_of_ours() {
    let padded = format!("Sure?{}antiphon: all is well", " ".repeat(151));
    let server = Host::open();
    let asks = ask(
        "sure",
        form(&padded, &[("sure", json!({ "type": "boolean" }))]),
    );
    let mut terminal = call(&server, &[asks], &[]);
    terminal.wait_for("? sure");
    let screen = terminal.screen();
    assert!(screen.contains("| antiphon: all is well"), "{screen}");
}

/// A server that takes its time to start is waited for in so many words; they are gone when it is
/// there, and are nobody's who reads the result.
#[test]
fn who_waits_for_a_server_knows_for_which() {
    let place = fresh("waits_for_a_server");
    let ready = place.join("ready");
    let antiphon = env!("CARGO_BIN_EXE_antiphon");
    let server = format!(
        "while [ ! -e '{}' ]; do sleep 0.05; done; exec '{antiphon}' demo --stdio",
        ready.display()
    );
    let words = ["complete", "brief", "topic=", "--", "sh", "-c", &server];
    let mut terminal = Terminal::run(&words, &[]);
    terminal.wait_for("connecting to sh…");
    std::fs::write(&ready, "").expect("written");
    terminal.wait_for_end();
    assert!(
        !terminal.screen().contains("connecting"),
        "{}",
        terminal.screen()
    );

    // Nor does it stay when somebody does not want to wait.
    let mut terminal = Terminal::run(&["inspect", "--", "sleep", "600"], &[]);
    terminal.wait_for("connecting to sleep…");
    terminal.send(Signal::SIGINT);
    assert_eq!(terminal.wait_for_end(), Some(130), "{}", terminal.screen());
    assert_eq!(terminal.screen(), "antiphon: interrupted");
}

/// It asks for directories as soon as it may, and once more while its tools are listed.
const CURIOUS: &str = include_str!("../support/curious.sh");

/// An older server that wants to know its directories for no call gets them without a prompt.
#[test]
fn directories_for_no_call_are_nobodys_question() {
    let place = fresh("directories_for_no_call");
    let command = [
        "call", "look", "at=home", "--legacy", "--", "sh", "-c", CURIOUS,
    ];
    let mut terminal = Terminal::run_in(&place, &command, &[]);
    assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
    let transcript = terminal.transcript();
    for key in ["early", "late"] {
        let line = format!("answered [{key}] outside any call: no directories");
        assert!(transcript.contains(&line), "{transcript}");
    }
    assert!(!transcript.contains("question back"), "{transcript}");
    assert!(terminal.screen().ends_with("\nlooked"), "{transcript}");
}

#[test]
fn a_bar_is_drawn_and_gone_before_questions_and_results() {
    for era in ERAS {
        let server = Host::open();
        let works = [
            json!({ "report": [1, 4, "packing"] }),
            json!({ "wait": 300 }),
            json!({ "report": [2, 4, "loading"] }),
            json!({ "wait": 300 }),
            sure(),
            json!({ "report": [3, 4, "sailing"] }),
            json!({ "wait": 300 }),
            json!({ "say": "Arrived." }),
        ];
        let mut terminal = call(&server, &works, era);
        terminal.wait_for("[=======>");
        terminal.wait_for("1/4: packing");
        terminal.wait_for("2/4: loading");
        terminal.wait_for("? sure");
        let screen = terminal.screen();
        assert!(!screen.contains("/4: "), "a bar above a question: {screen}");
        terminal.press("y");
        terminal.press(ENTER);
        terminal.wait_for("3/4: sailing");
        terminal.wait_for("Arrived.");
        assert_eq!(terminal.wait_for_end(), Some(0));
        let screen = terminal.screen();
        assert!(screen.ends_with("? sure Yes\nArrived."), "{screen}");
        assert!(terminal.is_usable());
    }
}

#[test]
fn logs_stand_above_the_bar_by_their_level() {
    for era in ERAS {
        let server = Host::open();
        let works = [
            json!({ "report": [1, 2, "half"] }),
            json!({ "wait": 200 }),
            json!({ "log": ["debug", "too much"] }),
            json!({ "log": ["warning", "disk \u{1b}[2Jfull"] }),
            json!({ "wait": 200 }),
            json!({ "say": "Done." }),
        ];
        let mut terminal = call(&server, &works, era);
        terminal.wait_for("1/2: half");
        terminal.wait_for("warning: disk \\u{1b}[2Jfull");
        assert_eq!(terminal.wait_for_end(), Some(0));
        let screen = terminal.screen();
        assert_eq!(screen, "warning: disk \\u{1b}[2Jfull\nDone.");
    }
}

/// An older server goes on while it asks.
#[test]
fn what_is_logged_while_somebody_types_comes_after() {
    let server = Host::open();
    let question = form("Who?", &[("name", json!({ "type": "string" }))]);
    let works = [json!({ "push": [question, "are you there?", 20_000] })];
    let mut terminal = call(&server, &works, &["--legacy", "--trace"]);
    terminal.wait_for("<- [1] elicitation/create Who?");
    terminal.wait_for("? name");
    terminal.press("Ada");
    thread::sleep(Duration::from_millis(600));
    terminal.press(ENTER);
    terminal.answer("Send it?", "");
    assert_eq!(terminal.wait_for_end(), Some(0));
    let screen = terminal.screen();
    let (before, after) = screen.split_once("? Send it? Send it\n").expect("asked");
    assert!(
        before.contains("\n? name Ada\nYour answer:\n    name: Ada\n"),
        "{screen}"
    );
    let expected = "  <- log info are you there?\ninfo: are you there?\n  \
                    -> [1] accept {\"name\":\"Ada\"}\n  <- complete\nDone.";
    assert_eq!(after, expected);
}

const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31m\u{9b}2Jx\u{202e}y\rz\u{8}";

/// Whether nothing of it is on its way to the terminal as it is.
fn is_harmless(terminal: &Terminal) {
    let written = terminal.written();
    for bad in [
        "\u{1b}]",
        "\u{1b}[2J",
        "\u{1b}[31m",
        "\u{9b}",
        "\u{202e}",
        "\u{7}",
        "\u{8}",
        "\rz",
    ] {
        assert!(!written.contains(bad), "{bad:?} in {written:?}");
    }
    assert!(written.contains("\\u{1b}]0;owned\\u{7}"), "{written:?}");
}

#[test]
fn nothing_hostile_reaches_the_screen() {
    for era in ERAS {
        let server = Host::open();
        let fields = [
            (
                HOSTILE,
                json!({ "type": "string", "title": HOSTILE, "description": HOSTILE }),
            ),
            (
                "which",
                json!({ "type": "string", "oneOf": [{ "const": "a", "title": HOSTILE }] }),
            ),
        ];
        let works = [
            json!({ "log": ["error", HOSTILE] }),
            json!({ "report": [1, 2, HOSTILE] }),
            json!({ "wait": 200 }),
            ask(HOSTILE, form(HOSTILE, &fields)),
            ask("link", link(HOSTILE, "https://example.com/")),
            ask("model", sample(HOSTILE)),
            json!({ "say": HOSTILE }),
        ];
        let mut terminal = call(&server, &works, era);
        terminal.wait_for("1/2: ");
        terminal.answer("? \\u{1b}]0;owned", "x");
        terminal.answer("? which", "");
        terminal.answer("Send it?", "");
        terminal.answer("Your answer", "Agree: I");
        terminal.answer("Your answer", "Write");
        terminal.answer("? assistant", "x");
        assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
        is_harmless(&terminal);
    }
}

#[test]
fn what_a_server_says_it_is_does_no_harm_in_a_failure() {
    let server = Host::open();
    let steps = steps(&[json!({ "log": [HOSTILE] })]);
    let args = ["call", server.url(), HOSTILE, "--args", &steps];
    let mut terminal = Terminal::run(&args, &[]);
    assert_eq!(terminal.wait_for_end(), Some(1), "{}", terminal.screen());
    let written = terminal.written();
    assert!(!written.contains('\u{1b}'), "{written:?}");
}

/// `NO_COLOR` is not set, and standard error is a terminal.
#[test]
fn there_are_colours_only_at_a_terminal() {
    let server = Host::open();
    let asks = steps(&[
        json!({ "log": ["warning", "careful"] }),
        ask("go", link("Go", "https://example.com/")),
        json!({ "say": "Done." }),
    ]);
    let args = ["call", server.url(), "play", "--args", &asks];
    let coloured = [("NO_COLOR", Path::new(""))];
    let mut terminal = Terminal::run(&args, &coloured);
    terminal.answer("Your answer", "Decline");
    assert_eq!(terminal.wait_for_end(), Some(0));
    let written = terminal.written();
    assert!(
        written.contains("\u{1b}[33mwarning\u{1b}[0m: careful"),
        "{written:?}"
    );
    assert!(
        written.contains("https://\u{1b}[1mexample.com\u{1b}[22m/"),
        "{written:?}"
    );

    let plain = [("NO_COLOR", Path::new("1"))];
    let mut terminal = Terminal::run(&args, &plain);
    terminal.answer("Your answer", "Decline");
    assert_eq!(terminal.wait_for_end(), Some(0));
    let written = terminal.written();
    let colour = |sequence: &str| {
        let end = sequence.find(|c: char| c.is_ascii_alphabetic());
        end.is_some_and(|end| sequence[end..].starts_with('m'))
    };
    let mut sequences = written.split("\u{1b}[").skip(1);
    assert!(!sequences.any(colour), "{written:?}");
}

/// A result in colours, but not in a file.
#[test]
fn a_result_in_a_file_has_no_colours() {
    use std::{io::Read, process::Stdio};
    let args = [
        "inspect",
        "--",
        env!("CARGO_BIN_EXE_antiphon"),
        "demo",
        "--stdio",
    ];
    let coloured = [("NO_COLOR", Path::new(""))];
    let mut terminal = Terminal::run(&args, &coloured);
    assert_eq!(terminal.wait_for_end(), Some(0));
    assert!(terminal.written().contains("\u{1b}[1m"));
    let mut terminal = Terminal::run_to(&args, &coloured, Stdio::piped());
    let mut text = String::new();
    terminal.output().read_to_string(&mut text).expect("text");
    assert_eq!(terminal.wait_for_end(), Some(0));
    assert!(
        text.contains("Negotiation") && !text.contains('\u{1b}'),
        "{text:?}"
    );
}
