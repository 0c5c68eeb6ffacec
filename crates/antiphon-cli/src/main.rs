//! `antiphon`: the command-line tool.

#[macro_use]
mod say;
mod demo;
mod failure;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::filter::LevelFilter;

use failure::Failure;

/// Try, script and debug servers of the Model Context Protocol.
#[derive(Parser)]
#[command(name = "antiphon", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Demo),
}

impl Command {
    /// What is logged, to standard error.
    fn level(&self) -> LevelFilter {
        match self {
            Self::Demo(demo) => demo.level(),
        }
    }

    async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Demo(demo) => demo.run().await,
        }
    }
}

fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(command.level())
        .init();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => {
            let outcome = runtime.block_on(command.run());
            // Whoever still reads standard input need not be waited for.
            runtime.shutdown_background();
            outcome
        }
        Err(error) => Err(Failure::start("cannot start", &error)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("antiphon: {failure}");
            failure.code()
        }
    }
}
