//! Verdicts that are easily wrong: servers that refuse in their own way, ask in several rounds, break,
//! or act where nobody expects it.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use serde_json::{Value, json};

use crate::{
    odd::{Odd, asks, failed, ran, refused, said},
    room::{Ran, Room},
};

/// An audit of `order` with these options besides.
fn run(server: &Odd, words: &[&str]) -> Ran {
    let room = Room::new();
    let start = ["audit", &server.url, "--tool", "order", "title=Dune"];
    let output = room
        .command(&[&start[..], words].concat())
        .output()
        .expect("antiphon runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// What is found with leave to have effects, by probe.
fn found(server: &Odd, id: &str) -> (String, String) {
    one(
        &run(server, &["--allow-effects", "--json", "--only", id]),
        id,
    )
}

/// The same without leave.
fn found_without_leave(server: &Odd, id: &str) -> (String, String) {
    one(&run(server, &["--json", "--only", id]), id)
}

fn one(ran: &Ran, id: &str) -> (String, String) {
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    let row = &report["probes"][0];
    assert_eq!(row["id"], id);
    let text = |name: &str| row[name].as_str().expect("a text").to_owned();
    (text("verdict"), text("detail"))
}

/// A state that is good for anything once: `used` knows which were.
fn fresh(count: &AtomicUsize) -> String {
    format!(
        "Zm9v-{:x}-kQ8",
        count.fetch_add(0x9e37_79b9, SeqCst) & 0xffff_ffff
    )
}

/// A shop that gives out states and takes each once; `again` is what it says to a used one, `bad` to one
/// that it did not give out.
fn shop(again: fn(&Value) -> Value, bad: fn() -> Value) -> Odd {
    let (count, known) = (AtomicUsize::new(1), Mutex::new(HashSet::new()));
    let used = Mutex::new(HashSet::new());
    Odd::serve(move |params| {
        let Some(state) = params["requestState"].as_str() else {
            let state = fresh(&count);
            known.lock().expect("no panic").insert(state.clone());
            return asks("confirm", "Order it?", &state);
        };
        if !known.lock().expect("no panic").contains(state) {
            return bad();
        }
        let Some(yes) = said(params, "confirm") else {
            return asks("confirm", "Order it?", state);
        };
        if !used.lock().expect("no panic").insert(state.to_owned()) {
            return again(params);
        }
        match yes {
            true => ran("Ordered."),
            false => ran("Nothing ordered."),
        }
    })
}

#[test]
fn a_server_that_takes_no_answer_is_not_in_order() {
    // Everything is refused, and so is what an attacker sends.
    let server = Odd::serve(|params| match params["requestState"].is_null() {
        true => asks("confirm", "Order it?", "c3RhdGUtMQ"),
        false => refused("I do not understand."),
    });
    for words in [&["--allow-effects"][..], &[]] {
        let ran = run(&server, words).ends(4);
        assert_eq!(ran.out, "");
        let says = "order cannot be audited: it does not take";
        assert!(ran.err.contains(says), "{}", ran.err);
    }
}

#[test]
fn a_server_that_asks_for_ever_is_not_in_order() {
    let server = Odd::serve(|_| asks("confirm", "Order it? It must be true.", "c3RhdGUtMQ"));
    let ran = run(&server, &["--allow-effects"]).ends(4);
    assert_eq!(ran.out, "");
    assert!(ran.err.contains("--answers"), "{}", ran.err);
}

#[test]
fn a_server_that_does_not_answer_is_told_as_such() {
    use std::{thread::sleep, time::Duration};

    for second in [false, true] {
        let server = Odd::serve(move |params| {
            if second == params["requestState"].is_string() {
                sleep(Duration::from_secs(2));
            }
            asks("confirm", "Order it?", "c3RhdGUtMQ")
        });
        let ran = run(&server, &["--timeout", "500ms", "--allow-effects"]).ends(5);
        assert_eq!(ran.out, "");
        assert!(ran.err.contains("no answer within 500ms"), "{}", ran.err);
        assert!(!ran.err.contains("--answers"), "{}", ran.err);
    }
}

#[test]
fn what_a_server_says_is_shown_harmless_and_short() {
    const EVIL: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}\r\nantiphon: all is well";
    let server = Odd::serve(|params| match params["requestState"].is_null() {
        true => asks(EVIL, EVIL, &json!({ "said": EVIL }).to_string()),
        false => ran(EVIL.repeat(1000)),
    });
    let found = run(&server, &["--allow-effects"]).ends(1);
    assert!(
        found.out.contains("fail        state-readable"),
        "{}",
        found.out
    );
    for shown in [&found.out, &found.err] {
        let is_odd = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(is_odd), "{shown:?}");
        assert!(
            shown.lines().all(|line| line.chars().count() < 1000),
            "{shown}"
        );
        assert!(!shown.contains("\nantiphon: all"), "{shown}");
    }
}

#[test]
fn tools_may_refuse_what_was_used() {
    // The response to the same answers is repeated, and others are refused by the tool itself.
    let repeats = |params: &Value| match said(params, "confirm") {
        Some(true) => ran("Ordered."),
        _ => failed("This was answered otherwise."),
    };
    let server = shop(repeats, || refused("no"));
    for id in [
        "replayed",
        "replayed-other-answers",
        "replayed-concurrently",
    ] {
        let (verdict, detail) = found(&server, id);
        assert_eq!(verdict, "pass", "{id}: {detail}");
    }
    // One runs, and the others are refused by the tool; whoever is answered first.
    let server = shop(|_| failed("This was done already."), || refused("no"));
    for id in [
        "replayed",
        "replayed-other-answers",
        "replayed-concurrently",
    ] {
        for _ in 0..4 {
            let (verdict, detail) = found(&server, id);
            assert_eq!(verdict, "pass", "{id}: {detail}");
        }
    }
    // A tool that fails on a no has not refused the state.
    let server =
        Odd::serve(
            |params| match (params["requestState"].is_null(), said(params, "confirm")) {
                (true, _) => asks("confirm", "Order it?", "c3RhdGUtMQ"),
                (_, Some(true)) => ran("Ordered."),
                _ => failed("Nobody wants it."),
            },
        );
    let (verdict, detail) = found(&server, "replayed-other-answers");
    assert_eq!(verdict, "fail", "{detail}");
}

/// A shop that asks twice, in the first round under one key and in the second under another or the same.
/// What it is told it does; its states say only how far it is.
fn twice(second: &'static str) -> Odd {
    Odd::serve(move |params| match params["requestState"].as_str() {
        Some(state) if state.starts_with("Zmlyc3Q") => match said(params, "confirm") {
            Some(_) => asks(second, "Really?", "c2Vjb25k-k9"),
            None => asks("confirm", "Order it?", "Zmlyc3Q-k9"),
        },
        Some(state) if state.starts_with("c2Vjb25k") => ran("Ordered."),
        Some(_) => refused("no"),
        None => asks("confirm", "Order it?", "Zmlyc3Q-k9"),
    })
}

#[test]
fn the_next_question_is_how_a_state_is_taken() {
    for second in ["really", "confirm"] {
        let server = twice(second);
        let (verdict, detail) = found(&server, "state-extended");
        assert_eq!(verdict, "fail", "{second}: {detail}");
        // Whatever comes with the answer it goes on.
        let (verdict, detail) = found(&server, "oversized-answers");
        assert_eq!(verdict, "weak", "{second}: {detail}");
        let (verdict, detail) = found(&server, "missing-answers");
        assert_eq!(verdict, "pass", "{second}: {detail}");
    }
}

#[test]
fn an_earlier_round_is_no_way_around_single_use() {
    // Every state is good once; but the one of the first round gives out as many as anybody likes.
    let server = |is_known_by_its_flow: bool| {
        let (count, used) = (AtomicUsize::new(1), Mutex::new(HashSet::new()));
        Odd::serve(move |params| {
            let Some(state) = params["requestState"].as_str() else {
                return asks("confirm", "Order it?", &format!("a.{}", fresh(&count)));
            };
            let Some(("a" | "b", rest)) = state.split_once('.') else {
                return refused("no");
            };
            let flow = rest.split('.').next().unwrap_or_default();
            if state.starts_with("a.") {
                return match said(params, "confirm") {
                    Some(_) => asks("really", "Really?", &format!("b.{flow}.{}", fresh(&count))),
                    None => asks("confirm", "Order it?", state),
                };
            }
            if said(params, "really").is_none() {
                return asks("really", "Really?", state);
            }
            let id = if is_known_by_its_flow { flow } else { state };
            match used.lock().expect("no panic").insert(id.to_owned()) {
                true => ran("Ordered."),
                false => refused("no"),
            }
        })
    };
    let (verdict, detail) = found(&server(true), "replayed");
    assert_eq!(verdict, "pass", "{detail}");
    let (verdict, detail) = found(&server(false), "replayed");
    assert_eq!(verdict, "fail", "{detail}");
    assert_eq!(detail, "from its first round on: it ran again");
}

#[test]
fn what_is_answered_before_it_is_asked_is_found() {
    let server = |is_pinned: bool| {
        Odd::serve(move |params| {
            let Some(state) = params["requestState"].as_str() else {
                return asks("confirm", "Order it?", "Zmlyc3Q");
            };
            match (state, said(params, "confirm"), said(params, "really")) {
                ("Zmlyc3Q", Some(_), None) => asks("really", "Really?", "c2Vjb25k"),
                ("Zmlyc3Q", Some(_), _) if is_pinned => asks("really", "Really?", "c2Vjb25k"),
                ("Zmlyc3Q", None, _) => asks("confirm", "Order it?", "Zmlyc3Q"),
                _ => ran("Ordered."),
            }
        })
    };
    let (verdict, detail) = found(&server(true), "unsolicited-answers");
    assert_eq!(verdict, "pass", "{detail}");
    let (verdict, detail) = found(&server(false), "unsolicited-answers");
    assert_eq!(verdict, "fail", "{detail}");
    assert!(detail.contains("counted before it was asked"), "{detail}");
}

#[test]
fn one_answer_of_several_may_not_be_missing() {
    let both = |state: &str| {
        let mut both = asks("confirm", "Order it?", state);
        let other = asks("really", "Really?", state);
        both["result"]["inputRequests"]["really"] =
            other["result"]["inputRequests"]["really"].clone();
        both
    };
    for (needs_both, expected) in [(true, "pass"), (false, "fail")] {
        let server = Odd::serve(move |params| {
            let answers = [said(params, "confirm"), said(params, "really")];
            let enough = match needs_both {
                true => answers.iter().all(Option::is_some),
                false => answers.iter().any(Option::is_some),
            };
            match params["requestState"].is_string() && enough {
                true => ran("Ordered."),
                false => both("c3RhdGUtMQ"),
            }
        });
        let (verdict, detail) = found(&server, "missing-answers");
        assert_eq!(verdict, expected, "{detail}");
    }
}

#[test]
fn no_answer_may_be_a_no() {
    // Neither a hole nor as it should be, with leave and without.
    let server = Odd::serve(|params| match params["requestState"].is_null() {
        true => asks("confirm", "Order it?", "c3RhdGUtMQ"),
        false => match said(params, "confirm") {
            Some(true) => ran("Ordered."),
            _ => ran("Nothing ordered."),
        },
    });
    let (verdict, detail) = found(&server, "missing-answers");
    assert_eq!(verdict, "weak", "{detail}");
    let (verdict, detail) = found_without_leave(&server, "missing-answers");
    assert_eq!(verdict, "weak", "{detail}");
}

#[test]
fn what_was_found_counts_also_if_the_server_breaks_then() {
    // The second variant stops it.
    let server = |takes: bool| {
        let seen = AtomicUsize::new(0);
        Odd::serve(move |params| match params["requestState"].as_str() {
            _ if seen.load(SeqCst) >= 2 => Value::Null,
            None => asks("confirm", "Order it?", "c3RhdGUtMQ"),
            Some("c3RhdGUtMQ") => ran("Ordered."),
            Some(_) => {
                seen.fetch_add(1, SeqCst);
                match takes {
                    true => ran("Ordered."),
                    false => refused("no"),
                }
            }
        })
    };
    let (takes, refuses) = (server(true), server(false));
    let (verdict, detail) = found(&takes, "state-tampered");
    assert_eq!(verdict, "fail", "{detail}");
    let (verdict, detail) = found(&refuses, "state-tampered");
    assert_eq!(verdict, "weak", "{detail}");
    assert!(detail.contains("no proper answer"), "{detail}");
}

#[test]
fn a_server_that_stumbles_over_a_huge_answer_has_not_fallen() {
    // The next request after what is too long is lost, or all that come then.
    for (times, expected) in [(1, "pass"), (usize::MAX, "fail")] {
        let lost = AtomicUsize::new(0);
        let server = Odd::serve(move |params| {
            let left = lost.load(SeqCst);
            if left > 0 {
                lost.store(left - 1, SeqCst);
                return Value::Null;
            }
            if params["inputResponses"].to_string().len() > 10_000 {
                lost.store(times, SeqCst);
                return refused("This is too long.");
            }
            match params["requestState"].is_null() {
                true => asks("confirm", "Order it?", "c3RhdGUtMQ"),
                false => ran("Ordered."),
            }
        });
        let (verdict, detail) = found(&server, "oversized-answers");
        assert_eq!(verdict, expected, "{detail}");
    }
}

#[test]
fn texts_of_tools_tell_causes_apart_as_well() {
    let server = |is_one: bool| {
        Odd::serve(move |params| match params["requestState"].as_str() {
            None => asks("confirm", "Order it?", "c3RhdGUtMQ"),
            Some("c3RhdGUtMQ") => ran("Ordered."),
            Some(_) if is_one => failed("The state is not valid."),
            Some(state) if state.len() < 10 => failed("The state is too short."),
            Some(_) => failed("The state was changed."),
        })
    };
    assert_eq!(found(&server(true), "error-texts").0, "pass");
    assert_eq!(found(&server(false), "error-texts").0, "weak");
}

#[test]
fn another_tool_that_never_works_has_refused_nothing() {
    let server = |reserves: fn(&Value) -> Value| {
        Odd::serve(move |params| match params["name"] == "reserve" {
            true => reserves(params),
            false => match params["requestState"].as_str() {
                None => asks("confirm", "Order it?", "c3RhdGUtMQ"),
                Some(_) => ran("Ordered."),
            },
        })
    };
    let closed = server(|_| refused("There is no room."));
    assert_eq!(found(&closed, "other-tool").0, "not tested");
    let fails = server(|_| failed("There is no room."));
    assert_eq!(found(&fails, "other-tool").0, "not tested");
    let careful = server(|params| match params["requestState"].is_null() {
        true => asks("reserve", "Reserve it?", "cmVzZXJ2ZQ"),
        false => failed("The state is not mine."),
    });
    assert_eq!(found(&careful, "other-tool").0, "pass");
    let careless = server(|params| match params["requestState"].is_null() {
        true => asks("reserve", "Reserve it?", "cmVzZXJ2ZQ"),
        false => asks("next", "And then?", "bmV4dA"),
    });
    assert_eq!(found(&careless, "other-tool").0, "fail");
}

#[test]
fn a_replica_that_is_not_there_has_refused_nothing() {
    let server = shop(|_| refused("no"), || refused("no"));
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}/mcp", listener.local_addr().expect("an address"))
    };
    let other = Odd::serve(|_| ran("Ordered, and nobody asked."));
    for replica in [&gone, &other.url] {
        let words = [
            "--allow-effects",
            "--json",
            "--only",
            "other-replica",
            "--replica",
            replica,
        ];
        let (verdict, detail) = one(&run(&server, &words), "other-replica");
        assert_eq!(verdict, "not tested", "{detail}");
    }
    // A tool of its own accord refuses what it cannot open.
    let stranger = shop(|_| refused("no"), || failed("This state is not mine."));
    let words = [
        "--allow-effects",
        "--json",
        "--only",
        "other-replica",
        "--replica",
        &stranger.url,
    ];
    let (verdict, detail) = one(&run(&server, &words), "other-replica");
    assert_eq!(verdict, "weak", "{detail}");
}

#[test]
fn states_of_a_few_words_can_be_read_and_counted() {
    // Whoever sends `step3` is done.
    let server = Odd::serve(|params| match params["requestState"].as_str() {
        None => asks("confirm", "Order it?", "step2"),
        Some("step2") if said(params, "confirm").is_none() => asks("confirm", "Order it?", "step2"),
        Some("step2" | "step3") => ran("Ordered."),
        Some(_) => refused("no"),
    });
    assert_eq!(found(&server, "state-tampered").0, "fail");
    assert_eq!(found(&server, "state-readable").0, "fail");
}

#[test]
fn without_leave_nothing_else_is_called() {
    // A tool that asks about Dune alone, and only those who can be asked.
    let ordered = Arc::new(Mutex::new(Vec::new()));
    let orders = ordered.clone();
    let properties = json!({ "title": { "type": "string" }, "copies": { "type": "integer" } });
    let server = Odd::with_schema(&properties, move |params| {
        let is_known = params["arguments"] == json!({ "title": "Dune" });
        let declared = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        let can_be_asked = declared["elicitation"]["form"].is_object();
        // Whoever says yes to anything has said it to everything.
        if params["inputResponses"].to_string().contains("accept") {
            orders.lock().expect("no panic").push(params.clone());
        }
        if params["name"] != "order" || !is_known || !can_be_asked {
            orders.lock().expect("no panic").push(params.clone());
            return ran("Ordered.");
        }
        match (params["requestState"].as_str(), said(params, "confirm")) {
            (Some("c3RhdGUtMQ"), Some(false)) => ran("Nothing ordered."),
            (Some("c3RhdGUtMQ") | None, None) | (None, _) => {
                asks("confirm", "Order it?", "c3RhdGUtMQ")
            }
            (Some(_), Some(true)) => {
                orders.lock().expect("no panic").push(params.clone());
                ran("Ordered.")
            }
            _ => refused("no"),
        }
    });
    let ran = run(&server, &["--json"]).ends(0);
    let ordered = ordered.lock().expect("no panic");
    assert!(ordered.is_empty(), "{ordered:?}");
    for id in [
        "other-arguments",
        "big-numbers",
        "duplicate-names",
        "undeclared-capabilities",
    ] {
        let probes = ran.json()["probes"].clone();
        let probes = probes.as_array().expect("rows").clone();
        let row = probes.iter().find(|row| row["id"] == id).expect("a row");
        assert_eq!(row["verdict"], "not tested", "{row}");
        assert_eq!(row["detail"], "needs --allow-effects");
    }
}

#[test]
fn no_more_is_done_than_was_announced() {
    // It takes whatever it is sent, and asks whoever does not answer.
    for only in [
        "other-replica",
        "replayed",
        "replayed-concurrently",
        "other-arguments",
        "other-tool",
        "missing-answers",
        "mistyped-answers",
        "oversized-answers",
        "undeclared-capabilities",
        "error-texts",
        "unsolicited-answers",
        "",
    ] {
        let server = || {
            let names = (0..9).map(|at| (format!("a{at}"), json!({ "type": "string" })));
            let mut properties: serde_json::Map<_, _> = names.collect();
            properties.insert("title".to_owned(), json!({ "type": "string" }));
            Odd::with_schema(&Value::Object(properties), |params| {
                let is_known = params["arguments"] == json!({ "title": "Dune" });
                match params["inputResponses"].is_null() && params["requestState"].is_null() {
                    true if is_known && params["name"] == "order" => {
                        asks("confirm", "Order it?", "c3RhdGUtMQ")
                    }
                    _ => ran("Ordered."),
                }
            })
        };
        let (one, two) = (server(), server());
        let mut words = vec!["--allow-effects", "--json", "--replica", &two.url];
        if !only.is_empty() {
            words.extend(["--only", only]);
        }
        let ran = run(&one, &words);
        let report: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        let count = |name: &str| report["counts"][name].as_u64().expect("a number");
        let (announced, completed) = (count("callsWithEffects"), count("callsCompleted"));
        assert!(completed <= announced, "{only}: {completed} of {announced}");
        assert!(
            completed > 0 && ran.err.contains(&format!("up to {announced} calls")),
            "{}",
            ran.err
        );
    }
}
