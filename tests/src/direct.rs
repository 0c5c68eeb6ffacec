//! A transport that answers by itself, for what no server behind a wire can show.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use antiphon::client::{Connect, Error, Events, Identity, Incoming, Outgoing, Pending, Transport};
use bytes::Bytes;
use serde_json::Value;

use crate::script::{discovered, respond};

/// What a [`Direct`] transport does.
pub trait Acts: Send + Sync + 'static {
    /// What comes back for a request; discovery works by itself.
    fn answer(&self, request: &Value) -> Incoming;

    /// What tells callers apart.
    fn caller(&self) -> Pending<'_, Option<u64>> {
        Box::pin(async { None })
    }

    /// Whether arguments travel in headers as well.
    fn mirrors(&self) -> bool {
        false
    }
}

/// A transport that does what it is told.
pub struct Direct<A>(pub Arc<A>);

/// The answer with this result, and nothing else.
pub fn whole(request: &Value, result: &Value) -> Incoming {
    Incoming::Whole(respond(request, result).to_string().into())
}

/// One message or none, and then nothing, for ever.
pub fn silence(after: Option<&Value>) -> Incoming {
    struct Silence(Option<Bytes>);
    impl futures_core::Stream for Silence {
        type Item = Result<Bytes, Error>;
        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            match self.0.take() {
                Some(message) => Poll::Ready(Some(Ok(message))),
                None => Poll::Pending,
            }
        }
    }
    let after = after.map(|message| message.to_string().into());
    Incoming::Stream(Box::pin(Silence(after)))
}

/// The same message, again and again, always at once; but not for ever.
pub fn flood(message: &Value) -> Incoming {
    struct Flood(Bytes, Instant);
    impl futures_core::Stream for Flood {
        type Item = Result<Bytes, Error>;
        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            let more = self.1.elapsed() < Duration::from_secs(5);
            Poll::Ready(more.then(|| Ok(self.0.clone())))
        }
    }
    Incoming::Stream(Box::pin(Flood(message.to_string().into(), Instant::now())))
}

impl<A: Acts> Connect for Direct<A> {
    type Transport = Self;

    async fn connect(self, _: Events) -> Result<Self, Error> {
        Ok(self)
    }
}

impl<A: Acts> Transport for Direct<A> {
    fn identity(&self) -> &Identity {
        &Identity::Memory
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        Box::pin(async move {
            let mut message: Value = serde_json::from_slice(&request.body).expect("JSON");
            if request.method == "server/discover" {
                return Ok(whole(&message, &discovered()));
            }
            // Where a server would find them.
            let headers = request.params.iter().cloned();
            message["headers"] = headers
                .map(|(name, value)| (name, Value::from(value)))
                .collect();
            Ok(self.0.answer(&message))
        })
    }

    fn authorization(&self) -> Pending<'_, Result<Option<u64>, Error>> {
        Box::pin(async { Ok(self.0.caller().await) })
    }

    fn mirrors(&self) -> bool {
        self.0.mirrors()
    }
}
