//! Sealing and opening one state.
//!
//! `both` is all that a round does to a state: 200 bytes of the author's, one question, the claims,
//! bound to a tool and 48 bytes of arguments. `cipher` is the same cipher with a random nonce and
//! base64 around as many bytes, and nothing else.

use std::{hint::black_box, time::Duration};

use aes_gcm_siv::{
    Aes256GcmSiv, KeyInit, Nonce,
    aead::{Aead, Payload},
};
use antiphon_core::{
    canonical::canonical,
    ledger::{Body, Ledger},
    moment::Moment,
    seal::{
        Key,
        claims::{Claims, LENGTH, Life, Method, Request},
        digest::Secret,
        envelope::{self, Draft, Envelope},
        guard::StateId,
        ring::Ring,
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::meter::Meter;

const SECRET: [u8; 32] = [7; 32];
const ARGUMENTS: &str = r#"{"action":"deploy version 4.2 to production now"}"#;
/// The author's state.
const STATE: usize = 200;
/// The claims, a question's key, and the author's state.
const PAYLOAD: usize = LENGTH + (4 + 7) + (4 + STATE);

/// All that a round does.
pub(crate) fn both(meter: &mut Meter) {
    let ring = Ring::new([&Key::new(&SECRET).expect("a key")]).expect("a ring");
    let state = "s".repeat(STATE);
    meter.repeat(|meter| {
        let length = meter.count(|| sealed_and_opened(black_box(&ring), black_box(&state)));
        assert_eq!(length, STATE);
    });
}

/// The cipher and base64 alone.
pub(crate) fn cipher(meter: &mut Meter) {
    let cipher = Aes256GcmSiv::new(&SECRET.into());
    let plain = vec![b's'; PAYLOAD];
    meter.repeat(|meter| {
        let length = meter.count(|| encrypted_and_decrypted(black_box(&cipher), black_box(&plain)));
        assert_eq!(length, PAYLOAD);
    });
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("randomness");
    bytes
}

fn sealed_and_opened(ring: &Ring, state: &str) -> usize {
    let request = |arguments| Request {
        method: Method::CallTool,
        target: "confirm",
        arguments,
        principal: &[0; 4],
    };
    let now = Moment::from_millis(1_800_000_000_000);
    let mut arguments = Vec::new();
    canonical(ARGUMENTS, &mut arguments).expect("JSON");
    let life = Life {
        now,
        ttl: Duration::from_secs(600),
        deadline: now.after(Duration::from_secs(3600)),
    };
    // All that is random at once, as the server does it.
    let fresh: [u8; 44] = random();
    let (id, rest) = fresh.split_first_chunk().expect("16 of 44 bytes");
    let (secret, nonce) = rest.split_first_chunk().expect("16 of 28 bytes");
    let nonce: [u8; 12] = nonce.try_into().expect("12 bytes are left");
    let secret = Secret::new(*secret);
    let mut digester = secret.digester();
    let asked = request(&arguments);
    let claims = Claims::first(&asked, "bench", life, StateId(*id), secret, &mut digester);
    let mut draft = Draft::default();
    claims.write(draft.payload());
    let ledger = Ledger::default();
    let ledger = ledger.with(["confirm"], Some(state));
    ledger.write(draft.payload()).expect("small");
    assert_eq!(draft.as_bytes().len(), PAYLOAD);
    let text = draft.seal(ring, nonce);

    let Ok(Envelope::Ring(bytes)) = Envelope::read(black_box(&text), 1 << 20) else {
        panic!("an envelope")
    };
    let payload = envelope::open(ring, bytes).expect("ours");
    let (claims, body) = Claims::read(payload.as_bytes()).expect("claims");
    let mut arguments = Vec::new();
    canonical(ARGUMENTS, &mut arguments).expect("JSON");
    let mut digester = claims.secret.digester();
    let checked = claims.check(&request(&arguments), ["bench"], now, &mut digester);
    checked.expect("good");
    let Ok(Body::Ledger(ledger)) = Body::read(body) else {
        panic!("a ledger")
    };
    ledger.state.map_or(0, |state| state.len())
}

fn encrypted_and_decrypted(cipher: &Aes256GcmSiv, state: &[u8]) -> usize {
    let nonce: [u8; 12] = random();
    let payload = Payload {
        msg: state,
        aad: &[1; 8],
    };
    let sealed = cipher
        .encrypt(&Nonce::from(nonce), payload)
        .expect("sealed");
    let mut bytes = Vec::with_capacity(8 + 12 + sealed.len());
    bytes.extend_from_slice(&[1; 8]);
    bytes.extend_from_slice(&nonce);
    bytes.extend_from_slice(&sealed);
    let text = URL_SAFE_NO_PAD.encode(&bytes);

    let bytes = URL_SAFE_NO_PAD.decode(black_box(&text)).expect("base64");
    let nonce: [u8; 12] = bytes[8..20].try_into().expect("12 bytes");
    let payload = Payload {
        msg: &bytes[20..],
        aad: &bytes[..8],
    };
    let opened = cipher
        .decrypt(&Nonce::from(nonce), payload)
        .expect("opened");
    opened.len()
}
