//! Measures servers of the Model Context Protocol side by side: what a request costs the server
//! process in CPU time, how long it takes, and how much memory is held; and clients, by what a call
//! costs them.
//!
//! `bench/README.md` tells how to run it and read the figures; `bench/CONTRACT.md` tells what a
//! server or a client must do to take part.

mod clients;
mod confirm;
mod contest;
mod cpu;
mod http;
mod load;
mod memory;
mod older;
mod pipes;
mod report;
mod request;
mod resident;
mod server;
mod start;
mod workload;

use std::{io, path::PathBuf, process::ExitCode, time::Duration};

use clap::{Args, Parser, Subcommand};

use crate::{
    clients::Client,
    contest::Contest,
    report::Report,
    request::{Checks, Kind},
    server::Server,
    workload::Selection,
};

/// Measure MCP servers and clients side by side.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand)]
enum Command {
    /// Send requests over one connection to a server that somebody else starts and watches.
    Drive {
        /// Where the server listens, or soon will.
        port: u16,
        /// What to send.
        workload: Kind,
        /// How often.
        count: u32,
        /// The server gives fixed answers: check their shape only.
        #[arg(long)]
        fixed: bool,
        /// In a session of revision 2025-11-25; only `confirm` is sent that way.
        #[arg(long)]
        older: bool,
    },
    /// Print a port that is free at this moment.
    Port,
    /// Measure what `antiphon call` adds to the start of a server on pipes.
    Start {
        /// The tool, which is also the server.
        tool: PathBuf,
        /// How often each is timed.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
        runs: u32,
        /// Fail above so many milliseconds.
        #[arg(long, value_name = "MS")]
        max: Option<f64>,
    },
}

#[derive(Args)]
struct Options {
    /// A server under test; repeatable.
    #[arg(long = "server", value_name = "NAME=COMMAND")]
    servers: Vec<Server>,
    /// A server whose answers are fixed, so that only their shape is checked; repeatable.
    #[arg(long, value_name = "NAME")]
    fixed: Vec<String>,
    /// A server that knows no older revisions, and takes no part where they are spoken; repeatable.
    #[arg(long, value_name = "NAME")]
    modern: Vec<String>,
    /// The server that the others are compared with.
    #[arg(long, value_name = "NAME", default_value = "floor")]
    baseline: String,
    /// A client under test; repeatable.
    #[arg(long = "client", value_name = "NAME=COMMAND", requires = "partner")]
    clients: Vec<Client>,
    /// The server that clients call, which is not measured.
    #[arg(long, value_name = "NAME=COMMAND")]
    partner: Option<Server>,
    /// The client that the others are compared with.
    #[arg(long, value_name = "NAME", default_value = "hyper")]
    client_baseline: String,
    /// Workloads to run, separated by commas; the part before a dash stands for all that have it.
    #[arg(long, value_name = "NAMES", default_value = "all")]
    only: Selection,
    /// How many turns each server has.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How long a turn lasts.
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..))]
    burst_ms: u64,
    /// Also write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let done = runtime.and_then(|runtime| runtime.block_on(dispatch(cli)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("antiphon-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn dispatch(cli: Cli) -> io::Result<()> {
    match cli.command {
        None => measure(cli.options).await,
        Some(Command::Drive {
            port,
            workload,
            count,
            fixed,
            older: false,
        }) => load::drive(port, workload, Checks::unless(fixed), count).await,
        Some(Command::Drive {
            workload: Kind::Confirm,
            port,
            count,
            ..
        }) => load::drive_older(port, count).await,
        Some(Command::Drive { .. }) => Err(io::Error::other("--older goes with confirm")),
        Some(Command::Port) => {
            println!("{}", server::free_port()?);
            Ok(())
        }
        Some(Command::Start { tool, runs, max }) => start::measure(&tool, runs, max),
    }
}

async fn measure(mut options: Options) -> io::Result<()> {
    for name in &options.fixed {
        named(&mut options.servers, name)?.checks = Checks::Shape;
    }
    for name in &options.modern {
        named(&mut options.servers, name)?.modern = true;
    }
    if options.servers.is_empty() && options.clients.is_empty() {
        return Err(io::Error::other(
            "nothing to measure: give --server NAME=COMMAND or --client NAME=COMMAND",
        ));
    }
    let has_baseline = options.servers.iter().any(|s| s.name == options.baseline);
    if !options.servers.is_empty() && !has_baseline {
        eprintln!(
            "no server is named {}: nothing to compare with",
            options.baseline
        );
    }
    let mut report = Report::new(
        options.baseline,
        options.client_baseline,
        options.rounds,
        options.burst_ms,
    );
    let contest = Contest {
        servers: &options.servers,
        rounds: options.rounds,
        burst: Duration::from_millis(options.burst_ms),
    };
    contest.run(&options.only, &mut report).await;
    if options.only.wants(workload::MEMORY) && !options.servers.is_empty() {
        for server in &options.servers {
            report.add_memory(&server.name, memory::measure(server).await);
        }
        report.print_memory();
    }
    if let Some(partner) = options.partner
        && options.only.wants(workload::CLIENTS)
    {
        clients::compare(&options.clients, &partner, options.rounds, &mut report).await?;
    }
    if let Some(file) = options.out {
        report.write(&file)?;
    }
    match report.failures() {
        0 => Ok(()),
        failures => Err(io::Error::other(format!("{failures} measurements failed"))),
    }
}

fn named<'a>(servers: &'a mut [Server], name: &str) -> io::Result<&'a mut Server> {
    let named = servers.iter_mut().find(|server| server.name == name);
    named.ok_or_else(|| io::Error::other(format!("no server named {name}")))
}
