//! Reading a request body and framing an answer.

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::{
    Response, StatusCode,
    body::{Body, Incoming},
    header::{CONTENT_TYPE, HeaderValue},
};

/// The longest message that is read.
pub(crate) const LIMIT: usize = 4 << 20;

/// Why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLong,
    Broken,
}

/// The whole body. One that arrived in a single frame, as short ones do, is not copied.
pub(crate) async fn read(mut body: Incoming) -> Result<Bytes, Unread> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > LIMIT {
        return Err(Unread::TooLong);
    }
    let first = next(&mut body).await?.unwrap_or_default();
    if body.is_end_stream() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(announced.max(first.len()));
    whole.extend_from_slice(&first);
    while let Some(data) = next(&mut body).await? {
        if whole.len() + data.len() > LIMIT {
            return Err(Unread::TooLong);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

async fn next(body: &mut Incoming) -> Result<Option<Bytes>, Unread> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
