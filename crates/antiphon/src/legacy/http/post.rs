//! POST: one message of an older client's (wire.md 10.1, steps 5 and 12 to 19).

use std::sync::Arc;

use antiphon_core::{envelope::Shape, mirror::Header};
use antiphon_types::{ClientCapabilities, ErrorObject, Version};
use tokio::time::Instant;

use super::{
    hosted::Hosted,
    table::{Missing, NotOpened, SESSION_ID, Table},
};
use crate::{
    engine::{
        admit::version_header,
        answer::Answer,
        dispatch::{self, Inbound},
    },
    legacy::{
        Mute, Session,
        answering::{Told, take_response},
        handshake, nobody, run,
    },
};

/// Answers a request.
pub(crate) async fn request(table: &Arc<Table>, told: Told<'_>) -> Option<Answer> {
    Some(match told.message.method() {
        "initialize" => initialize(table, told).await,
        _ => in_session(table, told).await,
    })
}

/// Takes what is not a request; `None` if it is not to be read by these rules.
pub(crate) fn take(table: &Arc<Table>, told: Told<'_>) -> Option<Answer> {
    match told.message.shape() {
        Shape::Notification => Some(notification(table, told)),
        // Of this era, and nothing that its clients send.
        Shape::Response if names_modern(told.inbound) => None,
        Shape::Response => Some(response(table, told)),
        Shape::Request | Shape::Batch | Shape::Invalid(_) => None,
    }
}

/// Why a client cannot be asked anything, if that is so for all of them.
fn mute(table: &Table) -> Option<Mute> {
    match (table.stateless, table.plain) {
        (true, _) => Some(Mute::Stateless),
        (false, true) => Some(Mute::JsonOnly),
        (false, false) => None,
    }
}

/// Step 12. A session that the request names is none of its business.
async fn initialize(table: &Arc<Table>, told: Told<'_>) -> Answer {
    // The session is named in the head of a single message.
    told.outbox.hush();
    let id = told.message.id();
    let (session, json) = match handshake::open(told, mute(table), &Arc::default()) {
        Ok(opened) => opened,
        Err(error) => return Answer::error(id, 200, &error),
    };
    let session = Arc::new(session);
    let json = match handshake::finish(&session, told, json).await {
        Answer::Message { status: 200, json } if session.listener().is_some() => json,
        // A refusal, or there is nothing to keep.
        answer => return answer,
    };
    match table.insert(session, told.inbound.principal.clone(), Instant::now()) {
        Ok(session) => Answer::Opened { json, session },
        Err(NotOpened::Full) => {
            let error = "The server is at its limit of sessions; try again later, or connect with \
                         a client of revision 2026-07-28, which needs none";
            Answer::error(id, 503, &ErrorObject::internal(error))
        }
        Err(NotOpened::NoRandomness(error)) => {
            tracing::error!(%error, "no session without randomness");
            Answer::error(id, 200, &ErrorObject::internal("Internal error"))
        }
    }
}

/// Steps 13 to 15.
async fn in_session(table: &Arc<Table>, told: Told<'_>) -> Answer {
    if table.stateless {
        if table.plain {
            told.outbox.hush();
        }
        let none = ClientCapabilities::new();
        let version = stated(told.inbound).unwrap_or(ASSUMED);
        let mute = Some(Mute::Stateless);
        let session = Session::new(version, &none, None, mute, Arc::default());
        return run::request(&Arc::new(session), told).await;
    }
    let hosted = match hosted(table, told.inbound) {
        Ok(hosted) => hosted,
        Err(missing) => return refused(told.message.id(), missing),
    };
    compare_versions(&hosted, told.inbound);
    if hosted.is_plain() {
        told.outbox.hush();
    }
    told.outbox
        .settle(&hosted, told.message.id().unwrap_or("null"));
    let _busy = hosted.busy();
    run::request(&hosted.session, told).await
}

/// Steps 17 to 19.
fn notification(table: &Arc<Table>, told: Told<'_>) -> Answer {
    if table.stateless {
        return Answer::Accepted;
    }
    let hosted = match hosted(table, told.inbound) {
        Ok(hosted) => hosted,
        Err(missing) => return refused(nobody(told.inbound), missing),
    };
    match told.message.method() {
        "notifications/initialized" => hosted.begin_telling(),
        "notifications/cancelled" => dispatch::cancel(&hosted.session.in_flight, told.message),
        method => {
            let method = &*antiphon_core::negotiate::shown(method);
            tracing::debug!(method, "a notification that means nothing here; ignored");
        }
    }
    Answer::Accepted
}

/// Step 5.2.
fn response(table: &Arc<Table>, told: Told<'_>) -> Answer {
    if table.stateless {
        let error = "Invalid request: this server keeps no sessions for clients of older \
                     revisions, so it asked nothing that could be answered";
        let error = ErrorObject::invalid_request(error);
        return Answer::error(nobody(told.inbound), 400, &error);
    }
    match hosted(table, told.inbound) {
        Ok(hosted) => {
            take_response(&hosted.session, told.text);
            Answer::Accepted
        }
        Err(missing) => refused(nobody(told.inbound), missing),
    }
}

fn hosted(table: &Table, inbound: &Inbound) -> Result<Arc<Hosted>, Missing> {
    let parts = inbound.http.as_ref().ok_or(Missing::Unnamed)?;
    table.find(&parts.headers, inbound.principal.as_deref())
}

/// Says what is missing, and what to do about it (LHTTP-S-23, LHTTP-S-24).
pub(super) fn refused(id: Option<&str>, missing: Missing) -> Answer {
    let (status, text) = missing_text(missing);
    Answer::error(id, status, &ErrorObject::invalid_request(text))
}

pub(super) fn missing_text(missing: Missing) -> (u16, &'static str) {
    match missing {
        Missing::Unnamed => (
            400,
            "Mcp-Session-Id is missing: a client of revision 2025-11-25 or older opens a session \
             with `initialize` and sends the id it is given; one of 2026-07-28 needs no session, \
             but MCP-Protocol-Version and `io.modelcontextprotocol/protocolVersion` in \
             `params._meta`",
        ),
        Missing::Unknown => (
            404,
            "There is no such session, or not any more: open a new one with `initialize`, without \
             Mcp-Session-Id",
        ),
    }
}

/// Where nothing says which revision is spoken (LHTTP-S-26).
pub(super) const ASSUMED: Version = Version::V2025_03_26;

/// The older revision that a request's header names.
fn stated(inbound: &Inbound) -> Option<Version> {
    let headers = inbound.http.as_ref().map(|parts| &parts.headers);
    match version_header(headers) {
        Header::Value(text) => text
            .parse()
            .ok()
            .filter(|version: &Version| !version.is_modern()),
        _ => None,
    }
}

/// Whether nothing but a header names a revision, and that is a modern one.
fn names_modern(inbound: &Inbound) -> bool {
    let headers = inbound.http.as_ref().map(|parts| &parts.headers);
    let modern = |text: &str| text.parse().is_ok_and(Version::is_modern);
    matches!(version_header(headers), Header::Value(text) if modern(text))
        && headers.is_none_or(|headers| !headers.contains_key(SESSION_ID))
}

/// The revision of whoever sent this, as far as that can be known.
pub(crate) fn version(table: &Table, inbound: &Inbound) -> Option<Version> {
    let headers = inbound.http.as_ref().map(|parts| &parts.headers);
    if let Header::Value(text) = version_header(headers)
        && let Ok(version) = text.parse::<Version>()
    {
        // ERA-S-06: whoever says so has nothing to do with sessions.
        return Some(version).filter(|version| !version.is_modern());
    }
    Some(hosted(table, inbound).ok()?.session.version)
}

/// Step 14: the session's revision counts.
fn compare_versions(hosted: &Hosted, inbound: &Inbound) {
    let session = hosted.session.version;
    if let Some(header) = stated(inbound).filter(|header| *header != session) {
        tracing::debug!(%header, %session, "MCP-Protocol-Version is not the session's; ignored");
    }
}
