//! Clients of older revisions over Streamable HTTP (wire.md 10.1): sessions, streams that can be
//! resumed, and calls that outlive their connections.

mod batch;
mod calls;
mod hosted;
mod id;
mod post;
mod pump;
mod reader;
mod settings;
mod stream;
mod streams;
mod table;
mod verbs;

pub use self::settings::{SessionCounts, Sessions};

pub(super) use self::post::{request, take, version};
pub(crate) use self::{
    batch::{Post, split},
    calls::{Calls, Turn},
    hosted::Hosted,
    pump::Around,
    reader::Reader,
    table::{SESSION_ID, Table},
    verbs::{delete, get},
};
