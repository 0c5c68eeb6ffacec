//! One whole message through an endpoint in memory: answered exactly once, under its own id.
#![no_main]

use antiphon::memory;
use antiphon_core::envelope::Message;
use antiphon_fuzz::{Due, due, endpoint, response_id, runtime};
use libfuzzer_sys::fuzz_target;

const PROBE: &str = r#"{"jsonrpc":"2.0","id":"\u0000probe","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const PROBE_ID: &str = r#""\u0000probe""#;

fuzz_target!(|bytes: &[u8]| {
    // On this id the probe would be refused while a subscription is open.
    if bytes.windows(5).any(|part| part == b"probe") || bytes.len() > 1024 {
        return;
    }
    let (mut client, server) = memory::pair();
    let (bytes, expected) = (bytes.to_vec(), due(bytes));
    let answers = runtime().block_on(async {
        let talk = async {
            assert!(client.send(bytes.clone()).await);
            assert!(client.send(PROBE).await);
            let mut answers = Vec::new();
            loop {
                let message = client.receive().await.expect("the server lives");
                match response_id(&message) {
                    Some(Due::Under(id)) if id == PROBE_ID => break,
                    Some(answer) => answers.push(answer),
                    None => {}
                }
            }
            drop(client);
            answers
        };
        tokio::join!(talk, memory::serve(endpoint().clone(), server)).0
    });
    assert_eq!(endpoint().calls(), 0, "every call is over");
    let method = std::str::from_utf8(&bytes).ok().and_then(|text| {
        let message = Message::parse(text).ok()?;
        Some(message.method().to_owned())
    });
    match answers.as_slice() {
        [] if expected == Due::Nothing => {}
        // It is still open.
        [] if method.as_deref() == Some("subscriptions/listen") => {}
        [answer] => assert_eq!(*answer, expected),
        other => panic!("{other:?} for {expected:?}"),
    }
});
