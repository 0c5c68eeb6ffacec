//! [`Wire`]: one HTTP exchange with the server, whatever it is for.

use std::borrow::Cow;

use http::{HeaderMap, StatusCode, Uri, header::LOCATION, response::Parts};

use super::{
    answer,
    bearer::{Credentials, Token},
    challenge::Challenge,
    head::{Head, Sent},
};
use crate::{
    client::{Error, ErrorKind, Event, Events},
    excerpt,
    web::{Content, Endpoint, Pool, Proxy, lost},
};

/// Redirects that are followed for one request.
const REDIRECTS: usize = 5;

/// The way to one HTTP server; connections are kept and used again.
pub(super) struct Wire {
    pub(super) endpoint: Endpoint,
    pub(super) head: Head,
    pub(super) pool: Pool,
    pub(super) proxy: Option<Proxy>,
    pub(super) credentials: Credentials,
    pub(super) limit: usize,
    pub(super) events: Events,
}

/// What an exchange brought: a response that is neither a challenge nor a redirect.
pub(super) struct Answered {
    pub(super) head: Parts,
    pub(super) body: Content,
    /// Who gave it, after redirects.
    pub(super) from: Uri,
}

impl Wire {
    /// Sends a request to a URI of the server's origin.
    pub(super) async fn ask(&self, to: &Uri, sent: &Sent<'_>) -> Result<Answered, Error> {
        let token = self.credentials.token().await?;
        self.exchange(to, sent, token).await
    }

    /// Sends a request to a URI of the server's origin, first of all with this token.
    ///
    /// What is rare is in boxes: every request makes room for the largest that could be waited for.
    pub(super) async fn exchange(
        &self,
        to: &Uri,
        sent: &Sent<'_>,
        mut token: Option<Token>,
    ) -> Result<Answered, Error> {
        let mut tries = match sent.meets_challenges() {
            true => self.credentials.tries(),
            false => 0,
        };
        let mut has_nonce = false;
        let mut uri = Cow::Borrowed(to);
        let mut redirects = 0;
        loop {
            let request = self.head.request(&uri, sent, token.as_ref())?;
            let response = self.pool.request(&uri, request).await;
            let lost = |error| lost(&self.endpoint.origin, self.proxy.as_ref(), error);
            let (head, body) = response.map_err(lost)?.into_parts();
            let status = head.status;
            self.credentials
                .heard(status, token.as_ref(), || sent.operation());
            let heard = token.as_ref();
            if heard.is_some_and(|token| token.heard(&uri, status, &head.headers)) && !has_nonce {
                has_nonce = true;
                Box::pin(answer::ignore(body)).await;
                continue;
            }
            if [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status) {
                let challenge = Challenge::read(status, &head.headers);
                let text = Box::pin(answer::in_short(body)).await;
                if tries == 0 {
                    return Err(challenge.into_error(&text));
                }
                tries -= 1;
                has_nonce = false;
                let operation = sent.operation();
                let refused = token.as_ref();
                let another = self
                    .credentials
                    .another(refused, challenge, &text, &operation);
                token = Some(Box::pin(another).await?);
                continue;
            }
            match location(&head.headers) {
                Some(target) if status.is_redirection() => {
                    uri = Cow::Owned(self.follow(status, &uri, &target, redirects)?);
                    redirects += 1;
                }
                _ => {
                    let from = uri.into_owned();
                    return Ok(Answered { head, body, from });
                }
            }
        }
    }

    /// Where to send the request again. The origin must stay what it is: the token is for no
    /// other.
    fn follow(
        &self,
        status: StatusCode,
        from: &Uri,
        target: &str,
        redirects: usize,
    ) -> Result<Uri, Error> {
        // The method and the body stay what they are with these alone.
        let keeps = [307, 308].contains(&status.as_u16());
        let why = match self.endpoint.redirect(from, target) {
            Some(uri) if keeps && redirects < REDIRECTS => return Ok(uri),
            Some(_) if keeps => format!("after {REDIRECTS} redirects no more are followed"),
            _ => "only redirects of status 307 or 308 to the same origin are followed".to_owned(),
        };
        let target = excerpt::one_line(target.as_bytes());
        Err(Error::new(
            ErrorKind::Status(status.as_u16()),
            format!("the server answered {status} and leads to {target}: {why}"),
        ))
    }
}

/// Reports a request that was lost, or that HTTP itself refused, beside telling its caller.
pub(super) fn report(events: &Events, error: &Error) {
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
