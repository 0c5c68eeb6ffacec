//! Handlers whose questions, answers or ends depend on where or when they run.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::SystemTime,
};

use antiphon::{
    Ask, Call, Completions, Responses, Server, State, Stop,
    testing::Script,
    types::{ElicitRequestParams, FormSchema, InputRequired, StringSchema},
};
use serde_json::{Value, json};

use super::{Confirm, Counter, Name, says, told};

/// Which of the instances this is: something that a process remembers.
#[derive(Clone, Copy)]
struct Instance(u32);

fn ada() -> Script {
    Script::new().accept("name", json!({ "name": "Ada" }))
}

/// What is found in a tool, of which each instance knows its number.
async fn found(
    tool: impl Fn(Server<Instance>) -> Server<Instance> + Send + Sync + 'static,
    people: Script,
    arguments: Value,
) -> String {
    let instances = Counter::default();
    told(async move {
        let rehearsal = people.rehearse(move |sealing| {
            let server = tool(Server::new("bad", "1.0"));
            let server = server.sealing(sealing);
            server.with_state(Instance(instances.up()))
        });
        rehearsal.call_tool("bad", arguments).await
    })
    .await
}

#[tokio::test]
async fn a_question_from_the_time() {
    async fn bad(ask: Ask) -> Result<String, Stop> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let Name { name } = ask.form("name", format!("Name, at {}?", now.as_nanos()))?;
        Ok(name)
    }
    let people = ada().accept("name", json!({ "name": "Ada" }));
    let told = found(|it| it.tool("bad", bad), people, json!({})).await;
    says(
        &told,
        &["`name` is another one when it comes again", "the time"],
    );
}

#[tokio::test]
async fn a_question_from_a_counter_that_all_share() {
    static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    async fn bad(ask: Ask) -> Result<String, Stop> {
        // The two runs of a smooth play see the same.
        let number = RUNS.fetch_add(1, std::sync::atomic::Ordering::SeqCst) / 2;
        let Name { name } = ask.form("name", format!("Customer {number}, your name?"))?;
        Ok(name)
    }
    let told = found(|it| it.tool("bad", bad), ada(), json!({})).await;
    says(
        &told,
        &[
            "the question `name` is another one on another instance, so no answer to it counts",
            "before: a form, \"Customer 0, your name?\"",
            "now: a form, \"Customer 1, your name?\"",
            "found by a rehearsal (Elsewhere) in leg 1",
            "\"Make questions of arguments and earlier answers\"",
        ],
    );
}

#[tokio::test]
async fn a_question_from_the_memory_of_an_instance() {
    async fn bad(State(Instance(it)): State<Instance>, ask: Ask) -> Result<String, Stop> {
        let Confirm { .. } = ask.form("confirm", "Go on?")?;
        // In a call in which something was done, words may be others than in another call.
        let () = ask.once("work", async || Ok(())).await?;
        let Name { name } = ask.form("name", format!("Name, at desk {it}?"))?;
        Ok(name)
    }
    let people = ada().accept("confirm", json!({ "confirm": true }));
    let told = found(|it| it.tool("bad", bad), people, json!({})).await;
    says(
        &told,
        &[
            "the question `name` is another one on another instance, so no answer to it counts",
            "found by a rehearsal (Elsewhere) in leg 3, on another instance than the one before",
            "\"Make questions of arguments and earlier answers\" among the rules that keep handlers \
             replayable, in the guide on asking",
            "rehearsals/questions.rs:",
            "round 1: `confirm`, a form: accept",
            "round 2: `name`, a form: accept",
        ],
    );
}

#[tokio::test]
async fn a_question_from_the_spelling_of_the_arguments() {
    async fn bad(call: Call, ask: Ask) -> Result<String, Stop> {
        let arguments = call.arguments().map_or("{}", |it| it.get());
        let Confirm { confirm } = ask.form("confirm", format!("Do {arguments}?"))?;
        Ok(confirm.to_string())
    }
    let people = Script::new().accept("confirm", json!({ "confirm": true }));
    let told = found(
        |it| it.tool("bad", bad),
        people,
        json!({ "amount": 5, "note": "x" }),
    )
    .await;
    says(
        &told,
        &[
            "the question `confirm` is another one when the arguments are spelt otherwise",
            "found by a rehearsal (Respelt) in leg 2, with the arguments spelt in another way",
            "and not of their text",
        ],
    );
}

#[tokio::test]
async fn another_branch_on_another_instance() {
    async fn bad(State(Instance(it)): State<Instance>, ask: Ask) -> Result<String, Stop> {
        if it > 1 {
            let _: Name = ask.form("coupon", "A coupon?")?;
        }
        let Name { name } = ask.form("name", "Name?")?;
        Ok(name)
    }
    let told = found(|it| it.tool("bad", bad), ada(), json!({})).await;
    says(
        &told,
        &[
            "the same answers led somewhere else: the handler asks for `coupon` (a form), where it \
             had asked for `name` (a form)",
            "found by a rehearsal (Elsewhere) in leg 1",
            "\"The same answers, the same branch\"",
        ],
    );
}

#[tokio::test]
async fn another_result_on_another_instance() {
    async fn bad(State(Instance(it)): State<Instance>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        Ok(format!("{name} was served by {it}"))
    }
    let told = found(|it| it.tool("bad", bad), ada(), json!({})).await;
    says(
        &told,
        &[
            "the call ended with the result \"Ada was served by ",
            ", where it had ended with the result \"Ada was served by 1\"",
            "found by a rehearsal (Elsewhere) in leg 2",
            "`.result_may_differ()`",
        ],
    );
}

/// How many rounds there are depends on the client.
#[tokio::test]
async fn a_question_from_the_number_of_the_round() {
    async fn bad(ask: Ask) -> Result<String, Stop> {
        let (one, two) = (
            ask.form::<Name>("one", "One?"),
            ask.form::<Name>("two", "Two?"),
        );
        let (one, two) = (one?.name, two?.name);
        // There are three in a smooth play.
        let text = if ask.round() < 3 {
            "Name?"
        } else {
            "Your name, at last?"
        };
        let Name { name } = ask.form("name", text)?;
        Ok(format!("{one} {two} {name}"))
    }
    let people = ada().accept("one", json!({ "name": "1" }));
    let people = people.accept("two", json!({ "name": "2" }));
    let told = found(|it| it.tool("bad", bad), people, json!({})).await;
    says(
        &told,
        &[
            "the question `name` is another one",
            "found by a rehearsal (OneByOne) in leg 3",
        ],
    );
}

#[tokio::test]
async fn a_swallowed_stop() {
    async fn bad(ask: Ask) -> Result<String, Stop> {
        let name = ask.form::<Name>("name", "Name?");
        Ok(name.map_or("nobody".to_owned(), |it| it.name))
    }
    let told = found(|it| it.tool("bad", bad), ada().optional(), json!({})).await;
    says(&told, &["the question `name` was swallowed"]);
}

/// Answers by hand, which nobody carries along but the process.
type Answers = Arc<Mutex<BTreeMap<&'static str, String>>>;

fn name(key: &str) -> InputRequired {
    let form = FormSchema::new().required("name", StringSchema::new());
    InputRequired::ask(key, ElicitRequestParams::form(format!("Your {key}?"), form))
}

fn remembered(answers: &Answers, responses: &Responses) -> [Option<String>; 2] {
    let mut answers = answers.lock().expect("nobody panics");
    for key in ["first", "last"] {
        if let Some(said) = responses.answers().accepted::<Value>(key) {
            answers.insert(key, said["name"].to_string());
        }
    }
    ["first", "last"].map(|key| answers.get(key).cloned())
}

async fn of_an_instance(
    tool: impl Fn(Server<Answers>) -> Server<Answers> + Send + Sync + 'static,
) -> String {
    told(async move {
        Script::new()
            .accept("first", json!({ "name": "Ada" }))
            .accept("last", json!({ "name": "Lovelace" }))
            .rehearse(move |sealing| {
                let server = tool(Server::new("bad", "1.0"));
                server.sealing(sealing).with_state(Answers::default())
            })
            .call_tool("bad", ())
            .await
    })
    .await
}

#[tokio::test]
async fn answers_that_a_process_remembers_are_asked_for_again() {
    async fn bad(State(answers): State<Answers>, responses: Responses) -> Result<String, Stop> {
        match remembered(&answers, &responses) {
            [None, _] => Err(Stop::ask(name("first"))),
            [_, None] => Err(Stop::ask(name("last"))),
            [Some(first), Some(last)] => {
                answers.lock().expect("nobody panics").clear();
                Ok(format!("{first} {last}"))
            }
        }
    }
    let told = of_an_instance(|it| it.tool("bad", bad)).await;
    says(
        &told,
        &[
            "the answer to `first` was lost: it was asked for in leg 1 and answered, and is asked \
             for again",
            "found by a rehearsal (Elsewhere) in leg 3",
            "\"Keep nothing in the process between rounds\"",
        ],
    );
}

#[tokio::test]
async fn answers_that_a_process_remembers_are_missed() {
    async fn bad(State(answers): State<Answers>, responses: Responses) -> Result<String, Stop> {
        let [first, last] = remembered(&answers, &responses);
        match (first, last) {
            (None, None) => Err(Stop::ask(name("first"))),
            (Some(_), None) => Err(Stop::ask(name("last"))),
            (first, Some(last)) => {
                let first = first.ok_or_else(|| Stop::fail("there is no such session"))?;
                Ok(format!("{first} {last}"))
            }
        }
    }
    let told = of_an_instance(|it| it.tool("bad", bad)).await;
    says(
        &told,
        &[
            "the call failed with the tool error \"there is no such session\", where it had ended \
             with the result",
            "found by a rehearsal (Elsewhere) in leg 3",
            "\"Keep nothing in the process between rounds\"",
        ],
    );
}

#[tokio::test]
async fn answers_of_one_round_that_have_to_come_together() {
    async fn bad(responses: Responses) -> Result<String, Stop> {
        let [first, last] = remembered(&Answers::default(), &responses);
        match (first, last) {
            (Some(first), Some(last)) => Ok(format!("{first} {last}")),
            _ => {
                let form = FormSchema::new().required("name", StringSchema::new());
                let last = ElicitRequestParams::form("Your last?", form);
                Err(Stop::ask(name("first").and("last", last)))
            }
        }
    }
    let told = of_an_instance(|it| it.tool("bad", bad)).await;
    says(
        &told,
        &[
            "the answer to `first` was lost",
            "found by a rehearsal (OneByOne) in leg 2, with one answer at a time",
        ],
    );
}

#[tokio::test]
async fn a_link_with_the_completions_of_one_instance() {
    async fn bad(State(done): State<Completions<u32>>, ask: Ask) -> Result<String, Stop> {
        let link = |handle: &antiphon::link::Handle| format!("https://bank.example/{handle}");
        let account: u32 = ask.url("signin", "Sign in", link, |handle| done.get(handle))?;
        Ok(account.to_string())
    }
    // The page finds whichever instance was made last.
    let page = Arc::new(Mutex::new(Completions::new()));
    let last = page.clone();
    let told = told(async move {
        Script::new()
            .visit("signin", move |url| {
                let page = page.lock().expect("nobody panics").clone();
                async move {
                    let handle = url.rsplit('/').next().expect("a handle");
                    page.complete(handle, None, 7).expect("a link");
                }
            })
            .rehearse(move |sealing| {
                let done = Completions::new();
                *last.lock().expect("nobody panics") = done.clone();
                let server = Server::new("bad", "1.0").tool("bad", bad);
                server.sealing(sealing).with_state(done)
            })
            .call_tool("bad", ())
            .await
    });
    says(
        &told.await,
        &[
            "the answer to `signin` was lost",
            "found by a rehearsal (Elsewhere) in leg 2",
            "a store that all instances share",
        ],
    );
}
