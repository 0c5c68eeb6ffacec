//! [`HttpTransport`]: requests to one HTTP server.

use std::{collections::hash_map::RandomState, fmt};

use http::{HeaderMap, StatusCode, Uri, header::LOCATION};
use hyper_util::client::legacy::{Client, Error as ClientError};

use super::{
    answer,
    bearer::{Challenge, Credentials},
    cause::Cause,
    connector::Connector,
    endpoint::Endpoint,
    head::{Head, Payload},
    proxy::Proxy,
};
use crate::client::{
    Error, ErrorKind, Event, Events, Identity, Incoming, Outgoing, Pending, Transport,
};

/// Redirects that are followed for one request.
const REDIRECTS: usize = 5;

/// What [`Http`](super::Http) becomes. Every request is a POST of its own (HTTP-C-01); connections
/// are kept and used again.
pub struct HttpTransport {
    pub(super) endpoint: Endpoint,
    pub(super) identity: Identity,
    pub(super) head: Head,
    pub(super) client: Client<Connector, Payload>,
    pub(super) proxy: Option<Proxy>,
    pub(super) credentials: Credentials,
    /// Keys of the digests of tokens.
    pub(super) keys: RandomState,
    pub(super) limit: usize,
    pub(super) events: Events,
}

impl HttpTransport {
    async fn exchange(&self, request: &Outgoing<'_>) -> Result<Incoming, Error> {
        let mut token = self.credentials.token().await?;
        let mut challenged = false;
        let mut uri = self.endpoint.uri.clone();
        let mut redirects = 0;
        loop {
            let sent = self.head.request(&uri, request, token.as_ref())?;
            let response = self.client.request(sent).await;
            let (head, body) = response.map_err(|error| self.lost(error))?.into_parts();
            let status = head.status;
            if status.is_success() {
                return answer::served(&head, body, self.limit, &self.events).await;
            }
            if [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status) {
                let challenge = Challenge::of(status, &head.headers);
                let text = answer::in_short(body).await;
                if challenged {
                    return Err(challenge.into_error(&text));
                }
                challenged = true;
                let another = self.credentials.another(token.as_ref(), challenge, &text);
                token = Some(another.await?);
                continue;
            }
            match location(&head.headers) {
                Some(target) if status.is_redirection() => {
                    uri = self.follow(status, &uri, &target, redirects)?;
                    redirects += 1;
                }
                _ => return answer::refused(status, body, self.limit).await,
            }
        }
    }

    /// Where to send the request again. The method and the body stay what they are, and so must
    /// the origin: the token is for no other.
    fn follow(
        &self,
        status: StatusCode,
        from: &Uri,
        target: &str,
        redirects: usize,
    ) -> Result<Uri, Error> {
        let keeps = [
            StatusCode::TEMPORARY_REDIRECT,
            StatusCode::PERMANENT_REDIRECT,
        ]
        .contains(&status);
        let why = match self.endpoint.redirect(from, target) {
            Some(uri) if keeps && redirects < REDIRECTS => return Ok(uri),
            Some(_) if keeps => format!("after {REDIRECTS} redirects no more are followed"),
            _ => "only redirects of status 307 or 308 to the same origin are followed".to_owned(),
        };
        let target = answer::printable(target.as_bytes());
        Err(Error::new(
            ErrorKind::Status(status.as_u16()),
            format!("the server answered {status} and leads to {target}: {why}"),
        ))
    }

    /// The error of a request that brought no response.
    fn lost(&self, error: ClientError) -> Error {
        let origin = &self.endpoint.origin;
        let message = match (&self.proxy, error.is_connect()) {
            (None, true) => format!("no connection to {origin}"),
            (Some(proxy), true) => format!("no connection to {origin} through the proxy {proxy}"),
            (_, false) => format!("the request to {origin} was lost"),
        };
        let connected = !error.is_connect();
        let lost = Error::transport(message).caused_by(Cause::new(error));
        match connected {
            true => lost,
            false => lost.unsent(),
        }
    }
}

/// Reports a request that was lost, or that HTTP itself refused, beside telling its caller.
pub(super) fn tell(events: &Events, error: &Error) {
    if let ErrorKind::Transport | ErrorKind::Status(_) | ErrorKind::Unauthorized { .. } =
        error.kind()
    {
        events.report(Event::Transport(Error::transport(error.to_string())));
    }
}

fn location(headers: &HeaderMap) -> Option<String> {
    let location = headers.get(LOCATION)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

impl Transport for HttpTransport {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        Box::pin(async move {
            let answer = self.exchange(&request).await;
            if let Err(error) = &answer {
                tell(&self.events, error);
            }
            answer
        })
    }

    fn authorization(&self) -> Pending<'_, Result<Option<u64>, Error>> {
        Box::pin(self.credentials.digest(&self.keys))
    }

    fn mirrors(&self) -> bool {
        true
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport")
            .field("server", &format_args!("{}", self.identity))
            .field("proxy", &self.proxy.as_ref().map(ToString::to_string))
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}
