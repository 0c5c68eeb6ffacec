//! [`Connection`]: a client at one server.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use antiphon_types::{
    CacheScope, CallToolResult, CompleteRequestParams, CompleteResult, DiscoverResult,
    GetPromptResult, Implementation, MetaObject, Method, Prompt, ReadResourceResult, RequestParams,
    Resource, ResourceTemplate, ServerCapabilities, SubscriptionFilter, Tool, Version, code,
    decode_result_text,
    method::{self, Complete, Discover},
};
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    CallTool, Client, Connect, Error, ErrorKind, Event, Events, Finished, GetPrompt, Identity,
    Listing, Negotiated, Outcome, Paused, Problem, ReadResource, Request, Subscription, Target,
    Traffic,
    cache::{Hint, Key},
    discover::settle,
    drive::{Drive, unsupported},
    excerpt::{sentence, word},
    options::Options,
    shared::{Leg, Shared, WorkClock},
};

/// A client at one server. Clones share the connection; it closes with the last of them, and of
/// the lists and subscriptions that were made from it.
#[derive(Clone)]
pub struct Connection(pub(super) Arc<Shared>);

impl Connection {
    pub(super) async fn open(
        client: Client,
        to: impl Connect,
        known: Option<Negotiated>,
    ) -> Result<Self, Error> {
        let listeners = client.listeners.clone();
        let events = Events::new(move |event: Event| {
            if let Event::Message(message) = &event {
                listeners.traffic(Traffic::Received(message));
            }
            listeners.told(&event);
        });
        let transport = to.connect(events).await?;
        let shared = Shared::new(client, Box::new(transport));
        let negotiated = match known {
            Some(known) => known,
            None => settle(shared.discover().await)
                .map_err(|error| error.during(format_args!("connecting to {}", shared.identity)))?,
        };
        if !negotiated.version.is_modern() {
            return Err(Error::invalid(format!(
                "revision {} is not spoken here",
                negotiated.version
            )));
        }
        _ = shared.negotiated.set(negotiated);
        Ok(Self(Arc::new(shared)))
    }

    /// Which server this is: where the client connected to.
    pub fn server(&self) -> &Identity {
        &self.0.identity
    }

    /// What is known of the server; store it for [`Client::connect_as`].
    pub fn negotiated(&self) -> &Negotiated {
        (self.0.negotiated.get()).expect("a connection is made with what was negotiated")
    }

    /// The protocol revision that is spoken.
    pub fn protocol_version(&self) -> Version {
        self.negotiated().version
    }

    /// What the server says of itself. Nothing should depend on it; see [`Self::server`].
    pub fn server_info(&self) -> Option<&Implementation> {
        self.negotiated().server_info.as_ref()
    }

    /// What the server offers.
    pub fn server_capabilities(&self) -> &ServerCapabilities {
        &self.negotiated().capabilities
    }

    /// How to use the server, for the model.
    pub fn instructions(&self) -> Option<&str> {
        self.negotiated().instructions.as_deref()
    }

    /// Calls a tool, answering whatever it asks. The arguments serialise to an object, or to
    /// nothing at all: `()`.
    ///
    /// A tool that fails is a result that says so, see
    /// [`failed`](antiphon_types::CallToolResult::failed).
    ///
    /// # Errors
    /// When there is no result; [`Error::kind`] tells why.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, Error> {
        self.call(CallTool::new(name, arguments)).await
    }

    /// Gets a prompt, answering whatever it asks. The arguments serialise to an object of
    /// strings, or to nothing at all: `()`.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<GetPromptResult, Error> {
        self.call(GetPrompt::new(name, arguments)).await
    }

    /// Reads a resource, answering whatever it asks. One that the server said stays fresh is not
    /// fetched again until then.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Error> {
        self.call(ReadResource::new(uri)).await
    }

    /// Makes a call with options of its own, see [`Request`].
    ///
    /// # Errors
    /// When there is no result. If the server asks what the caller answers
    /// [by hand](Client::by_hand), the call is inside, see [`Error::into_paused`].
    pub async fn call<M>(&self, request: Request<M>) -> Result<M::Result, Error>
    where
        M: Method<Result: Finished>,
    {
        let (target, options) = parts(request)?;
        let outcome = Drive::new(&self.0, target, options).run().await?;
        match outcome {
            Outcome::Done(result) => Ok(result),
            Outcome::Paused(paused) | Outcome::Later(paused) => {
                let keys: Vec<_> = paused.unanswered().map(|(key, _)| word(key)).collect();
                let call = paused.call().to_string();
                let message = format!("waits for answers by hand: {}", keys.join(", "));
                Err(Error::new(ErrorKind::Paused(Box::new(paused)), message).during(call))
            }
        }
    }

    /// Makes a call step by step: until it is done, or the caller has to answer something, or
    /// has to come back.
    ///
    /// # Errors
    /// When there is no outcome.
    pub async fn start<M>(&self, request: Request<M>) -> Result<Outcome<M::Result>, Error>
    where
        M: Method<Result: Finished>,
    {
        let (target, options) = parts(request)?;
        Drive::new(&self.0, target, options)
            .step_by_step()
            .run()
            .await
    }

    /// Goes on with a paused call, once it is answered. It need not have been started on this
    /// connection, or by this process, but must have been at this server.
    ///
    /// Questions of the kinds that this client has callbacks for need no answer.
    ///
    /// # Errors
    /// When there is no outcome. If the call was not sent at all, because an answer is missing or
    /// does not fit, it is inside, unharmed: see [`Error::into_paused`].
    pub async fn resume<T: Finished>(&self, paused: Paused) -> Result<Outcome<T>, Error> {
        let paused = self.resumable::<T>(paused)?;
        Drive::resumed(&self.0, paused).step_by_step().run().await
    }

    /// Checks a paused call before anything is sent.
    fn resumable<T: Finished>(&self, mut paused: Paused) -> Result<Paused, Error> {
        let mut wrong = paused.problems();
        paused.complaints.clear();
        if paused.server != *self.0.identity {
            wrong.push(Problem::of(format!(
                "it belongs to {}, and this is {}",
                paused.server, self.0.identity
            )));
        }
        if paused.version != self.0.version() {
            wrong.push(Problem::of(format!(
                "it was begun in revision {}, and this connection speaks {}",
                paused.version,
                self.0.version()
            )));
        }
        if T::read(paused.target.method(), "null").is_none() {
            wrong.push(Problem::of("its result has another type"));
        }
        for asked in paused.rounds.pending() {
            if self.0.client.handlers.asking(&asked.question).is_none() {
                wrong.push(Problem::with(&asked.key, "it is not answered"));
                continue;
            }
            let (client, declared) = (&self.0.client, &paused.capabilities);
            let why = unsupported(client, declared, &asked.question);
            wrong.extend(why.map(|why| Problem::with(&asked.key, why)));
        }
        if wrong.is_empty() {
            return Ok(paused);
        }
        let call = paused.call().to_string();
        let told: Vec<_> = wrong.iter().map(ToString::to_string).collect();
        let message = format!("the call cannot be resumed: {}", told.join("; "));
        let kind = ErrorKind::NotResumed {
            paused: Box::new(paused),
            problems: wrong,
        };
        Err(Error::new(kind, message).during(call))
    }

    /// The server's tools, page after page. Over HTTP those whose definitions break the rules for
    /// mirrored headers are left out, and reported.
    pub fn tools(&self) -> Listing<Tool> {
        Listing::new::<method::ListTools>(self)
    }

    /// The server's prompts, page after page.
    pub fn prompts(&self) -> Listing<Prompt> {
        Listing::new::<method::ListPrompts>(self)
    }

    /// The server's resources, page after page.
    pub fn resources(&self) -> Listing<Resource> {
        Listing::new::<method::ListResources>(self)
    }

    /// The server's resource templates, page after page.
    pub fn resource_templates(&self) -> Listing<ResourceTemplate> {
        Listing::new::<method::ListResourceTemplates>(self)
    }

    /// Asks how an argument could go on.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn complete(
        &self,
        mut params: CompleteRequestParams,
    ) -> Result<CompleteResult, Error> {
        let options = Options {
            meta: params.meta.take().unwrap_or_default(),
            ..Options::default()
        };
        self.0.plain::<Complete>(&params, &options).await
    }

    /// Subscribes to changes.
    ///
    /// # Errors
    /// When the server does not acknowledge it in time.
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Subscription, Error> {
        Subscription::open(self.0.clone(), filter).await
    }

    /// Sends a request of an extension, or of any other method, and gives its result as it is.
    /// It may not ask.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn request(&self, method: &str, params: &Map<String, Value>) -> Result<Value, Error> {
        let mut params = params.clone();
        let options = Options {
            meta: match params.shift_remove("_meta") {
                Some(Value::Object(meta)) => meta,
                _ => MetaObject::new(),
            },
            ..Options::default()
        };
        let leg = Leg {
            method,
            ..self.0.leg::<Discover>(&options)
        };
        let text = self.0.request(&leg, &params).await;
        let result = text.and_then(|text| match serde_json::from_slice(&text) {
            Ok(Value::Object(result)) if asks(&result) => {
                Err(Error::decode("the server asks for input, where it may not"))
            }
            Ok(result) => Ok(result),
            Err(error) => Err(Error::decode(error.to_string())),
        });
        result.map_err(|error| error.during(word(method)))
    }

    /// Whether the connection was closed on this side.
    pub fn is_closed(&self) -> bool {
        self.0.closed.is_cancelled()
    }

    /// Throws away all answers that were kept.
    pub fn forget(&self) {
        self.0.cache.evict(|_| true);
    }

    /// Closes the connection in good order: a child process is ended, with everything it started.
    /// Requests that are in flight fail, subscriptions are lost, and clones send nothing any more.
    pub async fn close(self) {
        let closing = self.0.transport.close();
        self.0.closed.cancel();
        closing.await;
    }
}

fn asks(result: &Map<String, Value>) -> bool {
    result.get("resultType").and_then(Value::as_str) == Some("input_required")
}

fn parts<M>(request: Request<M>) -> Result<(Target, Options), Error> {
    let target = request.target.map_err(|error| {
        // It was told once; a clone of the request tells it again.
        Arc::try_unwrap(error).unwrap_or_else(|error| Error::invalid(error.to_string()))
    })?;
    Ok((target, request.options))
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("server", &format_args!("{}", self.0.identity))
            .field("version", &self.protocol_version())
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn version(&self) -> Version {
        let negotiated = self.negotiated.get();
        negotiated.map_or(Version::LATEST, |negotiated| negotiated.version)
    }

    async fn discover(&self) -> Result<DiscoverResult, Error> {
        let params = RequestParams::new();
        self.plain::<Discover>(&params, &Options::default()).await
    }

    /// A request that may not ask.
    pub(super) async fn plain<M: Method>(
        &self,
        params: &(impl Serialize + Sync + ?Sized),
        options: &Options,
    ) -> Result<M::Result, Error> {
        let text = self.plain_text::<M>(params, options).await?;
        decoded::<M>(&text).map_err(|error| error.during(M::NAME))
    }

    pub(super) async fn plain_text<M: Method>(
        &self,
        params: &(impl Serialize + Sync + ?Sized),
        options: &Options,
    ) -> Result<Bytes, Error> {
        let text = self.request(&self.leg::<M>(options), params).await;
        text.map_err(|error| error.during(M::NAME))
    }

    /// A request that belongs to no call.
    pub(super) fn leg<'a, M: Method>(&'a self, options: &'a Options) -> Leg<'a> {
        Leg {
            method: M::NAME,
            name: None,
            headers: &[],
            envelope: &self.envelope,
            options,
            call: None,
            poll: None,
        }
    }

    /// Calls a tool. If its mirrored headers are refused, what is known of the tools is outdated:
    /// they are listed anew, and the call is sent once more (HDR-C-16, HDR-C-17).
    pub(super) async fn call_tool(
        &self,
        leg: Leg<'_>,
        target: &Target,
        params: &(impl Serialize + Sync + ?Sized),
    ) -> Result<Bytes, Error> {
        if !self.transport.mirrors() {
            return self.request(&leg, params).await;
        }
        let headers = self.mirrored(target)?;
        let leg = Leg {
            headers: &headers,
            ..leg
        };
        match self.request(&leg, params).await {
            Err(error) if error.code() == Some(code::HEADER_MISMATCH) => {
                if let Err(why) = self.learn_tools(&WorkClock::new(self, &leg)).await {
                    tracing::warn!(%why, "the tools cannot be listed anew");
                }
                let corrected = self.mirrored(target)?;
                if corrected == headers {
                    return Err(error);
                }
                let leg = Leg {
                    headers: &corrected,
                    ..leg
                };
                self.request(&leg, params).await
            }
            answer => answer,
        }
    }

    fn mirrored(&self, target: &Target) -> Result<Vec<(String, String)>, Error> {
        match self.tools.get(target.name()) {
            Some(known) => known.headers(target.arguments()),
            None => Ok(Vec::new()),
        }
    }

    /// Whether a tool's result keeps what its definition promises, where that is known.
    pub(super) fn promised(
        &self,
        target: &Target,
        result: Option<&CallToolResult>,
    ) -> Result<(), Error> {
        match result.and_then(|result| Some((self.tools.get(target.name())?, result))) {
            Some((known, result)) => known.check(result),
            None => Ok(()),
        }
    }

    /// Reads a resource, or has it already.
    pub(super) async fn read(
        &self,
        leg: &Leg<'_>,
        uri: &str,
        params: &(impl Serialize + Sync + ?Sized),
    ) -> Result<Bytes, Error> {
        let key = Key {
            method: method::ReadResource::NAME,
            detail: Some(uri.to_owned()),
        };
        self.kept(key, leg, self.request(leg, params)).await
    }

    /// Forgets what is known of a server that is not the one it was.
    fn meet(&self) {
        let life = self.transport.life();
        if self.life.swap(life, Ordering::SeqCst) != life {
            self.cache.evict(|_| true);
            self.tools.forget();
        }
    }

    /// An answer that was kept, or a new one, which may be kept.
    pub(super) async fn kept(
        &self,
        key: Key,
        leg: &Leg<'_>,
        request: impl Future<Output = Result<Bytes, Error>>,
    ) -> Result<Bytes, Error> {
        if !self.client.cache || leg.options.says_more() {
            return request.await;
        }
        self.meet();
        let clock = WorkClock::new(self, leg);
        let caller = clock.limit(self.transport.authorization()).await??;
        let kept = || self.cache.get(&key, caller, Instant::now());
        if let Some(kept) = (!leg.options.fresh).then(kept).flatten() {
            return Ok(kept);
        }
        let generation = self.cache.generation();
        let result = request.await?;
        let Some(hint) = hint(&result).filter(|hint| hint.ttl_ms.is_some_and(|ttl| ttl > 0)) else {
            return Ok(result);
        };
        // CACHE-C-12: on the way the token may have been refused, and another one sent.
        let same = hint.scope == Some(CacheScope::Public)
            || matches!(clock.limit(self.transport.authorization()).await,
                Ok(Ok(now)) if now == caller);
        if same {
            let now = Instant::now();
            (self.cache).put(key, &result, hint, caller, generation, now);
        }
        Ok(result)
    }

    /// Throws away the answer to one request: it cannot be read.
    pub(super) fn unreadable(&self, method: &str, detail: Option<&str>) {
        (self.cache).evict(|key| key.method == method && key.detail.as_deref() == detail);
    }
}

/// What a result says about keeping it; one that asks is never kept (CACHE-C-03).
fn hint(result: &[u8]) -> Option<Hint> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Hints {
        #[serde(default)]
        result_type: Option<String>,
        #[serde(default)]
        ttl_ms: Option<serde_json::Number>,
        #[serde(default)]
        cache_scope: Option<CacheScope>,
    }
    let hints: Hints = serde_json::from_slice(result).ok()?;
    let complete = hints.result_type.is_none_or(|kind| kind == "complete");
    complete.then(|| Hint {
        ttl_ms: hints.ttl_ms.and_then(|ttl| ttl.as_u64()),
        scope: hints.cache_scope,
    })
}

/// A result that may not ask.
pub(super) fn decoded<M: Method>(text: &[u8]) -> Result<M::Result, Error> {
    let text = std::str::from_utf8(text)
        .map_err(|error| Error::decode("the result is not UTF-8").caused_by(error))?;
    match decode_result_text::<M>(text) {
        Ok(antiphon_types::Outcome::Complete(result)) => Ok(result),
        Ok(_) => Err(Error::decode("this method may not ask for input")),
        Err(error) => Err(Error::decode(sentence(&error.to_string()))),
    }
}
