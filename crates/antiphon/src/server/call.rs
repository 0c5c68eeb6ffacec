//! [`Call`]: one call, as a value to keep.

use std::{fmt, sync::Arc};

use antiphon_core::seal::digest::FlowId;
use antiphon_types::{ClientCapabilities, Implementation, MetaObject, RequestId, Version, decode};
use http::{Extensions, HeaderMap};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::{CallKind, Description, FromCall, Responses, Server, Stop, extract::at_once};
use crate::{
    Logger, Progress,
    auth::{Principal, scopes},
    legacy::Asker,
    raw::{Answers, TraceContext},
    sealing,
};

/// One call, as a handler can keep it, move it to another task and hand it around: an extractor.
///
/// Take it where the small extractors do not reach. It copies what it tells, so a handler that
/// only wants, say, [`Progress`] is better off with that.
#[derive(Clone)]
pub struct Call(Arc<Kept>);

struct Kept {
    id: RequestId,
    method: String,
    kind: CallKind,
    target: String,
    version: Version,
    principal: Option<Principal>,
    headers: Option<HeaderMap>,
    extensions: Extensions,
    capabilities: ClientCapabilities,
    client_info: Option<Implementation>,
    meta: MetaObject,
    trace: TraceContext,
    arguments: Option<Box<RawValue>>,
    responses: Responses,
    unsolicited: Option<Box<RawValue>>,
    state: Option<String>,
    flow: Option<FlowId>,
    progress: Progress,
    logger: Logger,
    cancellation: CancellationToken,
    /// The way to a client that can be asked while the call waits.
    asker: Option<Asker>,
    server: Server,
}

impl Call {
    /// The request's id.
    pub fn id(&self) -> &RequestId {
        &self.0.id
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.0.method
    }

    /// What is called.
    pub fn kind(&self) -> CallKind {
        self.0.kind
    }

    /// The tool's or the prompt's name, or the resource's URI in its canonical spelling.
    pub fn target(&self) -> &str {
        &self.0.target
    }

    /// The revision this request speaks.
    pub fn protocol_version(&self) -> Version {
        self.0.version
    }

    /// Who the bearer verifier says is calling.
    pub fn principal(&self) -> Option<&Principal> {
        self.0.principal.as_ref()
    }

    /// Goes on only if whoever calls has these scopes, whatever else is needed: see
    /// [`Stop::needs_scopes`]. On stdio the user who started the program has all.
    ///
    /// # Errors
    /// That they are needed.
    pub fn require_scopes(
        &self,
        scopes: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<(), Stop> {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        let granted = self.principal().map(|principal| &principal.scopes);
        match scopes::judged(granted, self.headers().is_some(), &scopes) {
            Some(true) => Ok(()),
            Some(false) | None => Err(Stop::needs_scopes(scopes)),
        }
    }

    /// The HTTP request's headers, on that transport.
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.0.headers.as_ref()
    }

    /// What layers attached to the call, and middleware to the HTTP request.
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// What the client declared on this request.
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.0.capabilities
    }

    /// What the client says it is. For display only (META-B-02).
    pub fn client_info(&self) -> Option<&Implementation> {
        self.0.client_info.as_ref()
    }

    /// All keys of `_meta` beyond the reserved ones.
    pub fn meta(&self) -> &MetaObject {
        &self.0.meta
    }

    /// The W3C trace context the request came with.
    pub fn trace(&self) -> &TraceContext {
        &self.0.trace
    }

    /// A tool's arguments as they came: an object, or none.
    pub fn arguments(&self) -> Option<&RawValue> {
        self.0.arguments.as_deref()
    }

    /// A tool's arguments as `T`. They have passed the tool's schema.
    ///
    /// # Errors
    /// What does not fit `T`.
    pub fn args<T: DeserializeOwned>(&self) -> Result<T, Stop> {
        Ok(decode(self.arguments().map_or("{}", RawValue::get))?)
    }

    /// The answers to the questions that were asked in the round before.
    pub fn responses(&self) -> Answers<'_> {
        self.0.responses.answers()
    }

    /// All answers this request brought, whether or not they were ever asked for: a client can
    /// send any. Never take one of these for consent.
    ///
    /// # Errors
    /// `-32602` for a map that names a key twice.
    pub fn unsolicited_responses(&self) -> Result<Answers<'_>, Stop> {
        Ok(Answers::parse(self.0.unsolicited.as_deref())?)
    }

    /// The state that was sent with the questions of the round before, as `S`: see
    /// [`InputRequired::carrying`](crate::types::InputRequired::carrying). Nothing in the first
    /// round, and when there was none.
    ///
    /// # Errors
    /// `-32602` if it is not an `S`: another version of this server wrote it.
    pub fn request_state<S: DeserializeOwned>(&self) -> Result<Option<S>, Stop> {
        let Some(text) = self.request_state_text() else {
            return Ok(None);
        };
        let state = serde_json::from_str(text).map_err(|error| {
            sealing::not_of_this_type(self.method(), self.target(), self.0.flow, &error)
        })?;
        Ok(Some(state))
    }

    /// The state that was sent with the questions of the round before, as it was written: see
    /// [`InputRequired::with_state`](crate::types::InputRequired::with_state).
    pub fn request_state_text(&self) -> Option<&str> {
        self.0.state.as_deref()
    }

    /// Reports how far the work is.
    pub fn progress(&self) -> &Progress {
        &self.0.progress
    }

    /// Log messages for this request's client.
    pub fn logger(&self) -> &Logger {
        &self.0.logger
    }

    /// Cancelled when this call is over, answered or abandoned.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.0.cancellation
    }

    pub(crate) fn asker(&self) -> Option<&Asker> {
        self.0.asker.as_ref()
    }

    /// The server this runs on.
    pub fn server(&self) -> &Server {
        &self.0.server
    }
}

#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Call {
    at_once!(|call, _| {
        Ok(Self(Arc::new(Kept {
            id: call.id(),
            method: call.method().to_owned(),
            kind: call.kind(),
            target: call.target().to_owned(),
            version: call.protocol_version(),
            principal: call.principal().cloned(),
            headers: call.headers().cloned(),
            extensions: call.all_extensions(),
            capabilities: call.capabilities()?.clone(),
            client_info: call.client_info(),
            meta: call.other_meta(),
            trace: call.trace(),
            arguments: call.arguments().map(ToOwned::to_owned),
            responses: Responses::of(call),
            unsolicited: call.round().responses.map(ToOwned::to_owned),
            state: call.request_state_text().map(str::to_owned),
            flow: call.flow(),
            progress: call.progress(),
            logger: call.logger(),
            cancellation: call.cancellation(),
            asker: call.asker(),
            server: call.server().clone(),
        })))
    });

    fn describe(description: &mut Description) {
        description.logs();
    }
}

/// Who calls what; nothing of what the arguments, answers and headers say.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("id", &self.0.id)
            .field("method", &self.0.method)
            .field("target", &self.0.target)
            .field("version", &self.0.version)
            .finish_non_exhaustive()
    }
}
