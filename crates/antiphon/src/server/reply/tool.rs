//! What tools return.

use std::borrow::Cow;

use antiphon_types::{CallToolResult, ContentBlock, Resource, ResourceContents};

use super::{Audio, Context, Image, IntoReply, Reply, Stop};

#[diagnostic::do_not_recommend]
impl IntoReply<Self> for CallToolResult {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<Self>, Stop> {
        Ok(Reply::Complete(self))
    }
}

#[diagnostic::do_not_recommend]
impl IntoReply<CallToolResult> for () {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<CallToolResult>, Stop> {
        Ok(Reply::Complete(CallToolResult::content(Vec::new())))
    }
}

macro_rules! texts {
    ($($text:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl IntoReply<CallToolResult> for $text {
            fn into_reply(self, _: &Context<'_>) -> Result<Reply<CallToolResult>, Stop> {
                Ok(Reply::Complete(CallToolResult::text(self)))
            }
        }
    )*};
}

texts!(String, &'static str, Cow<'static, str>);

#[diagnostic::do_not_recommend]
impl IntoReply<CallToolResult> for Vec<ContentBlock> {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<CallToolResult>, Stop> {
        Ok(Reply::Complete(CallToolResult::content(self)))
    }
}

#[diagnostic::do_not_recommend]
impl<const N: usize> IntoReply<CallToolResult> for [ContentBlock; N] {
    fn into_reply(self, call: &Context<'_>) -> Result<Reply<CallToolResult>, Stop> {
        Vec::from(self).into_reply(call)
    }
}

#[diagnostic::do_not_recommend]
impl IntoReply<CallToolResult> for ContentBlock {
    fn into_reply(self, call: &Context<'_>) -> Result<Reply<CallToolResult>, Stop> {
        vec![self].into_reply(call)
    }
}

macro_rules! blocks {
    ($($block:ty: $make:expr),* $(,)?) => {$(
        #[diagnostic::do_not_recommend]
        impl IntoReply<CallToolResult> for $block {
            fn into_reply(self, call: &Context<'_>) -> Result<Reply<CallToolResult>, Stop> {
                let make: fn(Self) -> ContentBlock = $make;
                make(self).into_reply(call)
            }
        }
    )*};
}

blocks!(
    Image: Into::into,
    Audio: Into::into,
    ResourceContents: ContentBlock::resource,
    Resource: ContentBlock::link,
);
