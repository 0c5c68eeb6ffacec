//! [`Connection`]: a client at one server.

use std::{
    fmt,
    sync::{Arc, OnceLock, Weak},
};

use antiphon_types::{
    CallToolResult, CompleteRequestParams, CompleteResult, GetPromptResult, Implementation,
    MetaObject, Method, Prompt, ReadResourceResult, Resource, ResourceTemplate, ServerCapabilities,
    SubscriptionFilter, Tool, Version,
    method::{self, Complete, Discover},
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    CallTool, Client, Connect, Error, ErrorKind, Event, Events, Finished, GetPrompt, Identity,
    Listing, Negotiated, Outcome, Paused, Problem, ReadResource, Request, Step, Subscription,
    Target, Traffic,
    drive::{Drive, unsupported},
    given::Given,
    options::Options,
    shared::{Leg, Shared},
};
use crate::excerpt::word;

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
        let connection = Arc::new(OnceLock::<Weak<Shared>>::new());
        let link = connection.clone();
        let events = Events::new(move |event: Event| {
            if let Event::Message(message) = &event {
                listeners.traffic(Traffic::Received(message));
            }
            match link.get().and_then(Weak::upgrade) {
                Some(shared) => shared.told(&event),
                None => listeners.told(&event),
            }
        });
        let transport = to.connect(events).await?;
        let shared = Shared::new(client, Box::new(transport));
        _ = connection.set(Arc::downgrade(&shared));
        (shared.negotiate(known).await)
            .map_err(|error| error.during(format_args!("connecting to {}", shared.identity)))?;
        Ok(Self(shared))
    }

    /// Which server this is: where the client connected to.
    pub fn server(&self) -> &Identity {
        &self.0.identity
    }

    /// What is known of the server; store it for [`Client::connect_as`]. After another handshake with
    /// an older server it may be something else.
    pub fn negotiated(&self) -> &Negotiated {
        (self.0.negotiated.get()).expect("a connection is made with what was negotiated")
    }

    /// How this client and the server came to speak as they do: probes, handshakes, and sessions
    /// that were lost, the latest last.
    ///
    /// ```
    /// use antiphon::{Client, Server, memory};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server: Server = Server::new("greeter", "1.0");
    /// let greeter = Client::new("desk", "1.0").connect(memory(server)).await?;
    /// for step in greeter.negotiation() {
    ///     println!("{step}");
    /// }
    /// # Ok(()) }
    /// ```
    pub fn negotiation(&self) -> Vec<Step> {
        self.0.session.trace.steps()
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
        let mut drive = Drive::new(&self.0, target, options);
        match drive.run().await? {
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
        let mut drive = Drive::new(&self.0, target, options).step_by_step();
        drive.run().await
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
        let mut drive = Drive::resumed(&self.0, paused).step_by_step();
        drive.run().await
    }

    /// Goes on with a paused call as it is: no answer is checked, and a question that has none is
    /// left out. For tests of what servers do then.
    #[cfg(feature = "testing")]
    pub(crate) async fn resume_as_is<T: Finished>(
        &self,
        mut paused: Paused,
    ) -> Result<Outcome<T>, Error> {
        paused.rounds.leave_out_unanswered();
        let mut drive = Drive::resumed(&self.0, paused).step_by_step();
        drive.run().await
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
            let hint = match self.0.version().is_modern() {
                true => "",
                false => {
                    ", in which no call goes on after a pause: begin it anew here, or resume it \
                          where its own revision is spoken"
                }
            };
            wrong.push(Problem::of(format!(
                "it was begun in revision {}, and this connection speaks {}{hint}",
                paused.version,
                self.0.version()
            )));
        }
        if T::read(paused.target.method(), "null").is_none() {
            wrong.push(Problem::of("its result has another type"));
        }
        for asked in paused.rounds.pending() {
            if !self.0.client.handlers.answer(&asked.question) {
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

    /// Subscribes to changes. A server of 2025-11-25 or before is told of resources, and reports the
    /// rest by itself; either way it is the same [`Subscription`].
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
        let text = text.and_then(Given::into_text);
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
