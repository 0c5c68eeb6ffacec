//! Where an issuer publishes its keys, and reading them there (RFC 8414, OpenID Connect Discovery).

use std::{sync::Mutex, time::Duration};

use http::{HeaderMap, header::CACHE_CONTROL};
use serde::Deserialize;

use super::{
    KeySet,
    cache::{Fetch, Fetched},
};
use crate::{auth::is_safe, web};

/// Where keys are.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// Where the metadata of this issuer says.
    Issuer(String),
    /// Here.
    Url(String),
}

/// Keys that are read over HTTP.
pub(super) struct Published {
    source: Source,
    agent: web::Agent,
    /// Where the metadata was.
    metadata: Mutex<Option<usize>>,
}

impl Published {
    pub(super) fn new(source: Source) -> Self {
        Self {
            source,
            agent: web::Agent::new(web::Settings::default()),
            metadata: Mutex::default(),
        }
    }

    async fn get(&self, url: &str) -> Result<web::Answer, String> {
        is_safe(url).map_err(|why| format!("{url} is not asked: {why}"))?;
        let answer = self.agent.get(url, HeaderMap::new()).await;
        answer.map_err(|error| format!("{url}: {}", whole(&error)))
    }

    /// The place that the issuer's metadata names.
    async fn discover(&self, issuer: &str) -> Result<String, String> {
        let places = web::issuer_metadata(issuer);
        let known = *self.metadata();
        let mut order: Vec<usize> = (0..places.len()).collect();
        if let Some(known) = known {
            order.swap(0, known);
        }
        for at in order {
            let url = &places[at];
            let answer = self.get(url).await?;
            if answer.status.is_client_error() {
                continue;
            }
            if !answer.status.is_success() {
                return Err(format!("{url} answered with {}", answer.status));
            }
            let found: Metadata = serde_json::from_slice(&answer.body)
                .map_err(|_| format!("{url} has no metadata with `issuer` and `jwks_uri`"))?;
            // To the letter: who speaks for another issuer does not speak for this one.
            if found.issuer != issuer {
                return Err(format!("the metadata at {url} is of another issuer"));
            }
            *self.metadata() = Some(at);
            return Ok(found.jwks_uri);
        }
        Err(format!(
            "{issuer} publishes no metadata; if it has keys, name their place with \
             JwtVerifier::jwks_url"
        ))
    }

    fn metadata(&self) -> std::sync::MutexGuard<'_, Option<usize>> {
        let metadata = self.metadata.lock();
        metadata.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

impl Fetch for Published {
    async fn fetch(&self) -> Result<Fetched, String> {
        let url = match &self.source {
            Source::Url(url) => url.clone(),
            Source::Issuer(issuer) => self.discover(issuer).await?,
        };
        let answer = self.get(&url).await?;
        if !answer.status.is_success() {
            return Err(format!("{url} answered with {}", answer.status));
        }
        let keys = std::str::from_utf8(&answer.body).map_err(|_| format!("{url} is not UTF-8"))?;
        Ok(Fetched {
            keys: KeySet::from_json(keys).map_err(|why| format!("{url}: {why}"))?,
            max_age: max_age(&answer.headers),
        })
    }
}

/// An error with its causes.
pub(crate) fn whole(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

/// How long a response may be kept.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let values = headers.get_all(CACHE_CONTROL).iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    let mut age = None;
    for directive in texts.flat_map(|text| text.split(',')) {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match &*name.trim().to_ascii_lowercase() {
            "no-store" | "no-cache" => return Some(Duration::ZERO),
            "max-age" => age = value.trim().trim_matches('"').parse().ok(),
            _ => {}
        }
    }
    age.map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn how_long_a_response_may_be_kept() {
        for (value, seconds) in [
            ("max-age=300", Some(300)),
            ("public, Max-Age = \"20\" , must-revalidate", Some(20)),
            ("no-cache", Some(0)),
            ("max-age=300, no-store", Some(0)),
            ("public", None),
            ("max-age=soon", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CACHE_CONTROL, HeaderValue::from_static(value));
            assert_eq!(
                max_age(&headers),
                seconds.map(Duration::from_secs),
                "{value}"
            );
        }
    }
}
