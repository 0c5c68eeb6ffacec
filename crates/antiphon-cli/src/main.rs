//! `antiphon`: the command-line tool.

mod demo;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::filter::LevelFilter;

/// Try, script and debug servers of the Model Context Protocol.
#[derive(Parser)]
#[command(name = "antiphon", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play one call that needs an answer, message by message, over real HTTP.
    ///
    /// Starts a small server in this process, calls a tool that asks before it acts, answers,
    /// and shows what becomes of a forged state, a repeated answer and a second one. Needs nothing
    /// else; at a terminal it asks you, elsewhere it plays the answer itself.
    Demo,
}

fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    let level = match command {
        // What it has refused, it shows.
        Command::Demo => LevelFilter::ERROR,
    };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(level)
        .init();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = match (runtime, command) {
        (Ok(runtime), Command::Demo) => runtime.block_on(demo::run()),
        (Err(error), _) => Err(error.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("antiphon: {error}");
            ExitCode::FAILURE
        }
    }
}
