//! A later revision may add variants to these enums without breaking callers:
//! from outside the crate, a wildcard arm after all of them is reachable.
#![deny(unreachable_patterns)]

use antiphon_types::{
    ContentBlock, DecodeErrorKind, ElicitRequestParams, InputRequest, Outcome, PrimitiveSchema,
    Reference, ResourceContents, SamplingContent, StringFormat, Version,
};

/// Defines a function that names every variant known today.
macro_rules! open {
    ($($name:ident($type:ty) { $pattern:pat })*) => {$(
        fn $name(value: &$type) -> bool {
            match value {
                $pattern => true,
                _ => false,
            }
        }
    )*};
}

open! {
    version(Version) {
        Version::V2024_11_05
        | Version::V2025_03_26
        | Version::V2025_06_18
        | Version::V2025_11_25
        | Version::V2026_07_28
    }
    block(ContentBlock) {
        ContentBlock::Text(_)
        | ContentBlock::Image(_)
        | ContentBlock::Audio(_)
        | ContentBlock::ResourceLink(_)
        | ContentBlock::Resource(_)
        | ContentBlock::Other(_)
    }
    request(InputRequest) {
        InputRequest::Elicit(_)
        | InputRequest::Sample(_)
        | InputRequest::Roots(_)
        | InputRequest::Other { .. }
    }
    sampled(SamplingContent) {
        SamplingContent::Text(_)
        | SamplingContent::Image(_)
        | SamplingContent::Audio(_)
        | SamplingContent::ToolUse(_)
        | SamplingContent::ToolResult(_)
        | SamplingContent::Other(_)
    }
    field(PrimitiveSchema) {
        PrimitiveSchema::String(_)
        | PrimitiveSchema::Number(_)
        | PrimitiveSchema::Boolean(_)
        | PrimitiveSchema::UntitledSingleSelect(_)
        | PrimitiveSchema::TitledSingleSelect(_)
        | PrimitiveSchema::UntitledMultiSelect(_)
        | PrimitiveSchema::TitledMultiSelect(_)
        | PrimitiveSchema::LegacyTitledEnum(_)
        | PrimitiveSchema::Other(_)
    }
    elicitation(ElicitRequestParams) {
        ElicitRequestParams::Form(_) | ElicitRequestParams::Url(_)
    }
    outcome(Outcome<()>) {
        Outcome::Complete(()) | Outcome::InputRequired(_)
    }
    kind(DecodeErrorKind) {
        DecodeErrorKind::Shape
        | DecodeErrorKind::UnknownResultType
        | DecodeErrorKind::MayNotAsk
    }
    contents(ResourceContents) {
        ResourceContents::Text(_) | ResourceContents::Blob(_)
    }
    reference(Reference) {
        Reference::Prompt { .. } | Reference::Resource { .. }
    }
    text_format(StringFormat) {
        StringFormat::Email
        | StringFormat::Uri
        | StringFormat::Date
        | StringFormat::DateTime
    }
}

#[test]
fn every_variant_of_today_is_named() {
    assert!(version(&Version::LATEST));
    assert!(block(&ContentBlock::text("a")));
    assert!(request(&InputRequest::roots()));
    assert!(sampled(&SamplingContent::text("a")));
    assert!(field(&PrimitiveSchema::Other(serde_json::Map::new())));
    assert!(elicitation(&ElicitRequestParams::url("m", "a:b")));
    assert!(outcome(&Outcome::Complete(())));
    assert!(kind(&DecodeErrorKind::Shape));
    assert!(contents(&ResourceContents::text("a:b", "t")));
    assert!(reference(&Reference::prompt("p")));
    assert!(text_format(&StringFormat::Uri));
}
