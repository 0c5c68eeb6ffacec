//! `inputResponses`: every entry is found, and what was read writes and reads the same.
#![no_main]

use std::{collections::BTreeMap, fmt::Debug};

use antiphon_core::answers::{Answer, Answers};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

fuzz_target!(|text: &str| {
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else {
        return;
    };
    let map = serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get());
    let answers = match Answers::parse(Some(raw)) {
        Ok(answers) => answers,
        Err(error) => {
            assert_eq!(error.code, -32602);
            // What is an object, with readable keys, is refused only for repeated ones.
            assert!(map.is_err() || error.message.contains("stands twice"));
            return;
        }
    };
    if raw.get() == "null" {
        assert!(answers.is_empty());
        return;
    }
    let map = map.expect("an object");
    assert_eq!(answers.keys().count(), map.len());
    for (key, raw) in map {
        assert_eq!(answers.raw(&key).map(RawValue::get), Some(raw.get()));
        again(answers.elicit(&key));
        again(answers.sample(&key));
        again(answers.roots(&key));
    }
    assert_eq!(
        answers.raw("\u{0}none").is_some(),
        answers.keys().any(|key| key == "\u{0}none")
    );
});

fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(answer: Answer<T>) {
    match answer {
        Answer::Missing => panic!("the key was there"),
        Answer::Malformed(why) => assert!(!why.is_empty()),
        Answer::Given(answer) => {
            let json = serde_json::to_string(&answer).expect("serialises");
            assert_eq!(serde_json::from_str::<T>(&json).expect("reads"), answer);
        }
    }
}
