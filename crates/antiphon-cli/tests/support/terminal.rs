//! [`Terminal`]: the program at a pseudo-terminal, with a person who types.

use std::{
    fs::File,
    io::{Read, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel},
    thread,
    time::{Duration, Instant},
};

use nix::{
    pty::{Winsize, openpty},
    sys::{
        signal::{Signal, kill},
        termios::{LocalFlags, tcgetattr},
    },
    unistd::Pid,
};

use super::screen::Screen;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
pub(crate) const ENTER: &str = "\r";
pub(crate) const ESC: &str = "\u{1b}";
pub(crate) const BACKSPACE: &str = "\u{7f}";
pub(crate) const SPACE: &str = " ";
pub(crate) const DOWN: &str = "\u{1b}[B";
/// Ctrl-C.
pub(crate) const INTERRUPT: &str = "\u{3}";

const ROWS: u16 = 50;
const COLUMNS: u16 = 160;
const NARROW: u16 = 80;

/// A program at a terminal of its own.
pub(crate) struct Terminal {
    program: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    columns: u16,
    /// Everything that was shown.
    all: Vec<u8>,
    /// How much of it, without colours and moves, was waited for.
    seen: usize,
}

impl Terminal {
    /// Runs `antiphon` with these arguments, and with these variables besides those of this
    /// process; one that is empty is not set.
    pub(crate) fn run(args: &[&str], env: &[(&str, &Path)]) -> Self {
        Self::start(args, env, None, None)
    }

    /// The same in this directory, where lines are as long as in most terminals.
    pub(crate) fn run_in(directory: &Path, args: &[&str], env: &[(&str, &Path)]) -> Self {
        Self::start(args, env, None, Some(directory))
    }

    /// The same, with standard output elsewhere.
    pub(crate) fn run_to(args: &[&str], env: &[(&str, &Path)], output: Stdio) -> Self {
        Self::start(args, env, Some(output), None)
    }

    fn start(
        args: &[&str],
        env: &[(&str, &Path)],
        output: Option<Stdio>,
        directory: Option<&Path>,
    ) -> Self {
        let columns = match directory {
            Some(_) => NARROW,
            None => COLUMNS,
        };
        let size = Winsize {
            ws_row: ROWS,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let ends = openpty(&size, None).expect("a pseudo-terminal");
        let end = || Stdio::from(ends.slave.try_clone().expect("a descriptor"));
        let mut program = Command::new(env!("CARGO_BIN_EXE_antiphon"));
        program
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            // What is kept for whoever completes a command line is kept from theirs.
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
        if let Some(directory) = directory {
            program.current_dir(directory);
        }
        for (name, value) in env {
            match value.as_os_str().is_empty() {
                true => program.env_remove(name),
                false => program.env(name, value),
            };
        }
        let program = program
            .args(args)
            .stdin(end())
            .stdout(output.unwrap_or_else(end))
            .stderr(end())
            .spawn()
            .expect("antiphon runs");
        let mut output = File::from(ends.master.try_clone().expect("a descriptor"));
        let (sender, screen) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Once the program is gone there is an error to read.
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            program,
            keyboard: ends.master.into(),
            screen,
            columns,
            all: Vec::new(),
            seen: 0,
        }
    }

    /// Waits until this is shown after what was waited for last.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let plain = self.transcript();
            if let Some(at) = plain[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            if !self.more(until) {
                panic!("`{text}` was not shown, but this:\n{}", &plain[self.seen..]);
            }
        }
    }

    /// The line that begins with this, once it is complete.
    pub(crate) fn line_with(&mut self, start: &str) -> String {
        self.wait_for(start);
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some((line, _)) = self.transcript()[self.seen..].split_once("\r\n") {
                return format!("{start}{line}");
            }
            assert!(self.more(until), "the line does not end: {start}");
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("pressed");
    }

    /// Waits for a question, and types the answer.
    pub(crate) fn answer(&mut self, question: &str, text: &str) {
        self.wait_for(question);
        self.press(text);
        self.press(ENTER);
    }

    /// Sends the program a signal, as somebody else may.
    pub(crate) fn send(&self, signal: Signal) {
        let process = i32::try_from(self.program.id()).expect("a process");
        kill(Pid::from_raw(process), signal).expect("it runs");
    }

    /// Waits for the program to end; its exit code, unless a signal ended it.
    pub(crate) fn wait_for_end(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.program.try_wait().expect("a child") {
                // What it said last may still be on its way.
                while self.more(Instant::now() + Duration::from_millis(100)) {}
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end:\n{}", self.screen());
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.program.try_wait().expect("a child").is_some()
    }

    /// Standard output, of a program that was run with a pipe for it.
    pub(crate) fn output(&mut self) -> ChildStdout {
        self.program.stdout.take().expect("run with a pipe, once")
    }

    /// Everything that was written so far, in its order, without colours and moves.
    pub(crate) fn transcript(&self) -> String {
        plain(&String::from_utf8_lossy(&self.all))
    }

    /// Everything that was written so far, as it is.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.all).into_owned()
    }

    /// What a person sees now, with whatever has scrolled away: finished questions are a line
    /// each.
    pub(crate) fn screen(&self) -> String {
        self.seen().text()
    }

    /// Whether the cursor is seen, and what is typed, too: as whoever uses it next expects.
    pub(crate) fn is_usable(&self) -> bool {
        let modes = tcgetattr(&self.keyboard).expect("a terminal");
        let wanted = LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG;
        modes.local_flags.contains(wanted) && self.seen().has_cursor()
    }

    /// Watches whether keys are echoed from now on, until somebody asks what was seen.
    pub(crate) fn watch_echo(&self) -> impl FnOnce() -> bool + use<> {
        let terminal = self.keyboard.try_clone().expect("a descriptor");
        let (stop, stopped) = channel::<()>();
        let watching = thread::spawn(move || {
            let mut is_echoed = false;
            while stopped.try_recv() == Err(TryRecvError::Empty) {
                let modes = tcgetattr(&terminal).expect("a terminal");
                is_echoed |= modes.local_flags.contains(LocalFlags::ECHO);
            }
            is_echoed
        });
        move || {
            drop(stop);
            watching.join().expect("watched")
        }
    }

    fn seen(&self) -> Screen {
        Screen::of(&String::from_utf8_lossy(&self.all), self.columns.into())
    }

    /// Takes what comes next; `false` if nothing does until then.
    fn more(&mut self, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        match self.screen.recv_timeout(left) {
            Ok(bytes) => self.all.extend(bytes),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
        }
        true
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        _ = self.program.kill();
        _ = self.program.wait();
    }
}

/// What is shown without escape sequences. One that is cut off at the end is still to come.
fn plain(shown: &str) -> String {
    let mut plain = String::new();
    let mut rest = shown;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let Some(end) = sequence.find(|c: char| ('@'..='~').contains(&c)) else {
            return plain;
        };
        rest = &sequence[end + 1..];
    }
    plain + rest.strip_suffix(['\u{1b}', '\u{fffd}']).unwrap_or(rest)
}
