//! Clients of the revisions before 2026-07-28, on a channel of their own.

mod changes;
mod faults;
mod handshake;
mod questions;
mod shapes;
