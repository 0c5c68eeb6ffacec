//! `elicitation/create`, from 2025-06-18 on.

use antiphon_types::Version::V2025_11_25;
use antiphon_types::{
    ElicitAction, ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams,
    ElicitResult, ElicitationCompleteNotificationParams, ErrorObject, FormSchema,
    UrlElicitationRequiredData, code,
};
use serde_json::json;

use super::form;
use super::parts::{note, notification_meta, object, request_meta};
use crate::sample::Samples;

const URL: &str = "https://harbor.example/login?ship=aurora";

pub(super) fn add(s: &mut Samples) {
    let version = s.version;
    let bare = ElicitRequestFormParams::new("Who are you?", FormSchema::new());
    let mut full = ElicitRequestFormParams::new("Who are you?", form::full(version));
    // Inside a modern result the params have no metadata.
    if !s.modern() {
        full = full.meta(request_meta(version));
    }
    for params in [bare, full] {
        s.ask(["ElicitRequest", "ElicitRequestFormParams"], params.clone());
        let any = ElicitRequestParams::Form(params);
        s.ask(["ElicitRequest", "ElicitRequestParams"], any);
    }
    if s.since(V2025_11_25) {
        urls(s);
    }
    result(s);
}

fn urls(s: &mut Samples) {
    let mut links = vec![ElicitRequestUrlParams::new("Sign in", URL)];
    if !s.modern() {
        let bare = ElicitRequestUrlParams::new("Sign in", URL).elicitation_id("e-1");
        links = vec![bare.clone(), bare.meta(request_meta(s.version))];
        completion(s);
        required(s, links.clone());
    }
    for params in links {
        s.ask(["ElicitRequest", "ElicitRequestURLParams"], params.clone());
        let any = ElicitRequestParams::Url(params);
        s.ask(["ElicitRequest", "ElicitRequestParams"], any);
    }
}

/// 2025-11-25: the link has done its work.
fn completion(s: &mut Samples) {
    let bare = ElicitationCompleteNotificationParams::new("e-1");
    let full = bare.clone().meta(notification_meta(s.version));
    for params in [bare, full] {
        s.notification(
            "ElicitationCompleteNotification",
            &["ServerNotification"],
            "notifications/elicitation/complete",
            params,
        );
    }
}

/// 2025-11-25: links must be opened first.
fn required(s: &mut Samples, links: Vec<ElicitRequestUrlParams>) {
    for links in [Vec::new(), links] {
        let data = json!(UrlElicitationRequiredData::new(links));
        let error = ErrorObject::new(code::URL_ELICITATION_REQUIRED, "Sign in first");
        let id = s.id();
        s.error(
            "URLElicitationRequiredError",
            Some(id),
            error.with_data(data),
        );
    }
}

fn result(s: &mut Samples) {
    let name = "ElicitResult";
    s.answer(name, &ElicitResult::decline());
    s.answer(name, &ElicitResult::cancel());
    s.answer(name, &ElicitResult::new(ElicitAction::Accept));
    s.answer(name, &ElicitResult::accept(object(json!({}))));
    // The schema has integers where the specification has numbers (AMB-11).
    let mut content = object(json!({"contact": "", "nights": 2, "pilot": true}));
    if s.since(V2025_11_25) {
        content.insert("sizes".to_owned(), json!(["s", "l"]));
    }
    let mut full = ElicitResult::accept(content);
    if !s.modern() {
        full = full.meta(note());
    }
    s.answer(name, &full);
}
