//! [`Service`], the trait, and what it says of itself.

use std::{future::Future, io, pin::Pin, sync::Arc, time::Duration};

use antiphon_types::{
    CacheScope, CallToolResult, CompleteResult, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, ReadResourceResult,
    ServerCapabilities, SubscriptionFilter,
};
use serde_json::{Value, value::RawValue};

use crate::legacy::{Legacy, Shim};

use super::{
    Call, CallTool, Changes, Complete, Error, GetPrompt, HeaderParams, List, Observer,
    ReadResource, Rendered, Reply, Watcher,
};

/// The result or the error, when it is there: what every method of a [`Service`] returns.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A server at its lowest: one method per MCP method.
///
/// Every method but `listen` answers `-32601` until it is written; one whose capability is not
/// in [`About`] is never called. A future that is dropped was cancelled; see
/// [`Call::run_to_end`]. A panic is an internal error of the request it happened in.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be served",
    label = "neither a server that has its state nor a `raw::Service`",
    note = "a server whose handlers take `State<S>` has its state after `.with_state(..)`, and is a `Server<()>` then"
)]
pub trait Service: Send + Sync + 'static {
    /// Who this is and what it offers; asked once, when the [`Endpoint`](super::Endpoint) is
    /// made.
    fn about(&self) -> About;

    /// Runs before the first transport takes its first message. If it fails, nothing is served.
    ///
    /// Mounted in another server, it runs at the first request, unless
    /// [`Endpoint::start`](super::Endpoint::start) was awaited before.
    fn start(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send + '_>> {
        Box::pin(async { Ok(()) })
    }

    /// Runs after the last transport has drained, if [`start`](Self::start) succeeded. Should there
    /// be another transport later, it starts again.
    ///
    /// Mounted in another server, or after a transport that was dropped before its end, it runs
    /// when [`Endpoint::stop`](super::Endpoint::stop) is awaited.
    fn stop(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }

    /// `tools/list`
    fn list_tools<'a>(
        &'a self,
        call: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        _ = list;
        refuse(call)
    }

    /// `tools/call`
    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        _ = tool;
        refuse(call)
    }

    /// The parameters of a tool that HTTP clients repeat in headers. They are compared before
    /// [`call_tool`](Self::call_tool) runs (HDR-S-17); asked for on HTTP only.
    fn header_params(&self, call: &Call<'_>, tool: &str) -> Option<Arc<HeaderParams>> {
        _ = (call, tool);
        None
    }

    /// `prompts/list`
    fn list_prompts<'a>(
        &'a self,
        call: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListPromptsResult>> {
        _ = list;
        refuse(call)
    }

    /// `prompts/get`
    fn get_prompt<'a>(
        &'a self,
        call: &'a Call<'a>,
        prompt: GetPrompt<'a>,
    ) -> Answering<'a, Reply<GetPromptResult>> {
        _ = prompt;
        refuse(call)
    }

    /// `resources/list`
    fn list_resources<'a>(
        &'a self,
        call: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListResourcesResult>> {
        _ = list;
        refuse(call)
    }

    /// `resources/templates/list`
    fn list_resource_templates<'a>(
        &'a self,
        call: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListResourceTemplatesResult>> {
        _ = list;
        refuse(call)
    }

    /// `resources/read`
    fn read_resource<'a>(
        &'a self,
        call: &'a Call<'a>,
        resource: ReadResource<'a>,
    ) -> Answering<'a, Reply<ReadResourceResult>> {
        _ = resource;
        refuse(call)
    }

    /// `completion/complete`
    fn complete<'a>(
        &'a self,
        call: &'a Call<'a>,
        completion: Complete,
    ) -> Answering<'a, CompleteResult> {
        _ = completion;
        refuse(call)
    }

    /// `subscriptions/listen`: decides what of `filter` to honour. It already holds only what
    /// the capabilities allow (SUB-S-13). What is returned, as far as it was in `filter`, is
    /// acknowledged, and then delivered through [`Changes`].
    fn listen<'a>(
        &'a self,
        call: &'a Call<'a>,
        filter: SubscriptionFilter,
    ) -> Answering<'a, SubscriptionFilter> {
        _ = call;
        Box::pin(async move { Ok(filter) })
    }

    /// Any other method, with its parameters as they came: for extensions. Called only if the
    /// capabilities name an extension.
    fn other<'a>(
        &'a self,
        call: &'a Call<'a>,
        params: Option<&'a RawValue>,
    ) -> Answering<'a, Rendered<Value>> {
        _ = params;
        refuse(call)
    }
}

fn refuse<'a, T: Send + 'a>(call: &'a Call<'a>) -> Answering<'a, T> {
    Box::pin(async move { Err(Error::method_not_found(call.method())) })
}

/// Who a service is and what it offers.
#[derive(Debug, Clone)]
pub struct About {
    pub(crate) info: Implementation,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) instructions: Option<String>,
    pub(crate) cache: (Duration, CacheScope),
    pub(crate) identify: bool,
    pub(crate) changes: Option<Changes>,
    pub(crate) observer: Option<Watcher>,
    pub(crate) legacy: Legacy,
}

impl About {
    /// A service of this name and version that offers nothing yet.
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            capabilities: ServerCapabilities::default(),
            instructions: None,
            cache: (Duration::ZERO, CacheScope::Private),
            identify: true,
            changes: None,
            observer: None,
            legacy: Legacy::default(),
        }
    }

    /// What it offers. Methods of a capability that is not here are answered `-32601`.
    pub fn capabilities(mut self, capabilities: ServerCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// A hint for the model on how to use this server.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// How long, and for whom, the answer to `server/discover` may be kept.
    pub fn cache(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.cache = (ttl, scope);
        self
    }

    /// Where changes are announced; needed for every `listChanged` and for `subscribe`.
    pub fn changes(mut self, changes: Changes) -> Self {
        self.changes = Some(changes);
        self
    }

    /// Who hears of every request once it is over.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observer = Some(Watcher(Arc::new(observer)));
        self
    }

    /// How questions are sent to clients of older revisions.
    pub fn shim(mut self, shim: Shim) -> Self {
        self.legacy.shim = shim;
        self
    }

    /// Whether what is asked with [`InputRequired`](antiphon_types::InputRequired) is sent to clients
    /// of older revisions; it is unless told otherwise. If not, a call that asks ends with `-32603`.
    pub fn legacy_shim(mut self, on: bool) -> Self {
        self.legacy.asks = on;
        self
    }

    /// Serves no clients of the revisions before 2026-07-28.
    pub fn modern_only(mut self) -> Self {
        self.legacy.served = false;
        self
    }

    /// Leaves the server's name and version out of results (META-S-07 lets one).
    pub fn anonymous(mut self) -> Self {
        self.identify = false;
        self
    }
}
