//! Tools that answer in one go.

use std::time::Duration;

use antiphon::{
    Args, Audio, Image, Logger, Progress, Server, Stop, Tool,
    raw::Error,
    types::{
        ClientCapabilities, ContentBlock, CreateMessageRequestParams, InputRequired,
        ResourceContents,
    },
};
use serde_json::{Map, Value};

use crate::fixtures;

/// The simplest comes first: the suite calls that one with whatever it has.
pub(crate) fn add(server: Server) -> Server {
    server
        .add(Tool::new("test_simple_text", simple_text).description("Returns a line of text"))
        .add(Tool::new("test_image_content", image).description("Returns an image"))
        .add(Tool::new("test_audio_content", audio).description("Returns a sound"))
        .add(Tool::new("test_embedded_resource", embedded).description("Embeds a resource"))
        .add(Tool::new("test_multiple_content_types", several).description("Returns three blocks"))
        .add(Tool::new("test_error_handling", failing).description("Fails on purpose"))
        .add(Tool::new("test_tool_with_progress", slow).description("Reports progress"))
        .add(Tool::new("test_missing_capability", sampling).description("Needs sampling"))
        .add(Tool::new("test_logging_tool", logging).description("Logs, if asked to"))
        .add(Tool::new("test_trigger_tool_change", change_tools).description("Announces tools"))
        .add(
            Tool::new("test_trigger_prompt_change", change_prompts)
                .description("Announces prompts"),
        )
        .add(
            Tool::new("json_schema_2020_12_tool", anything)
                .description("Has a schema that uses 2020-12 to the full")
                .input_schema(fixtures::rich_schema()),
        )
        .add(
            Tool::new("test_x_mcp_header", anything)
                .description("Takes an argument that travels in a header as well")
                .input_schema(fixtures::header_schema()),
        )
}

async fn simple_text() -> &'static str {
    "This is a simple text response for testing."
}

async fn image() -> Image {
    Image::base64(fixtures::PNG, "image/png")
}

async fn audio() -> Audio {
    Audio::base64(fixtures::WAV, "audio/wav")
}

async fn embedded() -> ResourceContents {
    let text = "This is an embedded resource content.";
    ResourceContents::text("test://embedded-resource", text).mime_type("text/plain")
}

async fn several() -> [ContentBlock; 3] {
    let json = r#"{"test":"data","value":123}"#;
    let resource = ResourceContents::text("test://mixed-content-resource", json);
    [
        ContentBlock::text("Multiple content types test:"),
        ContentBlock::image(fixtures::PNG, "image/png"),
        ContentBlock::resource(resource.mime_type("application/json")),
    ]
}

async fn failing() -> Result<(), Stop> {
    Err(Stop::fail(
        "This tool intentionally returns an error for testing",
    ))
}

async fn slow(progress: Progress) -> &'static str {
    for done in [0, 50, 100] {
        progress.report_of(done, 100);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    "Done."
}

/// Refuses a client that did not declare `sampling` on this very request.
async fn sampling(declared: ClientCapabilities) -> Result<&'static str, Stop> {
    let question = CreateMessageRequestParams::user("Hello", 10);
    let needed = InputRequired::ask("any", question).required_capabilities();
    match declared.missing(&needed) {
        None => Ok("The client can sample."),
        Some(missing) => Err(Error::missing_capabilities(missing).into()),
    }
}

async fn logging(logger: Logger) -> &'static str {
    logger.named("fixtures").info("Logging as asked");
    "Logged, if you asked for it."
}

async fn change_tools(server: Server) -> &'static str {
    server.notify_tools_changed();
    "The tools changed."
}

async fn change_prompts(server: Server) -> &'static str {
    server.notify_prompts_changed();
    "The prompts changed."
}

async fn anything(_: Args<Map<String, Value>>) -> &'static str {
    "Fine."
}
