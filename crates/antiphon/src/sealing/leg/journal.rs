//! A step in the journal: entered before its work begins, held while that goes on, written when it
//! is done.

use std::{
    future::Future,
    pin::Pin,
    time::{Duration, Instant},
};

use antiphon_core::seal::{
    claims::SKEW,
    guard::{Holder, LEASE},
    journal::{Ended, Entered, Entry, Journal, StepId},
};

use super::{Dialogue, claim::meanwhile, unavailable};
use crate::{
    raw::Error,
    sealing::{
        protect::{Trouble, result_of},
        sealing::holder,
    },
};

/// The first pause of whoever waits for another; the next are longer.
pub(super) const SHORTEST: Duration = Duration::from_millis(5);

/// How it stands with a step that is to be done.
pub(crate) enum Entering {
    /// Its work is to begin. If there is a journal, it is entered.
    Begin(Option<Mine>),
    /// It was done by a run before this one, upon the same answers.
    Known {
        /// How many shared it.
        shared: u8,
        /// What came of it, JSON.
        result: String,
    },
}

/// An entry that is ours.
pub(crate) struct Mine {
    step: StepId,
    holder: Holder,
}

/// Why a step is neither begun nor known.
pub(crate) enum Barred {
    /// It was begun upon other answers.
    Changed,
    /// It was begun by somebody who was not heard of again.
    Unknown,
    /// The call has taken longer than anything of it is remembered.
    Over,
    /// The journal cannot be used at present. The call ends with this, whatever its handler does.
    Trouble(Error),
}

impl Dialogue {
    pub(crate) fn has_journal(&self) -> bool {
        self.settings.journal.is_some()
    }

    /// Enters a step, or finds out what became of it; to be done before its work begins.
    pub(crate) async fn enter(&self, key: &str, rerun: bool) -> Result<Entering, Barred> {
        let Some(journal) = self.settings.journal.as_deref() else {
            return Ok(Entering::Begin(None));
        };
        self.try_enter(journal, key, rerun)
            .await
            .map_err(|refused| match refused {
                Refused::Barred(barred) => barred,
                Refused::Trouble(trouble) => Barred::Trouble(self.give_up(key, &trouble)),
            })
    }

    async fn try_enter(
        &self,
        journal: &dyn Journal,
        key: &str,
        rerun: bool,
    ) -> Result<Entering, Refused> {
        let settings = &self.settings;
        let (step, upon) = {
            let mut run = self.run();
            (run.step(key), run.upon())
        };
        let mine = Mine {
            step,
            holder: holder()?,
        };
        let keep_until = self.deadline().after(SKEW);
        let began = Instant::now();
        let mut pause = SHORTEST;
        let mut take_over = false;
        loop {
            let now = settings.now();
            let entry = Entry {
                step,
                upon,
                holder: mine.holder,
                now,
                lease_until: now.after(LEASE),
                keep_until,
                take_over,
            };
            let entered = match journal.enter(&entry).await {
                Ok(entered) => entered,
                Err(error) => {
                    self.take_back(journal, &mine).await;
                    let why = format!("the journal is {error}");
                    return Err(Trouble::Unavailable(why).into());
                }
            };
            match entered {
                // What came of it before this may be forgotten by now.
                Entered::Yours if settings.now() > keep_until => {
                    self.write(journal, key, &mine, Ended::Failed).await;
                    return Err(Refused::Barred(Barred::Over));
                }
                Entered::Yours => return Ok(Entering::Begin(Some(mine))),
                Entered::Full => {
                    let full = "the journal is full: it remembers as many steps as it may";
                    return Err(Trouble::Unavailable(full.to_owned()).into());
                }
                Entered::Running(other) | Entered::Unknown(other) | Entered::Done(other, _)
                    if other != upon =>
                {
                    self.warn(key, "a step was begun upon other answers");
                    return Err(Refused::Barred(Barred::Changed));
                }
                Entered::Unknown(_) if rerun && !take_over => {
                    self.warn(
                        key,
                        "a step is done again, as it is not known whether it was done",
                    );
                    take_over = true;
                }
                Entered::Unknown(_) => {
                    self.warn(key, "it is not known whether a step was done");
                    return Err(Refused::Barred(Barred::Unknown));
                }
                Entered::Done(_, sealed) => return Ok(self.known(&step, sealed).await?),
                Entered::Running(_) if began.elapsed() >= settings.work => {
                    return Err(Trouble::Busy.into());
                }
                Entered::Running(_) => {
                    if pause == SHORTEST {
                        let flow = self.run().flow();
                        tracing::info!(key, %flow, "a step is being done elsewhere: waiting for it");
                    }
                    tokio::time::sleep(pause).await;
                    pause = (2 * pause).min(Duration::from_millis(250));
                }
            }
        }
    }

    /// Takes back an entry that may have been made, though nobody was told so: nothing was done.
    async fn take_back(&self, journal: &dyn Journal, mine: &Mine) {
        let taken_back = journal.end(&mine.step, &mine.holder, Ended::Failed).await;
        if let Err(error) = taken_back {
            tracing::debug!(%error, "an entry in the journal could not be taken back");
        }
    }

    /// What came of a step, as [`write_done`](Self::write_done) wrote it.
    async fn known(&self, step: &StepId, sealed: Vec<u8>) -> Result<Entering, Trouble> {
        let bound = result_of(step);
        let opened = self.settings.protect.restore(&bound, sealed).await?;
        let unread = || Trouble::Unavailable("what the journal has cannot be read".to_owned());
        let (shared, result) = opened.split_first().ok_or_else(unread)?;
        let result = std::str::from_utf8(result).map_err(|_| unread())?;
        Ok(Entering::Known {
            shared: *shared,
            result: result.to_owned(),
        })
    }

    /// Ends the call, as nothing can be known. Nothing was done, or the journal has it: the same
    /// may be tried again.
    fn give_up(&self, key: &str, trouble: &Trouble) -> Error {
        let flow = self.run().flow();
        match trouble {
            Trouble::Busy => tracing::warn!(key, %flow, "a step is still being done elsewhere"),
            trouble => tracing::error!(key, %flow, ?trouble, "a step cannot be entered"),
        }
        self.let_try_again();
        self.run().broken.get_or_insert_with(unavailable).clone()
    }

    /// Does the work of a step, and holds its entry meanwhile.
    pub(crate) async fn hold<T>(&self, mine: &Mine, work: Pin<&mut impl Future<Output = T>>) -> T {
        meanwhile(work, || Some(Box::pin(self.renew(mine)))).await
    }

    async fn renew(&self, mine: &Mine) {
        let Some(journal) = &self.settings.journal else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(LEASE / 3).await;
            let until = self.settings.now().after(LEASE);
            if let Err(error) = journal.renew(&mine.step, &mine.holder, until).await {
                tracing::warn!(%error, "an entry in the journal could not be renewed");
            }
        }
    }

    /// Writes down what came of a step.
    ///
    /// If that cannot be done the call goes on, since the work is done and its result is here. The
    /// entry stays as it is, without a result: nobody does it again unasked.
    pub(crate) async fn write_done(&self, key: &str, mine: &Mine, shared: u8, result: &str) {
        let Some(journal) = self.settings.journal.as_deref() else {
            return;
        };
        let mut text = Vec::with_capacity(1 + result.len());
        text.push(shared);
        text.extend_from_slice(result.as_bytes());
        let bound = result_of(&mine.step);
        match self.settings.protect.store(&bound, &text).await {
            Ok(sealed) => self.write(journal, key, mine, Ended::Done(&sealed)).await,
            Err(trouble) => {
                let flow = self.run().flow();
                tracing::error!(key, %flow, ?trouble, "what came of a step could not be sealed");
            }
        }
    }

    /// Writes down that a step was not done.
    pub(crate) async fn write_failed(&self, key: &str, mine: &Mine) {
        if let Some(journal) = self.settings.journal.as_deref() {
            self.write(journal, key, mine, Ended::Failed).await;
        }
    }

    async fn write(&self, journal: &dyn Journal, key: &str, mine: &Mine, ended: Ended<'_>) {
        if let Err(error) = journal.end(&mine.step, &mine.holder, ended).await {
            let flow = self.run().flow();
            tracing::error!(key, %flow, %error, "how a step ended could not be written");
        }
    }

    fn warn(&self, key: &str, what: &str) {
        let flow = self.run().flow();
        tracing::warn!(key, %flow, "{what}");
    }
}

/// Why a step is not begun, before that is told.
enum Refused {
    Barred(Barred),
    Trouble(Trouble),
}

impl From<Trouble> for Refused {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}
