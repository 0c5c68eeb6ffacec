//! [`Event`]: what happens on a connection outside any one call.

use bytes::Bytes;

use super::Error;

/// Something that belongs to no call, for [`Client::on_event`](super::Client::on_event).
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A message that nobody waits for: a notification of no known request, a response to a
    /// request that was given up, a request, which servers of revisions after 2025-11-25 must not
    /// send.
    Message(Bytes),
    /// Bytes that are no message at all, in short.
    Noise(String),
    /// A line that a child process said on its standard error, in short; see
    /// [`Stderr::Report`](crate::client::Stderr::Report).
    Stderr(String),
    /// The transport failed, or ended where it should not have; or a request failed on its way,
    /// whose caller is told as well.
    Transport(Error),
    /// A tool definition that breaks the rules for mirrored headers and is therefore hidden
    /// (HDR-C-08, HDR-C-09).
    HiddenTool {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
}
