//! Lower bounds for a server under test.
//!
//! `limits bare` answers fixed bytes without looking into a message: what is left is the cost of
//! HTTP or of a pipe. `limits floor` does what no correct server can leave out, and nothing else.

mod bare;
mod body;
mod floor;

use std::{io, process::ExitCode};

use contract::{Flags, Transport};

const USAGE: &str = "limits (bare | floor)";

fn main() -> ExitCode {
    let flags = Flags::from_env(USAGE);
    let role: Vec<&str> = flags.words.iter().map(String::as_str).collect();
    let ended = match (role.as_slice(), flags.transport) {
        (["bare"], Transport::Http(port)) => flags.block_on(bare::http(port, flags.tools)),
        (["bare"], Transport::Stdio) => bare::stdio(),
        (["floor"], Transport::Http(port)) => flags.block_on(floor::http(port, flags.tools)),
        (["floor"], Transport::Stdio) => flags.block_on(floor::stdio(flags.tools)),
        _ => Err(io::Error::other(format!("usage: {USAGE} FLAGS"))),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("limits: {error}");
            ExitCode::FAILURE
        }
    }
}
