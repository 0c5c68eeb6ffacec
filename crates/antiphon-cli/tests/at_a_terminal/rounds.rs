//! Calls that ask more than once: several questions in a round, several rounds, and a call that
//! waits in a file in between.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::{
    ERAS, call, fresh,
    support::{
        ENTER, ESC, Host, Terminal,
        host::{ask, form, roots, sample, steps},
    },
};

fn text(message: &str, name: &str) -> Value {
    form(message, &[(name, json!({ "type": "string" }))])
}

fn sure(message: &str) -> Value {
    form(message, &[("sure", json!({ "type": "boolean" }))])
}

#[test]
fn the_heading_says_who_asks_for_what_and_until_when() {
    for era in ERAS {
        let server = Host::open();
        let mut options = era.to_vec();
        options.extend(["--timeout", "human=3h"]);
        let asks = [ask("first", sure("One?")), ask("second", sure("Two?"))];
        let mut terminal = call(&server, &asks, &options);
        for (round, question) in [(1, "One?"), (2, "Two?")] {
            terminal.wait_for(&format!("{} asks [", server.url()));
            let heading = terminal.line_with("  for tools/call play, ");
            // Older revisions know no rounds; whatever was asked before counts.
            assert!(
                heading.contains(&format!("round {round}, 2 h 59 min left")),
                "{heading}"
            );
            terminal.wait_for(&format!("  | {question}"));
            terminal.answer("? sure", "y");
        }
        assert_eq!(terminal.wait_for_end(), Some(0));
    }
}

#[test]
fn questions_of_one_round_come_one_after_the_other() {
    for era in ERAS {
        let server = Host::open();
        let together = json!({ "ask": {
            "name": text("What is it called?", "name"),
            "sure": sure("Are you sure?"),
            "where": roots(),
            "model": sample("Say hello"),
        } });
        let mut terminal = call(&server, &[together], era);
        // In which order is up to the client.
        for _ in 0..4 {
            terminal.wait_for(" asks [");
            terminal.wait_for(" left\r\n");
            let next = terminal.line_with("");
            match next.trim() {
                "| What is it called?" => {
                    terminal.answer("? name", "depot");
                    terminal.answer("Send it?", "");
                }
                "| Are you sure?" => terminal.answer("? sure", "n"),
                "It wants to know which directories it may work in." => {
                    terminal.answer("? Path", "/");
                    terminal.answer("? Path 2", "");
                }
                "It wants a model to go on, in at most 100 tokens." => {
                    terminal.answer("Your answer", "Write");
                    terminal.answer("? assistant", "Hello.");
                }
                other => panic!("{other}"),
            }
        }
        assert_eq!(terminal.wait_for_end(), Some(0));
        let round = &server.answers()[0];
        let name = json!({ "action": "accept", "content": { "name": "depot" } });
        assert_eq!(round["name"], name);
        assert_eq!(round["sure"]["content"], json!({ "sure": false }));
        assert_eq!(round["where"]["roots"][0]["uri"], "file:///");
        assert_eq!(round["model"]["content"]["text"], "Hello.");
        // None of them was in the way of another.
        let screen = terminal.screen();
        assert_eq!(screen.matches(" asks [").count(), 4, "{screen}");
        assert_eq!(screen.matches(" left\n").count(), 4, "{screen}");
    }
}

#[test]
fn a_call_goes_on_for_as_many_rounds_as_it_needs() {
    for era in ERAS {
        let server = Host::open();
        let asks = [
            ask("a", sure("One?")),
            ask("b", text("Two?", "two")),
            ask("c", sure("Three?")),
            json!({ "say": "All three." }),
        ];
        let mut terminal = call(&server, &asks, era);
        terminal.wait_for("| One?");
        terminal.answer("? sure", "y");
        terminal.wait_for("| Two?");
        terminal.answer("? two", "2");
        terminal.answer("Send it?", "");
        terminal.wait_for("| Three?");
        terminal.wait_for("? sure");
        terminal.press(ESC);
        terminal.answer("Leave?", "");
        terminal.wait_for("All three.");
        assert_eq!(terminal.wait_for_end(), Some(0));
        let rounds = server.answers();
        assert_eq!(rounds.len(), 3);
        assert_eq!(rounds[1]["b"]["content"], json!({ "two": "2" }));
        assert_eq!(rounds[2]["c"], json!({ "action": "decline" }));
    }
}

#[test]
fn too_many_rounds_end_the_call() {
    let server = Host::open();
    let asks: Vec<_> = (0..4).map(|_| ask("sure", sure("Again?"))).collect();
    let mut terminal = call(&server, &asks, &["--max-rounds", "2"]);
    terminal.answer("? sure", "y");
    terminal.answer("? sure", "y");
    assert_eq!(terminal.wait_for_end(), Some(6), "{}", terminal.screen());
    assert!(terminal.is_usable());
}

/// Saves a call that nobody is asked about, although there is a terminal.
fn paused(server: &Host, asks: &[Value], era: &[&str], name: &str) -> PathBuf {
    let file = fresh(name).join("call.json");
    let path = file.to_str().expect("a name").to_owned();
    let mut options = vec!["--no-input", "--save", &path];
    options.extend(era);
    let mut terminal = call(server, asks, &options);
    assert_eq!(terminal.wait_for_end(), Some(20), "{}", terminal.screen());
    assert!(file.exists());
    file
}

#[test]
fn a_paused_call_is_resumed_at_the_terminal() {
    for (era, name) in ERAS.into_iter().zip(["resumed", "restarted"]) {
        let server = Host::open();
        let asks = [
            ask("a", text("What for?", "why")),
            ask("b", sure("Really?")),
        ];
        let file = paused(&server, &asks, era, name);
        let path = file.to_str().expect("a name");
        let mut terminal = Terminal::run(&["resume", path], &[]);
        terminal.wait_for(&format!("{} asks [", server.url()));
        terminal.wait_for("| What for?");
        terminal.answer("? why", "audit");
        terminal.answer("Send it?", "");
        terminal.wait_for("round 2");
        terminal.answer("? sure", "y");
        terminal.wait_for("Done.");
        assert_eq!(terminal.wait_for_end(), Some(0));
        assert!(!file.exists(), "it is renamed");
        let rounds = server.answers();
        let last = &rounds[rounds.len() - 2..];
        assert_eq!(last[0]["a"]["content"], json!({ "why": "audit" }));
        assert_eq!(last[1]["b"]["content"], json!({ "sure": true }));
    }
}

/// What was answered until then is kept with the call.
#[test]
fn a_question_can_be_left_for_later() {
    for (era, name) in ERAS.into_iter().zip(["later", "later-again"]) {
        let server = Host::open();
        let asks = [
            ask("a", text("What for?", "why")),
            ask("b", sure("Really?")),
        ];
        let file = fresh(name).join("call.paused.json");
        let path = file.to_str().expect("a name");
        let options = [era, &["--save", path]].concat();
        let mut terminal = call(&server, &asks, &options);
        terminal.answer("? why", "audit");
        terminal.answer("Send it?", "");
        terminal.wait_for("? sure");
        terminal.press(ESC);
        terminal.answer("Leave?", "Later");
        assert_eq!(terminal.wait_for_end(), Some(20), "{}", terminal.screen());
        let resume = format!("antiphon resume {path}");
        assert!(terminal.screen().contains(&resume), "{}", terminal.screen());

        let mut terminal = Terminal::run(&["resume", path], &[]);
        terminal.answer("? sure", "y");
        assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
        assert!(
            !terminal.screen().contains("? why"),
            "{}",
            terminal.screen()
        );
        let rounds = server.answers();
        let last = &rounds[rounds.len() - 2..];
        assert_eq!(last[0]["a"]["content"], json!({ "why": "audit" }));
        assert_eq!(last[1]["b"]["content"], json!({ "sure": true }));
    }
}

#[test]
fn what_is_given_with_the_command_is_not_asked_again() {
    let server = Host::open();
    let together = json!({ "ask": {
        "name": text("What is it called?", "name"),
        "sure": sure("Are you sure?"),
    } });
    let file = paused(&server, &[together], &[], "half-answered");
    let path = file.to_str().expect("a name");
    let mut terminal = Terminal::run(&["resume", path, "name.name=depot"], &[]);
    terminal.wait_for("| Are you sure?");
    terminal.answer("? sure", "y");
    assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
    assert!(!terminal.transcript().contains("What is it called?"));
    let round = &server.answers()[0];
    assert_eq!(round["name"]["content"], json!({ "name": "depot" }));
    assert_eq!(round["sure"]["content"], json!({ "sure": true }));
}

/// Standard output is for the result: whoever redirects it is still asked, and sees no result.
#[test]
fn questions_are_asked_at_the_terminal_although_the_result_goes_elsewhere() {
    for (era, name) in ERAS.into_iter().zip(["redirected", "redirected-legacy"]) {
        let server = Host::open();
        let out = fresh(name).join("out");
        let asks = steps(&[
            ask("a", text("Who?", "name")),
            json!({ "say": "The result" }),
        ]);
        let mut args = vec!["call", server.url(), "play", "--args", &asks, "--json"];
        args.extend(era);
        let file = fs::File::create(&out).expect("a file");
        let mut terminal = Terminal::run_to(&args, &[], file.into());
        terminal.wait_for("| Who?");
        terminal.answer("? name", "Ada");
        terminal.wait_for("Send it?");
        terminal.press(ENTER);
        assert_eq!(terminal.wait_for_end(), Some(0));
        let screen = terminal.screen();
        assert!(screen.ends_with("\n? Send it? Send it"), "{screen}");
        let text = fs::read_to_string(&out).expect("written");
        let result: Value = serde_json::from_str(&text).expect("nothing but the result");
        assert_eq!(result["content"][0]["text"], "The result");
    }
}

#[test]
fn prompts_and_resources_ask_at_the_terminal_too() {
    let demo = ["--", env!("CARGO_BIN_EXE_antiphon"), "demo", "--stdio"];
    for era in ERAS {
        for (words, field, shown) in [
            (
                vec!["prompt", "brief", "topic=tides"],
                "audience",
                "Write a brief on tides for x.",
            ),
            (
                vec!["read", "vault://7"],
                "reason",
                "Vault 7, opened because: x",
            ),
            (vec!["call", "issue_card"], "name", "Card issued to x."),
        ] {
            let args = [&words, era, &demo].concat();
            let mut terminal = Terminal::run(&args, &[]);
            terminal.answer(&format!("? {field}"), "x");
            terminal.answer("Send it?", "");
            terminal.wait_for(shown);
            assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
        }
    }
}

/// Rules come first, the person is asked for the rest; unless only rules count.
#[test]
fn rules_answer_before_the_person_and_alone_if_told() {
    for era in ERAS {
        let place = fresh(&format!("ruled{}", era.concat()));
        let (rules, file) = (place.join("rules.toml"), place.join("call.json"));
        let rule = "[[answer]]\ntool = \"play\"\nschema = { properties = { name = {} } }\n\
                    accept = { name = \"depot\" }\n";
        fs::write(&rules, rule).expect("written");
        let rules = rules.to_str().expect("a name");
        let asks = [
            ask("a", text("What is it called?", "name")),
            ask("b", sure("Really?")),
        ];
        let server = Host::open();
        let options = [&["--answers", rules][..], era].concat();
        let mut terminal = call(&server, &asks, &options);
        terminal.wait_for("answered [");
        terminal.wait_for("accept {\"name\":\"depot\"}");
        terminal.answer("? sure", "y");
        assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
        assert!(!terminal.transcript().contains("? name"));

        let server = Host::open();
        let path = file.to_str().expect("a name");
        let options = [&options[..], &["--strict", "--save", path]].concat();
        let mut terminal = call(&server, &asks, &options);
        assert_eq!(terminal.wait_for_end(), Some(20), "{}", terminal.screen());
        assert!(!terminal.transcript().contains("? sure"));
        assert!(file.exists());
    }
}
