//! The lowest tier: one object-safe trait with a method per MCP method.
//!
//! A [`Service`] sees typed parameters that borrow from the message, and returns a typed result,
//! an [`InputRequired`](crate::types::InputRequired) or an error. Nothing is sealed or pinned
//! here: a `requestState` goes out as the service wrote it and comes back as the peer sent it, so
//! it must be treated as attacker-controlled (MRTR-S-12). Use this tier for gateways and for
//! protocol work.
//!
//! ```
//! use antiphon::raw::{Answering, Call, CallTool, Endpoint, Error, Pages, Rendered, Reply, Service};
//! use antiphon::raw::{About, List};
//! use antiphon::types::{CallToolResult, Implementation, ListToolsResult, ServerCapabilities, Tool};
//!
//! struct Greeter {
//!     tools: Pages<ListToolsResult>,
//! }
//!
//! impl Service for Greeter {
//!     fn about(&self) -> About {
//!         About::new(Implementation::new("greeter", "1.0"))
//!             .capabilities(ServerCapabilities::default().tools(false))
//!     }
//!     fn list_tools<'a>(
//!         &'a self,
//!         _call: &'a Call<'a>,
//!         list: List<'a>,
//!     ) -> Answering<'a, Rendered<ListToolsResult>> {
//!         Box::pin(async move { self.tools.page(list.cursor) })
//!     }
//!     fn call_tool<'a>(
//!         &'a self,
//!         _call: &'a Call<'a>,
//!         tool: CallTool<'a>,
//!     ) -> Answering<'a, Reply<CallToolResult>> {
//!         Box::pin(async move {
//!             match tool.name {
//!                 "greet" => Ok(CallToolResult::text("hello").into()),
//!                 other => Err(Error::invalid_params(format!("Unknown tool: {other}"))),
//!             }
//!         })
//!     }
//! }
//!
//! let tools = Pages::one(ListToolsResult::new(vec![Tool::empty("greet")]));
//! let endpoint = Endpoint::new(Greeter { tools });
//! // antiphon::stdio::serve(endpoint) or antiphon::http::service(endpoint)
//! # let _ = endpoint;
//! ```

mod call;
mod changes;
mod observer;
mod pages;
mod params;
mod rendered;
mod reply;
mod service;

pub use antiphon_core::{
    answers::{Answer, Answers},
    mirror::{HeaderParams, InvalidAnnotation},
};
pub use antiphon_types::ErrorObject as Error;

pub use self::{
    call::{Call, TraceContext},
    changes::Changes,
    observer::{Answered, Observed, Observer, Transport},
    pages::{Listing, Pages},
    params::{BadArguments, CallTool, Complete, GetPrompt, List, ReadResource, Round},
    rendered::{Outgoing, Rendered},
    reply::Reply,
    service::{About, Answering, Service},
};
pub use crate::engine::endpoint::Endpoint;

pub(crate) use self::{
    call::Lazy,
    changes::{Change, Listener},
    observer::Watcher,
};
