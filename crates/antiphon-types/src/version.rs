//! Protocol revisions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A protocol revision this crate knows; later ones compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Version {
    /// 2024-11-05.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// 2025-03-26.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// 2025-06-18.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// 2025-11-25, the last with a handshake.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// 2026-07-28, the first without one.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Version {
    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;
    /// Revisions in which every request stands alone, newest first.
    pub const MODERN: &'static [Self] = &[Self::V2026_07_28];
    /// Revisions that open with `initialize`, newest first.
    pub const LEGACY: &'static [Self] = &[
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
        Self::V2024_11_05,
    ];

    /// The date that names it on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether requests stand alone, without a handshake.
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Version {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        Self::MODERN
            .iter()
            .chain(Self::LEGACY)
            .copied()
            .find(|version| version.as_str() == text)
            .ok_or_else(|| UnknownVersion(text.to_owned()))
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.as_str().to_owned()
    }
}

/// A revision this crate does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVersion(String);

impl UnknownVersion {
    /// The text that was not recognised.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UnknownVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown protocol version {:?}", self.0)
    }
}

impl std::error::Error for UnknownVersion {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_ascend() {
        let all: Vec<_> = Version::MODERN
            .iter()
            .chain(Version::LEGACY)
            .copied()
            .collect();
        assert_eq!(all.len(), 5);
        assert!(all.is_sorted_by(|a, b| a > b));
        assert_eq!(all[0], Version::LATEST);
        for version in all {
            assert_eq!(version.as_str().parse(), Ok(version));
            assert_eq!(serde_json::to_value(version).unwrap(), version.as_str());
            assert_eq!(version.is_modern(), Version::MODERN.contains(&version));
        }
        assert_eq!(
            "2031-01-01".parse::<Version>().unwrap_err().as_str(),
            "2031-01-01"
        );
    }
}
