//! Tokens that are renewed without a person.

use super::{Authorizer, Inner, Origin};
use crate::client::{
    oauth::{
        Registration, discovery::Issuer, failed::Failed, record::Record, registration::Registered,
        tokens::Asking,
    },
    transport::Token,
};

impl Authorizer {
    /// Renews a token. None if it cannot be: it is gone then.
    pub(super) async fn renewed(
        &self,
        known: &mut Inner,
        record: &Record,
    ) -> Result<Option<Token>, Failed> {
        let renewed = self.renew(known, record).await;
        match renewed {
            // Whoever gave it does not know it any more.
            Err(failed) if failed.is_final() => {
                self.tell_not_renewed(&failed);
                if failed.code.as_deref() == Some("invalid_client") {
                    self.keeping.forget_registered(&record.issuer).await;
                }
            }
            Err(failed) => {
                // Its endpoints may have moved.
                known.issuers.remove(&record.issuer);
                return Err(failed);
            }
            Ok(Some(token)) => return Ok(Some(token)),
            Ok(None) => {}
        }
        *self.current_slot() = None;
        if let Some(record) = &mut known.record {
            record.refresh_token = None;
        }
        Ok(None)
    }

    pub(super) fn tell_not_renewed(&self, failed: &Failed) {
        let server = &self.keeping.server;
        tracing::info!(server, %failed, "an access token was not renewed");
    }

    async fn renew(&self, known: &mut Inner, record: &Record) -> Result<Option<Token>, Failed> {
        let Some(refresh) = &record.refresh_token else {
            return Ok(None);
        };
        let issuer = match known.issuers.get(&record.issuer) {
            Some(issuer) => issuer.clone(),
            None if record.is_own => {
                Issuer::of_origin(&self.agent, &self.server.origin, self.trust).await?
            }
            None => Issuer::discover(&self.agent, &record.issuer, self.trust).await?,
        };
        known.issuers.insert(record.issuer.clone(), issuer.clone());
        let Some(client) = self.client_of(record, &issuer)? else {
            return Ok(None);
        };
        let prover = self.current().and_then(|access| access.prover.clone());
        let asking = Asking {
            agent: &self.agent,
            issuer: &issuer,
            client: &client,
            prover: prover.as_deref(),
            trust: self.trust,
        };
        let params = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.reveal()),
            ("resource", &record.resource),
        ];
        let tokens = asking.ask(&params).await?;
        let record = Record {
            // It may come with a new one, or stay good.
            refresh_token: tokens
                .refresh_token
                .clone()
                .or(record.refresh_token.clone()),
            expires_at: tokens.expires_at(),
            granted: tokens.granted().or(record.granted.clone()),
            access_token: tokens.access_token,
            ..record.clone()
        };
        let token = self.keep(known, record, Origin::Refreshed).await?;
        Ok(Some(token))
    }

    /// The registration under which tokens were given.
    fn client_of(&self, record: &Record, issuer: &Issuer) -> Result<Option<Registration>, Failed> {
        let id = &record.client_id;
        if let Some(client) = self.configured(issuer)? {
            return Ok(Some(client).filter(|client| client.id == *id));
        }
        if self.oauth.metadata_url.as_ref() == Some(id) {
            return Ok(Some(Registration::public(id)));
        }
        Ok(record.registered.as_ref().map(Registered::registration))
    }
}
