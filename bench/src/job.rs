//! The job of a client under test, see CONTRACT.md. Every client on Rust includes this file, so
//! that they differ only in how they call.

use std::{error::Error, time::Instant};

use crate::cpu::CpuTime;

/// Echoes before anything is measured.
const WARM_UP: u32 = 50;

pub(crate) type Failure = Box<dyn Error>;

/// A client that is connected.
pub(crate) trait Caller: Sized {
    /// Connects to the server at this URL.
    async fn connect(url: &str) -> Result<Self, Failure>;

    /// Calls `echo`; gives the text of the answer.
    async fn echo(&mut self, text: &str) -> Result<String, Failure>;

    /// Calls `confirm`, accepting what it asks; gives the text of the answer.
    async fn confirm(&mut self, action: &str) -> Result<String, Failure>;
}

/// Does what the command line says, on one thread, and prints the figures.
pub(crate) fn run<C: Caller>() -> Result<(), Failure> {
    let flags = flags(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(work::<C>(&flags))
}

async fn work<C: Caller>(flags: &Flags) -> Result<(), Failure> {
    let mut caller = C::connect(&flags.url).await?;
    for number in 0..WARM_UP {
        caller.echo(&format!("warm {number}")).await?;
    }
    let watch = Watch::start()?;
    for number in 0..flags.echo {
        let text = format!("hello {number}");
        expect(&caller.echo(&text).await?, &text)?;
    }
    let echo = watch.stop("echo", flags.echo)?;
    let watch = Watch::start()?;
    for number in 0..flags.mrtr {
        let action = format!("deploy {number}");
        expect(&caller.confirm(&action).await?, &format!("done: {action}"))?;
    }
    let confirm = watch.stop("mrtr", flags.mrtr)?;
    println!("{{{echo},{confirm}}}");
    Ok(())
}

fn expect(text: &str, expected: &str) -> Result<(), Failure> {
    match text == expected {
        true => Ok(()),
        false => Err(format!("expected {expected:?}, not {text:?}").into()),
    }
}

/// Time since a moment: on the wall, and of this process on a CPU.
struct Watch(Instant, CpuTime);

impl Watch {
    fn start() -> Result<Self, Failure> {
        Ok(Self(Instant::now(), CpuTime::of(std::process::id())?))
    }

    /// The figures of one part, as members of a JSON object.
    fn stop(self, part: &str, count: u32) -> Result<String, Failure> {
        let wall = self.0.elapsed().as_nanos();
        let cpu = CpuTime::of(std::process::id())?.since(self.1).as_nanos();
        Ok(format!(
            r#""{part}_n":{count},"{part}_wall_ns":{wall},"{part}_cpu_ns":{cpu}"#
        ))
    }
}

/// The command line.
struct Flags {
    url: String,
    echo: u32,
    mrtr: u32,
}

fn flags(mut words: impl Iterator<Item = String>) -> Result<Flags, String> {
    let mut flags = Flags {
        url: String::new(),
        echo: 5000,
        mrtr: 1000,
    };
    while let Some(flag) = words.next() {
        let value = words.next().ok_or(format!("{flag} needs a value"))?;
        let number = || {
            let number = value.parse::<u32>();
            number.map_err(|_| format!("{flag}: {value} is no number"))
        };
        match flag.as_str() {
            "--url" => flags.url = value,
            "--echo" => flags.echo = number()?,
            "--mrtr" => flags.mrtr = number()?,
            other => return Err(format!("unknown flag {other}")),
        }
    }
    match flags.url.is_empty() {
        true => Err("usage: COMMAND --url URL [--echo N] [--mrtr N]".into()),
        false => Ok(flags),
    }
}
