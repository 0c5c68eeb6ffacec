//! The program at a terminal: a pseudo-terminal, with a person who types.
#![cfg(unix)]

mod demo;
mod forms;
mod leaving;
mod links;
mod models;
mod recording;
mod rounds;
mod shown;
mod signing_in;
#[path = "../support/mod.rs"]
mod support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use support::{Host, Terminal, host};

/// How a server is spoken with: as it likes best, which is the newest revision, and as before
/// 2026-07-28.
const ERAS: [&[&str]; 2] = [&[], &["--legacy"]];

/// Calls a tool that does these steps.
fn call(server: &Host, steps: &[Value], options: &[&str]) -> Terminal {
    let steps = host::steps(steps);
    let mut args = vec!["call", server.url(), "play", "--args", &steps];
    args.extend(options);
    Terminal::run(&args, &[])
}

/// An empty directory of this name.
fn fresh(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).expect("a directory");
    place
}
