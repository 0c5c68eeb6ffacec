//! `initialize`: which revision is spoken, and what both sides can do.

use std::sync::Arc;

use antiphon_core::{envelope, legacy, write};
use antiphon_types::{
    ErrorObject, Implementation, InitializeRequestParams, InitializeResult, Version, decode,
};

use super::{
    Channel, Mute, Session,
    answering::Told,
    run::{self, Place},
    watching,
};
use crate::engine::{answer::Answer, endpoint::Inner, inflight::InFlight};

/// How much of what a client says of itself is kept, which is for as long as its session lasts.
const KEPT: usize = 64 * 1024;

/// The handshake on a channel of its own (LEG-S-01).
pub(super) async fn on_channel(channel: &Arc<Channel>, told: Told<'_>) -> Answer {
    let again = || {
        let error = ErrorObject::invalid_request("This connection is initialized already");
        Answer::error(told.message.id(), 200, &error)
    };
    if channel.session().is_some() {
        return again();
    }
    let opened = match open(told, None, &channel.in_flight) {
        Ok(opened) => opened,
        Err(error) => return Answer::error(told.message.id(), 200, &error),
    };
    let (session, json) = opened;
    let session = Arc::new(session);
    let answer = finish(&session, told, json).await;
    // Another may have been quicker.
    if session.listener().is_some() && !channel.open(session) {
        return again();
    }
    answer
}

/// Reads what the client says and settles on a revision: the session, and the answer to it.
pub(super) fn open(
    told: Told<'_>,
    mute: Option<Mute>,
    in_flight: &Arc<InFlight>,
) -> Result<(Session, Vec<u8>), ErrorObject> {
    let params = envelope::raw_params(told.text)
        .ok_or_else(|| ErrorObject::invalid_params("`params` is missing"))?;
    let mut params: InitializeRequestParams = decode(params.get())
        .map_err(|error| ErrorObject::invalid_params(format!("`params`: {error}")))?;
    // LEG-S-03, LEG-S-04: what was proposed, if it is one of these, else the newest of them.
    let proposed = params.protocol_version.parse().ok();
    let version = proposed
        .filter(|version: &Version| !version.is_modern())
        .unwrap_or(Version::LEGACY[0]);
    let session = |client: &Implementation| {
        let declared = &params.capabilities;
        Session::new(version, declared, Some(client), mute, in_flight.clone())
    };
    let mut opened = session(&params.client_info);
    if opened.kept_bytes() > KEPT && params.client_info.icons.take().is_some() {
        // Pictures are long, and nobody needs them here.
        opened = session(&params.client_info);
    }
    if opened.kept_bytes() > KEPT {
        let error = format!("`params`: a client says at most {KEPT} bytes of itself");
        return Err(ErrorObject::invalid_params(error));
    }
    let pushes = mute != Some(Mute::Stateless);
    let result = result(told.served.inner(), version, pushes);
    let mut json = Vec::with_capacity(512);
    let id = told.message.id().unwrap_or("null");
    write::bare_result(&mut json, id, &result).map_err(|error| {
        tracing::error!(%error, "the answer to `initialize` does not serialise");
        ErrorObject::internal("Internal error")
    })?;
    Ok((opened, json))
}

/// Lets the service have its say in what the session hears of, and answers.
pub(super) async fn finish(session: &Arc<Session>, told: Told<'_>, json: Vec<u8>) -> Answer {
    let endpoint = told.served.inner();
    run::observed(session, told, Place::Free, async |call| {
        if session.mute != Some(Mute::Stateless) {
            watching::begin(endpoint, call, session).await?;
        }
        Ok((json, crate::raw::Observed::Complete))
    })
    .await
}

/// What the server says of itself.
fn result(endpoint: &Inner, version: Version, pushes: bool) -> InitializeResult {
    let info = match endpoint.identity.is_some() {
        true => legacy::implementation(&endpoint.info, version),
        // Somebody has to be named, and this one would rather not.
        false => Implementation::new("server", "0"),
    };
    let offer = legacy::offer(&endpoint.capabilities, version, pushes);
    let mut result = InitializeResult::new(version, offer, info);
    result.instructions.clone_from(&endpoint.instructions);
    result
}
