//! [`Server`]: what a server is built with, and what can be done to it while it runs.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use antiphon_types::{
    CacheScope, CallToolResult, GetPromptResult, Icon, Implementation, ReadResourceResult,
    ServerCapabilities,
};

use super::{
    Extract, Handler, IntoReply, Layer, Prompt, Resource, Tool,
    entry::{Around, RegistrationError},
    fault::Faults,
    hosted::Hosted,
    lifecycle::Hooks,
    registry::{Offer, Registry},
};
use crate::{
    Limits,
    legacy::{Legacy, Shim},
    raw::{Answered, Changes, Endpoint, Observer, Watcher},
    sealing::Sealing,
};

/// A server: tools, prompts and resources, under a name.
///
/// ```no_run
/// use antiphon::{Args, Server, schemars::{self, JsonSchema}, stdio};
/// use serde::Deserialize;
///
/// /// Greet someone.
/// #[derive(Deserialize, JsonSchema)]
/// struct Greet { name: String }
///
/// async fn greet(Args(Greet { name }): Args<Greet>) -> String {
///     format!("Hello, {name}!")
/// }
///
/// #[tokio::main]
/// async fn main() -> std::io::Result<()> {
///     stdio::serve(Server::new("greeter", "1.0").tool("greet", greet)).await
/// }
/// ```
///
/// `S` is the state the handlers take; [`with_state`](Self::with_state) provides it. Only a server
/// that has its state, a `Server<()>`, can be served.
///
/// Clones are one and the same server: what is added to or removed from one while it runs is
/// changed for all, and clients that listen are told. What the name, the limits or the layers are
/// is up to each clone until it is served.
pub struct Server<S = ()> {
    pub(crate) registry: Arc<Registry<S>>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) changes: Changes,
    pub(crate) hooks: Hooks<S>,
    endpoint: Arc<OnceLock<Endpoint>>,
    /// What clients were told there is.
    pub(crate) declared: Arc<OnceLock<ServerCapabilities>>,
}

/// What is settled when a server is served.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) around: Around,
    pub(crate) anonymous: bool,
    pub(crate) discover: Option<(Duration, CacheScope)>,
    pub(crate) offered: Offered,
    pub(crate) observer: Option<Watcher>,
    pub(crate) sealing: Sealing,
    pub(crate) faults: Faults,
    pub(crate) legacy: Legacy,
}

/// Capabilities that are declared whether or not there is anything to them yet.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Offered {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
    pub(crate) watching: bool,
    pub(crate) completions: bool,
    pub(crate) logging: bool,
}

/// What has a cache hint of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cached {
    /// The answer to `server/discover`.
    Discover,
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The list of resource templates.
    Templates,
}

/// Building.
impl<S: Send + Sync + 'static> Server<S> {
    /// A server of this name and version that offers nothing yet.
    ///
    /// # Panics
    /// If the name is empty.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let info = Implementation::new(name, version);
        assert!(!info.name.trim().is_empty(), "a server needs a name");
        Self {
            registry: Arc::default(),
            settings: Arc::new(Settings {
                info,
                instructions: None,
                limits: Limits::default(),
                around: Around::default(),
                anonymous: false,
                discover: None,
                offered: Offered::default(),
                observer: None,
                sealing: Sealing::default(),
                faults: Faults::default(),
                legacy: Legacy::default(),
            }),
            changes: Changes::new(),
            hooks: Hooks::default(),
            endpoint: Arc::default(),
            declared: Arc::default(),
        }
    }

    /// Adds a tool. [`Tool`] and [`add`](Self::add) say more about one.
    ///
    /// # Panics
    /// As [`add`](Self::add).
    #[track_caller]
    pub fn tool<F, M>(self, name: impl Into<String>, handler: F) -> Self
    where
        F: Handler<M>,
        F::Future: Send,
        F::Output: IntoReply<CallToolResult>,
        M: Extract<S>,
    {
        self.add(Tool::new(name, handler))
    }

    /// Adds a prompt. [`Prompt`] and [`add`](Self::add) say more about one.
    ///
    /// # Panics
    /// As [`add`](Self::add).
    #[track_caller]
    pub fn prompt<F, M>(self, name: impl Into<String>, handler: F) -> Self
    where
        F: Handler<M>,
        F::Future: Send,
        F::Output: IntoReply<GetPromptResult>,
        M: Extract<S>,
    {
        self.add(Prompt::new(name, handler))
    }

    /// Adds a resource, at one URI or at all that fit a template. [`Resource`] and
    /// [`add`](Self::add) say more about one.
    ///
    /// # Panics
    /// As [`add`](Self::add).
    #[track_caller]
    pub fn resource<F, M>(self, uri: impl Into<String>, handler: F) -> Self
    where
        F: Handler<M>,
        F::Future: Send,
        F::Output: IntoReply<ReadResourceResult>,
        M: Extract<S>,
    {
        self.add(Resource::new(uri, handler))
    }

    /// Adds a [`Tool`], a [`Prompt`] or a [`Resource`].
    ///
    /// # Panics
    /// If it cannot be registered: its name is taken or not allowed, its schema is not valid. Use
    /// [`insert`](Self::insert) where that can happen.
    #[track_caller]
    #[expect(clippy::should_implement_trait, reason = "nothing is summed up here")]
    pub fn add(self, offer: impl Offer<S>) -> Self {
        if let Err(error) = self.insert(offer) {
            panic!("{error}");
        }
        self
    }

    /// Adds all that another server offers at this moment, inside the layers that one has, and as
    /// strict as it is about errors and arguments. Its name, instructions, limits, observer, cache
    /// hints, page size and sealing are dropped.
    ///
    /// # Panics
    /// If a name is taken.
    #[track_caller]
    pub fn merge(mut self, other: Self) -> Self {
        if let Err(error) = self
            .registry
            .append(&other.registry, &other.settings.around)
        {
            panic!("{error}");
        }
        self.hooks.append(other.hooks);
        self.anew()
    }

    /// Gives the handlers their state. Each call gets a clone of it.
    ///
    /// The result is another server: take the clones that change it while it runs from this one.
    pub fn with_state<Other>(self, state: S) -> Server<Other>
    where
        S: Clone,
    {
        Server {
            registry: Arc::new(self.registry.with_state(&state)),
            settings: self.settings,
            changes: self.changes,
            hooks: self.hooks.with_state(&state),
            endpoint: Arc::default(),
            declared: Arc::default(),
        }
    }

    /// Runs `work` with the state before the first message is taken. If it fails, nothing is
    /// served.
    pub fn on_start<F, E>(mut self, work: impl Fn(S) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.hooks.on_start(work);
        self.anew()
    }

    /// Runs `work` with the state after the last call has been answered, when the server ends in
    /// good order.
    pub fn on_stop<F>(mut self, work: impl Fn(S) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.hooks.on_stop(work);
        self.anew()
    }
}

/// Settings.
impl<S> Server<S> {
    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self.anew()
    }

    /// What was served before stays as it was.
    fn anew(mut self) -> Self {
        self.endpoint = Arc::default();
        self.declared = Arc::default();
        self
    }

    /// A hint for the model on how to use this server.
    pub fn instructions(self, text: impl Into<String>) -> Self {
        self.set(|settings| settings.instructions = Some(text.into()))
    }

    /// Its name for people.
    pub fn title(self, title: impl Into<String>) -> Self {
        self.set(|settings| settings.info.title = Some(title.into()))
    }

    /// What it is for.
    pub fn description(self, text: impl Into<String>) -> Self {
        self.set(|settings| settings.info.description = Some(text.into()))
    }

    /// Where to read more.
    pub fn website(self, url: impl Into<String>) -> Self {
        self.set(|settings| settings.info.website_url = Some(url.into()))
    }

    /// A picture of it; several are alternatives.
    pub fn icon(self, icon: impl Into<Icon>) -> Self {
        self.set(|settings| {
            settings
                .info
                .icons
                .get_or_insert_default()
                .push(icon.into())
        })
    }

    /// Leaves the server's name and version out of results (META-S-07 lets one).
    pub fn anonymous(self) -> Self {
        self.set(|settings| settings.anonymous = true)
    }

    /// What peers may use up.
    pub fn limits(self, limits: Limits) -> Self {
        self.set(|settings| settings.limits = limits)
    }

    /// Runs `layer` around every tool, prompt, resource and completion, around subscriptions to
    /// resources and what templates list, inside the layers that are there.
    pub fn layer(self, layer: impl Layer) -> Self {
        self.set(|settings| settings.around.layers.push(Arc::new(layer)))
    }

    /// How states are protected, instead of under a key of this process.
    pub fn sealing(self, sealing: Sealing) -> Self {
        self.set(|settings| settings.sealing = sealing)
    }

    /// How questions are sent to clients of the revisions before 2026-07-28, which are served by
    /// the same handlers.
    pub fn shim(self, shim: Shim) -> Self {
        self.set(|settings| settings.legacy.shim = shim)
    }

    /// Whether what handlers [ask](crate::Ask) is sent to clients of the revisions before 2026-07-28;
    /// it is unless told otherwise. If not, a call that asks ends with `-32603`, and the log says
    /// so. Handlers that wait in [`Call::elicit`](crate::Call::elicit) and its like still can.
    pub fn legacy_shim(self, on: bool) -> Self {
        self.set(|settings| settings.legacy.asks = on)
    }

    /// Serves no clients of the revisions before 2026-07-28.
    pub fn modern_only(self) -> Self {
        self.set(|settings| settings.legacy.served = false)
    }

    /// Tells `observer` how each request ended: a hook for metrics. There may be several.
    pub fn observe(self, observer: impl Observer) -> Self {
        self.set(|settings| {
            settings.observer = Some(match settings.observer.take() {
                None => Watcher(Arc::new(observer)),
                Some(before) => Watcher(Arc::new(move |answered: &Answered<'_>| {
                    before.0.answered(answered);
                    observer.answered(answered);
                })),
            });
        })
    }

    /// Tells clients a fixed text and an incident number instead of what an error says. The log
    /// has both. Texts of [`Stop::fail`](crate::Stop::fail) are meant for clients and stay.
    pub fn hide_errors(self) -> Self {
        self.set(|settings| settings.around.manners.hide_errors = true)
    }

    /// Answers arguments that violate a tool's schema with the error `-32602` instead of an error
    /// result. A model sees the result, but rarely the error (AMB-10).
    pub fn reject_invalid_arguments(self) -> Self {
        self.set(|settings| settings.around.manners.reject_arguments = true)
    }

    /// Declares tools although there may be none yet: they come while the server runs.
    pub fn offer_tools(self) -> Self {
        self.set(|settings| settings.offered.tools = true)
    }

    /// Declares prompts although there may be none yet.
    pub fn offer_prompts(self) -> Self {
        self.set(|settings| settings.offered.prompts = true)
    }

    /// Declares resources, which can be watched, although there may be none yet.
    pub fn offer_resources(self) -> Self {
        self.set(|settings| {
            settings.offered.resources = true;
            settings.offered.watching = true;
        })
    }

    /// Declares completions although there may be none yet.
    pub fn offer_completions(self) -> Self {
        self.set(|settings| settings.offered.completions = true)
    }

    /// Declares log messages although no handler takes a [`Logger`](crate::Logger): layers or
    /// extractors send them.
    pub fn logging(self) -> Self {
        self.set(|settings| settings.offered.logging = true)
    }

    /// How long, and for whom, a list may be kept. Without a hint clients ask every time.
    pub fn cache(self, what: Cached, ttl: Duration, scope: CacheScope) -> Self {
        let hint = Some((ttl, scope));
        match what {
            Cached::Discover => return self.set(|settings| settings.discover = hint),
            Cached::Tools => self.registry.tools.set_hints(|hints| hints.cache = hint),
            Cached::Prompts => self.registry.prompts.set_hints(|hints| hints.cache = hint),
            Cached::Resources => self
                .registry
                .resources
                .set_hints(|hints| hints.cache = hint),
            Cached::Templates => self
                .registry
                .templates
                .set_hints(|hints| hints.cache = hint),
        }
        self
    }

    /// Cuts lists into pages of so many items. Without this a list is one page.
    ///
    /// # Panics
    /// If `items` is 0.
    pub fn page_size(self, items: usize) -> Self {
        assert!(items > 0, "a page holds at least one item");
        self.registry
            .tools
            .set_hints(|hints| hints.page = Some(items));
        self.registry
            .prompts
            .set_hints(|hints| hints.page = Some(items));
        self.registry
            .resources
            .set_hints(|hints| hints.page = Some(items));
        self.registry
            .templates
            .set_hints(|hints| hints.page = Some(items));
        self
    }
}

/// While it runs. All of this is visible at once, in every clone, and clients that listen are
/// told.
impl<S: Send + Sync + 'static> Server<S> {
    /// Adds a [`Tool`], a [`Prompt`] or a [`Resource`]. One with a state of its own gets it first:
    /// [`Tool::with_state`].
    ///
    /// # Errors
    /// If its name is taken or not allowed, its schema is not valid, or the server was served
    /// without declaring things of its kind ([`offer_tools`](Self::offer_tools) and its like do).
    /// Nothing has changed then.
    pub fn insert(&self, offer: impl Offer<S>) -> Result<(), RegistrationError> {
        self.check_declared(&offer)?;
        offer.register(&self.registry, &self.changes, false)
    }

    /// Puts a [`Tool`], a [`Prompt`] or a [`Resource`] in the place of the one of the same name, or
    /// adds it. No call in between finds nothing there.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert), but for the name that is taken.
    pub fn replace(&self, offer: impl Offer<S>) -> Result<(), RegistrationError> {
        self.check_declared(&offer)?;
        offer.register(&self.registry, &self.changes, true)
    }

    fn check_declared(&self, offer: &impl Offer<S>) -> Result<(), RegistrationError> {
        let missing = self
            .declared
            .get()
            .and_then(|declared| offer.undeclared(declared));
        match missing {
            None => Ok(()),
            Some(how) => Err(RegistrationError::new(format!(
                "clients were not told that there could be such things: build the server with \
                 `{how}`"
            ))),
        }
    }

    /// Removes a tool; whether there was one. Calls that run go on.
    pub fn remove_tool(&self, name: &str) -> bool {
        told(self.registry.tools.remove(name), || self.changes.tools())
    }

    /// Removes a prompt; whether there was one.
    pub fn remove_prompt(&self, name: &str) -> bool {
        told(self.registry.prompts.remove(name), || {
            self.changes.prompts()
        })
    }

    /// Removes a resource by its URI or template; whether there was one.
    pub fn remove_resource(&self, uri: &str) -> bool {
        let removed = self.registry.resources.remove(uri) || self.registry.templates.remove(uri);
        told(removed, || self.changes.resources())
    }

    /// Shows a tool that was disabled; `false` if there is no such tool.
    pub fn enable_tool(&self, name: &str) -> bool {
        self.switch_tool(name, true)
    }

    /// Hides a tool, as if it were not there; `false` if there is no such tool.
    pub fn disable_tool(&self, name: &str) -> bool {
        self.switch_tool(name, false)
    }

    fn switch_tool(&self, name: &str, on: bool) -> bool {
        let switched = self.registry.tools.enable(name, on);
        told(switched == Some(true), || self.changes.tools());
        switched.is_some()
    }

    /// Shows a prompt that was disabled; `false` if there is no such prompt.
    pub fn enable_prompt(&self, name: &str) -> bool {
        self.switch_prompt(name, true)
    }

    /// Hides a prompt, as if it were not there; `false` if there is no such prompt.
    pub fn disable_prompt(&self, name: &str) -> bool {
        self.switch_prompt(name, false)
    }

    fn switch_prompt(&self, name: &str, on: bool) -> bool {
        let switched = self.registry.prompts.enable(name, on);
        told(switched == Some(true), || self.changes.prompts());
        switched.is_some()
    }

    /// Shows a resource that was disabled; `false` if there is no such resource.
    pub fn enable_resource(&self, uri: &str) -> bool {
        self.switch_resource(uri, true)
    }

    /// Hides a resource, as if it were not there; `false` if there is no such resource.
    pub fn disable_resource(&self, uri: &str) -> bool {
        self.switch_resource(uri, false)
    }

    fn switch_resource(&self, uri: &str, on: bool) -> bool {
        let fixed = self.registry.resources.enable(uri, on);
        let switched = fixed.or_else(|| self.registry.templates.enable(uri, on));
        told(switched == Some(true), || self.changes.resources());
        switched.is_some()
    }

    /// Tells clients that listen to list the tools again. Adding, removing, enabling and disabling
    /// say so by themselves.
    pub fn notify_tools_changed(&self) {
        self.changes.tools();
    }

    /// Tells clients that listen to list the prompts again.
    pub fn notify_prompts_changed(&self) {
        self.changes.prompts();
    }

    /// Tells clients that listen to list the resources again.
    pub fn notify_resources_changed(&self) {
        self.changes.resources();
    }

    /// Tells clients that subscribed to it that a resource reads differently now. It has to be
    /// [`watched`](Resource::watched).
    pub fn notify_resource_updated(&self, uri: &str) {
        self.changes.resource(uri);
    }
}

/// Announces a change, if it is one.
fn told(changed: bool, tell: impl FnOnce()) -> bool {
    if changed {
        tell();
    }
    changed
}

/// Makes the server ready for transports. Clones make the same endpoint, so that what starts with
/// it starts once, and its limits hold for all transports together.
impl From<Server> for Endpoint {
    fn from(server: Server) -> Self {
        let ready = server.endpoint.clone();
        ready
            .get_or_init(|| {
                let limits = server.settings.limits.clone();
                // The endpoint holds the server, so the server it holds must not hold it.
                let hosted = Server {
                    endpoint: Arc::default(),
                    ..server
                };
                Self::with_limits(Hosted(hosted), limits)
            })
            .clone()
    }
}

impl<S> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self {
            registry: self.registry.clone(),
            settings: self.settings.clone(),
            changes: self.changes.clone(),
            hooks: self.hooks.clone(),
            endpoint: self.endpoint.clone(),
            declared: self.declared.clone(),
        }
    }
}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.settings.info.name)
            .field("version", &self.settings.info.version)
            .field("offers", &self.registry)
            .finish_non_exhaustive()
    }
}
