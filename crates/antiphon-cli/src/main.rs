//! `antiphon`: the command-line tool.
#![warn(clippy::print_stdout, clippy::print_stderr)] // They panic; see `say`.

#[macro_use]
mod say;
mod answering;
mod arguments;
mod asked;
mod audit;
mod bounded;
mod calling;
mod command_line;
mod commands;
mod completing;
mod connect;
mod demo;
mod ending;
mod failure;
mod keygen;
mod legs;
mod logs;
mod nearest;
mod options;
mod paused;
mod printable;
mod private;
mod progress;
mod questions;
mod render;
mod root;
mod sign_in;
mod target;
mod terminal;
mod trace;
mod way;

use std::process::ExitCode;

use clap::{
    CommandFactory, Parser, Subcommand,
    error::{ContextKind, ContextValue},
};

use failure::{Exit, Failure};

/// Try, script and debug servers of the Model Context Protocol, of every revision.
///
/// A server is a URL, a name from antiphon.toml or from the `mcpServers` of a host, or a command after
/// `--`, which is then started.
#[derive(Parser)]
#[command(name = "antiphon", version, arg_required_else_help = true, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  antiphon inspect https://shop.example.com/mcp
  antiphon call https://shop.example.com/mcp order title=Dune
  antiphon call deploy env=prod -- ./my-server
  antiphon resume deploy-1f2e3d4c.paused.json confirm=true
  antiphon login https://shop.example.com/mcp
  antiphon audit https://shop.example.com/mcp --tool order title=Dune
  antiphon demo

Exit codes: 0 done, 1 the tool failed, 2 usage or a bad file, 3 the server cannot be reached or
started, 4 it answered with an error or is no MCP server, 5 timed out, 6 too many rounds,
7 unauthorised, 20 the call waits for an answer, 21 its state is not accepted any more,
130 interrupted.";

#[derive(Subcommand)]
enum Command {
    Inspect(commands::inspect::Inspect),
    Call(commands::call::Call),
    Prompt(commands::prompt::Prompt),
    Read(commands::read::Read),
    Complete(commands::complete::Complete),
    Listen(commands::listen::Listen),
    Resume(commands::resume::Resume),
    Show(commands::show::Show),
    Audit(commands::audit::Audit),
    Login(commands::login::Login),
    Logout(commands::logout::Logout),
    Keygen(keygen::Keygen),
    Completions(completing::Completions),
    Demo(demo::Demo),
}

impl Command {
    async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Inspect(inspect) => inspect.run().await,
            Self::Call(call) => call.run().await,
            Self::Prompt(prompt) => prompt.run().await,
            Self::Read(read) => read.run().await,
            Self::Complete(complete) => complete.run().await,
            Self::Listen(listen) => listen.run().await,
            Self::Resume(resume) => resume.run().await,
            Self::Show(show) => show.run(),
            Self::Audit(audit) => audit.run().await,
            Self::Login(login) => login.run().await,
            Self::Logout(logout) => logout.run().await,
            Self::Keygen(keygen) => keygen.run(),
            Self::Completions(completions) => completions.run(),
            Self::Demo(demo) => demo.run().await,
        }
    }
}

/// Without the advice to write `-- -x` for a word `-x`: here a server's command comes after `--`.
fn without_tip(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains("as a value, use"));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    error
}

fn main() -> ExitCode {
    completing::answer(Cli::command);
    let Cli { command } = Cli::try_parse().unwrap_or_else(|error| without_tip(error).exit());
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
    terminal::restore();
    match outcome {
        Ok(()) if say::has_failed() => Failure::silent(Exit::Failed).code(),
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.text.is_empty() {
                tell!("antiphon: {failure}");
            }
            failure.code()
        }
    }
}
