//! The stream on which a server speaks of its own accord (LHTTP-C-05).

use std::{collections::VecDeque, sync::Arc};

use antiphon_types::Version;
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};

use super::{
    events::{Reader, message},
    resume::{LONGEST, Tries, Unopened, jitter, open},
    session::Session,
    stamp::Stamp,
    wire::report,
};
use crate::client::{Error, ErrorKind, Event, transport::batch::split};

/// Listens until the server does not want that, or for ever; and tells when it is known whether
/// the server does.
pub(super) async fn listen(
    session: Arc<Session>,
    version: Version,
    stamp: Stamp,
    tell: oneshot::Sender<()>,
) {
    let mut tell = Some(tell);
    let wire = session.wire.clone();
    let mut reader = Reader::resumable(wire.limit);
    let mut tries = Tries::default();
    let (mut again, mut was_open) = (false, false);
    loop {
        let opened = open(&wire, &stamp, reader.last_id()).await;
        if let Some(tell) = tell.take() {
            _ = tell.send(());
        }
        let pause = match opened {
            Ok((body, _)) => {
                if again {
                    tries.opened();
                }
                was_open = true;
                reader.open(body);
                let opened = Instant::now();
                let heard = hear(&session, version, &mut reader, &mut tries).await;
                let asked_back = reader.last_id().is_some() || reader.retry().is_some();
                match heard || asked_back || opened.elapsed() >= LONGEST {
                    true => tries.long_pause(reader.retry(), jitter()),
                    // It has nothing to say, it seems.
                    false => LONGEST,
                }
            }
            // What was missed is not kept any more; there may be more to come. Without an
            // id there is one try.
            Err(Unopened::Refused(error))
                if matches!(error.kind(), ErrorKind::Status(400 | 404))
                    && reader.last_id().is_some() =>
            {
                tracing::debug!(%error, "the server's own stream cannot be resumed");
                reader.forget(wire.limit);
                continue;
            }
            // It was there, and whoever relies on it must know that it is gone.
            Err(Unopened::Refused(error)) if was_open => {
                if let ErrorKind::Status(404) = error.kind() {
                    session.lost(&stamp);
                }
                let lost = Error::session_lost().caused_by(error);
                return wire.events.report(Event::Transport(lost));
            }
            Err(Unopened::Refused(error)) => {
                // What a server says that has no such stream, each in its own way (LHTTP-S-12).
                if let ErrorKind::Status(400 | 404 | 405) = error.kind() {
                    tracing::debug!(%error, "the server has no stream of its own");
                } else {
                    report(&wire.events, &error);
                }
                return;
            }
            Err(Unopened::Failed(error)) => {
                tracing::debug!(%error, "the server's own stream cannot be opened");
                let pause = tries.long_pause(reader.retry(), jitter());
                tries.failed();
                pause
            }
        };
        again = true;
        sleep(pause).await;
    }
}

/// Reads one connection to its end; whether there was any message.
async fn hear(session: &Session, version: Version, reader: &mut Reader, tries: &mut Tries) -> bool {
    let wire = &session.wire;
    let mut messages = VecDeque::new();
    let mut heard = false;
    while let Some(event) = reader.next().await {
        match event {
            Ok(event) => {
                if let Some(message) = message(event) {
                    split(version, message, &mut messages);
                }
            }
            Err(error) => {
                // To come back to what cannot be read would bring it once more.
                if let ErrorKind::Decode = error.kind() {
                    reader.forget(wire.limit);
                }
                report(&wire.events, &error);
            }
        }
        for message in messages.drain(..) {
            heard = true;
            tries.rewarded();
            session.waiting.hear(message, &wire.events);
        }
    }
    heard
}
