//! What every peer shares: the command line of `bench/CONTRACT.md`, the runtime, the accept loop,
//! the arguments of `nested` and the text of the filler tools. Sharing them leaves the protocol work
//! as the difference.

mod flags;
mod http;
mod nested;

pub use flags::{Flags, Transport};
pub use http::serve;
pub use nested::Nested;

/// The protocol version that the harness speaks.
pub const VERSION: &str = "2026-07-28";

/// The input schema of every filler tool.
pub const FILLER_SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""a":{"type":"string","description":"first"},"#,
    r#""b":{"type":"integer","description":"second"},"#,
    r#""c":{"type":"boolean","description":"third"}},"#,
    r#""required":["a"]}"#,
);

/// The input schema of `nested`, as JSON.
pub fn nested_schema() -> String {
    schemars::schema_for!(Nested).as_value().to_string()
}

/// The name and the description of filler tool `index`.
pub fn filler(index: usize) -> (String, String) {
    (
        format!("filler_{index:04}"),
        format!("Filler tool number {index}."),
    )
}
