//! The vectors of `docs/design/sealing-format.md` are what this code makes and refuses.
//!
//! `ANTIPHON_WRITE_VECTORS=1 cargo test -p antiphon-core --test vectors` writes them anew.

use std::{env, fs, path::Path, time::Duration};

use antiphon_core::{
    canonical::{Ambiguous, canonical},
    ledger::{Body, LONGEST_KEY, Ledger, Question, Standing, Step},
    link,
    moment::Moment,
    seal::{
        Key,
        claims::{self, Claims, Life, Method, Request, principal},
        digest::{Of, Secret},
        envelope::{self, Draft, Envelope},
        guard::StateId,
        refusal::Refusal,
        ring::{For, Ring},
        spill::Handle,
    },
};
use antiphon_types::{CreateMessageRequestParams, ElicitRequestParams, FormSchema, InputRequest};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

const FILE: &str = "../../docs/design/sealing/vectors.json";

/// Most bytes of an envelope, where a vector says nothing else.
const LONGEST: usize = 1 << 20;

#[test]
fn the_vectors_are_what_is_made() {
    let vectors = json!({
        "about": "Vectors of docs/design/sealing-format.md. Bytes are hexadecimal.",
        "keys": keys(),
        "states": states(),
        "codec": codec(),
        "stored": stored(),
        "principals": principals(),
        "canonical": canonical_forms(),
        "ambiguous": ambiguous(),
        "questions": questions(),
        "idempotency_keys": idempotency_keys(),
        "links": links(),
        "refused_links": refused_links(),
        "refused": refused(),
    });
    let text = serde_json::to_string_pretty(&vectors).expect("JSON") + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if env::var_os("ANTIPHON_WRITE_VECTORS").is_some() {
        fs::write(&file, &text).expect("the vectors can be written");
    }
    let committed = fs::read_to_string(&file).expect("the vectors are there");
    for (ours, theirs) in text.lines().zip(committed.lines()) {
        assert_eq!(ours, theirs, "made here, and in the file");
    }
    assert_eq!(text.len(), committed.len());
}

/// A secret of 32 bytes, one of more, and one of no pattern.
fn secrets() -> [(&'static str, Vec<u8>); 3] {
    [
        ("counting", (0..32).collect()),
        ("long", (0..80).map(|at| 255 - at).collect()),
        (
            "current",
            (0..32u32)
                .map(|at| (at * at * 37 + at * 11 + 5) as u8)
                .collect(),
        ),
    ]
}

fn ring(names: &[&str]) -> Ring {
    let secrets = secrets();
    let secret = |name: &&str| secrets.iter().find(|(other, _)| other == name);
    let keys: Vec<_> = names
        .iter()
        .map(|name| Key::new(&secret(name).expect("a key of this name").1).expect("long enough"))
        .collect();
    Ring::new(&keys).expect("different keys")
}

fn keys() -> Value {
    let key = |(name, secret): &(&str, Vec<u8>)| {
        let id = ring(&[name]).current().to_string();
        json!({ "name": name, "secret": hex(secret), "id": id })
    };
    secrets().iter().map(key).collect()
}

/// A state to be made.
struct State<'a> {
    name: &'a str,
    key: &'a str,
    method: Method,
    audience: &'a str,
    target: &'a str,
    arguments: Option<&'a str>,
    who: [Option<&'a str>; 4],
    ledger: Ledger,
    handle: Option<[u8; 16]>,
    /// In milliseconds.
    now: u64,
    /// How long the state and the call live, in seconds.
    life: (u64, u64),
    round: u16,
}

const NOTHING: Ledger = Ledger {
    by_hand: Vec::new(),
    questions: Vec::new(),
    steps: Vec::new(),
    rounds: None,
    state: None,
};

const PLAIN: State<'_> = State {
    name: "empty body",
    key: "counting",
    method: Method::CallTool,
    audience: "shop",
    target: "order",
    arguments: None,
    who: [None; 4],
    ledger: NOTHING,
    handle: None,
    now: 1_800_000_000_000,
    life: (600, 3600),
    round: 1,
};

fn states() -> Value {
    let states = [
        PLAIN,
        State {
            name: "a question",
            arguments: Some(r#"{"title":"Emma","copies":2}"#),
            who: [
                Some("https://issuer.example"),
                Some("desk"),
                Some("ada"),
                None,
            ],
            ledger: by_hand(&["confirm"], None),
            ..PLAIN
        },
        State {
            name: "two questions and the author's state, third round",
            key: "current",
            arguments: Some(r#"{ "copies": 2.0, "title": "\u0045mma" }"#),
            who: [None, Some(""), None, Some("proxy-user")],
            ledger: by_hand(&["confirm", ""], Some(r#"{"step":2}"#)),
            round: 3,
            ..PLAIN
        },
        State {
            name: "a prompt, in other scripts",
            key: "long",
            method: Method::GetPrompt,
            audience: "läden.example",
            target: "zusammenfassen\u{301}",
            arguments: Some(r#"{"thema":"Größe \ud83d\ude00","τίτλος":"Ἰλιάς"}"#),
            who: [Some(""), Some(""), Some(""), Some("")],
            ledger: by_hand(&["ключ🗝"], Some("état\u{0}\n\u{1f4da}")),
            ..PLAIN
        },
        State {
            name: "a resource, spilled",
            key: "long",
            method: Method::ReadResource,
            target: "shop://books/978-0%2D14?x=1#A",
            handle: Some(filled(0xa0)),
            ..PLAIN
        },
        State {
            name: "an empty state of the author's, no audience",
            audience: "",
            target: "",
            ledger: by_hand(&[], Some("")),
            ..PLAIN
        },
        State {
            name: "the deadline is nearer than the time to live",
            life: (600, 60),
            ledger: by_hand(&[], Some("x")),
            ..PLAIN
        },
        State {
            name: "at the end of time",
            now: u64::MAX,
            round: u16::MAX,
            ..PLAIN
        },
        State {
            name: "pending: first asked, and asked again because of its answer",
            ledger: Ledger {
                questions: vec![
                    pending("name", 0x21, (0, 0), ""),
                    pending(
                        "größe",
                        0x31,
                        (1, 2),
                        "- `size`: is less than 1\n- `ä`: is required",
                    ),
                ],
                ..NOTHING
            },
            round: 2,
            ..PLAIN
        },
        State {
            name: "answered: accepted, declined, too large to be kept",
            ledger: Ledger {
                questions: vec![
                    answered(
                        "name",
                        0x21,
                        (0, 0),
                        1,
                        r#"{"action":"accept","content":{"name":"Zoë \u0001"}}"#,
                    ),
                    answered("region", 0x31, (3, 1), 258, r#"{ "action": "decline" }"#),
                    answered(
                        "roots",
                        0x41,
                        (0, 0),
                        u16::MAX,
                        r#""has more than 65536 bytes""#,
                    ),
                ],
                ..NOTHING
            },
            round: 259,
            ..PLAIN
        },
        State {
            name: "steps, one of them done before anything was asked",
            ledger: Ledger {
                steps: vec![
                    step("draft", 0, r#""Dear Ada""#),
                    step("заказ", 513, r#"{"id":42}"#),
                    step("nothing", 513, "null"),
                ],
                ..NOTHING
            },
            round: 514,
            ..PLAIN
        },
        State {
            name: "fewer rounds asked than there were",
            ledger: Ledger {
                rounds: Some(258),
                ..NOTHING
            },
            round: 772,
            ..PLAIN
        },
        State {
            name: "all together",
            key: "current",
            ledger: Ledger {
                by_hand: vec!["hand".to_owned(), "other".to_owned()],
                questions: vec![
                    pending("name", 0x21, (2, 1), "- `name`: is required"),
                    pending("size", 0x31, (0, 0), ""),
                    answered("region", 0x41, (1, 0), 2, r#"{"action":"cancel"}"#),
                    answered("roots", 0x51, (0, 0), 1, r#"{"roots":[]}"#),
                ],
                steps: vec![step("charge", 2, "42"), step("name", 3, "[]")],
                rounds: Some(3),
                state: Some(r#"{"step":2}"#.to_owned()),
            },
            round: 4,
            ..PLAIN
        },
        State {
            name: "the longest keys, and the shortest",
            ledger: Ledger {
                by_hand: vec!["h".repeat(LONGEST_KEY + 1)],
                questions: vec![
                    pending(&"é".repeat(127), 0x21, (u8::MAX, u8::MAX), "x"),
                    pending("", 0x31, (0, 0), ""),
                    answered(&"k".repeat(LONGEST_KEY), 0x41, (0, 0), 0, "0"),
                    answered("", 0x51, (0, 0), 0, ""),
                ],
                steps: vec![step(&"s".repeat(LONGEST_KEY), 0, "1"), step("", 0, "")],
                ..NOTHING
            },
            ..PLAIN
        },
    ];
    let states = states.iter().enumerate();
    states.map(|(at, state)| sealed_state(at, state)).collect()
}

fn by_hand(keys: &[&str], state: Option<&str>) -> Ledger {
    Ledger {
        by_hand: keys.iter().map(|key| (*key).to_owned()).collect(),
        state: state.map(str::to_owned),
        ..NOTHING
    }
}

fn question(key: &str, digest: u8, (tries, drifts): (u8, u8), standing: Standing) -> Question {
    Question {
        key: key.into(),
        digest: filled(digest),
        tries,
        drifts,
        standing,
    }
}

fn pending(key: &str, digest: u8, counts: (u8, u8), note: &str) -> Question {
    question(key, digest, counts, Standing::Pending(note.into()))
}

fn answered(key: &str, digest: u8, counts: (u8, u8), round: u16, answer: &str) -> Question {
    let answer = answer.to_owned();
    question(
        key,
        digest,
        counts,
        Standing::Answered {
            round,
            answer: answer.into(),
        },
    )
}

fn step(key: &str, round: u16, result: &str) -> Step {
    Step {
        key: key.into(),
        round,
        // As long as its key, so that it is not always the same.
        shared: key.len() as u8,
        result: result.into(),
    }
}

fn told_body(ledger: &Ledger, handle: Option<[u8; 16]>) -> Value {
    let (mut pending, mut answered) = (Vec::new(), Vec::new());
    for question in &ledger.questions {
        let mut told = json!({
            "key": &*question.key,
            "digest": hex(&question.digest),
            "tries": question.tries,
            "drifts": question.drifts,
        });
        match &question.standing {
            Standing::Pending(note) => {
                told["note"] = json!(&**note);
                pending.push(told);
            }
            Standing::Answered { round, answer } => {
                told["round"] = json!(round);
                told["answer"] = json!(&**answer);
                answered.push(told);
            }
        }
    }
    let step = |step: &Step| json!({ "key": &*step.key, "round": step.round, "shared": step.shared, "result": &*step.result });
    json!({
        "by_hand": ledger.by_hand,
        "pending": pending,
        "answered": answered,
        "steps": ledger.steps.iter().map(step).collect::<Value>(),
        "rounds": ledger.rounds,
        "state": ledger.state,
        "handle": handle.map(|handle| hex(&handle)),
    })
}

fn sealed_state(at: usize, state: &State<'_>) -> Value {
    let random = u8::try_from(at * 16 + 1).expect("few vectors");
    let (id, secret) = (StateId(filled(random)), filled::<16>(random ^ 0x5a));
    let nonce = filled::<12>(random ^ 0xc3);
    let text = state.arguments.unwrap_or("{}");
    let (arguments, mut who) = (form(text), Vec::new());
    principal(&state.who, &mut who);
    let request = Request {
        method: state.method,
        target: state.target,
        arguments: &arguments,
        principal: &who,
    };
    let now = Moment::from_millis(state.now);
    let (ttl, call) = (
        Duration::from_secs(state.life.0),
        Duration::from_secs(state.life.1),
    );
    let deadline = now.after(call);
    let life = Life { now, ttl, deadline };
    let of_call = Secret::new(secret);
    let mut digester = of_call.digester();
    let mut claims = Claims::first(&request, state.audience, life, id, of_call, &mut digester);
    claims.round = state.round;
    let ledger = &state.ledger;
    let mut draft = Draft::default();
    claims.write(draft.payload());
    match state.handle {
        Some(handle) => Body::write_handle(Handle(handle), draft.payload()),
        None => ledger.write(draft.payload()).expect("small"),
    }
    let ring = ring(&[state.key]);
    let text = draft.seal(&ring, nonce);
    let bytes = URL_SAFE_NO_PAD.decode(&text).expect("base64url").len();
    if at == 0 {
        assert_eq!(bytes, 153, "of an empty body");
        assert!(bytes <= 160, "what was promised");
    }
    let (again, body) = opened(&ring, &text, LONGEST).expect("just sealed");
    assert_eq!(again, claims);
    assert_eq!(
        body,
        match state.handle {
            Some(handle) => Body::Elsewhere(Handle(handle)),
            None => Body::Ledger(ledger.clone()),
        }
    );
    json!({
        "name": state.name,
        "key": state.key,
        "nonce": hex(&nonce),
        "state": text,
        "bytes": bytes,
        "claims": {
            "method": method(claims.method),
            "issued": claims.issued.as_millis(),
            "expires": claims.expires.as_millis(),
            "deadline": claims.deadline.as_millis(),
            "round": claims.round,
            "id": claims.id.to_string(),
            "secret": hex(&secret),
            "audience": hex(&claims.audience),
            "target": hex(&claims.target),
            "arguments": hex(&claims.arguments),
            "principal": hex(&claims.principal),
        },
        "body": told_body(ledger, state.handle),
        "flow": digester.flow().to_string(),
        "made_for": {
            "audience": state.audience,
            "target": state.target,
            "arguments": state.arguments,
            "principal": state.who,
        },
    })
}

fn method(method: Method) -> &'static str {
    match method {
        Method::CallTool => "tools/call",
        Method::GetPrompt => "prompts/get",
        Method::ReadResource => "resources/read",
    }
}

/// A codec that changes nothing.
fn codec() -> Value {
    let plain = [b"q", &payload(1)[..], &[6, 0, 0, 1, b'x']].concat();
    let text = envelope::wrap(&plain);
    json!([
        { "name": "danger_plaintext", "sealed": hex(&plain), "state": text },
        { "name": "nothing at all", "sealed": "", "state": envelope::wrap(b"") },
    ])
}

fn stored() -> Value {
    let item = |name: &str, kind: &str, key: &str, random: u8, text: &[u8]| {
        let (nonce, id) = (filled::<12>(random), filled::<16>(random ^ 0x5a));
        let ring = ring(&[key]);
        let mut bytes = text.to_vec();
        let bound = [kind.as_bytes(), &id].concat();
        let tag = ring.seal(For::Stored, &nonce, &bound, &mut bytes);
        let kept = [&ring.current().0[..], &nonce, &bytes, &tag].concat();
        json!({
            "name": name, "kind": kind, "key": key, "id": hex(&id), "text": hex(text), "kept": hex(&kept),
        })
    };
    let ledger = by_hand(&["confirm"], Some(&"x".repeat(70)));
    let mut body = Vec::new();
    ledger.write(&mut body).expect("small");
    let answer = b"r\0\0\0\0\0\0{\"content\":[]}";
    json!([
        item("a body", "b", "counting", 0x20, &body),
        item("an answer", "a", "current", 0x30, answer),
        item("nothing", "b", "long", 0x40, b""),
    ])
}

fn principals() -> Value {
    let parts: [&[Option<&str>]; 8] = [
        &[None, None, None, None],
        &[Some(""), None, None, None],
        &[None, Some(""), None, None],
        &[Some(""), Some(""), Some(""), Some("")],
        &[Some("ab"), Some("c"), None, None],
        &[Some("a"), Some("bc"), None, None],
        &[None, None, Some("ada\u{0}"), None],
        &[
            Some("https://issuer.example"),
            Some("desk"),
            Some("Ζωή 🗝"),
            Some("proxy"),
        ],
    ];
    let secret = filled::<16>(0x77);
    let mut digester = Secret::new(secret).digester();
    let vector = |parts: &&[Option<&str>]| {
        let mut bytes = Vec::new();
        principal(parts, &mut bytes);
        let digest = hex(&digester.of(Of::Principal, &bytes));
        json!({ "parts": parts, "bytes": hex(&bytes), "secret": hex(&secret), "digest": digest })
    };
    parts.iter().map(vector).collect()
}

fn canonical_forms() -> Value {
    let deepest = format!("{}{}", "[".repeat(128), "]".repeat(128));
    let long = format!("0.{}1", "0".repeat(60));
    let texts = [
        "{}",
        " { } ",
        "null",
        "[true,false,null]",
        r#"{"copies":2,"title":"Emma"}"#,
        "{ \"title\" : \"\\u0045mma\",\r\n\t\"copies\" : 2.0 }",
        r#"{"b":{"d":[],"c":{}},"a":[{"z":1,"y":2},[3]],"":0}"#,
        r#"{"é":1,"z":2,"\ud83d\ude00":3,"｡":4,"e\u0301":5,"A":6,"a":7}"#,
        r#"["\"\\\/\b\f\n\r\t\u0000\u001f","/","\u00e9","é","😀","\ud83d\ude00"]"#,
        r#"["a","s1:a","","\u007f\u0080\u07ff\u0800\uffff"]"#,
        "[0,-0,0.0,-0.00e-9,0e99999999999999999999,0E-7]",
        "[1,1.0,10e-1,1E0,1e+0,0.1e1,0.001E03,1e-0]",
        "[120,12e1,1.2e2,120.000,0.0120e4]",
        "[0.05,5e-2,-10.5,-0.1050E2,100.001,1000]",
        "[9007199254740992,9007199254740993,9007199254740993.0]",
        "[0.1,0.10000000000000001,1e400,1e-400,-1e400]",
        "[123456789012345678901234567890.123456789012345678901234567890]",
        "[1e9223372036854775807,10e9223372036854775807,1e9223372036854775808]",
        "[1e-9223372036854775808,0.1e-9223372036854775808,1e-9223372036854775809]",
        "[-1.50E+99999999999999999999,0.5e00000000000000000000000000000001]",
        &long,
        &deepest,
    ];
    let secret = filled::<16>(0x11);
    let mut digester = Secret::new(secret).digester();
    let vector = |json: &&str| {
        let form = form(json);
        let digest = hex(&digester.of(Of::Arguments, &form));
        let form = String::from_utf8(form).expect("made of UTF-8");
        json!({ "json": json, "form": form, "secret": hex(&secret), "digest": digest })
    };
    texts.iter().map(vector).collect()
}

fn ambiguous() -> Value {
    let deep = "[".repeat(129) + &"]".repeat(129);
    let texts = [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"b":2,"\u0061":3}"#,
        r#"[{"x":{"y":1,"z":2,"y":3}}]"#,
        r#"{"":1,"":2}"#,
        r#""\ud83d""#,
        r#""\ude00\ud83d""#,
        r#""\ud83dx\ude00""#,
        r#""\ud83d\ud83d\ude00""#,
        r#"{"\udfff":1}"#,
        &deep,
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "NaN",
        "-Infinity",
        "'a'",
        "\"\n\"",
        r#""\x""#,
        r#""\u12""#,
        "1 2",
        "\u{feff}1",
        "\u{a0}1",
        "True",
        "/**/1",
    ];
    let vector = |json: &&str| {
        let why = match canonical(json, &mut Vec::new()) {
            Err(Ambiguous::Repeated(_)) => "repeated",
            Err(Ambiguous::Surrogate) => "surrogate",
            Err(Ambiguous::TooDeep) => "too_deep",
            Err(Ambiguous::NotJson) => "not_json",
            other => panic!("{json}: {other:?}"),
        };
        json!({ "json": json, "why": why })
    };
    texts.iter().map(vector).collect()
}

/// Questions as authors render them, and what they are known by.
fn questions() -> Value {
    let schema = json!({
        "type": "object",
        "properties": {
            "size": { "type": "integer", "minimum": 1, "maximum": 1e1 },
            "name": { "type": "string", "title": "Größe" },
        },
        "required": ["name"],
    });
    let schema: FormSchema = serde_json::from_value(schema).expect("a form");
    let empty: FormSchema =
        serde_json::from_value(json!({ "type": "object", "properties": {} })).expect("a form");
    let url = "https://shop.example/pay/AAAA";
    let requests: [InputRequest; 5] = [
        ElicitRequestParams::form("Order \"Emma\"?\nZwölf?", schema).into(),
        ElicitRequestParams::form("", empty).into(),
        ElicitRequestParams::url("Sign in", url).into(),
        CreateMessageRequestParams::user("Sum up: 1", 200).into(),
        InputRequest::roots(),
    ];
    let secret = filled::<16>(0x21);
    let mut digester = Secret::new(secret).digester();
    let vector = |request: &InputRequest| {
        let json = serde_json::to_string(request).expect("JSON");
        let form = form(&json);
        let digest = hex(&digester.of(Of::Question, &form));
        let form = String::from_utf8(form).expect("made of UTF-8");
        json!({ "question": json, "form": form, "secret": hex(&secret), "digest": digest })
    };
    requests.iter().map(vector).collect()
}

fn idempotency_keys() -> Value {
    let longest = "k".repeat(LONGEST_KEY);
    let mut vectors = Vec::new();
    for secret in [filled::<16>(0x21), [0; 16]] {
        let mut digester = Secret::new(secret).digester();
        for key in ["charge", "charge ", "", "заказ", &longest] {
            let made = hex(&digester.of(Of::Key, key.as_bytes()));
            vectors.push(json!({ "secret": hex(&secret), "key": key, "idempotency_key": made }));
        }
    }
    Value::Array(vectors)
}

/// When the call of a link ends.
const UNTIL: u64 = 1_800_003_600_000;

fn link(secret: [u8; 16], key: &str, until: u64, subject: Option<&str>) -> link::Handle {
    let question = Secret::new(secret).digester().of(Of::Link, key.as_bytes());
    link::Handle::new(&question, Moment::from_millis(until), subject)
}

fn links() -> Value {
    let secret = filled::<16>(0x21);
    let last = Moment::LAST.as_millis();
    let vector = |&(key, until, subject): &(&str, u64, Option<&str>)| {
        let handle = link(secret, key, until, subject);
        let text = handle.to_string();
        let now = Moment::from_millis(until - 1);
        assert_eq!(link::Handle::opened_by(&text, subject, now), Ok(handle));
        assert_eq!(handle.until().as_millis(), until);
        json!({
            "secret": hex(&secret), "key": key, "until": until, "subject": subject, "link": text,
        })
    };
    [
        ("pay", UNTIL, None),
        ("pay", UNTIL, Some("")),
        ("pay", UNTIL, Some("ada")),
        ("pay", UNTIL + 1, Some("ada")),
        ("sign in", UNTIL, Some("Ζωή 🗝")),
        ("", 1, Some("ada\u{0}")),
        ("pay", last, Some("ada")),
    ]
    .iter()
    .map(vector)
    .collect()
}

/// Links that somebody opens who gets nothing by it.
fn refused_links() -> Value {
    let secret = filled::<16>(0x21);
    let (ada, anybody) = (Some("ada"), None);
    let text = link(secret, "pay", UNTIL, ada).to_string();
    let open = link(secret, "pay", UNTIL, anybody).to_string();
    let bytes = URL_SAFE_NO_PAD.decode(&text).expect("base64url");
    let changed = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        URL_SAFE_NO_PAD.encode(bytes)
    };
    assert_eq!(text.len() % 4, 3, "the last character has bits to spare");
    let last = text.as_bytes()[text.len() - 1];
    let spare = format!("{}{}", &text[..text.len() - 1], char::from(last + 1));
    let (now, text_is_bad, not_theirs) =
        (UNTIL - 1, link::BadHandle::Text, link::BadHandle::Subject);
    let vectors = [
        ("nothing", String::new(), ada, now, text_is_bad),
        (
            "cut",
            text[..text.len() - 1].to_owned(),
            ada,
            now,
            text_is_bad,
        ),
        (
            "a byte less",
            text[..text.len() - 2].to_owned(),
            ada,
            now,
            text_is_bad,
        ),
        (
            "a character more",
            format!("{text}A"),
            ada,
            now,
            text_is_bad,
        ),
        ("padded", format!("{text}="), ada, now, text_is_bad),
        ("bits to spare that are set", spare, ada, now, text_is_bad),
        (
            "the other alphabet",
            format!("{}+", &text[..50]),
            ada,
            now,
            text_is_bad,
        ),
        (
            "a line feed behind",
            format!("{text}\n"),
            ada,
            now,
            text_is_bad,
        ),
        ("somebody else", text.clone(), Some("bob"), now, not_theirs),
        (
            "somebody whose name is empty",
            text.clone(),
            Some(""),
            now,
            not_theirs,
        ),
        ("nobody that is known", text.clone(), None, now, not_theirs),
        ("another question", changed(0), ada, now, not_theirs),
        ("another end of the call", changed(21), ada, now, not_theirs),
        ("another reader", changed(22), ada, now, not_theirs),
        (
            "the call has ended",
            text,
            ada,
            UNTIL,
            link::BadHandle::Over,
        ),
        (
            "the call has ended, for anybody",
            open,
            ada,
            UNTIL,
            link::BadHandle::Over,
        ),
    ];
    let vector = |(name, text, subject, now, why): &(&str, String, Option<&str>, u64, _)| {
        let refused = link::Handle::opened_by(text, *subject, Moment::from_millis(*now));
        assert_eq!(refused, Err(*why), "{name}");
        let why = match why {
            link::BadHandle::Text => "text",
            link::BadHandle::Subject => "subject",
            link::BadHandle::Over => "over",
            other => panic!("{other:?} is new"),
        };
        json!({ "name": name, "link": text, "subject": subject, "now": now, "why": why })
    };
    vectors.iter().map(vector).collect()
}

/// Collects what is refused.
struct Refusals(Vec<Value>);

impl Refusals {
    /// A state that a ring of these keys refuses.
    fn add(&mut self, name: &str, keys: &[&str], text: &str, refusal: Refusal) {
        self.add_longer(name, keys, text, LONGEST, refusal);
    }

    fn add_longer(&mut self, name: &str, keys: &[&str], text: &str, longest: usize, why: Refusal) {
        let refused = opened(&ring(keys), text, longest);
        assert_eq!(refused.expect_err(name), why, "{name}");
        self.0.push(json!({
            "name": name, "keys": keys, "longest": longest, "state": text, "refusal": why.reason(),
        }));
    }

    /// A payload that was sealed properly and cannot be read.
    fn contents(&mut self, name: &str, payload: &[u8]) {
        let text = seal(&ring(&["counting"]), payload);
        self.add(name, &["counting"], &text, Refusal::Contents);
    }
}

fn refused() -> Value {
    let mut all = Refusals(Vec::new());
    let ours = &["counting"][..];
    let payload = payload(1);
    let good = seal(&ring(ours), &[&payload[..], &[6, 0, 0, 1, b'x']].concat());
    assert!(opened(&ring(ours), &good, LONGEST).is_ok());
    let bytes = URL_SAFE_NO_PAD.decode(&good).expect("base64url");
    assert_eq!(bytes.len() % 3, 2, "the last character has bits to spare");
    let changed = |at: usize, by: u8| {
        let mut bytes = bytes.clone();
        bytes[at] ^= by;
        URL_SAFE_NO_PAD.encode(bytes)
    };

    for (name, text) in [
        (
            "the other alphabet",
            format!("{}+", &good[..good.len() - 1]),
        ),
        ("a space behind", format!("{good} ")),
        (
            "a line feed within",
            format!("{}\n{}", &good[..8], &good[8..]),
        ),
        ("beyond ASCII", format!("{}ä", &good[..good.len() - 2])),
    ] {
        all.add(name, ours, &text, Refusal::Alphabet);
    }

    let even = seal(&ring(ours), &payload);
    assert_eq!(even.len() % 4, 0, "nothing to pad");
    for (name, text) in [
        ("padded", format!("{good}=")),
        ("padded, with nothing to pad", format!("{even}=")),
        ("padded twice", format!("{even}==")),
        ("padding within", format!("{}={}", &good[..30], &good[31..])),
    ] {
        all.add(name, ours, &text, Refusal::Spelling);
    }
    let last = good.as_bytes()[good.len() - 1];
    let spare = char::from(match last {
        b'A'..=b'Y' | b'a'..=b'y' | b'0'..=b'8' => last + 1,
        other => panic!("{other} is followed by no neighbour"),
    });
    let text = format!("{}{spare}", &good[..good.len() - 1]);
    all.add("bits to spare that are set", ours, &text, Refusal::Spelling);

    for cut in [0, 1, 2, 4, 5, 6, 8, 30, good.len() - 4, good.len() - 1] {
        let name = format!("cut to {cut} characters");
        all.add(&name, ours, &good[..cut], Refusal::Truncated);
    }
    let short = URL_SAFE_NO_PAD.encode([&[1, 0, 0, 35], &bytes[4..35]].concat());
    all.add("no room for a tag", ours, &short, Refusal::Truncated);
    let text = changed(3, 1);
    all.add(
        "a length that is too great",
        ours,
        &text,
        Refusal::Truncated,
    );

    let longer = URL_SAFE_NO_PAD.encode([&bytes[..], &[0]].concat());
    all.add("a byte more", ours, &longer, Refusal::Extended);
    let twice = URL_SAFE_NO_PAD.encode([&bytes[..], &bytes].concat());
    all.add("twice", ours, &twice, Refusal::Extended);
    let text = changed(3, 0x80);
    all.add("a length that is too small", ours, &text, Refusal::Extended);

    for (name, by) in [("form 0", 1), ("form 3", 2), ("form 255", 0xfe)] {
        all.add(name, ours, &changed(0, by), Refusal::Form);
    }
    all.add(
        "form 2 without a codec",
        ours,
        &changed(0, 3),
        Refusal::Form,
    );

    all.add(
        "a key that is gone",
        &["current", "long"],
        &good,
        Refusal::UnknownKey,
    );
    all.add("another id", ours, &changed(4, 0x80), Refusal::UnknownKey);

    let mut other = bytes.clone();
    other[4..8].copy_from_slice(&ring(&["long"]).current().0);
    let other = URL_SAFE_NO_PAD.encode(other);
    all.add(
        "the id of another key",
        &["counting", "long"],
        &other,
        Refusal::Tampered,
    );
    for (name, at) in [
        ("the nonce", 8),
        ("the method", 20),
        ("the last of the payload", bytes.len() - 17),
        ("the tag", bytes.len() - 1),
    ] {
        all.add(
            &format!("changed: {name}"),
            ours,
            &changed(at, 1),
            Refusal::Tampered,
        );
    }
    let cut = [
        &[1, 0, 0, bytes.len() as u8 - 1],
        &bytes[4..bytes.len() - 1],
    ]
    .concat();
    let cut = URL_SAFE_NO_PAD.encode(cut);
    all.add("cut, with a length to match", ours, &cut, Refusal::Tampered);
    let text = stored_as_state(&payload);
    all.add("sealed for a store", ours, &text, Refusal::Tampered);

    let longest = bytes.len() - 1;
    all.add_longer("one byte too long", ours, &good, longest, Refusal::TooLong);

    all.contents("no payload", b"");
    all.contents("claims that are cut", &payload[..claims::LENGTH - 1]);
    for method in [0, 4, 255] {
        let payload = [&[method], &payload[1..]].concat();
        all.contents(&format!("method {method}"), &payload);
    }
    for (name, body) in refused_bodies() {
        all.contents(&name, &[&payload[..], &body].concat());
    }
    Value::Array(all.0)
}

/// Bodies that break one rule each.
fn refused_bodies() -> Vec<(String, Vec<u8>)> {
    let digest = [5; 16];
    let by_hand = section(1, &[b"k"]);
    let pending = section(2, &[&digest, &[0, 0], &[1], b"k", b"note"]);
    let answered = section(3, &[&digest, &[0, 0], &[0, 1], &[1], b"k", b"{}"]);
    let step = section(4, &[&[0, 1, 1], &[1], b"k", b"{}"]);
    let rounds = section(5, &[&[0, 1]]);
    let state = section(6, &[b"x"]);
    let handle = section(7, &[&digest]);
    let all = [
        ("a question by hand", &by_hand),
        ("a pending question", &pending),
        ("an answered question", &answered),
        ("a step", &step),
        ("the count of rounds", &rounds),
        ("the author's state", &state),
        ("a handle", &handle),
    ];
    let mut bodies = Vec::new();
    let mut add = |name: &str, body: Vec<u8>| bodies.push((name.to_owned(), body));
    // Each is good by itself, so that it is the one rule that makes it bad.
    for (name, section) in all {
        assert!(Body::read(section).is_ok(), "{name}");
    }

    for (at, (later, after)) in all.iter().enumerate() {
        for (earlier, before) in &all[..at] {
            let name = format!("{earlier} after {later}");
            add(&name, [&after[..], before].concat());
        }
    }
    for (name, twice) in &all[4..] {
        add(&format!("{name}, twice"), twice.repeat(2));
    }
    for (name, before) in &all[..6] {
        add(
            &format!("{name} and a handle"),
            [&before[..], &handle].concat(),
        );
    }

    add("half a section head", vec![1, 0, 0]);
    add("a section that is cut", vec![6, 0, 0, 2, b'x']);
    add("section 0", section(0, &[]));
    add("an unknown section", section(8, &[]));
    add("section 255", section(255, &[]));

    let bad = [0xff];
    add("by hand: no UTF-8", section(1, &[&bad]));
    add("state: no UTF-8", section(6, &[&[0xed, 0xa0, 0x80]]));
    for (name, tag, head) in [
        ("pending", 2, &[&digest[..], &[0, 0]].concat()[..]),
        ("answered", 3, &[&digest[..], &[0, 0, 0, 1]].concat()),
        ("step", 4, &[0, 1]),
    ] {
        add(&format!("{name}: nothing"), section(tag, &[]));
        add(
            &format!("{name}: cut before the length of the key"),
            section(tag, &[head]),
        );
        add(
            &format!("{name}: cut in what is before the key"),
            section(tag, &[&head[..head.len() - 1]]),
        );
        add(
            &format!("{name}: a key that is longer than the rest"),
            section(tag, &[head, &[2], b"k"]),
        );
        add(
            &format!("{name}: a key that is no UTF-8"),
            section(tag, &[head, &[1], &bad, b"{}"]),
        );
        add(
            &format!("{name}: what is behind the key is no UTF-8"),
            section(tag, &[head, &[1], b"k", &bad]),
        );
        // Two bytes of one character, one in the key and one behind it.
        add(
            &format!("{name}: a key that ends within a character"),
            section(tag, &[head, &[1], "é".as_bytes()]),
        );
    }
    for length in [0, 1, 3] {
        add(
            &format!("rounds: {length} bytes"),
            section(5, &[&digest[..length]]),
        );
    }
    for length in [0, 15, 17] {
        add(
            &format!("handle: {length} bytes"),
            section(7, &[&[5; 17][..length]]),
        );
    }
    bodies
}

fn section(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let bytes = parts.concat();
    let length = u8::try_from(bytes.len()).expect("short");
    [&[tag, 0, 0, length], &bytes[..]].concat()
}

/// What was sealed to be stored, put into an envelope with all else as it should be.
fn stored_as_state(payload: &[u8]) -> String {
    let ring = ring(&["counting"]);
    let nonce = filled::<12>(0xd0);
    let length = u8::try_from(20 + payload.len() + 16).expect("short");
    let head = [&[1, 0, 0, length], &ring.current().0[..]].concat();
    let mut text = payload.to_vec();
    let tag = ring.seal(For::Stored, &nonce, &head, &mut text);
    URL_SAFE_NO_PAD.encode([&head[..], &nonce, &text, &tag].concat())
}

/// Claims of no matter what, as bytes.
fn payload(method: u8) -> Vec<u8> {
    let rest = (1..claims::LENGTH).map(|at| (at * 7 + 3) as u8);
    std::iter::once(method).chain(rest).collect()
}

fn seal(ring: &Ring, payload: &[u8]) -> String {
    let mut draft = Draft::default();
    draft.payload().extend_from_slice(payload);
    draft.seal(ring, filled(0xd0))
}

/// Opens a state like a server without a codec.
fn opened(ring: &Ring, text: &str, longest: usize) -> Result<(Claims, Body), Refusal> {
    let Envelope::Ring(bytes) = Envelope::read(text, longest)? else {
        return Err(Refusal::Form);
    };
    let payload = envelope::open(ring, bytes)?;
    let (claims, body) = Claims::read(payload.as_bytes())?;
    Ok((claims, Body::read(body)?))
}

fn form(json: &str) -> Vec<u8> {
    let mut form = Vec::new();
    canonical(json, &mut form).expect("unambiguous");
    form
}

/// Bytes that count on from the first.
fn filled<const N: usize>(first: u8) -> [u8; N] {
    std::array::from_fn(|at| first.wrapping_add(at as u8))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
