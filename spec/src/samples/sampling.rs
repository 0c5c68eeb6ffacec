//! `sampling/createMessage`.

use antiphon_types::Version::{self, V2025_03_26, V2025_11_25};
use antiphon_types::{
    ContentBlock, CreateMessageRequestParams, CreateMessageResult, IncludeContext, ModelHint,
    ModelPreferences, Role, SamplingContent, SamplingMessage, Tool, ToolChoice, ToolChoiceMode,
    ToolResultContent, ToolUseContent,
};
use serde_json::json;

use super::parts::{note, object, request_meta, result_meta};
use super::{content, tool};
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    s.value("ModelHint", &ModelHint::default());
    s.value("ModelHint", &ModelHint::new("small"));
    s.value("ModelPreferences", &ModelPreferences::new());
    s.value("ModelPreferences", &preferences());
    if s.since(V2025_11_25) {
        tools(s);
    }
    messages(s);
    request(s);
    result(s);
}

fn preferences() -> ModelPreferences {
    ModelPreferences::new()
        .hint("small")
        .hint("fast")
        .cost_priority(1.0)
        .speed_priority(0.25)
        .intelligence_priority(0.0)
}

fn tools(s: &mut Samples) {
    s.value("ToolChoice", &ToolChoice::default());
    for mode in [
        ToolChoiceMode::Auto,
        ToolChoiceMode::Required,
        ToolChoiceMode::None,
    ] {
        s.value("ToolChoice", &ToolChoice::new(mode));
    }
    let empty = ToolUseContent::new("u-1", "tide_now", object(json!({})));
    s.value("ToolUseContent", &empty);
    s.value("ToolUseContent", &tool_use());
    let empty = ToolResultContent::new("u-1", Vec::new());
    s.value("ToolResultContent", &empty);
    let full = tool_result(s.version);
    s.value("ToolResultContent", &full);
    for block in blocks(s.version) {
        s.value("SamplingMessageContentBlock", &block);
    }
}

fn tool_use() -> ToolUseContent {
    let input = object(json!({"berth": "B12", "nights": 2}));
    ToolUseContent::new("u-2", "reserve_berth", input).meta(note())
}

fn tool_result(version: Version) -> ToolResultContent {
    ToolResultContent::new("u-2", content::blocks(version))
        .structured_content(json!({"berth": "B12"}))
        .is_error(false)
        .meta(note())
}

/// One full block of every kind.
fn blocks(version: Version) -> Vec<SamplingContent> {
    let mut blocks = vec![
        SamplingContent::text(""),
        content::text(version).into(),
        content::image(version).into(),
    ];
    if version >= V2025_03_26 {
        blocks.push(content::audio(version).into());
    }
    if version >= V2025_11_25 {
        blocks.extend([tool_use().into(), tool_result(version).into()]);
    }
    blocks
}

fn conversation(version: Version) -> Vec<SamplingMessage> {
    let mut messages: Vec<_> = blocks(version)
        .into_iter()
        .map(SamplingMessage::user)
        .collect();
    if version >= V2025_11_25 {
        messages.push(SamplingMessage::assistant(blocks(version)).meta(note()));
        messages.push(SamplingMessage::assistant(Vec::new()));
    }
    messages
}

fn messages(s: &mut Samples) {
    let message = SamplingMessage::assistant(SamplingContent::text("Aurora."));
    s.value("SamplingMessage", &message);
    for message in conversation(s.version) {
        s.value("SamplingMessage", &message);
    }
}

fn request(s: &mut Samples) {
    let version = s.version;
    let names = ["CreateMessageRequest", "CreateMessageRequestParams"];
    s.ask(names, CreateMessageRequestParams::new(Vec::new(), 1));
    let mut params = CreateMessageRequestParams::new(conversation(version), 200)
        .model_preferences(preferences())
        .system_prompt("You know the harbor.")
        .include_context(IncludeContext::ThisServer)
        .temperature(0.7)
        .stop_sequences(vec!["\n".to_owned()])
        .metadata(object(json!({"harbor.example/trace": {"on": true}})));
    if s.since(V2025_11_25) {
        params = params
            .tools(vec![Tool::empty("tide_now"), tool::full(version)])
            .tool_choice(ToolChoice::auto());
    }
    // Inside a modern result the params have no metadata.
    if !s.modern() {
        params = params.meta(request_meta(version));
    }
    s.ask(names, params);
    for context in [IncludeContext::None, IncludeContext::AllServers] {
        let params = CreateMessageRequestParams::user("Which ship?", 20);
        s.ask(names, params.include_context(context));
    }
}

fn result(s: &mut Samples) {
    let version = s.version;
    let name = "CreateMessageResult";
    s.answer(name, &CreateMessageResult::text("Aurora.", "small-1"));
    for block in blocks(version) {
        let full = CreateMessageResult::new(Role::Assistant, block, "small-1")
            .stop_reason("endTurn")
            .meta(result_meta(version));
        s.answer(name, &full);
    }
    if s.since(V2025_11_25) {
        let blocks = blocks(version);
        let many = CreateMessageResult::new(Role::Assistant, blocks, "small-1");
        s.answer(name, &many.stop_reason("toolUse"));
        let result = ToolResultContent::new("u-1", vec![ContentBlock::text("no")]).is_error(true);
        let one = SamplingContent::from(result);
        s.answer(name, &CreateMessageResult::new(Role::User, one, "small-1"));
    }
}
