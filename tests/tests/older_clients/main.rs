//! Clients of the revisions before 2026-07-28, on every transport.

mod changes;
mod channels;
mod faults;
mod handshake;
mod questions;
mod shapes;
mod streams;
