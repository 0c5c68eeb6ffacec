//! Several messages in one POST, which only 2025-03-26 has (LEG-B-05).

use std::sync::Arc;

use antiphon_core::{
    envelope::{Message, Slot},
    legacy,
    mirror::Header,
};
use antiphon_types::{ErrorObject, Version};
use bytes::Bytes;
use http::HeaderMap;

use super::{
    hosted::Hosted,
    post::{ASSUMED, refused},
    table::{Missing, Table},
};
use crate::{
    auth::Principal,
    engine::{admit::version_header, answer::Answer},
    legacy::{answering::unaddressed, channel::BATCH},
};

/// What a body holds.
pub(crate) enum Post {
    /// One message, or what will be refused as one.
    One,
    /// The messages of a batch, and the session they belong to, if there are any.
    Many(Vec<Bytes>, Option<Arc<Hosted>>),
    Refused(Answer),
}

/// Takes a batch apart (wire.md 10.1, step 5.1).
pub(crate) fn split(
    table: &Table,
    body: &Bytes,
    headers: &HeaderMap,
    principal: Option<&Principal>,
) -> Post {
    if body.trim_ascii_start().first() != Some(&b'[') {
        return Post::One;
    }
    let stated = match version_header(Some(headers)) {
        Header::Absent | Header::None => None,
        Header::Value(text) => match text.parse::<Version>() {
            Ok(version) if !version.is_modern() => Some(version),
            _ => return Post::One,
        },
        Header::Malformed => return Post::One,
    };
    let Some(messages) = std::str::from_utf8(body).ok().and_then(legacy::batch) else {
        return Post::One;
    };
    let (version, hosted) = match table.stateless {
        true => (stated.unwrap_or(ASSUMED), None),
        false => match table.find(headers, principal) {
            Ok(hosted) => (hosted.session.version, Some(hosted)),
            // Nothing says that it is meant to be one.
            Err(Missing::Unnamed) if stated.is_none() => return Post::One,
            Err(missing) => return Post::Refused(refused(Some("null"), missing)),
        },
    };
    let refuse = |why: &str| {
        let id = unaddressed(version);
        let error = ErrorObject::invalid_request(format!("Invalid request: {why}"));
        Post::Refused(Answer::error(id, 400, &error))
    };
    if version != Version::V2025_03_26 {
        return refuse("a batch, which only revision 2025-03-26 has: send one message at a time");
    }
    if messages.is_empty() {
        return refuse("a batch of nothing");
    }
    if messages.len() > BATCH {
        return refuse(&format!("a batch of more than {BATCH} messages"));
    }
    for message in &messages {
        match Message::parse(message.get()) {
            _ if message.get().starts_with('[') => return refuse("a batch within a batch"),
            // LEG-C-08
            Ok(message) if message.method() == "initialize" => {
                return refuse("`initialize` in a batch: send it alone");
            }
            Ok(message) if !matches!(message.params.meta.version, Slot::Absent) => {
                return refuse("a message of revision 2026-07-28 in a batch: send it alone");
            }
            _ => {}
        }
    }
    let messages = messages.iter();
    let messages = messages.map(|message| body.slice_ref(message.get().as_bytes()));
    Post::Many(messages.collect(), hosted)
}
