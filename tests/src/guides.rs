//! The README is a test: its code compiles against the SDK. The guides are tested in `antiphon::guide`.

#[doc = include_str!("../../README.md")]
struct Readme;
