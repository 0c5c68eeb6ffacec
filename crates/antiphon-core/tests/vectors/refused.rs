//! What is refused, and why.

use super::*;

/// Collects what is refused.
struct Refusals(Vec<Value>);

impl Refusals {
    /// A state that a ring of these keys refuses.
    fn add(&mut self, name: &str, keys: &[&str], text: &str, refusal: Refusal) {
        self.add_longer(name, keys, text, LONGEST, refusal);
    }

    fn add_longer(&mut self, name: &str, keys: &[&str], text: &str, longest: usize, why: Refusal) {
        let refused = opened(&ring(keys), text, longest);
        assert_eq!(refused.expect_err(name), why, "{name}");
        self.0.push(json!({
            "name": name, "keys": keys, "longest": longest, "state": text, "refusal": why.reason(),
        }));
    }

    /// A payload that was sealed properly and cannot be read.
    fn contents(&mut self, name: &str, payload: &[u8]) {
        let text = seal(&ring(&["counting"]), payload);
        self.add(name, &["counting"], &text, Refusal::Contents);
    }
}

pub(crate) fn refused() -> Value {
    let mut all = Refusals(Vec::new());
    let ours = &["counting"][..];
    let payload = payload(1);
    let good = seal(&ring(ours), &[&payload[..], &[6, 0, 0, 1, b'x']].concat());
    assert!(opened(&ring(ours), &good, LONGEST).is_ok());
    let bytes = URL_SAFE_NO_PAD.decode(&good).expect("base64url");
    assert_eq!(bytes.len() % 3, 2, "the last character has bits to spare");
    let changed = |at: usize, by: u8| {
        let mut bytes = bytes.clone();
        bytes[at] ^= by;
        URL_SAFE_NO_PAD.encode(bytes)
    };

    for (name, text) in [
        (
            "the other alphabet",
            format!("{}+", &good[..good.len() - 1]),
        ),
        ("a space behind", format!("{good} ")),
        (
            "a line feed within",
            format!("{}\n{}", &good[..8], &good[8..]),
        ),
        ("beyond ASCII", format!("{}ä", &good[..good.len() - 2])),
    ] {
        all.add(name, ours, &text, Refusal::Alphabet);
    }

    let even = seal(&ring(ours), &payload);
    assert_eq!(even.len() % 4, 0, "nothing to pad");
    for (name, text) in [
        ("padded", format!("{good}=")),
        ("padded, with nothing to pad", format!("{even}=")),
        ("padded twice", format!("{even}==")),
        ("padding within", format!("{}={}", &good[..30], &good[31..])),
    ] {
        all.add(name, ours, &text, Refusal::Spelling);
    }
    let last = good.as_bytes()[good.len() - 1];
    let spare = char::from(match last {
        b'A'..=b'Y' | b'a'..=b'y' | b'0'..=b'8' => last + 1,
        other => panic!("{other} is followed by no neighbour"),
    });
    let text = format!("{}{spare}", &good[..good.len() - 1]);
    all.add("bits to spare that are set", ours, &text, Refusal::Spelling);

    for cut in [0, 1, 2, 4, 5, 6, 8, 30, good.len() - 4, good.len() - 1] {
        let name = format!("cut to {cut} characters");
        all.add(&name, ours, &good[..cut], Refusal::Truncated);
    }
    let short = URL_SAFE_NO_PAD.encode([&[1, 0, 0, 35], &bytes[4..35]].concat());
    all.add("no room for a tag", ours, &short, Refusal::Truncated);
    let text = changed(3, 1);
    all.add(
        "a length that is too great",
        ours,
        &text,
        Refusal::Truncated,
    );

    let longer = URL_SAFE_NO_PAD.encode([&bytes[..], &[0]].concat());
    all.add("a byte more", ours, &longer, Refusal::Extended);
    let twice = URL_SAFE_NO_PAD.encode([&bytes[..], &bytes].concat());
    all.add("twice", ours, &twice, Refusal::Extended);
    let text = changed(3, 0x80);
    all.add("a length that is too small", ours, &text, Refusal::Extended);

    for (name, by) in [("form 0", 1), ("form 3", 2), ("form 255", 0xfe)] {
        all.add(name, ours, &changed(0, by), Refusal::Form);
    }
    all.add(
        "form 2 without a codec",
        ours,
        &changed(0, 3),
        Refusal::Form,
    );

    all.add(
        "a key that is gone",
        &["current", "long"],
        &good,
        Refusal::UnknownKey,
    );
    all.add("another id", ours, &changed(4, 0x80), Refusal::UnknownKey);

    let mut other = bytes.clone();
    other[4..8].copy_from_slice(&ring(&["long"]).current().0);
    let other = URL_SAFE_NO_PAD.encode(other);
    all.add(
        "the id of another key",
        &["counting", "long"],
        &other,
        Refusal::Tampered,
    );
    for (name, at) in [
        ("the nonce", 8),
        ("the method", 20),
        ("the last of the payload", bytes.len() - 17),
        ("the tag", bytes.len() - 1),
    ] {
        all.add(
            &format!("changed: {name}"),
            ours,
            &changed(at, 1),
            Refusal::Tampered,
        );
    }
    let cut = [
        &[1, 0, 0, bytes.len() as u8 - 1],
        &bytes[4..bytes.len() - 1],
    ]
    .concat();
    let cut = URL_SAFE_NO_PAD.encode(cut);
    all.add("cut, with a length to match", ours, &cut, Refusal::Tampered);
    let text = stored_as_state(&payload);
    all.add("sealed for a store", ours, &text, Refusal::Tampered);

    let longest = bytes.len() - 1;
    all.add_longer("one byte too long", ours, &good, longest, Refusal::TooLong);

    all.contents("no payload", b"");
    all.contents("claims that are cut", &payload[..claims::LENGTH - 1]);
    for method in [0, 4, 255] {
        let payload = [&[method], &payload[1..]].concat();
        all.contents(&format!("method {method}"), &payload);
    }
    for (name, body) in refused_bodies() {
        all.contents(&name, &[&payload[..], &body].concat());
    }
    Value::Array(all.0)
}

/// Bodies that break one rule each.
fn refused_bodies() -> Vec<(String, Vec<u8>)> {
    let digest = [5; 16];
    let by_hand = section(1, &[b"k"]);
    let pending = section(2, &[&digest, &[0, 0], &[1], b"k", b"note"]);
    let answered = section(3, &[&digest, &[0, 0], &[0, 1], &[1], b"k", b"{}"]);
    let step = section(4, &[&[0, 1, 1], &[1], b"k", b"{}"]);
    let rounds = section(5, &[&[0, 1]]);
    let state = section(6, &[b"x"]);
    let handle = section(7, &[&digest]);
    let all = [
        ("a question by hand", &by_hand),
        ("a pending question", &pending),
        ("an answered question", &answered),
        ("a step", &step),
        ("the count of rounds", &rounds),
        ("the author's state", &state),
        ("a handle", &handle),
    ];
    let mut bodies = Vec::new();
    let mut add = |name: &str, body: Vec<u8>| bodies.push((name.to_owned(), body));
    // Each is good by itself, so that it is the one rule that makes it bad.
    for (name, section) in all {
        assert!(Body::read(section).is_ok(), "{name}");
    }

    for (at, (later, after)) in all.iter().enumerate() {
        for (earlier, before) in &all[..at] {
            let name = format!("{earlier} after {later}");
            add(&name, [&after[..], before].concat());
        }
    }
    for (name, twice) in &all[4..] {
        add(&format!("{name}, twice"), twice.repeat(2));
    }
    for (name, before) in &all[..6] {
        add(
            &format!("{name} and a handle"),
            [&before[..], &handle].concat(),
        );
    }

    add("half a section head", vec![1, 0, 0]);
    add("a section that is cut", vec![6, 0, 0, 2, b'x']);
    add("section 0", section(0, &[]));
    add("an unknown section", section(8, &[]));
    add("section 255", section(255, &[]));

    let bad = [0xff];
    add("by hand: no UTF-8", section(1, &[&bad]));
    add("state: no UTF-8", section(6, &[&[0xed, 0xa0, 0x80]]));
    for (name, tag, head) in [
        ("pending", 2, &[&digest[..], &[0, 0]].concat()[..]),
        ("answered", 3, &[&digest[..], &[0, 0, 0, 1]].concat()),
        ("step", 4, &[0, 1]),
    ] {
        add(&format!("{name}: nothing"), section(tag, &[]));
        add(
            &format!("{name}: cut before the length of the key"),
            section(tag, &[head]),
        );
        add(
            &format!("{name}: cut in what is before the key"),
            section(tag, &[&head[..head.len() - 1]]),
        );
        add(
            &format!("{name}: a key that is longer than the rest"),
            section(tag, &[head, &[2], b"k"]),
        );
        add(
            &format!("{name}: a key that is no UTF-8"),
            section(tag, &[head, &[1], &bad, b"{}"]),
        );
        add(
            &format!("{name}: what is behind the key is no UTF-8"),
            section(tag, &[head, &[1], b"k", &bad]),
        );
        // Two bytes of one character, one in the key and one behind it.
        add(
            &format!("{name}: a key that ends within a character"),
            section(tag, &[head, &[1], "é".as_bytes()]),
        );
    }
    for length in [0, 1, 3] {
        add(
            &format!("rounds: {length} bytes"),
            section(5, &[&digest[..length]]),
        );
    }
    for length in [0, 15, 17] {
        add(
            &format!("handle: {length} bytes"),
            section(7, &[&[5; 17][..length]]),
        );
    }
    bodies
}

fn section(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let bytes = parts.concat();
    let length = u8::try_from(bytes.len()).expect("short");
    [&[tag, 0, 0, length], &bytes[..]].concat()
}
