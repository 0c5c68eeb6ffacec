//! What was said between us and others is said again, without the others: `interop/transcripts` has what
//! `interop/run record` wrote down.

use std::{
    fs,
    io::{BufRead, BufReader, Lines, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use antiphon_interop::transcript::{Chances, Section, Side, Turn};
use serde_json::Value;

/// The transcripts with a peer in this role.
fn transcripts(role: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let files = fs::read_dir(folder)
        .expect("a folder")
        .map(|file| file.expect("a file").path());
    let role = format!("-{role}-");
    let mut files: Vec<_> = files
        .filter(|path| path.to_string_lossy().contains(&role))
        .collect();
    files.sort();
    assert!(files.len() >= 6, "three peers, in two eras each: {files:?}");
    files
}

fn sections(path: &Path) -> Vec<Section> {
    let text = fs::read_to_string(path).expect("a transcript");
    let sections =
        Section::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(
        sections.len() >= 10,
        "{}: {} sections",
        path.display(),
        sections.len()
    );
    sections
}

/// Our client says to the servers of others what it said to them before, and takes their answers for the same.
#[test]
fn our_client_goes_on_as_it_did() {
    for path in transcripts("server") {
        let era = match path.to_string_lossy().ends_with("-modern.txt") {
            true => "modern",
            false => "legacy",
        };
        for section in sections(&path) {
            let ran = Command::new(env!("CARGO_BIN_EXE_antiphon-interop-client"))
                .args(["--era", era, &section.case, "--"])
                .arg(env!("CARGO_BIN_EXE_antiphon-interop-replay"))
                .args([path.as_os_str(), section.case.as_ref()])
                .output()
                .expect("it runs");
            let said = String::from_utf8_lossy(&ran.stdout);
            let told = String::from_utf8_lossy(&ran.stderr);
            let place = format!("{}, {}", path.display(), section.case);
            let line: Value =
                serde_json::from_str(&said).unwrap_or_else(|_| panic!("{place}: {said}{told}"));
            assert_eq!(line["ok"], true, "{place}: {line}\n{told}");
        }
    }
}

/// Our server, which is told what a client told it before.
struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    /// The texts of now that were others then.
    chances: Chances,
}

impl Server {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_antiphon-interop-server"))
            .arg("--stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let output = process.stdout.take().expect("piped");
        Self {
            input: process.stdin.take(),
            output: BufReader::new(output).lines(),
            chances: Chances::default(),
            process,
        }
    }

    fn tell(&mut self, turn: &Turn<'_>) {
        for message in &turn.messages {
            let mut message = (*message).clone();
            self.chances.reveal(&mut message);
            let input = self.input.as_mut().expect("it is open");
            writeln!(input, "{message}").expect("told");
        }
    }

    /// Waits for what it says in a turn, in any order.
    fn hear(&mut self, turn: &Turn<'_>, place: &str) {
        let mut wanted = turn.messages.clone();
        while !wanted.is_empty() {
            let line = self.output.next();
            let line = line.unwrap_or_else(|| panic!("{place}: it does not say {}", wanted[0]));
            let mut message: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
            self.chances.hide(&mut message);
            let at = wanted.iter().position(|wanted| **wanted == message);
            let at =
                at.unwrap_or_else(|| panic!("{place}: it says\n{message}\nand not\n{}", wanted[0]));
            wanted.remove(at);
        }
    }

    fn end(mut self, place: &str) {
        drop(self.input.take());
        if let Some(line) = self.output.next() {
            panic!("{place}: it goes on: {}", line.expect("a line"));
        }
        self.process.wait().expect("a child");
    }
}

/// Our server says to the clients of others what it said to them before.
#[test]
fn our_server_goes_on_as_it_did() {
    for path in transcripts("client") {
        for section in sections(&path) {
            let place = format!("{}, {}", path.display(), section.case);
            let mut server = Server::start();
            for turn in section.turns() {
                match turn.by {
                    Side::Client => server.tell(&turn),
                    Side::Server => server.hear(&turn, &place),
                }
            }
            server.end(&place);
        }
    }
}
