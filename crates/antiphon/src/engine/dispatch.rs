//! From the bytes of one message to the bytes of its answer.
//!
//! The order of the checks is the protocol's (AMB-02): text, JSON, nesting, JSON-RPC shape,
//! version and metadata, mirrored headers, method, parameters; then the service runs. Whatever
//! it returns passes the capability gate and is written once.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    task::{self, Poll, ready},
};

use antiphon_core::{
    depth,
    envelope::{self, Message, Meta, Shape, Slot},
};
use antiphon_types::{CompleteResult, ErrorObject, RequestId, Version};
use bytes::Bytes;
use http::request::Parts;
use serde_json::value::RawValue;

use super::{
    admit::{self, Method},
    answer::{Answer, Writer, legal, links_first, status},
    endpoint::{Endpoint, Inner, Place},
    inflight::{Entered, InFlight},
    listen,
    observe::Observation,
    outbox::Outbox,
    params,
    unwind::{self, Caught},
};
use crate::{
    auth::Principal,
    legacy::{self, Way},
    raw::{Answering, Call, Lazy, Observed, Outgoing, Transport},
};

/// One message, with what its transport knows of it.
pub(crate) struct Inbound {
    pub(crate) body: Bytes,
    pub(crate) transport: Transport,
    pub(crate) http: Option<Box<Parts>>,
    pub(crate) principal: Option<Arc<Principal>>,
    /// The connection's running requests, where ids must be kept apart.
    pub(crate) in_flight: Option<Arc<InFlight>>,
    /// Whether it came through somebody else's server, which does not start the service.
    pub(crate) mounted: bool,
    /// How clients of older revisions are known, if they are served.
    pub(crate) legacy: Option<Way>,
}

/// Answers one message.
#[expect(
    clippy::manual_async_fn,
    reason = "the future of an `async fn` has room for its arguments twice, here 312 bytes"
)]
pub(crate) fn answer(
    served: Endpoint,
    inbound: Inbound,
    outbox: Arc<Outbox>,
) -> impl Future<Output = Answer> + Send {
    async move {
        let endpoint = served.inner();
        let Ok(text) = std::str::from_utf8(&inbound.body) else {
            let error = ErrorObject::parse_error("Parse error: the message is not UTF-8");
            return Answer::error(legacy::nobody(&inbound), 400, &error);
        };
        let message = match Message::parse(text) {
            Ok(message) => message,
            Err(unreadable) => {
                let why = unreadable.why;
                let error = match unreadable.is_json {
                    true => ErrorObject::invalid_params(format!("Invalid params: {why}")),
                    false => ErrorObject::parse_error(format!("Parse error: {why}")),
                };
                let id = unreadable.id.or_else(|| legacy::nobody(&inbound));
                return Answer::error(id, 400, &error);
            }
        };
        if depth::exceeds(text, endpoint.limits.depth) {
            let text = format!(
                "The message nests deeper than {} levels",
                endpoint.limits.depth
            );
            let id = message.id().or_else(|| legacy::nobody(&inbound));
            return Answer::error(id, 400, &ErrorObject::invalid_request(text));
        }
        let shape = message.shape();
        if legacy::concerns(&message, shape, &inbound) {
            let answer = legacy::answer(&served, &message, text, &inbound, &outbox);
            if let Some(answer) = answer.await {
                return answer;
            }
        }
        match shape {
            Shape::Request => {}
            Shape::Notification => return notification(&message, &inbound),
            Shape::Response if outbox.is_on_lines() => {
                tracing::debug!("a response arrived although nothing was asked; ignored");
                return Answer::Nothing;
            }
            // BASE-C-06
            Shape::Response => {
                let error = "Invalid request: a client sends no responses in this era";
                return Answer::error(None, 400, &ErrorObject::invalid_request(error));
            }
            Shape::Batch => {
                return invalid(&message, &inbound, "a batch: send one message at a time");
            }
            Shape::Invalid(why) => return invalid(&message, &inbound, why),
        }
        let mut observation = Observation::begin(endpoint, &message, inbound.transport);
        let headers = inbound.http.as_ref().map(|parts| &parts.headers);
        let (version, method) = match admit::request(&message, headers, endpoint) {
            Ok(admitted) => admitted,
            Err(fault) => {
                observation.end(Observed::Error(fault.error.code));
                return Answer::fault(message.id(), &fault);
            }
        };
        observation.speaks(version);
        let request = Request {
            served: &served,
            message: &message,
            text,
            inbound: &inbound,
            outbox: &outbox,
        };
        // Pinned where it lies: moving it into its wrappers would copy all of it.
        let request = pin!(request.run(version, method));
        let (answer, outcome) = observation.run(request).await;
        observation.end(outcome);
        answer
    }
}

/// A request that is let in, as far as its metadata goes.
struct Request<'a> {
    served: &'a Endpoint,
    message: &'a Message<'a>,
    text: &'a str,
    inbound: &'a Inbound,
    outbox: &'a Arc<Outbox>,
}

impl Request<'_> {
    async fn run(self, version: Version, method: Method) -> (Answer, Observed) {
        let (message, endpoint) = (self.message, self.served.inner());
        let id = message.id().unwrap_or("null");
        let refused = |status, error: &ErrorObject| {
            let answer = Answer::error(Some(id), status, error);
            (answer, Observed::Error(error.code))
        };
        let in_flight = self.inbound.in_flight.as_ref();
        let entered = in_flight.map(|in_flight| enter(in_flight, id, self.outbox));
        let _entered = match entered.transpose() {
            Ok(entered) => entered,
            Err(error) => return refused(400, &error),
        };
        let _place = match place(endpoint) {
            Ok(place) => place,
            Err(refusal) => return refused(refusal.status, &refusal.error),
        };
        if let Err(refusal) = started(self.served, self.inbound).await {
            return refused(refusal.status, &refusal.error);
        }
        let meta = &message.params.meta;
        let mut call = match call(message, meta, version, id, self.inbound, self.outbox) {
            Ok(call) => call,
            Err(error) => return refused(200, &error),
        };
        // LOG-S-01
        call.log_level = call
            .log_level
            .filter(|_| endpoint.capabilities.logging.is_some());
        let mut json = Vec::new();
        match run(endpoint, method, &call, message, self.text, &mut json).await {
            Ok(outcome) => (Answer::Message { status: 200, json }, outcome),
            Err(error) => {
                let error = legal(links_first(error, &call), call.method);
                refused(status(&error, &call), &error)
            }
        }
    }
}

fn invalid(message: &Message<'_>, inbound: &Inbound, why: &str) -> Answer {
    let error = ErrorObject::invalid_request(format!("Invalid request: {why}"));
    let id = message.id().or_else(|| legacy::nobody(inbound));
    Answer::error(id, 400, &error)
}

/// Why a request that is let in does not run.
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) error: ErrorObject,
}

impl From<ErrorObject> for Refusal {
    fn from(error: ErrorObject) -> Self {
        Self { status: 200, error }
    }
}

/// A place among the running calls.
pub(crate) fn place(endpoint: &Inner) -> Result<Place<'_>, Refusal> {
    endpoint.admit_call().ok_or_else(|| {
        tracing::warn!(
            limit = endpoint.limits.calls,
            "refused: too many calls; see Limits::calls"
        );
        let error = "The server is at its limit of running calls; try again";
        Refusal {
            status: 503,
            error: ErrorObject::internal(error),
        }
    })
}

/// Starts a service that is mounted in somebody else's server, unless that was done.
pub(crate) async fn started(served: &Endpoint, inbound: &Inbound) -> Result<(), Refusal> {
    if inbound.mounted
        && !served.inner().lifecycle.is_held()
        && served.start_on_demand().await.is_err()
    {
        return Err(ErrorObject::internal("The server is not running").into());
    }
    Ok(())
}

/// Takes the request's id, where ids share a connection.
pub(crate) fn enter(
    in_flight: &Arc<InFlight>,
    id: &str,
    outbox: &Arc<Outbox>,
) -> Result<Entered, ErrorObject> {
    let id = RequestId::from_raw(id)
        .ok_or_else(|| ErrorObject::invalid_request("Invalid request: `id` cannot be read"))?;
    match in_flight.enter(id, outbox) {
        Some(entered) => Ok(entered),
        None => Err(ErrorObject::invalid_request(
            "Invalid request: a request with this `id` is still running",
        )),
    }
}

/// What the handler sees, once the rest of the metadata is known to be right.
pub(crate) fn call<'a>(
    message: &'a Message<'a>,
    meta: &'a Meta<'a>,
    version: Version,
    id: &'a str,
    inbound: &'a Inbound,
    outbox: &'a Arc<Outbox>,
) -> Result<Call<'a>, ErrorObject> {
    let params = &message.params;
    if let Some(name) = params.repeated {
        let error = format!("`{name}` stands twice in `params`");
        return Err(ErrorObject::invalid_params(error));
    }
    let progress_token = match meta.progress_token.map(RawValue::get) {
        None => None,
        Some(raw) => Some(RequestId::from_raw(raw).ok_or_else(|| {
            ErrorObject::invalid_params("`progressToken` must be a string or an integer")
        })?),
    };
    let log_level = match &meta.log_level {
        Slot::Absent => None,
        // LOG-S-05
        level => Some(level.as_str().and_then(|level| level.parse().ok()).ok_or_else(|| {
            ErrorObject::invalid_params(
                "`io.modelcontextprotocol/logLevel` must be one of debug, info, notice, warning, \
                 error, critical, alert, emergency",
            )
        })?),
    };
    Ok(Call {
        id,
        method: message.method(),
        version,
        meta,
        principal: inbound.principal.as_deref(),
        http: inbound.http.as_deref(),
        outbox,
        log_level,
        progress_token,
        aside: None,
        lazy: Lazy::default(),
    })
}

/// Runs the method and writes its result.
async fn run<'a>(
    endpoint: &'a Inner,
    method: Method,
    call: &'a Call<'a>,
    message: &'a Message<'a>,
    text: &'a str,
    out: &mut Vec<u8>,
) -> Result<Observed, ErrorObject> {
    let service = &*endpoint.service;
    let given = &message.params;
    let mut answer = Writer {
        endpoint,
        call,
        out,
    };
    let written = match method {
        Method::CallTool => {
            let tool = params::call_tool(given)?;
            if let Some(headers) = call.headers() {
                admit::params(service, call, &tool, headers)?;
            }
            return answer.reply(guarded(call, || service.call_tool(call, tool)).await?);
        }
        Method::ListTools => {
            let list = params::list(given)?;
            answer.rendered(&guarded(call, || service.list_tools(call, list)).await?)
        }
        Method::Discover => answer.rendered(&endpoint.discover),
        Method::ListPrompts => {
            let list = params::list(given)?;
            answer.rendered(&guarded(call, || service.list_prompts(call, list)).await?)
        }
        Method::GetPrompt => {
            let prompt = params::get_prompt(given)?;
            return answer.reply(guarded(call, || service.get_prompt(call, prompt)).await?);
        }
        Method::ListResources => {
            let list = params::list(given)?;
            answer.rendered(&guarded(call, || service.list_resources(call, list)).await?)
        }
        Method::ListResourceTemplates => {
            let list = params::list(given)?;
            answer.rendered(&guarded(call, || service.list_resource_templates(call, list)).await?)
        }
        Method::ReadResource => {
            let resource = params::read_resource(given)?;
            return answer.reply(guarded(call, || service.read_resource(call, resource)).await?);
        }
        Method::Complete => {
            let completion = params::completion(given)?;
            let result = guarded(call, || service.complete(call, completion)).await?;
            let mut result = at_most_a_hundred(result);
            let meta = result.prepare();
            answer.complete(&result, meta.as_ref())
        }
        Method::Listen => {
            // Large, and not a part of the future that every other request has.
            let closing = Box::pin(listen::run(endpoint, call, given)).await?;
            answer.whole(&closing)
        }
        Method::Other => {
            let params = envelope::raw_params(text);
            answer.rendered(&guarded(call, || service.other(call, params)).await?)
        }
    };
    written.map(|()| Observed::Complete)
}

/// COMP-S-02
pub(crate) fn at_most_a_hundred(mut result: CompleteResult) -> CompleteResult {
    if result.completion.values.len() > 100 {
        result.completion.values.truncate(100);
        result.completion.has_more = Some(true);
    }
    result
}

/// Runs one method of the service; a panic is an internal error.
///
/// No `async fn`: its future would have room for what the method is given, beside the method's own.
pub(crate) fn guarded<'c, 'd, 'a, T>(
    call: &'c Call<'d>,
    start: impl FnOnce() -> Answering<'a, T>,
) -> Guarded<'c, 'd, 'a, T> {
    Guarded {
        call,
        started: unwind::caught(start).map(Caught),
    }
}

/// A method of the service as it runs, or the text of the panic in place of its start.
pub(crate) struct Guarded<'c, 'd, 'a, T> {
    call: &'c Call<'d>,
    started: Result<Caught<Answering<'a, T>>, String>,
}

impl<T> Future for Guarded<'_, '_, '_, T> {
    type Output = Result<T, ErrorObject>;

    fn poll(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let done = match &mut this.started {
            Ok(running) => ready!(Pin::new(running).poll(context)),
            Err(panic) => Err(std::mem::take(panic)),
        };
        Poll::Ready(done.unwrap_or_else(|panic| Err(panicked(this.call, &panic))))
    }
}

pub(crate) fn panicked(call: &Call<'_>, panic: &str) -> ErrorObject {
    tracing::error!(method = call.method, panic, "a handler panicked");
    ErrorObject::internal("Internal error")
}

/// Takes a notification. Only one means anything here: a cancellation on a shared connection.
fn notification(message: &Message<'_>, inbound: &Inbound) -> Answer {
    let Some(in_flight) = &inbound.in_flight else {
        let headers = inbound.http.as_ref().map(|parts| &parts.headers);
        return match admit::notification(message, headers) {
            Ok(()) => Answer::Accepted,
            Err(fault) => Answer::fault(None, &fault),
        };
    };
    if message.method() == "notifications/cancelled" {
        cancel(in_flight, message);
    }
    Answer::Nothing
}

/// Cancels the request that a notification names.
pub(crate) fn cancel(in_flight: &InFlight, message: &Message<'_>) {
    let cancelled = message.params.rare();
    let reason = cancelled.reason.as_str().unwrap_or_default();
    let id = cancelled
        .request_id
        .and_then(|raw| RequestId::from_raw(raw.get()));
    match id {
        Some(id) if in_flight.cancel(&id) => tracing::debug!(%id, reason, "cancelled"),
        _ => tracing::debug!(reason, "a cancellation of nothing that runs; ignored"),
    }
}
