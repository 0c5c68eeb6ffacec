//! The command line that a shell wants completed.

use std::path::PathBuf;

use clap::Arg;

/// What the script for bash hands over, where it is not words: the line before the cursor, and
/// after it.
pub(super) const BEFORE: &str = "_ANTIPHON_BEFORE";
pub(super) const AFTER: &str = "_ANTIPHON_AFTER";
/// Set by the scripts of other shells unless the last word is the one to complete.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

/// Words, and which one of them is to be completed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) words: Vec<String>,
    pub(super) at: usize,
}

/// What stands around the word to complete.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) command: String,
    /// The words before it that are neither options nor their values.
    pub(super) before: Vec<String>,
    /// The words after `--`.
    pub(super) server: Option<Vec<String>>,
    /// The value of `--config`.
    pub(super) config: Option<PathBuf>,
}

impl Line {
    /// The one that this process was started for.
    pub(super) fn of_process() -> Option<Self> {
        let variable = |name: &str| std::env::var(name).ok();
        if let Some(before) = variable(BEFORE) {
            let after = variable(AFTER).unwrap_or_default();
            return Some(Self::around_cursor(&before, &after));
        }
        let arguments = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let index = variable(INDEX).and_then(|index| index.parse().ok());
        Self::from_arguments(arguments, index)
    }

    /// From how a shell's script starts this program: the words follow `--`.
    fn from_arguments(
        arguments: impl IntoIterator<Item = String>,
        index: Option<usize>,
    ) -> Option<Self> {
        let words = arguments.into_iter().skip_while(|word| word != "--");
        let mut words: Vec<_> = words.skip(1).collect();
        let at = index.unwrap_or(words.len().checked_sub(1)?);
        // zsh leaves out a word that is still empty.
        if at == words.len() {
            words.push(String::new());
        }
        (at < words.len()).then_some(Self { words, at })
    }

    /// From the text before and after the cursor.
    pub(super) fn around_cursor(before: &str, after: &str) -> Self {
        let (mut words, current) = split(before);
        let at = words.len();
        words.push(current);
        // What follows the cursor without a blank belongs to the same word, but is not looked at.
        let (mut rest, last) = split(after);
        rest.extend(Some(last).filter(|word| !word.is_empty()));
        let is_apart = after.starts_with(char::is_whitespace);
        words.extend(rest.into_iter().skip(usize::from(!is_apart)));
        Self { words, at }
    }

    /// The word to complete, as far as it is written.
    pub(super) fn current(&self) -> &str {
        self.words.get(self.at).map_or("", String::as_str)
    }

    /// What stands around the word; `None` if no command of the program comes before it, or if
    /// it belongs to the command of a server.
    pub(super) fn position(&self, program: &clap::Command) -> Option<Position> {
        let mut words = self.words.iter().enumerate().skip(1);
        let command = words.find_map(|(at, word)| {
            let command = program.find_subcommand(word)?;
            (at < self.at).then_some(command)
        })?;
        let mut position = Position {
            command: command.get_name().to_owned(),
            before: Vec::new(),
            server: None,
            config: None,
        };
        while let Some((at, word)) = words.next() {
            if word == "--" {
                if at < self.at {
                    return None;
                }
                position.server = Some(words.map(|(_, word)| word.clone()).collect());
                break;
            }
            if at == self.at {
                continue;
            }
            match option(program, command, word) {
                Some(option) => {
                    let value = match (option.value, option.takes_value) {
                        (Some(value), _) => Some(value.to_owned()),
                        (None, true) => words.next().map(|(_, value)| value.clone()),
                        (None, false) => None,
                    };
                    if option.name == "config" {
                        position.config = value.map(PathBuf::from);
                    }
                }
                None if at < self.at => position.before.push(word.clone()),
                None => {}
            }
        }
        position.server = position.server.filter(|words| !words.is_empty());
        Some(position)
    }
}

/// An option as it is written.
struct Written<'a> {
    name: &'a str,
    /// What follows its `=`.
    value: Option<&'a str>,
    /// Whether the next word is its value, unless there is one.
    takes_value: bool,
}

fn option<'a>(
    program: &clap::Command,
    command: &clap::Command,
    word: &'a str,
) -> Option<Written<'a>> {
    let is_any = |wanted: &dyn Fn(&Arg) -> bool| {
        let mut all = command.get_arguments().chain(program.get_arguments());
        let found = all.find(|arg| wanted(arg));
        found.is_some_and(|arg| arg.get_action().takes_values())
    };
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let takes_value = is_any(&|arg| {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long() == Some(name) || aliases.contains(&name)
        });
        return Some(Written {
            name,
            value,
            takes_value,
        });
    }
    let short = word.strip_prefix('-')?;
    // Of several letters the last may take a value; one before it has the rest for a value.
    let mut letters = short.chars();
    let last = letters.next_back()?;
    Some(Written {
        name: short,
        value: None,
        takes_value: is_any(&|arg| arg.get_short() == Some(last)),
    })
}

/// The words of a text as a shell has them, and the last one, which may be empty or lack a
/// closing quote.
fn split(text: &str) -> (Vec<String>, String) {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_word = false;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, character) if character.is_whitespace() => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
                continue;
            }
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), character) if open == character => quote = None,
            (None | Some('"'), '\\') => word.extend(characters.next()),
            _ => word.push(character),
        }
        is_word = true;
    }
    (words, word)
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Command};

    use super::*;

    /// `|` is the cursor.
    fn line(text: &str) -> Line {
        let (before, after) = text.split_once('|').expect("a cursor");
        Line::around_cursor(before, after)
    }

    fn position(text: &str) -> Option<Position> {
        let call = Command::new("call")
            .arg(Arg::new("config").long("config"))
            .arg(Arg::new("header").long("header").short('H').alias("head"))
            .arg(Arg::new("json").long("json").action(ArgAction::SetTrue))
            .arg(Arg::new("words").num_args(0..));
        let program = Command::new("antiphon").subcommand(call);
        line(text).position(&program)
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_are_as_a_shell_has_them() {
        for (text, expected, at) in [
            ("antiphon |", &["antiphon", ""][..], 1),
            ("antiphon ca|", &["antiphon", "ca"], 1),
            ("antiphon ca|ll x", &["antiphon", "ca", "x"], 1),
            ("a http://h:1/mcp ti=|", &["a", "http://h:1/mcp", "ti="], 2),
            (
                r#"a 'b c' "d\" e" f\ g |"#,
                &["a", "b c", "d\" e", "f g", ""],
                4,
            ),
            ("a 'b c|", &["a", "b c"], 1),
            ("a '' | -- b", &["a", "", "", "--", "b"], 2),
            ("a \\|", &["a", ""], 1),
        ] {
            let expected = Line {
                words: words(expected),
                at,
            };
            assert_eq!(line(text), expected, "{text}");
        }
    }

    #[test]
    fn other_shells_hand_over_words() {
        let from = |arguments: &[&str], index| Line::from_arguments(words(arguments), index);
        let fish = from(&["/bin/antiphon", "--", "antiphon", "call", ""], None);
        let expected = Line {
            words: words(&["antiphon", "call", ""]),
            at: 2,
        };
        assert_eq!(fish, Some(expected));
        let zsh = from(&["antiphon", "--", "antiphon", "call"], Some(2));
        assert_eq!(zsh.map(|line| (line.words.len(), line.at)), Some((3, 2)));
        assert_eq!(from(&["antiphon", "--"], None), None);
        assert_eq!(from(&["antiphon", "--", "antiphon"], Some(7)), None);
        assert_eq!(from(&[], Some(0)), None);
    }

    #[test]
    fn options_are_no_positions() {
        let at = position("antiphon call --json -H a:b --head=x shop order --header y |").unwrap();
        assert_eq!(at.command, "call");
        assert_eq!(at.before, ["shop", "order"]);
        assert_eq!((at.server, at.config), (None, None));
        for text in [
            "antiphon call --config a.toml |",
            "antiphon call --config=a.toml |",
            "antiphon call | --config a.toml",
        ] {
            let at = position(text).unwrap();
            assert_eq!(at.config, Some(PathBuf::from("a.toml")), "{text}");
            assert_eq!(at.before, [""; 0], "{text}");
        }
    }

    #[test]
    fn a_command_after_dashes_is_the_server() {
        let at = position("antiphon call or| title=x -- shop --config y").unwrap();
        assert_eq!(at.before, [""; 0]);
        assert_eq!(at.server, Some(words(&["shop", "--config", "y"])));
        assert_eq!(at.config, None);
        assert_eq!(position("antiphon call order -- sh|"), None);
        let at = position("antiphon call order |--").unwrap();
        assert_eq!(at.server, None);
    }

    #[test]
    fn without_a_command_there_is_no_position() {
        assert_eq!(position("antiphon ca|"), None);
        assert_eq!(position("antiphon call|"), None);
        assert_eq!(position("antiphon cell x|"), None);
        assert_eq!(position("|"), None);
    }
}
