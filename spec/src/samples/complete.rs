//! `completion/complete`.

use std::collections::BTreeMap;

use antiphon_types::Version::V2025_06_18;
use antiphon_types::{
    CompleteArgument, CompleteContext, CompleteRequestParams, CompleteResult, Reference,
};

use super::parts::{needed_meta, request_meta, result_meta, title};
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    let template = match s.since(V2025_06_18) {
        true => "ResourceTemplateReference",
        false => "ResourceReference",
    };
    s.value(template, &Reference::resource("tide://{port}/{day}"));
    s.value("PromptReference", &Reference::prompt("brief"));
    let titled = Reference::Prompt {
        name: "brief".to_owned(),
        title: title(s.version, "Briefing"),
    };
    s.value("PromptReference", &titled);
    request(s, titled);
    result(s);
}

fn request(s: &mut Samples, prompt: Reference) {
    let version = s.version;
    let names = ["CompleteRequest", "CompleteRequestParams"];
    let method = "completion/complete";
    let argument = CompleteArgument::new("ship", "Au");
    let mut params = CompleteRequestParams::new(prompt, argument);
    params.meta = needed_meta(version);
    s.client_request(names, method, params);

    let template = Reference::resource("tide://{port}/{day}");
    let argument = CompleteArgument::new("day", "");
    let mut params = CompleteRequestParams::new(template, argument).meta(request_meta(version));
    if s.since(V2025_06_18) {
        params.context = Some(CompleteContext::new());
        s.client_request(names, method, params.clone());
        let known = BTreeMap::from([("port".to_owned(), "oslo".to_owned())]);
        params.context = Some(CompleteContext::new().arguments(known));
    }
    s.client_request(names, method, params);
}

fn result(s: &mut Samples) {
    s.result("CompleteResult", &CompleteResult::new(Vec::new()));
    let full = CompleteResult::new(vec!["today".to_owned(), "tomorrow".to_owned()])
        .total(2)
        .has_more(false)
        .meta(result_meta(s.version));
    s.result("CompleteResult", &full);
    // More than one result may hold: cut, and said so.
    let many = (0..150).map(|n| format!("day-{n}")).collect();
    s.result("CompleteResult", &CompleteResult::new(many));
}
