//! What a server wants of the client's model and of its directories.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use serde_json::json;

use crate::{
    ERAS, call, fresh,
    support::{
        BACKSPACE, ENTER, ESC, Host,
        host::{ask, roots, sample},
    },
};

#[test]
fn a_person_answers_for_the_model() {
    for era in ERAS {
        let server = Host::open();
        let mut terminal = call(
            &server,
            &[ask("summary", sample("Sum up: a long story"))],
            era,
        );
        terminal.wait_for("It wants a model to go on, in at most 100 tokens.");
        terminal.wait_for("user:\r\n  | Sum up: a long story\r\n");
        terminal.answer("Your answer", "Write");
        terminal.answer("? assistant", "Short.");
        assert_eq!(terminal.wait_for_end(), Some(0));
        let answer = server.answer();
        assert_eq!(
            answer["content"],
            json!({ "type": "text", "text": "Short." })
        );
        assert_eq!(answer["role"], "assistant");
    }
}

#[test]
fn who_declines_to_be_the_model_ends_the_call() {
    // An older server is told so, and ends the call itself.
    let told = ["declined at the terminal", "User rejected sampling request"];
    for (era, told) in ERAS.into_iter().zip(told) {
        for escapes in [false, true] {
            let server = Host::open();
            let mut terminal = call(&server, &[ask("summary", sample("Go on"))], era);
            match escapes {
                false => terminal.answer("Your answer", "Decline"),
                true => {
                    terminal.wait_for("Your answer");
                    terminal.press(ESC);
                    terminal.answer("Leave?", "");
                }
            }
            assert_eq!(terminal.wait_for_end(), Some(1), "{}", terminal.screen());
            assert!(terminal.is_usable());
            let screen = terminal.screen();
            assert!(screen.contains(told), "{screen}");
            assert!(server.answers().is_empty());
        }
    }
}

/// A model that says this.
fn sampler(name: &str, says: &str) -> PathBuf {
    let program = fresh(name).join("model");
    let script = format!("#!/bin/sh\n/bin/cat > /dev/null\n{says}\n");
    fs::write(&program, script).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    program
}

#[test]
fn a_draft_of_the_sampler_is_reviewed_before_it_is_sent() {
    for (era, name) in ERAS.into_iter().zip(["drafts", "drafts-legacy"]) {
        let model = sampler(name, r"printf 'One.\nTwo \033[2J.\n'");
        let model = model.to_str().expect("a name");
        for (choice, text) in [
            ("", "One.\nTwo \u{1b}[2J."),
            ("Edit", "One.\nTwo."),
            ("Write", "Mine."),
        ] {
            let server = Host::open();
            let mut options = vec!["--sampler", model];
            options.extend(era);
            let mut terminal = call(&server, &[ask("summary", sample("Sum up"))], &options);
            terminal.wait_for("  | Sum up\r\n");
            terminal.wait_for("The draft of ");
            terminal.wait_for("  | One.\r\n  | Two \\u{1b}[2J.\r\n");
            terminal.answer("Your answer", choice);
            match choice {
                "Edit" => {
                    terminal.answer("? assistant, line 1 of 2 One.", "");
                    terminal.wait_for("? assistant, line 2 of 2 Two ");
                    terminal.press(&BACKSPACE.repeat(r" \u{1b}[2J.".len()));
                    terminal.press(".");
                    terminal.press(ENTER);
                }
                "Write" => terminal.answer("? assistant", "Mine."),
                _ => {}
            }
            assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
            assert_eq!(server.answer()["content"]["text"], text);
        }
    }
}

#[test]
fn a_sampler_that_fails_leaves_the_answer_to_the_person() {
    let model = sampler("no-draft", "echo 'out of \u{1b}[2Jtokens' >&2; exit 3");
    let server = Host::open();
    let options = ["--sampler", model.to_str().expect("a name")];
    let mut terminal = call(&server, &[ask("summary", sample("Sum up"))], &options);
    terminal.wait_for("antiphon: ");
    terminal.wait_for("out of ");
    terminal.answer("Your answer", "Write");
    terminal.answer("? assistant", "Mine.");
    assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
    assert_eq!(server.answer()["content"]["text"], "Mine.");
    assert!(!terminal.written().contains("\u{1b}[2Jtokens"));
}

#[test]
fn roots_are_named_by_the_person_or_the_command_line() {
    for (era, name) in ERAS.into_iter().zip(["roots", "roots-legacy"]) {
        let place = fresh(name);
        let path = place.to_str().expect("a name");
        let server = Host::open();
        let mut terminal = call(&server, &[ask("where", roots())], era);
        terminal.answer("? Path", "/no/such/place");
        terminal.wait_for("! /no/such/place: ");
        terminal.answer("? Path", path);
        terminal.answer("? Path 2", "");
        assert_eq!(terminal.wait_for_end(), Some(0));
        let told = server.answer();
        let uri = told["roots"][0]["uri"].as_str().expect("a root");
        assert!(uri.starts_with("file:///") && uri.ends_with(name), "{uri}");

        let server = Host::open();
        let mut options = vec!["--root", path];
        options.extend(era);
        let mut terminal = call(&server, &[ask("where", roots())], &options);
        terminal.wait_for("answered [");
        terminal.wait_for("] by the command line: file:///");
        assert_eq!(terminal.wait_for_end(), Some(0));
        assert_eq!(server.answer(), told);
        assert!(!terminal.transcript().contains("Path"));
    }
}
