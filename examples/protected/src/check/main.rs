//! Ada and Bob at the shop, with real tokens: through the SDK, and through the `antiphon` command.
//!
//! Started by `examples/protected/run`, which installs the authorization server. Prints a line for
//! each thing that holds, and ends with 1 at the first that does not.

mod command;
mod parties;
mod sdk;

use std::{error::Error, path::PathBuf, process::ExitCode};

use parties::Parties;

type Boxed = Box<dyn Error + Send + Sync>;
type Done = Result<(), Boxed>;

/// Says what holds.
fn holds(what: &str, is_so: bool, seen: impl std::fmt::Debug) -> Done {
    match is_so {
        true => {
            println!("ok  {what}");
            Ok(())
        }
        false => Err(format!("{what}: {seen:?}").into()),
    }
}

async fn check() -> Done {
    let mut words = std::env::args_os().skip(1).map(PathBuf::from);
    let usage = "usage: protected-check AUTHORITY PROTECTED ANTIPHON";
    let mut word = || words.next().ok_or(usage);
    let (authority, shop, antiphon) = (word()?, word()?, word()?);
    let parties = Parties::start(authority, &shop).await?;
    sdk::check(&parties).await?;
    command::check(&parties, &antiphon).await
}

#[tokio::main]
async fn main() -> ExitCode {
    match check().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("protected-check: {error}");
            ExitCode::FAILURE
        }
    }
}
