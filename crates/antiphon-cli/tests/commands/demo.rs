//! [`Demo`]: the demo of the program, over HTTP.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use crate::room::ANTIPHON;

/// The demo on a port of its own, until it is dropped.
pub(crate) struct Demo {
    process: Child,
    pub(crate) url: String,
}

impl Demo {
    pub(crate) fn start() -> Self {
        let mut process = Command::new(ANTIPHON)
            .args(["demo", "--http", "0"])
            .env_remove("ANTIPHON_DEMO_KEYS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("antiphon runs");
        let mut url = String::new();
        let output = process.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut url).expect("a line");
        let url = url.trim_end().to_owned();
        Self { process, url }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// What comes after the words of a command whose server is the demo as a child process.
pub(crate) const STDIO: [&str; 4] = ["--", ANTIPHON, "demo", "--stdio"];

/// These words, and the demo as a child process.
pub(crate) fn over_stdio<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [words, &STDIO].concat()
}
