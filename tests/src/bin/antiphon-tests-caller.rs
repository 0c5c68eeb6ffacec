//! Asks the server at a URL what it speaks, as the environment says how to get there; for tests of
//! environments, which a process has but one of.

use std::process::ExitCode;

use antiphon::{Client, Http};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let url = std::env::args().nth(1).unwrap_or_default();
    match Client::new("tests", "1.0").connect(Http::new(url)).await {
        Ok(connection) => {
            println!("{}", connection.protocol_version());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
