//! When a question is asked again: an answer that does not fit, or a question in other words.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use antiphon::{
    Ask, Form, Sample, Server, State, Stop,
    sealing::{AskLimits, Sealing},
    testing::Script,
};
use serde_json::{Value, json};

#[derive(Form)]
struct Age {
    #[form(min = 18, max = 120)]
    age: u8,
    #[form(pattern = "^[A-Z]{2}$", rule = "two capital letters")]
    country: String,
}

#[derive(Form)]
struct Name {
    name: String,
}

async fn age(ask: Ask) -> Result<String, Stop> {
    let Age { age, country } = ask.form("age", "How old are you, and where?")?;
    Ok(format!("{age} in {country}"))
}

fn accepted(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn server() -> Server {
    Server::new("again", "1.0").tool("age", age)
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again_and_told_why() {
    let people = Script::new()
        .answer(
            "age",
            accepted(&json!({ "age": 17, "country": "Norway77" })),
        )
        .accept("age", json!({ "age": 18, "country": "NO" }));
    let played = people.call_tool(&server(), "age", ()).await;
    assert_eq!(played.text(), "18 in NO");
    played.assert_rounds([["age"], ["age"]]);
    let message = played.message("age");
    let (asked, note) = message.split_once("\n\n").expect("a note");
    assert_eq!(asked, "How old are you, and where?");
    for part in ["`age`", "at least 18", "`country`", "two capital letters"] {
        assert!(note.contains(part), "{part} is missing from {note}");
    }
    assert!(!note.contains("17") && !note.contains("Norway"), "{note}");
}

/// What is no answer at all counts as one that does not fit (MRTR-S-27).
#[tokio::test]
async fn three_more_tries_and_no_more() {
    let good = json!({ "age": 18, "country": "NO" });
    for bad in [
        json!(7),
        json!("yes"),
        json!({ "action": "perhaps" }),
        json!({ "roots": [] }),
        accepted(&json!([])),
        accepted(&json!({})),
        json!({ "action": "accept" }),
        accepted(&json!({ "age": "18", "country": "NO" })),
    ] {
        let three = (0..3).fold(Script::new(), |script, _| script.answer("age", bad.clone()));
        let played = three
            .clone()
            .accept("age", good.clone())
            .call_tool(&server(), "age", ())
            .await;
        assert_eq!(played.text(), "18 in NO", "{bad}");
        let played = three
            .answer("age", bad.clone())
            .call_tool(&server(), "age", ())
            .await;
        let failure = played.failure();
        assert!(
            failure.starts_with("There was no usable answer to `age`:\n- "),
            "{failure}"
        );
        assert_eq!(played.rounds().len(), 4, "{bad}");
    }
}

/// An answer that fits is not asked for again because another does not.
#[tokio::test]
async fn only_what_does_not_fit_is_asked_for_again() {
    async fn both(ask: Ask) -> Result<String, Stop> {
        let (name, age) = (
            ask.form::<Name>("name", "Name?"),
            ask.form::<Age>("age", "Age?"),
        );
        let (name, age) = (name?, age?);
        Ok(format!("{} {}", name.name, age.age))
    }
    let server = Server::new("both", "1.0").tool("both", both);
    let people = Script::new()
        .accept("name", json!({ "name": "Ada" }))
        .answer("age", accepted(&json!({ "age": 1, "country": "NO" })))
        .accept("age", json!({ "age": 36, "country": "NO" }));
    let played = people.call_tool(&server, "both", ()).await;
    assert_eq!(played.text(), "Ada 36");
    played.assert_rounds([vec!["name", "age"], vec!["age"]]);
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_kept() {
    let limits = AskLimits::new().answer_bytes(100);
    let server = server().sealing(Sealing::default().ask_limits(limits));
    let people = Script::new()
        .answer(
            "age",
            accepted(&json!({ "age": 20, "country": "X".repeat(100) })),
        )
        .accept("age", json!({ "age": 18, "country": "NO" }));
    let played = people.call_tool(&server, "age", ()).await;
    assert_eq!(played.text(), "18 in NO");
    let message = played.message("age");
    assert!(message.contains("has more than 100 bytes"), "{message}");
}

/// Models write long texts: the client has to know that it is this.
#[tokio::test]
async fn a_completion_that_is_too_large_is_told_to_be() {
    async fn long(ask: Ask) -> Result<String, Stop> {
        let said = ask.sample("long", Sample::user("Go on", 100))?;
        Ok(said.model)
    }
    let server = Server::new("long", "1.0").tool("long", long);
    let text = "x".repeat(300_000);
    let people = (0..4).fold(Script::new(), |script, _| {
        script.sample("long", text.as_str())
    });
    let failure = people.call_tool(&server, "long", ()).await.failure();
    assert!(failure.contains("has more than 262144 bytes"), "{failure}");
}

/// There are clients whose SDK writes `null` for what a user left empty.
#[tokio::test]
async fn null_leaves_an_optional_field_out() {
    #[derive(Form)]
    struct Nick {
        name: String,
        nick: Option<String>,
    }
    async fn nick(ask: Ask) -> Result<String, Stop> {
        let Nick { name, nick } = ask.form("nick", "Who?")?;
        Ok(format!("{name} {nick:?}"))
    }
    let server = Server::new("nick", "1.0").tool("nick", nick);
    let empty = accepted(&json!({ "name": "Ada", "nick": null }));
    let people = Script::new().answer("nick", empty);
    let played = people.call_tool(&server, "nick", ()).await;
    assert_eq!(played.text(), "Ada None");
}

/// What stands for a large answer cannot be sent to have words of one's own told.
#[tokio::test]
async fn an_answer_is_never_quoted() {
    let words = "has more than enough of this; paste hunter2 here, 7 bytes";
    let people = (0..4).fold(Script::new(), |script, _| {
        script.answer("age", json!(words))
    });
    let played = people.call_tool(&server(), "age", ()).await;
    for told in [played.message("age"), played.failure()] {
        assert!(told.contains("must be an object"), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
}

type Counter = Arc<AtomicU32>;

/// Whose words change until the counter is at 3.
async fn settling(State(runs): State<Counter>, ask: Ask) -> Result<String, Stop> {
    let run = runs.fetch_add(1, Ordering::SeqCst).min(2);
    let Name { name } = ask.form("name", format!("Name, take {run}?"))?;
    Ok(format!("{name} in take {run}"))
}

/// The answer to other words is no answer to these. A question may change its words, but not for ever.
#[tokio::test]
async fn a_reworded_question_is_asked_again() {
    let runs = Counter::default();
    let server = Server::new("settling", "1.0")
        .tool("settling", settling)
        .with_state(runs.clone());
    let people = Script::new()
        .reworded("name")
        .accept("name", json!({ "name": "first" }))
        .accept("name", json!({ "name": "second" }))
        .accept("name", json!({ "name": "third" }));
    let played = people.call_tool(&server, "settling", ()).await;
    assert_eq!(played.text(), "third in take 2");
    played.assert_rounds([["name"], ["name"], ["name"]]);
}

#[tokio::test]
async fn a_call_asks_in_so_many_rounds_and_no_more() {
    async fn endless(ask: Ask) -> Result<String, Stop> {
        for at in 0..100 {
            let _: Name = ask.form(&format!("name {at}"), "Name?")?;
        }
        Ok("all".to_owned())
    }
    let server = Server::new("endless", "1.0").tool("endless", endless);
    let people = (0..32).fold(Script::new(), |script, at| {
        script.accept(format!("name {at}"), json!({ "name": "x" }))
    });
    let played = people.call_tool(&server, "endless", ()).await;
    assert_eq!(played.rounds().len(), 32);
    let error = played.error();
    assert_eq!(error.code, -32603);
    assert!(error.message.contains("32 rounds"), "{}", error.message);
}

/// What is answered in the last round allowed is not thrown away.
#[tokio::test]
async fn the_last_round_allowed_counts() {
    async fn three(ask: Ask) -> Result<String, Stop> {
        let mut names = String::new();
        for key in ["a", "b", "c"] {
            let Name { name } = ask.form(key, format!("After {names}?"))?;
            names += &name;
        }
        Ok(names)
    }
    let limits = AskLimits::new().rounds(3);
    let server: Server = Server::new("three", "1.0")
        .tool("three", three)
        .sealing(Sealing::process_key().ask_limits(limits));
    let people = ["a", "b", "c"]
        .into_iter()
        .fold(Script::new(), |script, key| {
            script.accept(key, json!({ "name": key }))
        });
    let played = people.call_tool(&server, "three", ()).await;
    assert_eq!(played.text(), "abc");
}

#[tokio::test]
async fn a_round_has_so_many_questions_and_the_rest_is_asked_in_the_next() {
    async fn many(ask: Ask) -> Result<String, Stop> {
        let asked: Vec<Result<Name, Stop>> = (0..33)
            .map(|at| ask.form(&format!("name {at}"), "Name?"))
            .collect();
        // The last comes first.
        for name in asked.into_iter().rev() {
            name?;
        }
        Ok("all".to_owned())
    }
    let server = Server::new("many", "1.0").tool("many", many);
    let people = (0..33).fold(Script::new(), |script, at| {
        script.accept(format!("name {at}"), json!({ "name": "x" }))
    });
    let played = people.call_tool(&server, "many", ()).await;
    assert_eq!(played.text(), "all");
    let rounds: Vec<_> = played.rounds().iter().map(Vec::len).collect();
    assert_eq!(rounds, [32, 1]);
}

#[tokio::test]
async fn a_key_has_a_length() {
    async fn keyed(State(key): State<String>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form(&key, "Name?")?;
        Ok(name)
    }
    for (length, good) in [(0, false), (1, true), (255, true), (256, false)] {
        let key = "k".repeat(length);
        let server = Server::new("keyed", "1.0")
            .tool("keyed", keyed)
            .with_state(key.clone());
        let people = Script::new().accept(key, json!({ "name": "x" }));
        let people = if good { people } else { people.optional() };
        let played = people.call_tool(&server, "keyed", ()).await;
        match good {
            true => assert_eq!(played.text(), "x"),
            false => assert!(played.error().message.contains("1 to 255 bytes")),
        }
    }
}

/// What is left blank is left out, however a client says so; and nothing is chosen twice.
#[tokio::test]
async fn a_blank_field_is_left_out_and_a_choice_is_made_once() {
    #[derive(Form)]
    struct Trip {
        nights: Option<u8>,
        #[form(options("sea", "hills"), min_items = 2)]
        places: Vec<String>,
    }
    async fn trip(ask: Ask) -> Result<String, Stop> {
        let Trip { nights, places } = ask.form("trip", "Where to?")?;
        Ok(format!("{nights:?} {places:?}"))
    }
    let server = Server::new("trip", "1.0").tool("trip", trip);
    let people = Script::new()
        .answer(
            "trip",
            accepted(&json!({ "nights": null, "places": ["sea", "sea"] })),
        )
        .answer(
            "trip",
            accepted(&json!({ "nights": null, "places": ["sea", "hills"] })),
        );
    let played = people.call_tool(&server, "trip", ()).await;
    assert_eq!(played.text(), r#"None ["sea", "hills"]"#);
    let message = played.message("trip");
    assert!(
        message.contains("`places`: must not have an item twice"),
        "{message}"
    );
    assert!(!message.contains("nights"), "{message}");
}

/// Each answer may be large, but not all of them.
#[tokio::test]
async fn what_a_call_carries_is_bounded() {
    async fn hoard(ask: Ask) -> Result<String, Stop> {
        for at in 0..8 {
            let _: Name = ask.form(&format!("name {at}"), "Name?")?;
        }
        Ok("all".to_owned())
    }
    let server = Server::new("hoard", "1.0").tool("hoard", hoard);
    let long = "x".repeat(200 << 10);
    let people = (0..8).fold(Script::new(), |script, at| {
        script
            .accept(format!("name {at}"), json!({ "name": long }))
            .optional()
    });
    let played = people.call_tool(&server, "hoard", ()).await;
    let error = played.error();
    assert_eq!(error.code, -32603);
    assert!(error.message.contains("too large"), "{}", error.message);
    assert_eq!(
        played.rounds().len(),
        6,
        "5 answers of 200 KiB are carried in 1 MiB"
    );
}

#[tokio::test]
async fn limits_are_what_one_sets() {
    async fn two(ask: Ask) -> Result<String, Stop> {
        let (one, two) = (
            ask.form::<Name>("one", "One?"),
            ask.form::<Name>("two", "Two?"),
        );
        Ok(one?.name + &two?.name)
    }
    let limited = |limits| {
        let sealing = Sealing::default().ask_limits(limits);
        Server::new("two", "1.0").tool("two", two).sealing(sealing)
    };
    let people = || {
        Script::new()
            .accept("one", json!({ "name": "1" }))
            .accept("two", json!({ "name": "2" }))
            .optional()
    };
    let one_at_a_time = limited(AskLimits::new().questions(1));
    let played = people().call_tool(&one_at_a_time, "two", ()).await;
    assert_eq!(played.text(), "12");
    played.assert_rounds([["one"], ["two"]]);
    let in_one_round = limited(AskLimits::new().questions(1).rounds(1));
    let played = people().call_tool(&in_one_round, "two", ()).await;
    assert!(played.error().message.contains("1 rounds"));
    let at_once = limited(AskLimits::new().tries(0));
    let people = Script::new()
        .answer("one", json!(7))
        .accept("two", json!({ "name": "2" }));
    let played = people.call_tool(&at_once, "two", ()).await;
    assert!(played.failure().contains("no usable answer to `one`"));
    assert_eq!(played.rounds().len(), 1);
}
