//! Whether a result can be written as it is.

use antiphon_types::Version::{self, V2025_03_26, V2025_06_18, V2025_11_25};
use antiphon_types::{Annotations, CallToolResult, ContentBlock, MetaObject, ResourceContents};

use super::members::{self, MODERN};

/// Whether a result of `tools/call` has no member that the revision lacks, so that
/// [`result()`](super::result()) would leave it as it is. Most results fit, and then need not be
/// looked at as JSON.
#[must_use]
pub fn fits(result: &CallToolResult, version: Version) -> bool {
    let meta = result.meta.as_ref();
    let structured = result.structured_content.as_ref();
    meta.is_none_or(|meta| members::meta_fits(meta, version))
        && structured.is_none_or(|value| version >= V2025_06_18 && value.is_object())
        && !MODERN.iter().any(|name| result.extra.contains_key(*name))
        && result.content.iter().all(|it| block(it, version))
}

fn block(block: &ContentBlock, version: Version) -> bool {
    let (annotations, meta) = match block {
        ContentBlock::Text(block) => (&block.annotations, &block.meta),
        ContentBlock::Image(block) => (&block.annotations, &block.meta),
        ContentBlock::Audio(block) if version >= V2025_03_26 => (&block.annotations, &block.meta),
        ContentBlock::ResourceLink(link) if version >= V2025_11_25 || link.icons.is_none() => {
            if version < V2025_06_18 {
                return false;
            }
            (&link.annotations, &link.meta)
        }
        ContentBlock::Resource(block) => {
            let inner = match &block.resource {
                ResourceContents::Text(contents) => &contents.meta,
                ResourceContents::Blob(contents) => &contents.meta,
                _ => return false,
            };
            if inner.is_some() && version < V2025_06_18 {
                return false;
            }
            (&block.annotations, &block.meta)
        }
        _ => return false,
    };
    version >= V2025_06_18 || plain(annotations.as_ref(), meta.as_ref())
}

/// Whether nothing is said of a block that only 2025-06-18 can say.
fn plain(annotations: Option<&Annotations>, meta: Option<&MetaObject>) -> bool {
    meta.is_none() && annotations.is_none_or(|it| it.last_modified.is_none())
}

#[cfg(test)]
mod tests {
    use antiphon_types::{AudioContent, EmbeddedResource, ImageContent, Resource, TextContent};
    use serde_json::{Map, Value, json, to_value};

    use super::*;
    use crate::legacy;

    fn note() -> MetaObject {
        Map::from_iter([("quay".to_owned(), json!(1))])
    }

    /// Blocks with and without everything that came later.
    fn blocks() -> Vec<ContentBlock> {
        let dated = || Annotations::new().last_modified("2026-07-28");
        let ranked = || Annotations::new().priority(0.5);
        let contents = || ResourceContents::text("a:b", "t");
        let link = || Resource::new("a:b", "b");
        vec![
            ContentBlock::text("t"),
            TextContent::new("t").annotations(ranked()).into(),
            TextContent::new("t").annotations(dated()).into(),
            TextContent::new("t").meta(note()).into(),
            ContentBlock::image("AA==", "image/png"),
            ImageContent::new("AA==", "image/png").meta(note()).into(),
            ContentBlock::audio("AA==", "audio/wav"),
            AudioContent::new("AA==", "audio/wav")
                .annotations(dated())
                .into(),
            ContentBlock::resource(contents()),
            ContentBlock::resource(contents().meta(note())),
            ContentBlock::resource(ResourceContents::blob("a:b", "AA==").meta(note())),
            EmbeddedResource::new(contents()).meta(note()).into(),
            EmbeddedResource::new(contents())
                .annotations(dated())
                .into(),
            ContentBlock::link(link()),
            ContentBlock::link(link().title("B").meta(note())),
            ContentBlock::link(link().icons(vec!["data:,".into()])),
            ContentBlock::Other(Map::from_iter([("type".to_owned(), json!("scene"))])),
        ]
    }

    /// Results with one thing each.
    fn results() -> Vec<CallToolResult> {
        let plain = || CallToolResult::text("t");
        let mut results: Vec<_> = blocks()
            .into_iter()
            .map(|block| CallToolResult::content(vec![ContentBlock::text("t"), block]))
            .collect();
        results.extend([
            CallToolResult::error("no"),
            plain().structured(json!({"depth": 4})),
            plain().structured(json!([4])),
            plain().structured(Value::Null),
            plain().meta(note()),
        ]);
        for key in [
            "io.modelcontextprotocol/serverInfo",
            "io.modelcontextprotocol/related-task",
            "traceparent",
        ] {
            results.push(plain().meta(Map::from_iter([(key.to_owned(), json!({}))])));
        }
        for name in ["resultType", "ttlMs", "requestState", "tides"] {
            let mut result = plain();
            result.extra.insert(name.to_owned(), json!("x"));
            results.push(result);
        }
        results
    }

    #[test]
    fn a_result_fits_if_nothing_would_change() {
        for version in Version::LEGACY {
            for result in results() {
                let before = to_value(&result).expect("JSON");
                let mut after = before.clone();
                legacy::result("tools/call", *version, &mut after);
                assert_eq!(
                    fits(&result, *version),
                    before == after,
                    "{version} {before}"
                );
            }
        }
    }

    #[test]
    fn both_outcomes_occur_in_every_revision() {
        for version in Version::LEGACY {
            let fitting = results().iter().filter(|it| fits(it, *version)).count();
            assert!(0 < fitting && fitting < results().len(), "{version}");
        }
    }
}
