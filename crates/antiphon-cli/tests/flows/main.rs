//! The flows of the demo, served by the program itself: over stdio and over HTTP.

mod http;
mod stdio;
mod table;

pub(crate) use table::every_flow;

/// The program, about to run the demo.
fn demo() -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_antiphon"));
    command.arg("demo");
    command
}
