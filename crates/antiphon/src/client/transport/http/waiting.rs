//! [`Waiting`]: which requests of a session wait for their answers.
//!
//! An answer comes on the stream of its own request, as a rule. But a server may send it on another
//! (LHTTP-S-14), so every stream looks here whose it is.

use std::{
    collections::{HashMap, hash_map::Entry},
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use antiphon_core::reply::Reply;
use bytes::Bytes;
use serde::de::IgnoredAny;
use tokio::sync::oneshot;

use crate::{
    client::{Error, Event, Events},
    excerpt::excerpt,
};

/// The requests that wait, by id.
#[derive(Default)]
pub(super) struct Waiting(Mutex<HashMap<i64, oneshot::Sender<Bytes>>>);

impl Waiting {
    /// A place for the answer to this request, kept until it is dropped.
    ///
    /// # Errors
    /// When the id is in use.
    pub(super) fn enter(self: &Arc<Self>, id: i64) -> Result<Place, Error> {
        let (sender, answer) = oneshot::channel();
        match self.lock().entry(id) {
            Entry::Vacant(free) => free.insert(sender),
            Entry::Occupied(_) => {
                let error = format!("the id {id} waits for its answer already");
                return Err(Error::invalid(error));
            }
        };
        Ok(Place {
            id,
            waiting: self.clone(),
            answer: Some(answer),
        })
    }

    /// Takes an answer to the request that waits for it, and anything else to whoever listens to
    /// what belongs to no request.
    pub(super) fn hear(&self, message: Bytes, events: &Events) {
        let event = match Answer::of(&message) {
            Answer::To(Some(id), _) => {
                let waiting = self.lock().remove(&id);
                let unwanted = match waiting {
                    Some(sender) => sender.send(message),
                    None => Err(message),
                };
                match unwanted {
                    Ok(()) => return,
                    Err(message) => Event::Message(message),
                }
            }
            Answer::To(None, _) | Answer::None => Event::Message(message),
            Answer::Noise => Event::Noise(excerpt(&message, 200)),
        };
        events.report(event);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<Bytes>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the answer to one request may arrive that comes on another's stream.
pub(super) struct Place {
    pub(super) id: i64,
    waiting: Arc<Waiting>,
    /// None once nobody waits here any more.
    answer: Option<oneshot::Receiver<Bytes>>,
}

impl Place {
    /// Waits for an answer that comes on another stream; for ever once there was one.
    pub(super) async fn answer(&mut self) -> Bytes {
        if let Some(answer) = &mut self.answer {
            let answer = answer.await;
            self.answer = None;
            if let Ok(message) = answer {
                return message;
            }
        }
        pending().await
    }

    /// Nobody waits here any more.
    pub(super) fn leave(&mut self) {
        self.answer = None;
        let mut waiting = self.waiting.lock();
        // An answer takes its entry away, and the id may be another's since.
        if waiting
            .get(&self.id)
            .is_some_and(oneshot::Sender::is_closed)
        {
            waiting.remove(&self.id);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Whether a message is an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// To the request of this id, if it names one of ours; whether it is a result.
    To(Option<i64>, bool),
    /// It is not.
    None,
    /// It is no message at all.
    Noise,
}

impl Answer {
    pub(super) fn of(message: &[u8]) -> Self {
        match Reply::parse(message) {
            // An id that is no integer is none of ours.
            Ok(Reply::Result { id, .. }) => match id.as_i64() {
                Some(id) => Self::To(Some(id), true),
                None => Self::None,
            },
            Ok(Reply::Error { id: Some(id), .. }) => match id.as_i64() {
                Some(id) => Self::To(Some(id), false),
                None => Self::None,
            },
            Ok(Reply::Error { id: None, .. }) => Self::To(None, false),
            Ok(Reply::Notification { .. } | Reply::Request { .. }) => Self::None,
            Err(_) => match serde_json::from_slice::<IgnoredAny>(message) {
                Ok(_) => Self::None,
                Err(_) => Self::Noise,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(id: i64) -> Bytes {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#).into()
    }

    #[tokio::test]
    async fn answers_find_their_requests_and_nothing_else_does() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let log = told.clone();
        let events = Events::new(move |event| {
            log.lock().expect("unpoisoned").push(format!("{event:?}"));
        });
        let waiting = Arc::new(Waiting::default());
        let mut one = waiting.enter(1).expect("free");
        let two = waiting.enter(2).expect("free");
        assert!(waiting.enter(1).is_err());
        for message in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
            "[1]",
            "what?",
        ] {
            waiting.hear(message.into(), &events);
        }
        assert_eq!(told.lock().expect("unpoisoned").len(), 6);
        waiting.hear(answer(1), &events);
        assert_eq!(one.answer().await, answer(1));
        let more = tokio::time::timeout(std::time::Duration::from_millis(10), one.answer());
        assert!(more.await.is_err());
        // Once answered, or dropped, an id is nobody's, and free.
        drop(two);
        for id in [1, 2] {
            waiting.hear(answer(id), &events);
        }
        assert_eq!(told.lock().expect("unpoisoned").len(), 8);
        let mut again = waiting.enter(1).expect("free");
        drop(one);
        waiting.hear(answer(1), &events);
        assert_eq!(again.answer().await, answer(1));
    }
}
