//! [`Agent`]: gets documents from other servers, and sends them forms.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Request, StatusCode,
    header::{ACCEPT, CONTENT_ENCODING, HOST, LOCATION, PROXY_AUTHORIZATION, USER_AGENT},
};
use tokio::{sync::OnceCell, time::timeout};

use super::{
    Cause, Choice, Config, Connector, End, Endpoint, Error, Kind, Pool, Proxy, Tls,
    body::{Payload, gather},
    pool::Lost,
    unusable,
};
use crate::excerpt;

/// Who is asking.
pub(crate) const NAME: &str = concat!("antiphon/", env!("CARGO_PKG_VERSION"));

/// Redirects that are followed for one document.
const REDIRECTS: usize = 5;

/// So many servers have their connections kept.
const KEPT: usize = 8;

/// How others are reached, and what they may do.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) proxy: Choice,
    pub(crate) tls: Option<Config>,
    /// How long it may take to open a connection.
    pub(crate) connect_timeout: Duration,
    /// How long the rest of an exchange may take.
    pub(crate) patience: Duration,
    /// As long as an answer may be.
    pub(crate) limit: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            proxy: Choice::default(),
            tls: None,
            connect_timeout: Duration::from_secs(10),
            patience: Duration::from_secs(5),
            limit: 64 << 10,
        }
    }
}

/// Gets documents from other servers, and sends them forms. An exchange is bounded in time and
/// bytes; nothing is sent but what is given here.
pub(crate) struct Agent {
    settings: Settings,
    tls: OnceCell<Tls>,
    kept: Mutex<Vec<Way>>,
}

/// The way to one server; connections are kept and used again.
#[derive(Clone)]
struct Way {
    origin: String,
    pool: Pool,
    proxy: Option<Proxy>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Agent {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            tls: OnceCell::new(),
            kept: Mutex::default(),
        }
    }

    /// Reads a document. Redirects are followed within its origin.
    pub(crate) async fn get(&self, url: &str, headers: HeaderMap) -> Result<Answer, Error> {
        self.within(url, async {
            let place = parsed(url)?;
            let mut uri = place.uri.clone();
            let mut redirects = 0;
            loop {
                let at = Endpoint {
                    uri,
                    ..place.clone()
                };
                let answer = self
                    .send(&at, Method::GET, headers.clone(), Bytes::new())
                    .await?;
                let target = answer.headers.get(LOCATION);
                let target = target.filter(|_| leads_elsewhere(answer.status));
                let Some(target) = target else {
                    return Ok(answer);
                };
                let target = String::from_utf8_lossy(target.as_bytes());
                let led = |why: &str| {
                    let kind = Kind::Status(answer.status.as_u16());
                    let target = excerpt::one_line(target.as_bytes());
                    let status = answer.status;
                    Error::new(
                        kind,
                        format!("it answers {status} and leads to {target}: {why}"),
                    )
                };
                uri = place
                    .redirect(&at.uri, &target)
                    .ok_or_else(|| led("only redirects to the same origin are followed"))?;
                if redirects == REDIRECTS {
                    return Err(led("no more redirects are followed"));
                }
                redirects += 1;
            }
        })
        .await
    }

    /// Sends something. Redirects are not followed.
    #[cfg(any(feature = "oauth", feature = "jwt"))]
    pub(crate) async fn post(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answer, Error> {
        self.within(url, async {
            self.send(&parsed(url)?, Method::POST, headers, body).await
        })
        .await
    }

    /// Gives an exchange only so much time.
    async fn within(
        &self,
        url: &str,
        exchange: impl Future<Output = Result<Answer, Error>>,
    ) -> Result<Answer, Error> {
        let Settings {
            connect_timeout,
            patience,
            ..
        } = self.settings;
        let after = connect_timeout.saturating_add(patience);
        timeout(after, exchange).await.unwrap_or_else(|_| {
            let place = super::without_secrets(url);
            let message = format!("there was no answer from {place} within {after:?}");
            Err(Error::new(Kind::TimedOut(after), message))
        })
    }

    async fn send(
        &self,
        to: &Endpoint,
        method: Method,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answer, Error> {
        let way = self.way(to).await?;
        let host = HeaderValue::from_str(&to.host)
            .map_err(|error| Error::invalid("a host does not fit a header").caused_by(error))?;
        headers.insert(HOST, host);
        headers
            .entry(ACCEPT)
            .or_insert(HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(NAME));
        // Through a tunnel the proxy is told once per connection, otherwise with each request.
        if let Some(proxy) = way.proxy.as_ref().filter(|_| !to.is_secure()) {
            let told = proxy.authorization.clone();
            headers.extend(told.map(|told| (PROXY_AUTHORIZATION, told)));
        }
        let mut request = Request::new(Payload(body));
        *request.method_mut() = method;
        *request.headers_mut() = headers;
        let response = way.pool.request(&to.uri, request).await;
        let (head, body) = response
            .map_err(|error| lost(&to.origin, way.proxy.as_ref(), error))?
            .into_parts();
        if let Some(encoding) = head.headers.get(CONTENT_ENCODING)
            && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
        {
            return Err(Error::decode(format!(
                "the response is encoded as {}, which was not asked for",
                excerpt::one_line(encoding.as_bytes())
            )));
        }
        let limit = self.settings.limit;
        match gather(body, limit).await {
            (body, End::Whole) => Ok(Answer {
                status: head.status,
                headers: head.headers,
                body,
            }),
            (_, End::TooLong) => {
                let message = format!("the response is longer than {limit} bytes");
                Err(Error::decode(message))
            }
            (_, End::Broken(error)) => {
                let kind = Kind::Transport { unsent: false };
                let message = "the response ended early";
                Err(Error::new(kind, message).caused_by(Cause::new(error)))
            }
        }
    }

    async fn way(&self, to: &Endpoint) -> Result<Way, Error> {
        let known = self
            .kept()
            .iter()
            .find(|way| way.origin == to.origin)
            .cloned();
        if let Some(way) = known {
            return Ok(way);
        }
        let proxy = self.settings.proxy.proxy_for(to)?;
        let tls = match to.is_secure() || proxy.as_ref().is_some_and(Proxy::is_secure) {
            true => {
                let loading = || Tls::load(self.settings.tls.clone());
                Some(self.tls.get_or_try_init(loading).await?.clone())
            }
            false => None,
        };
        let connector = Connector::new(proxy.clone(), tls, self.settings.connect_timeout);
        let way = Way {
            origin: to.origin.clone(),
            pool: Pool::new(connector),
            proxy,
        };
        let mut kept = self.kept();
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(way.clone());
        Ok(way)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Vec<Way>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answer {
    /// What it says, read as JSON of this type: an object, with every name once.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }
}

fn parsed(url: &str) -> Result<Endpoint, Error> {
    Endpoint::parse(url).map_err(|why| unusable("the URL", url, &why))
}

fn leads_elsewhere(status: StatusCode) -> bool {
    [301, 302, 303, 307, 308].contains(&status.as_u16())
}

/// The error of a request to an origin that brought no response.
pub(crate) fn lost(origin: &str, proxy: Option<&Proxy>, lost: Lost) -> Error {
    let unsent = matches!(lost, Lost::Unsent(_));
    let message = match (proxy, unsent) {
        (None, true) => format!("no connection to {origin}"),
        (Some(proxy), true) => format!("no connection to {origin} through the proxy {proxy}"),
        (_, false) => format!("the request to {origin} was lost"),
    };
    let cause = match lost {
        Lost::Unsent(error) => Cause::new(error),
        Lost::Sent(error) => Cause::new(error),
    };
    Error::new(Kind::Transport { unsent }, message).caused_by(cause)
}
