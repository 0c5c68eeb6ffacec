//! The command line of a server under test.

use std::{future::Future, process::exit};

use tokio::runtime::Builder;

/// Where the messages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// HTTP on this port of the loopback interface.
    Http(u16),
    /// Lines on standard input and output.
    Stdio,
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flags {
    /// The words before the first flag.
    pub words: Vec<String>,
    /// Which transport to serve.
    pub transport: Transport,
    /// How many filler tools to offer.
    pub tools: usize,
    /// How many threads run tasks; one means the current-thread runtime.
    pub workers: usize,
}

impl Flags {
    /// Parses the process's arguments; prints `usage` and exits if they make no sense.
    pub fn from_env(usage: &str) -> Self {
        Self::parse(std::env::args().skip(1)).unwrap_or_else(|problem| {
            eprintln!(
                "{problem}\nusage: {usage} (--http PORT | --stdio) [--tools N] [--workers N]"
            );
            exit(2)
        })
    }

    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut words, mut transport, mut tools, mut workers) = (Vec::new(), None, 0, 1);
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let value = arguments.next().unwrap_or_default();
                value
                    .parse::<usize>()
                    .map_err(|_| format!("{argument} needs a number, not {value:?}"))
            };
            match argument.as_str() {
                "--http" => {
                    let port = u16::try_from(number()?).map_err(|_| "no such port")?;
                    transport = Some(Transport::Http(port));
                }
                "--stdio" => transport = Some(Transport::Stdio),
                "--tools" => tools = number()?,
                "--workers" => workers = number()?,
                flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}")),
                _ => words.push(argument),
            }
        }
        Ok(Self {
            words,
            transport: transport.ok_or("no transport given")?,
            tools,
            workers,
        })
    }

    /// Runs `main` on the runtime that `--workers` asks for.
    pub fn block_on<T>(&self, main: impl Future<Output = T>) -> T {
        let mut builder = if self.workers > 1 {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(self.workers);
            builder
        } else {
            Builder::new_current_thread()
        };
        let runtime = builder.enable_all().build();
        runtime.expect("the runtime starts").block_on(main)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Flags, String> {
        Flags::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn reads_words_and_flags() {
        let flags = parse("floor --http 8080 --tools 501").expect("parses");
        assert_eq!(flags.words, ["floor"]);
        assert_eq!(flags.transport, Transport::Http(8080));
        assert_eq!((flags.tools, flags.workers), (501, 1));
    }

    #[test]
    fn names_what_is_wrong() {
        assert!(parse("floor").is_err());
        assert!(parse("--stdio --tools many").is_err_and(|e| e.contains("--tools")));
        assert!(parse("--stdio --loud").is_err_and(|e| e.contains("--loud")));
    }
}
