//! Our server for the bench: `--http PORT [--tools N] [--workers N]`, or `--stdio`. See
//! CONTRACT.md.

#[path = "../../peers/contract/src/nested.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    reason = "a crate of the peers publishes it, and most fields are only read into"
)]
mod nested;

use std::time::Duration;

use antiphon::{
    Answer, Args, Ask, Form, Server, Stop, Tool,
    schemars::{self, JsonSchema},
    types::InputRequired,
};
use nested::Nested;
use serde::Deserialize;

/// Returns its text.
#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(Args(Echo { text }): Args<Echo>) -> String {
    text
}

/// Sleeps.
#[derive(Deserialize, JsonSchema)]
struct Slow {
    ms: u64,
}

async fn slow(Args(Slow { ms }): Args<Slow>) -> String {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    format!("slept {ms}")
}

async fn nested(Args(orders): Args<Nested>) -> String {
    orders.summary()
}

/// Runs an action once the user has agreed.
#[derive(Deserialize, JsonSchema)]
struct Confirm {
    action: String,
}

#[derive(Form)]
struct Agreed {
    ok: bool,
}

async fn confirm(Args(Confirm { action }): Args<Confirm>, ask: Ask) -> Result<String, Stop> {
    Ok(match ask.form("confirm", format!("Run {action}?")) {
        Ok(Answer::Accept(Agreed { ok: true })) => format!("done: {action}"),
        Ok(_) => "refused".to_owned(),
        // A state of the author's goes along: the contract wants what is sealed to have 190 bytes, and
        // all else takes 151.
        Err(_) => return Err(Stop::ask(InputRequired::later("x".repeat(39)))),
    })
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "they are read and dropped")]
struct Filler {
    /// first
    a: String,
    /// second
    b: Option<i64>,
    /// third
    c: Option<bool>,
}

async fn filler(_: Args<Filler>) -> &'static str {
    "filler"
}

fn server(fillers: usize) -> Server {
    let server = Server::new("bench", "1.0.0")
        .tool("echo", echo)
        .tool("slow", slow)
        .tool("nested", nested)
        .tool("confirm", confirm);
    (0..fillers).fold(server, |server, i| {
        let tool = Tool::new(format!("filler_{i:04}"), filler);
        server.add(tool.description(format!("Filler tool number {i}.")))
    })
}

/// The command line.
#[derive(Default)]
struct Flags {
    http: Option<u16>,
    stdio: bool,
    tools: usize,
    workers: usize,
}

fn flags() -> Result<Flags, String> {
    let mut flags = Flags::default();
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        if flag == "--stdio" {
            flags.stdio = true;
            continue;
        }
        let value = args.next().ok_or(format!("{flag} needs a value"))?;
        let number = value
            .parse::<usize>()
            .map_err(|_| format!("{flag}: {value} is no number"))?;
        match flag.as_str() {
            "--http" => {
                flags.http = Some(u16::try_from(number).map_err(|_| format!("no port: {value}"))?);
            }
            "--tools" => flags.tools = number,
            "--workers" => flags.workers = number,
            other => return Err(format!("unknown flag {other}")),
        }
    }
    if flags.http.is_some() == flags.stdio {
        return Err(
            "usage: antiphon-bench-server --http PORT | --stdio [--tools N] [--workers N]".into(),
        );
    }
    Ok(flags)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let flags = flags()?;
    let runtime = match flags.workers {
        0 | 1 => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?,
        workers => {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(workers).enable_all().build()?
        }
    };
    let server = server(flags.tools);
    runtime.block_on(async {
        match flags.http {
            Some(port) => {
                let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
                antiphon::http::serve(listener, antiphon::http::service(server)).await
            }
            None => antiphon::stdio::serve(server).await,
        }
    })?;
    Ok(())
}
