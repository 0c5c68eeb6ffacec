//! What is completed where.

use std::path::PathBuf;

use super::{offers::Argument, *};
use crate::target::Configured;

/// A directory with a file that names servers, and with a cache; removed in the end.
struct Desk(PathBuf);

impl Desk {
    fn new(test: &str) -> Self {
        let name = format!("antiphon-completing-{test}-{}", process::id());
        let desk = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&desk.0).expect("a directory");
        let text = "[servers.shop]\nurl = \"https://a.example\"\n[servers.shelf]\ncommand = \"x\"\n\
                    [servers.\"$(reboot)\"]\ncommand = \"x\"\n";
        std::fs::write(desk.0.join("antiphon.toml"), text).expect("a file");
        desk
    }

    fn environment(&self) -> Environment {
        let home = self
            .0
            .to_str()
            .expect("a temporary path is text")
            .to_owned();
        let variables = move |name: &str| (name == "HOME").then(|| home.clone());
        Environment::new("linux", self.0.clone(), variables)
    }

    /// What is completed at the cursor, `|`.
    fn completes(&self, text: &str) -> Vec<String> {
        let (before, after) = text.split_once('|').expect("a cursor");
        let line = Line::around_cursor(before, after);
        let program = ["call", "prompt", "read", "inspect"]
            .into_iter()
            .fold(clap::Command::new("antiphon"), |program, name| {
                program.subcommand(clap::Command::new(name))
            });
        let Some(position) = line.position(&program) else {
            return Vec::new();
        };
        let completer = Completer {
            environment: &self.environment(),
            list: asked,
            complete: completed,
        };
        let candidates = completer.candidates(line.current(), &position);
        let words = candidates.iter().map(CompletionCandidate::get_value);
        words
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

fn offer(name: &str, arguments: &[(&str, &[&str])]) -> Offer {
    let arguments = arguments.iter().map(|(name, values)| Argument {
        name: (*name).to_owned(),
        about: None,
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    });
    Offer {
        name: name.to_owned(),
        about: Some("What\u{1b}[2J it does.\nAnd more.".to_owned()),
        arguments: arguments.collect(),
    }
}

/// Servers that can be asked.
fn asked(place: &Place, kind: Kind, _: &Environment) -> Option<Vec<Offer>> {
    let (Place::Url(_) | Place::Named(_)) = place else {
        return None;
    };
    Some(match kind {
        Kind::Tools => vec![
            offer("order", &[("title", &[]), ("binding", &["hard", "soft"])]),
            offer("return", &[]),
            offer("order; reboot", &[]),
            offer("-order", &[]),
        ],
        Kind::Prompts => vec![offer("brief", &[("topic", &[]), ("tone", &[])])],
        Kind::Resources => vec![offer("shop://books/1", &[]), offer("shop://b?x&y", &[])],
    })
}

/// What servers say of how an argument goes on: what was asked of them.
fn completed(_: &Place, asked: CompleteRequestParams, _: &Environment) -> Option<Vec<String>> {
    let asked = serde_json::to_value(asked).expect("JSON");
    let typed = asked["argument"]["value"].as_str().expect("text");
    let known = &asked["context"]["arguments"]["tone"];
    let known = known.as_str().unwrap_or("plain");
    Some(vec![format!("{typed}-{known}"), "other".to_owned()])
}

#[test]
fn servers_come_first() {
    let desk = Desk::new("servers");
    assert_eq!(desk.completes("antiphon call |"), ["shelf", "shop"]);
    assert_eq!(desk.completes("antiphon inspect sho|"), ["shop"]);
    assert_eq!(desk.completes("antiphon inspect shop |"), [""; 0]);
    assert_eq!(
        desk.completes("antiphon read --config none.toml |"),
        [""; 0]
    );
}

#[test]
fn then_comes_what_they_offer() {
    let desk = Desk::new("offers");
    assert_eq!(desk.completes("antiphon call shop |"), ["order", "return"]);
    assert_eq!(
        desk.completes("antiphon call https://a.example or|"),
        ["order"]
    );
    assert_eq!(desk.completes("antiphon prompt shop |"), ["brief"]);
    assert_eq!(
        desk.completes("antiphon read shop shop:|"),
        ["shop://books/1"]
    );
    assert_eq!(desk.completes("antiphon call nobody |"), [""; 0]);
}

#[test]
fn then_come_arguments() {
    let desk = Desk::new("arguments");
    assert_eq!(
        desk.completes("antiphon call shop order |"),
        ["title=", "binding="]
    );
    assert_eq!(
        desk.completes("antiphon call shop order title=x |"),
        ["binding="]
    );
    let values = desk.completes("antiphon call shop order binding=|");
    assert_eq!(values, ["binding=hard", "binding=soft"]);
    assert_eq!(
        desk.completes("antiphon call shop order binding=h|"),
        ["binding=hard"]
    );
    assert_eq!(
        desk.completes("antiphon prompt shop brief top|"),
        ["topic="]
    );
    assert_eq!(desk.completes("antiphon call shop other |"), [""; 0]);
}

#[test]
fn of_prompts_the_server_knows_the_values() {
    let desk = Desk::new("prompts");
    for (text, expected) in [
        (
            "antiphon prompt shop brief topic=b|",
            &["topic=b-plain"][..],
        ),
        (
            "antiphon prompt shop brief topic=|",
            &["topic=-plain", "topic=other"],
        ),
        (
            "antiphon prompt shop brief tone=dry topic=b|",
            &["topic=b-dry"],
        ),
        ("antiphon prompt shop brief colour=b|", &[]),
    ] {
        assert_eq!(desk.completes(text), expected, "{text}");
    }
}

#[test]
fn options_are_shown_where_there_is_nothing_else() {
    let program = || crate::Cli::command();
    let offered = |mut command: clap::Command, words: &[&str]| {
        let words: Vec<_> = words.iter().map(Into::into).collect();
        let at = words.len() - 1;
        let found = clap_complete::engine::complete(&mut command, words, at, None);
        let found = found.expect("candidates").into_iter();
        let words = found.map(|it| it.get_value().to_string_lossy().into_owned());
        words.collect::<Vec<_>>()
    };
    let commands = offered(words_first(program()), &["antiphon", ""]);
    assert!(commands.contains(&"call".to_owned()), "{commands:?}");
    assert!(commands.iter().all(|word| !word.starts_with('-')));
    let alone = offered(words_first(program()), &["antiphon", "keygen", ""]);
    assert!(alone.contains(&"--out".to_owned()), "{alone:?}");
    let options = offered(program(), &["antiphon", "call", "--lo"]);
    assert_eq!(options, ["--log"]);
    let levels = offered(words_first(program()), &["antiphon", "call", "--log", "e"]);
    assert_eq!(levels, ["error", "emergency"]);
    let versions = offered(program(), &["antiphon", "call", "--protocol=2026"]);
    assert_eq!(versions, ["--protocol=2026-07-28"]);
}

#[test]
fn a_command_is_not_started_but_remembered() {
    let desk = Desk::new("command");
    let text = "antiphon call o| -- shop --stdio";
    assert_eq!(desk.completes(text), [""; 0]);
    let words = ["shop", "--stdio"].map(str::to_owned).to_vec();
    let offers = [offer("open", &[("door", &[])])];
    let environment = desk.environment();
    offers::keep(
        &Place::Command(words.clone()),
        Kind::Tools,
        &offers,
        &environment,
    )
    .expect("kept");
    assert_eq!(desk.completes(text), ["open"]);
    assert_eq!(
        desk.completes("antiphon call open | -- shop --stdio"),
        ["door="]
    );
    assert_eq!(desk.completes("antiphon call o| -- shop"), [""; 0]);
    assert_eq!(
        desk.completes("antiphon prompt o| -- shop --stdio"),
        [""; 0]
    );
    assert_eq!(
        live::list(&Place::Command(words), Kind::Tools, &environment),
        None
    );
}

#[test]
fn a_server_that_cannot_be_reached_offers_nothing() {
    let desk = Desk::new("unreachable");
    let environment = desk.environment();
    let named = |server| {
        Place::Named(target::Named {
            name: "a".to_owned(),
            from: PathBuf::from("/x"),
            is_of_project: false,
            server,
            era: antiphon::client::Era::Auto,
        })
    };
    let missing = named(Configured::Stdio {
        command: desk.0.join("none"),
        args: Vec::new(),
        env: Vec::new(),
        cwd: None,
    });
    let nobody = Place::Url("http://127.0.0.1:1/mcp".to_owned());
    for place in [missing, nobody] {
        assert_eq!(live::list(&place, Kind::Tools, &environment), None);
        assert_eq!(offers::recall(&place, Kind::Tools, &environment), None);
    }
}

#[test]
fn what_is_told_about_a_candidate_is_one_harmless_line() {
    let offer = offer("order", &[]);
    let candidate = candidate("", &offer.name, offer.about.as_deref()).expect("plain");
    let help = candidate.get_help().expect("help").to_string();
    assert_eq!(help, r"What\u{1b}[2J it does.");
}

#[test]
fn every_shell_has_a_script() {
    for shell in Shell::value_variants() {
        let script = script(*shell, "./bin/an tiphon").expect("a script");
        assert!(script.contains(VARIABLE), "{script}");
        let here = std::env::current_dir().expect("a directory");
        assert!(script.contains(here.to_str().expect("text")), "{script}");
    }
    let script = script(Shell::Bash, "antiphon").expect("a script");
    assert!(script.contains("antiphon -- antiphon"), "{script}");
}
