//! Resources: the two lists and `resources/read`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::cache::{self, CacheScope, cacheable};
use crate::content::Annotations;
use crate::extra;
use crate::implementation::Icon;
use crate::meta::MetaObject;

/// Something the server can read for the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// Name for programs.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes, before any encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Hints for its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the resource.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl Resource {
    /// A resource of this URI and name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            icons: None,
            mime_type: None,
            size: None,
            annotations: None,
            meta: None,
        }
    }
}

setters!(Resource {
    into { title: String, description: String, mime_type: String }
    plain { icons: Vec<Icon>, size: u64, annotations: Annotations, meta: MetaObject }
});

/// A family of resources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// URI template of RFC 6570.
    pub uri_template: String,
    /// Name for programs.
    pub name: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What its resources hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// Media type, if all of them share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Hints for their use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the template.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ResourceTemplate {
    /// A template of this URI template and name.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            icons: None,
            mime_type: None,
            annotations: None,
            meta: None,
        }
    }
}

setters!(ResourceTemplate {
    into { title: String, description: String, mime_type: String }
    plain { icons: Vec<Icon>, annotations: Annotations, meta: MetaObject }
});

/// What a resource holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
}

impl ResourceContents {
    /// Text at this URI.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text(TextResourceContents::new(uri, text))
    }

    /// Bytes at this URI, as Base64.
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self::Blob(BlobResourceContents::new(uri, base64))
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => Some(&contents.text),
            Self::Blob(_) => None,
        }
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(self, mime_type: impl Into<String>) -> Self {
        match self {
            Self::Text(contents) => Self::Text(contents.mime_type(mime_type)),
            Self::Blob(contents) => Self::Blob(contents.mime_type(mime_type)),
        }
    }

    /// Sets the metadata.
    #[must_use]
    pub fn meta(self, meta: MetaObject) -> Self {
        match self {
            Self::Text(contents) => Self::Text(contents.meta(meta)),
            Self::Blob(contents) => Self::Blob(contents.meta(meta)),
        }
    }

    /// Where it is.
    pub fn uri(&self) -> &str {
        match self {
            Self::Text(contents) => &contents.uri,
            Self::Blob(contents) => &contents.uri,
        }
    }
}

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(contents) => contents.serialize(to),
            Self::Blob(contents) => contents.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        use serde::de::Error;

        /// Both shapes at once; which of the two it was is asked afterwards.
        #[derive(Deserialize)]
        #[serde(rename = "ResourceContents", rename_all = "camelCase")]
        struct Wire {
            uri: String,
            mime_type: Option<String>,
            text: Option<String>,
            blob: Option<String>,
            #[serde(rename = "_meta")]
            meta: Option<MetaObject>,
        }
        let Wire {
            uri,
            mime_type,
            text,
            blob,
            meta,
        } = Wire::deserialize(from)?;
        match (text, blob) {
            (Some(text), None) => Ok(Self::Text(TextResourceContents {
                uri,
                mime_type,
                text,
                meta,
            })),
            (None, Some(blob)) => Ok(Self::Blob(BlobResourceContents {
                uri,
                mime_type,
                blob,
                meta,
            })),
            (None, None) => Err(D::Error::custom("neither `text` nor `blob`")),
            (Some(_), Some(_)) => Err(D::Error::custom("both `text` and `blob`")),
        }
    }
}

/// Text of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextResourceContents {
    /// Where it is.
    pub uri: String,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text.
    pub text: String,
    /// Metadata of the contents.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl TextResourceContents {
    /// This text at this URI.
    pub fn new(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            text: text.into(),
            meta: None,
        }
    }
}

setters!(TextResourceContents {
    into { mime_type: String }
    plain { meta: MetaObject }
});

/// Bytes of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// Where it is.
    pub uri: String,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The bytes as Base64.
    pub blob: String,
    /// Metadata of the contents.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl BlobResourceContents {
    /// These bytes at this URI.
    pub fn new(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            blob: base64.into(),
            meta: None,
        }
    }
}

setters!(BlobResourceContents {
    into { mime_type: String }
    plain { meta: MetaObject }
});

/// One page of resources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// The resources.
    pub resources: Vec<Resource>,
    /// Where the next page starts; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
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

impl ListResourcesResult {
    /// A last page that is not to be cached.
    pub fn new(resources: Vec<Resource>) -> Self {
        Self {
            resources,
            next_cursor: None,
            ttl_ms: Some(0),
            cache_scope: Some(CacheScope::Private),
            meta: None,
            extra: Map::new(),
        }
    }
}

setters!(ListResourcesResult {
    into { next_cursor: String }
    plain { meta: MetaObject }
});
cacheable!(ListResourcesResult);

/// One page of resource templates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// The templates.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Where the next page starts; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
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

impl ListResourceTemplatesResult {
    /// A last page that is not to be cached.
    pub fn new(resource_templates: Vec<ResourceTemplate>) -> Self {
        Self {
            resource_templates,
            next_cursor: None,
            ttl_ms: Some(0),
            cache_scope: Some(CacheScope::Private),
            meta: None,
            extra: Map::new(),
        }
    }
}

setters!(ListResourceTemplatesResult {
    into { next_cursor: String }
    plain { meta: MetaObject }
});
cacheable!(ListResourceTemplatesResult);

/// Params of `resources/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceRequestParams {
    /// Which resource.
    pub uri: String,
    /// Answers to the questions of the last round, by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<Map<String, Value>>,
    /// State of the last round, returned unread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ReadResourceRequestParams {
    /// Reads the resource at `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            input_responses: None,
            request_state: None,
            meta: None,
        }
    }
}

setters!(ReadResourceRequestParams {
    into { request_state: String }
    plain { input_responses: Map<String, Value>, meta: MetaObject }
});

/// What was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The contents, several if the resource has parts.
    pub contents: Vec<ResourceContents>,
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

impl ReadResourceResult {
    /// Contents that are not to be cached.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            ttl_ms: Some(0),
            cache_scope: Some(CacheScope::Private),
            meta: None,
            extra: Map::new(),
        }
    }

    /// The first text.
    pub fn first_text(&self) -> Option<&str> {
        self.contents.iter().find_map(ResourceContents::as_text)
    }
}

setters!(ReadResourceResult { plain { meta: MetaObject } });
cacheable!(ReadResourceResult);

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn shapes_round_trip() {
        let value = json!({
            "uri": "a:b", "name": "n", "title": "t", "description": "d", "icons": [],
            "mimeType": "text/csv", "size": 12, "annotations": {}, "_meta": {},
        });
        let resource: Resource = from_value(value.clone()).unwrap();
        assert_eq!(to_value(resource).unwrap(), value);

        let value = json!({"uriTemplate": "a:{b}", "name": "n", "mimeType": "text/csv"});
        let template: ResourceTemplate = from_value(value.clone()).unwrap();
        assert_eq!(to_value(template).unwrap(), value);

        let result = ReadResourceResult::new(vec![
            ResourceContents::text("a:b", "06:10").mime_type("text/csv"),
            ResourceContents::blob("a:c", "AA=="),
        ]);
        let value = json!({
            "contents": [
                {"uri": "a:b", "mimeType": "text/csv", "text": "06:10"},
                {"uri": "a:c", "blob": "AA=="},
            ],
            "ttlMs": 0, "cacheScope": "private",
        });
        assert_eq!(to_value(&result).unwrap(), value);
        assert_eq!(from_value::<ReadResourceResult>(value).unwrap(), result);

        let result = ListResourceTemplatesResult::new(Vec::new()).next_cursor("");
        assert_eq!(
            to_value(result).unwrap(),
            json!({"resourceTemplates": [], "nextCursor": "", "ttlMs": 0, "cacheScope": "private"})
        );
    }
}
