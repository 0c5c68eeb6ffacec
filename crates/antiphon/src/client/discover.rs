//! What a server speaks and offers.

use antiphon_types::{
    DiscoverResult, Implementation, InitializeResult, ServerCapabilities, Version,
    meta::SERVER_INFO,
};
use serde::{Deserialize, Serialize};

use super::{Era, Error, ErrorKind};
use crate::excerpt::sentence;

/// What is known of a server: which revision to speak with it, and what it offers.
///
/// Plain data: store it, and [`connect_as`](super::Client::connect_as) saves the round trip next
/// time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Negotiated {
    /// The revision to speak.
    pub version: Version,
    /// What the server offers.
    pub capabilities: ServerCapabilities,
    /// How to use it, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// What the server says of itself. Not to be trusted: nothing should depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Implementation>,
}

impl Negotiated {
    /// Nothing but the revision: enough to call a server that is known to speak it.
    pub fn new(version: Version) -> Self {
        Self {
            version,
            capabilities: ServerCapabilities::new(),
            instructions: None,
            server_info: None,
        }
    }

    /// What a server of an older revision said in its handshake.
    pub(super) fn initialized(version: Version, result: InitializeResult) -> Self {
        Self {
            version,
            server_info: Some(result.server_info),
            capabilities: result.capabilities,
            instructions: result.instructions,
        }
    }

    pub(super) fn of(version: Version, result: DiscoverResult) -> Self {
        let stated = result.meta.as_ref().and_then(|meta| meta.get(SERVER_INFO));
        // Some servers put it where earlier revisions had it.
        let stated = stated.or_else(|| result.extra.get("serverInfo"));
        Self {
            version,
            server_info: stated.and_then(|info| Implementation::deserialize(info).ok()),
            capabilities: result.capabilities,
            instructions: result.instructions,
        }
    }
}

/// Nothing that both speak.
pub(super) fn no_common(era: Era, supported: Vec<String>, cause: Option<Error>) -> Error {
    let theirs = match supported.is_empty() {
        true => "none that it names".to_owned(),
        false => sentence(&supported.join(", ")),
    };
    let ours = era.versions().map(Version::as_str);
    let ours = ours.collect::<Vec<_>>().join(", ");
    let message = format!("no common protocol revision: the server speaks {theirs}, we {ours}");
    let error = Error::new(ErrorKind::Version { supported }, message);
    match cause {
        Some(cause) => error.caused_by(cause),
        None => error,
    }
}
