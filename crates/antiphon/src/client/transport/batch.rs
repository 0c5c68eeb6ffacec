//! Batches: several messages in one, which revision 2025-03-26 has (LEG-B-05).

use std::{collections::VecDeque, fmt};

use antiphon_types::Version;
use bytes::Bytes;
use serde::{
    Deserializer,
    de::{Error as _, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// Messages that one batch may have.
const LONGEST: usize = 10_000;

/// Adds the messages in `text` to `messages`. What is no batch, or none that can be read, is one.
pub(in crate::client) fn split(version: Version, text: Bytes, messages: &mut VecDeque<Bytes>) {
    if version == Version::V2025_03_26
        && text.trim_ascii_start().first() == Some(&b'[')
        && let Ok(parts) = serde_json::Deserializer::from_slice(&text).deserialize_seq(Parts)
        && !parts.is_empty()
    {
        let parts = parts.into_iter();
        messages.extend(parts.map(|part| text.slice_ref(part.get().as_bytes())));
    } else {
        messages.push_back(text);
    }
}

struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a batch")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut batch: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = batch.next_element()? {
            if parts.len() == LONGEST {
                return Err(A::Error::custom("the batch is too long"));
            }
            parts.push(part);
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(version: Version, text: &str) -> Vec<String> {
        let mut messages = VecDeque::new();
        split(
            version,
            Bytes::copy_from_slice(text.as_bytes()),
            &mut messages,
        );
        let text = |part: Bytes| String::from_utf8(part.to_vec()).expect("UTF-8");
        messages.into_iter().map(text).collect()
    }

    #[test]
    fn one_revision_has_batches() {
        let batch = r#" [{"id":1}, {"id": 2}]"#;
        let split = parts(Version::V2025_03_26, batch);
        assert_eq!(split, [r#"{"id":1}"#, r#"{"id": 2}"#]);
        for version in [
            Version::V2024_11_05,
            Version::V2025_06_18,
            Version::V2025_11_25,
        ] {
            assert_eq!(parts(version, batch), [batch]);
        }
    }

    #[test]
    fn what_is_no_batch_is_left_alone() {
        let long = format!("[{}0]", "0,".repeat(LONGEST));
        for text in ["{}", "[]", "[{}", "[", "x", "", &long] {
            assert_eq!(parts(Version::V2025_03_26, text), [text]);
        }
        let fits = format!("[{}0]", "0,".repeat(LONGEST - 1));
        assert_eq!(parts(Version::V2025_03_26, &fits).len(), LONGEST);
    }
}
