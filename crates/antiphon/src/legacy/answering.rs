//! Messages of clients of older revisions: whose they are, and who takes them.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use antiphon_core::{
    envelope::{Message, Shape},
    negotiate::{self, Era},
    write,
};
use antiphon_types::{EmptyResult, Version};

use super::{Channel, handshake, run};
use crate::engine::{
    admit::version_header, answer::Answer, dispatch::Inbound, endpoint::Endpoint, outbox::Outbox,
};

/// How a transport knows its older clients.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// One at most, on a channel of its own.
    Channel(Arc<Channel>),
    /// By the sessions they name.
    #[cfg(feature = "http")]
    Http(Arc<super::http::Table>),
}

/// A message, with all that is known of it.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) served: &'a Endpoint,
    pub(super) message: &'a Message<'a>,
    pub(super) text: &'a str,
    pub(super) inbound: &'a Inbound,
    pub(super) outbox: &'a Arc<Outbox>,
}

/// Whether a message may be one of an older client's.
pub(crate) fn concerns(message: &Message<'_>, shape: Shape, inbound: &Inbound) -> bool {
    // What names its revision in the body needs no look at the headers, unless it is a handshake.
    let stands_alone = !message.params.meta.version.is_absent() && message.method() != "initialize";
    inbound.legacy.is_some()
        && !stands_alone
        && match shape {
            Shape::Request | Shape::Notification => {
                let headers = inbound.http.as_ref().map(|parts| &parts.headers);
                negotiate::era(message, || version_header(headers)) == Era::Legacy
                    || (shape == Shape::Notification && names_session(message, inbound))
            }
            Shape::Response => true,
            Shape::Batch | Shape::Invalid(_) => false,
        }
}

/// Whether a notification is one of a session's, whatever its header says (wire.md 10.1, steps 17
/// and 18).
fn names_session(message: &Message<'_>, inbound: &Inbound) -> bool {
    let headers = inbound.http.as_ref().map(|parts| &parts.headers);
    message.params.meta.version.is_absent()
        && headers.is_some_and(|headers| headers.contains_key("mcp-session-id"))
}

/// The id of an error that is nobody's: none at all, or `null` for a client that cannot do
/// without (LEG-S-07).
pub(crate) fn nobody(inbound: &Inbound) -> Option<&'static str> {
    match inbound.legacy.as_ref()? {
        Way::Channel(channel) => channel.nobody(),
        #[cfg(feature = "http")]
        Way::Http(table) => unaddressed(super::http::version(table, inbound)?),
    }
}

/// The same, of a client of this revision.
pub(super) fn unaddressed(version: Version) -> Option<&'static str> {
    (version < Version::V2025_11_25).then_some("null")
}

/// The answer to a message of an older client's; `None` if it is not one of those that are known,
/// and is to be answered as if there were none.
pub(crate) enum Answering<'a> {
    /// Of what is only taken.
    Now(Option<Answer>),
    /// Of a request. Not a part of the future that every modern request pays for.
    Later(Pin<Box<dyn Future<Output = Option<Answer>> + Send + 'a>>),
}

impl Future for Answering<'_> {
    type Output = Option<Answer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Now(answer) => Poll::Ready(answer.take()),
            Self::Later(answer) => answer.as_mut().poll(context),
        }
    }
}

/// Answers a message of an older client's.
pub(crate) fn answer<'a>(
    served: &'a Endpoint,
    message: &'a Message<'a>,
    text: &'a str,
    inbound: &'a Inbound,
    outbox: &'a Arc<Outbox>,
) -> Answering<'a> {
    let told = Told {
        served,
        message,
        text,
        inbound,
        outbox,
    };
    match (&inbound.legacy, message.shape()) {
        (None, _) => Answering::Now(None),
        (Some(Way::Channel(channel)), Shape::Request) => {
            Answering::Later(Box::pin(request(channel, told)))
        }
        (Some(Way::Channel(channel)), _) => Answering::Now(take(channel, told)),
        #[cfg(feature = "http")]
        (Some(Way::Http(table)), Shape::Request) => {
            Answering::Later(Box::pin(super::http::request(table, told)))
        }
        #[cfg(feature = "http")]
        (Some(Way::Http(table)), _) => Answering::Now(super::http::take(table, told)),
    }
}

/// A request on a channel (wire.md 10.2).
async fn request(channel: &Arc<Channel>, told: Told<'_>) -> Option<Answer> {
    let method = told.message.method();
    if method == "initialize" {
        return Some(handshake::on_channel(channel, told).await);
    }
    match channel.session() {
        Some(session) => Some(run::request(session, told).await),
        // Also before the handshake (LEG-C-04, LEG-B-07).
        None if method == "ping" => Some(pong(told.message)),
        None => None,
    }
}

/// What is not a request, on a channel.
fn take(channel: &Arc<Channel>, told: Told<'_>) -> Option<Answer> {
    let session = channel.session()?;
    match told.message.shape() {
        Shape::Notification => {
            match told.message.method() {
                "notifications/initialized" => channel.begin_telling(),
                // Whatever runs on the channel can be cancelled, in either era.
                "notifications/cancelled" => return None,
                method => {
                    let method = &*negotiate::shown(method);
                    tracing::debug!(method, "a notification that means nothing here; ignored");
                }
            }
            Some(Answer::Nothing)
        }
        Shape::Response => {
            take_response(session, told.text);
            Some(Answer::Nothing)
        }
        Shape::Request | Shape::Batch | Shape::Invalid(_) => None,
    }
}

/// Takes the answer to a question to whoever asked it.
pub(super) fn take_response(session: &super::Session, text: &str) {
    if !session.asked.answer(text) {
        tracing::debug!("an answer came that nobody waits for; ignored");
    }
}

fn pong(message: &Message<'_>) -> Answer {
    let mut json = Vec::new();
    let id = message.id().unwrap_or("null");
    write::bare_result(&mut json, id, &EmptyResult::new()).expect("an empty object");
    Answer::Message { status: 200, json }
}
