//! What clients and the log are told when something goes wrong.

use std::{fmt, io};

use antiphon::{
    Args, OrFail, Server, Stop,
    raw::Error,
    schemars::{self, JsonSchema},
};
use antiphon_tests::{request, wire::Connection};
use serde::Deserialize;
use serde_json::json;

#[derive(Debug)]
struct Outage(io::Error);

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the catalogue is out of reach")
    }
}

impl std::error::Error for Outage {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[derive(Deserialize, JsonSchema)]
struct How {
    how: String,
}

/// Ends in the way it is told to.
async fn work(Args(How { how }): Args<How>) -> Result<String, Stop> {
    let outage = || Outage(io::Error::other("password=hunter2"));
    match how.as_str() {
        "fail" => Err(Stop::fail("no such book")),
        "reject" => Err(Stop::reject(7, "go away")),
        "std" => Err(outage())?,
        "parse" => Ok("x".parse::<u8>()?.to_string()),
        "anyhow" => Err(anyhow::Error::new(outage())).or_fail()?,
        "context" => Err(anyhow::Error::new(outage()).context("the order failed")).or_fail()?,
        "boxed" => Err(Box::<dyn std::error::Error + Send + Sync>::from(
            "a boxed error",
        ))
        .or_fail()?,
        "string" => Err(String::from("a string")).or_fail()?,
        "anyhow?" => Err(anyhow::Error::new(outage()))?,
        "text?" => Err("a text")?,
        "rpc" => Err(Error::invalid_params("bad"))?,
        "reserved" => Err(Stop::reject(-32050, "made up")),
        "panic" => panic!("password=hunter2"),
        _ => Ok("fine".to_owned()),
    }
}

fn server() -> Server {
    Server::new("failing", "1.0")
        .tool("work", work)
        .prompt("work", work)
        .resource("work://{how}", work)
}

const KINDS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

async fn ask(connection: &mut Connection, method: &str, how: &str) -> serde_json::Value {
    let params = match method {
        "resources/read" => json!({ "uri": format!("work://{how}") }),
        _ => json!({ "name": "work", "arguments": { "how": how.replace("%3F", "?") } }),
    };
    connection.ask(&request(1, method, params)).await.response
}

/// TOOL-S-24, PROMPT-S-11, RES-S-11
#[tokio::test]
async fn each_way_to_fail_says_what_it_should() {
    for mut connection in [
        Connection::memory(server()),
        Connection::http(server()).await,
    ] {
        for (how, text) in [
            ("fail", "no such book"),
            ("std", "the catalogue is out of reach"),
            ("parse", "invalid digit found in string"),
            ("anyhow", "the catalogue is out of reach"),
            ("context", "the order failed"),
            ("boxed", "a boxed error"),
            ("string", "a string"),
            ("anyhow%3F", "the catalogue is out of reach"),
            ("text%3F", "a text"),
        ] {
            for method in KINDS {
                let answer = ask(&mut connection, method, how).await;
                match method {
                    "tools/call" => {
                        assert_eq!(answer["result"]["isError"], true, "{how}");
                        assert_eq!(answer["result"]["content"][0]["text"], text);
                    }
                    _ => {
                        assert_eq!(answer["error"]["code"], -32603, "{how}");
                        assert_eq!(answer["error"]["message"], text);
                    }
                }
                // Only the outermost text goes out.
                assert!(!answer.to_string().contains("hunter2"), "{answer}");
            }
        }
        for method in KINDS {
            for (how, code, text) in [
                ("reject", 7, "go away"),
                ("rpc", -32602, "bad"),
                // ERR-S-01: the protocol's range is not for handlers.
                ("reserved", -32603, "made up"),
                ("panic", -32603, "Internal error"),
            ] {
                let answer = ask(&mut connection, method, how).await;
                assert_eq!(answer["error"]["code"], code, "{method} {how} {answer}");
                assert_eq!(answer["error"]["message"], text);
            }
            // After all that the server still works.
            let answer = ask(&mut connection, method, "well").await;
            assert!(answer["result"].to_string().contains("fine"), "{answer}");
        }
    }
}

#[tokio::test]
async fn hidden_errors_are_incidents() {
    let mut connection = Connection::memory(server().hide_errors());
    for method in KINDS {
        for how in ["std", "anyhow", "boxed", "string", "parse"] {
            let answer = ask(&mut connection, method, how).await;
            let text = match method {
                "tools/call" => answer["result"]["content"][0]["text"].as_str(),
                _ => answer["error"]["message"].as_str(),
            };
            let text = text.expect("a text");
            let incident = text
                .strip_prefix("Something went wrong (incident ")
                .and_then(|rest| rest.strip_suffix(')'));
            assert_eq!(incident.map(str::len), Some(16), "{text}");
        }
        // What was written for the client stays.
        let answer = ask(&mut connection, method, "fail").await;
        assert!(answer.to_string().contains("no such book"), "{answer}");
    }
}

/// TOOL-S-23, PROMPT-S-11, RES-S-09, COMP-S-03
#[tokio::test]
async fn what_is_not_there_is_invalid() {
    let mut connection = Connection::memory(server());
    let long = "x".repeat(10_000);
    for (method, params) in [
        ("tools/call", json!({ "name": "nothing" })),
        ("tools/call", json!({ "name": long })),
        ("prompts/get", json!({ "name": "nothing" })),
        ("resources/read", json!({ "uri": "nothing://here" })),
        ("resources/read", json!({ "uri": "" })),
    ] {
        let answer = connection.request(method, params).await;
        answer.refused(-32602, 200);
        let text = answer.response["error"]["message"]
            .as_str()
            .expect("a text");
        assert!(text.len() < 300, "{}", text.len());
    }
}
