//! Arguments of tools and prompts: what violates the published schema never reaches the handler.
#![no_main]

use std::{
    cell::Cell,
    collections::{BTreeMap, HashSet},
    sync::OnceLock,
};

use antiphon::{
    Args, Server, memory,
    raw::Endpoint,
    schemars::{self, JsonSchema},
};
use antiphon_fuzz::runtime;
use jsonschema::Validator;
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

thread_local! {
    static REACHED: Cell<bool> = const { Cell::new(false) };
}

async fn reached<T>(_: Args<T>) -> &'static str {
    REACHED.set(true);
    "reached"
}

macro_rules! shapes {
    ($($(#[$attribute:meta])* $name:ident { $($(#[$on:meta])* $field:ident: $type:ty),* $(,)? })*) => {$(
        #[derive(Deserialize, JsonSchema)]
        $(#[$attribute])*
        #[allow(dead_code)]
        struct $name { $($(#[$on])* $field: $type),* }
    )*};
}

shapes! {
    Flat { a: String, b: Option<u8>, c: bool, d: f32, e: i64 }
    Deep { a: Vec<Flat>, b: BTreeMap<String, Part>, c: Option<Box<Deep>> }
    Part { size: u16 }
    Strict {
        #[schemars(length(min = 2, max = 4))] a: String,
        #[schemars(range(min = 3, max = 5))] b: i32,
        #[schemars(regex(pattern = "^x+$"))] c: Option<String>,
    }
    #[serde(deny_unknown_fields)]
    Closed { #[serde(alias = "z")] a: u8, #[serde(default)] b: u8 }
    Enums { a: Unit, b: Outer, c: Inner, d: Loose }
    Odd { a: HashSet<u8>, b: (u8, String), c: [bool; 2], d: char, e: Option<Option<u8>>, #[serde(flatten)] f: Part }
    Strings { a: u8, b: Option<bool>, c: Unit, d: Option<f64>, #[schemars(range(max = 9))] e: i8 }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    One,
    Two,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Outer {
    A,
    B(u8),
    C { x: u8 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code)]
enum Inner {
    A,
    B { x: u8 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Loose {
    Number(u8),
    Text(String),
    Part(Part),
}

const TOOLS: [&str; 6] = ["flat", "deep", "strict", "closed", "enums", "odd"];

fn endpoint() -> &'static (Endpoint, Vec<Validator>) {
    static ENDPOINT: OnceLock<(Endpoint, Vec<Validator>)> = OnceLock::new();
    ENDPOINT.get_or_init(|| {
        let server: Server = Server::new("fuzz", "1.0")
            .tool("flat", reached::<Flat>)
            .tool("deep", reached::<Deep>)
            .tool("strict", reached::<Strict>)
            .tool("closed", reached::<Closed>)
            .tool("enums", reached::<Enums>)
            .tool("odd", reached::<Odd>)
            .prompt("strings", reached::<Strings>);
        let endpoint = Endpoint::from(server);
        let list = runtime().block_on(async {
            endpoint.start().await.expect("it starts");
            ask(&endpoint, "tools/list", json!({}).to_string()).await
        });
        let tools = list["result"]["tools"].as_array().expect("a list");
        let validator =
            |tool: &Value| jsonschema::validator_for(&tool["inputSchema"]).expect("a schema");
        let validators = tools.iter().map(validator).collect();
        (endpoint, validators)
    })
}

/// Sends a request whose parameters are spelt like this.
async fn ask(endpoint: &Endpoint, method: &str, params: String) -> Value {
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let comma = if params.len() > 2 { "," } else { "" };
    let params = format!(r#"{{"_meta":{meta}{comma}{}"#, &params[1..]);
    let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let (mut client, server) = memory::pair();
    let talk = async {
        assert!(client.send(message).await);
        let answer = client.receive().await.expect("an answer");
        drop(client);
        serde_json::from_slice(&answer).expect("JSON")
    };
    tokio::join!(talk, memory::serve(endpoint.clone(), server)).0
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, arguments)) = bytes.split_first() else {
        return;
    };
    let Ok(arguments) = std::str::from_utf8(arguments) else {
        return;
    };
    let Ok(raw) = serde_json::from_str::<&RawValue>(arguments) else {
        return;
    };
    let raw = raw.get();
    let (endpoint, validators) = endpoint();
    let which = usize::from(*which) % (TOOLS.len() + 1);
    REACHED.set(false);
    let name = TOOLS.get(which).copied().unwrap_or("strings");
    let method = if which < TOOLS.len() {
        "tools/call"
    } else {
        "prompts/get"
    };
    let params = format!(r#"{{"name":"{name}","arguments":{raw}}}"#);
    let answer = runtime().block_on(ask(endpoint, method, params));
    assert!(
        answer.get("result").is_some() || answer.get("error").is_some(),
        "{answer}"
    );
    let Some(validator) = validators.get(which) else {
        return;
    };
    if REACHED.get() {
        let value: Value = match raw {
            "null" => json!({}),
            raw => serde_json::from_str(raw).expect("JSON"),
        };
        assert!(validator.is_valid(&value), "{name} was reached by {raw}");
    }
});
