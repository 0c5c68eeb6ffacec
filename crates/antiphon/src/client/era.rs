//! [`Era`]: which revisions a client speaks.

use antiphon_types::Version;

/// Which revisions a client speaks with its servers; see [`Client::era`](super::Client::era).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Era {
    /// The newest that the server speaks as well: it is asked in the newest of all
    /// (`server/discover`), and if it does not know what to make of that, greeted as a server of
    /// 2025-11-25 or before (`initialize`).
    #[default]
    Auto,
    /// 2025-11-25 or before: the server is greeted at once.
    Legacy,
    /// This one and no other.
    Pinned(Version),
}

impl Era {
    /// Whether a version may be spoken.
    pub(super) fn allows(self, version: Version) -> bool {
        match self {
            Self::Auto => true,
            Self::Legacy => !version.is_modern(),
            Self::Pinned(pinned) => pinned == version,
        }
    }

    /// The one version there is.
    pub(super) fn pinned(self) -> Option<Version> {
        match self {
            Self::Pinned(version) => Some(version),
            Self::Auto | Self::Legacy => None,
        }
    }

    /// Whether a server is probed.
    pub(super) fn probes(self) -> bool {
        Version::MODERN.iter().any(|version| self.allows(*version))
    }

    /// Whether a server may be greeted.
    pub(super) fn greets(self) -> bool {
        Version::LEGACY.iter().any(|version| self.allows(*version))
    }

    /// The versions that may be spoken, newest first.
    pub(super) fn versions(self) -> impl Iterator<Item = Version> {
        let all = Version::MODERN.iter().chain(Version::LEGACY).copied();
        all.filter(move |version| self.allows(*version))
    }
}
