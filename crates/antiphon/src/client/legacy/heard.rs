//! What a server says of its own accord, and whom that is for.

use std::collections::VecDeque;

use antiphon_core::reply::Reply;
use antiphon_types::{
    CancelledNotificationParams, ElicitationCompleteNotificationParams,
    ResourceUpdatedNotificationParams, Version, decode,
};
use bytes::Bytes;
use serde_json::value::RawValue;

use super::Running;
use crate::client::{Change, Error, ErrorKind, Event, shared::Shared, transport::split};

/// The messages of a batch; `None` if it is none, or the revision has none (LEG-B-05, LEG-B-06).
pub(in crate::client) fn batch(message: &Bytes, version: Version) -> Option<VecDeque<Bytes>> {
    if version != Version::V2025_03_26 || message.trim_ascii_start().first() != Some(&b'[') {
        return None;
    }
    let mut parts = VecDeque::new();
    split(version, message.clone(), &mut parts);
    // What cannot be taken apart comes back as it is.
    (parts.front() != Some(message)).then_some(parts)
}

impl Shared {
    /// Takes what the transport reports to whom it is for.
    pub(in crate::client) fn told(&self, event: &Event) {
        let Some(speaking) = self.session.speaking() else {
            return self.client.listeners.told(event);
        };
        match event {
            Event::Message(message) => {
                if let Some(parts) = batch(message, speaking.version) {
                    for part in parts {
                        self.heard_or_told(part);
                    }
                    return;
                }
                if self.heard(message, None) {
                    return;
                }
            }
            Event::Transport(error) if self.on_one_channel() => {
                self.session.pushed.withdraw_all();
                self.session.changes.lost(&error.to_string());
            }
            // The stream that changes come on is closed for good.
            Event::Transport(error) if matches!(error.kind(), ErrorKind::SessionLost) => {
                self.session.changes.lost(&error.to_string());
            }
            _ => {}
        }
        self.client.listeners.told(event);
    }

    fn heard_or_told(&self, message: Bytes) {
        if !self.heard(&message, None) {
            self.client.listeners.told(&Event::Message(message));
        }
    }

    /// Takes a message that is no response to whom it is for; whether that is somebody. `call` is
    /// the one in whose stream it came.
    pub(in crate::client) fn heard(&self, message: &Bytes, call: Option<&Running>) -> bool {
        let Some(speaking) = self.session.speaking() else {
            return false;
        };
        match Reply::parse(message) {
            Ok(Reply::Request { id, method, params }) => {
                if call.is_some_and(|running| !running.is_of(&speaking)) {
                    tracing::debug!("a question of a session that is over");
                    return false;
                }
                let call = call.map(|running| running.call.clone());
                self.pushed(id, &method, params, call, &speaking)
            }
            Ok(Reply::Notification { method, params }) => {
                self.noticed(&method, params.map_or("{}", RawValue::get))
            }
            _ => false,
        }
    }

    fn noticed(&self, method: &str, params: &str) -> bool {
        let change = match method {
            "notifications/cancelled" => {
                let id = decode::<CancelledNotificationParams>(params);
                let id = id.ok().and_then(|params| params.request_id);
                return id.is_some_and(|id| self.session.pushed.withdraw(&id));
            }
            "notifications/elicitation/complete" => {
                let done = decode::<ElicitationCompleteNotificationParams>(params);
                return done.is_ok_and(|done| self.session.links.complete(&done.elicitation_id));
            }
            "notifications/tools/list_changed" => Change::Tools,
            "notifications/prompts/list_changed" => Change::Prompts,
            "notifications/resources/list_changed" => Change::Resources,
            "notifications/resources/updated" => {
                match decode::<ResourceUpdatedNotificationParams>(params) {
                    Ok(params) => Change::Resource(params.uri),
                    Err(_) => return false,
                }
            }
            _ => return false,
        };
        self.changed(&change);
        self.session.changes.report(&change)
    }

    /// Whether a result may ask: those of older servers have no such results.
    pub(in crate::client) fn may_ask_like_this(&self) -> Result<(), Error> {
        match self.version().is_modern() {
            true => Ok(()),
            false => Err(Error::decode(format!(
                "the server asks for input in its result, which {} does not know",
                self.version()
            ))),
        }
    }

    /// Whether all messages come on one channel, so that of a question it cannot be told whose it
    /// is when there are several calls.
    pub(super) fn on_one_channel(&self) -> bool {
        let fell_back = &self.session.fell_back;
        self.transport.is_channel() || fell_back.load(std::sync::atomic::Ordering::Relaxed)
    }
}
