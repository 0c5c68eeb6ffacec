//! The nesting cap against a plain count, and against a recursive one on real JSON.
#![no_main]

use std::fmt;

use antiphon_core::depth::exceeds;
use libfuzzer_sys::fuzz_target;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

fuzz_target!(|text: &str| {
    let depth = counted(text);
    for max in [
        0,
        1,
        2,
        3,
        16,
        64,
        depth.saturating_sub(1),
        depth,
        depth + 1,
    ] {
        assert_eq!(exceeds(text, max), depth > max, "{depth} {max}");
    }
    if let Ok(Levels(levels)) = serde_json::from_str(text) {
        assert_eq!(levels, depth);
    }
});

/// The deepest level of brackets outside strings, byte by byte.
fn counted(text: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// How many levels a JSON value has.
struct Levels(usize);

impl<'de> Deserialize<'de> for Levels {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Count).map(Self)
    }
}

struct Count;

impl<'de> Visitor<'de> for Count {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_bool<E>(self, _: bool) -> Result<usize, E> {
        Ok(0)
    }
    fn visit_i64<E>(self, _: i64) -> Result<usize, E> {
        Ok(0)
    }
    fn visit_u64<E>(self, _: u64) -> Result<usize, E> {
        Ok(0)
    }
    fn visit_f64<E>(self, _: f64) -> Result<usize, E> {
        Ok(0)
    }
    fn visit_str<E>(self, _: &str) -> Result<usize, E> {
        Ok(0)
    }
    fn visit_unit<E>(self) -> Result<usize, E> {
        Ok(0)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<usize, A::Error> {
        let mut deepest = 0;
        while let Some(Levels(levels)) = seq.next_element()? {
            deepest = deepest.max(levels);
        }
        Ok(1 + deepest)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<usize, A::Error> {
        let mut deepest = 0;
        while let Some((_, Levels(levels))) = map.next_entry::<IgnoredAny, _>()? {
            deepest = deepest.max(levels);
        }
        Ok(1 + deepest)
    }
}
