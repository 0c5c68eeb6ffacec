//! The vectors of `docs/design/sealing-format.md` are what this code makes and refuses.
//!
//! `ANTIPHON_WRITE_VECTORS=1 cargo test -p antiphon-core --test vectors` writes them anew.

use std::{env, fs, path::Path, time::Duration};

use antiphon_core::{
    canonical::{Ambiguous, canonical},
    ledger::{Body, Ledger},
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
    questions: &'a [&'a str],
    state: Option<&'a str>,
    handle: Option<[u8; 16]>,
    /// In milliseconds.
    now: u64,
    /// How long the state and the call live, in seconds.
    life: (u64, u64),
    round: u16,
}

const PLAIN: State<'_> = State {
    name: "empty body",
    key: "counting",
    method: Method::CallTool,
    audience: "shop",
    target: "order",
    arguments: None,
    who: [None; 4],
    questions: &[],
    state: None,
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
            questions: &["confirm"],
            ..PLAIN
        },
        State {
            name: "two questions and the author's state, third round",
            key: "current",
            arguments: Some(r#"{ "copies": 2.0, "title": "\u0045mma" }"#),
            who: [None, Some(""), None, Some("proxy-user")],
            questions: &["confirm", ""],
            state: Some(r#"{"step":2}"#),
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
            questions: &["ключ🗝"],
            state: Some("état\u{0}\n\u{1f4da}"),
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
            state: Some(""),
            ..PLAIN
        },
        State {
            name: "the deadline is nearer than the time to live",
            life: (600, 60),
            state: Some("x"),
            ..PLAIN
        },
        State {
            name: "at the end of time",
            now: u64::MAX,
            round: u16::MAX,
            ..PLAIN
        },
    ];
    let states = states.iter().enumerate();
    states.map(|(at, state)| sealed_state(at, state)).collect()
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
    let questions = state.questions;
    let ledger = Ledger {
        by_hand: questions.iter().map(|key| (*key).to_owned()).collect(),
        state: state.state.map(str::to_owned),
        ..Ledger::default()
    };

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
            None => Body::Ledger(ledger),
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
        "body": {
            "questions": questions,
            "state": state.state,
            "handle": state.handle.map(|handle| hex(&handle)),
        },
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
    let plain = [b"q", &payload(1)[..], &[2, 0, 0, 1, b'x']].concat();
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
    let ledger = Ledger {
        by_hand: vec!["confirm".to_owned()],
        state: Some("x".repeat(70)),
        ..Ledger::default()
    };
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
    let good = seal(&ring(ours), &[&payload[..], &[2, 0, 0, 1, b'x']].concat());
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
    let digest = [5; 16];
    for (name, body) in [
        ("half a section head", &[1, 0, 0][..]),
        ("a section that is cut", &[2, 0, 0, 2, b'x']),
        ("an unknown section", &[4, 0, 0, 0]),
        ("section 0", &[0, 0, 0, 0]),
        ("a key that is no UTF-8", &[1, 0, 0, 1, 0xff]),
        ("a state that is no UTF-8", &[2, 0, 0, 3, 0xed, 0xa0, 0x80]),
        ("two states", &[2, 0, 0, 0, 2, 0, 0, 0]),
        ("a question after the state", &[2, 0, 0, 0, 1, 0, 0, 0]),
        (
            "a handle that is too short",
            &[&[3, 0, 0, 15], &digest[1..]].concat(),
        ),
        (
            "a handle that is too long",
            &[&[3, 0, 0, 17], &digest[..], &[0]].concat(),
        ),
        (
            "a handle and a state",
            &[&[3, 0, 0, 16], &digest[..], &[2, 0, 0, 0]].concat(),
        ),
        (
            "a state and a handle",
            &[&[2, 0, 0, 0, 3, 0, 0, 16], &digest[..]].concat(),
        ),
        (
            "two handles",
            &[&[3, 0, 0, 16], &digest[..], &[3, 0, 0, 16], &digest].concat(),
        ),
    ] {
        all.contents(name, &[&payload[..], body].concat());
    }
    Value::Array(all.0)
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
