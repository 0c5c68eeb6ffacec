//! [`Version`]: what a file was when somebody was asked about it.

use std::time::UNIX_EPOCH;

use cap_std::fs::Metadata;
use serde::Serialize;

/// How a file is told from what it becomes when somebody writes to it.
#[derive(Serialize, PartialEq, Eq, Debug)]
pub(crate) struct Version {
    bytes: u64,
    /// Seconds since the beginning of 1970, UTC; none where the file system does not say.
    modified: Option<String>,
}

impl Version {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok();
        let since = modified.and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok());
        Self {
            bytes: metadata.len(),
            modified: since.map(|it| format!("{}.{:09}", it.as_secs(), it.subsec_nanos())),
        }
    }
}
