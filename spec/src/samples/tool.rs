//! `tools/list` and `tools/call`.

use std::time::Duration;

use antiphon_types::Version::{self, V2025_03_26, V2025_06_18, V2025_11_25};
use antiphon_types::{
    CacheScope, CallToolRequestParams, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, TaskSupport, Tool, ToolAnnotations, ToolExecution,
};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use super::content;
use super::parts::{
    hints, icons, needed_meta, object, request_meta, result_meta, thing_meta, title,
};
use super::round;
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    let version = s.version;
    s.value("Tool", &Tool::empty("tide_now"));
    s.value("Tool", &full(version));
    if s.since(V2025_03_26) {
        s.value("ToolAnnotations", &ToolAnnotations::new());
        s.value("ToolAnnotations", &annotations());
    }
    if version == V2025_11_25 {
        s.value("ToolExecution", &ToolExecution::new());
        for support in [
            TaskSupport::Forbidden,
            TaskSupport::Optional,
            TaskSupport::Required,
        ] {
            s.value("ToolExecution", &ToolExecution::new().task_support(support));
        }
    }
    list(s);
    call_request(s);
    call_result(s);
}

/// A tool with everything the revision has.
pub(super) fn full(version: Version) -> Tool {
    let mut full = Tool::new("reserve_berth", schema(version)).description("Reserves a berth.");
    full.title = title(version, "Reserve a berth");
    full.icons = icons(version);
    full.meta = thing_meta(version);
    if version >= V2025_03_26 {
        full.annotations = Some(annotations());
    }
    if version >= V2025_06_18 {
        full.output_schema = Some(schema(version));
    }
    if version == V2025_11_25 {
        full.execution = Some(ToolExecution::new().task_support(TaskSupport::Optional));
    }
    full
}

fn schema(version: Version) -> Map<String, Value> {
    let mut schema = object(json!({
        "type": "object",
        "properties": {"berth": {"type": "string"}, "nights": {"type": "integer"}},
        "required": ["berth"],
    }));
    if version >= V2025_11_25 {
        let dialect = "https://json-schema.org/draft/2020-12/schema";
        schema.insert("$schema".to_owned(), dialect.into());
    }
    schema
}

fn annotations() -> ToolAnnotations {
    ToolAnnotations::new()
        .title("Reserve a berth")
        .read_only_hint(false)
        .destructive_hint(false)
        .idempotent_hint(true)
        .open_world_hint(true)
}

fn list(s: &mut Samples) {
    let version = s.version;
    let names = ["ListToolsRequest", "PaginatedRequestParams"];
    let mut params = PaginatedRequestParams::new();
    params.meta = needed_meta(version);
    s.client_request(names, "tools/list", params);
    let params = PaginatedRequestParams::new()
        .cursor("")
        .meta(request_meta(version));
    s.client_request(names, "tools/list", params);
    if !s.modern() {
        s.bare_request("ListToolsRequest", "ClientRequest", "tools/list");
    }

    let mut result = ListToolsResult::new(Vec::new());
    hints!(s, result);
    s.result("ListToolsResult", &result);
    let mut result = ListToolsResult::new(vec![Tool::empty("tide_now"), full(version)])
        .next_cursor("page-2")
        .cache(Duration::from_secs(60), CacheScope::Public)
        .meta(result_meta(version));
    hints!(s, result);
    s.result("ListToolsResult", &result);
}

fn call_request(s: &mut Samples) {
    let version = s.version;
    let names = ["CallToolRequest", "CallToolRequestParams"];
    let mut params = CallToolRequestParams::new("tide_now");
    params.meta = needed_meta(version);
    s.client_request(names, "tools/call", params);
    let arguments = json!({"berth": "B12", "nights": 2, "price": 41.5, "guest": null});
    let mut params = CallToolRequestParams::new("reserve_berth")
        .arguments(to_raw_value(&arguments).expect("a value is JSON"))
        .meta(request_meta(version));
    if s.modern() {
        params = params
            .input_responses(round::answers())
            .request_state("sealed");
    }
    s.client_request(names, "tools/call", params);
}

fn call_result(s: &mut Samples) {
    let version = s.version;
    let name = "CallToolResult";
    s.result(name, &CallToolResult::content(Vec::new()));
    s.result(name, &CallToolResult::error("No berth is free."));
    let blocks = content::blocks(version);
    let mut full = CallToolResult::content(blocks).meta(result_meta(version));
    full.is_error = Some(false);
    if s.since(V2025_06_18) {
        full = full.structured(json!({"berth": "B12", "price": 41.5}));
    }
    s.result(name, &full);
    if s.modern() {
        for value in [json!(["B12"]), json!(41.5), json!("B12"), Value::Null] {
            let plain = CallToolResult::content(vec![ContentBlock::text("B12")]);
            s.result(name, &plain.structured(value));
        }
    }
}
