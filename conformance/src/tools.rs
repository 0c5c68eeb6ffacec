//! Tools that answer in one go.

use std::time::Duration;

use antiphon::raw::{Call, CallTool, Changes, Error};
use antiphon::types::{
    CallToolResult, ClientCapabilities, ContentBlock, CreateMessageRequestParams, InputRequest,
    InputRequired, ResourceContents, Tool,
};

use crate::{fixtures, rounds};

/// Every tool, the simplest first: the suite calls that one with whatever it has.
pub(crate) fn all() -> Vec<Tool> {
    let mut tools: Vec<Tool> = [
        ("test_simple_text", "Returns a line of text"),
        ("test_image_content", "Returns an image"),
        ("test_audio_content", "Returns a sound"),
        ("test_embedded_resource", "Returns an embedded resource"),
        (
            "test_multiple_content_types",
            "Returns text, an image and a resource",
        ),
        ("test_error_handling", "Fails on purpose"),
        ("test_tool_with_progress", "Reports progress in three steps"),
        ("test_missing_capability", "Needs a client that can sample"),
        ("test_streaming_elicitation", "Asks a question"),
        ("test_logging_tool", "Logs, if asked to"),
        (
            "test_trigger_tool_change",
            "Announces that the tools changed",
        ),
        (
            "test_trigger_prompt_change",
            "Announces that the prompts changed",
        ),
    ]
    .into_iter()
    .chain(rounds::TOOLS)
    .map(|(name, description)| Tool::empty(name).description(description))
    .collect();
    tools.push(
        Tool::new("json_schema_2020_12_tool", fixtures::rich_schema())
            .description("Has a schema that uses 2020-12 to the full"),
    );
    tools.push(
        Tool::new(fixtures::HEADER_TOOL, fixtures::header_schema())
            .description("Takes an argument that travels in a header as well"),
    );
    tools
}

pub(crate) async fn call(
    call: &Call<'_>,
    tool: &CallTool<'_>,
    changes: &Changes,
) -> Result<CallToolResult, Error> {
    Ok(match tool.name {
        "test_simple_text" => CallToolResult::text("This is a simple text response for testing."),
        "test_image_content" => {
            CallToolResult::content(vec![ContentBlock::image(fixtures::PNG, "image/png")])
        }
        "test_audio_content" => {
            CallToolResult::content(vec![ContentBlock::audio(fixtures::WAV, "audio/wav")])
        }
        "test_embedded_resource" => CallToolResult::content(vec![ContentBlock::resource(
            ResourceContents::text(
                "test://embedded-resource",
                "This is an embedded resource content.",
            )
            .mime_type("text/plain"),
        )]),
        "test_multiple_content_types" => CallToolResult::content(vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(fixtures::PNG, "image/png"),
            ContentBlock::resource(
                ResourceContents::text(
                    "test://mixed-content-resource",
                    r#"{"test":"data","value":123}"#,
                )
                .mime_type("application/json"),
            ),
        ]),
        "test_error_handling" => {
            CallToolResult::error("This tool intentionally returns an error for testing")
        }
        "test_tool_with_progress" => {
            let progress = call.progress();
            for done in [0, 50, 100] {
                progress.report_of(done, 100);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            CallToolResult::text("Done.")
        }
        "test_missing_capability" => {
            needs_sampling(call)?;
            CallToolResult::text("The client can sample.")
        }
        "test_logging_tool" => {
            call.logger().named("fixtures").info("Logging as asked");
            CallToolResult::text("Logged, if you asked for it.")
        }
        "test_trigger_tool_change" => {
            changes.tools();
            CallToolResult::text("The tools changed.")
        }
        "test_trigger_prompt_change" => {
            changes.prompts();
            CallToolResult::text("The prompts changed.")
        }
        "json_schema_2020_12_tool" | fixtures::HEADER_TOOL => CallToolResult::text("Fine."),
        other => return Err(Error::invalid_params(format!("Unknown tool: {other}"))),
    })
}

/// Refuses a client that did not declare `sampling` on this very request.
fn needs_sampling(call: &Call<'_>) -> Result<(), Error> {
    let question: InputRequest = CreateMessageRequestParams::user("Hello", 10).into();
    let needed: ClientCapabilities = InputRequired::ask("any", question).required_capabilities();
    match call.capabilities()?.missing(&needed) {
        None => Ok(()),
        Some(missing) => Err(Error::missing_capabilities(missing)),
    }
}
