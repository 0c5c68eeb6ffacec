//! The command `audit`, and the servers that it must find wanting.

#[path = "../planted/mod.rs"]
mod planted;
#[allow(dead_code, reason = "others use the rest of it")]
#[path = "../commands/room.rs"]
mod room;
#[path = "../support/runtime.rs"]
mod runtime;
#[allow(dead_code, reason = "others use the rest of it")]
#[path = "../commands/served.rs"]
mod served;

mod flaws;
mod odd;
mod ours;
mod table;
mod verdicts;
mod wire;
