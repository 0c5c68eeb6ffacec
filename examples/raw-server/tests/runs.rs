//! The example runs.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

#[test]
fn it_greets_on_stdio() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_raw-server"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "greet", "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}}}});
    let mut input = child.stdin.take().expect("piped");
    writeln!(input, "{call}").expect("written");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one message");
    assert_eq!(answer["result"]["content"][0]["text"], "Hello!");
}
