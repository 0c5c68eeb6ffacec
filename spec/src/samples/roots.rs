//! Roots.

use antiphon_types::{InputRequest, ListRootsRequestParams, ListRootsResult, Root};

use super::parts::{note, request_meta, thing_meta};
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    let version = s.version;
    let mut full = Root::new("file:///harbor/charts").name("Charts");
    full.meta = thing_meta(version);
    s.value("Root", &Root::new("file:///harbor"));
    s.value("Root", &full);

    let params = ListRootsRequestParams::new();
    s.ask(["ListRootsRequest", ""], params.clone());
    if s.modern() {
        let names = ["ListRootsRequest", "InputRequest", "Request"];
        s.fits(&names, &InputRequest::roots());
        s.ask(["ListRootsRequest", ""], params.meta(note()));
    } else {
        s.bare_request("ListRootsRequest", "ServerRequest", "roots/list");
        s.ask(["ListRootsRequest", ""], params.meta(request_meta(version)));
    }

    s.answer("ListRootsResult", &ListRootsResult::new(Vec::new()));
    let mut result = ListRootsResult::new(vec![Root::new("file:///harbor"), full]);
    // Inside a modern request the answer has no metadata.
    if !s.modern() {
        result = result.meta(note());
    }
    s.answer("ListRootsResult", &result);
}
