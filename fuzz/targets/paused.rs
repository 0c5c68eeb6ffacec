//! Stored calls, whoever changed them: read or refused, stored again as they are, and answered
//! without a panic.
#![no_main]

use antiphon::client::{Answer, Paused};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|bytes: &[u8]| {
    let Ok(paused) = serde_json::from_slice::<Paused>(bytes) else {
        return;
    };
    let text = serde_json::to_string(&paused).expect("it can be stored");
    let again: Paused = serde_json::from_str(&text).expect("and read");
    assert_eq!(serde_json::to_string(&again).expect("and stored"), text);
    _ = format!("{paused:?}");
    _ = (paused.problems(), paused.retry_after(), paused.round());
    let keys: Vec<_> = paused.questions().map(|(key, _)| key.to_owned()).collect();
    let answered = keys.iter().fold(paused, |paused, key| {
        paused.answer(
            key,
            Answer::accept(json!({ "ok": true, "n": 1, "s": ["a"] })),
        )
    });
    assert_eq!(answered.unanswered().count(), 0);
    _ = answered.problems();
    let text = serde_json::to_string(&answered).expect("it can be stored");
    serde_json::from_str::<Paused>(&text).expect("and read");
});
