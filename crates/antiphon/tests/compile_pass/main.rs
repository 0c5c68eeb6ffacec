//! What must compile; its opposite is in `compile_fail.rs`.

mod handlers;
mod tools;
