//! What a server speaks and offers.

use antiphon_core::negotiate::{Verdict, judge};
use antiphon_types::{
    DiscoverResult, Implementation, ServerCapabilities, Version, meta::SERVER_INFO,
};
use serde::{Deserialize, Serialize};

use super::{Error, ErrorKind, excerpt::sentence};

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

    fn of(version: Version, result: DiscoverResult) -> Self {
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

/// What an answer to `server/discover` comes to.
pub(super) fn settle(answer: Result<DiscoverResult, Error>) -> Result<Negotiated, Error> {
    let (verdict, supported) = match &answer {
        Ok(result) => judge(Ok(result)),
        Err(error) => match error.kind() {
            ErrorKind::Protocol(object) => judge(Err(object)),
            // Not evidence of any era.
            _ => (Verdict::Refused, Vec::new()),
        },
    };
    match (verdict, answer) {
        (Verdict::Modern(version), Ok(result)) => Ok(Negotiated::of(version, result)),
        // The one retry is over.
        (Verdict::Refused | Verdict::Again(_), Err(error)) => Err(error),
        // A server of an older era: where the handshake of those revisions would begin.
        (Verdict::Legacy(_), answer) => Err(no_common(supported, answer.err())),
        (_, answer) => Err(no_common(supported, answer.err())),
    }
}

fn no_common(supported: Vec<String>, cause: Option<Error>) -> Error {
    let theirs = match supported.is_empty() {
        true => "none that it names".to_owned(),
        false => sentence(&supported.join(", ")),
    };
    let ours = Version::MODERN.iter().map(|version| version.as_str());
    let ours = ours.collect::<Vec<_>>().join(", ");
    let message = format!("no common protocol revision: the server speaks {theirs}, we {ours}");
    let error = Error::new(ErrorKind::Version { supported }, message);
    match cause {
        Some(cause) => error.caused_by(cause),
        None => error,
    }
}
