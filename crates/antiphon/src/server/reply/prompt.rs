//! [`Messages`]: what prompts return.

use std::borrow::Cow;

use antiphon_types::{ContentBlock, GetPromptResult, PromptMessage};

use super::{Audio, Context, Image, IntoReply, Reply, Stop};

/// The messages of a prompt.
///
/// ```
/// use antiphon::Messages;
///
/// async fn review() -> Messages {
///     Messages::new()
///         .user("Review this change.")
///         .assistant("What should I look at first?")
/// }
/// # let _ = antiphon::Server::<()>::new("reviews", "1.0").prompt("review", review);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Messages {
    messages: Vec<PromptMessage>,
    description: Option<String>,
}

impl Messages {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// And a message of the user: a text, an [`Image`], any content.
    pub fn user(mut self, content: impl IntoContent) -> Self {
        let message = PromptMessage::user(content.into_content());
        self.messages.push(message);
        self
    }

    /// And a message of the assistant.
    pub fn assistant(mut self, content: impl IntoContent) -> Self {
        let message = PromptMessage::assistant(content.into_content());
        self.messages.push(message);
        self
    }

    /// What these messages are about.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }
}

/// What a message can hold: a text, an image, a sound, or any
/// [`ContentBlock`].
pub trait IntoContent {
    /// As a block.
    fn into_content(self) -> ContentBlock;
}

macro_rules! texts {
    ($($text:ty),*) => {$(
        impl IntoContent for $text {
            fn into_content(self) -> ContentBlock {
                ContentBlock::text(self)
            }
        }
    )*};
}

texts!(String, &str, Cow<'_, str>);

impl IntoContent for ContentBlock {
    fn into_content(self) -> ContentBlock {
        self
    }
}

impl IntoContent for Image {
    fn into_content(self) -> ContentBlock {
        self.into()
    }
}

impl IntoContent for Audio {
    fn into_content(self) -> ContentBlock {
        self.into()
    }
}

#[diagnostic::do_not_recommend]
impl IntoReply<Self> for GetPromptResult {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<Self>, Stop> {
        Ok(Reply::Complete(self))
    }
}

#[diagnostic::do_not_recommend]
impl IntoReply<GetPromptResult> for Messages {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<GetPromptResult>, Stop> {
        let mut result = GetPromptResult::new(self.messages);
        result.description = self.description;
        Ok(Reply::Complete(result))
    }
}

#[diagnostic::do_not_recommend]
impl IntoReply<GetPromptResult> for Vec<PromptMessage> {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<GetPromptResult>, Stop> {
        Ok(Reply::Complete(GetPromptResult::new(self)))
    }
}

#[diagnostic::do_not_recommend]
impl IntoReply<GetPromptResult> for PromptMessage {
    fn into_reply(self, call: &Context<'_>) -> Result<Reply<GetPromptResult>, Stop> {
        vec![self].into_reply(call)
    }
}

macro_rules! messages {
    ($($content:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl IntoReply<GetPromptResult> for $content {
            fn into_reply(self, call: &Context<'_>) -> Result<Reply<GetPromptResult>, Stop> {
                Messages::new().user(self).into_reply(call)
            }
        }
    )*};
}

messages!(
    String,
    &'static str,
    Cow<'static, str>,
    ContentBlock,
    Image,
    Audio
);
