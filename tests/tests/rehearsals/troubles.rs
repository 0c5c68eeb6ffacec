//! What a rehearsal really does to a call.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, atomic::Ordering},
};

use antiphon::{
    Ask, Call, Server, State, Stop,
    store::MemoryStore,
    testing::{Script, Trouble},
};
use serde::Serialize;
use serde_json::json;

use super::{Confirm, Counter, Name, says, told};

/// Members in an order that is not theirs.
#[derive(Serialize)]
struct Order {
    b: &'static str,
    a: u32,
}

/// Which instance ran with which arguments, in order; and how many there were.
#[derive(Clone, Default)]
struct Book {
    runs: Arc<Mutex<Vec<(u32, String)>>>,
    instances: Counter,
}

impl Book {
    fn take(&self) -> Vec<(u32, String)> {
        std::mem::take(&mut self.runs.lock().expect("nobody panics"))
    }
}

async fn ask_twice(
    State((instance, book)): State<(u32, Book)>,
    call: Call,
    ask: Ask,
) -> Result<String, Stop> {
    let arguments = call.arguments().map(|it| it.get().to_owned());
    let run = (instance, arguments.unwrap_or_default());
    book.runs.lock().expect("nobody panics").push(run);
    let (one, two) = (ask.form::<Name>("one", "1?"), ask.form::<Name>("two", "2?"));
    let (one, two) = (one?.name, two?.name);
    let Confirm { .. } = ask.form("confirm", format!("{one} {two}?"))?;
    Ok(one)
}

const ALL: [Trouble; 6] = [
    Trouble::Elsewhere,
    Trouble::RunAgain,
    Trouble::ResponseLost,
    Trouble::Respelt,
    Trouble::OneByOne,
    Trouble::AtOnce,
];

/// The runs of the handler in a smooth play and then in one with this trouble alone.
async fn runs(trouble: Trouble) -> (Vec<(u32, String)>, Vec<(u32, String)>) {
    let book = Book::default();
    let shared = book.clone();
    let rehearsal = Script::new()
        .accept("one", json!({ "name": "a" }))
        .accept("two", json!({ "name": "b" }))
        .accept("confirm", json!({ "confirm": true }))
        .rehearse(move |sealing| {
            let server = Server::new("probe", "1.0").tool("ask", ask_twice);
            let state = (shared.instances.up(), shared.clone());
            server.sealing(sealing).with_state(state)
        });
    let others = ALL.into_iter().filter(|it| *it != trouble);
    let rehearsal = others.fold(rehearsal, |rehearsal, it| rehearsal.without(it));
    let played = rehearsal.call_tool("ask", Order { b: "x", a: 1 }).await;
    assert_eq!(played.text(), "a");
    let mut smooth = book.take();
    let rough = smooth.split_off(3);
    (smooth, rough)
}

#[tokio::test]
async fn a_smooth_play_is_on_one_instance_and_each_leg_of_the_others_on_its_own() {
    for (trouble, times) in [
        (Trouble::Elsewhere, 3),
        // The two that ask.
        (Trouble::RunAgain, 5),
        // What is recorded is told again without a run.
        (Trouble::ResponseLost, 3),
        (Trouble::Respelt, 3),
        (Trouble::OneByOne, 4),
        (Trouble::AtOnce, 3),
    ] {
        let (smooth, rough) = runs(trouble).await;
        let on = |runs: &[(u32, String)]| runs.iter().map(|run| run.0).collect::<BTreeSet<_>>();
        assert_eq!(on(&smooth).len(), 1, "{trouble:?}");
        assert_eq!(rough.len(), times, "{trouble:?}");
        assert_eq!(on(&rough).len(), times, "{trouble:?}");
        assert!(on(&smooth).is_disjoint(&on(&rough)), "{trouble:?}");
        let spellings: Vec<_> = rough.iter().map(|(_, arguments)| &**arguments).collect();
        let plain = r#"{"b":"x","a":1}"#;
        let other = r#"{ "\u0061" : 1 , "\u0062" : "\u0078" }"#;
        match trouble {
            Trouble::Respelt => assert_eq!(spellings, [plain, other, other]),
            _ => assert_eq!(spellings, vec![plain; times]),
        }
    }
}

#[tokio::test]
async fn a_server_without_the_sealing_it_was_handed_is_named() {
    let told = told(async {
        let server = |_| -> Server { Server::new("alone", "1.0").tool("hi", async || "hi") };
        Script::new().rehearse(server).call_tool("hi", ()).await
    });
    says(&told.await, &["`.sealing(sealing)`"]);
}

/// What is wrong in a smooth play is told as in any.
#[tokio::test]
async fn a_script_that_does_not_fit_is_told_without_any_trouble() {
    let told = told(async {
        let server = |sealing| -> Server {
            let server = Server::new("greeter", "1.0").tool("hi", async || "hi");
            server.sealing(sealing)
        };
        let people = Script::new().decline("name");
        people.rehearse(server).call_tool("hi", ()).await
    });
    let told = told.await;
    says(&told, &["nobody asked for", "rehearsals/troubles.rs:"]);
    assert!(!told.contains("found by a rehearsal"), "{told}");
}

/// Charges when the user has agreed, and says how often.
async fn charge(State(charges): State<Counter>, ask: Ask) -> Result<String, Stop> {
    let Confirm { .. } = ask.form("confirm", "Charge?")?;
    Ok(format!("Charge {}", charges.up()))
}

/// What is found if the guard is turned off.
async fn unguarded(without: &[Trouble]) -> String {
    let charges = Counter::default();
    let reset = charges.clone();
    let rehearsal = Script::new()
        .accept("confirm", json!({ "confirm": true }))
        .rehearse(move |sealing| {
            let server = Server::new("careless", "1.0").tool("charge", charge);
            let server = server.sealing(sealing.replayable());
            server.with_state(charges.clone())
        })
        .before_each(move || reset.0.store(0, Ordering::SeqCst));
    let rehearsal = without.iter().fold(rehearsal, |it, out| it.without(*out));
    told(async move { rehearsal.call_tool("charge", ()).await }).await
}

#[tokio::test]
async fn without_a_guard_a_request_that_is_sent_again_is_handled_again() {
    for (trouble, without) in [
        ("(ResponseLost)", &[][..]),
        ("(AtOnce)", &[Trouble::ResponseLost]),
    ] {
        let told = unguarded(without).await;
        says(
            &told,
            &[
                "one request got two responses: ",
                "the call ends with the result \"Charge 1\"",
                "the call ends with the result \"Charge 2\"",
                trouble,
                "in leg 2",
            ],
        );
    }
}

/// Stores that nobody shares do not know what was done elsewhere.
#[tokio::test]
async fn without_shared_stores_work_is_done_again() {
    async fn charge(State(charges): State<Counter>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        let _: u32 = ask.once("charge", async || Ok(charges.up())).await?;
        let Confirm { .. } = ask.form("confirm", "A receipt?")?;
        Ok(name)
    }
    for trouble in [Trouble::RunAgain, Trouble::ResponseLost, Trouble::AtOnce] {
        let rehearsal = Script::new()
            .accept("name", json!({ "name": "Ada" }))
            .accept("confirm", json!({ "confirm": true }))
            .rehearse(|sealing| {
                let sealing = sealing.journal(MemoryStore::new());
                let sealing = sealing.single_use(MemoryStore::new());
                let server = Server::new("careless", "1.0").tool("charge", charge);
                server.sealing(sealing).with_state(Counter::default())
            });
        let others = ALL.into_iter().filter(|it| *it != trouble);
        let rehearsal = others.fold(rehearsal, |rehearsal, it| rehearsal.without(it));
        let told = told(async move { rehearsal.call_tool("charge", ()).await }).await;
        let found = format!("found by a rehearsal ({trouble:?}) in leg 2");
        let twice = "the work of `once` under `charge` was done twice in one call";
        says(&told, &[twice, &found]);
    }
}
