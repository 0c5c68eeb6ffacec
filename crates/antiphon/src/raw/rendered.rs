//! [`Rendered`]: a result that is written once and sent many times.

use std::marker::PhantomData;

use antiphon_types::{
    CallToolResult, CompleteResult, DiscoverResult, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
    ReadResourceResult,
};
use bytes::Bytes;
use serde::Serialize;

/// A result already written as JSON. Cloning it is cheap.
///
/// Lists rarely change, so a service makes one when they do and answers with a clone; a result
/// made for one answer only converts with `.into()`.
#[derive(Debug)]
pub struct Rendered<T> {
    pub(crate) json: Bytes,
    pub(crate) meta: Option<MetaObject>,
    kind: PhantomData<fn() -> T>,
}

impl<T> Clone for Rendered<T> {
    fn clone(&self) -> Self {
        Self {
            json: self.json.clone(),
            meta: self.meta.clone(),
            kind: PhantomData,
        }
    }
}

impl<T: Serialize + WithMeta> From<T> for Rendered<T> {
    fn from(mut result: T) -> Self {
        let meta = result.take_meta();
        // What does not serialise is left empty; sending that is an internal error.
        let json = serde_json::to_vec(&result).unwrap_or_default();
        Self {
            json: json.into(),
            meta,
            kind: PhantomData,
        }
    }
}

/// Results whose `_meta` is written apart from their other members.
pub trait WithMeta {
    /// Takes `_meta` out.
    fn take_meta(&mut self) -> Option<MetaObject>;
}

macro_rules! with_meta {
    ($($result:ty),* $(,)?) => {$(
        impl WithMeta for $result {
            fn take_meta(&mut self) -> Option<MetaObject> {
                self.meta.take()
            }
        }
    )*};
}

with_meta!(
    CallToolResult,
    CompleteResult,
    DiscoverResult,
    GetPromptResult,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListToolsResult,
    ReadResourceResult,
);
