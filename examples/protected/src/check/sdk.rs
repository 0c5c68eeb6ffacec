//! The same with the SDK.

use antiphon::{
    Client, Http,
    client::{
        Answer, CallTool, Connection, Era, Outcome, Paused,
        oauth::{Loopback, OAuth},
    },
    types::{CallToolResult, Version},
};
use serde_json::json;

use crate::{
    Boxed, Done, holds,
    parties::{Parties, Person},
};

/// Somebody at the shop, who signs in when it wants to know who is calling.
async fn at_the_shop(parties: &Parties, name: &str, client: Client) -> Result<Connection, Boxed> {
    let person: Person = parties.person(name);
    let browser = Loopback::new().no_browser().show(move |sign_in| {
        let (person, page) = (person.clone(), sign_in.url().to_owned());
        tokio::spawn(async move {
            if let Err(error) = person.visit(page).await {
                eprintln!("a person cannot sign in: {error}");
            }
        });
    });
    let way = Http::new(&parties.url).oauth(OAuth::new("Desk", browser));
    Ok(client.connect(way).await?)
}

fn desk() -> Client {
    Client::new("desk", "1.0")
}

pub(crate) async fn check(parties: &Parties) -> Done {
    for (era, revision) in [
        (Era::Pinned(Version::V2026_07_28), "2026-07-28"),
        (Era::Legacy, "an older revision"),
    ] {
        let client = desk()
            .era(era)
            .on_form(|form| async move { form.accept(json!({ "confirm": true })) });
        let ada = at_the_shop(parties, "ada", client).await?;
        let who = ada.call_tool("whoami", ()).await?;
        let what = format!("a person signs in, and is known ({revision})");
        holds(&what, who.first_text() == Some("ada"), &who)?;
        let order = ada.call_tool("order", json!({ "title": "Dune" })).await?;
        let what = format!("a tool that needs more gets it, and asks ({revision})");
        holds(
            &what,
            order.first_text() == Some("Ordered Dune for ada."),
            &order,
        )?;
        ada.close().await;
    }
    somebody_elses_flow(parties).await
}

/// Ada is asked; what Bob answers is not taken, and hers still is.
async fn somebody_elses_flow(parties: &Parties) -> Done {
    let by_hand = || desk().by_hand([antiphon::Kind::Form]);
    let ada = at_the_shop(parties, "ada", by_hand()).await?;
    let bob = at_the_shop(parties, "bob", by_hand()).await?;
    let order = CallTool::new("order", json!({ "title": "Dune" }));
    let Outcome::Paused(paused) = ada.start(order).await? else {
        return Err("the shop does not ask".into());
    };
    let stored = serde_json::to_string(&paused)?;
    let read = || serde_json::from_str::<Paused>(&stored);
    let yes = || Answer::accept(json!({ "confirm": true }));
    let bobs = bob
        .resume::<CallToolResult>(read()?.answer("confirm", yes()))
        .await;
    let refused = match &bobs {
        Err(error) => error.code() == Some(-32602),
        Ok(_) => false,
    };
    holds(
        "a second user cannot finish the first user's call",
        refused,
        bobs.err(),
    )?;
    let adas = ada.resume::<CallToolResult>(read()?.answer("confirm", yes()));
    let adas = adas.await?;
    let is_done = match &adas {
        Outcome::Done(done) => done.first_text() == Some("Ordered Dune for ada."),
        _ => false,
    };
    holds("the first user can", is_done, &adas)?;
    ada.close().await;
    bob.close().await;
    Ok(())
}
