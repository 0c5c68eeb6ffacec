//! Sealed states: nothing opens but what was sealed here, what can be read has one spelling, and no
//! ledger is such that a handler could not run with it.
#![no_main]

use std::sync::LazyLock;

use antiphon_core::{
    asking::{Asking, Limits},
    ledger::{Body, Ledger},
    seal::{
        Key, NONCE,
        claims::Claims,
        envelope::{self, Draft, Envelope},
        refusal::Refusal,
        ring::Ring,
    },
};
use antiphon_types::InputRequest;
use libfuzzer_sys::fuzz_target;

/// Bytes, which have 2000 characters.
const LONGEST: usize = 1500;

static RING: LazyLock<Ring> = LazyLock::new(|| {
    let keys = [1, 2].map(|byte| Key::new(&[byte; 32]).expect("long enough"));
    Ring::new(&keys).expect("two keys")
});

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = str::from_utf8(data) {
        a_text(text);
    }
    a_payload(data);
    a_body(data);
    if let Some((at, payload)) = data.split_first_chunk() {
        there_and_back(payload, usize::from(u16::from_be_bytes(*at)));
    }
});

fn a_text(text: &str) {
    match Envelope::read(text, LONGEST) {
        Ok(Envelope::Ring(bytes)) => {
            assert!(bytes.len() <= LONGEST && text.len() <= 2000);
            let nonce = bytes.get(8..20).and_then(|nonce| nonce.try_into().ok());
            // None but the seeds were ever sealed under these keys.
            if let Ok(payload) = envelope::open(&RING, bytes) {
                let nonce = nonce.expect("there is one in what opens");
                assert_eq!(seal(payload.as_bytes(), nonce), text);
                a_payload(payload.as_bytes());
            }
        }
        Ok(Envelope::Codec(bytes)) => {
            assert!(bytes.len() <= LONGEST && text.len() <= 2000);
            assert_eq!(envelope::wrap(&bytes), text);
        }
        Err(Refusal::TooLong) => assert!(text.len() > 2000),
        Err(
            Refusal::Alphabet
            | Refusal::Spelling
            | Refusal::Truncated
            | Refusal::Extended
            | Refusal::Form,
        ) => {}
        Err(other) => panic!("an envelope cannot tell {other}"),
    }
}

fn a_payload(payload: &[u8]) {
    let (claims, body) = match Claims::read(payload) {
        Ok(read) => read,
        Err(why) => return assert_eq!(why, Refusal::Contents),
    };
    let mut again = Vec::new();
    claims.write(&mut again);
    again.extend_from_slice(body);
    assert_eq!(again, payload);
    a_body(body);
}

fn a_body(bytes: &[u8]) {
    let body = Body::read(bytes);
    assert_eq!(body.is_ok(), is_body(bytes), "the plain reader disagrees");
    let mut again = Vec::new();
    match body {
        Ok(Body::Ledger(ledger)) => {
            ledger.write(&mut again).expect("no larger than it was");
            a_run(ledger);
        }
        Ok(Body::Elsewhere(handle)) => Body::write_handle(handle, &mut again),
        Err(why) => return assert_eq!(why, Refusal::Contents),
    }
    assert_eq!(again, bytes);
}

/// A plain reader, which tells only whether it is one.
fn is_body(mut rest: &[u8]) -> bool {
    let mut tags = Vec::new();
    while !rest.is_empty() {
        if rest.len() < 4 {
            return false;
        }
        let length = usize::from(rest[1]) << 16 | usize::from(rest[2]) << 8 | usize::from(rest[3]);
        if rest.len() < 4 + length {
            return false;
        }
        let section = &rest[4..4 + length];
        let has_key = |head: usize| {
            let Some(&length) = section.get(head) else {
                return false;
            };
            let rest = &section[head + 1..];
            let length = usize::from(length);
            rest.len() >= length
                && str::from_utf8(&rest[..length]).is_ok()
                && str::from_utf8(&rest[length..]).is_ok()
        };
        let good = match rest[0] {
            1 | 6 => str::from_utf8(section).is_ok(),
            2 => has_key(18),
            3 => has_key(20),
            4 => has_key(3),
            5 => length == 2,
            7 => length == 16,
            _ => false,
        };
        if !good {
            return false;
        }
        tags.push(rest[0]);
        rest = &rest[4 + length..];
    }
    let count = |tag: u8| tags.iter().filter(|other| **other == tag).count();
    tags.is_sorted() && count(5) <= 1 && count(6) <= 1 && (count(7) == 0 || tags.len() == 1)
}

/// A handler that asks for all it can think of, and is content with nothing.
fn a_run(ledger: Ledger) {
    let mut limits = Limits::default();
    limits.answer_bytes = 8;
    let pending: Vec<_> = ledger.pending().map(str::to_owned).collect();
    let answers = pending.iter().step_by(2).map(|key| (&**key, r#"{"a":1}"#));
    let (before, questions) = (ledger.steps.clone(), ledger.questions.clone());
    let mut asking = Asking::next(ledger, 7, answers, limits);
    for (at, question) in questions.iter().enumerate() {
        let digest = match at % 3 {
            0 => [7; 16],
            _ => question.digest,
        };
        match asking
            .find(&question.key, &digest)
            .map(|answer| answer.is_some())
        {
            Ok(true) => {
                let errors = vec!["is bad".to_owned()];
                _ = asking.ask_again(&question.key, errors, InputRequest::roots());
            }
            Ok(false) => _ = asking.ask(&question.key, InputRequest::roots()),
            Err(_) => {}
        }
        _ = asking.done(&question.key);
    }
    let next = asking.next_ledger(|_| true);
    assert!(next.pending().eq(asking.pending()));
    assert_eq!(next.steps, before);
    let mut bytes = Vec::new();
    next.write(&mut bytes)
        .expect("keys are as long as they were");
    assert_eq!(Body::read(&bytes), Ok(Body::Ledger(next)));
}

/// Seals a payload, and opens it as it is and with one character changed.
fn there_and_back(payload: &[u8], at: usize) {
    let open = |text: &str| match Envelope::read(text, usize::MAX) {
        Ok(Envelope::Ring(bytes)) => envelope::open(&RING, bytes).ok(),
        _ => None,
    };
    let mut text = seal(payload, [9; NONCE]);
    let opened = open(&text).expect("just sealed");
    assert_eq!(opened.as_bytes(), payload);
    let at = at % text.len();
    let other = if text.as_bytes()[at] == b'A' {
        "B"
    } else {
        "A"
    };
    text.replace_range(at..=at, other);
    assert!(open(&text).is_none(), "{text}");
}

fn seal(payload: &[u8], nonce: [u8; NONCE]) -> String {
    let mut draft = Draft::default();
    draft.payload().extend_from_slice(payload);
    draft.seal(&RING, nonce)
}
