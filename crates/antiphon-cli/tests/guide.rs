//! The guide and `--help` tell of the same commands and options.

use std::{collections::BTreeSet, process::Command};

const GUIDE: &str = include_str!("../../../docs/terminal.md");

fn help(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_antiphon"))
        .args(words)
        .arg("--help")
        .output()
        .expect("antiphon runs");
    assert!(output.status.success(), "{words:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The commands, by what `--help` lists.
fn commands() -> Vec<String> {
    let help = help(&[]);
    let (_, list) = help.split_once("Commands:\n").expect("a list");
    let (list, _) = list.split_once("\n\n").expect("an end");
    let names = list.lines().filter_map(|line| {
        let is_entry = line.starts_with("  ") && !line.starts_with("   ");
        is_entry.then(|| line.split_whitespace().next()).flatten()
    });
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The long options in a text.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words
        .filter(|word| word.starts_with("--") && word.contains(char::is_alphabetic))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_guide_has_every_command_and_option() {
    let commands = commands();
    assert!(commands.len() > 9, "{commands:?}");
    let told = options(GUIDE);
    for command in &commands {
        assert!(GUIDE.contains(&format!("`{command}`")), "{command}");
        if command == "demo" {
            continue;
        }
        for option in options(&help(&[command])) {
            let own = [
                "--help",
                "--version",
                "--tools",
                "--prompts",
                "--resources",
                "--count",
                "--for",
            ];
            assert!(
                told.contains(&option) || own.contains(&option.as_str()),
                "{command} {option} is not in the guide"
            );
        }
    }
}

#[test]
fn the_guide_tells_of_no_option_that_is_not_there() {
    let mut known: BTreeSet<String> = ["--path".to_owned()].into();
    for command in commands() {
        known.extend(options(&help(&[&command])));
    }
    for option in options(GUIDE) {
        assert!(known.contains(&option), "{option} is in no help");
    }
}

#[test]
fn every_help_has_examples() {
    for command in commands() {
        let help = help(&[&command]);
        assert!(help.contains("Examples:"), "{command}:\n{help}");
    }
    assert!(help(&[]).contains("Examples:\n  antiphon "));
}

/// What the README shows of the command is what the recorded session shows.
#[test]
fn the_readme_shows_the_recorded_session() {
    const README: &str = include_str!("../../../README.md");
    const SESSION: &str = include_str!("../../../docs/terminal-session.txt");
    let shown = README.split("```text\n$ antiphon").skip(1);
    let shown = shown.map(|rest| format!("$ antiphon{}", rest.split("```").next().unwrap_or("")));
    let shown: Vec<_> = shown.collect();
    assert_eq!(shown.len(), 2);
    for part in shown {
        assert!(
            SESSION.contains(part.trim_end()),
            "not as recorded:\n{part}"
        );
    }
}
