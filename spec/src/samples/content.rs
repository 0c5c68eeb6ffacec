//! Content blocks, roles and annotations.

use antiphon_types::Version::{self, V2025_03_26, V2025_06_18};
use antiphon_types::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, Resource,
    ResourceContents, Role, TextContent,
};

use super::parts::{annotations, thing_meta};
use super::resource;
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    let version = s.version;
    s.value("Role", &Role::User);
    s.value("Role", &Role::Assistant);
    if s.since(V2025_03_26) {
        s.value("Annotations", &Annotations::new());
        s.value("Annotations", &annotations(version));
        s.value("AudioContent", &AudioContent::new("AA==", "audio/wav"));
        s.value("AudioContent", &audio(version));
    }
    s.value("TextContent", &TextContent::new(""));
    s.value("TextContent", &text(version));
    s.value("ImageContent", &ImageContent::new("AA==", "image/png"));
    s.value("ImageContent", &image(version));
    let contents = ResourceContents::blob("tide://oslo/chart", "AA==");
    s.value("EmbeddedResource", &EmbeddedResource::new(contents));
    s.value("EmbeddedResource", &embedded(version));
    if s.since(V2025_06_18) {
        let link = ContentBlock::link(Resource::new("tide://oslo/today", "today"));
        s.fits(&["ResourceLink", "ContentBlock"], &link);
        let link = ContentBlock::link(resource::full(version));
        s.fits(&["ResourceLink", "ContentBlock"], &link);
        for block in blocks(version) {
            s.value("ContentBlock", &block);
        }
    }
}

/// One full block of every kind.
pub(super) fn blocks(version: Version) -> Vec<ContentBlock> {
    let mut blocks = vec![
        text(version).into(),
        image(version).into(),
        embedded(version).into(),
    ];
    if version >= V2025_03_26 {
        blocks.push(audio(version).into());
    }
    if version >= V2025_06_18 {
        blocks.push(resource::full(version).into());
    }
    blocks
}

pub(super) fn text(version: Version) -> TextContent {
    let mut full = TextContent::new("Berth B12 is free.").annotations(annotations(version));
    full.meta = thing_meta(version);
    full
}

pub(super) fn image(version: Version) -> ImageContent {
    let mut full = ImageContent::new("iVBORw0KGgo=", "image/png").annotations(annotations(version));
    full.meta = thing_meta(version);
    full
}

pub(super) fn audio(version: Version) -> AudioContent {
    let mut full = AudioContent::new("UklGRg==", "audio/wav").annotations(annotations(version));
    full.meta = thing_meta(version);
    full
}

fn embedded(version: Version) -> EmbeddedResource {
    let contents = ResourceContents::Text(resource::text(version));
    let mut full = EmbeddedResource::new(contents).annotations(annotations(version));
    full.meta = thing_meta(version);
    full
}
