//! Capabilities, implementations, icons, and `server/discover`.

use std::time::Duration;

use antiphon_types::Version::{self, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use antiphon_types::{
    CacheScope, ClientCapabilities, DiscoverResult, ElicitationCapability, Icon, IconTheme,
    Implementation, RequestParams, RootsCapability, SamplingCapability, ServerCapabilities,
};
use serde_json::json;

use super::parts::{icon, implementation, needed_meta, object, request_meta, result_meta};
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    let version = s.version;
    s.value("ClientCapabilities", &ClientCapabilities::new());
    s.value("ClientCapabilities", &client(version));
    s.value("ServerCapabilities", &ServerCapabilities::new());
    s.value("ServerCapabilities", &server(version));
    let silent = ServerCapabilities::new()
        .tools(false)
        .prompts(false)
        .resources(false, false);
    s.value("ServerCapabilities", &silent);

    s.value("Implementation", &Implementation::new("harbor", "1.4.0"));
    s.value("Implementation", &implementation(version));
    if s.since(V2025_11_25) {
        s.value("Icon", &Icon::new("https://harbor.example/icon.svg"));
        s.value("Icon", &icon());
        s.value("Icon", &icon().theme(IconTheme::Light));
    }
    if s.modern() {
        discover(s);
    }
}

/// All a client can declare.
pub(super) fn client(version: Version) -> ClientCapabilities {
    let mut all = ClientCapabilities::new()
        .sampling(SamplingCapability::new())
        .roots(RootsCapability::new())
        .experimental(object(json!({"harbor.example/pilot": {"channel": 12}})));
    if version < V2026_07_28 {
        all = all.roots(RootsCapability::new().list_changed(true));
    }
    if version >= V2025_06_18 {
        all = all.elicitation(ElicitationCapability::new());
    }
    if version >= V2025_11_25 {
        all = all
            .elicitation(ElicitationCapability::new().form().url())
            .sampling(SamplingCapability::new().tools().context());
    }
    if version == V2025_11_25 {
        all = all.tasks(json!({
            "list": {},
            "cancel": {},
            "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
        }));
    }
    if version >= V2026_07_28 {
        all = all.extension("harbor.example/chart", object(json!({"scale": 5000})));
    }
    all
}

/// All a server can declare.
pub(super) fn server(version: Version) -> ServerCapabilities {
    let mut all = ServerCapabilities::new()
        .tools(true)
        .prompts(true)
        .resources(true, true)
        .logging()
        .experimental(object(json!({"harbor.example/pilot": {}})));
    if version >= V2025_03_26 {
        all = all.completions();
    }
    if version == V2025_11_25 {
        all = all.tasks(json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}));
    }
    if version >= V2026_07_28 {
        all = all.extension(
            "harbor.example/chart",
            object(json!({"scales": [5000, 50000]})),
        );
    }
    all
}

fn discover(s: &mut Samples) {
    let version = s.version;
    let mut params = RequestParams::new();
    params.meta = needed_meta(version);
    let names = ["DiscoverRequest", "RequestParams"];
    s.client_request(names, "server/discover", params);
    let params = RequestParams::new().meta(request_meta(version));
    s.client_request(names, "server/discover", params);

    let result = DiscoverResult::new([Version::LATEST], ServerCapabilities::new());
    s.result("DiscoverResult", &result);
    let versions = Version::MODERN.iter().chain(Version::LEGACY).copied();
    let result = DiscoverResult::new(versions, server(version))
        .instructions("Ask for the tide before you reserve a berth.")
        .cache(Duration::from_secs(600), CacheScope::Public)
        .meta(result_meta(version));
    s.result("DiscoverResult", &result);
}
