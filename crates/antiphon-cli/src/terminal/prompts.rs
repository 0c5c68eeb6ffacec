//! [`Prompts`]: how a person is asked, one thing at a time.

use std::{
    env,
    io::{self, IsTerminal, Write},
};

use inquire::{Confirm, InquireError, MultiSelect, Select, Text, list_option::ListOption};

use super::restore;

/// How many options are seen at once.
const PAGE: usize = 12;

/// What can be asked of a person. `None`: they pressed Esc.
///
/// Whatever a server said in a label, a help text or an option is [printable](crate::printable)
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

    /// A text that stands out among others, where that can be shown.
    fn strong(&self, text: &str) -> String;

    /// Opens a link in whatever opens links here, and does not wait for that to be closed.
    fn open(&mut self, url: &str) -> io::Result<()>;
}

impl<P: Prompts + ?Sized> Prompts for &mut P {
    fn choose(
        &mut self,
        label: &str,
        help: &str,
        options: &[String],
        start: usize,
    ) -> io::Result<Option<usize>> {
        (**self).choose(label, help, options, start)
    }

    fn choose_some(
        &mut self,
        label: &str,
        help: &str,
        options: &[String],
        start: &[usize],
    ) -> io::Result<Option<Vec<usize>>> {
        (**self).choose_some(label, help, options, start)
    }

    fn yes_or_no(
        &mut self,
        label: &str,
        help: &str,
        start: Option<bool>,
    ) -> io::Result<Option<bool>> {
        (**self).yes_or_no(label, help, start)
    }

    fn write(&mut self, label: &str, help: &str, start: &str) -> io::Result<Option<String>> {
        (**self).write(label, help, start)
    }

    fn tell(&mut self, text: &str) {
        (**self).tell(text);
    }

    fn strong(&self, text: &str) -> String {
        (**self).strong(text)
    }

    fn open(&mut self, url: &str) -> io::Result<()> {
        (**self).open(url)
    }
}

/// The terminal this process runs at. Keys come from standard input, and all that is shown goes
/// to standard error: standard output is for results.
///
/// Ctrl-C is [`Interrupted`](io::ErrorKind::Interrupted) here, and a signal for whoever listens.
/// Who ends the process while a prompt is open calls [`restore`](super::restore()) before.
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
        prompted(|| prompt.raw_prompt().map(|chosen| chosen.index))
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
        let indices = |chosen: Vec<ListOption<_>>| chosen.iter().map(|one| one.index).collect();
        prompted(|| prompt.raw_prompt().map(indices))
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
        prompted(|| prompt.prompt())
    }

    fn write(&mut self, label: &str, help: &str, start: &str) -> io::Result<Option<String>> {
        let help = with_keys(help, "Esc to leave");
        let prompt = Text::new(label)
            .with_help_message(&help)
            .with_initial_value(start);
        let written = prompted(|| prompt.prompt())?;
        // Keys that the prompt knows nothing of, such as Ctrl-U, arrive as characters.
        Ok(written.map(|text| text.replace(char::is_control, "")))
    }

    fn tell(&mut self, text: &str) {
        // Who cannot be told anything cannot be told that, either.
        _ = writeln!(io::stderr(), "{text}");
    }

    fn strong(&self, text: &str) -> String {
        match has_colours() {
            true => format!("\x1b[1m{text}\x1b[22m"),
            false => text.to_owned(),
        }
    }

    fn open(&mut self, url: &str) -> io::Result<()> {
        // As an argument or a variable of a process of its own, with no input and no output.
        open::that_detached(url)
    }
}

fn has_colours() -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal()
        && !is_set("NO_COLOR")
        && env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

fn with_keys(help: &str, keys: &str) -> String {
    match help {
        "" => keys.to_owned(),
        help => format!("{help}; {keys}"),
    }
}

/// Opens a prompt; `None` if it was left by Esc.
///
/// # Errors
/// [`ConnectionAborted`](io::ErrorKind::ConnectionAborted) if nobody waits for the answer.
fn prompted<T>(prompt: impl FnOnce() -> Result<T, InquireError>) -> io::Result<Option<T>> {
    let given = restore::around(prompt).ok_or(io::ErrorKind::ConnectionAborted)?;
    if !matches!(given, Ok(_) | Err(InquireError::OperationCanceled)) {
        // Whatever is said next does not stand among what is left of it.
        _ = io::stderr().write_all(b"\r\x1b[J");
    }
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
        /// Takes what is there.
        Enters,
        Escapes,
    }

    /// A person who does what is written down, and what they were shown.
    #[derive(Default)]
    pub(crate) struct Scripted {
        does: VecDeque<Does>,
        pub(crate) shown: String,
        /// The links that were opened.
        pub(crate) opened: Vec<String>,
        /// Whether nothing here opens links.
        pub(crate) opens_nothing: bool,
    }

    impl Scripted {
        pub(crate) fn new(does: impl IntoIterator<Item = Does>) -> Self {
            Self {
                does: does.into_iter().collect(),
                ..Self::default()
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
                Does::Enters => Ok(Some(start)),
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
                Does::Enters => Ok(Some(start.to_vec())),
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
                Does::Enters if start.is_some() => Ok(start),
                Does::Escapes => Ok(None),
                other => panic!("{other:?} at yes or no:\n{}", self.shown),
            }
        }

        fn write(&mut self, label: &str, help: &str, start: &str) -> io::Result<Option<String>> {
            match self.next(&format!("{label} ({help}) from {start:?}")) {
                Does::Writes(text) => Ok(Some(text.to_owned())),
                Does::Enters => Ok(Some(start.to_owned())),
                Does::Escapes => Ok(None),
                other => panic!("{other:?} at a text:\n{}", self.shown),
            }
        }

        fn tell(&mut self, text: &str) {
            self.shown.push_str(text);
            self.shown.push('\n');
        }

        fn strong(&self, text: &str) -> String {
            format!("*{text}*")
        }

        fn open(&mut self, url: &str) -> io::Result<()> {
            match self.opens_nothing {
                true => Err(io::Error::other("no browser")),
                false => {
                    self.opened.push(url.to_owned());
                    Ok(())
                }
            }
        }
    }
}
