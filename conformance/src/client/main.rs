//! The client under test: the client scenarios of the official conformance suite.
//!
//! The suite runs `antiphon-conformance-client URL`. Which scenario it plays, in which revision,
//! and what else it needs for that, is in the environment.

mod auth;
mod scenarios;

use std::{
    env::{self, VarError},
    error::Error,
    process::ExitCode,
};

use scenarios::Server;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("antiphon-conformance-client: {error}");
            let mut cause = error.source();
            while let Some(why) = cause {
                eprintln!("  because {why}");
                cause = why.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let url = env::args().skip(1).next_back();
    let url = url.ok_or("usage: antiphon-conformance-client URL")?;
    let scenario = variable("MCP_CONFORMANCE_SCENARIO")?
        .ok_or("MCP_CONFORMANCE_SCENARIO must name the scenario")?;
    // Which revision the suite's server speaks is not told to the client: it finds out.
    let server = Server {
        url,
        context: variable("MCP_CONFORMANCE_CONTEXT")?,
    };
    match scenario.as_str() {
        "initialize" => scenarios::initialize(&server).await,
        "tools_call" => scenarios::tools_call(&server).await,
        "elicitation-sep1034-client-defaults" => scenarios::defaults(&server).await,
        "sse-retry" => scenarios::reconnection(&server).await,
        "request-metadata" => scenarios::request_metadata(&server).await,
        "sep-2322-client-request-state" => scenarios::request_state(&server).await,
        "http-standard-headers" => scenarios::standard_headers(&server).await,
        "http-custom-headers" => scenarios::custom_headers(&server).await,
        "http-invalid-tool-headers" => scenarios::invalid_tool_headers(&server).await,
        "json-schema-ref-no-deref" => scenarios::foreign_reference(&server).await,
        "json-schema-2020-12-preservation" => scenarios::schema_preservation(&server).await,
        name if name.starts_with("auth/") => auth::authorized(&server, name).await,
        unknown => Err(format!("no scenario is known as {unknown:?}").into()),
    }
}

/// What the suite says in the environment.
fn variable(name: &str) -> Result<Option<String>, String> {
    match env::var(name) {
        Ok(text) => Ok(Some(text)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(format!("{name} is not UTF-8")),
    }
}
