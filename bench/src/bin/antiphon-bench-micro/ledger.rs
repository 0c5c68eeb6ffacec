//! What a call carries from round to round, and the digest of what it is about.

use std::hint::black_box;

use antiphon_core::{
    canonical::canonical,
    ledger::{Body, Ledger, Question, Standing, Step},
    seal::digest::{Of, Secret},
};

use crate::{messages, meter::Meter};

/// Three answers, a question that waits, and a step that is done.
fn ledger() -> Ledger {
    let question = |key: &str, standing| Question {
        key: key.into(),
        digest: [7; 16],
        tries: 0,
        drifts: 0,
        standing,
    };
    let answered = |key, round, content: &str| {
        let answer = format!(r#"{{"action":"accept","content":{content}}}"#).into();
        question(key, Standing::Answered { round, answer })
    };
    Ledger {
        questions: vec![
            question("confirm", Standing::Pending("".into())),
            answered("name", 1, r#"{"name":"Low Water","berth":4}"#),
            answered("region", 1, r#"{"region":"rotterdam"}"#),
            answered("urgent", 2, r#"{"ok":true}"#),
        ],
        steps: vec![Step {
            key: "draft".into(),
            round: 2,
            shared: 1,
            result: format!(r#""{}""#, messages::TEXT).into(),
        }],
        ..Ledger::default()
    }
}

/// Writing it.
pub(crate) fn write(meter: &mut Meter) {
    let ledger = ledger();
    meter.repeat(|meter| {
        let written = meter.count(|| {
            let mut out = Vec::new();
            let written = black_box(&ledger).write(&mut out);
            written.map(|()| out)
        });
        let written = written.expect("it is small");
        let Ok(Body::Ledger(read)) = Body::read(&written) else {
            panic!("a ledger")
        };
        assert_eq!(read, ledger);
    });
}

/// Reading it.
pub(crate) fn read(meter: &mut Meter) {
    let ledger = ledger();
    let mut written = Vec::new();
    ledger.write(&mut written).expect("it is small");
    meter.repeat(|meter| {
        let questions = meter.count(|| match black_box(Body::read(black_box(&written))) {
            Ok(Body::Ledger(read)) => read.questions.len(),
            _ => panic!("a ledger"),
        });
        assert_eq!(questions, ledger.questions.len());
    });
}

/// What binds a state to the arguments of its call: their one spelling, digested.
pub(crate) fn digest(meter: &mut Meter) {
    let secret = Secret::new([7; 16]);
    let mut other = Vec::new();
    let spelt = r#"{ "text": "\u0043onfirm", "copies": 2.0 }"#;
    canonical(spelt, &mut other).expect("JSON");
    let expected = secret.digester().of(Of::Arguments, &other);
    let text = r#"{"copies":2,"text":"Confirm"}"#;
    meter.repeat(|meter| {
        let digest = meter.count(|| {
            let mut spelling = Vec::new();
            canonical(black_box(text), &mut spelling).expect("JSON");
            black_box(&secret).digester().of(Of::Arguments, &spelling)
        });
        assert_eq!(digest, expected);
    });
}
