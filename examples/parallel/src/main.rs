//! Many calls at once on one connection, each with a question of its own: answers go to the call
//! that asked, whatever the order they come in.
//!
//! `cargo run -p example-parallel`

use std::{error::Error, time::Duration};

use antiphon::{
    Args, Call, Client, Server, Stop, memory,
    schemars::{self, JsonSchema},
    types::{ElicitRequestParams, FormSchema, InputRequired, StringSchema},
};
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinSet;

/// Name a ship.
#[derive(Deserialize, JsonSchema)]
struct Christen {
    ship: u64,
}

/// What the user fills in.
#[derive(Deserialize)]
struct Name {
    name: String,
}

async fn christen(Args(Christen { ship }): Args<Christen>, call: Call) -> Result<String, Stop> {
    let answers = call.responses();
    if answers.is_empty() {
        let form = FormSchema::new().required("name", StringSchema::new().min_length(1));
        let question = ElicitRequestParams::form(format!("Name of ship {ship}?"), form);
        return Err(Stop::ask(InputRequired::ask("name", question)));
    }
    Ok(match answers.accepted("name") {
        Some(Name { name }) => format!("ship {ship} is {name}"),
        None => format!("ship {ship} has no name"),
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server: Server = Server::new("harbour", "1.0").tool("christen", christen);
    // The later a question comes, the sooner it is answered.
    let client = Client::new("parallel", "1.0").on_form(|form| async move {
        let number = form
            .message
            .trim_matches(|c: char| !c.is_ascii_digit())
            .to_owned();
        let ship: u64 = number.parse()?;
        tokio::time::sleep(Duration::from_millis(50 - 5 * ship)).await;
        Ok::<_, std::num::ParseIntError>(form.accept(json!({ "name": format!("Aurora {ship}") })))
    });
    let connection = client.connect(memory(server)).await?;

    let mut calls = JoinSet::new();
    for ship in 1..=8 {
        let connection = connection.clone();
        calls.spawn(async move {
            connection
                .call_tool("christen", json!({ "ship": ship }))
                .await
        });
    }
    while let Some(result) = calls.join_next().await {
        println!("{}", result??.first_text().unwrap_or_default());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
