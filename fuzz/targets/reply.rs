//! Messages of servers: what is read is what the text says, and never a panic.
#![no_main]

use antiphon_core::reply::Reply;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|bytes: &[u8]| {
    let Ok(reply) = Reply::parse(bytes) else {
        return;
    };
    // Some numbers fit no tree.
    let Ok(tree) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    assert_eq!(tree["jsonrpc"], "2.0");
    let read = |text: &str| serde_json::from_str::<Value>(text).expect("it was JSON");
    let is_there = |name: &str| !tree[name].is_null();
    match reply {
        Reply::Result { id, result } => {
            assert_eq!(read(result.get()), tree["result"]);
            // `-0` is a float to a tree, and the whole number to us.
            let zero = json!(id) == 0 && tree["id"].as_f64() == Some(0.0);
            assert!(zero || json!(id) == tree["id"]);
            assert!(!is_there("method") && !is_there("error"));
        }
        Reply::Error { id, error } => {
            assert_eq!(json!(error.code), tree["error"]["code"]);
            assert_eq!(error.message, tree["error"]["message"]);
            assert_eq!(id.is_some(), is_there("id"));
            assert!(!is_there("method") && !is_there("result"));
        }
        Reply::Notification { method, .. } => {
            assert_eq!(method, tree["method"].as_str().expect("a string"));
            assert!(!is_there("id"));
        }
        Reply::Request { id, method, .. } => {
            assert_eq!(read(id.get()), tree["id"]);
            assert_eq!(method, tree["method"].as_str().expect("a string"));
        }
    }
});
