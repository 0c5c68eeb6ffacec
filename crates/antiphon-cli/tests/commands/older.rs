//! Calls that a server of an older revision cannot wait for.

use antiphon::{Answer, Ask, Form, Server, Stop};
use serde_json::{Value, json};

use crate::{
    demo::over_stdio,
    room::{Room, only},
    served::Served,
};

#[derive(Form)]
struct Name {
    name: String,
}

#[derive(Form)]
struct Age {
    age: u8,
}

async fn wizard(ask: Ask) -> Result<String, Stop> {
    let Answer::Accept(Name { name }) = ask.form("name", "What is your name?")? else {
        // It takes its time, so that there is something to withdraw.
        return std::future::pending().await;
    };
    let Answer::Accept(Age { age }) = ask.form("age", format!("How old are you, {name}?"))? else {
        return std::future::pending().await;
    };
    Ok(format!("{name}, {age}"))
}

fn served() -> Served {
    let server: Server = Server::new("older", "1").tool("wizard", wizard);
    Served::server(server)
}

/// What the server was told of the call, in order: answers, that it is withdrawn, and that the
/// session is over, which withdraws whatever is left of it.
fn told(served: &Served) -> Vec<String> {
    let heard = served.heard();
    let told = heard.iter().filter_map(|heard| {
        let message = heard.message();
        let action = message["result"]["action"].as_str().map(str::to_owned);
        let withdrawn = message["method"] == "notifications/cancelled" || heard.verb == "DELETE";
        action.or(withdrawn.then(|| "withdrawn".to_owned()))
    });
    let mut told: Vec<_> = told.collect();
    told.dedup_by(|one, other| one == "withdrawn" && one == other);
    told
}

#[test]
fn the_call_is_cancelled_and_made_again_with_the_answers() {
    for era in ["--legacy", "--protocol=2025-06-18"] {
        let (room, served) = (Room::new(), served());
        let ran = room
            .run(&["call", &served.url, "wizard", era, "--json"])
            .ends(20);
        let waiting = ran.json();
        assert_eq!(waiting["kind"], "restart");
        assert_eq!(waiting["server"], served.url);
        assert_eq!(waiting["call"]["name"], "wizard");
        assert_eq!(
            waiting["questions"].as_object().map(|all| all.len()),
            Some(1)
        );
        assert!(ran.err.contains("may be done twice"), "{}", ran.err);
        assert_eq!(told(&served), ["cancel", "withdrawn"], "{era}");
        let first = only(&room, ".paused.json");
        assert_eq!(waiting["file"], *first);
        #[cfg(unix)]
        assert_eq!(crate::room::mode(&room.path(&first)), 0o600);

        let shown = room.run(&["show", &first]).done();
        assert!(shown.contains("may be done twice"), "{shown}");
        let shown = room.run(&["show", &first, "--json"]).json();
        assert_eq!(shown["kind"], "restart");

        // The next question: its answer and the one before are given then.
        let before = told(&served).len();
        let ran = room.run(&["resume", &first, "name=Ada"]).ends(20);
        assert!(ran.err.contains("may be done twice"), "{}", ran.err);
        assert_eq!(told(&served)[before..], ["accept", "cancel", "withdrawn"]);
        let second = only(&room, ".paused.json");
        assert_ne!(first, second);
        room.run(&["resume", &first, "name=Ada"])
            .fails(2, "resumed already");

        let before = told(&served).len();
        let ran = room.run(&["resume", &second, "age=36"]).ends(0);
        assert_eq!(ran.out, "Ada, 36\n");
        assert_eq!(told(&served)[before..], ["accept", "accept", "withdrawn"]);
        assert!(ran.err.contains("may be done twice"), "{}", ran.err);
        assert!(ran.err.contains("as before: accept"), "{}", ran.err);
        assert!(ran.err.contains("as given: accept"), "{}", ran.err);
        assert_eq!(served.count("tools/call"), 3);
    }
}

/// It asks for directories as soon as it may, and once more while its tools are listed.
#[cfg(unix)]
const CURIOUS: &str = include_str!("../support/curious.sh");

/// No call waits for that: the server is told at once.
#[cfg(unix)]
#[test]
fn directories_are_told_outside_any_call() {
    for (options, roots, keys) in [
        // Tools are listed for the sake of arguments only.
        (&[][..], json!([]), &["early"][..]),
        (&["at=home"], json!([]), &["early", "late"]),
        (
            &["at=home", "--root", "place"],
            json!(["place"]),
            &["early", "late"],
        ),
    ] {
        let room = Room::new();
        std::fs::create_dir(room.path("place")).expect("a directory");
        let command = ["--legacy", "--", "sh", "-c", CURIOUS];
        let ran = room.run(&[&["call", "look"], options, &command[..]].concat());
        let ran = ran.ends(0);
        assert_eq!(ran.out, "looked\n");
        assert_eq!(ran.err.lines().count(), keys.len(), "{}", ran.err);
        for key in keys {
            let line = format!("answered [{key}] outside any call: ");
            assert!(ran.err.contains(&line), "{}", ran.err);
        }
        let heard = room.read("heard");
        assert_eq!(heard.lines().count(), keys.len(), "{heard}");
        for answer in heard.lines() {
            let answer: Value = serde_json::from_str(answer).expect("JSON");
            let names = answer["result"]["roots"].as_array().expect("roots");
            let names: Vec<_> = names.iter().map(|root| &root["name"]).collect();
            assert_eq!(json!(names), roots);
        }
    }
}

#[test]
fn a_child_process_is_started_again_and_asked_again() {
    let room = Room::new();
    for (answer, expected) in [
        (&["confirm=true"][..], "Deployed to prod\n"),
        (&["--decline", "1"], "Deployment to prod cancelled\n"),
    ] {
        room.run(&over_stdio(&["call", "deploy", "env=prod", "--legacy"]))
            .ends(20);
        let file = only(&room, ".paused.json");
        let done = room.run(&[&["resume", &file], answer].concat()).done();
        assert_eq!(done, expected);
        std::fs::remove_file(room.path(&format!("{file}.done"))).expect("done");
    }
}

#[test]
fn questions_of_one_round_are_answered_one_after_the_other() {
    let room = Room::new();
    let call = over_stdio(&["call", "new_database", "--legacy"]);
    let mut ran = room.run(&call).ends(20);
    for _ in 0..2 {
        let file = only(&room, ".paused.json");
        let answer = match ran.err.contains("region=") {
            true => "region=eu-west-1",
            false => "name=books",
        };
        ran = room.run(&["resume", &file, answer]);
    }
    assert_eq!(ran.done(), "Provisioned books in eu-west-1\n");
}

#[test]
fn wrong_answers_leave_the_call_as_it_was() {
    let (room, served) = (Room::new(), served());
    room.run(&["call", &served.url, "wizard", "--legacy"])
        .ends(20);
    let file = only(&room, ".paused.json");
    let before = room.read(&file);
    let calls = served.count("tools/call");
    room.run(&["resume", &file, "nam=Ada"]).fails(2, "name");
    room.run(&["resume", &file, "--decline", "other"])
        .fails(2, "other");
    let gone = [
        "resume",
        &file,
        "name=Ada",
        "--target",
        "http://127.0.0.1:1/mcp",
    ];
    room.run(&gone).fails(3, "127.0.0.1:1");
    assert_eq!(room.read(&file), before);
    assert_eq!(served.count("tools/call"), calls);
}
