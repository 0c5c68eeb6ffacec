//! A server that says what one said before, to a client that says what one said before.
//!
//! `antiphon-interop-replay FILE CASE [--stdio]` plays the server of a section on its pipes. It ends with 1,
//! and says why on standard error, when the client says anything else.

use std::{
    error::Error,
    fs,
    io::{self, BufRead, Write},
};

use antiphon_interop::transcript::{Section, Side, Turn};
use serde_json::Value;

/// Waits for what the client says in a turn, in any order.
fn hear(
    turn: &Turn<'_>,
    lines: &mut impl Iterator<Item = io::Result<String>>,
) -> Result<(), Box<dyn Error>> {
    let mut wanted = turn.messages.clone();
    while !wanted.is_empty() {
        let line = lines
            .next()
            .ok_or_else(|| format!("the client does not say {}", wanted[0]))??;
        let message: Value = serde_json::from_str(&line)?;
        let at = wanted.iter().position(|wanted| **wanted == message);
        let at = at.ok_or_else(|| format!("the client says {message}, and not {}", wanted[0]))?;
        wanted.remove(at);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = std::env::args()
        .skip(1)
        .filter(|word| word != "--stdio")
        .collect();
    let [file, case] = &words[..] else {
        return Err("usage: antiphon-interop-replay FILE CASE [--stdio]".into());
    };
    let sections = Section::read(&fs::read_to_string(file)?)?;
    let section = sections.iter().find(|section| section.case == *case);
    let section = section.ok_or_else(|| format!("there is no section {case}"))?;
    let mut lines = io::stdin().lock().lines();
    for turn in section.turns() {
        match turn.by {
            Side::Client => hear(&turn, &mut lines)?,
            Side::Server => {
                let mut output = io::stdout().lock();
                for message in turn.messages {
                    writeln!(output, "{message}")?;
                }
                output.flush()?;
            }
        }
    }
    match lines.next() {
        None => Ok(()),
        Some(line) => Err(format!("the client goes on: {}", line?).into()),
    }
}
