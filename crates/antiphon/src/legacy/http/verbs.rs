//! GET and DELETE, which only older clients use (wire.md 10.1, steps 20 to 24).

use std::sync::Arc;

use antiphon_core::{mirror::Header, negotiate::shown};
use antiphon_types::{ErrorObject, Version};
use http::HeaderMap;

use super::{
    hosted::Hosted,
    post::missing_text,
    pump::Around,
    reader::Reader,
    stream::Kind,
    streams::Lost,
    table::{Missing, Table},
};
use crate::{auth::Principal, engine::admit::version_header, legacy::answering::unaddressed};

/// Why there is nothing for such a request.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) error: ErrorObject,
    /// The revision of whoever asked, as far as that is known.
    version: Option<Version>,
}

impl Refused {
    fn new(status: u16, text: impl Into<String>) -> Self {
        Self {
            status,
            error: ErrorObject::invalid_request(text),
            version: None,
        }
    }

    fn to(mut self, hosted: &Hosted) -> Self {
        self.version = Some(hosted.session.version);
        self
    }
}

impl From<Missing> for Refused {
    fn from(missing: Missing) -> Self {
        let (status, text) = missing_text(missing);
        Self::new(status, text)
    }
}

impl Refused {
    /// The id of the error (LEG-S-07).
    pub(crate) fn id(&self) -> Option<&'static str> {
        self.version.and_then(unaddressed)
    }
}

/// A stream for a session: the standalone one, or one that goes on after an event.
pub(crate) fn get(
    table: &Table,
    headers: &HeaderMap,
    principal: Option<&Principal>,
    around: Around<'_>,
) -> Result<Reader, Refused> {
    served(headers)?;
    let hosted = table.find(headers, principal)?;
    hosted.forget_end();
    let mut events = headers.get_all("last-event-id").iter();
    let (seat, kind) = match (events.next(), events.next()) {
        // One that was never sent an event says so by an empty id.
        (Some(event), None) if !event.is_empty() => {
            let event = event.to_str().ok().and_then(event_id);
            let attached = event
                .ok_or(Lost::Event)
                .and_then(|(stream, last)| hosted.attach(stream, last));
            attached.map_err(|why| lost(why).to(&hosted))?
        }
        (_, Some(_)) => {
            return Err(Refused::new(400, "Last-Event-ID stands more than once").to(&hosted));
        }
        _ => (hosted.open(Kind::Standalone, None), Kind::Standalone),
    };
    Ok(Reader::new(hosted, seat, kind, around))
}

/// Ends a session.
pub(crate) fn delete(
    table: &Arc<Table>,
    headers: &HeaderMap,
    principal: Option<&Principal>,
) -> Result<(), Refused> {
    served(headers)?;
    Ok(table.end(headers, principal)?)
}

/// LHTTP-S-27
fn served(headers: &HeaderMap) -> Result<(), Refused> {
    match version_header(Some(headers)) {
        Header::Absent | Header::None => Ok(()),
        Header::Value(text) => match text.parse::<Version>() {
            Ok(version) if !version.is_modern() => Ok(()),
            Ok(_) => Err(Refused::new(
                405,
                "Protocol revision 2026-07-28 has no GET or DELETE: POST is all it needs",
            )),
            Err(_) => Err(Refused::new(
                400,
                format!("MCP-Protocol-Version `{}` is not served here", shown(text)),
            )),
        },
        Header::Malformed => Err(Refused::new(
            400,
            "MCP-Protocol-Version is malformed or stands more than once",
        )),
    }
}

/// Stream and number of an event.
fn event_id(text: &str) -> Option<(u64, u64)> {
    // As they are written, and in no other way.
    let number = |text: &str| {
        let number: u64 = text.parse().ok()?;
        (number.to_string() == text).then_some(number)
    };
    let (stream, event) = text.split_once('-')?;
    Some((number(stream)?, number(event)?))
}

fn lost(why: Lost) -> Refused {
    let text = match why {
        Lost::Stream => {
            "Last-Event-ID names a stream that is not kept, or not any more: GET without it for \
             what comes from now on, and send again what was not answered"
        }
        Lost::Event => {
            "Last-Event-ID names no event that was sent in this session: GET without it for what \
             comes from now on"
        }
    };
    Refused::new(400, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_named_in_one_way() {
        assert_eq!(event_id("3-17"), Some((3, 17)));
        for forged in [
            "",
            "3",
            "-",
            "3-",
            "-17",
            "03-17",
            "+3-17",
            "3-17-1",
            "3-1e1",
            "x-1",
            "3 -17",
            "18446744073709551616-0",
            "s3_17",
        ] {
            assert_eq!(event_id(forged), None, "{forged}");
        }
    }
}
