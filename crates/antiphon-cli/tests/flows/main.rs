//! The flows of the demo, served by the program itself: over stdio and over HTTP, to
//! clients of every revision.

mod http;
mod older;
mod stdio;
mod table;

pub(crate) use older::every_older_flow;
pub(crate) use table::every_flow;

/// The program, about to run the demo.
fn demo() -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_antiphon"));
    command.arg("demo");
    command
}
