//! What only legacy revisions have: `initialize`, `ping` and `logging/setLevel`.

use antiphon_types::Version::V2025_11_25;
use antiphon_types::{
    ClientCapabilities, EmptyResult, Implementation, InitializeRequestParams, InitializeResult,
    LoggingLevel, RequestParams, ServerCapabilities, SetLevelRequestParams,
};

use super::capabilities;
use super::parts::{implementation, request_meta, result_meta};
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    initialize(s);
    ping(s);
    let params = SetLevelRequestParams::new(LoggingLevel::Error);
    let names = ["SetLevelRequest", "SetLevelRequestParams"];
    s.client_request(names, "logging/setLevel", params.clone());
    let full = params.meta(request_meta(s.version));
    s.client_request(names, "logging/setLevel", full);
}

fn initialize(s: &mut Samples) {
    let version = s.version;
    let names = ["InitializeRequest", "InitializeRequestParams"];
    let peer = Implementation::new("harbor", "1.4.0");
    let bare = InitializeRequestParams::new(version, ClientCapabilities::new(), peer.clone());
    s.client_request(names, "initialize", bare);
    let all = capabilities::client(version);
    let full = InitializeRequestParams::new(version, all, implementation(version));
    s.client_request(names, "initialize", full.meta(request_meta(version)));

    let bare = InitializeResult::new(version, ServerCapabilities::new(), peer);
    s.result("InitializeResult", &bare);
    let all = capabilities::server(version);
    let full = InitializeResult::new(version, all, implementation(version))
        .instructions("Ask for the tide before you reserve a berth.")
        .meta(result_meta(version));
    s.result("InitializeResult", &full);
}

/// Both sides may ask whether the other is there.
fn ping(s: &mut Samples) {
    s.bare_request("PingRequest", "ClientRequest", "ping");
    s.bare_request("PingRequest", "ServerRequest", "ping");
    let full = RequestParams::new().meta(request_meta(s.version));
    if s.since(V2025_11_25) {
        s.value("RequestParams", &RequestParams::new());
    }
    s.client_request(["PingRequest", "RequestParams"], "ping", full);
    s.answer("EmptyResult", &EmptyResult::new());
    s.result("EmptyResult", &EmptyResult::new());
    s.result(
        "EmptyResult",
        &EmptyResult::new().meta(result_meta(s.version)),
    );
}
