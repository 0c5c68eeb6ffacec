//! The vectors of `docs/design/sealing-format.md` are what this code makes and refuses.
//!
//! `ANTIPHON_WRITE_VECTORS=1 cargo test -p antiphon-core --test vectors` writes them anew.

mod questions;
mod refused;
mod states;

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
        "states": states::states(),
        "codec": codec(),
        "stored": stored(),
        "principals": principals(),
        "canonical": canonical_forms(),
        "ambiguous": ambiguous(),
        "questions": questions::questions(),
        "idempotency_keys": questions::idempotency_keys(),
        "links": questions::links(),
        "refused_links": questions::refused_links(),
        "refused": refused::refused(),
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
    let ledger = states::by_hand(&["confirm"], Some(&"x".repeat(70)));
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
