//! `prompts/list` and `prompts/get`.

use std::collections::BTreeMap;
use std::time::Duration;

use antiphon_types::{
    CacheScope, ContentBlock, GetPromptRequestParams, GetPromptResult, ListPromptsResult,
    PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, Version,
};

use super::content;
use super::parts::{hints, icons, needed_meta, request_meta, result_meta, thing_meta, title};
use super::round;
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    let version = s.version;
    s.value("PromptArgument", &PromptArgument::new("ship"));
    s.value("PromptArgument", &argument(version));
    s.value("Prompt", &Prompt::new("brief"));
    s.value("Prompt", &full(version));
    let message = PromptMessage::assistant(ContentBlock::text("Which ship?"));
    s.value("PromptMessage", &message);
    for block in content::blocks(version) {
        s.value("PromptMessage", &PromptMessage::user(block));
    }
    list(s);
    get(s);
}

fn argument(version: Version) -> PromptArgument {
    let mut full = PromptArgument::new("ship")
        .description("Whom to brief on.")
        .required(true);
    full.title = title(version, "Ship");
    full
}

fn full(version: Version) -> Prompt {
    let mut full = Prompt::new("brief")
        .description("A briefing on a ship.")
        .argument(argument(version))
        .argument(PromptArgument::new("day"));
    full.title = title(version, "Briefing");
    full.icons = icons(version);
    full.meta = thing_meta(version);
    full
}

fn list(s: &mut Samples) {
    let version = s.version;
    let names = ["ListPromptsRequest", "PaginatedRequestParams"];
    let mut params = PaginatedRequestParams::new();
    params.meta = needed_meta(version);
    s.client_request(names, "prompts/list", params);
    let params = PaginatedRequestParams::new()
        .cursor("page-2")
        .meta(request_meta(version));
    s.client_request(names, "prompts/list", params);

    let mut result = ListPromptsResult::new(Vec::new());
    hints!(s, result);
    s.result("ListPromptsResult", &result);
    let mut result = ListPromptsResult::new(vec![Prompt::new("plain"), full(version)])
        .next_cursor("page-2")
        .cache(Duration::from_secs(60), CacheScope::Private)
        .meta(result_meta(version));
    hints!(s, result);
    s.result("ListPromptsResult", &result);
}

fn get(s: &mut Samples) {
    let version = s.version;
    let names = ["GetPromptRequest", "GetPromptRequestParams"];
    let mut params = GetPromptRequestParams::new("brief");
    params.meta = needed_meta(version);
    s.client_request(names, "prompts/get", params);
    let arguments = BTreeMap::from([("ship".to_owned(), "Aurora".to_owned())]);
    let mut params = GetPromptRequestParams::new("brief")
        .arguments(arguments)
        .meta(request_meta(version));
    if s.modern() {
        params = params
            .input_responses(round::answers())
            .request_state("sealed");
    }
    s.client_request(names, "prompts/get", params);

    s.result("GetPromptResult", &GetPromptResult::new(Vec::new()));
    let blocks = content::blocks(version).into_iter();
    let result = GetPromptResult::new(blocks.map(PromptMessage::user).collect())
        .description("A briefing on Aurora.")
        .meta(result_meta(version));
    s.result("GetPromptResult", &result);
}
