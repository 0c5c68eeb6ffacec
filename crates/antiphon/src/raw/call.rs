//! [`Call`]: one request, as a handler sees it.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use antiphon_core::envelope::Meta;
use antiphon_types::{
    ClientCapabilities, Implementation, InputRequest, LoggingLevel, MetaObject, ProgressToken,
    RequestId, Version, decode, meta::CLIENT_CAPABILITIES,
};
use serde_json::{Value, value::RawValue};
use tokio_util::sync::CancellationToken;

use super::Error;
use crate::{
    auth::{Principal, scopes},
    engine::{log::Logger, outbox::Outbox, progress::Progress},
    legacy::{Aside, Asker, Cannot, Era},
};

/// One request: who calls, with what, and the way back while it runs.
///
/// Everything here comes from this very request (STATE-S-01, META-S-04).
#[derive(Debug)]
pub struct Call<'a> {
    pub(crate) id: &'a str,
    pub(crate) method: &'a str,
    pub(crate) version: Version,
    pub(crate) meta: &'a Meta<'a>,
    pub(crate) principal: Option<&'a Principal>,
    pub(crate) http: Option<&'a http::request::Parts>,
    pub(crate) outbox: &'a Arc<Outbox>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) progress_token: Option<ProgressToken>,
    /// Of a call of an older client.
    pub(crate) aside: Option<&'a Aside>,
    /// Made when first asked for.
    pub(crate) lazy: Lazy,
}

#[derive(Debug, Default)]
pub(crate) struct Lazy {
    capabilities: OnceLock<Box<Result<ClientCapabilities, Error>>>,
    progress: OnceLock<Progress>,
    cancellation: OnceLock<CancellationToken>,
}

impl Call<'_> {
    /// The request's id.
    pub fn id(&self) -> RequestId {
        RequestId::from_raw(self.id).expect("the envelope admits only strings and integers")
    }

    /// The method, as it was called.
    pub fn method(&self) -> &str {
        self.method
    }

    /// The revision this request speaks.
    pub fn protocol_version(&self) -> Version {
        self.version
    }

    /// Whether it comes from a client of the revisions that open with `initialize`. What is asked
    /// reaches either.
    pub fn era(&self) -> Era {
        match self.aside {
            None => Era::Modern,
            Some(_) => Era::Legacy,
        }
    }

    /// Who the bearer verifier says is calling.
    pub fn principal(&self) -> Option<&Principal> {
        self.principal
    }

    /// The error for a caller who lacks scopes: return it, and over HTTP the answer is `403` with a
    /// challenge that names these scopes and those that every request needs (AUTH-S-13); elsewhere, and
    /// once the call has notified of something, it is an error like others.
    pub fn needs_scopes(&self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Error {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        let error = scopes::insufficient(&scopes);
        tracing::info!(
            self.method,
            ?scopes,
            "refused: the caller needs these scopes"
        );
        self.outbox.demand(scopes);
        error
    }

    /// The HTTP request's headers, on that transport.
    pub fn headers(&self) -> Option<&http::HeaderMap> {
        self.http.map(|parts| &parts.headers)
    }

    /// What middleware attached to the HTTP request, on that transport.
    pub fn extensions(&self) -> Option<&http::Extensions> {
        self.http.map(|parts| &parts.extensions)
    }

    /// What the client declared on this request.
    ///
    /// # Errors
    /// `-32602` if a capability is not of the type the protocol gives it.
    pub fn capabilities(&self) -> Result<&ClientCapabilities, Error> {
        let read = || {
            let raw = self.meta.client_capabilities.map_or("{}", RawValue::get);
            let read = decode(raw).map_err(|error| {
                Error::invalid_params(format!("`{CLIENT_CAPABILITIES}` cannot be read: {error}"))
            });
            Box::new(read)
        };
        let capabilities = self.lazy.capabilities.get_or_init(read);
        Result::as_ref(capabilities).map_err(Clone::clone)
    }

    /// What the client says it is. For display only: anyone can say anything (META-B-02).
    pub fn client_info(&self) -> Option<Implementation> {
        let raw = self.meta.client_info?;
        serde_json::from_str(raw.get()).ok()
    }

    /// One key of `_meta` beyond the reserved ones, as it came.
    pub fn meta(&self, key: &str) -> Option<&RawValue> {
        self.meta.other(key)
    }

    /// All keys of `_meta` beyond the reserved ones: what a gateway passes on (META-B-11).
    pub fn other_meta(&self) -> MetaObject {
        self.meta
            .others
            .iter()
            .filter_map(|(key, raw)| Some((key.to_string(), serde_json::from_str(raw.get()).ok()?)))
            .collect()
    }

    /// The W3C trace context the request came with (META-B-10).
    pub fn trace(&self) -> TraceContext {
        let text = |key| serde_json::from_str(self.meta.other(key)?.get()).ok();
        TraceContext {
            traceparent: text("traceparent"),
            tracestate: text("tracestate"),
            baggage: text("baggage"),
        }
    }

    /// Reports how far the work is. Silent unless the client gave a token (PROG-S-05).
    pub fn progress(&self) -> Progress {
        let new = || Progress::new(self.progress_token.clone(), self.outbox);
        self.lazy.progress.get_or_init(new).clone()
    }

    /// Log messages for this request's client. Silent unless it named a level (LOG-S-02).
    pub fn logger(&self) -> Logger {
        Logger::new(self.log_level, self.outbox)
    }

    /// From here on this call runs to its end, whether or not its client stays: for work that
    /// must not be abandoned halfway.
    ///
    /// Otherwise a call is dropped at its next `.await` once its client cancels or leaves. This
    /// one goes on, still counted among the [limits](crate::Limits::calls); nothing more is sent
    /// for it. Servers that stop in good order wait for it: `http::serve` as long as for any
    /// call, the others for a minute at most. What ends all at once still ends it: dropping the
    /// future that serves, or the runtime.
    pub fn run_to_end(&self) {
        self.outbox.run_to_end();
    }

    /// The same as [`run_to_end`](Self::run_to_end); whether that had been said before.
    pub(crate) fn hold(&self) -> bool {
        self.outbox.run_to_end()
    }

    /// From here on this call ends when its client leaves, as calls do.
    pub(crate) fn may_be_abandoned(&self) {
        self.outbox.may_be_abandoned();
    }

    /// A token that is cancelled when this call is over, answered or abandoned: for work that
    /// was moved to other tasks. The handler's own future is simply dropped. Of a call that
    /// [runs to its end](Self::run_to_end) it is cancelled only then.
    pub fn cancellation(&self) -> CancellationToken {
        let token = self.lazy.cancellation.get_or_init(CancellationToken::new);
        token.clone()
    }
}

/// For clients of the revisions before 2026-07-28 only.
impl Call<'_> {
    /// The way to the client, if it can be asked while this call waits.
    pub(crate) fn asker(&self) -> Option<Asker> {
        self.aside.map(|aside| aside.asker.clone())
    }

    /// Closes the connection on which the client waits, and has it come back for the answer after
    /// `retry`: for work that takes long, behind proxies that cut long responses (LHTTP-S-07).
    ///
    /// Only clients of 2025-11-25 over HTTP know how to come back; for all others this does
    /// nothing, and they wait.
    pub fn let_go(&self, retry: Duration) {
        self.outbox.let_go(retry);
    }

    /// Asks the client of this call something, and waits for the answer: its result, as JSON.
    ///
    /// Only a client of an older revision can be asked like that. What serves all is to return
    /// [`InputRequired`](crate::types::InputRequired), which such a client is asked in this way
    /// too.
    ///
    /// # Errors
    /// `-32603`, and why: the client is of revision 2026-07-28 or later, has no session that
    /// could carry the answer, did not declare that it can be asked this, answered with an error,
    /// or not in time.
    pub async fn ask_client(&self, request: InputRequest) -> Result<Value, Error> {
        let asked = match self.aside {
            None => Err(Cannot::Modern),
            Some(aside) => aside.asker.ask(&request, self.capabilities()?).await,
        };
        asked.map_err(|why| Error::internal(format!("The client cannot be asked: {why}")))
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if let Some(token) = self.lazy.cancellation.get() {
            token.cancel();
        }
    }
}

/// W3C trace context, as a request carries it in `_meta`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TraceContext {
    /// Trace and parent span.
    pub traceparent: Option<String>,
    /// Vendor data.
    pub tracestate: Option<String>,
    /// Properties that travel along.
    pub baggage: Option<String>,
}
