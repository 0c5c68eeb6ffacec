//! [`Prompts`]: how a person is asked, one thing at a time.

use std::io;

use inquire::{Confirm, InquireError, MultiSelect, Select, Text};

/// How many options are seen at once.
const PAGE: usize = 12;

/// What can be asked of a person. `None`: they pressed Esc.
///
/// Whatever a server said in a label, a help text or an option is [printable](super::printable)
/// before it gets here.
pub(crate) trait Prompts {
    /// One of these.
    fn choose(
        &mut self,
        label: &str,
        help: &str,
        options: &[String],
        start: usize,
    ) -> io::Result<Option<usize>>;

    /// Some of these.
    fn choose_some(
        &mut self,
        label: &str,
        help: &str,
        options: &[String],
        start: &[usize],
    ) -> io::Result<Option<Vec<usize>>>;

    /// Yes or no; without a start, neither is taken for granted.
    fn yes_or_no(
        &mut self,
        label: &str,
        help: &str,
        start: Option<bool>,
    ) -> io::Result<Option<bool>>;

    /// A line of text.
    fn write(&mut self, label: &str, help: &str, start: &str) -> io::Result<Option<String>>;

    /// Says something.
    fn tell(&mut self, text: &str);
}

/// The terminal this process runs at.
pub(crate) struct Screen;

impl Prompts for Screen {
    fn choose(
        &mut self,
        label: &str,
        help: &str,
        options: &[String],
        start: usize,
    ) -> io::Result<Option<usize>> {
        let help = with_keys(help, "type to filter, Enter to choose, Esc to leave");
        let prompt = Select::new(label, options.to_vec())
            .with_help_message(&help)
            .with_page_size(PAGE)
            .with_starting_cursor(start.min(options.len().saturating_sub(1)));
        unless_escaped(prompt.raw_prompt().map(|chosen| chosen.index))
    }

    fn choose_some(
        &mut self,
        label: &str,
        help: &str,
        options: &[String],
        start: &[usize],
    ) -> io::Result<Option<Vec<usize>>> {
        let help = with_keys(help, "Space to mark, Enter when done, Esc to leave");
        let prompt = MultiSelect::new(label, options.to_vec())
            .with_help_message(&help)
            .with_page_size(PAGE)
            .with_default(start);
        let chosen = prompt.raw_prompt();
        unless_escaped(chosen.map(|chosen| chosen.iter().map(|option| option.index).collect()))
    }

    fn yes_or_no(
        &mut self,
        label: &str,
        help: &str,
        start: Option<bool>,
    ) -> io::Result<Option<bool>> {
        let help = with_keys(help, "Esc to leave");
        let mut prompt = Confirm::new(label)
            .with_help_message(&help)
            .with_placeholder("y/n");
        prompt.default = start;
        unless_escaped(prompt.prompt())
    }

    fn write(&mut self, label: &str, help: &str, start: &str) -> io::Result<Option<String>> {
        let help = with_keys(help, "Esc to leave");
        let prompt = Text::new(label)
            .with_help_message(&help)
            .with_initial_value(start);
        unless_escaped(prompt.prompt())
    }

    fn tell(&mut self, text: &str) {
        say!("{text}");
    }
}

fn with_keys(help: &str, keys: &str) -> String {
    match help {
        "" => keys.to_owned(),
        help => format!("{help}; {keys}"),
    }
}

fn unless_escaped<T>(given: Result<T, InquireError>) -> io::Result<Option<T>> {
    match given {
        Ok(given) => Ok(Some(given)),
        Err(InquireError::OperationCanceled) => Ok(None),
        Err(InquireError::OperationInterrupted) => Err(io::ErrorKind::Interrupted.into()),
        Err(InquireError::IO(error)) => Err(error),
        Err(other) => Err(io::Error::other(other)),
    }
}

#[cfg(test)]
pub(super) mod scripted {
    use std::collections::VecDeque;

    use super::*;

    /// What a person does next.
    #[derive(Debug)]
    pub(crate) enum Does {
        Picks(&'static str),
        Marks(&'static [&'static str]),
        Says(bool),
        Writes(&'static str),
        Escapes,
    }

    /// A person who does what is written down, and what they were shown.
    #[derive(Default)]
    pub(crate) struct Scripted {
        does: VecDeque<Does>,
        pub(crate) shown: String,
    }

    impl Scripted {
        pub(crate) fn new(does: impl IntoIterator<Item = Does>) -> Self {
            Self {
                does: does.into_iter().collect(),
                shown: String::new(),
            }
        }

        pub(crate) fn is_done(&self) -> bool {
            self.does.is_empty()
        }

        fn next(&mut self, shown: &str) -> Does {
            self.shown.push_str(shown);
            self.shown.push('\n');
            let next = self.does.pop_front();
            next.unwrap_or_else(|| panic!("one question too many:\n{}", self.shown))
        }
    }

    fn at(options: &[String], text: &str) -> usize {
        let found = options.iter().position(|option| option.starts_with(text));
        found.unwrap_or_else(|| panic!("{text} is not among {options:?}"))
    }

    impl Prompts for Scripted {
        fn choose(
            &mut self,
            label: &str,
            help: &str,
            options: &[String],
            start: usize,
        ) -> io::Result<Option<usize>> {
            match self.next(&format!("{label} ({help}) {options:?} from {start}")) {
                Does::Picks(text) => Ok(Some(at(options, text))),
                Does::Escapes => Ok(None),
                other => panic!("{other:?} at a choice:\n{}", self.shown),
            }
        }

        fn choose_some(
            &mut self,
            label: &str,
            help: &str,
            options: &[String],
            start: &[usize],
        ) -> io::Result<Option<Vec<usize>>> {
            match self.next(&format!("{label} ({help}) {options:?} marked {start:?}")) {
                Does::Marks(texts) => {
                    Ok(Some(texts.iter().map(|text| at(options, text)).collect()))
                }
                Does::Escapes => Ok(None),
                other => panic!("{other:?} at marks:\n{}", self.shown),
            }
        }

        fn yes_or_no(
            &mut self,
            label: &str,
            help: &str,
            start: Option<bool>,
        ) -> io::Result<Option<bool>> {
            match self.next(&format!("{label} ({help}) from {start:?}")) {
                Does::Says(what) => Ok(Some(what)),
                Does::Escapes => Ok(None),
                other => panic!("{other:?} at yes or no:\n{}", self.shown),
            }
        }

        fn write(&mut self, label: &str, help: &str, start: &str) -> io::Result<Option<String>> {
            match self.next(&format!("{label} ({help}) from {start:?}")) {
                Does::Writes(text) => Ok(Some(text.to_owned())),
                Does::Escapes => Ok(None),
                other => panic!("{other:?} at a text:\n{}", self.shown),
            }
        }

        fn tell(&mut self, text: &str) {
            self.shown.push_str(text);
            self.shown.push('\n');
        }
    }
}
