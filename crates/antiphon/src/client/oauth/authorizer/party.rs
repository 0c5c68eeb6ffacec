//! [`Party`]: who gives tokens for a server.

use super::{Authorizer, Inner};
use crate::{
    client::{
        Challenge, ErrorKind, ResourceMetadata,
        oauth::{discovery::Issuer, failed::Failed, record::Record},
    },
    web::Endpoint,
};

/// Who gives tokens for the server, and how it is called there.
pub(super) struct Party {
    pub(super) issuer: Issuer,
    pub(super) resource: String,
    /// What the server publishes, if it does.
    pub(super) metadata: Option<ResourceMetadata>,
}

impl Authorizer {
    /// Who gives tokens for this server (AUTH-C-01).
    pub(super) async fn find(
        &self,
        known: &mut Inner,
        challenges: &[String],
    ) -> Result<Party, Failed> {
        let metadata = match self.http.resource_metadata(challenges).await {
            Ok(metadata) => Some(metadata),
            // LAUTH-C-05
            Err(error)
                if self.oauth.older
                    && matches!(error.kind(), ErrorKind::Status(status) if is_nothing(*status))
                    && !names_metadata(challenges) =>
            {
                None
            }
            Err(error) => return Err(Failed::new(error.to_string())),
        };
        let Some(metadata) = metadata else {
            let origin = &self.server.origin;
            let issuer = Issuer::of_origin(&self.agent, origin, self.trust).await?;
            known.issuers.insert(issuer.issuer.clone(), issuer.clone());
            return Ok(Party {
                issuer,
                resource: canonical(&self.server),
                metadata: None,
            });
        };
        let name = self.choose(known, &metadata.authorization_servers)?;
        let issuer = Issuer::discover(&self.agent, &name, self.trust).await?;
        known.issuers.insert(name, issuer.clone());
        Ok(Party {
            issuer,
            resource: metadata.resource.clone(),
            metadata: Some(metadata),
        })
    }

    /// Which of the authorization servers to turn to: one where this client is known.
    fn choose(&self, known: &Inner, names: &[String]) -> Result<String, Failed> {
        let registered = |name: &str| {
            let mut registrations = self.oauth.registrations.iter();
            registrations.any(|(issuer, _)| issuer == name)
        };
        let signed_in = |name: &str| {
            let record = known.record.as_ref();
            record.is_some_and(|record| record.issuer == name)
        };
        let mut found = names.iter().find(|name| registered(name));
        if found.is_none() {
            found = names.iter().find(|name| signed_in(name));
        }
        let none = || Failed::new("the server names no authorization server (AUTH-S-02)");
        found.or(names.first()).cloned().ok_or_else(none)
    }

    /// What another authorization server gave is worth nothing here (AUTH-C-11, AUTH-C-26).
    pub(super) async fn part_from_others(&self, known: &mut Inner, party: &Party) {
        let is_other = |record: &mut Record| record.issuer != party.issuer.issuer;
        if known.record.take_if(is_other).is_some() {
            *self.current_slot() = None;
            known.stored = None;
            if let Err(failed) = self.keeping.forget().await {
                tracing::warn!(%failed, "tokens of another authorization server were not forgotten");
            }
        }
    }
}

/// Whether a status says that there is nothing, and not that there is something wrong.
fn is_nothing(status: u16) -> bool {
    (400..500).contains(&status) && ![408, 429].contains(&status)
}

fn names_metadata(challenges: &[String]) -> bool {
    let bearer = Challenge::of(401, challenges).bearer();
    bearer.is_some_and(|bearer| bearer.resource_metadata.is_some())
}

/// The name of a server that publishes none (AUTH-C-42, AUTH-C-44).
fn canonical(server: &Endpoint) -> String {
    match server.uri.path() {
        "/" => server.origin.clone(),
        _ => server.place(),
    }
}
