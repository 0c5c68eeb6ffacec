//! Commands to be typed: how to resume a call, how to make it again.

use std::path::Path;

use antiphon::client::Target;

use crate::{
    paused::{Saved, SentHeader, Whom, With},
    printable,
};

/// How to resume the call in this file.
pub(crate) fn resume(file: &Path, saved: &Saved, target: Option<&str>) -> String {
    let file = match file.to_string_lossy() {
        file if is_option(&file) => format!("./{file}"),
        file => file.into_owned(),
    };
    let mut words = vec!["antiphon".to_owned(), "resume".to_owned(), quoted(&file)];
    // The rest is in the file.
    if let (Whom::UrlWithQuery(url), target) = (&saved.target, target) {
        let target = target.map_or_else(|| format!("{url}?…"), str::to_owned);
        words.push(format!("--target {}", quoted(&target)));
    }
    words.extend(unknown_headers(&saved.with));
    words.join(" ")
}

/// How to make a call from its beginning.
pub(crate) fn again(whom: &Whom, with: &With, call: &Target) -> String {
    let (command, is_resource) = match call.method() {
        "prompts/get" => ("prompt", false),
        "resources/read" => ("read", true),
        _ => ("call", false),
    };
    let mut words = vec!["antiphon".to_owned(), command.to_owned()];
    match whom {
        Whom::Url(url) | Whom::UrlWithQuery(url) => words.push(quoted(url)),
        Whom::Name(name) => words.push(quoted(name)),
        Whom::Command { .. } => {}
    }
    words.push(quoted(call.name()));
    if let Some(arguments) = call.arguments().filter(|_| !is_resource) {
        words.push(format!("--args {}", quoted(arguments.get())));
    }
    words.extend(options(with));
    if let Whom::Command { words: command, .. } = whom {
        words.push("--".to_owned());
        words.extend(command.iter().map(|word| quoted(word)));
    }
    words.join(" ")
}

fn options(with: &With) -> Vec<String> {
    let mut words = Vec::new();
    let path = |path: &Path| quoted(&path.to_string_lossy());
    if let Some(config) = &with.config {
        words.push(format!("--config {}", path(config)));
    }
    for SentHeader { name, variable } in &with.headers {
        if let Some(variable) = variable {
            words.push(format!(
                "--header {}",
                quoted(&format!("{name}: ${variable}"))
            ));
        }
    }
    words.extend(unknown_headers(with));
    if let Some(variable) = &with.bearer_env {
        words.push(format!("--bearer-env {}", quoted(variable)));
    }
    if let Some(file) = &with.bearer_file {
        words.push(format!(
            "--bearer {}",
            quoted(&format!("@{}", file.to_string_lossy()))
        ));
    }
    if with.legacy {
        words.push("--legacy".to_owned());
    }
    if let Some(version) = with.protocol {
        words.push(format!("--protocol {version}"));
    }
    words
}

/// Headers whose values are known to the user alone.
fn unknown_headers(with: &With) -> impl Iterator<Item = String> {
    let unknown = with
        .headers
        .iter()
        .filter(|header| header.variable.is_none());
    unknown.map(|header| format!("--header {}", quoted(&format!("{}: …", header.name))))
}

/// A word as a shell takes it, and a terminal, too: it never goes on on a line of its own, where it
/// would pass for something that we say.
pub(crate) fn quoted(word: &str) -> String {
    match shlex::try_quote(word) {
        Ok(quoted) if !word.chars().any(printable::deceives) => quoted.into_owned(),
        _ => escaped(word),
    }
}

/// A word as bash and zsh take it that holds what a terminal must not see: `$'a\nb'`.
fn escaped(word: &str) -> String {
    let mut quoted = "$'".to_owned();
    for character in word.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\\' | '\'' => quoted.extend(['\\', character]),
            _ if printable::deceives(character) => {
                quoted.push_str(&format!("\\U{:08x}", u32::from(character)));
            }
            _ => quoted.push(character),
        }
    }
    quoted + "'"
}

/// Whether a shell's word of this beginning would be taken for an option.
pub(crate) fn is_option(word: &str) -> bool {
    word.starts_with('-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(method: &str, name: &str) -> Target {
        let mut target = json!({ "method": method, "name": name });
        if method != "resources/read" {
            target["arguments"] = r#"{"env":"it's"}"#.into();
        }
        serde_json::from_value(target).expect("a call")
    }

    #[test]
    fn a_word_stays_on_its_line_and_is_one_word() {
        for (word, expected) in [
            ("plain", "plain"),
            ("it's $(id) `id`", "\"it's \"'$(id) `id`'"),
            ("a\nSaved in b: 'c\\d'", r"$'a\nSaved in b: \'c\\d\''"),
            (
                "tab\tand\u{202e}\u{1b}[2J",
                r"$'tab\tand\U0000202e\U0000001b[2J'",
            ),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn a_file_is_not_taken_for_an_option() {
        let saved = json!({ "antiphon": 1, "target": { "url": "https://a.example" }, "kind": "restart",
            "restart": { "call": call("tools/call", "a"), "answered": [], "open": [] } });
        let saved: Saved = serde_json::from_value(saved).expect("a call");
        let line = resume(Path::new("-x.json"), &saved, None);
        assert_eq!(line, "antiphon resume ./-x.json");
    }

    #[test]
    fn a_call_can_be_made_again_with_what_is_printed() {
        let whom = Whom::Command {
            words: vec!["my server".to_owned(), "--fast".to_owned()],
            directory: "/".into(),
        };
        let with = With {
            legacy: true,
            bearer_env: Some("TOKEN".to_owned()),
            headers: vec![
                SentHeader {
                    name: "x-a".to_owned(),
                    variable: Some("A".to_owned()),
                },
                SentHeader {
                    name: "x-b".to_owned(),
                    variable: None,
                },
            ],
            ..With::default()
        };
        let line = again(&whom, &with, &call("tools/call", "deploy"));
        assert_eq!(
            shlex::split(&line).expect("words"),
            [
                "antiphon",
                "call",
                "deploy",
                "--args",
                r#"{"env":"it's"}"#,
                "--header",
                "x-a: $A",
                "--header",
                "x-b: …",
                "--bearer-env",
                "TOKEN",
                "--legacy",
                "--",
                "my server",
                "--fast"
            ]
        );
        let whom = Whom::Name("shop".to_owned());
        let line = again(
            &whom,
            &With::default(),
            &call("resources/read", "shop://a b"),
        );
        assert_eq!(line, "antiphon read shop 'shop://a b'");
    }
}
