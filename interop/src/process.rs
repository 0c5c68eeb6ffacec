//! Programs of the contract, started and listened to.

use std::{
    io::{self, BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use serde::Deserialize;

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(30);
/// How long a client may take for each case, and for all the rest.
const EACH: u32 = 22;
const REST: Duration = Duration::from_secs(30);

/// A process that does not outlive this.
#[derive(Debug)]
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// What a client said of a case.
#[derive(Debug)]
pub enum Outcome {
    /// It went well.
    Passed,
    /// It did not, because of this.
    Failed(String),
    /// The SDK cannot do it at all.
    Cannot(String),
}

/// A line of a client.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    case: String,
    ok: Option<bool>,
    #[serde(default)]
    why: String,
}

impl Line {
    fn outcome(&self) -> Outcome {
        match self.ok {
            Some(true) => Outcome::Passed,
            Some(false) => Outcome::Failed(self.why.clone()),
            None if self.why.is_empty() => {
                Outcome::Failed("it does not say what is missing".to_owned())
            }
            None => Outcome::Cannot(self.why.clone()),
        }
    }
}

/// Starts a server on this port, and waits until it listens.
///
/// # Errors
/// If it does not, or says anything else.
pub fn serve(server: &[String], port: u16) -> io::Result<Running> {
    let mut child = Command::new(&server[0])
        .args(&server[1..])
        .args(["--http", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| io::Error::other(format!("{}: {error}", server[0])))?;
    let output = child.stdout.take().expect("it is piped");
    let running = Running(child);
    let (sender, ready) = channel();
    thread::spawn(move || {
        let mut lines = BufReader::new(output).lines();
        _ = sender.send(lines.next());
        // A server that goes on talking is not stopped by a full pipe.
        lines.for_each(drop);
    });
    match ready.recv_timeout(START) {
        Ok(Some(Ok(line))) if line == "ready" => Ok(running),
        Ok(Some(Ok(line))) => Err(io::Error::other(format!("the server says {line:?}"))),
        Ok(_) => Err(io::Error::other("the server does not start")),
        Err(_) => Err(io::Error::other("the server is not ready in time")),
    }
}

/// Has a client go through the cases: what it says of each. Words come before the cases and after them.
pub fn hear(
    client: &[String],
    era: &str,
    before: &[String],
    cases: &[&'static str],
    after: &[String],
) -> Vec<Outcome> {
    let (lines, end) = match run(client, era, before, cases, after) {
        Ok((lines, end)) => (lines, end),
        Err(error) => (Vec::new(), error.to_string()),
    };
    let outcome = |case: &&str| {
        let mut of_case = lines.iter().filter(|line| line.case == **case);
        match (of_case.next(), of_case.next()) {
            (Some(line), None) => line.outcome(),
            (Some(_), Some(_)) => Outcome::Failed("there are several lines for it".to_owned()),
            (None, _) => Outcome::Failed(format!("the client says nothing of it; {end}")),
        }
    };
    cases.iter().map(outcome).collect()
}

/// Runs a client to its end: its lines, and how it ended.
fn run(
    client: &[String],
    era: &str,
    before: &[String],
    cases: &[&str],
    after: &[String],
) -> io::Result<(Vec<Line>, String)> {
    let child = Command::new(&client[0])
        .args(&client[1..])
        .args(["--era", era])
        .args(before)
        .args(cases)
        .args(after)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| io::Error::other(format!("{}: {error}", client[0])))?;
    let mut running = Running(child);
    let output = running.0.stdout.take().expect("it is piped");
    let errors = running.0.stderr.take().expect("it is piped");
    let lines = thread::spawn(move || read(output));
    let errors = thread::spawn(move || last_words(errors));
    let patience = EACH * u32::try_from(cases.len()).unwrap_or(u32::MAX);
    let until = Instant::now() + REST + Duration::from_secs(patience.into());
    let end = loop {
        match running.0.try_wait()? {
            Some(status) => break format!("it ended with {status}"),
            None if Instant::now() > until => break "it did not end in time".to_owned(),
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    drop(running);
    let words = errors.join().unwrap_or_default();
    let lines = lines
        .join()
        .map_err(|_| io::Error::other("a reader panicked"))??;
    Ok((lines, format!("{end}; {words}")))
}

fn read(output: impl Read) -> io::Result<Vec<Line>> {
    let lines = BufReader::new(output).lines();
    lines
        .map(|line| {
            let line = line?;
            serde_json::from_str(&line)
                .map_err(|error| io::Error::other(format!("the client says {line:?}: {error}")))
        })
        .collect()
}

/// The end of what is said on standard error.
fn last_words(errors: impl Read) -> String {
    let lines: Vec<_> = BufReader::new(errors)
        .lines()
        .map_while(Result::ok)
        .collect();
    let last = lines.iter().rev().take(3).rev();
    last.map(String::as_str).collect::<Vec<_>>().join(" | ")
}
