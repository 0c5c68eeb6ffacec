//! Requests of each kind: plain ones, tools with their mirrored headers, answers that are kept.

use std::{sync::atomic::Ordering, time::Instant};

use antiphon_types::{
    CacheScope, CallToolResult, DiscoverResult, Method, RequestParams, Version, code,
    decode_result_text,
    method::{self, Discover},
};
use bytes::Bytes;
use serde::Serialize;

use super::{
    Error, Target,
    cache::{Hint, Key},
    given::Given,
    options::Options,
    shared::{Leg, Shared, WorkClock},
};
use crate::excerpt::sentence;

impl Shared {
    pub(super) fn version(&self) -> Version {
        let negotiated = self.negotiated.get();
        negotiated.map_or(Version::LATEST, |negotiated| negotiated.version)
    }

    /// What the server says of itself. What goes wrong happened while connecting to it.
    pub(super) async fn discover(&self) -> Result<DiscoverResult, Error> {
        let options = Options::default();
        let leg = self.leg::<Discover>(&options);
        let text = self
            .request(&leg, &RequestParams::new())
            .await?
            .into_text()?;
        decoded::<Discover>(&text)
    }

    /// A request that may not ask.
    pub(super) async fn plain<M: Method>(
        &self,
        params: &(impl Serialize + Sync + ?Sized),
        options: &Options,
    ) -> Result<M::Result, Error> {
        let text = self.request(&self.leg::<M>(options), params).await;
        let result = text.and_then(|text| decoded::<M>(&text.into_text()?));
        result.map_err(|error| error.during(M::NAME))
    }

    /// A request that belongs to no call.
    pub(super) fn leg<'a, M: Method>(&'a self, options: &'a Options) -> Leg<'a> {
        Leg {
            method: M::NAME,
            name: None,
            headers: &[],
            envelope: &self.envelope,
            version: self.version(),
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
    ) -> Result<Given, Error> {
        if !self.mirrors() {
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

    /// Whether arguments are mirrored in headers (LHTTP-B-01).
    pub(super) fn mirrors(&self) -> bool {
        self.transport.mirrors() && self.version().is_modern()
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
        let Some(result) = result else {
            return Ok(());
        };
        self.meet();
        match self.tools.get(target.name()) {
            Some(known) => known.check(result),
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
        let request = async { self.request(leg, params).await?.into_text() };
        self.kept(key, leg, request).await
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
