//! [`Record`]: what is kept of a sign-in, and [`Keeping`], where.

use std::sync::Arc;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Secret, TokenStore, failed::Failed, moment::now, registration::Registered};

/// What is kept of a sign-in.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Record {
    /// Who gave the tokens. They are good for nothing elsewhere (AUTH-C-10).
    pub(super) issuer: String,
    /// As whom they were given.
    pub(super) client_id: String,
    /// How it is known by that, if it registered on the way: another registration may take the
    /// place of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) registered: Option<Registered>,
    /// The server is its own authorization server, and may publish nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_own: bool,
    /// What they are for.
    pub(super) resource: String,
    /// What was asked for, all in all.
    pub(super) scopes: Vec<String>,
    /// What was given, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) granted: Option<Vec<String>>,
    pub(super) access_token: Secret,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<Secret>,
    /// In seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<u64>,
    /// The key without which the tokens are worth nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<Secret>,
}

impl Record {
    /// Whether the access token is known to allow all of this.
    pub(super) fn allows(&self, scopes: &[String]) -> bool {
        let granted = self.granted.as_deref();
        !scopes.is_empty()
            && granted.is_some_and(|granted| scopes.iter().all(|scope| granted.contains(scope)))
    }

    /// From when on, in seconds since 1970, the access token had better be renewed. Without a way
    /// to do so it is used up: the server says when it is worth nothing.
    pub(super) fn is_renewed_at(&self) -> Option<u64> {
        /// On its way a token grows older, and clocks differ.
        const MARGIN: u64 = 10;
        let at = self.expires_at?.saturating_sub(MARGIN);
        self.refresh_token.is_some().then_some(at)
    }

    /// Whether the access token had better be renewed before another request.
    pub(super) fn is_stale(&self) -> bool {
        self.is_renewed_at().is_some_and(|at| at <= now())
    }
}

/// What a store keeps for one server.
pub(super) struct Keeping {
    pub(super) store: Arc<dyn TokenStore>,
    /// The server, without anything secret.
    pub(super) server: String,
}

impl Keeping {
    fn tokens(&self) -> String {
        format!("tokens {}", self.server)
    }

    pub(super) async fn record(&self) -> Result<Option<Record>, Failed> {
        self.read(&self.tokens()).await
    }

    /// Keeps a record; whether that worked. One that cannot be kept is still good for this
    /// connection.
    pub(super) async fn keep(&self, record: &Record) -> bool {
        self.write(&self.tokens(), record).await
    }

    pub(super) async fn forget(&self) -> Result<(), Failed> {
        let forgotten = self.store.remove(&self.tokens()).await;
        forgotten.map_err(|error| Failed::new("the tokens cannot be forgotten").caused_by(error))
    }

    /// The registration at an authorization server (AUTH-C-25).
    pub(super) async fn registered(&self, issuer: &str) -> Result<Option<Registered>, Failed> {
        self.read(&client(issuer)).await
    }

    pub(super) async fn keep_registered(&self, issuer: &str, registered: &Registered) {
        self.write(&client(issuer), registered).await;
    }

    pub(super) async fn forget_registered(&self, issuer: &str) {
        if let Err(error) = self.store.remove(&client(issuer)).await {
            tracing::warn!(issuer, %error, "a registration could not be forgotten");
        }
    }

    async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Failed> {
        let kept = self.store.load(key).await;
        let kept =
            kept.map_err(|error| Failed::new("what is stored cannot be read").caused_by(error))?;
        // What somebody else wrote there is as good as nothing.
        let read = kept.map(|kept| serde_json::from_str(kept.reveal()));
        Ok(read.and_then(|read| {
            read.inspect_err(|_| tracing::warn!(key, "what is stored is not understood"))
                .ok()
        }))
    }

    async fn write<T: Serialize>(&self, key: &str, value: &T) -> bool {
        let saved = match serde_json::to_string(value) {
            Ok(text) => self.store.save(key, &text.into()).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = &saved {
            tracing::warn!(key, %error, "a token or registration could not be stored");
        }
        saved.is_ok()
    }
}

fn client(issuer: &str) -> String {
    format!("client {issuer}")
}
