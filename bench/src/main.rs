//! Measures servers of the Model Context Protocol side by side: what a request costs the server
//! process in CPU time, how long it takes, and how much memory is held; and clients, by what a call
//! costs them.
//!
//! `bench/README.md` tells how to run it and read the figures; `bench/CONTRACT.md` tells what a
//! server or a client must do to take part.

mod clients;
mod confirm;
mod contest;
mod counts;
mod cpu;
mod figures;
mod growth;
mod http;
mod load;
mod memory;
mod older;
mod options;
mod orders;
mod pipes;
mod plot;
mod report;
mod request;
mod resident;
mod results;
mod server;
mod start;
mod table;
mod targets;
mod turns;
mod workers;
mod workload;

use std::{io, process::ExitCode, time::Duration};

use clap::Parser;

use crate::{
    options::{Cli, Command, Options},
    report::{Report, Roles},
    request::{Checks, Kind},
    server::Server,
    turns::Pace,
};

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
            connections,
            sessions,
        }) => {
            let _idle = growth::idle(port, connections, sessions).await?;
            load::drive(port, workload, Checks::unless(fixed), count).await
        }
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
        Some(Command::Compose {
            figures,
            sections,
            results,
        }) => results::compose(&figures, &sections, &results),
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
    for server in &mut options.servers {
        server.slow = options.slow.contains(&server.name);
    }
    for client in &mut options.clients {
        client.slow = options.slow.contains(&client.name);
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
    let roles = Roles {
        baseline: options.baseline.clone(),
        client_baseline: options.client_baseline.clone(),
        subject: options.subject.clone(),
        limits: options.limit.clone(),
    };
    let mut report = Report::new(roles, options.rounds, options.burst_ms);
    measure_servers(&options, &mut report).await;
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

async fn measure_servers(options: &Options, report: &mut Report) {
    let (servers, only) = (&options.servers, &options.only);
    let pace = Pace {
        rounds: options.rounds,
        burst: Duration::from_millis(options.burst_ms),
    };
    contest::run(servers, pace, only, report).await;
    let scaling: Vec<&Server> = servers
        .iter()
        .filter(|server| options.scaling.contains(&server.name))
        .collect();
    if only.wants(workload::WORKERS) && !scaling.is_empty() {
        report.add_workers(workers::measure(&scaling, pace).await);
    }
    for axis in growth::AXES {
        if only.wants(axis.name()) && !scaling.is_empty() {
            report.add_growth(growth::measure(axis, &scaling, pace).await);
        }
    }
    if only.wants(workload::MEMORY) && !servers.is_empty() {
        for server in servers {
            report.add_memory(&server.name, memory::measure(server).await);
        }
        report.show_memory();
    }
}

fn named<'a>(servers: &'a mut [Server], name: &str) -> io::Result<&'a mut Server> {
    let named = servers.iter_mut().find(|server| server.name == name);
    named.ok_or_else(|| io::Error::other(format!("no server named {name}")))
}
