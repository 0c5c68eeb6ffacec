//! Content blocks of tool results, prompts and sampling.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use crate::meta::MetaObject;
use crate::resource::{Resource, ResourceContents};
use crate::tagged::{self, Tagged};

/// Who speaks, or who is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// One piece of content, told apart by its `type`; the larger kinds are boxed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// `text`.
    Text(TextContent),
    /// `image`.
    Image(Box<ImageContent>),
    /// `audio`.
    Audio(Box<AudioContent>),
    /// `resource_link`: a resource to read.
    ResourceLink(Box<Resource>),
    /// `resource`: a resource already read.
    Resource(Box<EmbeddedResource>),
    /// A type unknown here, the whole object as it came.
    Other(Map<String, Value>),
}

impl ContentBlock {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// An image, as Base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        ImageContent::new(data, mime_type).into()
    }

    /// A sound, as Base64.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        AudioContent::new(data, mime_type).into()
    }

    /// The contents of a resource.
    pub fn resource(resource: ResourceContents) -> Self {
        EmbeddedResource::new(resource).into()
    }

    /// A link to a resource.
    pub fn link(resource: Resource) -> Self {
        resource.into()
    }

    /// The text, if it is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

impl From<TextContent> for ContentBlock {
    fn from(block: TextContent) -> Self {
        Self::Text(block)
    }
}

impl From<ImageContent> for ContentBlock {
    fn from(block: ImageContent) -> Self {
        Self::Image(Box::new(block))
    }
}

impl From<AudioContent> for ContentBlock {
    fn from(block: AudioContent) -> Self {
        Self::Audio(Box::new(block))
    }
}

impl From<Resource> for ContentBlock {
    fn from(resource: Resource) -> Self {
        Self::ResourceLink(Box::new(resource))
    }
}

impl From<EmbeddedResource> for ContentBlock {
    fn from(block: EmbeddedResource) -> Self {
        Self::Resource(Box::new(block))
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        /// A resource with the tag of a link.
        #[derive(Serialize)]
        #[serde(tag = "type", rename = "resource_link")]
        struct Link<'a> {
            #[serde(flatten)]
            resource: &'a Resource,
        }
        match self {
            Self::Text(block) => block.serialize(to),
            Self::Image(block) => block.serialize(to),
            Self::Audio(block) => block.serialize(to),
            Self::ResourceLink(resource) => Link { resource }.serialize(to),
            Self::Resource(block) => block.serialize(to),
            Self::Other(object) => object.serialize(to),
        }
    }
}

impl Tagged for ContentBlock {
    const TAG: &'static str = "type";
    const DEFAULT: Option<&'static str> = None;

    fn from_tag<'de, D: Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error> {
        Ok(match tag {
            "text" => Self::Text(TextContent::deserialize(rest)?),
            "image" => ImageContent::deserialize(rest)?.into(),
            "audio" => AudioContent::deserialize(rest)?.into(),
            "resource_link" => Resource::deserialize(rest)?.into(),
            "resource" => EmbeddedResource::deserialize(rest)?.into(),
            _ => Self::Other(tagged::object::<Self, D>(tag, rest)?),
        })
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tagged::deserialize(from)
    }
}

/// A text block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "text")]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints for its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the block.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl TextContent {
    /// A block of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            annotations: None,
            meta: None,
        }
    }
}

setters!(TextContent { plain { annotations: Annotations, meta: MetaObject } });

/// An image block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "image", rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageContent {
    /// The image as Base64.
    pub data: String,
    /// Its media type.
    pub mime_type: String,
    /// Hints for its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the block.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ImageContent {
    /// A block of this image.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
        }
    }
}

setters!(ImageContent { plain { annotations: Annotations, meta: MetaObject } });

/// A sound block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "audio", rename_all = "camelCase")]
#[non_exhaustive]
pub struct AudioContent {
    /// The sound as Base64.
    pub data: String,
    /// Its media type.
    pub mime_type: String,
    /// Hints for its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the block.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl AudioContent {
    /// A block of this sound.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
        }
    }
}

setters!(AudioContent { plain { annotations: Annotations, meta: MetaObject } });

/// A resource inside a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "resource")]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// Its contents.
    pub resource: ResourceContents,
    /// Hints for its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the block.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl EmbeddedResource {
    /// A block of these contents.
    pub fn new(resource: ResourceContents) -> Self {
        Self {
            resource,
            annotations: None,
            meta: None,
        }
    }
}

setters!(EmbeddedResource { plain { annotations: Annotations, meta: MetaObject } });

/// Hints for whoever shows or uses a thing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// Whom it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Vec<Role>>,
    /// From 0, optional, to 1, required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Number>,
    /// When it last changed, in ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Annotations {
    /// No hints.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(Annotations {
    into { last_modified: String }
    plain { audience: Vec<Role> }
    real { priority }
});

#[cfg(test)]
mod tests {
    use serde_json::{from_str, from_value, json, to_string, to_value};

    use super::*;

    #[test]
    fn every_block_round_trips() {
        for value in [
            json!({"type": "text", "text": "a"}),
            json!({
                "type": "text", "text": "a",
                "annotations": {"audience": ["user", "assistant"], "priority": 1, "lastModified": "2026-01-01T00:00:00Z"},
                "_meta": {"k": null},
            }),
            json!({"type": "image", "data": "AA==", "mimeType": "image/png", "annotations": {"priority": 0.5}}),
            json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
            json!({"type": "resource_link", "uri": "a:b", "name": "n", "size": 3, "icons": [{"src": "https://x", "theme": "dark"}]}),
            json!({"type": "resource", "resource": {"uri": "a:b", "text": "t", "mimeType": "text/plain"}}),
            json!({"type": "resource", "resource": {"uri": "a:b", "blob": "AA==", "_meta": {}}, "_meta": {}}),
        ] {
            let block: ContentBlock = from_value(value.clone()).unwrap();
            assert!(!matches!(block, ContentBlock::Other(_)), "{value}");
            assert_eq!(to_value(&block).unwrap(), value);
            assert_eq!(
                from_str::<ContentBlock>(&to_string(&block).unwrap()).unwrap(),
                block
            );
        }
    }

    #[test]
    fn the_type_may_come_last() {
        let block: ContentBlock = from_str(r#"{"text":"a","type":"text"}"#).unwrap();
        assert_eq!(block, ContentBlock::text("a"));
        assert_eq!(to_string(&block).unwrap(), r#"{"type":"text","text":"a"}"#);
    }

    #[test]
    fn unknown_blocks_are_kept_as_they_came() {
        for text in [
            r#"{"type":"hologram","depth":3,"_meta":{"a":[1,null]}}"#,
            r#"{"depth":3,"type":"hologram","b":null}"#,
        ] {
            let block: ContentBlock = from_str(text).unwrap();
            assert!(matches!(block, ContentBlock::Other(_)));
            assert_eq!(to_string(&block).unwrap(), text);
        }
    }

    #[test]
    fn broken_blocks_are_refused() {
        for text in [
            "{}",
            "[]",
            r#""text""#,
            r#"{"text":"a"}"#,
            r#"{"type":1,"text":"a"}"#,
            r#"{"type":null}"#,
            r#"{"type":"text"}"#,
            r#"{"type":"text","text":"a","text":"b"}"#,
            r#"{"text":"a","text":"b","type":"text"}"#,
            r#"{"type":"text","text":"a","type":"text"}"#,
            r#"{"text":"a","type":"text","type":"text"}"#,
            r#"{"type":"hologram","type":"text","text":"a"}"#,
            r#"{"type":"image","data":""}"#,
            r#"{"type":"resource","resource":{"uri":"a:b"}}"#,
            r#"{"type":"resource","resource":{"uri":"a:b","text":"","blob":""}}"#,
        ] {
            assert!(from_str::<ContentBlock>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_block_struct_writes_its_type() {
        let value = json!({"type": "text", "text": "a"});
        assert_eq!(to_value(TextContent::new("a")).unwrap(), value);
        assert_eq!(
            from_value::<TextContent>(value).unwrap(),
            TextContent::new("a")
        );
    }

    #[test]
    fn no_block_is_larger_than_a_text() {
        assert_eq!(size_of::<ContentBlock>(), size_of::<TextContent>());
        assert!(size_of::<ContentBlock>() <= 160);
    }
}
