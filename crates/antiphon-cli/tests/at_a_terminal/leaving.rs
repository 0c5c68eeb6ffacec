//! Calls that end before their time: by Ctrl-C, by a clock, or because the server takes its
//! question back. The terminal is usable afterwards, and nothing is lost that can be kept.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use crate::{
    ERAS, call, fresh,
    support::{
        ENTER, Host, INTERRUPT, Terminal,
        host::{ask, form, sample},
    },
};

fn name() -> Value {
    form("Who?", &[("name", json!({ "type": "string" }))])
}

#[test]
fn ctrl_c_at_a_question_ends_the_call() {
    for era in ERAS {
        for (question, shown) in [(name(), "? name"), (sample("Go on"), "? Your answer")] {
            let server = Host::open();
            let asks = match era.is_empty() {
                true => ask("q", question),
                false => json!({ "push": [question, "hello", 60_000] }),
            };
            let mut terminal = call(&server, &[asks], era);
            terminal.wait_for(shown);
            terminal.wait_for("Esc to leave]");
            assert!(!terminal.is_usable(), "a prompt takes the terminal over");
            terminal.press(INTERRUPT);
            assert_eq!(terminal.wait_for_end(), Some(130), "{}", terminal.screen());
            assert!(terminal.is_usable(), "{:?}", terminal.written());
            let screen = terminal.screen();
            assert!(screen.ends_with("\nantiphon: interrupted"), "{screen}");
            assert!(server.answers().is_empty());
            // An older server waits for the answer, and is told that none comes.
            if !era.is_empty() {
                server.wait_until_left();
            }
        }
    }
}

#[test]
fn who_is_asked_to_end_leaves_the_terminal_as_it_was() {
    for era in ERAS {
        let server = Host::open();
        let asks = match era.is_empty() {
            true => ask("q", name()),
            false => json!({ "push": [name(), "hello", 60_000] }),
        };
        let mut terminal = call(&server, &[asks], era);
        terminal.wait_for("Esc to leave]");
        terminal.send(Signal::SIGTERM);
        assert_eq!(terminal.wait_for_end(), Some(130), "{}", terminal.screen());
        assert!(terminal.is_usable(), "{:?}", terminal.written());
    }
}

#[test]
fn ctrl_c_while_the_server_works_tells_it() {
    for era in ERAS {
        let server = Host::open();
        let works = [
            json!({ "report": [1, 2, "half"] }),
            json!({ "wait": 60_000 }),
        ];
        let mut terminal = call(&server, &works, era);
        terminal.wait_for("1/2: half");
        // Nobody reads keys now: it is a signal, as from any terminal.
        terminal.send(Signal::SIGINT);
        assert_eq!(terminal.wait_for_end(), Some(130), "{}", terminal.screen());
        assert!(terminal.is_usable(), "{:?}", terminal.written());
        assert_eq!(terminal.screen(), "antiphon: interrupted");
        server.wait_until_left();
    }
}

#[test]
fn a_person_who_takes_too_long_finds_the_call_in_a_file() {
    let server = Host::open();
    let file = fresh("too-late").join("call.json");
    let path = file.to_str().expect("a name");
    let options = ["--timeout", "human=2s", "--save", path];
    let mut terminal = call(&server, &[ask("who", name())], &options);
    terminal.wait_for("? name");
    terminal.press("Ad");
    assert_eq!(terminal.wait_for_end(), Some(5), "{}", terminal.screen());
    assert!(terminal.is_usable(), "{:?}", terminal.written());
    let screen = terminal.screen();
    let (_, told) = screen.split_once("\n? name Ad\n").expect("what was typed");
    let over = "  ! No time is left for this question (the human clock).\nantiphon: ";
    assert!(told.starts_with(over), "{screen}");
    assert!(
        told.contains(&format!("antiphon resume {path}")),
        "{screen}"
    );
    // The call is where it was, however often nobody answers in time.
    let mut terminal = Terminal::run(&["resume", path, "--timeout", "human=2s"], &[]);
    terminal.wait_for("? name");
    assert_eq!(terminal.wait_for_end(), Some(5), "{}", terminal.screen());
    assert!(terminal.is_usable(), "{:?}", terminal.written());
    // And however often they leave.
    let mut terminal = Terminal::run(&["resume", path], &[]);
    terminal.wait_for("? name");
    terminal.press(INTERRUPT);
    assert_eq!(terminal.wait_for_end(), Some(130), "{}", terminal.screen());
    let screen = terminal.screen();
    assert!(file.exists(), "nothing was sent: {screen}");
    assert!(screen.ends_with("antiphon: interrupted"), "{screen}");
    let mut terminal = Terminal::run(&["resume", path], &[]);
    terminal.answer("? name", "Ada");
    terminal.answer("Send it?", "");
    assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
    assert_eq!(server.answer()["content"], json!({ "name": "Ada" }));
    assert!(fs::exists(format!("{path}.done")).expect("seen"));
}

/// An older server does not keep a call: the question is answered with `cancel`, it
/// goes on, and whoever called is told.
#[test]
fn an_older_server_is_told_that_nobody_answers_in_time() {
    let server = Host::open();
    let options = ["--legacy", "--timeout", "human=2s"];
    let mut terminal = call(&server, &[ask("who", name())], &options);
    terminal.wait_for("? name");
    terminal.press("Ad");
    assert_eq!(terminal.wait_for_end(), Some(5), "{}", terminal.screen());
    assert!(terminal.is_usable(), "{:?}", terminal.written());
    assert_eq!(server.answer(), json!({ "action": "cancel" }));
    let screen = terminal.screen();
    let told = "\n? name Ad\n  ! No time is left for this question (the human clock).\nDone.\n\
                antiphon: a question was not answered in time (the human clock)";
    assert!(screen.ends_with(told), "{screen}");
}

#[test]
fn the_clock_of_the_server_runs_only_while_it_works() {
    for era in ERAS {
        let server = Host::open();
        let works = [ask("who", name()), json!({ "wait": 60_000 })];
        let mut options = era.to_vec();
        options.extend(["--timeout", "work=1s"]);
        let mut terminal = call(&server, &works, &options);
        terminal.wait_for("? name");
        thread::sleep(Duration::from_millis(1500));
        terminal.press("Ada");
        terminal.press(ENTER);
        terminal.answer("Send it?", "");
        assert_eq!(terminal.wait_for_end(), Some(5), "{}", terminal.screen());
        let screen = terminal.screen();
        assert!(screen.contains("the work clock"), "{screen}");
        server.wait_until_left();
    }
}

/// An older server asks, and does not want to know any more while the person types.
#[test]
fn a_question_that_is_taken_back_makes_room_for_the_result() {
    let server = Host::open();
    let works = [
        json!({ "push": [name(), "hurry up", 700] }),
        json!({ "say": "Never mind." }),
    ];
    let mut terminal = call(&server, &works, &["--legacy"]);
    terminal.wait_for("? name");
    terminal.press("Ad");
    assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
    assert!(terminal.is_usable(), "{:?}", terminal.written());
    assert!(server.answers().is_empty());
    let screen = terminal.screen();
    let (_, after) = screen.split_once("\n? name Ad\n").expect("what was typed");
    assert!(after.contains("took its question back"), "{screen}");
    assert!(after.contains("\ninfo: hurry up\n"), "{screen}");
    assert!(after.ends_with("\nNever mind."), "{screen}");
}

#[test]
fn after_a_question_that_was_taken_back_the_next_is_asked() {
    let server = Host::open();
    let sure = form("Sure?", &[("sure", json!({ "type": "boolean" }))]);
    let works = [
        json!({ "push": [name(), "hurry up", 700] }),
        json!({ "push": [sure, "go on", 20_000] }),
    ];
    let mut terminal = call(&server, &works, &["--legacy"]);
    terminal.wait_for("? name");
    terminal.press("Ad");
    terminal.wait_for("! The server took its question back.");
    terminal.wait_for("press Enter to go on");
    // Whatever closes the prompt that is still open leads to the next, and answers nothing.
    terminal.press(ENTER);
    terminal.wait_for("| Sure?");
    terminal.answer("? sure", "y");
    assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
    assert!(terminal.is_usable());
    let answer = json!({ "action": "accept", "content": { "sure": true } });
    assert_eq!(server.answers(), [json!({ "pushed": answer })]);
    assert!(!terminal.transcript().contains("Send it?"));
}

/// A call that is made again may have done something by then; the file is not lost.
#[test]
fn who_leaves_a_call_that_is_made_again_is_told_how_to_go_on() {
    let server = Host::open();
    let file = fresh("left-again").join("call.json");
    let path = file.to_str().expect("a name");
    let options = ["--legacy", "--no-input", "--save", path];
    let mut terminal = call(&server, &[ask("who", name())], &options);
    assert_eq!(terminal.wait_for_end(), Some(20), "{}", terminal.screen());
    let mut terminal = Terminal::run(&["resume", path], &[]);
    terminal.wait_for("may be done twice");
    terminal.wait_for("? name");
    terminal.press(INTERRUPT);
    assert_eq!(terminal.wait_for_end(), Some(130), "{}", terminal.screen());
    let screen = terminal.screen();
    let told = format!("rename {path}.done to {path}");
    // A long path goes on in the next line.
    assert!(screen.replace('\n', "").ends_with(&told), "{screen}");
    fs::rename(format!("{path}.done"), path).expect("as told");
    let mut terminal = Terminal::run(&["resume", path, "name=Ada"], &[]);
    assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
}

/// A server that was started for the call ends with it.
#[test]
fn ctrl_c_ends_the_server_that_was_started() {
    let file = fresh("started").join("pid");
    let script = format!(
        "echo $$ > '{}'; exec '{}' demo --stdio",
        file.display(),
        env!("CARGO_BIN_EXE_antiphon")
    );
    for era in ERAS {
        let args = [&["call", "issue_card"], era, &["--", "sh", "-c", &script]].concat();
        let mut terminal = Terminal::run(&args, &[]);
        terminal.wait_for("Esc to leave]");
        terminal.press(INTERRUPT);
        assert_eq!(terminal.wait_for_end(), Some(130), "{}", terminal.screen());
        assert!(terminal.is_usable(), "{:?}", terminal.written());
        let process = fs::read_to_string(&file).expect("it was started");
        let process = Pid::from_raw(process.trim().parse().expect("a number"));
        let until = Instant::now() + Duration::from_secs(20);
        while kill(process, None).is_ok() {
            assert!(Instant::now() < until, "it still runs");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What was answered before the time was up is kept with the call.
#[test]
fn answers_that_were_given_in_time_are_kept() {
    let server = Host::open();
    let file = fresh("half-late").join("call.json");
    let path = file.to_str().expect("a name");
    let sure = form("Sure?", &[("sure", json!({ "type": "boolean" }))]);
    let together = json!({ "ask": { "sure": sure, "who": name() } });
    let options = ["--timeout", "human=3s", "--save", path];
    let mut terminal = call(&server, &[together], &options);
    terminal.answer("? sure", "y");
    terminal.wait_for("? name");
    assert_eq!(terminal.wait_for_end(), Some(5), "{}", terminal.screen());
    assert!(terminal.is_usable(), "{:?}", terminal.written());
    let mut terminal = Terminal::run(&["resume", path], &[]);
    terminal.answer("? name", "Ada");
    terminal.answer("Send it?", "");
    assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
    assert!(!terminal.transcript().contains("? sure"));
    let round = &server.answers()[0];
    assert_eq!(round["sure"]["content"], json!({ "sure": true }));
    assert_eq!(round["who"]["content"], json!({ "name": "Ada" }));
}
