//! `server/discover`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cache::{self, CacheScope, cacheable};
use crate::capabilities::ServerCapabilities;
use crate::extra;
use crate::meta::MetaObject;
use crate::version::Version;

/// What a server speaks and offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    /// Revisions it speaks, some perhaps unknown here.
    pub supported_versions: Vec<String>,
    /// What it can do.
    pub capabilities: ServerCapabilities,
    /// How to use it, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// How long the result stays fresh, in milliseconds.
    #[serde(
        default,
        deserialize_with = "cache::ttl",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Who may share the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Metadata of the result.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
    /// Members this revision does not define.
    #[serde(flatten, deserialize_with = "extra::beyond_result")]
    pub extra: Map<String, Value>,
}

impl DiscoverResult {
    /// A result that is not to be cached.
    pub fn new(
        supported_versions: impl IntoIterator<Item = impl Into<String>>,
        capabilities: ServerCapabilities,
    ) -> Self {
        Self {
            supported_versions: supported_versions.into_iter().map(Into::into).collect(),
            capabilities,
            instructions: None,
            ttl_ms: Some(0),
            cache_scope: Some(CacheScope::Private),
            meta: None,
            extra: Map::new(),
        }
    }

    /// The supported revisions that this crate knows, as listed.
    pub fn versions(&self) -> impl Iterator<Item = Version> {
        self.supported_versions
            .iter()
            .filter_map(|version| version.parse().ok())
    }
}

setters!(DiscoverResult {
    into { instructions: String }
    plain { meta: MetaObject }
});
cacheable!(DiscoverResult);

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn unknown_versions_are_kept_and_skipped() {
        let value = json!({
            "supportedVersions": ["2031-01-01", "2026-07-28", "2025-11-25"],
            "capabilities": {"tools": {"listChanged": true}, "completions": {}},
            "instructions": "Reserve first.",
            "ttlMs": 600000,
            "cacheScope": "public",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "harbor", "version": "2.0.0"}},
        });
        let result: DiscoverResult = from_value(value.clone()).unwrap();
        assert_eq!(
            result.versions().collect::<Vec<_>>(),
            [Version::V2026_07_28, Version::V2025_11_25]
        );
        assert_eq!(to_value(result).unwrap(), value);

        let result = DiscoverResult::new([Version::LATEST], ServerCapabilities::new());
        assert_eq!(result.supported_versions, ["2026-07-28"]);
    }
}
