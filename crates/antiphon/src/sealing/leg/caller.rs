//! [`Caller`]: what a request says of itself, for as long as somebody may ask about it.

use serde_json::value::RawValue;

use crate::{auth::Principal, raw};

/// What is called, by whom and with which abilities.
pub(crate) struct Caller {
    pub(crate) method: &'static str,
    pub(crate) principal: Option<Box<Principal>>,
    /// The target, what the client says it is, and what it declared: in one piece, since every
    /// call that asks has this, and few are asked for it.
    text: Box<str>,
    target: usize,
    info: usize,
}

impl Caller {
    pub(super) fn new(method: &'static str, target: &str, call: &raw::Call<'_>) -> Self {
        let info = call.meta.client_info.map_or("", RawValue::get);
        let declared = call.meta.client_capabilities.map_or("", RawValue::get);
        let mut text = String::with_capacity(target.len() + info.len() + declared.len());
        text.push_str(target);
        text.push_str(info);
        text.push_str(declared);
        Self {
            method,
            principal: call.principal().cloned().map(Box::new),
            text: text.into(),
            target: target.len(),
            info: target.len() + info.len(),
        }
    }

    pub(crate) fn target(&self) -> &str {
        &self.text[..self.target]
    }

    /// What the client says it is: JSON, or nothing.
    pub(crate) fn info(&self) -> &str {
        &self.text[self.target..self.info]
    }

    /// What the client declared: JSON, or nothing.
    pub(crate) fn capabilities(&self) -> &str {
        &self.text[self.info..]
    }
}
