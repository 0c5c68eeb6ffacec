//! Prompts, and the completion of their arguments.

use antiphon::{
    Args, Call, Image, Messages, Prompt, Server, Stop,
    schemars::{self, JsonSchema},
    types::{ContentBlock, InputRequired, ResourceContents},
};
use serde::Deserialize;

use crate::{
    fixtures,
    rounds::{ask_text, text},
};

pub(crate) fn add(server: Server) -> Server {
    let known = ["testValue1", "testValue2", "other"];
    server
        .add(Prompt::new("test_simple_prompt", simple).description("One message"))
        .add(
            Prompt::new("test_prompt_with_arguments", with_arguments)
                .description("Repeats its arguments")
                .choices("arg1", known)
                .choices("arg2", known),
        )
        .add(
            Prompt::new("test_prompt_with_embedded_resource", with_resource)
                .description("Embeds a resource"),
        )
        .add(Prompt::new("test_prompt_with_image", with_image).description("Shows an image"))
        .add(
            Prompt::new("test_input_required_result_prompt", asking)
                .description("Asks what it is about"),
        )
}

async fn simple() -> &'static str {
    "This is a simple prompt for testing."
}

#[derive(Deserialize, JsonSchema)]
struct Two {
    arg1: String,
    arg2: String,
}

async fn with_arguments(Args(Two { arg1, arg2 }): Args<Two>) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Embed {
    resource_uri: String,
}

async fn with_resource(Args(Embed { resource_uri }): Args<Embed>) -> Messages {
    let text = "Embedded resource content for testing.";
    let contents = ResourceContents::text(resource_uri, text).mime_type("text/plain");
    Messages::new()
        .user(ContentBlock::resource(contents))
        .user("Please process the embedded resource above.")
}

async fn with_image() -> Messages {
    Messages::new()
        .user(Image::base64(fixtures::PNG, "image/png"))
        .user("Please analyze the image above.")
}

async fn asking(call: Call) -> Result<String, Stop> {
    match text(&call.responses(), "user_context", "context") {
        Some(context) => Ok(format!("Use this context: {context}")),
        None => {
            let question = ask_text("What context should the prompt use?", "context");
            Err(Stop::ask(InputRequired::ask("user_context", question)))
        }
    }
}
