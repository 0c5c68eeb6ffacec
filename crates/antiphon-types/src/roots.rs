//! Roots: the places a client lets a server work in.

use serde::{Deserialize, Serialize};

use crate::meta::MetaObject;

/// A place to work in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// Where, a `file://` URI.
    pub uri: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Metadata of the root.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl Root {
    /// The place at `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: None,
            meta: None,
        }
    }
}

setters!(Root {
    into { name: String }
    plain { meta: MetaObject }
});

/// Params of `roots/list`, which may also be absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListRootsRequestParams {
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ListRootsRequestParams {
    /// No metadata.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(ListRootsRequestParams { plain { meta: MetaObject } });

/// The client's roots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The roots.
    pub roots: Vec<Root>,
    /// Metadata of the answer.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ListRootsResult {
    /// These roots.
    pub fn new(roots: Vec<Root>) -> Self {
        Self { roots, meta: None }
    }
}

setters!(ListRootsResult { plain { meta: MetaObject } });

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn roots_round_trip() {
        let result = ListRootsResult::new(vec![
            Root::new("file:///srv").name("srv"),
            Root::new("file:///tmp"),
        ]);
        let value =
            json!({"roots": [{"uri": "file:///srv", "name": "srv"}, {"uri": "file:///tmp"}]});
        assert_eq!(to_value(&result).unwrap(), value);
        assert_eq!(from_value::<ListRootsResult>(value).unwrap(), result);
    }
}
