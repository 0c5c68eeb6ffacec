//! Over stdio: a process a call.

use std::{io::Write, process};

use antiphon::{Stdio, client::CallTool, testing::Script};

use crate::{demo, every_flow, every_older_flow, older, table};

fn way() -> impl Fn() -> Stdio {
    || {
        let mut command = demo();
        command.arg("--stdio");
        Stdio::spawn(command)
    }
}

every_flow!(way());
every_older_flow!(way());

#[tokio::test]
async fn whoever_accepts_is_signed_in() {
    let script = Script::new().accept_link("signin");
    let played = script.play(way()(), CallTool::new("sign_in", ())).await;
    assert_eq!(played.text(), "Signed in as Ada.");
}

#[test]
fn standard_output_belongs_to_the_protocol() {
    let mut server = demo()
        .arg("--stdio")
        .stdin(process::Stdio::piped())
        .stdout(process::Stdio::piped())
        .stderr(process::Stdio::piped())
        .spawn()
        .expect("antiphon runs");
    let mut input = server.stdin.take().expect("piped");
    writeln!(input, "this is no message").expect("written");
    writeln!(input, r#"{{"jsonrpc":"2.0","id":1,"method":"none"}}"#).expect("written");
    drop(input);
    let output = server.wait_with_output().expect("it ends with its input");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains(r#""id":1"#), "{text}");
    for line in text.lines() {
        let message: serde_json::Value = serde_json::from_str(line).expect("a message");
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
    }
}
