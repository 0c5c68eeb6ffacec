//! How states are sealed: keys, names, callers, times, sizes, stores.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Call, RequestState, Responses, Server, Stop,
    auth::Principal,
    memory, raw,
    raw::{About, Answering, CallTool, Endpoint, GetPrompt, ReadResource, Reply, Service},
    sealing::{Key, KeyRing, Replay, Sealing},
    store::{FileStore, MemoryStore},
    types::{
        BooleanSchema, CallToolResult, ElicitRequestParams, FormSchema, GetPromptResult,
        Implementation, InputRequired, ReadResourceResult, ServerCapabilities,
    },
};
use antiphon_tests::{
    asking::{asked, confirm, no, retry, state_of, yes},
    call,
    clock::Clock,
    ground::Ground,
    log::Log,
    request,
    wire::Connection,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn key(byte: u8) -> Key {
    Key::new(&[byte; 32]).expect("long enough")
}

fn question() -> ElicitRequestParams {
    let form = FormSchema::new().required("ok", BooleanSchema::new());
    ElicitRequestParams::form("Sure?", form)
}

/// Asks, and tells what was answered and carried.
async fn ask(call: Call) -> Result<String, Stop> {
    match call.responses().elicit("confirm").given() {
        None => {
            let ask = InputRequired::ask("confirm", question());
            Err(Stop::ask(ask.with_state("a secret of the author's")))
        }
        Some(answer) => {
            let carried = call.request_state_text().unwrap_or("nothing");
            Ok(format!("{:?} with {carried}", answer.action))
        }
    }
}

fn server(sealing: Sealing) -> Server {
    Server::new("asker", "1.0")
        .sealing(sealing)
        .tool("ask", ask)
}

fn connect(sealing: Sealing) -> Connection {
    Connection::memory(server(sealing))
}

async fn refused_for(connection: &mut Connection, message: &Value, reason: &str) {
    let (log, guard) = Log::of_everything();
    connection.ask(message).await.refused(-32602, 200);
    drop(guard);
    let log = log.text();
    let told = format!("reason=\"{reason}\"");
    assert!(log.contains(&told), "not {reason}: {log}");
}

/// MRTR-S-13: nobody can read in a state, and no two are alike.
#[tokio::test]
async fn states_tell_nothing() {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    let mut connection = connect(Sealing::default());
    let mut states = Vec::new();
    for _ in 0..3 {
        let state = asked(&mut connection, "ask").await;
        let bytes = URL_SAFE_NO_PAD.decode(&state).expect("base64url");
        let text = String::from_utf8_lossy(&bytes);
        for hidden in ["secret", "confirm", "ask"] {
            assert!(!text.contains(hidden), "{text}");
        }
        assert!(!states.contains(&state));
        states.push(state);
    }
    // The plain ones are named as such.
    let mut plain = connect(Sealing::danger_plaintext());
    let state = asked(&mut plain, "ask").await;
    let bytes = URL_SAFE_NO_PAD.decode(&state).expect("base64url");
    assert!(String::from_utf8_lossy(&bytes).contains("a secret of the author's"));
    let message = confirm("ask", &state, yes());
    let answer = plain.ask(&message).await;
    assert_eq!(answer.text(), "Accept with a secret of the author's");
}

/// Every question has a state, also where the author carries nothing; a round that only waits too.
#[tokio::test]
async fn everything_that_asks_carries_a_state() {
    let server: Server = Server::new("asker", "1.0")
        .tool("bare", async |call: Call| {
            match call.responses().is_empty() {
                true => Reply::<CallToolResult>::from(InputRequired::ask("confirm", question())),
                false => CallToolResult::text(format!("{:?}", call.request_state_text())).into(),
            }
        })
        .tool("later", async |call: Call| {
            match call.request_state_text() {
                None => Reply::<CallToolResult>::from(InputRequired::later("1")),
                Some("1") => InputRequired::later("2").into(),
                Some(other) => CallToolResult::text(other).into(),
            }
        });
    let mut connection = Connection::memory(server);
    let state = asked(&mut connection, "bare").await;
    let answer = connection.ask(&confirm("bare", &state, yes())).await;
    assert_eq!(answer.text(), "None");
    let mut message = call(0, "later", json!({}));
    for _ in 0..2 {
        let state = state_of(connection.ask(&message).await.result());
        message["params"]["requestState"] = state.into();
    }
    assert_eq!(connection.ask(&message).await.text(), "2");
}

/// Nothing has to be set: a state is good for the one thing that asked, and what never asked is
/// not even reached with one.
#[tokio::test]
async fn by_default_a_state_is_good_for_nothing_else() {
    let ran = Arc::new(AtomicUsize::new(0));
    let never_asks = || {
        let ran = ran.clone();
        move || {
            ran.fetch_add(1, Ordering::SeqCst);
            async { "ran" }
        }
    };
    let server: Server = Server::new("asker", "1.0")
        .tool("ask", ask)
        .tool("other", ask)
        .tool("plain", never_asks())
        .prompt("plain", never_asks())
        .resource("plain://x", never_asks());
    for mut connection in [
        Connection::memory(server.clone()),
        Connection::http(server.clone()).await,
    ] {
        let state = asked(&mut connection, "ask").await;
        let (answers, forged) = (json!({ "confirm": yes() }), "forged".to_owned());
        for (what, state) in [
            (call(1, "other", json!({})), &state),
            (call(1, "plain", json!({})), &state),
            (call(1, "plain", json!({})), &forged),
            (
                request(1, "prompts/get", json!({ "name": "plain" })),
                &state,
            ),
            (
                request(1, "prompts/get", json!({ "name": "plain" })),
                &forged,
            ),
            (
                request(1, "resources/read", json!({ "uri": "plain://x" })),
                &state,
            ),
            (
                request(1, "resources/read", json!({ "uri": "plain://x" })),
                &forged,
            ),
        ] {
            let answer = connection.ask(&retry(&what, state, answers.clone())).await;
            answer.refused(-32602, 200);
            let reason = &answer.response["error"]["data"]["reason"];
            assert_eq!(reason, "invalid_request_state", "{what}");
        }
        assert_eq!(ran.load(Ordering::SeqCst), 0);
        let answer = connection.ask(&confirm("ask", &state, yes())).await;
        assert_eq!(answer.text(), "Accept with a secret of the author's");
    }
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Step {
    number: u8,
}

#[tokio::test]
async fn a_state_is_what_the_author_says_it_is() {
    let server: Server = Server::new("asker", "1.0")
        .tool("typed", async |call: Call| -> Result<String, Stop> {
            match call.request_state::<Step>()? {
                None => {
                    let ask = InputRequired::ask("confirm", question());
                    Err(Stop::ask(ask.carrying(&Step { number: 7 })?))
                }
                Some(step) => Ok(format!("{step:?}")),
            }
        })
        .tool("mistaken", async |call: Call| -> Result<String, Stop> {
            let ask = InputRequired::ask("confirm", question());
            match call.request_state::<Vec<Step>>()? {
                None => Err(Stop::ask(ask.carrying(&Step { number: 7 })?)),
                Some(_) => Ok("a list".to_owned()),
            }
        });
    let mut connection = Connection::memory(server);
    let state = asked(&mut connection, "typed").await;
    let answer = connection.ask(&confirm("typed", &state, yes())).await;
    assert_eq!(answer.text(), "Step { number: 7 }");
    let state = asked(&mut connection, "mistaken").await;
    let message = confirm("mistaken", &state, yes());
    refused_for(&mut connection, &message, "state_type").await;
}

/// As an argument it is looked at before the state is used, so that a replica which can read it may
/// still do so.
#[tokio::test]
async fn a_state_that_is_an_argument_is_read_before_it_is_used() {
    async fn tell(
        RequestState(step): RequestState<Step>,
        responses: Responses,
    ) -> Result<String, Stop> {
        let keys: Vec<_> = responses.answers().keys().map(str::to_owned).collect();
        match step {
            Some(step) => Ok(format!("{step:?} {keys:?}")),
            None => {
                assert!(keys.is_empty(), "nothing was asked");
                let ask = InputRequired::ask("confirm", question());
                Err(Stop::ask(ask.carrying(&Step { number: 7 })?))
            }
        }
    }
    let keys = || Sealing::keys([key(1)]).audience("asker");
    let good: Server = Server::new("asker", "1.0")
        .sealing(keys())
        .tool("tell", tell);
    let newer: Server = Server::new("asker", "2.0")
        .sealing(keys())
        .tool("tell", async |_: RequestState<Vec<Step>>| "a list");
    let (mut good, mut newer) = (Connection::memory(good), Connection::memory(newer));
    let mut first = call(0, "tell", json!({}));
    first["params"]["inputResponses"] = json!({ "confirm": yes() });
    let state = state_of(good.ask(&first).await.result());
    // Other answers would be refused as such, had the first ones used it.
    for answer in [yes(), no()] {
        let message = confirm("tell", &state, answer);
        refused_for(&mut newer, &message, "state_type").await;
    }
    let answers = json!({ "confirm": yes(), "more": 1 });
    let message = retry(&call(1, "tell", json!({})), &state, answers);
    let told = good.ask(&message).await;
    assert_eq!(told.text(), r#"Step { number: 7 } ["confirm"]"#);
}

/// Whoever protects nothing is told what that means.
#[tokio::test]
async fn what_is_not_protected_is_told_of() {
    let told = |log: &Log| log.text().contains("states are not protected");
    let (log, _guard) = Log::of_everything();
    asked(&mut connect(Sealing::default()), "ask").await;
    assert!(!told(&log));
    asked(&mut connect(Sealing::danger_plaintext()), "ask").await;
    assert!(told(&log));
}

/// What is wrong with a state is told without what it says.
#[tokio::test]
async fn logs_do_not_quote_states() {
    let server: Server =
        Server::new("asker", "1.0").tool("mistaken", async |call: Call| -> Result<String, Stop> {
            let ask = InputRequired::ask("confirm", question());
            match call.request_state::<Step>()? {
                None => Err(Stop::ask(ask.carrying("hunter2")?)),
                Some(_) => Ok("a step".to_owned()),
            }
        });
    let mut connection = Connection::memory(server);
    let state = asked(&mut connection, "mistaken").await;
    let (log, _guard) = Log::of_everything();
    let answer = connection.ask(&confirm("mistaken", &state, yes())).await;
    answer.refused(-32602, 200);
    let log = log.text();
    let told = log.lines().find(|line| line.contains("state_type"));
    assert!(told.is_some_and(|line| line.contains("flow=")), "{log}");
    assert!(!log.contains("hunter2"), "{log}");
}

/// MRTR-S-17: each round has its time, and all of them have one together.
#[tokio::test]
async fn states_expire_and_so_do_calls() {
    let clock = Clock::default();
    let sealing = Sealing::default()
        .ttl(Duration::from_secs(100))
        .call_deadline(Duration::from_secs(250));
    let server: Server = Server::new("asker", "1.0")
        .sealing(clock.on(sealing))
        .tool("ask", async || InputRequired::ask("confirm", question()));
    let mut connection = Connection::memory(server);
    let mut state = asked(&mut connection, "ask").await;
    for _ in 0..2 {
        clock.forward(99);
        let answer = connection.ask(&confirm("ask", &state, yes())).await;
        state = state_of(answer.result());
    }
    // 198 s are over: the third state has 52 s instead of 100.
    clock.forward(52);
    let message = confirm("ask", &state, yes());
    refused_for(&mut connection, &message, "overdue").await;
    let state = asked(&mut connection, "ask").await;
    clock.forward(100);
    let message = confirm("ask", &state, yes());
    refused_for(&mut connection, &message, "expired").await;
}

#[tokio::test]
async fn servers_take_states_of_names_they_know() {
    let named = |own: &str| Sealing::keys([key(1)]).audience(own);
    let mut old = connect(named("old"));
    let mut new = connect(named("new").accept_audiences(["older", "old"]));
    let mut other = connect(named("other"));
    let message = confirm("ask", &asked(&mut old, "ask").await, yes());
    refused_for(&mut other, &message, "audience").await;
    assert!(new.ask(&message).await.text().starts_with("Accept"));
    // What the new one makes is of its own name.
    let message = confirm("ask", &asked(&mut new, "ask").await, yes());
    refused_for(&mut old, &message, "audience").await;
}

/// MRTR-S-16, on every part of who somebody is; what somebody may do is no part of it.
#[tokio::test]
async fn states_belong_to_who_was_asked() {
    let ada = || {
        Principal::subject("ada")
            .issued_by("https://a")
            .through("app")
    };
    let endpoint = Endpoint::from(server(Sealing::default()));
    let as_one = |who: Option<Principal>| {
        Connection::Memory(match who {
            Some(who) => memory::connect_as(endpoint.clone(), who),
            None => memory::connect(endpoint.clone()),
        })
    };
    let mut owner = as_one(Some(ada()));
    let message = confirm("ask", &asked(&mut owner, "ask").await, yes());
    let strangers = [
        None,
        Some(
            Principal::subject("eve")
                .issued_by("https://a")
                .through("app"),
        ),
        Some(
            Principal::subject("ada")
                .issued_by("https://b")
                .through("app"),
        ),
        Some(
            Principal::subject("ada")
                .issued_by("https://a")
                .through("other"),
        ),
        Some(Principal::subject("ada").issued_by("https://a")),
        Some(
            Principal::subject("")
                .issued_by("https://aada")
                .through("app"),
        ),
    ];
    for stranger in strangers {
        let mut connection = as_one(stranger);
        refused_for(&mut connection, &message, "principal").await;
    }
    let mut with_scopes = as_one(Some(ada().scopes(["more"])));
    assert!(with_scopes.ask(&message).await.text().starts_with("Accept"));
}

#[tokio::test]
async fn a_verifier_that_names_nobody_is_told_of_once() {
    let (log, _guard) = Log::of_everything();
    let mut nobody = Principal::default();
    nobody.client = Some("app".to_owned());
    let peer = memory::connect_as(server(Sealing::default()), nobody);
    let mut connection = Connection::Memory(peer);
    for _ in 0..3 {
        let message = confirm("ask", &asked(&mut connection, "ask").await, yes());
        connection.ask(&message).await.result();
    }
    let told = log
        .text()
        .matches("the bearer verifier names no subject")
        .count();
    assert_eq!(told, 1);
}

/// Who cannot be told apart from others cannot be asked.
#[tokio::test]
async fn a_caller_nobody_knows_is_not_asked() {
    let sealing = Sealing::default().bind_principal(|_| None);
    let mut connection = connect(sealing);
    let first = connection.ask(&call(0, "ask", json!({}))).await;
    first.refused(-32603, 200);
}

/// What an operator must know of a key of the process is said once, and only where it matters.
#[tokio::test]
async fn a_key_of_the_process_is_told_of_once_on_http() {
    let told = |log: &Log| {
        log.text()
            .matches("under a random key of this process")
            .count()
    };
    let (log, _guard) = Log::of_everything();
    let mut connection = connect(Sealing::default());
    asked(&mut connection, "ask").await;
    assert_eq!(told(&log), 0);
    let mut connection = Connection::http(server(Sealing::default())).await;
    for _ in 0..3 {
        asked(&mut connection, "ask").await;
    }
    assert_eq!(told(&log), 1);
    let mut connection = Connection::http(server(Sealing::keys([key(1)]).audience("a"))).await;
    asked(&mut connection, "ask").await;
    assert_eq!(told(&log), 1);
}

/// Wrong settings are told when the server starts, with what to do.
#[tokio::test]
async fn wrong_settings_do_not_start() {
    let named = |keys: Vec<Key>| Sealing::keys(keys).audience("asker");
    for (sealing, word) in [
        (Sealing::keys([key(1)]), "Sealing::audience"),
        (Sealing::keys([key(1)]).audience(""), "Sealing::audience"),
        (named(vec![]), "there is no key"),
        (named(vec![key(1), key(2), key(1)]), "twice"),
        (named(vec![key(1)]).ttl(Duration::ZERO), "Sealing::ttl"),
        (Sealing::process_key().replicas(2), "Sealing::keys"),
        (named(vec![key(1)]).replicas(2), "Sealing::single_use"),
        (
            named(vec![key(1)])
                .replayable()
                .spill(MemoryStore::new())
                .replicas(3),
            "Sealing::spill",
        ),
    ] {
        let shown = format!("{sealing:?}");
        let endpoint = Endpoint::from(server(sealing.clone()));
        let error = endpoint.start().await.expect_err(&shown);
        assert!(error.to_string().contains(word), "{error}");
        // A raw service with the same settings does not start either.
        let endpoint = Endpoint::new(sealing.layer(Raw::default()));
        endpoint.start().await.expect_err(&shown);
    }
    let good = named(vec![key(1)]).replayable().replicas(3);
    let endpoint = Endpoint::from(server(good));
    endpoint.start().await.expect("it starts");
}

// ---- keys ----

const HEX: &str = "hex:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const BASE64: &str = "base64:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";

/// What is wrong with a file of keys is told with its place and without its contents, and changes
/// nothing for a server that runs.
#[test]
fn keys_come_from_files_and_stay_when_these_are_wrong() {
    let ground = Ground::new();
    let path = ground.file("keys");
    fs::write(&path, format!("# current\n{HEX}\n\n  {BASE64}  \n")).expect("written");
    let ring = KeyRing::from_file(&path).expect("two keys");
    let ids = ring.ids();
    assert_eq!(ids.len(), 2);
    assert!(!ring.reload().expect("the same"), "nothing changed");
    for (text, word) in [
        (
            format!("{HEX}\nsecret-but-unmarked\n"),
            "line 2: a key begins with",
        ),
        (format!("{HEX}\nhex:zz\n"), "line 2: what follows `hex:`"),
        (
            "hex:00\n".to_owned(),
            "line 1: a key needs at least 32 bytes",
        ),
        (format!("{HEX}\n{HEX}\n"), "twice"),
        ("# none\n".to_owned(), "there is no key"),
    ] {
        fs::write(&path, text).expect("written");
        let error = ring.reload().expect_err(word).to_string();
        assert!(error.contains(word), "{error}");
        assert!(!error.contains("secret-but"), "{error}");
        assert_eq!(ring.ids(), ids, "the old keys stay");
    }
    fs::remove_file(&path).expect("removed");
    assert!(ring.reload().is_err());
    assert_eq!(ring.ids(), ids);
    fs::write(&path, format!("{BASE64}\n{HEX}\n")).expect("written");
    assert!(ring.reload().expect("good again"), "another order");
    assert_eq!(ring.ids(), [ids[1], ids[0]]);
    let shown = format!("{ring:?} {:?}", key(65));
    assert!(
        !shown.contains("000102") && !shown.contains("AAAA"),
        "{shown}"
    );
}

/// A server goes on with the keys of a file that is replaced under it.
#[tokio::test]
async fn keys_are_reloaded_while_the_server_runs() {
    let ground = Ground::new();
    let path = ground.file("keys");
    fs::write(&path, HEX).expect("written");
    let ring = KeyRing::from_file(&path).expect("a key");
    let every = Duration::from_millis(5);
    let reloading = tokio::spawn(ring.clone().keep_reloading(every));
    let mut connection = connect(Sealing::keys(ring.clone()).audience("asker"));
    let before = asked(&mut connection, "ask").await;
    let old = ring.ids();
    let swap = |text: String| {
        // As tools do: a new file takes the place of the old one at once.
        let new = ground.file("keys.new");
        fs::write(&new, text).expect("written");
        fs::rename(&new, &path).expect("renamed");
    };
    swap("nonsense".to_owned());
    tokio::time::sleep(Duration::from_millis(40)).await;
    assert_eq!(ring.ids(), old);
    swap(format!("{BASE64}\n{HEX}"));
    antiphon_tests::until(|| ring.ids().len() == 2).await;
    let after = asked(&mut connection, "ask").await;
    for state in [before, after] {
        let answer = connection.ask(&confirm("ask", &state, yes())).await;
        assert!(answer.text().starts_with("Accept"));
    }
    reloading.abort();
}

// ---- sizes ----

/// Carries so many bytes from its question to its answer.
async fn carry(call: Call) -> Result<String, Stop> {
    match call.request_state_text() {
        Some(carried) => Ok(format!("{} bytes", carried.len())),
        None => {
            let bytes: usize = call.args::<Value>()?["bytes"].as_u64().unwrap_or(0) as usize;
            let ask = InputRequired::ask("confirm", question());
            Err(Stop::ask(ask.with_state("x".repeat(bytes))))
        }
    }
}

fn carrier(sealing: Sealing) -> Connection {
    let server: Server = Server::new("carrier", "1.0")
        .sealing(sealing)
        .tool("carry", carry);
    Connection::memory(server)
}

async fn carried(connection: &mut Connection, bytes: u64) -> (Value, Result<String, i64>) {
    let first = call(0, "carry", json!({ "bytes": bytes }));
    let asked = connection.ask(&first).await;
    match asked.response.get("error") {
        None => (first, Ok(state_of(asked.result()))),
        Some(error) => (first, Err(error["code"].as_i64().expect("a code"))),
    }
}

#[tokio::test]
async fn what_is_too_large_to_travel_stays_in_the_store() {
    let mut without = carrier(Sealing::default());
    let (_, state) = carried(&mut without, 40_000).await;
    assert!(state.expect("it fits").len() > 50_000);
    assert_eq!(
        carried(&mut without, 1 << 20).await.1,
        Err(-32603),
        "no store, too large"
    );

    let store = Arc::new(MemoryStore::new());
    let sealing = Sealing::keys([key(1)]).audience("carrier");
    let spilling = || sealing.clone().spill(store.clone()).spill_quota(100_000);
    let mut one = carrier(spilling());
    let mut two = carrier(spilling());
    let (_, small) = carried(&mut one, 20_000).await;
    assert!(small.expect("it travels").len() > 20_000);
    let (first, state) = carried(&mut one, 40_000).await;
    let state = state.expect("spilled");
    assert!(state.len() < 300, "{}", state.len());
    // Another replica opens it.
    let message = retry(&first, &state, json!({ "confirm": yes() }));
    assert_eq!(two.ask(&message).await.text(), "40000 bytes");
    // What one caller may have there is limited.
    carried(&mut one, 40_000).await.1.expect("there is room");
    assert_eq!(carried(&mut one, 40_000).await.1, Err(-32603));
    // A store that does not have it, and no store at all.
    let mut other = carrier(sealing.clone().spill(MemoryStore::new()));
    refused_for(&mut other, &message, "body_missing").await;
    refused_for(&mut carrier(sealing.clone()), &message, "body_missing").await;
}

// ---- restarts ----

/// With a store in a file a paused call goes on after a restart, and a used state stays used.
#[tokio::test]
async fn a_restart_loses_nothing_and_forgives_nothing() {
    let ground = Ground::new();
    let done = Arc::new(AtomicUsize::new(0));
    let start = |replay: Replay| {
        let done = done.clone();
        let store = FileStore::open(ground.file("states")).expect("a store");
        let sealing = Sealing::keys([key(1)])
            .audience("actor")
            .single_use(store)
            .replay(replay);
        let act = move |call: Call| {
            let done = done.clone();
            async move {
                match call.responses().elicit("confirm").given() {
                    None => Err(Stop::ask(InputRequired::ask("confirm", question()))),
                    Some(_) => Ok(format!("done {}", done.fetch_add(1, Ordering::SeqCst) + 1)),
                }
            }
        };
        let server: Server = Server::new("actor", "1.0")
            .sealing(sealing)
            .tool("act", act);
        Connection::memory(server)
    };
    let mut before = start(Replay::Repeat);
    let paused = confirm("act", &asked(&mut before, "act").await, yes());
    let used = confirm("act", &asked(&mut before, "act").await, yes());
    assert_eq!(before.ask(&used).await.text(), "done 1");
    drop(before);
    let mut after = reopened(|| start(Replay::Repeat)).await;
    assert_eq!(after.ask(&paused).await.text(), "done 2");
    assert_eq!(
        after.ask(&used).await.text(),
        "done 1",
        "the answer is repeated"
    );
    let other = confirm(
        "act",
        used["params"]["requestState"].as_str().expect("it"),
        no(),
    );
    refused_for(&mut after, &other, "other_answers").await;
    drop(after);
    let mut strict = reopened(|| start(Replay::Refuse)).await;
    refused_for(&mut strict, &used, "replayed").await;
    refused_for(&mut strict, &paused, "replayed").await;
    assert_eq!(done.load(Ordering::SeqCst), 2);
}

/// Without a store a process remembers for itself alone, and says so when it starts.
#[tokio::test]
async fn what_a_process_remembers_goes_with_it() {
    let (log, _guard) = Log::of_everything();
    let keys = || connect(Sealing::keys([key(1)]).audience("asker"));
    let mut before = keys();
    let used = confirm("ask", &asked(&mut before, "ask").await, yes());
    before.ask(&used).await.result();
    let other = confirm(
        "ask",
        used["params"]["requestState"].as_str().expect("it"),
        no(),
    );
    refused_for(&mut before, &other, "other_answers").await;
    let mut after = keys();
    assert!(after.ask(&other).await.text().starts_with("Decline"));
    let told = "remembered by this process alone";
    assert_eq!(log.text().matches(told).count(), 2);
    // Under a key of its own it does not even know the state.
    let mut stranger = connect(Sealing::default());
    refused_for(&mut stranger, &used, "unknown_key").await;
    assert_eq!(log.text().matches(told).count(), 2);
}

/// The store is free once the tasks that held it are gone.
async fn reopened(start: impl Fn() -> Connection) -> Connection {
    tokio::time::sleep(Duration::from_millis(100)).await;
    start()
}

// ---- raw services ----

/// Writes its states as they are, and tells what it sees of a round.
#[derive(Default)]
struct Raw(AtomicUsize);

impl Raw {
    fn answer<T>(&self, round: raw::Round<'_>, of: impl Fn(String) -> T) -> Reply<T> {
        match round.state {
            None => {
                assert!(round.responses.is_none(), "nothing was asked");
                InputRequired::ask("confirm", question())
                    .with_state("plain")
                    .into()
            }
            Some(state) => {
                self.0.fetch_add(1, Ordering::SeqCst);
                let answers = round.responses.map_or("none", |raw| raw.get());
                Reply::Complete(of(format!("{state}: {answers}")))
            }
        }
    }
}

impl Service for Raw {
    fn about(&self) -> About {
        let all = ServerCapabilities::default()
            .tools(false)
            .prompts(false)
            .resources(false, false);
        About::new(Implementation::new("raw", "1.0")).capabilities(all)
    }

    fn call_tool<'a>(
        &'a self,
        _: &'a raw::Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move { Ok(self.answer(tool.round, CallToolResult::text)) })
    }

    fn get_prompt<'a>(
        &'a self,
        _: &'a raw::Call<'a>,
        prompt: GetPrompt<'a>,
    ) -> Answering<'a, Reply<GetPromptResult>> {
        Box::pin(async move {
            Ok(self.answer(prompt.round, |text| {
                let mut result = GetPromptResult::new(Vec::new());
                result.description = Some(text);
                result
            }))
        })
    }

    fn read_resource<'a>(
        &'a self,
        _: &'a raw::Call<'a>,
        resource: ReadResource<'a>,
    ) -> Answering<'a, Reply<ReadResourceResult>> {
        Box::pin(async move {
            let uri = resource.uri;
            Ok(self.answer(resource.round, |text| {
                let contents = antiphon::types::ResourceContents::text(uri, text);
                ReadResourceResult::new(vec![contents])
            }))
        })
    }
}

#[tokio::test]
async fn one_line_protects_a_raw_service() {
    let service = Sealing::default().layer(Raw::default());
    let mut connection = Connection::memory(Endpoint::new(service));
    for first in [
        request(
            0,
            "tools/call",
            json!({ "name": "x", "arguments": { "a": 1 } }),
        ),
        request(0, "prompts/get", json!({ "name": "x" })),
        request(0, "resources/read", json!({ "uri": "x://y" })),
    ] {
        // Answers that nobody asked for do not reach it.
        let mut early = first.clone();
        early["params"]["inputResponses"] = json!({ "confirm": yes() });
        let state = state_of(connection.ask(&early).await.result());
        assert_ne!(state, "plain");
        let message = retry(&first, &state, json!({ "more": 1, "confirm": no() }));
        let answer = connection.ask(&message).await;
        let told = r#"plain: {\"confirm\":{\"action\":\"decline\"}}"#;
        assert!(
            answer.response.to_string().contains(told),
            "{}",
            answer.response
        );
        // Used, and repeated only as it was.
        assert_eq!(connection.ask(&message).await.result(), answer.result());
        let other = retry(&first, &state, json!({ "confirm": yes() }));
        refused_for(&mut connection, &other, "other_answers").await;
        let forged = retry(&first, "plain", json!({ "confirm": yes() }));
        refused_for(&mut connection, &forged, "truncated").await;
    }
}

/// A raw service is claimed for before it runs, so one that refuses has used the state up.
#[tokio::test]
async fn a_raw_service_that_refuses_has_used_the_state() {
    struct Refuses(Arc<AtomicUsize>);
    impl Service for Refuses {
        fn about(&self) -> About {
            let tools = ServerCapabilities::default().tools(false);
            About::new(Implementation::new("refuses", "1.0")).capabilities(tools)
        }

        fn call_tool<'a>(
            &'a self,
            _: &'a raw::Call<'a>,
            tool: CallTool<'a>,
        ) -> Answering<'a, Reply<CallToolResult>> {
            Box::pin(async move {
                if tool.round.is_first() {
                    return Ok(InputRequired::ask("confirm", question()).into());
                }
                self.0.fetch_add(1, Ordering::SeqCst);
                Err(raw::Error::invalid_params("not today"))
            })
        }
    }
    let runs = Arc::new(AtomicUsize::new(0));
    let service = Sealing::default().layer(Refuses(runs.clone()));
    let mut connection = Connection::memory(Endpoint::new(service));
    let state = asked(&mut connection, "x").await;
    for _ in 0..2 {
        let answer = connection.ask(&confirm("x", &state, yes())).await;
        assert_eq!(answer.response["error"]["message"], "not today");
    }
    let other = confirm("x", &state, no());
    refused_for(&mut connection, &other, "other_answers").await;
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}
