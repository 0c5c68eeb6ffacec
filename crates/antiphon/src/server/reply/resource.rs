//! [`Contents`]: what resources return.

use std::{borrow::Cow, time::Duration};

use antiphon_types::{
    CacheScope, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;

use super::{Context, IntoReply, Reply, Stop};

/// The contents of a resource.
///
/// They are of the URI that was read and of the MIME type the resource was registered with, unless
/// they say otherwise.
///
/// ```
/// use std::time::Duration;
/// use antiphon::{Contents, types::CacheScope};
///
/// async fn logo() -> Contents {
///     Contents::blob(b"\x89PNG..")
///         .mime_type("image/png")
///         .cache(Duration::from_secs(3600), CacheScope::Public)
/// }
/// # let _ = antiphon::Server::<()>::new("site", "1.0").resource("site://logo", logo);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    parts: Vec<Part>,
    cache: Option<(Duration, CacheScope)>,
}

#[derive(Debug, Clone, PartialEq)]
struct Part {
    uri: Option<String>,
    mime_type: Option<String>,
    body: Body,
}

#[derive(Debug, Clone, PartialEq)]
enum Body {
    Text(String),
    Base64(String),
}

impl Contents {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Body::Text(text.into()))
    }

    /// Bytes.
    pub fn blob(bytes: impl AsRef<[u8]>) -> Self {
        Self::of(Body::Base64(STANDARD.encode(bytes)))
    }

    fn of(body: Body) -> Self {
        Self {
            parts: vec![Part {
                uri: None,
                mime_type: None,
                body,
            }],
            cache: None,
        }
    }

    /// The MIME type of the last part.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        if let Some(part) = self.parts.last_mut() {
            part.mime_type = Some(mime_type.into());
        }
        self
    }

    /// The URI of the last part, where it is not the one that was read: a file of a directory.
    pub fn uri(mut self, uri: impl Into<String>) -> Self {
        if let Some(part) = self.parts.last_mut() {
            part.uri = Some(uri.into());
        }
        self
    }

    /// And the parts of another (RES-S-05).
    pub fn and(mut self, mut more: Self) -> Self {
        self.parts.append(&mut more.parts);
        self
    }

    /// How long, and for whom, they may be kept: instead of what the resource says.
    pub fn cache(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.cache = Some((ttl, scope));
        self
    }
}

#[diagnostic::do_not_recommend]
impl IntoReply<Self> for ReadResourceResult {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<Self>, Stop> {
        Ok(Reply::Complete(self))
    }
}

#[diagnostic::do_not_recommend]
impl IntoReply<ReadResourceResult> for Contents {
    fn into_reply(self, call: &Context<'_>) -> Result<Reply<ReadResourceResult>, Stop> {
        let contents = self.parts.into_iter().map(|part| {
            let uri = part.uri.unwrap_or_else(|| call.requested().to_owned());
            let contents = match part.body {
                Body::Text(text) => ResourceContents::text(uri, text),
                Body::Base64(base64) => ResourceContents::blob(uri, base64),
            };
            match part.mime_type {
                Some(mime_type) => contents.mime_type(mime_type),
                None => contents,
            }
        });
        let result = unhinted(contents.collect());
        Ok(Reply::Complete(match self.cache {
            Some((ttl, scope)) => result.cache(ttl, scope),
            None => result,
        }))
    }
}

#[diagnostic::do_not_recommend]
impl IntoReply<ReadResourceResult> for Vec<ResourceContents> {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<ReadResourceResult>, Stop> {
        Ok(Reply::Complete(unhinted(self)))
    }
}

/// A result that leaves it to the resource how long it may be kept.
fn unhinted(contents: Vec<ResourceContents>) -> ReadResourceResult {
    let mut result = ReadResourceResult::new(contents);
    result.ttl_ms = None;
    result.cache_scope = None;
    result
}

#[diagnostic::do_not_recommend]
impl IntoReply<ReadResourceResult> for ResourceContents {
    fn into_reply(self, call: &Context<'_>) -> Result<Reply<ReadResourceResult>, Stop> {
        vec![self].into_reply(call)
    }
}

macro_rules! contents {
    ($($content:ty: $make:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl IntoReply<ReadResourceResult> for $content {
            fn into_reply(self, call: &Context<'_>) -> Result<Reply<ReadResourceResult>, Stop> {
                Contents::$make(self).into_reply(call)
            }
        }
    )*};
}

contents!(String: text, &'static str: text, Cow<'static, str>: text, Vec<u8>: blob, Bytes: blob);

/// What a template stands for, for [`Resource::list`](crate::Resource::list).
#[diagnostic::do_not_recommend]
impl IntoReply<ListResourcesResult> for Vec<Resource> {
    fn into_reply(self, _: &Context<'_>) -> Result<Reply<ListResourcesResult>, Stop> {
        Ok(Reply::Complete(ListResourcesResult::new(self)))
    }
}
