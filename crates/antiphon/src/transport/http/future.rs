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
    HeaderValue, Method, Request, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    request::Parts,
};
use pin_project_lite::pin_project;
use tokio::time::Sleep;

use super::{
    auth::{self, Denied},
    body::{self, Body, Events},
    guard,
    head::{self, Refused},
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
        parts: Option<Parts>,
        step: Step,
    }

    /// Dropping it cancels the request (HTTP-S-19): the handler's future goes, unless it is to run
    /// to its end, and nothing more gets out.
    impl<B> PinnedDrop for ResponseFuture<B> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let Step::Running(request) = this.step
                && let Some(request) = request.take()
            {
                this.shared.unattended.adopt(request);
            }
        }
    }
}

enum Step {
    /// Refused on its head.
    Refused(Option<Response<Body>>),
    Verifying(Verifying),
    Reading(Reading),
    /// Until it is answered, or is a stream.
    Running(Option<Running>),
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
            parts: Some(parts),
            step,
        }
    }
}

/// The first step, by what the head says.
fn begin(shared: &Arc<Shared>, parts: &Parts) -> (Option<HeaderValue>, Step) {
    let refused = |response| Step::Refused(Some(response));
    let origin = match shared.guard.check(&parts.uri, &parts.headers) {
        Ok(origin) => origin.cloned(),
        Err(stranger) => return (None, refused(plain(StatusCode::FORBIDDEN, stranger.0))),
    };
    if let (Some(origin), true) = (&origin, parts.method == Method::OPTIONS) {
        return (None, refused(guard::preflight(origin, &parts.headers)));
    }
    let step = match &shared.gate {
        None => match check_head(shared, parts) {
            Ok(()) => Step::Reading(Reading::new(None)),
            Err(head) => refused(response(&head)),
        },
        Some(gate) => {
            let (gate, token) = (gate.clone(), auth::token(&parts.headers));
            let verifying = Caught(Box::pin(async move { gate.admit(token).await }));
            Step::Verifying(Box::pin(verifying))
        }
    };
    (origin, step)
}

fn check_head(shared: &Shared, parts: &Parts) -> Result<(), Refused> {
    let limit = shared.endpoint.inner().limits.message_bytes;
    head::check(&parts.method, &parts.headers, limit)
}

fn response(refused: &Refused) -> Response<Body> {
    let mut response = plain(refused.status, &refused.text);
    if refused.status == StatusCode::METHOD_NOT_ALLOWED {
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("POST, OPTIONS"));
    }
    response
}

impl<B: http_body::Body> Future for ResponseFuture<B> {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let mut response = match this.step {
                Step::Refused(refused) => refused.take().expect("polled after it was ready"),
                Step::Verifying(verifying) => match ready!(verifying.as_mut().poll(context)) {
                    Err(panic) => {
                        tracing::error!(panic, "the bearer verifier panicked");
                        plain(StatusCode::INTERNAL_SERVER_ERROR, "Internal error")
                    }
                    Ok(Err(denied)) => deny(denied),
                    Ok(Ok(principal)) => {
                        let parts = this.parts.as_ref().expect("taken only to run");
                        *this.step = match check_head(this.shared, parts) {
                            Ok(()) => Step::Reading(Reading::new(Some(principal))),
                            Err(refused) => Step::Refused(Some(response(&refused))),
                        };
                        continue;
                    }
                },
                Step::Reading(reading) => {
                    match ready!(poll_body(this.body.as_mut(), reading, this.shared, context)) {
                        Err(refused) => response(&refused),
                        Ok(body) => {
                            this.body.set(None);
                            let outbox = Arc::new(Outbox::new());
                            let inbound = Inbound {
                                body,
                                transport: Transport::Http,
                                http: this.parts.take(),
                                principal: reading.principal.take(),
                                in_flight: None,
                                mounted: this.shared.mounted,
                                legacy: None,
                            };
                            let endpoint = this.shared.endpoint.clone();
                            *this.step = Step::Running(Some(Running {
                                answer: Box::pin(dispatch::answer(
                                    endpoint,
                                    inbound,
                                    outbox.clone(),
                                )),
                                outbox,
                            }));
                            continue;
                        }
                    }
                }
                Step::Running(request) => {
                    let running = request.as_mut().expect("polled after it was ready");
                    match running.answer.as_mut().poll(context) {
                        Poll::Ready(answer) => {
                            let response = over(answer, &running.outbox);
                            *request = None;
                            response
                        }
                        Poll::Pending => {
                            let first = running.outbox.take(context);
                            if first.is_empty() {
                                return Poll::Pending;
                            }
                            let request = request.take().expect("it was there just now");
                            events(Body::events(Events::new(request, first, this.shared)))
                        }
                    }
                }
            };
            if let Some(origin) = this.origin.take() {
                guard::share(response.headers_mut(), &origin);
            }
            return Poll::Ready(Ok(response));
        }
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

/// An answer in one piece.
fn whole(answer: Answer) -> Response<Body> {
    let (status, json) = match answer {
        Answer::Message { status, json } => (status, json),
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
    if status == 503 {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // HTTP-S-16
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
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
