//! One client and one server, from start to end.

use std::{
    io::{self, BufRead, BufReader, Read},
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use serde::Deserialize;

use crate::cell::{Case, Outcome, Pairing, Transport};

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(30);
/// How long a client may take for each case, and for all the rest.
const EACH: u32 = 22;
const REST: Duration = Duration::from_secs(30);

/// A line of a client.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    case: String,
    ok: Option<bool>,
    #[serde(default)]
    why: String,
}

/// A process that does not outlive this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// Has a client go through the cases with a server: what came of each.
pub(crate) fn play(
    server: &[String],
    client: &[String],
    pairing: &Pairing<'_>,
    cases: &[Case],
) -> Vec<(Case, Outcome)> {
    let said = match pairing.transport {
        Transport::Stdio => {
            let mut words = vec!["--".to_owned()];
            words.extend_from_slice(server);
            words.push("--stdio".to_owned());
            listen(client, pairing, cases, &[], &words)
        }
        Transport::Http => serve(server).and_then(|(_running, port)| {
            let url = format!("http://127.0.0.1:{port}/mcp");
            listen(client, pairing, cases, &["--url".to_owned(), url], &[])
        }),
    };
    let (lines, end) = match said {
        Ok((lines, end)) => (lines, end),
        Err(error) => (Vec::new(), error.to_string()),
    };
    let outcome = |case: &Case| {
        let mut of_case = lines.iter().filter(|line| line.case == case.0);
        match (of_case.next(), of_case.next()) {
            (Some(line), None) => match line.ok {
                Some(true) => Outcome::Passed,
                Some(false) => Outcome::Failed(line.why.clone()),
                None if line.why.is_empty() => {
                    Outcome::Failed("it does not say what is missing".to_owned())
                }
                None => Outcome::Cannot(line.why.clone()),
            },
            (Some(_), Some(_)) => Outcome::Failed("there are several lines for it".to_owned()),
            (None, _) => Outcome::Failed(format!("the client says nothing of it; {end}")),
        }
    };
    cases.iter().map(|case| (*case, outcome(case))).collect()
}

/// Starts a server, and waits until it listens.
fn serve(server: &[String]) -> io::Result<(Running, u16)> {
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
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
        Ok(Some(Ok(line))) if line == "ready" => Ok((running, port)),
        Ok(Some(Ok(line))) => Err(io::Error::other(format!("the server says {line:?}"))),
        Ok(_) => Err(io::Error::other("the server does not start")),
        Err(_) => Err(io::Error::other("the server is not ready in time")),
    }
}

/// Runs a client to its end: its lines, and how it ended.
fn listen(
    client: &[String],
    pairing: &Pairing<'_>,
    cases: &[Case],
    before: &[String],
    after: &[String],
) -> io::Result<(Vec<Line>, String)> {
    let child = Command::new(&client[0])
        .args(&client[1..])
        .args(["--era", &pairing.era.to_string()])
        .args(before)
        .args(cases.iter().map(|case| case.0))
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
