//! A call that one process starts and another one finishes: between them it is a file.
//!
//! ```text
//! export SHOP_KEYS=base64:$(openssl rand -base64 32)
//! cargo run -p example-paused -- start call.json      # asks, and stores the paused call
//! cargo run -p example-paused -- answer call.json yes # another process, perhaps days later
//! ```
//!
//! Both start the server by themselves (`paused serve`, on stdio): it remembers nothing between
//! the two, for what it needs is in the call, sealed. Only the key must be the same.

use std::{
    error::Error,
    fs,
    path::Path,
    process::{Command, ExitCode},
    time::Duration,
};

use antiphon::{
    Args, Call, Client, Kind, Server, Stop,
    client::{Answer, CallTool, Connection, Outcome, Paused, Stdio},
    schemars::{self, JsonSchema},
    sealing::{KeyRing, Sealing},
    stdio,
    types::{BooleanSchema, CallToolResult, ElicitRequestParams, FormSchema, InputRequired},
};
use serde::Deserialize;
use serde_json::json;

/// Order a book.
#[derive(Deserialize, JsonSchema)]
struct Order {
    title: String,
}

/// What the user fills in.
#[derive(Deserialize)]
struct Confirm {
    approve: bool,
}

async fn order(Args(Order { title }): Args<Order>, call: Call) -> Result<String, Stop> {
    let answers = call.responses();
    if answers.is_empty() {
        let form = FormSchema::new().required("approve", BooleanSchema::new());
        let question = ElicitRequestParams::form(format!("Order {title}?"), form);
        return Err(Stop::ask(InputRequired::ask("confirm", question)));
    }
    Ok(match answers.accepted("confirm") {
        Some(Confirm { approve: true }) => format!("Ordered {title}."),
        _ => "Nothing was ordered.".to_owned(),
    })
}

/// Under a key of its own process, no other one could read what this one asked; and nobody waits
/// days for ten minutes.
fn server() -> Result<Server, Box<dyn Error>> {
    let days = Duration::from_secs(7 * 24 * 60 * 60);
    let sealing = Sealing::keys(KeyRing::from_env("SHOP_KEYS")?)
        .audience("shop")
        .ttl(days);
    Ok(Server::new("shop", "1.0")
        .tool("order", order)
        .sealing(sealing))
}

/// A client that answers forms by hand, at the server of this very program.
async fn connect() -> Result<Connection, Box<dyn Error>> {
    let mut serve = Command::new(std::env::current_exe()?);
    serve.arg("serve");
    let client = Client::new("paused", "1.0").by_hand([Kind::Form]);
    Ok(client.connect(Stdio::spawn(serve)).await?)
}

async fn start(file: &Path) -> Result<(), Box<dyn Error>> {
    let connection = connect().await?;
    let call = CallTool::new("order", json!({ "title": "Dune" }));
    match connection.start(call).await? {
        Outcome::Paused(paused) => {
            for (key, question) in paused.questions() {
                println!(
                    "{} asks `{key}`: {}",
                    paused.server(),
                    serde_json::to_string(question)?
                );
            }
            fs::write(file, serde_json::to_vec_pretty(&paused)?)?;
        }
        other => println!("no question: {other:?}"),
    }
    connection.close().await;
    Ok(())
}

async fn answer(file: &Path, approve: bool) -> Result<(), Box<dyn Error>> {
    let stored = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let paused: Paused = serde_json::from_slice(&stored)?;
    let paused = paused.answer("confirm", Answer::accept(json!({ "approve": approve })));
    let connection = connect().await?;
    match connection.resume::<CallToolResult>(paused).await? {
        Outcome::Done(result) => println!("{}", result.first_text().unwrap_or_default()),
        other => println!("not done: {other:?}"),
    }
    connection.close().await;
    // It was good for one answer.
    fs::remove_file(file)?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("paused: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => stdio::serve(server()?).await?,
        ["start", file] => start(file.as_ref()).await?,
        ["answer", file, word @ ("yes" | "no")] => answer(file.as_ref(), word == "yes").await?,
        _ => return Err("usage: paused start FILE | paused answer FILE yes|no".into()),
    }
    Ok(())
}
