//! The resource lists, `resources/read` and legacy subscriptions.

use std::time::Duration;

use antiphon_types::Version::{self, V2025_11_25};
use antiphon_types::{
    BlobResourceContents, CacheScope, ListResourceTemplatesResult, ListResourcesResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, SubscribeRequestParams, TextResourceContents,
    UnsubscribeRequestParams,
};

use super::parts::{
    annotations, hints, icons, needed_meta, request_meta, result_meta, thing_meta, title,
};
use super::round;
use crate::sample::Samples;

const URI: &str = "tide://oslo/today";

pub(super) fn add(s: &mut Samples) {
    let version = s.version;
    s.value("Resource", &Resource::new(URI, "today"));
    s.value("Resource", &full(version));
    let template = ResourceTemplate::new("tide://{port}/{day}", "tides");
    s.value("ResourceTemplate", &template);
    s.value("ResourceTemplate", &full_template(version));
    s.value("TextResourceContents", &TextResourceContents::new(URI, ""));
    s.value("TextResourceContents", &text(version));
    let contents = BlobResourceContents::new(URI, "AA==");
    s.value("BlobResourceContents", &contents);
    s.value("BlobResourceContents", &blob(version));
    list(s);
    list_templates(s);
    read(s);
    if !s.modern() {
        subscribe(s);
    }
}

/// A resource with everything the revision has.
pub(super) fn full(version: Version) -> Resource {
    let mut full = Resource::new(URI, "today")
        .description("High and low water.")
        .mime_type("text/csv")
        .size(2048)
        .annotations(annotations(version));
    full.title = title(version, "Tides of today");
    full.icons = icons(version);
    full.meta = thing_meta(version);
    full
}

fn full_template(version: Version) -> ResourceTemplate {
    let mut full = ResourceTemplate::new("tide://{port}/{day}", "tides")
        .description("High and low water.")
        .mime_type("text/csv")
        .annotations(annotations(version));
    full.title = title(version, "Tides");
    full.icons = icons(version);
    full.meta = thing_meta(version);
    full
}

/// Full text contents.
pub(super) fn text(version: Version) -> TextResourceContents {
    let mut full = TextResourceContents::new(URI, "06:10,1.2").mime_type("text/csv");
    full.meta = thing_meta(version);
    full
}

fn blob(version: Version) -> BlobResourceContents {
    let mut full = BlobResourceContents::new(URI, "MDY6MTAsMS4y").mime_type("text/csv");
    full.meta = thing_meta(version);
    full
}

fn list(s: &mut Samples) {
    let version = s.version;
    let names = ["ListResourcesRequest", "PaginatedRequestParams"];
    let mut params = PaginatedRequestParams::new();
    params.meta = needed_meta(version);
    s.client_request(names, "resources/list", params);
    let params = PaginatedRequestParams::new()
        .cursor("page-2")
        .meta(request_meta(version));
    s.client_request(names, "resources/list", params);

    let mut result = ListResourcesResult::new(Vec::new());
    hints!(s, result);
    s.result("ListResourcesResult", &result);
    let mut result = ListResourcesResult::new(vec![Resource::new(URI, "today"), full(version)])
        .next_cursor("page-2")
        .cache(Duration::from_secs(60), CacheScope::Public)
        .meta(result_meta(version));
    hints!(s, result);
    s.result("ListResourcesResult", &result);
}

fn list_templates(s: &mut Samples) {
    let version = s.version;
    let names = ["ListResourceTemplatesRequest", "PaginatedRequestParams"];
    let method = "resources/templates/list";
    let mut params = PaginatedRequestParams::new();
    params.meta = needed_meta(version);
    s.client_request(names, method, params);
    let params = PaginatedRequestParams::new()
        .cursor("page-2")
        .meta(request_meta(version));
    s.client_request(names, method, params);

    let mut result = ListResourceTemplatesResult::new(Vec::new());
    hints!(s, result);
    s.result("ListResourceTemplatesResult", &result);
    let mut result = ListResourceTemplatesResult::new(vec![full_template(version)])
        .next_cursor("page-2")
        .cache(Duration::from_secs(60), CacheScope::Public)
        .meta(result_meta(version));
    hints!(s, result);
    s.result("ListResourceTemplatesResult", &result);
}

fn read(s: &mut Samples) {
    let version = s.version;
    let names = ["ReadResourceRequest", "ReadResourceRequestParams"];
    let mut params = ReadResourceRequestParams::new(URI);
    params.meta = needed_meta(version);
    s.client_request(names, "resources/read", params);
    let mut params = ReadResourceRequestParams::new(URI).meta(request_meta(version));
    if s.since(V2025_11_25) {
        s.value("ResourceRequestParams", &params);
    }
    if s.modern() {
        params = params
            .input_responses(round::answers())
            .request_state("sealed");
    }
    s.client_request(names, "resources/read", params);

    let mut result = ReadResourceResult::new(Vec::new());
    hints!(s, result);
    s.result("ReadResourceResult", &result);
    let contents = vec![
        ResourceContents::Text(text(version)),
        ResourceContents::Blob(blob(version)),
        ResourceContents::text(URI, "").mime_type("text/plain"),
        ResourceContents::blob(URI, "AA=="),
    ];
    let mut result = ReadResourceResult::new(contents)
        .cache(Duration::from_secs(60), CacheScope::Private)
        .meta(result_meta(version));
    hints!(s, result);
    s.result("ReadResourceResult", &result);
}

fn subscribe(s: &mut Samples) {
    let meta = request_meta(s.version);
    let names = ["SubscribeRequest", "SubscribeRequestParams"];
    let params = SubscribeRequestParams::new(URI);
    s.client_request(names, "resources/subscribe", params.clone());
    s.client_request(names, "resources/subscribe", params.meta(meta.clone()));
    let names = ["UnsubscribeRequest", "UnsubscribeRequestParams"];
    let params = UnsubscribeRequestParams::new(URI);
    s.client_request(names, "resources/unsubscribe", params.clone());
    s.client_request(names, "resources/unsubscribe", params.meta(meta));
}
