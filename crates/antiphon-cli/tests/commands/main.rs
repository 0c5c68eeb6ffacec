//! Every command of the program as a user runs it: real processes, real servers, no terminal.

#[allow(dead_code, reason = "others use the rest of it")]
#[path = "../support/authority.rs"]
mod authority;
mod demo;
mod room;
#[path = "../support/runtime.rs"]
mod runtime;
mod served;
mod shop;

mod answering;
mod arguments;
mod completions;
mod exits;
mod hostile;
mod inspecting;
mod interrupts;
mod listening;
mod misuse;
mod names;
mod older;
mod pausing;
mod results;
mod secrets;
mod signing_in;
mod targets;
mod tracing;
