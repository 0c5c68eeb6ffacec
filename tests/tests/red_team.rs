//! What a client may try with a `requestState`, over real HTTP: each attempt gets the one error, has
//! no effect, leaves the state as good as it was, and its reason in the log (MRTR-S-12 to MRTR-S-19).

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Args, Call, Server, Stop, http,
    schemars::{self, JsonSchema},
    sealing::{Key, KeyRing, Replay, Sealing},
    types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequired},
};
use antiphon_tests::{clock::Clock, http as wire, log::Log, request};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde::Deserialize;
use serde_json::{Value, json};

/// Move money.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "they only have to be there")]
struct Transfer {
    amount: f64,
    to: String,
    note: Option<Value>,
}

#[derive(Deserialize)]
struct Agreed {
    ok: bool,
}

/// A bank that asks before it moves money, and counts how often it did.
#[derive(Clone, Default)]
struct Bank {
    moved: Arc<AtomicUsize>,
    clock: Clock,
}

impl Bank {
    async fn confirmed(&self, call: &Call) -> Result<String, Stop> {
        match call.responses().accepted("confirm") {
            Some(Agreed { ok: true }) => {
                let moved = self.moved.fetch_add(1, Ordering::SeqCst);
                // Long enough for others to come in between.
                tokio::time::sleep(Duration::from_millis(30)).await;
                Ok(format!("moved {}", moved + 1))
            }
            Some(_) => Ok("not moved".to_owned()),
            None => {
                let form = FormSchema::new().required("ok", BooleanSchema::new());
                let question = ElicitRequestParams::form("Move it?", form);
                Err(Stop::ask(InputRequired::ask("confirm", question)))
            }
        }
    }

    fn server(&self, sealing: Sealing) -> Server {
        let (tool, other, prompt, resource) =
            (self.clone(), self.clone(), self.clone(), self.clone());
        Server::new("bank", "1.0")
            .sealing(self.clock.on(sealing))
            .tool("transfer", move |_: Args<Transfer>, call: Call| {
                let bank = tool.clone();
                async move { bank.confirmed(&call).await }
            })
            .tool("donate", move |_: Args<Transfer>, call: Call| {
                let bank = other.clone();
                async move { bank.confirmed(&call).await }
            })
            .tool("balance", async || "0")
            .prompt("transfer", move |call: Call| {
                let bank = prompt.clone();
                async move { bank.confirmed(&call).await }
            })
            .resource("bank://transfer", move |call: Call| {
                let bank = resource.clone();
                async move { bank.confirmed(&call).await }
            })
    }
}

fn key(byte: u8) -> Key {
    Key::new(&[byte; 32]).expect("long enough")
}

fn sealing(keys: &[u8]) -> Sealing {
    let keys: Vec<_> = keys.iter().map(|byte| key(*byte)).collect();
    Sealing::keys(keys)
        .audience("bank")
        .replay(Replay::Refuse)
        .bind_principal(|call| {
            let user = call.headers()?.get("x-user")?;
            Some(user.to_str().ok()?.to_owned())
        })
}

async fn serve(server: Server) -> wire::Server {
    wire::Server::start(http::service(server)).await
}

const ARGUMENTS: &str = r#"{"amount":9007199254740993,"to":"Ada","note":{"a":[1,2],"b":"x/y"}}"#;

/// A call as a user makes it, with everything spelt out.
#[derive(Clone)]
struct Attempt {
    method: &'static str,
    target: &'static str,
    arguments: String,
    /// As JSON.
    state: String,
    responses: Option<Value>,
    user: Option<&'static str>,
}

impl Attempt {
    fn first() -> Self {
        Self {
            method: "tools/call",
            target: "transfer",
            arguments: ARGUMENTS.to_owned(),
            state: String::new(),
            responses: None,
            user: Some("ada"),
        }
    }

    /// The honest retry.
    fn retry(state: &str) -> Self {
        Self {
            state: json!(state).to_string(),
            responses: Some(json!({ "confirm": yes() })),
            ..Self::first()
        }
    }

    fn with_state(mut self, state: impl AsRef<str>) -> Self {
        self.state = json!(state.as_ref()).to_string();
        self
    }

    fn request(&self) -> Request<Full<Bytes>> {
        let named = match self.method {
            "resources/read" => "uri",
            _ => "name",
        };
        let mut message = request("id", self.method, json!({ named: self.target }));
        if let Some(responses) = &self.responses {
            message["params"]["inputResponses"] = responses.clone();
        }
        let mut post = wire::post(&message);
        if let Some(user) = self.user {
            post.headers_mut()
                .insert("x-user", user.parse().expect("a header"));
        }
        let mut more = String::new();
        if self.method != "resources/read" {
            more += &format!(r#""arguments":{},"#, self.arguments);
        }
        if !self.state.is_empty() {
            more += &format!(r#""requestState":{},"#, self.state);
        }
        let body = message.to_string();
        let body = body.replacen(r#""params":{"#, &format!(r#""params":{{{more}"#), 1);
        *post.body_mut() = Full::new(Bytes::from(body));
        post
    }
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "ok": true } })
}

/// What every refusal looks like, to the last byte.
const FROZEN: &str = r#"{"jsonrpc":"2.0","id":"id","error":{"code":-32602,"message":"Invalid or expired requestState","data":{"reason":"invalid_request_state"}}}"#;

struct Ground {
    bank: Bank,
    server: wire::Server,
    log: Log,
    _guard: tracing::subscriber::DefaultGuard,
}

impl Ground {
    async fn new() -> Self {
        let (log, guard) = Log::of_everything();
        let bank = Bank::default();
        let server = serve(bank.server(sealing(&[1, 2]))).await;
        Self {
            bank,
            server,
            log,
            _guard: guard,
        }
    }

    async fn asked(&self, first: &Attempt) -> String {
        asked(&self.server, first).await
    }

    /// Sends an attempt that must be refused for this reason.
    async fn refused(&self, what: &str, attempt: &Attempt, reasons: &[&str]) {
        self.refused_request(what, attempt.request(), reasons).await;
    }

    async fn refused_request(&self, what: &str, request: Request<Full<Bytes>>, reasons: &[&str]) {
        let moved = self.bank.moved.load(Ordering::SeqCst);
        let before = self.log.text().len();
        let answer = self.server.send(request).await;
        assert_eq!(answer.text, FROZEN, "{what}");
        assert_eq!(answer.status, 200, "{what}");
        assert_eq!(self.bank.moved.load(Ordering::SeqCst), moved, "{what}");
        let log = self.log.text()[before..].to_owned();
        let told: Vec<_> = log
            .lines()
            .filter(|line| line.contains("a requestState was refused"))
            .collect();
        assert_eq!(told.len(), 1, "{what}: {log}");
        let named = told[0].contains("method=\"") && told[0].contains("target=\"");
        assert!(named, "{what}: {}", told[0]);
        let is = |reason: &&str| told[0].contains(&format!("reason=\"{reason}\""));
        assert!(reasons.iter().any(is), "{what}: {reasons:?}: {}", told[0]);
        // What a call is called in the log is known only once the seal has proved good.
        let early = [
            "alphabet",
            "spelling",
            "truncated",
            "extended",
            "unknown_form",
            "unknown_key",
            "tampered",
            "not_a_string",
            "too_long",
        ];
        if reasons.iter().all(|reason| early.contains(reason)) {
            assert!(!told[0].contains("flow="), "{what}: {}", told[0]);
        } else {
            assert!(told[0].contains("flow="), "{what}: {}", told[0]);
        }
    }
}

async fn asked(server: &wire::Server, first: &Attempt) -> String {
    let answer = server.send(first.request()).await;
    let result = &answer.last()["result"];
    assert_eq!(result["resultType"], "input_required", "{}", answer.text);
    result["requestState"].as_str().expect("a state").to_owned()
}

/// One thing to try, and what the log calls it.
type Row = (&'static str, Attempt, &'static [&'static str]);

fn flipped(state: &str, at: usize) -> String {
    let mut bytes = state.as_bytes().to_vec();
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).expect("ASCII")
}

#[tokio::test]
async fn every_attempt_is_refused_and_costs_nothing() {
    let ground = Ground::new().await;
    let state = ground.asked(&Attempt::first()).await;
    let honest = Attempt::retry(&state);
    let with = |change: &dyn Fn(&mut Attempt)| {
        let mut attempt = honest.clone();
        change(&mut attempt);
        attempt
    };
    let arguments = |text: &str| with(&|attempt| attempt.arguments = text.to_owned());
    let standard = state.replace('-', "+").replace('_', "/");
    let alphabet = match standard == state {
        true => format!("+{}", &state[1..]),
        false => standard,
    };
    let another = {
        let bank = Bank::default();
        let server = serve(bank.server(sealing(&[1, 2]).audience("shop"))).await;
        asked(&server, &Attempt::first()).await
    };
    let retired = {
        let server = serve(Bank::default().server(sealing(&[3]))).await;
        asked(&server, &Attempt::first()).await
    };
    let process = {
        let sealing = Sealing::process_key();
        let server = serve(Bank::default().server(sealing)).await;
        asked(&server, &Attempt::first()).await
    };
    // The id of the other key on the ring, from a state that it sealed.
    let swapped = {
        let server = serve(Bank::default().server(sealing(&[2, 1]))).await;
        let other = asked(&server, &Attempt::first()).await;
        let decode = |state: &str| URL_SAFE_NO_PAD.decode(state).expect("base64url");
        let mut bytes = decode(&state);
        bytes[4..8].copy_from_slice(&decode(&other)[4..8]);
        URL_SAFE_NO_PAD.encode(&bytes)
    };
    let rows: Vec<Row> = vec![
        (
            "truncated by one",
            honest.clone().with_state(&state[..state.len() - 1]),
            &["truncated"],
        ),
        (
            "truncated by half",
            honest.clone().with_state(&state[..state.len() / 2]),
            &["truncated"],
        ),
        ("empty", honest.clone().with_state(""), &["truncated"]),
        (
            "extended",
            honest.clone().with_state(format!("{state}AAAA")),
            &["extended"],
        ),
        (
            "twice",
            honest.clone().with_state(format!("{state}{state}")),
            &["extended", "truncated", "spelling"],
        ),
        (
            "respelled with padding",
            honest.clone().with_state(format!("{state}=")),
            &["spelling"],
        ),
        (
            "respelled with a line break",
            honest.clone().with_state(format!("{state}\n")),
            &["alphabet"],
        ),
        (
            "other alphabet",
            honest.clone().with_state(alphabet),
            &["alphabet"],
        ),
        (
            "not base64",
            honest.clone().with_state("it was confirmed"),
            &["alphabet"],
        ),
        (
            "not ASCII",
            honest.clone().with_state("é€😀"),
            &["alphabet"],
        ),
        (
            "far too long",
            honest.clone().with_state("A".repeat(2 << 20)),
            &["too_long"],
        ),
        (
            "other arguments",
            arguments(&ARGUMENTS.replace("Ada", "Eve")),
            &["arguments"],
        ),
        (
            "one more argument",
            arguments(&ARGUMENTS.replace("\"to\"", "\"x\":null,\"to\"")),
            &["arguments"],
        ),
        ("no arguments", arguments("{}"), &["arguments"]),
        (
            "a number that differs beyond 2^53",
            arguments(&ARGUMENTS.replace("0993", "0992")),
            &["arguments"],
        ),
        (
            "a number that differs in its last place",
            arguments(&ARGUMENTS.replace("[1,2]", "[1,2.00000000000000000001]")),
            &["arguments"],
        ),
        (
            "a number as text",
            arguments(&ARGUMENTS.replace("[1,2]", "[1,\"2\"]")),
            &["arguments"],
        ),
        (
            "a list in another order",
            arguments(&ARGUMENTS.replace("[1,2]", "[2,1]")),
            &["arguments"],
        ),
        (
            "a name twice",
            arguments(&ARGUMENTS.replace("\"to\"", "\"to\":\"Ada\",\"to\"")),
            &["ambiguous_arguments"],
        ),
        (
            "a name twice, in depth",
            arguments(&ARGUMENTS.replace("\"b\"", "\"b\":\"x/y\",\"b\"")),
            &["ambiguous_arguments"],
        ),
        (
            "half a character",
            arguments(&ARGUMENTS.replace("x/y", "\\ud83d")),
            &["ambiguous_arguments"],
        ),
        (
            "other tool",
            with(&|attempt| attempt.target = "donate"),
            &["target"],
        ),
        (
            "a tool that never asks",
            with(&|attempt| attempt.target = "balance"),
            &["target"],
        ),
        (
            "a tool that never asks, made up",
            with(&|attempt| attempt.target = "balance").with_state("made up"),
            &["alphabet"],
        ),
        (
            "other method",
            with(&|attempt| attempt.method = "prompts/get"),
            &["method"],
        ),
        (
            "other method and target",
            with(&|attempt| {
                attempt.method = "resources/read";
                attempt.target = "bank://transfer";
            }),
            &["method"],
        ),
        (
            "other principal",
            with(&|attempt| attempt.user = Some("eve")),
            &["principal"],
        ),
        (
            "empty principal",
            with(&|attempt| attempt.user = Some("")),
            &["principal"],
        ),
        (
            "missing principal",
            with(&|attempt| attempt.user = None),
            &["no_principal"],
        ),
        (
            "other audience, another server with the same key",
            honest.clone().with_state(another),
            &["audience"],
        ),
        (
            "retired key",
            honest.clone().with_state(retired),
            &["unknown_key"],
        ),
        (
            "key of another process",
            honest.clone().with_state(process),
            &["unknown_key"],
        ),
        (
            "swapped key id",
            honest.clone().with_state(swapped),
            &["tampered"],
        ),
        (
            "no answers",
            with(&|attempt| attempt.responses = None),
            &["no_answers"],
        ),
        (
            "no answers, in a map",
            with(&|attempt| attempt.responses = Some(json!({}))),
            &["no_answers"],
        ),
        (
            "unsolicited answers",
            with(&|attempt| attempt.responses = Some(json!({ "sure": yes() }))),
            &["unsolicited_answers"],
        ),
        (
            "a number",
            with(&|attempt| attempt.state = "7".to_owned()),
            &["not_a_string"],
        ),
        (
            "an object",
            with(&|attempt| attempt.state = "{}".to_owned()),
            &["not_a_string"],
        ),
    ];
    for (what, attempt, reasons) in &rows {
        ground.refused(what, attempt, reasons).await;
    }
    for (what, shift, reason) in [
        ("expired", 600, "expired"),
        ("long expired", 10_000, "overdue"),
        ("from the future", -31, "from_the_future"),
    ] {
        ground.bank.clock.forward(shift);
        ground.refused(what, &honest, &[reason]).await;
        ground.bank.clock.forward(-shift);
    }
    for at in 0..state.len() {
        let reasons: &[_] = match at * 6 / 8 {
            0 => &["unknown_form", "truncated", "extended"],
            1..=3 => &["truncated", "extended", "unknown_key"],
            4..=7 => &["unknown_key", "tampered"],
            _ => &["tampered", "spelling"],
        };
        let attempt = honest.clone().with_state(flipped(&state, at));
        ground
            .refused(&format!("byte {at} flipped"), &attempt, reasons)
            .await;
    }
    // None of this used it up.
    let answer = ground.server.send(honest.request()).await;
    let text = &answer.last()["result"]["content"][0]["text"];
    assert_eq!(text, "moved 1", "{}", answer.text);
    ground.refused("replayed", &honest, &["replayed"]).await;
    let other = json!({ "action": "decline" });
    let other = with(&|attempt| attempt.responses = Some(json!({ "confirm": other })));
    ground
        .refused("replayed with other answers", &other, &["other_answers"])
        .await;
    assert_eq!(ground.bank.moved.load(Ordering::SeqCst), 1);
}

/// Of 64 at once one has an effect: the others are refused, or get the same answer.
#[tokio::test]
async fn of_many_at_once_one_runs() {
    for replay in [Replay::Refuse, Replay::Repeat] {
        let bank = Bank::default();
        let server = Arc::new(serve(bank.server(sealing(&[1]).replay(replay))).await);
        let honest = Attempt::retry(&asked(&server, &Attempt::first()).await);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..64 {
            let (server, request) = (server.clone(), honest.request());
            tasks.spawn(async move { server.send(request).await.text });
        }
        let answers = tasks.join_all().await;
        let good = answers
            .iter()
            .filter(|text| text.contains("moved 1"))
            .count();
        let refused = answers.iter().filter(|text| *text == FROZEN).count();
        match replay {
            Replay::Refuse => assert_eq!((good, refused), (1, 63)),
            Replay::Repeat => assert_eq!((good, refused), (64, 0)),
        }
        assert_eq!(bank.moved.load(Ordering::SeqCst), 1, "{replay:?}");
    }
}

/// Key order, white space, escapes and the spelling of numbers make no difference.
#[tokio::test]
async fn the_same_arguments_may_be_spelt_otherwise() {
    let ground = Ground::new().await;
    for spelling in [
        r#"{"to":"Ada","note":{"b":"x/y","a":[1,2]},"amount":9007199254740993}"#,
        "{ \"amount\" : 9007199254740993 ,\n\t\"to\":\"Ada\", \"note\":{\"a\":[ 1 , 2 ],\"b\":\"x/y\"} }",
        r#"{"amount":9007199254740993,"t\u006f":"\u0041da","note":{"a":[1,2],"b":"x\/y"}}"#,
        r#"{"amount":9007199254740993.0,"to":"Ada","note":{"a":[1.0,20e-1],"b":"x/y"}}"#,
        r#"{"amount":9.007199254740993E15,"to":"Ada","note":{"a":[0.1e1,2.000],"b":"x/y"}}"#,
    ] {
        let mut retry = Attempt::retry(&ground.asked(&Attempt::first()).await);
        retry.arguments = spelling.to_owned();
        let answer = ground.server.send(retry.request()).await;
        assert!(answer.text.contains("moved"), "{spelling}: {}", answer.text);
    }
}

/// MRTR-S-29: answers that nobody asked for do not count, and do not harm.
#[tokio::test]
async fn answers_without_a_state_are_no_consent() {
    let ground = Ground::new().await;
    let mut forged = Attempt::first();
    forged.responses = Some(json!({ "confirm": yes() }));
    ground.asked(&forged).await;
    let mut retry = Attempt::retry(&ground.asked(&Attempt::first()).await);
    retry.responses = Some(json!({ "confirm": yes(), "more": 7 }));
    let answer = ground.server.send(retry.request()).await;
    assert!(answer.text.contains("moved 1"), "{}", answer.text);
    // `null` is no state at all.
    let mut fresh = Attempt::first();
    fresh.state = "null".to_owned();
    ground.asked(&fresh).await;
}

/// `[old, new]`, `[new, old]`, `[new]`, one server after the other, with calls under way.
#[tokio::test]
async fn keys_are_rotated_and_nobody_is_refused() {
    let banks = [Bank::default(), Bank::default(), Bank::default()];
    let rings: Vec<_> = banks
        .iter()
        .map(|_| KeyRing::new([key(1)]).expect("a ring"))
        .collect();
    let mut servers = Vec::new();
    for (bank, ring) in banks.iter().zip(&rings) {
        let sealing = Sealing::keys(ring.clone()).audience("bank");
        servers.push(serve(bank.server(sealing)).await);
    }
    let mut under_way = Vec::new();
    let mut done = 0;
    let phases: [&[u8]; 4] = [&[1], &[1, 2], &[2, 1], &[2]];
    for phase in phases {
        for (index, ring) in rings.iter().enumerate() {
            ring.replace(phase.iter().map(|byte| key(*byte)))
                .expect("a ring");
            // Asked here, answered anywhere, before and after anybody else's turn.
            for server in &servers {
                under_way.push(asked(server, &Attempt::first()).await);
            }
            let last = phase.len() == 1 && phase != phases[0];
            let ready = match (last, index) {
                // Before the old key is dropped, what it sealed has expired, or is answered.
                (true, _) | (_, 2) => std::mem::take(&mut under_way),
                _ => under_way.drain(..under_way.len() / 2).collect(),
            };
            for (index, state) in ready.iter().enumerate() {
                let server = &servers[index % servers.len()];
                let answer = server.send(Attempt::retry(state).request()).await;
                assert!(answer.text.contains("moved"), "{phase:?}: {}", answer.text);
                done += 1;
            }
        }
    }
    assert_eq!(done, 36);
}
