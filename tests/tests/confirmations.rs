//! What a user agrees to: only what was shown, only by a yes, and only once.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::{Duration, UNIX_EPOCH},
};

use antiphon::{
    Answer, Args, Ask, Confirmed, Context, Form, FromCall, Kind, Messages, Receipt, Server, State,
    Stop,
    auth::Principal,
    memory,
    schemars::{self, JsonSchema},
    sealing::{Key, Sealing},
    store::MemoryStore,
    testing::Script,
};
use antiphon_tests::{
    asking::{retry, state_of},
    call,
    log::Log,
    older::{Older, everything},
    request_as,
    wire::{Connection, Wire},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Delete {
    path: String,
}

/// What was deleted, by whoever had the right to.
type Deleted = Arc<Mutex<Vec<(String, Receipt)>>>;

fn delete(what: Confirmed<Delete>, deleted: &Deleted) -> String {
    let (Delete { path }, receipt) = what.into_parts();
    let said = format!("Deleted {path}.");
    deleted.lock().expect("not poisoned").push((path, receipt));
    said
}

async fn remove(
    Args(what): Args<Delete>,
    State(deleted): State<Deleted>,
    ask: Ask,
) -> Result<String, Stop> {
    let confirmed = ask.confirm("delete", "Delete this file for good?", what)?;
    Ok(delete(confirmed, &deleted))
}

fn sealing(store: &Arc<MemoryStore>) -> Sealing {
    Sealing::keys([Key::new(&[7; 32]).expect("long enough")])
        .audience("files")
        .single_use(store.clone())
        .clock(|| UNIX_EPOCH + Duration::from_millis(1_700_000_000_123))
}

/// A server that shares nothing but keys, the guard and what was deleted.
fn replica(store: &Arc<MemoryStore>, deleted: &Deleted) -> Server {
    Server::new("files", "1.0")
        .tool("remove", remove)
        .sealing(sealing(store))
        .with_state(deleted.clone())
}

fn server() -> (Server, Deleted) {
    let deleted = Deleted::default();
    (replica(&Arc::default(), &deleted), deleted)
}

fn paths(deleted: &Deleted) -> Vec<String> {
    let deleted = deleted.lock().expect("not poisoned");
    deleted.iter().map(|(path, _)| path.clone()).collect()
}

fn path(path: &str) -> Value {
    json!({ "path": path })
}

fn says(confirm: impl Into<Value>) -> Value {
    json!({ "confirm": confirm.into() })
}

/// An answer to the question.
fn answer(entry: impl Into<Value>) -> Value {
    json!({ "delete": entry.into() })
}

fn accepts(confirm: impl Into<Value>) -> Value {
    json!({ "action": "accept", "content": says(confirm) })
}

#[tokio::test]
async fn a_yes_confirms_what_was_shown() {
    let (server, deleted) = server();
    let people = Script::new().accept("delete", says(true));
    let played = people.call_tool(&server, "remove", path("a.txt")).await;
    assert_eq!(played.text(), "Deleted a.txt.");
    let message = "Delete this file for good?\n- path: \"a.txt\"";
    assert_eq!(played.message("delete"), message);
    played.assert_rounds([["delete"]]);
    let schema = &serde_json::to_value(played.question("delete")).expect("JSON");
    assert_eq!(
        schema["params"]["requestedSchema"],
        json!({
            "type": "object",
            "properties": { "confirm": { "type": "boolean", "title": "Confirm" } },
            "required": ["confirm"],
        })
    );
    assert_eq!(paths(&deleted), ["a.txt"]);
}

#[tokio::test]
async fn nothing_else_does() {
    let (server, deleted) = server();
    let declined = "The user declined to answer `delete`.";
    for (people, told) in [
        (Script::new().accept("delete", says(false)), declined),
        (Script::new().decline("delete"), declined),
        (
            Script::new().cancel("delete"),
            "The user did not answer `delete`.",
        ),
    ] {
        let played = people.call_tool(&server, "remove", path("a.txt")).await;
        assert_eq!(played.failure(), told);
    }
    let people = Script::new().without(Kind::Form);
    let played = people.call_tool(&server, "remove", path("a.txt")).await;
    assert_eq!(played.error().code, -32021);
    assert_eq!(paths(&deleted), [""; 0]);
}

/// Where nobody can be asked, nobody has agreed: on whatever way, for whatever reason.
#[tokio::test]
async fn nobody_to_ask_is_no_yes() {
    let (server, deleted) = server();
    let mute = json!({ "sampling": {}, "roots": {} });
    let params = || json!({ "name": "remove", "arguments": path("a.txt") });
    for mut modern in [
        Connection::memory(server.clone()),
        Connection::http(server.clone()).await,
    ] {
        let message = request_as(&mute, 1, "tools/call", params());
        modern.ask(&message).await.refused(-32021, 400);
    }
    let service = || antiphon::http::service(server.clone());
    let unshimmed = server.clone().legacy_shim(false);
    let everything = everything();
    for (mut older, can) in [
        (Older::silent(Wire::Memory, server.clone()).await, &mute),
        (Older::silent(Wire::Stdio, server.clone()).await, &mute),
        (Older::silent(Wire::Http, server.clone()).await, &mute),
        (Older::silent(Wire::Stdio, unshimmed).await, &everything),
        (Older::over(service().stateless()).await, &everything),
        (Older::over(service().json_answers()).await, &everything),
    ] {
        older.greet("2025-11-25", can).await;
        let response = older.ask("tools/call", params()).await;
        let failed = response["result"]["isError"] == true;
        assert!(failed || response["error"]["code"] == -32603, "{response}");
    }
    assert_eq!(paths(&deleted), [""; 0]);
}

#[tokio::test]
async fn a_handler_may_tell_a_no_from_nothing() {
    async fn soft(ask: Ask) -> Result<&'static str, Stop> {
        Ok(match Answer::of(ask.confirm("wipe", "Wipe it?", ()))? {
            Answer::Accept(confirmed) => {
                let ((), _) = confirmed.into_parts();
                "wiped"
            }
            Answer::Decline => "declined",
            Answer::Cancel => "cancelled",
        })
    }
    let server: Server = Server::new("soft", "1.0").tool("soft", soft);
    for (people, told) in [
        (Script::new().accept("wipe", says(true)), "wiped"),
        (Script::new().accept("wipe", says(false)), "declined"),
        (Script::new().decline("wipe"), "declined"),
        (Script::new().cancel("wipe"), "cancelled"),
    ] {
        assert_eq!(people.call_tool(&server, "soft", ()).await.text(), told);
    }
}

/// What only looks like a yes is asked for again, and never taken for one.
#[tokio::test]
async fn a_forged_yes_is_none() {
    let (server, deleted) = server();
    let mut client = Connection::memory(server);
    let first = call(1, "remove", path("a.txt"));
    for entry in [
        accepts("true"),
        accepts("yes"),
        accepts(1),
        accepts(json!([true])),
        accepts(json!({ "confirm": true })),
        accepts(Value::Null),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept", "content": { "Confirm": true } }),
        json!({ "action": "accept", "content": [true] }),
        json!({ "action": "ACCEPT", "content": says(true) }),
        json!({ "content": says(true) }),
        json!(true),
        json!("accept"),
        json!(["accept", says(true)]),
        Value::Null,
    ] {
        let state = state_of(client.ask(&first).await.result());
        let sent = retry(&first, &state, answer(entry.clone()));
        let asked = client.ask(&sent).await;
        state_of(asked.result());
        let asked = &asked.result()["inputRequests"];
        assert!(asked["delete"].is_object(), "{entry}: {asked}");
    }
    assert_eq!(paths(&deleted), [""; 0]);
}

#[tokio::test]
async fn a_yes_that_nobody_asked_for_is_none() {
    let (server, deleted) = server();
    let mut client = Connection::memory(server);
    let mut first = call(1, "remove", path("a.txt"));
    first["params"]["inputResponses"] = answer(accepts(true));
    state_of(client.ask(&first).await.result());
    assert_eq!(paths(&deleted), [""; 0]);
}

/// One that is in the state for other arguments, or was used.
#[tokio::test]
async fn a_yes_cannot_be_used_for_something_else() {
    let (server, deleted) = server();
    let mut client = Connection::memory(server);
    let (a, b) = (
        call(1, "remove", path("a.txt")),
        call(1, "remove", path("b.txt")),
    );
    let state = state_of(client.ask(&a).await.result());
    let moved = client.ask(&retry(&b, &state, answer(accepts(true)))).await;
    assert_eq!(moved.code(), -32602);
    assert_eq!(paths(&deleted), [""; 0]);
    let yes = retry(&a, &state, answer(accepts(true)));
    assert_eq!(client.ask(&yes).await.text(), "Deleted a.txt.");
    // The same again is told the same again, and not done.
    assert_eq!(client.ask(&yes).await.text(), "Deleted a.txt.");
    let other = retry(&a, &state, answer(accepts(false)));
    assert_eq!(client.ask(&other).await.code(), -32602);
    assert_eq!(paths(&deleted), ["a.txt"]);
}

/// The text is the same and so are the arguments of the call; what is to be confirmed has changed.
#[tokio::test]
async fn other_values_are_another_question() {
    #[derive(Serialize)]
    struct Pay {
        ducats: u64,
        /// Shown in part only.
        reason: String,
    }
    type Price = Arc<Mutex<(u64, String)>>;
    async fn pay(State(price): State<Price>, ask: Ask) -> Result<String, Stop> {
        let (ducats, reason) = price.lock().expect("not poisoned").clone();
        let paid = ask.confirm("pay", "Pay this?", Pay { ducats, reason })?;
        Ok(format!("{} {}", paid.ducats, paid.reason.len()))
    }
    let long = |middle: &str| "x".repeat(250) + middle + &"x".repeat(250);
    let price = Price::new(Mutex::new((5, long("a"))));
    let server = Server::new("shop", "1.0").tool("pay", pay);
    let mut client = Connection::memory(server.with_state::<()>(price.clone()));
    let first = call(1, "pay", json!({}));
    let mut state = state_of(client.ask(&first).await.result());
    let yes = || json!({ "pay": accepts(true) });
    // More to pay; then a reason of which all that is shown is the same.
    for (ducats, middle) in [(6, "a"), (6, "b")] {
        *price.lock().expect("not poisoned") = (ducats, long(middle));
        let asked = client.ask(&retry(&first, &state, yes())).await;
        state = state_of(asked.result());
        let message = &asked.result()["inputRequests"]["pay"]["params"]["message"];
        let message = message.as_str().expect("a text");
        let lines = "Pay this?\n- ducats: 6\n- reason (200 of 501 characters): \"xx";
        assert!(message.starts_with(lines), "{message}");
    }
    let done = client.ask(&retry(&first, &state, yes())).await;
    assert_eq!(done.text(), "6 501");
}

/// The order in which a map is written is nobody's choice.
#[tokio::test]
async fn the_order_of_a_map_makes_no_other_question() {
    async fn set(ask: Ask) -> Result<String, Stop> {
        let values: HashMap<u32, u32> = (0..30).map(|it| (it, it)).collect();
        let set = ask.confirm("set", "Set these?", values)?;
        Ok(format!("{} are set", set.len()))
    }
    let server: Server = Server::new("maps", "1.0").tool("set", set);
    let people = Script::new().accept("set", says(true));
    let played = people.call_tool(&server, "set", ()).await;
    assert_eq!(played.text(), "30 are set");
    played.assert_rounds([["set"]]);
}

#[tokio::test]
async fn a_value_cannot_say_what_is_not_so() {
    let (server, deleted) = server();
    let people = Script::new().decline("delete");
    for (given, shown) in [
        (
            "a.txt\"\n- path: \"b.txt",
            r#""a.txt\"\u{a}- path: \"b.txt""#,
        ),
        ("a\u{202e}txt.exe", r#""a\u{202e}txt.exe""#),
        ("a\u{2028}b\u{200b}", r#""a\u{2028}b\u{200b}""#),
    ] {
        let played = people.call_tool(&server, "remove", path(given)).await;
        let message = format!("Delete this file for good?\n- path: {shown}");
        assert_eq!(played.message("delete"), message);
    }
    assert_eq!(paths(&deleted), [""; 0]);
}

#[tokio::test]
async fn one_yes_is_good_for_one_thing() {
    /// Whatever the handler makes of the second.
    async fn twice(ask: Ask) -> Result<String, Stop> {
        let first = ask.confirm("delete", "Sure?", 1)?;
        let second = ask.confirm("delete", "Sure?", 1);
        Ok(format!("{} {}", *first, second.is_ok()))
    }
    async fn at_once(ask: Ask) -> Result<String, Stop> {
        let both = (
            ask.confirm("delete", "Sure?", 1),
            ask.confirm("delete", "Sure?", 1),
        );
        Ok(format!("{} {}", *both.0?, *both.1?))
    }
    let server: Server = Server::new("twice", "1.0")
        .tool("twice", twice)
        .tool("at_once", at_once);
    let mut client = Connection::memory(server);
    let told = "the key `delete` was confirmed twice in one run";
    let first = call(1, "twice", json!({}));
    let state = state_of(client.ask(&first).await.result());
    let ended = client
        .ask(&retry(&first, &state, answer(accepts(true))))
        .await;
    assert_eq!(ended.code(), -32603);
    assert!(ended.response.to_string().contains(told), "{ended:?}");
    let ended = client.call("at_once", json!({})).await;
    assert!(ended.response.to_string().contains(told), "{ended:?}");
}

/// Before a state is claimed, whoever sends it again would have the same yes.
#[tokio::test]
async fn nothing_is_confirmed_before_the_state_is_claimed() {
    struct Early<const ASKS: bool>;
    impl<const ASKS: bool, S: Sync> FromCall<S> for Early<ASKS> {
        const ASKS: bool = ASKS;
        async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
            let ((), _) = call.ask()?.confirm("delete", "Sure?", ())?.into_parts();
            Ok(Self)
        }
    }
    let server: Server = Server::new("early", "1.0")
        .tool("early", async |_: Early<false>| "done")
        .tool("in_time", async |_: Early<true>| "done");
    let mut client = Connection::memory(server);
    for (tool, works) in [("early", false), ("in_time", true)] {
        let first = call(1, tool, json!({}));
        let state = state_of(client.ask(&first).await.result());
        let ended = client
            .ask(&retry(&first, &state, answer(accepts(true))))
            .await;
        let text = ended.response.to_string();
        match works {
            true => assert_eq!(ended.text(), "done"),
            false => assert!(text.contains("before the state was claimed"), "{text}"),
        }
    }
}

/// What can be read in two ways, or not be written, is not asked about.
#[tokio::test]
async fn what_has_no_exact_form_is_not_asked() {
    #[derive(Serialize)]
    struct Doubled {
        path: &'static str,
        #[serde(flatten)]
        more: BTreeMap<&'static str, &'static str>,
    }
    #[derive(Serialize)]
    struct Unwritten(BTreeMap<(u8, u8), u8>);
    async fn doubled(ask: Ask) -> Result<String, Stop> {
        let (path, more) = ("hidden-a", BTreeMap::from([("path", "hidden-b")]));
        let sure = ask.confirm("delete", "Sure?", Doubled { path, more })?;
        Ok(sure.path.to_owned())
    }
    async fn unwritten(ask: Ask) -> Result<String, Stop> {
        let map = Unwritten(BTreeMap::from([((1, 2), 3)]));
        ask.confirm("delete", "Sure?", map).map(|_| String::new())
    }
    let (log, _guard) = Log::of_everything();
    let server: Server = Server::new("inexact", "1.0")
        .tool("doubled", doubled)
        .tool("unwritten", unwritten);
    let mut client = Connection::memory(server);
    for tool in ["doubled", "unwritten"] {
        let ended = client.call(tool, json!({})).await;
        assert_eq!(ended.code(), -32603);
        let text = ended.response.to_string();
        assert!(text.contains("what `delete` is to confirm"), "{text}");
        assert!(!text.contains("hidden"), "{text}");
    }
    assert!(!log.text().contains("hidden"), "{}", log.text());
}

/// Asked by one, answered to another, done by a third.
#[tokio::test]
async fn any_replica_takes_the_yes() {
    let (store, deleted) = (Arc::default(), Deleted::default());
    let first = call(1, "remove", path("a.txt"));
    let client = || Connection::memory(replica(&store, &deleted));
    let state = state_of(client().ask(&first).await.result());
    let asked = client()
        .ask(&retry(&first, &state, answer(accepts("true"))))
        .await;
    let state = state_of(asked.result());
    let yes = retry(&first, &state, answer(accepts(true)));
    assert_eq!(client().ask(&yes).await.text(), "Deleted a.txt.");
    assert_eq!(client().ask(&yes).await.text(), "Deleted a.txt.");
    assert_eq!(paths(&deleted), ["a.txt"]);
}

#[tokio::test]
async fn a_receipt_tells_what_was_confirmed_and_by_whom() {
    let (server, deleted) = server();
    let ada = Principal::subject("ada")
        .issued_by("https://id.example")
        .through("desk");
    let mut client = Connection::Memory(memory::connect_as(server, ada));
    let first = call(1, "remove", path("a.txt"));
    let state = state_of(client.ask(&first).await.result());
    client
        .ask(&retry(&first, &state, answer(accepts(true))))
        .await;
    let (_, receipt) = deleted.lock().expect("not poisoned").remove(0);
    let written = serde_json::to_value(&receipt).expect("JSON");
    assert_eq!(receipt.flow.len(), 32);
    assert_eq!(
        written,
        json!({
            "key": "delete",
            "message": "Delete this file for good?\n- path: \"a.txt\"",
            // Of `{s4:paths5:a.txt}`, by another program.
            "sha256": "44f51d0b1abbfacdc0efb98aea1bfb535d1cbfdd91e00ade68e2525093924512",
            "method": "tools/call",
            "target": "remove",
            "issuer": "https://id.example",
            "client": "desk",
            "subject": "ada",
            "client_name": "tests",
            "client_version": "1.0",
            "flow": receipt.flow,
            "at_ms": 1_700_000_000_123_u64,
            "note": "The client says that its user agreed. This is no proof of a person.",
        })
    );
    let read: Receipt = serde_json::from_value(written).expect("a receipt");
    assert_eq!(read, receipt);
    assert!(receipt.is_for(&path("a.txt")));
    assert!(!receipt.is_for(&path("b.txt")));
    assert!(!receipt.is_for(&json!({ "path": "a.txt", "more": 1 })));
    assert!(!receipt.is_for(&BTreeMap::from([((1, 2), 3)])));
}

/// By whom, as far as a server is told: nothing is made up.
#[tokio::test]
async fn a_receipt_leaves_out_what_is_not_known() {
    let deleted = Deleted::default();
    let sealing = Sealing::default().bind_principal(|_| Some("behind the proxy".to_owned()));
    let server = Server::new("files", "1.0")
        .tool("remove", remove)
        .sealing(sealing)
        .with_state(deleted.clone());
    let mut client = Connection::memory(server);
    let forms = json!({ "elicitation": {} });
    let params = json!({ "name": "remove", "arguments": path("a.txt") });
    let mut first = request_as(&forms, 1, "tools/call", params);
    let meta = first["params"]["_meta"].as_object_mut().expect("an object");
    meta.remove("io.modelcontextprotocol/clientInfo");
    let state = state_of(client.ask(&first).await.result());
    client
        .ask(&retry(&first, &state, answer(accepts(true))))
        .await;
    let (_, receipt) = deleted.lock().expect("not poisoned").remove(0);
    assert_eq!(receipt.subject.as_deref(), Some("behind the proxy"));
    assert_eq!(
        (receipt.issuer, receipt.client, receipt.client_name),
        (None, None, None)
    );
}

#[tokio::test]
async fn values_are_in_no_log_and_no_debug_text() {
    async fn show(ask: Ask) -> Result<String, Stop> {
        let what = Delete {
            path: "hidden.txt".to_owned(),
        };
        let confirmed = ask.confirm("delete", "Sure about hidden things?", what)?;
        Ok(format!("{confirmed:?} {:?}", confirmed.receipt()))
    }
    let (log, _guard) = Log::of_everything();
    let server: Server = Server::new("show", "1.0").tool("show", show);
    let mut client = Connection::memory(server);
    let first = call(1, "show", json!({}));
    let state = state_of(client.ask(&first).await.result());
    let done = client
        .ask(&retry(&first, &state, answer(accepts(true))))
        .await;
    let text = done.text();
    assert!(
        text.starts_with("Confirmed { key: \"delete\", .. } Receipt {"),
        "{text}"
    );
    assert!(!text.contains("hidden"), "{text}");
    let log = log.text();
    assert!(log.contains("delete"), "keys are logged: {log}");
    assert!(!log.contains("hidden"), "{log}");
}

#[tokio::test]
async fn prompts_and_resources_confirm_too() {
    #[derive(Form)]
    struct Name {
        name: String,
    }
    async fn brief(Args(what): Args<Delete>, ask: Ask) -> Result<Messages, Stop> {
        // Together with another question.
        let sure = ask.confirm("sure", "Read this out?", what);
        let name = ask.form::<Name>("name", "To whom?");
        let (sure, Name { name }) = (sure?, name?);
        Ok(Messages::new().user(format!("Read {} to {name}.", sure.path)))
    }
    async fn vault(Args(what): Args<Delete>, ask: Ask) -> Result<String, Stop> {
        let sure = ask.confirm("sure", "Open this?", what)?;
        let receipt = sure.receipt();
        Ok(format!("{} {}", receipt.method, receipt.target))
    }
    let server: Server = Server::new("all", "1.0")
        .prompt("brief", brief)
        .resource("vault://{path}", vault);
    let people = Script::new()
        .accept("sure", says(true))
        .accept("name", json!({ "name": "Ada" }));
    let played = people.get_prompt(&server, "brief", path("a.txt")).await;
    assert_eq!(played.text(), "Read a.txt to Ada.");
    played.assert_rounds([["sure", "name"]]);
    let people = Script::new().accept("sure", says(true));
    let played = people.read_resource(&server, "vault://a.txt").await;
    assert_eq!(played.text(), "resources/read vault://a.txt");
    let people = Script::new().accept("sure", says(false));
    let played = people.read_resource(&server, "vault://a.txt").await;
    assert_eq!(played.error().code, -32603);
}

#[tokio::test]
async fn a_receipt_tells_what_was_shown() {
    async fn drop_all(ask: Ask) -> Result<String, Stop> {
        let tables = (0..40).map(|number| (format!("table_{number}"), number));
        let tables: BTreeMap<String, u32> = tables.collect();
        let agreed = ask.confirm("drop", "Drop these?", tables)?;
        Ok(agreed.receipt().message.clone())
    }
    let server = Server::<()>::new("tables", "1.0").tool("drop_all", drop_all);
    let people = Script::new().accept("drop", json!({ "confirm": true }));
    let played = people.call_tool(&server, "drop_all", json!({})).await;
    assert_eq!(played.text(), played.message("drop"));
}
