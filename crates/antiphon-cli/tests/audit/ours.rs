//! Servers of the SDK hold, and what their settings give away is found.

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Args, Ask, Form, Messages, Prompt, Resource, Server, Stop,
    auth::{Principal, StaticTokens},
    http,
    schemars::{self, JsonSchema},
    sealing::{Key, Sealing},
    store::MemoryStore,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    room::{ANTIPHON, Ran, Room},
    served::Served,
};

#[derive(Deserialize, JsonSchema)]
struct Order {
    title: String,
    account: Option<u64>,
}

#[derive(Form)]
struct Confirm {
    /// Whether to order it.
    approve: bool,
    #[form(min_length = 1, max_length = 20)]
    note: String,
}

async fn brief(ask: Ask) -> Result<Messages, Stop> {
    let Confirm { note, .. } = ask.form("approve", "Brief whom?")?;
    Ok(Messages::new().user(note))
}

/// A shop that counts its orders.
fn shop(sealing: Sealing, orders: &Arc<AtomicU32>) -> Server {
    let orders = orders.clone();
    let order = move |Args(order): Args<Order>, ask: Ask| {
        let orders = orders.clone();
        async move {
            let Confirm { approve, note } =
                ask.form("approve", format!("Order {}?", order.title))?;
            if !approve {
                return Ok("Nothing ordered.".to_owned());
            }
            let number = orders.fetch_add(1, Ordering::SeqCst) + 1;
            let account = order.account.unwrap_or_default();
            Ok::<_, Stop>(format!(
                "Order {number} of {} for {account}: {note}",
                order.title
            ))
        }
    };
    let reserve = async |Args(order): Args<Order>, ask: Ask| {
        let Confirm { note, .. } = ask.form("approve", format!("Reserve {}?", order.title))?;
        Ok::<_, Stop>(format!("Reserved: {note}"))
    };
    Server::new("shop", "1")
        .tool("order", order)
        .tool("reserve", reserve)
        .add(Prompt::new("brief", brief))
        .add(Resource::new("shop://about", async || "A book shop."))
        .sealing(sealing)
}

/// The tokens of two principals.
fn members() -> StaticTokens {
    StaticTokens::new()
        .token("adas", Principal::subject("Ada"))
        .token("bobs", Principal::subject("Bob"))
}

/// The key that replicas share.
fn key() -> Key {
    Key::new(&[7; 32]).expect("a key of 32 bytes")
}

/// What a report says of one probe.
fn verdict<'a>(report: &'a Value, id: &str) -> &'a str {
    let probes = report["probes"].as_array().expect("rows");
    let row = probes.iter().find(|row| row["id"] == id);
    let row = row.unwrap_or_else(|| panic!("no {id} in {report}"));
    row["verdict"].as_str().expect("a verdict")
}

/// The rows that did not pass.
fn others(report: &Value) -> Vec<(&str, &str)> {
    let probes = report["probes"].as_array().expect("rows");
    let rows = probes.iter().map(|row| {
        let text = |name: &str| row[name].as_str().expect("a text");
        (text("id"), text("verdict"))
    });
    rows.filter(|(_, verdict)| *verdict != "pass").collect()
}

fn command(room: &Room, words: &[&str]) -> Command {
    let mut command = room.command(&[&["audit"], words].concat());
    command.envs([("ADA", "adas"), ("BOB", "bobs")]);
    command
}

/// Runs an audit, which may take its time on a busy machine.
fn audit(room: &Room, words: &[&str]) -> Ran {
    let output = command(room, words).output().expect("antiphon runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

#[test]
fn a_fleet_with_tokens_holds() {
    let orders = Arc::default();
    let store = Arc::new(MemoryStore::new());
    let key = key();
    let [one, two] = [(), ()].map(|()| {
        let sealing = Sealing::keys(key.clone())
            .audience("shop")
            .single_use(store.clone());
        Served::service(http::service(shop(sealing, &orders)).verifier(members()))
    });
    let room = Room::new();
    let ran = audit(
        &room,
        &[
            &one.url,
            "--tool",
            "order",
            "title=Dune",
            "account=7",
            "--allow-effects",
            "--json",
            "--bearer-env",
            "ADA",
            "--bearer2-env",
            "BOB",
            "--replica",
            &two.url,
        ],
    );
    let report = ran.ends(0).json();
    let unasked = [
        ("expired", "not tested"),
        ("link-scheme", "not tested"),
        ("link-identity", "not tested"),
    ];
    assert_eq!(others(&report), unasked, "{report}");
    assert_eq!(report["era"], "modern");
    assert_eq!(report["tool"], "order");
    assert_eq!(report["counts"]["probes"], 32);
    assert_eq!(report["counts"]["pass"], 29);
    // What was announced is an upper bound, and the server did less.
    let count = |name: &str| report["counts"][name].as_u64().expect("a number");
    assert!(
        count("callsCompleted") <= count("callsWithEffects"),
        "{report}"
    );
    assert!(u64::from(orders.load(Ordering::SeqCst)) <= count("callsCompleted"));
    assert!(!report.to_string().contains("adas"), "a token is told");
}

#[test]
fn without_leave_nothing_is_done() {
    let orders = Arc::default();
    let served = Served::server(shop(Sealing::default(), &orders));
    let room = Room::new();
    let ran = audit(
        &room,
        &[&served.url, "--tool", "order", "title=Dune", "--json"],
    )
    .ends(0);
    assert_eq!(orders.load(Ordering::SeqCst), 0);
    assert!(ran.err.contains("questions are declined"), "{}", ran.err);
    let report = ran.json();
    for id in [
        "replayed",
        "replayed-other-answers",
        "replayed-concurrently",
        "other-arguments",
        "mistyped-answers",
    ] {
        assert_eq!(verdict(&report, id), "not tested", "{id}");
    }
    for id in [
        "state-tampered",
        "reordered-keys",
        "missing-answers",
        "error-texts",
    ] {
        assert_eq!(verdict(&report, id), "pass", "{id}");
    }
}

#[test]
fn what_is_not_sealed_is_found() {
    let orders = Arc::default();
    let served = Served::server(shop(Sealing::danger_plaintext(), &orders));
    let room = Room::new();
    let words = [
        &served.url,
        "--tool",
        "order",
        "title=Dune",
        "--allow-effects",
    ];
    let ran = audit(&room, &[&words[..], &["--json"]].concat()).ends(1);
    let report = ran.json();
    assert_eq!(verdict(&report, "state-tampered"), "fail");
    assert_eq!(verdict(&report, "state-readable"), "fail");
    let shown = audit(&room, &[&words[..], &["--only", "state-readable"]].concat()).ends(1);
    assert!(
        shown.out.contains("fail        state-readable"),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("see: MRTR-S-12, MRTR-S-13"),
        "{}",
        shown.out
    );
    assert!(
        shown
            .out
            .ends_with("1 probes: 0 passed, 0 weak, 1 failed, 0 not tested\n")
    );
}

#[test]
fn what_can_be_used_again_is_found() {
    let orders = Arc::default();
    let served = Served::server(shop(Sealing::default().replayable(), &orders));
    let room = Room::new();
    let words = [
        &*served.url,
        "--tool",
        "order",
        "title=Dune",
        "--allow-effects",
        "--json",
    ];
    let report = audit(&room, &words).ends(1).json();
    for id in [
        "replayed",
        "replayed-other-answers",
        "replayed-concurrently",
    ] {
        assert_eq!(verdict(&report, id), "fail", "{id}");
    }
    assert_eq!(verdict(&report, "state-tampered"), "pass");
    assert_eq!(verdict(&report, "other-arguments"), "pass");
}

#[test]
fn replicas_with_guards_of_their_own_are_found() {
    let orders = Arc::default();
    let key = key();
    let [one, two] = [(), ()].map(|()| {
        let sealing = Sealing::keys(key.clone()).audience("shop");
        Served::server(shop(sealing, &orders))
    });
    let stranger = Served::server(shop(Sealing::default(), &orders));
    let room = Room::new();
    for (replica, expected, code) in [(&two, "fail", 1), (&stranger, "weak", 0)] {
        let words = [
            &*one.url,
            "--tool",
            "order",
            "title=Dune",
            "--allow-effects",
            "--json",
            "--only",
            "other-replica",
            "--replica",
            &replica.url,
        ];
        let report = audit(&room, &words).ends(code).json();
        assert_eq!(verdict(&report, "other-replica"), expected, "{report}");
        audit(&room, &[&words[..], &["--strict"]].concat()).ends(1);
    }
}

#[test]
fn a_state_that_was_kept_too_long_is_refused_or_found() {
    let orders = Arc::default();
    // An honest round takes far less than that, also on a busy machine.
    let brief = Sealing::default().ttl(Duration::from_secs(10));
    for (sealing, wait, expected, code) in [
        (brief, "11s", "pass", 0),
        (Sealing::default(), "1s", "fail", 1),
    ] {
        let served = Served::server(shop(sealing, &orders));
        let room = Room::new();
        let words = [
            &*served.url,
            "--tool",
            "order",
            "title=Dune",
            "--json",
            "--only",
            "expired",
            "--wait",
            wait,
        ];
        let report = audit(&room, &words).ends(code).json();
        assert_eq!(verdict(&report, "expired"), expected);
    }
}

#[cfg(unix)]
#[test]
fn an_audit_can_be_interrupted() {
    use crate::room::{Running, until};

    let orders = Arc::default();
    let served = Served::server(shop(Sealing::default(), &orders));
    let room = Room::new();
    let words = [
        &*served.url,
        "--tool",
        "order",
        "title=Dune",
        "--only",
        "expired",
        "--wait",
    ];
    let running = Running::start(&mut command(&room, &words));
    until("it waits", || running.told().contains("waiting 11m"));
    running.interrupt();
    let ran = running.wait().ends(130);
    assert_eq!(ran.out, "");
}

#[test]
fn servers_on_pipes_are_audited_as_well() {
    let room = Room::new();
    for tool in ["deploy", "wizard", "new_database"] {
        let words = ["--tool", tool, "env=prod", "--allow-effects", "--json"];
        let words = match tool {
            "deploy" => &words[..],
            _ => &["--tool", tool, "--allow-effects", "--json"],
        };
        let ran = audit(
            &room,
            &[words, &["--", ANTIPHON, "demo", "--stdio"]].concat(),
        )
        .ends(0);
        let report = ran.json();
        let found = others(&report);
        assert!(
            found.iter().all(|(_, verdict)| *verdict == "not tested"),
            "{tool}: {report}"
        );
        assert_eq!(verdict(&report, "replayed"), "pass");
    }
}

#[test]
fn older_revisions_have_probes_of_their_own() {
    let orders = Arc::default();
    let served = Served::server(shop(Sealing::default(), &orders));
    let room = Room::new();
    for era in ["--legacy", "--protocol=2025-06-18"] {
        let words = [
            &*served.url,
            "--tool",
            "order",
            "title=Dune",
            "--allow-effects",
            "--json",
            era,
        ];
        let report = audit(&room, &words).ends(0).json();
        assert_eq!(report["era"], "legacy");
        for id in [
            "renamed-answers",
            "mistyped-answers",
            "oversized-answers",
            "undeclared-capabilities",
            "questions-drift",
            "secret-fields",
            "era-confusion",
        ] {
            assert_eq!(verdict(&report, id), "pass", "{id}: {report}");
        }
        assert_eq!(verdict(&report, "state-tampered"), "not tested");
    }
    let pipe = [
        "--tool",
        "deploy",
        "env=prod",
        "--allow-effects",
        "--json",
        "--legacy",
    ];
    let ran = audit(
        &room,
        &[&pipe[..], &["--", ANTIPHON, "demo", "--stdio"]].concat(),
    );
    let report = ran.ends(0).json();
    assert_eq!(verdict(&report, "mistyped-answers"), "pass", "{report}");
    assert_eq!(verdict(&report, "era-confusion"), "pass", "{report}");
}

#[test]
fn rules_answer_as_they_do_for_a_call() {
    let orders = Arc::default();
    let served = Served::server(shop(Sealing::default(), &orders));
    let room = Room::new();
    let rule = "[[answer]]\ntool = 'order'\nkey = 'approve'\naccept = { approve = true, note = 'by rule' }";
    room.write("answers.toml", rule);
    let words = [
        &*served.url,
        "--tool",
        "order",
        "title=Dune",
        "--allow-effects",
        "--answers",
        "answers.toml",
        "--only",
        "replayed",
        "--trace",
    ];
    let ran = audit(&room, &words).ends(0);
    assert!(
        ran.err
            .contains(r#"accept {"approve":true,"note":"by rule"}"#),
        "{}",
        ran.err
    );
}

#[test]
fn what_cannot_be_audited_is_no_table_of_passes() {
    let orders = Arc::default();
    let quiet = shop(Sealing::default(), &orders).tool("quiet", async || "done");
    let served = Served::server(quiet);
    let room = Room::new();
    let said = |words: &[&str], code: i32, says: &str| {
        let ran = audit(&room, words).ends(code);
        assert_eq!(ran.out, "", "nothing is printed");
        assert!(ran.err.contains(says), "`{says}` is not in\n{}", ran.err);
    };
    said(
        &[&served.url, "--tool", "quiet"],
        4,
        "quiet cannot be audited: a first leg did not ask",
    );
    said(&[&served.url, "--tool", "oder"], 2, "did you mean `order`?");
    let unknown = [&*served.url, "--tool", "order", "--only", "state-tamperd"];
    said(&unknown, 2, "did you mean `state-tampered`");
    said(
        &["http://127.0.0.1:1/mcp", "--tool", "order"],
        3,
        "127.0.0.1:1",
    );
    let pipe = ["--tool", "x", "--bearer2-env", "BOB", "--", "./server"];
    said(&pipe, 2, "takes no tokens");
    let one = [
        &*served.url,
        "--tool",
        "order",
        "--bearer-env",
        "ADA",
        "--bearer2-env",
        "ADA",
    ];
    said(&one, 2, "both tokens are the same");
}
