//! One handshake: `initialize`, its result, `notifications/initialized`.

use std::time::Duration;

use antiphon_core::{legacy::implementation, negotiate::agreed};
use antiphon_types::{
    ClientCapabilities, ElicitationCapability, Implementation, InitializeRequestParams,
    InitializeResult, SetLevelRequestParams, Version, decode, method::Discover,
};
use bytes::Bytes;
use serde::Serialize;

use super::Speaking;
use crate::client::{
    Clock, Error, Negotiated, Traffic,
    discover::no_common,
    negotiation::Step,
    options::Options,
    patience::Patience,
    shared::{Leg, Shared, closed},
};
use crate::excerpt::{sentence, word};

impl Shared {
    /// Greets the server in this version, and begins to speak the one it chooses (LEG-C-01 to
    /// LEG-C-06).
    pub(super) async fn greet(&self, version: Version) -> Result<(), Error> {
        let answer = self.initialize(version).await;
        let said = match &answer {
            Ok(result) => word(&result.protocol_version),
            Err(error) => sentence(&error.to_string()),
        };
        self.session.trace.note(Step::Greeted {
            version,
            answer: said,
        });
        let settled = match answer {
            Ok(result) => self.enter(result).await,
            Err(error) => Err(error),
        };
        if settled.is_err() {
            self.session.speak(None);
        }
        settled
    }

    async fn initialize(&self, version: Version) -> Result<InitializeResult, Error> {
        let capabilities = abilities(&self.capabilities, version);
        let client = match self.client.anonymous {
            // Some name has to be given.
            true => Implementation::new("anonymous", "0"),
            false => implementation(&self.client.info, version),
        };
        self.session.speak(Some(Speaking {
            version,
            capabilities: ClientCapabilities::new(),
            settled: false,
        }));
        let params = InitializeRequestParams::new(version, capabilities, client);
        let text = self.older_once("initialize", version, &params).await?;
        let text = std::str::from_utf8(&text)
            .map_err(|error| Error::decode("the result is not UTF-8").caused_by(error))?;
        decode(text).map_err(|error| {
            let message = format!("the result of initialize: {}", sentence(&error.to_string()));
            Error::decode(message)
        })
    }

    /// Begins to speak what the server chose.
    async fn enter(&self, result: InitializeResult) -> Result<(), Error> {
        let era = self.client.era;
        let Some(version) = agreed(&result.protocol_version, era.pinned()) else {
            return Err(no_common(era, vec![result.protocol_version], None));
        };
        // From here on the server may ask.
        self.session.speak(Some(Speaking {
            version,
            capabilities: abilities(&self.capabilities, version),
            settled: true,
        }));
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.tell(version, Bytes::from_static(initialized.as_bytes()))
            .await?;
        self.transport.settled(version).await;
        if !self
            .negotiated
            .set(Negotiated::initialized(version, result))
        {
            return Err(Error::decode(
                "the server is another one with every handshake",
            ));
        }
        self.session.next_epoch();
        self.session.confirm();
        self.session.trace.note(Step::Settled { version });
        Ok(())
    }

    /// Tells an older server which log messages are wanted (LFEAT-C-01). One that does not say in
    /// time that it heard so is spoken with all the same.
    pub(super) async fn set_level(&self, patience: &Patience<impl Fn() -> Duration>) {
        let Some(known) = self.negotiated.get().filter(|it| !it.version.is_modern()) else {
            return;
        };
        let level = self.client.listeners.log.as_ref().map(|(level, _)| *level);
        let level = self.session.level().or(level);
        let Some(level) = level.filter(|_| known.capabilities.logging.is_some()) else {
            return;
        };
        let params = SetLevelRequestParams::new(level);
        let set = self.older_once("logging/setLevel", known.version, &params);
        let work = self.client.clocks.work;
        let set = patience.limit(set).await;
        if let Err(error) = set.unwrap_or_else(|| Err(Error::timed_out(Clock::Work, work))) {
            tracing::warn!(%error, "the log level cannot be set");
        }
    }

    /// A request outside any session that could be lost.
    pub(super) async fn older_once(
        &self,
        method: &str,
        version: Version,
        params: &(impl Serialize + Sync),
    ) -> Result<Bytes, Error> {
        let options = Options::default();
        let leg = Leg {
            method,
            version,
            ..self.leg::<Discover>(&options)
        };
        self.once(&leg, params).await?.into_text()
    }

    /// Sends what has no answer, within the work clock.
    pub(super) async fn tell(&self, version: Version, message: Bytes) -> Result<(), Error> {
        if self.closed.is_cancelled() {
            return Err(closed().unsent());
        }
        let work = self.client.clocks.work;
        let patience = self.patience(work);
        self.client.listeners.traffic(Traffic::Sent(&message));
        tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(closed()),
            told = patience.limit(self.transport.tell(version, message)) => {
                told.unwrap_or_else(|| Err(Error::timed_out(Clock::Work, work)))
            }
        }
    }
}

/// Of what a client can be asked, what the revision knows (wire.md 9).
fn abilities(declared: &ClientCapabilities, version: Version) -> ClientCapabilities {
    let mut abilities = declared.clone();
    abilities.extensions = None;
    if let Some(roots) = &mut abilities.roots {
        roots.list_changed = Some(true);
    }
    if version < Version::V2025_11_25 {
        abilities.elicitation = abilities
            .elicitation
            .filter(|elicitation| elicitation.has_form() && version >= Version::V2025_06_18)
            .map(|_| ElicitationCapability::new());
        if let Some(sampling) = &mut abilities.sampling {
            sampling.tools = None;
            sampling.context = None;
        }
    }
    abilities
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Client, Kind};
    use serde_json::{json, to_value};

    #[test]
    fn a_client_declares_what_the_revision_knows() {
        let settings = serde_json::Map::new();
        let client = Client::new("desk", "1.0")
            .by_hand(Kind::ALL)
            .extension("org.example/tides", settings);
        let declared = client.capabilities();
        for (version, expected) in [
            (
                Version::V2025_11_25,
                json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {"listChanged": true}}),
            ),
            (
                Version::V2025_06_18,
                json!({"elicitation": {}, "sampling": {}, "roots": {"listChanged": true}}),
            ),
            (
                Version::V2025_03_26,
                json!({"sampling": {}, "roots": {"listChanged": true}}),
            ),
            (
                Version::V2024_11_05,
                json!({"sampling": {}, "roots": {"listChanged": true}}),
            ),
        ] {
            let abilities = abilities(&declared, version);
            assert_eq!(to_value(abilities).expect("JSON"), expected, "{version}");
        }
        let links = Client::new("desk", "1.0").by_hand([Kind::Url]);
        let abilities = abilities(&links.capabilities(), Version::V2025_06_18);
        assert!(abilities.is_empty(), "{abilities:?}");
    }
}
