//! The error that says that links must be opened first (-32042, 2025-11-25 only): they are shown,
//! and when all of them have done their work, the call is made again (LFEAT-C-06, LFEAT-C-07).

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use antiphon_types::{
    ElicitRequestParams, InputRequest, InputRequired, UrlElicitationRequiredData, Version, code,
};
use serde::Deserialize;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::replies::not_pausable;
use crate::client::{
    Clock, Error, ErrorKind,
    asking::{Failure, ask},
    drive::{Drive, QUESTIONS},
    shared::after,
};

/// The links that somebody waits for, by their elicitation ids.
#[derive(Default)]
pub(super) struct Links(Mutex<HashMap<String, watch::Sender<bool>>>);

impl Links {
    /// Waits for a link to have done its work, from here on.
    fn expect(&self, id: &str) -> watch::Receiver<bool> {
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|_, link| link.receiver_count() > 0);
        links.entry(id.to_owned()).or_default().subscribe()
    }

    /// A link has done its work; `false` if nobody waits for it (LFEAT-C-06).
    pub(super) fn complete(&self, id: &str) -> bool {
        let links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match links.get(id) {
            Some(link) => link.send(true).is_ok(),
            None => false,
        }
    }
}

/// A link, and how to know that it has done its work.
struct Opening {
    id: String,
    question: InputRequest,
    done: watch::Receiver<bool>,
}

impl Drive<'_> {
    /// Has the links of an error opened, after which the call is to be made again.
    ///
    /// # Errors
    /// The error as it is if it is another one, if nobody opens links, or if one was not agreed
    /// to; why not, if it could not be shown or was not done in time.
    pub(in crate::client) async fn open_links(&mut self, error: Error) -> Result<(), Error> {
        let Some(links) = self.links(&error) else {
            return Err(error);
        };
        for link in &links {
            self.supported(&link.id, &link.question)?;
        }
        self.link_rounds += 1;
        let round = self.link_rounds;
        let first = &links[0];
        let mut asked = InputRequired::ask(first.id.as_str(), first.question.clone());
        for link in &links[1..] {
            asked = asked.and(link.id.as_str(), link.question.clone());
        }
        let limit = self.options.max_rounds;
        let limit = limit.unwrap_or(self.shared.client.max_rounds);
        if round > limit {
            let message = format!("the server asks in more than {limit} rounds");
            let kind = ErrorKind::RoundsExceeded(Box::new(asked));
            return Err(Error::new(kind, message));
        }
        self.inspect(round, &asked)?;
        let human = self.options.human;
        let human = human.unwrap_or(self.shared.client.clocks.human);
        let deadline = after(Instant::now(), human);
        let opened = timeout_at(deadline, self.opened(links, round, deadline));
        match opened.await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(error),
            Ok(Err(refused)) => Err(refused),
            Err(_) => Err(Error::timed_out(Clock::Human, human)),
        }
    }

    /// The links that must be opened, each once; `None` if the error says no such thing, or
    /// nobody opens links.
    fn links(&self, error: &Error) -> Option<Vec<Opening>> {
        let object = error
            .answered()
            .filter(|object| object.code == code::URL_ELICITATION_REQUIRED)
            .filter(|_| self.shared.version() == Version::V2025_11_25)?;
        let data = UrlElicitationRequiredData::deserialize(object.data.as_ref()?).ok()?;
        // Nobody opens more, and to look at each of very many would take very long.
        if data.elicitations.len() > QUESTIONS {
            return None;
        }
        let mut links: Vec<Opening> = Vec::new();
        for link in data.elicitations {
            let id = link.elicitation_id.clone()?;
            if links.iter().any(|link| link.id == id) {
                continue;
            }
            let question = InputRequest::Elicit(ElicitRequestParams::Url(link));
            if !self.shared.client.handlers.answer(&question) {
                return None;
            }
            let done = self.shared.session.links.expect(&id);
            links.push(Opening { id, question, done });
        }
        (!links.is_empty()).then_some(links)
    }

    /// Shows the links and waits for all of them; `false` if one was not agreed to.
    async fn opened(
        &self,
        links: Vec<Opening>,
        round: u32,
        deadline: Instant,
    ) -> Result<bool, Error> {
        let cancelled = CancellationToken::new();
        let _over = cancelled.clone().drop_guard();
        let mut callbacks = JoinSet::new();
        for link in &links {
            let about = self.about(&link.id, round, &cancelled, deadline);
            let handlers = self.shared.client.handlers.clone();
            let asking = ask(handlers, link.question.clone(), about, None);
            let id = link.id.clone();
            callbacks.spawn(async move { (id, asking.await) }.in_current_span());
        }
        while let Some(answered) = callbacks.join_next().await {
            match answered {
                Ok((_, Ok(Some(answer)))) if answer["action"] == "accept" => {}
                Ok((_, Ok(Some(_)))) => return Ok(false),
                Ok((id, Ok(None))) => {
                    let link = links.iter().find(|link| link.id == id);
                    let question = &link.unwrap_or(&links[0]).question;
                    return Err(not_pausable(id, question, self.shared.version()));
                }
                Ok((id, Err(failure))) => return Err(failure.into_error(id, round)),
                Err(panic) => {
                    let id = links[0].id.clone();
                    return Err(Failure::Refused(panic.into()).into_error(id, round));
                }
            }
        }
        for mut link in links {
            if link.done.wait_for(|done| *done).await.is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LFEAT-C-06
    #[tokio::test]
    async fn only_links_that_are_waited_for_are_completed() {
        let links = Links::default();
        assert!(!links.complete("a"));
        let (mut first, second) = (links.expect("a"), links.expect("a"));
        assert!(!links.complete("b"));
        assert!(links.complete("a"));
        first.wait_for(|done| *done).await.expect("done");
        assert!(*second.borrow());
        drop((first, second));
        assert!(!links.complete("a"));
        assert!(!*links.expect("a").borrow());
    }
}
