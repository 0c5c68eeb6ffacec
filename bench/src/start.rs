//! What the tool adds to the start of a server on pipes: a call made by hand, and the same call made by
//! `antiphon call`, which starts the same server.

use std::{
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::request::{META, wrong};

/// A tool of the demo that takes nothing and asks nothing.
const TOOL: &str = "client_features";
/// What its answer holds.
const ANSWER: &str = "elicitation";

/// Prints both medians and their difference; fails if that is over `max` milliseconds.
pub(crate) fn measure(tool: &Path, runs: u32, max: Option<f64>) -> io::Result<()> {
    let (mut by_hand, mut by_tool) = (Vec::new(), Vec::new());
    // The first of each finds nothing in memory yet.
    for _ in 0..=runs {
        by_hand.push(call_by_hand(tool)?);
        by_tool.push(call_by_tool(tool)?);
    }
    let server = median(&mut by_hand[1..]);
    let whole = median(&mut by_tool[1..]);
    let added = whole - server;
    println!("the server's own start, with one call: {server:.1} ms");
    println!("antiphon call on that server:          {whole:.1} ms");
    println!("beyond the server's own start:         {added:.1} ms");
    match max {
        Some(max) if added > max => Err(io::Error::other(format!("at most {max} ms is allowed"))),
        _ => Ok(()),
    }
}

/// How long it takes until a server that is started now has answered two requests.
fn call_by_hand(tool: &Path) -> io::Result<Duration> {
    let start = Instant::now();
    let mut server = Command::new(tool)
        .args(["demo", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = server.stdin.take().expect("standard input is piped");
    let output = server.stdout.take().expect("standard output is piped");
    let mut output = BufReader::new(output);
    let mut exchange = |id: u32, method: &str, params: &str, holds: &str| {
        writeln!(
            input,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{META}}}}}"#
        )?;
        let mut answer = String::new();
        output.read_line(&mut answer)?;
        match answer.contains(holds) {
            true => Ok(()),
            false => Err(wrong("not the answer to the request", answer.as_bytes())),
        }
    };
    exchange(1, "server/discover", "", "supportedVersions")?;
    let call = format!(r#""name":"{TOOL}","arguments":{{}},"#);
    exchange(2, "tools/call", &call, ANSWER)?;
    let took = start.elapsed();
    drop(input);
    server.wait()?;
    Ok(took)
}

/// How long the tool takes for that, from its start to its end.
fn call_by_tool(tool: &Path) -> io::Result<Duration> {
    let start = Instant::now();
    let done = Command::new(tool)
        .args(["call", TOOL, "--"])
        .arg(tool)
        .args(["demo", "--stdio"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    let took = start.elapsed();
    let text = String::from_utf8_lossy(&done.stdout);
    match done.status.success() && text.contains(ANSWER) {
        true => Ok(took),
        false => Err(wrong("not what the tool should print", &done.stdout)),
    }
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    let middle = times[times.len() / 2] + times[(times.len() - 1) / 2];
    middle.as_secs_f64() * 1e3 / 2.0
}
