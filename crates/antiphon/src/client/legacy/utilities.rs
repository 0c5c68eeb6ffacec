//! Pings, log levels, and roots that have changed.

use antiphon_types::{LoggingLevel, RequestParams, SetLevelRequestParams, method::Discover};
use bytes::Bytes;
use serde::Serialize;

use crate::client::{
    Connection, Error,
    options::Options,
    shared::{Leg, Shared},
};

impl Connection {
    /// Asks the server for a sign of life: `ping` at one of 2025-11-25 or before, and
    /// `server/discover` at others, which have no ping.
    ///
    /// # Errors
    /// When there is none.
    pub async fn ping(&self) -> Result<(), Error> {
        let answer = match self.protocol_version().is_modern() {
            true => self.0.discover().await.map(drop),
            false => self.0.older("ping", &RequestParams::new()).await.map(drop),
        };
        answer.map_err(|error| error.during("ping"))
    }

    /// From here on asks for log messages of at least this level, which go to
    /// [`Client::on_log`](crate::client::Client::on_log). Servers of 2025-11-25 or before are told at
    /// once, others with each request.
    ///
    /// # Errors
    /// When the server refuses, or has no log.
    pub async fn set_log_level(&self, level: LoggingLevel) -> Result<(), Error> {
        const METHOD: &str = "logging/setLevel";
        if !self.protocol_version().is_modern() {
            if self.server_capabilities().logging.is_none() {
                return Err(Error::invalid("the server has no log").during(METHOD));
            }
            let params = SetLevelRequestParams::new(level);
            let told = self.0.older(METHOD, &params);
            told.await.map_err(|error| error.during(METHOD))?;
        }
        self.0.session.set_level(level);
        Ok(())
    }

    /// Tells the server that the roots have changed, which it may then ask for again. Servers of
    /// revisions after 2025-11-25 are told nothing: they ask whenever they need to know.
    ///
    /// # Errors
    /// When the client has no roots, or the server cannot be told.
    pub async fn roots_changed(&self) -> Result<(), Error> {
        const METHOD: &str = "notifications/roots/list_changed";
        let Some(speaking) = self.0.session.speaking() else {
            return Ok(());
        };
        if self.0.capabilities.roots.is_none() {
            let why = "the client has no roots: give it `Client::on_roots`";
            return Err(Error::invalid(why).during(METHOD));
        }
        let message = format!(r#"{{"jsonrpc":"2.0","method":"{METHOD}"}}"#);
        let epoch = self.0.session.epoch();
        let told = self.0.tell(speaking.version, Bytes::from(message));
        match told.await {
            Ok(()) => Ok(()),
            // A new session has not seen any others.
            Err(error) => {
                let mended = self.0.mended(error, epoch).await;
                mended.map_err(|error| error.during(METHOD))
            }
        }
    }
}

impl Shared {
    /// A request of a method that only older servers have.
    async fn older(&self, method: &str, params: &(impl Serialize + Sync)) -> Result<Bytes, Error> {
        let options = Options::default();
        let leg = Leg {
            method,
            ..self.leg::<Discover>(&options)
        };
        self.request(&leg, params).await?.into_text()
    }
}
