//! Samples by area. Each is built for a revision, with the members it has:
//! a minimal one and a full one.

mod capabilities;
mod complete;
mod content;
mod derived;
mod elicit;
mod form;
mod handshake;
mod jsonrpc;
mod listen;
mod notification;
pub(crate) mod older;
mod parts;
mod prompt;
mod resource;
mod roots;
mod round;
mod sampling;
mod task;
mod tool;

use antiphon_types::Version;

use crate::sample::Samples;

/// All samples of a revision.
pub(crate) fn of(version: Version) -> Samples {
    let mut samples = Samples::new(version);
    for add in [
        jsonrpc::add,
        capabilities::add,
        content::add,
        tool::add,
        prompt::add,
        resource::add,
        complete::add,
        sampling::add,
        roots::add,
        notification::add,
    ] {
        add(&mut samples);
    }
    if samples.since(Version::V2025_06_18) {
        form::add(&mut samples);
        derived::add(&mut samples);
        elicit::add(&mut samples);
    }
    if version == Version::V2025_11_25 {
        task::add(&mut samples);
    }
    if samples.modern() {
        round::add(&mut samples);
        listen::add(&mut samples);
    } else {
        handshake::add(&mut samples);
    }
    samples
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_sample_survives_decoding() {
        for version in Version::MODERN.iter().chain(Version::LEGACY) {
            for sample in of(*version).list {
                assert_eq!(sample.again.as_ref(), Ok(&sample.json), "{version}");
            }
        }
    }

    #[test]
    fn no_object_may_come_as_a_list() {
        for version in Version::MODERN.iter().chain(Version::LEGACY) {
            for sample in of(*version).list {
                for listed in with_a_list(&sample.json) {
                    // Where anything may stand, it is kept as it came.
                    if let Ok(again) = (sample.rewrite)(&listed.to_string()) {
                        assert_eq!(again, listed, "{version} {:?}", sample.definitions);
                    }
                }
            }
        }
    }

    /// Copies of `json` in which one object is a list of its members, with
    /// nulls for those it may lack.
    fn with_a_list(json: &Value) -> Vec<Value> {
        let mut copies = Vec::new();
        if let Value::Object(members) = json {
            let values = members.values().cloned();
            let padded = |nulls| values.clone().chain(vec![Value::Null; nulls]);
            copies.extend((0..3).map(|nulls| padded(nulls).collect()));
        }
        let inner: Vec<(String, &Value)> = match json {
            Value::Object(members) => members.iter().map(|(k, v)| (k.clone(), v)).collect(),
            Value::Array(items) => (0..).map(|i: usize| i.to_string()).zip(items).collect(),
            _ => Vec::new(),
        };
        for (key, value) in inner {
            for listed in with_a_list(value) {
                let mut copy = json.clone();
                match &mut copy {
                    Value::Array(items) => items[key.parse::<usize>().unwrap()] = listed,
                    object => object[&key] = listed,
                }
                copies.push(copy);
            }
        }
        copies
    }
}
