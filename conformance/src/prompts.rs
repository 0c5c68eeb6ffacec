//! Prompts, and the completion of their arguments.

use antiphon::raw::{Complete, Error, GetPrompt, Reply};
use antiphon::types::{
    CompleteResult, ContentBlock, ElicitAction, GetPromptResult, Prompt, PromptArgument,
    PromptMessage, ResourceContents,
};

use crate::{fixtures, rounds};

pub(crate) fn all() -> Vec<Prompt> {
    let required = |name: &str| PromptArgument::new(name).required(true);
    vec![
        Prompt::new("test_simple_prompt").description("One message"),
        Prompt::new("test_prompt_with_arguments")
            .description("Repeats its arguments")
            .arguments(vec![required("arg1"), required("arg2")]),
        Prompt::new("test_prompt_with_embedded_resource")
            .description("Embeds a resource")
            .arguments(vec![required("resourceUri")]),
        Prompt::new("test_prompt_with_image").description("Shows an image"),
        Prompt::new("test_input_required_result_prompt").description("Asks what it is about"),
    ]
}

pub(crate) fn get(prompt: &GetPrompt<'_>) -> Result<Reply<GetPromptResult>, Error> {
    let arguments = prompt.arguments()?;
    let argument = |name: &str| {
        arguments
            .get(name)
            .ok_or_else(|| Error::invalid_params(format!("The argument `{name}` is missing")))
    };
    let text = |text: &str| PromptMessage::user(ContentBlock::text(text));
    let messages = match prompt.name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1")?, argument("arg2")?);
            vec![text(&format!(
                "Prompt with arguments: arg1='{one}', arg2='{two}'"
            ))]
        }
        "test_prompt_with_embedded_resource" => {
            let contents = ResourceContents::text(
                argument("resourceUri")?,
                "Embedded resource content for testing.",
            );
            let resource = ContentBlock::resource(contents.mime_type("text/plain"));
            vec![
                PromptMessage::user(resource),
                text("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => {
            let image = ContentBlock::image(fixtures::PNG, "image/png");
            vec![
                PromptMessage::user(image),
                text("Please analyze the image above."),
            ]
        }
        "test_input_required_result_prompt" => {
            let answer = prompt.round.answers()?.elicit("user_context").given();
            let accepted = answer.filter(|answer| answer.action == ElicitAction::Accept);
            let context = accepted
                .and_then(|answer| Some(answer.content?.get("context")?.as_str()?.to_owned()));
            match context {
                Some(context) => vec![text(&format!("Use this context: {context}"))],
                None => return Ok(rounds::context_question().into()),
            }
        }
        other => return Err(Error::invalid_params(format!("Unknown prompt: {other}"))),
    };
    Ok(GetPromptResult::new(messages).into())
}

/// Values that begin as the argument does.
pub(crate) fn complete(completion: &Complete) -> CompleteResult {
    let known = ["testValue1", "testValue2", "other"];
    let typed = completion.argument.value.as_str();
    let values = known.iter().filter(|value| value.starts_with(typed));
    CompleteResult::new(values.map(|value| (*value).to_owned()).collect())
}
