//! What stands in for signing in without the feature `oauth`: nobody does.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};

use super::{Challenge, error::Boxed, transport::Token};

pub(crate) const DPOP: HeaderName = HeaderName::from_static("dpop");

/// There is none.
#[derive(Debug)]
pub(crate) enum Authorizer {}

impl Authorizer {
    pub(crate) fn held(&self) -> Duration {
        match *self {}
    }

    pub(crate) async fn token(self: &Arc<Self>) -> Result<Option<Token>, Boxed> {
        match **self {}
    }

    pub(crate) async fn another(
        self: &Arc<Self>,
        _: Option<&Token>,
        _: &Challenge,
        _: &str,
    ) -> Result<Token, Boxed> {
        match **self {}
    }

    pub(crate) fn heard(&self, _: StatusCode, _: &Token, _: impl FnOnce() -> String) {
        match *self {}
    }
}

/// There is none.
#[derive(Debug)]
pub(crate) enum Prover {}

impl Prover {
    pub(crate) fn proof(&self, _: &Method, _: &Uri, _: Option<&str>) -> Result<HeaderValue, Boxed> {
        match *self {}
    }

    pub(crate) fn heard(&self, _: &Uri, _: &HeaderMap) -> bool {
        match *self {}
    }
}
