//! The README and the guides are tests: their code compiles against the SDK.

#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/raw.md")]
#[doc = include_str!("../../docs/http.md")]
struct Guides;
