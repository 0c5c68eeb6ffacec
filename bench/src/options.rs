//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::{clients::Client, request::Kind, server::Server, workload::Selection};

/// Measure MCP servers and clients side by side.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Subcommand)]
pub(crate) enum Command {
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
        /// Beside so many connections that stay idle.
        #[arg(long, value_name = "N", default_value_t = 0)]
        connections: u32,
        /// Beside so many sessions of revision 2025-11-25 that stay idle.
        #[arg(long, value_name = "N", default_value_t = 0)]
        sessions: u32,
    },
    /// Print a port that is free at this moment.
    Port,
    /// Write the results of a run down, with its plots.
    Compose {
        /// The figures of the run, as `--out` wrote them.
        #[arg(long, value_name = "FILE")]
        figures: PathBuf,
        /// Where the texts are that go with them: `machine.txt`, `counts.txt` and the like.
        #[arg(long, value_name = "DIRECTORY")]
        sections: PathBuf,
        /// The file to write; plots go to `plots` beside it.
        #[arg(long, value_name = "FILE")]
        results: PathBuf,
    },
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
pub(crate) struct Options {
    /// A server under test; repeatable.
    #[arg(long = "server", value_name = "NAME=COMMAND")]
    pub(crate) servers: Vec<Server>,
    /// A server whose answers are fixed, so that only their shape is checked; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) fixed: Vec<String>,
    /// A server that knows no older revisions, and takes no part where they are spoken; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) modern: Vec<String>,
    /// A server or a client that is too slow for what is done very often; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) slow: Vec<String>,
    /// A server that is also measured with two workers and as things grow; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) scaling: Vec<String>,
    /// A server or a client that is a lower bound, and nobody's peer; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) limit: Vec<String>,
    /// The server that the others are compared with.
    #[arg(long, value_name = "NAME", default_value = "floor")]
    pub(crate) baseline: String,
    /// A client under test; repeatable.
    #[arg(long = "client", value_name = "NAME=COMMAND", requires = "partner")]
    pub(crate) clients: Vec<Client>,
    /// The server that clients call, which is not measured.
    #[arg(long, value_name = "NAME=COMMAND")]
    pub(crate) partner: Option<Server>,
    /// The client that the others are compared with.
    #[arg(long, value_name = "NAME", default_value = "hyper")]
    pub(crate) client_baseline: String,
    /// The server and client that all others but the lower bounds are peers of.
    #[arg(long, value_name = "NAME", default_value = "antiphon")]
    pub(crate) subject: String,
    /// Workloads to run, separated by commas; the part before a dash stands for all that have it.
    #[arg(long, value_name = "NAMES", default_value = "all")]
    pub(crate) only: Selection,
    /// How many turns each server has.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// How long a turn lasts.
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) burst_ms: u64,
    /// Also write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
