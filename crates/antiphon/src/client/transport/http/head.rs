//! [`Head`]: the head of every request, with what never changes made once.

use std::borrow::Cow;

use antiphon_core::mirror::encode;
use antiphon_types::{Method as _, Version, method::CallTool};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Uri,
    header::{
        ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH,
        CONTENT_TYPE, EXPECT, HOST, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
        USER_AGENT,
    },
};

use super::{bearer::Token, stamp::Stamp};
use crate::{
    client::{Error, Outgoing, oauth::DPOP},
    web::{NAME as AGENT, Payload},
};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const PARAM: &str = "mcp-param-";
const CALL: &str = CallTool::NAME;

/// What the head of every request says.
#[derive(Debug)]
pub(super) struct Head {
    fixed: HeaderMap,
    /// The same with a place for each header that a request of today has: a copy need not grow.
    modern: HeaderMap,
}

impl Head {
    /// The headers for this host, with those of the caller.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::client::ErrorKind::Invalid) for a header that is none, or
    /// none of the caller's business.
    pub(super) fn new(
        host: &str,
        extra: &[(String, String)],
        proxy: Option<HeaderValue>,
    ) -> Result<Self, Error> {
        let mut fixed = HeaderMap::with_capacity(extra.len() + 9);
        fixed.insert(HOST, value("host", host)?);
        // HTTP-C-03
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        fixed.insert(ACCEPT, accept);
        let json = HeaderValue::from_static("application/json");
        fixed.insert(CONTENT_TYPE, json);
        fixed.extend(proxy.map(|proxy| (PROXY_AUTHORIZATION, proxy)));
        let mut agent = Some((USER_AGENT, HeaderValue::from_static(AGENT)));
        for (name, text) in extra {
            let header = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| Error::invalid(format!("{name:?} is no name of a header")))?;
            if let Some(why) = reserved(&header) {
                return Err(Error::invalid(format!(
                    "the header {header} cannot be set: {why}"
                )));
            }
            if header == USER_AGENT {
                agent = None;
            }
            fixed.append(header, value(name, text)?);
        }
        fixed.extend(agent);
        let mut modern = fixed.clone();
        let version = HeaderValue::from_static(Version::LATEST.as_str());
        modern.insert(VERSION, version);
        modern.insert(METHOD, HeaderValue::from_static(CALL));
        modern.insert(NAME, HeaderValue::from_static(""));
        Ok(Self { fixed, modern })
    }

    /// A request to `uri`, all of it but that.
    pub(super) fn request(
        &self,
        uri: &Uri,
        sent: &Sent<'_>,
        token: Option<&Token>,
    ) -> Result<Request<Payload>, Error> {
        let mut headers = match sent {
            Sent::Modern(_) => self.modern.clone(),
            _ => self.fixed.clone(),
        };
        sent.add_to(&mut headers)?;
        let (method, body) = match sent {
            Sent::Modern(outgoing) => (Method::POST, outgoing.body.clone()),
            Sent::Post(_, body, _) | Sent::Parting(_, body) => (Method::POST, body.clone()),
            Sent::Get(..) => (Method::GET, Bytes::new()),
            Sent::Delete(_) => (Method::DELETE, Bytes::new()),
        };
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, token.header());
            headers.extend(token.proof(&method, uri)?.map(|proof| (DPOP, proof)));
        }
        let mut request = Request::new(Payload(body));
        *request.method_mut() = method;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

/// What a request is for.
pub(super) enum Sent<'a> {
    /// To carry a request of a revision in which every request stands alone.
    Modern(&'a Outgoing<'a>),
    /// To carry a message of an older revision (LHTTP-C-01); of a request it is known what for.
    Post(&'a Stamp, Bytes, Option<&'a Outgoing<'a>>),
    /// The same, for a message that nobody waits for.
    Parting(&'a Stamp, Bytes),
    /// To open a stream of events, from the one after this id on (LHTTP-C-05, LHTTP-C-07).
    Get(&'a Stamp, Option<HeaderValue>),
    /// To end a session (LHTTP-C-11).
    Delete(&'a Stamp),
}

impl Sent<'_> {
    /// Whether a challenge is worth an answer, which a person may have to give.
    pub(super) fn meets_challenges(&self) -> bool {
        !matches!(self, Self::Parting(..) | Self::Delete(_))
    }

    /// What is done with it, for whoever decides about tokens.
    pub(super) fn operation(&self) -> String {
        match self {
            Self::Modern(outgoing) | Self::Post(_, _, Some(outgoing)) => match outgoing.name {
                Some(name) => format!("{} {name}", outgoing.method),
                None => outgoing.method.to_owned(),
            },
            _ => "a message of the session".to_owned(),
        }
    }

    /// Adds the headers of this request alone.
    fn add_to(&self, headers: &mut HeaderMap) -> Result<(), Error> {
        let stamp = match self {
            Sent::Modern(outgoing) => return mirrored(outgoing, headers),
            Sent::Post(stamp, ..) | Sent::Parting(stamp, _) => stamp,
            Sent::Get(stamp, last) => {
                headers.remove(CONTENT_TYPE);
                headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
                headers.extend(last.clone().map(|last| (LAST_EVENT_ID, last)));
                stamp
            }
            Sent::Delete(stamp) => {
                headers.remove(CONTENT_TYPE);
                stamp
            }
        };
        // LHTTP-C-12, LHTTP-C-09; of the mirrored ones none (LHTTP-B-01).
        let version = stamp.version.map(|version| version.as_str());
        headers.extend(version.map(|version| (VERSION, HeaderValue::from_static(version))));
        headers.extend(stamp.session.clone().map(|session| (SESSION, session)));
        Ok(())
    }
}

/// Adds what is mirrored of a request, where it differs from a call of a tool.
fn mirrored(outgoing: &Outgoing<'_>, headers: &mut HeaderMap) -> Result<(), Error> {
    if outgoing.version != Version::LATEST {
        let version = HeaderValue::from_static(outgoing.version.as_str());
        headers.insert(VERSION, version);
    }
    if outgoing.method != CALL {
        headers.insert(METHOD, value("mcp-method", outgoing.method)?);
    }
    match outgoing.name {
        Some(name) => headers.insert(NAME, encoded(name)?),
        None => headers.remove(NAME),
    };
    for (name, text) in outgoing.params {
        headers.insert(param(name)?, encoded(text)?);
    }
    Ok(())
}

/// Why a header is not the caller's.
fn reserved(name: &HeaderName) -> Option<&'static str> {
    const FRAMING: [HeaderName; 11] = [
        ACCEPT,
        ACCEPT_ENCODING,
        CONNECTION,
        CONTENT_ENCODING,
        CONTENT_LENGTH,
        CONTENT_TYPE,
        EXPECT,
        HOST,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
    ];
    if *name == AUTHORIZATION {
        return Some("use .bearer(..), .bearer_from(..) or .oauth(..)");
    }
    if *name == DPOP {
        return Some("use .oauth(..)");
    }
    if *name == PROXY_AUTHORIZATION {
        return Some("give .proxy(..) a URL with user name and password");
    }
    let text = name.as_str();
    let ours = text.starts_with("mcp-") || ["last-event-id", "keep-alive"].contains(&text);
    (ours || *name == UPGRADE || FRAMING.contains(name)).then_some("it is the protocol's own")
}

/// The name of a mirrored argument's header.
fn param(name: &str) -> Result<HeaderName, Error> {
    let header = HeaderName::from_bytes(name.as_bytes()).ok();
    header
        .filter(|header| header.as_str().starts_with(PARAM))
        .ok_or_else(|| {
            Error::invalid(format!(
                "{name:?} is no name of a mirrored argument's header"
            ))
        })
}

fn value(name: &str, text: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(text)
        .map_err(|_| Error::invalid(format!("the header {name} cannot hold what it should")))
}

/// A mirrored value (HDR-C-05, HDR-C-12).
fn encoded(text: &str) -> Result<HeaderValue, Error> {
    let value = match encode(text) {
        Cow::Borrowed(plain) => HeaderValue::from_str(plain),
        Cow::Owned(encoded) => HeaderValue::try_from(encoded),
    };
    value.map_err(|error| Error::invalid("a value does not fit a header").caused_by(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(name: &str, value: &str) -> Result<Head, Error> {
        Head::new("example.com", &[(name.into(), value.into())], None)
    }

    #[test]
    fn what_the_protocol_says_is_not_the_callers() {
        for name in [
            "Accept",
            "content-type",
            "Host",
            "Authorization",
            "proxy-authorization",
            "MCP-Protocol-Version",
            "Mcp-Method",
            "Mcp-Name",
            "mcp-param-region",
            "Mcp-Session-Id",
            "Last-Event-ID",
            "transfer-encoding",
            "accept-encoding",
            "",
            "a b",
            "x:",
        ] {
            assert!(head(name, "a").is_err(), "{name}");
        }
        for name in ["x-tenant", "Cookie", "user-agent", "Origin", "x-mcp"] {
            assert!(head(name, "a").is_ok(), "{name}");
        }
    }

    #[test]
    fn a_bad_value_is_not_repeated() {
        let error = head("x-key", "secret\n").expect_err("no header");
        assert!(!error.to_string().contains("secret"));
        assert!(error.to_string().contains("x-key"));
    }

    #[test]
    fn arguments_cannot_pass_for_other_headers() {
        let head = Head::new("example.com", &[], None).expect("a head");
        for name in ["authorization", "host", "mcp-name", "mcp-param-\n", ""] {
            let params = [(name.to_owned(), "x".to_owned())];
            let mut outgoing = Outgoing::new(1, "tools/call", "{}");
            outgoing.params = &params;
            let uri = Uri::from_static("http://example.com/");
            assert!(
                head.request(&uri, &Sent::Modern(&outgoing), None).is_err(),
                "{name}"
            );
        }
    }
}
