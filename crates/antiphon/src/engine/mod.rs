//! What turns messages into calls and results into messages, whatever the transport.

pub(crate) mod admit;
pub(crate) mod answer;
pub(crate) mod connection;
pub(crate) mod dispatch;
pub(crate) mod endpoint;
mod glimpse;
pub(crate) mod inflight;
pub(crate) mod lifecycle;
pub(crate) mod lines;
pub(crate) mod listen;
pub(crate) mod log;
pub(crate) mod observe;
mod otel;
pub(crate) mod outbox;
pub(crate) mod params;
pub(crate) mod progress;
pub(crate) mod running;
pub(crate) mod unattended;
pub(crate) mod unwind;
