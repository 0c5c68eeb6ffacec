//! Cache hints, which six results carry.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;

/// Who may share a cached result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Anyone.
    Public,
    /// Only requests under the same authorization.
    Private,
}

/// Gives a result its `cache` setter.
macro_rules! cacheable {
    ($type:ident) => {
        impl $type {
            /// Says how long, and among whom, the result may be reused.
            #[must_use]
            pub fn cache(mut self, ttl: std::time::Duration, scope: $crate::CacheScope) -> Self {
                self.ttl_ms = Some($crate::cache::millis(ttl));
                self.cache_scope = Some(scope);
                self
            }
        }
    };
}
pub(crate) use cacheable;

pub(crate) fn millis(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)
}

/// Reads `ttlMs`; a negative one counts as zero, a fraction is cut off.
pub(crate) fn ttl<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let number = Option::<Number>::deserialize(from)?;
    Ok(number.map(|number| {
        number
            .as_u64()
            .unwrap_or_else(|| number.as_f64().unwrap_or_default() as u64)
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;
    use crate::tool::ListToolsResult;

    #[test]
    fn hints_are_lenient_to_read_and_always_written() {
        for (ttl, read) in [
            (json!(5), Some(5)),
            (json!(-5), Some(0)),
            (json!(1.5), Some(1)),
            (json!(null), None),
        ] {
            let result: ListToolsResult = from_value(json!({"tools": [], "ttlMs": ttl})).unwrap();
            assert_eq!(result.ttl_ms, read, "{ttl}");
        }
        let result: ListToolsResult = from_value(json!({"tools": []})).unwrap();
        assert_eq!((result.ttl_ms, result.cache_scope), (None, None));
        assert_eq!(to_value(result).unwrap(), json!({"tools": []}));

        let result = ListToolsResult::new(Vec::new());
        assert_eq!(
            to_value(&result).unwrap(),
            json!({"tools": [], "ttlMs": 0, "cacheScope": "private"})
        );
        assert_eq!(
            to_value(result.cache(Duration::from_secs(60), CacheScope::Public)).unwrap(),
            json!({"tools": [], "ttlMs": 60000, "cacheScope": "public"})
        );
        assert_eq!(millis(Duration::MAX), u64::MAX);
    }
}
