//! [`Asked`]: requests of the server's that a client has not answered yet.

use std::sync::{Mutex, MutexGuard, PoisonError};

use antiphon_core::canonical::canonical;
use antiphon_types::{ErrorObject, RequestId, decode};
use serde::Deserialize;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use tokio::sync::oneshot;

/// The outstanding requests of one session. An answer counts only here, once, and only if its id
/// is one of these: that of another session finds nothing.
#[derive(Debug, Default)]
pub(crate) struct Asked(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// Ids are never used twice (LEG-B-02).
    last: u64,
    /// In the order of their ids.
    waiting: Vec<(u64, oneshot::Sender<Said>)>,
    over: bool,
}

impl Table {
    fn find(&self, id: u64) -> Option<usize> {
        self.waiting.binary_search_by_key(&id, |(id, _)| *id).ok()
    }

    fn take(&mut self, id: u64) -> Option<oneshot::Sender<Said>> {
        let at = self.find(id)?;
        Some(self.waiting.remove(at).1)
    }
}

/// What a client said to a request.
#[derive(Debug)]
pub(super) enum Said {
    /// Which can be read in one way only.
    Result(Box<RawValue>),
    Error(ErrorObject),
}

impl Asked {
    /// A fresh id, and where its answer comes.
    pub(super) fn enter(&self) -> (u64, oneshot::Receiver<Said>) {
        let (sender, receiver) = oneshot::channel();
        let mut table = self.lock();
        table.last += 1;
        let id = table.last;
        // In a session that is over nobody answers, and the receiver learns it at once.
        if !table.over {
            table.waiting.push((id, sender));
        }
        (id, receiver)
    }

    /// Nobody waits for this answer any more; whether somebody could still give it.
    pub(super) fn forget(&self, id: u64) -> bool {
        self.lock().take(id).is_some()
    }

    /// Whether somebody waits for this answer.
    #[cfg(feature = "http")]
    pub(super) fn waits_for(&self, id: u64) -> bool {
        self.lock().find(id).is_some()
    }

    /// Takes a response to whoever waits for it; whether somebody does.
    pub(crate) fn answer(&self, text: &str) -> bool {
        #[derive(Deserialize)]
        struct Response<'a> {
            #[serde(borrow)]
            id: &'a RawValue,
            #[serde(borrow)]
            result: Option<&'a RawValue>,
            #[serde(borrow)]
            error: Option<&'a RawValue>,
        }
        let Ok(response) = serde_json::from_str::<Response<'_>>(text) else {
            return false;
        };
        let id = RequestId::from_raw(response.id.get()).and_then(|id| id.as_i64());
        let Some(id) = id.and_then(|id| u64::try_from(id).ok()) else {
            return false;
        };
        let said = match (response.result, response.error) {
            (Some(result), None) => match unambiguous(result) {
                Ok(result) => Said::Result(result),
                Err(error) => Said::Error(unreadable(&error)),
            },
            (None, Some(error)) => Said::Error(match decode(error.get()) {
                Ok(error) => error,
                Err(error) => unreadable(&error),
            }),
            _ => Said::Error(ErrorObject::invalid_request(
                "neither a result nor an error",
            )),
        };
        let Some(waiting) = self.lock().take(id) else {
            return false;
        };
        waiting.send(said).is_ok()
    }

    /// The session is over: nobody gets an answer any more.
    pub(crate) fn end(&self) {
        let mut table = self.lock();
        table.over = true;
        table.waiting.clear();
    }

    /// Whether the session is over.
    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// How many requests wait.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A result as it came; one that others could read in another way, as it is read here.
fn unambiguous(result: &RawValue) -> serde_json::Result<Box<RawValue>> {
    match canonical(result.get(), &mut Vec::new()) {
        Ok(()) => Ok(result.to_owned()),
        Err(_) => to_raw_value(&serde_json::from_str::<Value>(result.get())?),
    }
}

fn unreadable(error: &impl std::fmt::Display) -> ErrorObject {
    ErrorObject::invalid_request(format!("an answer that cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_once_and_where_it_was_asked() {
        let (here, there) = (Asked::default(), Asked::default());
        let (id, mut answer) = here.enter();
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#);
        assert!(!there.answer(&text));
        assert!(answer.try_recv().is_err());
        for other in [
            r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":-1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
        ] {
            assert!(!here.answer(other), "{other}");
        }
        assert!(here.answer(&text));
        assert!(matches!(answer.try_recv(), Ok(Said::Result(_))));
        assert!(!here.answer(&text));
        assert_eq!(here.len(), 0);
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        let asked = Asked::default();
        for text in [
            r#"{"jsonrpc":"2.0","id":ID}"#,
            r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":ID,"error":"no"}"#,
            r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-1,"message":"no"}}"#,
        ] {
            let (id, mut answer) = asked.enter();
            assert!(asked.answer(&text.replace("ID", &id.to_string())));
            assert!(matches!(answer.try_recv(), Ok(Said::Error(_))), "{text}");
        }
    }

    /// Whoever reads it later reads what was read here.
    #[test]
    fn a_result_can_be_read_in_one_way_only() {
        let asked = Asked::default();
        for (sent, kept) in [
            (
                r#"{"a": 1.50, "b": "\u0041"}"#,
                Some(r#"{"a": 1.50, "b": "\u0041"}"#),
            ),
            (r#"{"a": 1, "a": 2}"#, Some(r#"{"a":2}"#)),
            (r#"{"a": "\ud800"}"#, None),
        ] {
            let (id, mut answer) = asked.enter();
            assert!(asked.answer(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{sent}}}"#)));
            match (answer.try_recv().expect("an answer"), kept) {
                (Said::Result(result), Some(kept)) => assert_eq!(result.get(), kept),
                (Said::Error(_), None) => {}
                (said, _) => panic!("{sent}: {said:?}"),
            }
        }
    }

    #[test]
    fn answers_come_in_any_order() {
        let asked = Asked::default();
        let mut waiting: Vec<_> = (0..5).map(|_| asked.enter()).collect();
        for at in [2, 0, 4, 3, 1] {
            let (id, answer) = &mut waiting[at];
            assert!(asked.waits_for(*id));
            assert!(asked.answer(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{id}}}"#)));
            let Ok(Said::Result(said)) = answer.try_recv() else {
                panic!("no answer to {id}");
            };
            assert_eq!(said.get(), id.to_string());
            assert!(!asked.waits_for(*id));
        }
    }

    #[test]
    fn in_a_session_that_is_over_nobody_waits() {
        let asked = Asked::default();
        let (_, mut before) = asked.enter();
        asked.end();
        let (id, mut after) = asked.enter();
        for answer in [&mut before, &mut after] {
            assert_eq!(
                answer.try_recv().expect_err("over"),
                oneshot::error::TryRecvError::Closed
            );
        }
        assert!(!asked.forget(id));
    }
}
