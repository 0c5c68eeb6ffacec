//! [`ResponseFuture`]: one HTTP request from its head to its response.
//!
//! Head checks, token, body, call, in this order. The call runs inside this future; if it ends
//! before it notifies, the answer is plain JSON with the status it deserves, and if it notifies
//! first, the future itself moves into the body of an event stream (HTTP-S-28, AMB-04).

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use antiphon_core::write;
use antiphon_types::ErrorObject;
use bytes::{Buf, Bytes, BytesMut};
use http::{
    HeaderName, HeaderValue, Method, Request, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    request::Parts,
};
use pin_project_lite::pin_project;
use tokio::time::Sleep;

use super::{
    auth::{self, Denied},
    body::{self, Body, Events},
    guard,
    head::{self, Kept, Refused, Verb},
    service::Shared,
};
use crate::{
    auth::Principal,
    engine::{
        answer::Answer,
        dispatch::{self, Inbound},
        outbox::Outbox,
        running::Running,
        unwind::Caught,
    },
    legacy::{
        Way,
        http::{self as older, Calls, Hosted, Post, SESSION_ID, Turn},
    },
    raw::Transport,
};

type Verifying = Pin<Box<dyn Future<Output = Result<Result<Principal, Denied>, String>> + Send>>;

pin_project! {
    /// The response to one request, on its way.
    pub struct ResponseFuture<B> {
        shared: Arc<Shared>,
        origin: Option<HeaderValue>,
        #[pin]
        body: Option<B>,
        parts: Option<Box<Parts>>,
        step: Step,
    }

    /// Dropping it cancels the request (HTTP-S-19): the handler's future goes, unless it is to run
    /// to its end, and nothing more gets out. Requests of a session go on (LHTTP-S-11).
    impl<B> PinnedDrop for ResponseFuture<B> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            match this.step {
                Step::Running(request) => {
                    let Some(request) = request.take() else { return };
                    match hosted(&request.outbox) {
                        None => this.shared.unattended.adopt(request),
                        Some(hosted) => Calls::one(request, hosted).run_on(this.shared.around()),
                    }
                }
                Step::Calls(calls) => {
                    if let Some(calls) = calls.take() {
                        calls.run_on(this.shared.around());
                    }
                }
                Step::Ready(_) | Step::Verifying(_) | Step::Reading(_) => {}
            }
        }
    }
}

/// The session that a request is of.
fn hosted(outbox: &Outbox) -> Option<Arc<Hosted>> {
    outbox.settled().map(|settled| settled.hosted.clone())
}

enum Step {
    /// Answered on its head.
    Ready(Option<Box<Response<Body>>>),
    Verifying(Verifying),
    Reading(Reading),
    /// Until it is answered, or is a stream.
    Running(Option<Running>),
    /// Those of a session that have to wait, and batches.
    Calls(Option<Box<Calls>>),
}

impl Step {
    fn ready(response: Response<Body>) -> Self {
        Self::Ready(Some(Box::new(response)))
    }
}

/// A body as it comes in: mostly in one piece, which is then not copied.
struct Reading {
    principal: Option<Arc<Principal>>,
    first: Bytes,
    rest: BytesMut,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Reading {
    fn new(principal: Option<Principal>) -> Self {
        Self {
            principal: principal.map(Arc::new),
            first: Bytes::new(),
            rest: BytesMut::new(),
            deadline: None,
        }
    }

    /// Adds a piece, of a body that will be at least `total` bytes long.
    fn add(&mut self, mut data: impl Buf, total: usize) {
        if self.first.is_empty() && self.rest.is_empty() {
            self.first = data.copy_to_bytes(data.remaining());
            return;
        }
        if self.rest.is_empty() {
            self.rest
                .reserve(total.max(self.first.len() + data.remaining()));
            self.rest.extend_from_slice(&self.first);
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            self.rest.extend_from_slice(chunk);
            let step = chunk.len();
            data.advance(step);
        }
    }

    fn len(&self) -> usize {
        self.first.len().max(self.rest.len())
    }

    fn whole(&mut self) -> Bytes {
        match self.rest.is_empty() {
            true => std::mem::take(&mut self.first),
            false => std::mem::take(&mut self.rest).freeze(),
        }
    }
}

impl<B: http_body::Body> ResponseFuture<B> {
    pub(crate) fn new(shared: Arc<Shared>, request: Request<B>) -> Self {
        let (parts, body) = request.into_parts();
        let (origin, step) = begin(&shared, &parts);
        Self {
            shared,
            origin,
            body: Some(body),
            parts: Some(Box::new(parts)),
            step,
        }
    }
}

impl<B> ResponseFuture<B> {
    /// For a path at which there is nothing.
    pub(crate) fn nothing_here(shared: Arc<Shared>) -> Self {
        let response = plain(StatusCode::NOT_FOUND, "Nothing is served at this path");
        Self {
            shared,
            origin: None,
            body: None,
            parts: None,
            step: Step::ready(response),
        }
    }
}

/// The first step, by what the head says.
fn begin(shared: &Arc<Shared>, parts: &Parts) -> (Option<HeaderValue>, Step) {
    let refused = Step::ready;
    if let Some(published) = &shared.published
        && published.is_at(&parts.uri)
    {
        return (None, refused(published.answer(&shared.guard, parts)));
    }
    let origin = match shared.guard.check(&parts.uri, &parts.headers) {
        Ok(origin) => origin.cloned(),
        Err(stranger) => return (None, refused(plain(StatusCode::FORBIDDEN, stranger.0))),
    };
    if let (Some(origin), true) = (&origin, parts.method == Method::OPTIONS) {
        return (
            None,
            refused(guard::preflight(
                origin,
                &parts.headers,
                shared.sessions().is_some(),
            )),
        );
    }
    let step = match &shared.gate {
        None => proceed(shared, parts, None),
        Some(gate) => {
            let (gate, token) = (gate.clone(), auth::token(&parts.headers));
            let verifying = Caught(Box::pin(async move { gate.admit(token).await }));
            Step::Verifying(Box::pin(verifying))
        }
    };
    (origin, step)
}

/// What comes after it is known who calls.
fn proceed(shared: &Shared, parts: &Parts, principal: Option<Principal>) -> Step {
    let limit = shared.endpoint.inner().limits.message_bytes;
    let kept = match &shared.older {
        None => Kept::Unserved,
        Some(older) if older.stateless => Kept::None,
        Some(_) => Kept::Sessions,
    };
    let verb = match head::check(&parts.method, &parts.headers, limit, kept) {
        Ok(Verb::Post) => return Step::Reading(Reading::new(principal)),
        Ok(verb) => verb,
        Err(refused) => return Step::ready(response(&refused, kept)),
    };
    let sessions = shared.sessions().expect("only sessions have other verbs");
    let (headers, principal) = (&parts.headers, principal.as_ref());
    let answered = match verb {
        Verb::Delete => older::delete(sessions, headers, principal).map(|()| {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }),
        Verb::Get | Verb::Post => older::get(sessions, headers, principal, shared.around())
            .map(|reader| events(Body::read(reader))),
    };
    Step::ready(answered.unwrap_or_else(|refused| {
        let mut response = whole(Answer::error(refused.id(), refused.status, &refused.error));
        allow(&mut response, kept);
        response
    }))
}

fn response(refused: &Refused, kept: Kept) -> Response<Body> {
    let mut response = plain(refused.status, &refused.text);
    allow(&mut response, kept);
    response
}

/// Names the verbs there are, where another was used.
fn allow(response: &mut Response<Body>, kept: Kept) {
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = HeaderValue::from_static(match kept {
            Kept::Sessions => "GET, POST, DELETE, OPTIONS",
            Kept::None | Kept::Unserved => "POST, OPTIONS",
        });
        response.headers_mut().insert(ALLOW, allowed);
    }
}

impl<B: http_body::Body> Future for ResponseFuture<B> {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let mut response = match this.step {
                Step::Ready(response) => *response.take().expect("polled after it was ready"),
                Step::Verifying(verifying) => match ready!(verifying.as_mut().poll(context)) {
                    Err(panic) => {
                        tracing::error!(panic, "the bearer verifier panicked");
                        plain(StatusCode::INTERNAL_SERVER_ERROR, "Internal error")
                    }
                    Ok(Err(denied)) => deny(denied),
                    Ok(Ok(principal)) => {
                        let parts = this.parts.as_ref().expect("taken only to run");
                        *this.step = proceed(this.shared, parts, Some(principal));
                        continue;
                    }
                },
                Step::Reading(reading) => {
                    match ready!(poll_body(this.body.as_mut(), reading, this.shared, context)) {
                        Err(refused) => response(&refused, Kept::Unserved),
                        Ok(body) => {
                            this.body.set(None);
                            let principal = reading.principal.take();
                            *this.step = run(this.shared, body, this.parts, principal);
                            continue;
                        }
                    }
                }
                Step::Running(request) => {
                    let running = request.as_mut().expect("polled after it was ready");
                    match (
                        running.answer.as_mut().poll(context),
                        hosted(&running.outbox),
                    ) {
                        (Poll::Ready(answer), None) => {
                            let mut response = over(answer, &running.outbox);
                            challenge(&mut response, &running.outbox, this.shared);
                            *request = None;
                            response
                        }
                        (Poll::Ready(answer), Some(hosted)) => {
                            let calls = Calls::over(answer, running.outbox.clone(), hosted);
                            *this.step = Step::Calls(Some(Box::new(calls)));
                            continue;
                        }
                        (Poll::Pending, Some(hosted)) => {
                            let request = request.take().expect("it was there just now");
                            *this.step = Step::Calls(Some(Box::new(Calls::one(request, hosted))));
                            continue;
                        }
                        (Poll::Pending, None) => {
                            let first = running.outbox.take(context);
                            if first.is_empty() {
                                return Poll::Pending;
                            }
                            let request = request.take().expect("it was there just now");
                            events(Body::events(Events::new(request, first, this.shared)))
                        }
                    }
                }
                Step::Calls(calls) => {
                    let waiting = calls.as_mut().expect("polled after it was ready");
                    let turn = ready!(waiting.poll(context));
                    let calls = calls.take().expect("it was there just now");
                    match turn {
                        Turn::Stream => match calls.stream(this.shared.around(), context) {
                            Some(reader) => events(Body::read(reader)),
                            None => events(Body::empty()),
                        },
                        turn => {
                            let response = match turn {
                                Turn::Whole(answer) => {
                                    let mut response = whole(answer);
                                    if let Some(outbox) = calls.only() {
                                        challenge(&mut response, outbox, this.shared);
                                    }
                                    response
                                }
                                _ => events(Body::empty()),
                            };
                            calls.leave(&this.shared.unattended);
                            response
                        }
                    }
                }
            };
            if let Some(origin) = this.origin.take() {
                let opens = response.headers().contains_key(SESSION_ID);
                guard::share(response.headers_mut(), &origin, opens);
            }
            return Poll::Ready(Ok(response));
        }
    }
}

/// Begins to run what a body holds.
fn run(
    shared: &Shared,
    body: Bytes,
    parts: &mut Option<Box<Parts>>,
    principal: Option<Arc<Principal>>,
) -> Step {
    let post = match (&shared.older, &parts) {
        (Some(older), Some(parts)) => {
            older::split(older, &body, &parts.headers, principal.as_deref())
        }
        _ => Post::One,
    };
    match post {
        Post::One => Step::Running(Some(call(shared, body, parts.take(), principal))),
        Post::Refused(answer) => Step::ready(whole(answer)),
        Post::Many(messages, hosted) => {
            let messages = messages.into_iter();
            let calls = messages.map(|body| call(shared, body, parts.clone(), principal.clone()));
            Step::Calls(Some(Box::new(Calls::batch(calls.collect(), hosted))))
        }
    }
}

/// Begins to run one message.
#[inline]
fn call(
    shared: &Shared,
    body: Bytes,
    http: Option<Box<Parts>>,
    principal: Option<Arc<Principal>>,
) -> Running {
    let outbox = Arc::new(Outbox::new());
    let inbound = Inbound {
        body,
        transport: Transport::Http,
        http,
        principal,
        in_flight: None,
        mounted: shared.mounted,
        legacy: shared.older.clone().map(Way::Http),
    };
    Running {
        answer: Box::pin(dispatch::answer(
            shared.endpoint.clone(),
            inbound,
            outbox.clone(),
        )),
        outbox,
    }
}

/// Reads the body within its limits of size and time.
fn poll_body<B: http_body::Body>(
    mut body: Pin<&mut Option<B>>,
    reading: &mut Reading,
    shared: &Shared,
    context: &mut Context<'_>,
) -> Poll<Result<Bytes, Refused>> {
    let limit = shared.endpoint.inner().limits.message_bytes;
    while let Some(open) = body.as_mut().as_pin_mut() {
        // What is announced is not there yet: only as much as is allowed is made room for.
        let more = usize::try_from(open.size_hint().lower()).unwrap_or(limit);
        match open.poll_frame(context) {
            Poll::Ready(None) => break,
            Poll::Ready(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    if reading.len() + data.remaining() > limit {
                        return Poll::Ready(Err(head::too_large(limit)));
                    }
                    let total = more.saturating_add(reading.len()).min(limit);
                    reading.add(data, total);
                }
            }
            Poll::Ready(Some(Err(_))) => {
                return Poll::Ready(Err(Refused {
                    status: StatusCode::BAD_REQUEST,
                    text: "The body ended early".to_owned(),
                }));
            }
            Poll::Pending => {
                // Only a body that keeps us waiting pays for a timer.
                let deadline = reading
                    .deadline
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep(shared.body_timeout)));
                ready!(deadline.as_mut().poll(context));
                return Poll::Ready(Err(Refused {
                    status: StatusCode::REQUEST_TIMEOUT,
                    text: "The body took too long".to_owned(),
                }));
            }
        }
    }
    Poll::Ready(Ok(reading.whole()))
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The answer of a request that is over already. What it notified of comes before it, as a
/// stream; a status other than `200` can only go with plain JSON.
fn over(answer: Answer, outbox: &Outbox) -> Response<Body> {
    let messages = outbox.take_last();
    match answer {
        Answer::Message { status: 200, json } if !messages.is_empty() => {
            events(Body::whole(body::finished(messages, json)))
        }
        answer => whole(answer),
    }
}

/// Tells a caller whose token lacks scopes which ones to get (AUTH-S-13).
fn challenge(response: &mut Response<Body>, outbox: &Outbox, shared: &Shared) {
    if response.status() == StatusCode::FORBIDDEN
        && let (Some(gate), Some(scopes)) = (&shared.gate, outbox.demanded())
        && let Some(challenge) = gate.step_up(&scopes)
    {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
}

/// An answer in one piece.
fn whole(answer: Answer) -> Response<Body> {
    let (status, json, session) = match answer {
        Answer::Message { status, json } => (status, json, None),
        // LHTTP-S-20
        Answer::Opened { json, session } => (200, json, Some(session)),
        // HTTP-S-07
        Answer::Accepted | Answer::Nothing => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::ACCEPTED;
            return response;
        }
    };
    let mut response = Response::new(Body::whole(json));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    if let Some(session) = session {
        response.headers_mut().insert(SESSION_ID, session);
    }
    if status == 503 {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

fn events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // HTTP-S-16
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

/// A refusal with an error nobody's id belongs to (HTTP-S-04).
pub(crate) fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let mut json = Vec::new();
    write::error(&mut json, None, &ErrorObject::invalid_request(text));
    whole(Answer::Message {
        status: status.as_u16(),
        json,
    })
}

fn deny(denied: Denied) -> Response<Body> {
    let mut response = plain(denied.status, denied.text);
    if let Some(challenge) = denied.challenge {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}
