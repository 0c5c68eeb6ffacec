//! What must compile; its opposite is in `compile_fail.rs`.

mod asking;
mod forms;
mod handlers;
mod resolvers;
mod tools;
