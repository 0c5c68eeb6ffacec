//! [`Published`]: the metadata of a protected server, for everyone (RFC 9728, AUTH-S-01).

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Response, StatusCode, Uri,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW, CACHE_CONTROL, CONTENT_TYPE,
    },
    request::Parts,
};

use super::{
    body::Body,
    future::plain,
    guard::{Guard, Stranger},
};
use crate::auth::{Protected, WELL_KNOWN};

/// A document, and where it is.
pub(crate) struct Published {
    path: String,
    json: Bytes,
}

impl Published {
    pub(crate) fn new(protected: Protected) -> Self {
        Self {
            path: protected.metadata_path(),
            json: protected.into_json().into(),
        }
    }

    /// Whether it is at this place: its own, or the root's, where older clients look.
    pub(crate) fn is_at(&self, uri: &Uri) -> bool {
        let place = uri.path_and_query().map_or("/", |place| place.as_str());
        place.starts_with(WELL_KNOWN) && (place == self.path || place == WELL_KNOWN)
    }

    /// Answers a request for it. Any web page may read it: it says nothing about who asks.
    pub(crate) fn answer(&self, guard: &Guard, parts: &Parts) -> Response<Body> {
        if let Err(Stranger(why)) = guard.check_host(&parts.uri, &parts.headers) {
            return plain(StatusCode::FORBIDDEN, why);
        }
        let mut response = match parts.method {
            Method::GET => Response::new(Body::whole(self.json.clone())),
            Method::HEAD => Response::new(Body::empty()),
            Method::OPTIONS => preflight(&parts.headers),
            _ => {
                let text = "Metadata is there to be read: GET it";
                let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, text);
                let allowed = HeaderValue::from_static(VERBS);
                response.headers_mut().insert(ALLOW, allowed);
                response
            }
        };
        let headers = response.headers_mut();
        let all = HeaderValue::from_static("*");
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, all);
        if matches!(parts.method, Method::GET | Method::HEAD) {
            let json = HeaderValue::from_static("application/json");
            headers.insert(CONTENT_TYPE, json);
            let kept = HeaderValue::from_static("public, max-age=3600");
            headers.insert(CACHE_CONTROL, kept);
        }
        response
    }
}

const VERBS: &str = "GET, HEAD, OPTIONS";

/// The answer to a browser that asks first, as it does for headers of an older client's
/// (LAUTH-C-04).
fn preflight(asked: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static(VERBS),
    );
    if let Some(names) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}
