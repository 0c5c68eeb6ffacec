//! Sealed states: nothing opens but what was sealed here, and what can be read has one spelling.
#![no_main]

use std::sync::LazyLock;

use antiphon_core::{
    ledger::Body,
    seal::{
        Key, NONCE,
        claims::Claims,
        envelope::{self, Draft, Envelope},
        refusal::Refusal,
        ring::Ring,
    },
};
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
    let read = Claims::read(payload).and_then(|(claims, body)| Ok((claims, Body::read(body)?)));
    let (claims, body) = match read {
        Ok(read) => read,
        Err(why) => return assert_eq!(why, Refusal::Contents),
    };
    let mut again = Vec::new();
    claims.write(&mut again);
    match &body {
        Body::Ledger(ledger) => ledger.write(&mut again).expect("no larger than it was"),
        Body::Elsewhere(handle) => Body::write_handle(*handle, &mut again),
    }
    assert_eq!(again, payload);
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
