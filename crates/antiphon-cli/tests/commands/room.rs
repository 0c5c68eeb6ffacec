//! [`Room`]: the program as somebody runs it who sits in an empty directory, without a terminal.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// The program.
pub(crate) const ANTIPHON: &str = env!("CARGO_BIN_EXE_antiphon");

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Directories of one's own; removed in the end.
pub(crate) struct Room(PathBuf);

impl Room {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("antiphon-room-{}-{count}", std::process::id());
        let room = Self(std::env::temp_dir().join(name));
        for directory in ["work", "home", "settings", "cache", "state", "tmp"] {
            fs::create_dir_all(room.0.join(directory)).expect("a directory");
        }
        room
    }

    /// A path in the directory that the program runs in.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join("work").join(name)
    }

    /// A path beside that directory: `home`, `settings`, `cache`, `tmp`.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text file")
    }

    /// What is in the directory that the program runs in, and in that for temporary files.
    pub(crate) fn files(&self) -> Vec<String> {
        let list = |directory: &str| fs::read_dir(self.0.join(directory)).expect("a directory");
        let entries = list("work").chain(list("tmp"));
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The program with these words, not yet run.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(ANTIPHON);
        command
            .args(words)
            .current_dir(self.0.join("work"))
            .env_remove("ANTIPHON_DEMO_KEYS")
            .env("HOME", self.0.join("home"))
            .env("XDG_CONFIG_HOME", self.0.join("settings"))
            .env("XDG_CACHE_HOME", self.0.join("cache"))
            .env("XDG_STATE_HOME", self.0.join("state"))
            .env("TMPDIR", self.0.join("tmp"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program with these words.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        Running::start(&mut self.command(words)).wait()
    }

    /// The same, with variables.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], words: &[&str]) -> Ran {
        let mut command = self.command(words);
        command.envs(variables.iter().copied());
        Running::start(&mut command).wait()
    }

    /// The same, with something on standard input.
    pub(crate) fn run_from(&self, input: &str, words: &[&str]) -> Ran {
        let mut running = Running::start(self.command(words).stdin(Stdio::piped()));
        let mut stdin = running.child.stdin.take().expect("piped");
        stdin.write_all(input.as_bytes()).expect("written");
        drop(stdin);
        running.wait()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// The program while it runs.
pub(crate) struct Running {
    child: Child,
    out: Reading,
    err: Reading,
}

/// What comes out of a pipe, as it comes.
type Reading = std::sync::Arc<std::sync::Mutex<(Vec<u8>, bool)>>;

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("antiphon runs");
        let out = reading(child.stdout.take().expect("piped"));
        let err = reading(child.stderr.take().expect("piped"));
        Self { child, out, err }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has said on standard error.
    pub(crate) fn told(&self) -> String {
        String::from_utf8_lossy(&self.err.lock().expect("no panic").0).into_owned()
    }

    /// Sends it a signal, as Ctrl-C does.
    #[cfg(unix)]
    pub(crate) fn interrupt(&self) {
        self.send(nix::sys::signal::Signal::SIGINT);
    }

    #[cfg(unix)]
    pub(crate) fn send(&self, signal: nix::sys::signal::Signal) {
        let process = i32::try_from(self.id()).expect("a process");
        let process = nix::unistd::Pid::from_raw(process);
        nix::sys::signal::kill(process, signal).expect("it runs");
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Ran {
        let mut status = None;
        until("the program ends", || {
            status = self.child.try_wait().expect("a child");
            status.is_some()
        });
        // A child that it left behind could still hold the pipes: that is a mistake, too.
        until("the pipes are closed", || {
            self.out.lock().expect("no panic").1 && self.err.lock().expect("no panic").1
        });
        let text = |reading: &Reading| {
            let bytes = std::mem::take(&mut reading.lock().expect("no panic").0);
            String::from_utf8(bytes).expect("UTF-8")
        };
        Ran {
            code: status.and_then(|status| status.code()).unwrap_or(-1),
            out: text(&self.out),
            err: text(&self.err),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn reading(mut pipe: impl Read + Send + 'static) -> Reading {
    let reading = Reading::default();
    let read = reading.clone();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            let mut read = read.lock().expect("no panic");
            read.0.extend_from_slice(&buffer[..count]);
        }
        read.lock().expect("no panic").1 = true;
    });
    reading
}

/// Waits for something that is bound to happen.
pub(crate) fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let late = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < late, "it never happened: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// It ended with this code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.out, self.err
        );
        self
    }

    /// It ended well; what it printed.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        self.ends(0).out
    }

    /// It ended well, and printed JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// It ended with this code and one clear message, which says this, and printed nothing.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, says: &str) -> Self {
        let ran = self.ends(code);
        let Self { out, err, .. } = &ran;
        assert_eq!(out, "", "nothing is printed\n{err}");
        assert!(err.starts_with("antiphon: "), "{err}");
        let ours = err.lines().filter(|line| line.starts_with("antiphon: "));
        assert_eq!(ours.count(), 1, "one message\n{err}");
        assert!(err.len() < 600, "short: {} bytes\n{err}", err.len());
        assert!(!err.contains("panicked"), "{err}");
        assert!(err.contains(says), "`{says}` is not in\n{err}");
        ran
    }

    /// The same, after reports of what went well until then.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32, last: &str) -> Self {
        let ran = self.ends(code);
        assert_eq!(ran.err.lines().last(), Some(last), "{}", ran.err);
        ran
    }

    /// The command that it says goes on with the call, as a shell takes it apart.
    #[track_caller]
    pub(crate) fn command(&self, start: &str) -> Vec<String> {
        let mut lines = self.err.lines().map(str::trim_start);
        let line = lines.find(|line| line.starts_with(start));
        let line = line.unwrap_or_else(|| panic!("no `{start}` in\n{}", self.err));
        let words = shlex::split(line).expect("words of a shell");
        assert_eq!(words[0], "antiphon");
        words[1..].to_vec()
    }
}

/// The only file in a room that is called like this.
#[track_caller]
pub(crate) fn only(room: &Room, ending: &str) -> String {
    let files = room.files();
    let mut found = files.iter().filter(|name| name.ends_with(ending));
    match (found.next(), found.next()) {
        (Some(name), None) => name.clone(),
        _ => panic!("not one *{ending}: {files:?}"),
    }
}

/// As words of a command line.
pub(crate) fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// The permissions of a file.
#[cfg(unix)]
pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    let about = fs::metadata(path).expect("a file");
    about.permissions().mode() & 0o777
}
