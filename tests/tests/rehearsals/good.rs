//! Handlers of every kind that can be replayed.

use std::time::Duration;

use antiphon::{
    Answer, Args, Ask, Completions, Form, RequestState, Resolved, Responses, Sample, Server, State,
    Stop,
    auth::Principal,
    resolver,
    schemars::{self, JsonSchema},
    testing::Script,
    types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequired},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Confirm, Counter, Name, server};

#[derive(Deserialize, JsonSchema)]
struct Order {
    title: String,
    copies: u32,
    note: Note,
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    a: String,
    b: f64,
}

/// Two rounds, two questions in the first, work in between and after.
async fn order(
    Args(Order {
        title,
        copies,
        note,
    }): Args<Order>,
    State(orders): State<Counter>,
    ask: Ask,
) -> Result<String, Stop> {
    let (first, last) = (
        ask.form::<Name>("first", format!("First name, for {title}?")),
        ask.form::<Name>("last", format!("Last name, for {}{}?", note.a, note.b)),
    );
    let (first, last) = (first?.name, last?.name);
    let number: u32 = ask.once("order", async || Ok(orders.up())).await?;
    let Confirm { confirm } = ask.form("confirm", format!("Number {number} for {first}?"))?;
    let _: u32 = ask.once("mail", async || Ok(orders.up())).await?;
    Ok(format!("{copies} of {title} for {first} {last}: {confirm}"))
}

#[tokio::test]
async fn rounds_of_questions_and_work_that_is_done_once() {
    let orders = Counter::default();
    let counted = orders.clone();
    let played = Script::new()
        .accept("first", json!({ "name": "Ada" }))
        .accept("last", json!({ "name": "Lovelace" }))
        .accept("confirm", json!({ "confirm": true }))
        .rehearse(move |sealing| {
            let server = server().tool("order", order).sealing(sealing);
            server.with_state(orders.clone())
        })
        .effects(move || counted.get())
        .call_tool(
            "order",
            json!({ "title": "Dune", "copies": 2, "note": { "b": 1.5, "a": "x" } }),
        )
        .await;
    assert_eq!(played.text(), "2 of Dune for Ada Lovelace: true");
    assert_eq!(played.message("last"), "Last name, for x1.5?");
    assert_eq!(played.message("confirm"), "Number 1 for Ada?");
    played.assert_rounds([vec!["first", "last"], vec!["confirm"]]);
}

/// What a first request has done is done again by one that is sent again: that is another call.
#[tokio::test]
async fn work_before_the_first_question() {
    async fn publish(State(drafts): State<Counter>, ask: Ask) -> Result<String, Stop> {
        let draft: u32 = ask.once("draft", async || Ok(drafts.up())).await?;
        let Confirm { confirm } = ask.form("post", format!("Post number {draft}?"))?;
        Ok(format!("{draft}: {confirm}"))
    }
    let drafts = Counter::default();
    let counted = drafts.clone();
    let played = Script::new()
        .accept("post", json!({ "confirm": false }))
        .rehearse(move |sealing| {
            let server = server().tool("publish", publish).sealing(sealing);
            server.with_state(drafts.clone())
        })
        .effects(move || counted.get())
        .result_may_differ()
        .call_tool("publish", ())
        .await;
    assert_eq!(played.text(), "1: false");
}

/// With an anchor, a first request does nothing that another could do again.
#[tokio::test]
async fn work_after_an_anchor() {
    async fn publish(State(drafts): State<Counter>, ask: Ask) -> Result<String, Stop> {
        ask.anchor()?;
        let draft: u32 = ask.once("draft", async || Ok(drafts.up())).await?;
        let Confirm { confirm } = ask.form("post", format!("Post number {draft}?"))?;
        Ok(confirm.to_string())
    }
    let drafts = Counter::default();
    let counted = drafts.clone();
    let played = Script::new()
        .accept("post", json!({ "confirm": true }))
        .rehearse(move |sealing| {
            let server = server().tool("publish", publish).sealing(sealing);
            server.with_state(drafts.clone())
        })
        .effects(move || counted.get())
        .call_tool("publish", ())
        .await;
    assert_eq!(played.text(), "true");
}

#[derive(Clone)]
struct Stock(u32);

#[resolver]
async fn stock(#[arg] title: String) -> Stock {
    Stock(if title == "Dune" { 9 } else { 0 })
}

#[derive(Form, Clone)]
struct Backorder {
    accept: bool,
}

#[resolver]
async fn backorder(
    #[arg] title: String,
    Resolved(Stock(stock)): Resolved<Stock>,
    ask: Ask,
) -> Result<Backorder, Stop> {
    let days: u32 = ask.once("days", async || Ok(21 - stock)).await?;
    ask.form("backorder", format!("{title} takes {days} days. Order it?"))
}

#[derive(Clone)]
struct Address(String);

#[resolver]
async fn address(ask: Ask) -> Result<Address, Stop> {
    let Name { name } = ask.form("name", "Where to?")?;
    Ok(Address(name))
}

#[tokio::test]
async fn resolvers() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "the resolvers read it")]
    struct Title {
        title: String,
    }
    async fn deliver(
        _: Args<Title>,
        Resolved(backorder): Resolved<Answer<Backorder>>,
        Resolved(Address(address)): Resolved<Address>,
    ) -> String {
        match backorder {
            Answer::Accept(Backorder { accept: true }) => format!("Ordered to {address}"),
            _ => "Nothing was ordered".to_owned(),
        }
    }
    let rehearse = |people: Script| {
        let people = people.accept("address.name", json!({ "name": "Paris" }));
        people.rehearse(|sealing| {
            let server: Server = Server::new("shop", "1.0").tool("deliver", deliver);
            server.sealing(sealing)
        })
    };
    let rare = json!({ "title": "Neuromancer" });
    let yes = rehearse(Script::new().accept("backorder", json!({ "accept": true })));
    let played = yes.call_tool("deliver", rare.clone()).await;
    assert_eq!(played.text(), "Ordered to Paris");
    played.assert_rounds([["backorder", "address.name"]]);
    let no = rehearse(Script::new().decline("backorder"));
    let played = no.call_tool("deliver", rare).await;
    assert_eq!(played.text(), "Nothing was ordered");
}

#[tokio::test(start_paused = true)]
async fn work_that_takes_an_unknown_time() {
    // The third look finds it done, whoever looks; later plays find it done at once.
    async fn build(State(looks): State<Counter>, ask: Ask) -> Result<String, Stop> {
        let Confirm { .. } = ask.form("confirm", "Build it?")?;
        if looks.up() < 3 {
            ask.later(Duration::from_secs(5))?;
        }
        let Name { name } = ask.form("tag", "It is built. Tag it as?")?;
        Ok(name)
    }
    let looks = Counter::default();
    let played = Script::new()
        .accept("confirm", json!({ "confirm": true }))
        .accept("tag", json!({ "name": "1.0" }))
        .rehearse(move |sealing| {
            let server = server().tool("build", build).sealing(sealing);
            server.with_state(looks.clone())
        })
        .call_tool("build", ())
        .await;
    assert_eq!(played.text(), "1.0");
    assert_eq!(played.laters(), 2);
}

#[tokio::test]
async fn a_link_with_completions_that_all_share() {
    async fn balance(
        State(accounts): State<Completions<String>>,
        ask: Ask,
    ) -> Result<String, Stop> {
        let account = ask.url(
            "signin",
            "Sign in",
            |handle| format!("https://bank.example/{handle}"),
            |handle| accounts.get(handle),
        );
        let summary = ask.sample("summary", Sample::user("Sum up.", 20));
        let roots = ask.roots("roots");
        let (account, summary, roots) = (account?, summary?, roots?);
        let text = summary.first_text().unwrap_or_default();
        Ok(format!("{account}: {text} ({})", roots.len()))
    }
    let accounts = Completions::<String>::new();
    let page = accounts.clone();
    let played = Script::new()
        .visit("signin", move |url| {
            let page = page.clone();
            async move {
                let handle = url.rsplit('/').next().expect("a handle");
                let done = page.complete(handle, Some("ada"), "Ada".to_owned());
                done.expect("her own link");
            }
        })
        .sample("summary", "All well.")
        .roots("roots", ["file:///srv"])
        .rehearse(move |sealing| {
            let server = Server::new("bank", "1.0").tool("balance", balance);
            server.sealing(sealing).with_state(accounts.clone())
        })
        .principal(Principal::subject("ada"))
        .call_tool("balance", ())
        .await;
    assert_eq!(played.text(), "Ada: All well. (1)");
}

#[tokio::test]
async fn prompts_and_templates() {
    #[derive(Deserialize, JsonSchema)]
    struct Topic {
        topic: String,
    }
    async fn brief(Args(Topic { topic }): Args<Topic>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("for", format!("Who is to know about {topic}?"))?;
        Ok(format!("Tell {name} about {topic}"))
    }
    let rehearsal = Script::new()
        .accept("for", json!({ "name": "Ada" }))
        .rehearse(|sealing| {
            let server: Server = Server::new("desk", "1.0").prompt("brief", brief);
            server.resource("brief://{topic}", brief).sealing(sealing)
        });
    let topic = json!({ "topic": "the \"engine\"" });
    let played = rehearsal.get_prompt("brief", topic).await;
    assert_eq!(played.text(), "Tell Ada about the \"engine\"");
    let played = rehearsal.read_resource("brief://engines").await;
    assert_eq!(played.text(), "Tell Ada about engines");
}

/// A form with one required yes-or-no field, named like its key.
fn yes_or_no(key: &str, message: &str) -> InputRequired {
    let form = FormSchema::new().required(key, BooleanSchema::new());
    InputRequired::ask(key, ElicitRequestParams::form(message, form))
}

#[tokio::test]
async fn questions_by_hand_with_a_state() {
    async fn wipe(
        RequestState(step): RequestState<u32>,
        responses: Responses,
    ) -> Result<&'static str, Stop> {
        let said = |key| responses.answers().accepted::<Value>(key).is_some();
        let carrying = |ask: InputRequired, step: u32| {
            let ask = ask.carrying(&step).expect("a number");
            Err(Stop::ask(ask))
        };
        match step {
            None => carrying(yes_or_no("confirm", "Wipe?"), 1),
            Some(1) if said("confirm") => carrying(yes_or_no("sure", "Sure?"), 2),
            Some(2) if said("sure") => Ok("Wiped"),
            Some(_) => Ok("Nothing was wiped"),
        }
    }
    let people = Script::new().accept("confirm", json!({ "confirm": true }));
    let yes = people.clone().accept("sure", json!({ "sure": true }));
    for (people, text) in [
        (yes, "Wiped"),
        (people.decline("sure"), "Nothing was wiped"),
    ] {
        let rehearsal = people.rehearse(|sealing| {
            let server: Server = Server::new("cache", "1.0").tool("wipe", wipe);
            server.sealing(sealing)
        });
        assert_eq!(rehearsal.call_tool("wipe", ()).await.text(), text);
    }
}

#[tokio::test]
async fn answers_that_do_not_fit_and_declines() {
    #[derive(Form)]
    struct Age {
        #[form(min = 18)]
        age: u8,
    }
    async fn enter(ask: Ask) -> Result<String, Stop> {
        let (age, name) = (ask.form::<Age>("age", "Age?"), ask.form("name", "Name?"));
        let (Age { age }, Name { name }) = (age?, name?);
        Ok(format!("{name}, {age}"))
    }
    let enter = |people: Script| {
        people.rehearse(|sealing| {
            let server: Server = Server::new("door", "1.0").tool("enter", enter);
            server.sealing(sealing)
        })
    };
    let ada = Script::new().accept("name", json!({ "name": "Ada" }));
    let young = json!({ "action": "accept", "content": { "age": 7 } });
    let later = ada.clone().answer("age", young);
    let later = enter(later.accept("age", json!({ "age": 20 })));
    let played = later.call_tool("enter", ()).await;
    assert_eq!(played.text(), "Ada, 20");
    assert!(played.message("age").contains("at least 18"));

    let never = enter(ada.decline("age"));
    let played = never.call_tool("enter", ()).await;
    assert_eq!(played.failure(), "The user declined to answer `age`.");
}

/// What cannot be there twice is cleared away before each play.
#[tokio::test]
async fn things_that_may_be_there_once() {
    async fn create(State(tables): State<Counter>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        match tables.up() {
            1 => Ok(format!("{name} was created")),
            _ => Err(Stop::fail("there is such a table")),
        }
    }
    let tables = Counter::default();
    let (counted, cleared) = (tables.clone(), tables.clone());
    let played = Script::new()
        .accept("name", json!({ "name": "orders" }))
        .rehearse(move |sealing| {
            let server = server().tool("create", create).sealing(sealing);
            server.with_state(tables.clone())
        })
        .before_each(move || cleared.0.store(0, std::sync::atomic::Ordering::SeqCst))
        .effects(move || counted.get())
        .call_tool("create", ())
        .await;
    assert_eq!(played.text(), "orders was created");
}
