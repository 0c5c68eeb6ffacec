//! A journal that tells what was written in it and when, and can be told to fail.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use antiphon::store::{
    Ended, Entered, Entry, Holder, Journal, MemoryStore, Moment, StepId, Storing, Unavailable,
};

/// A journal with moods. Clones are the same.
#[derive(Clone, Default)]
pub struct Diary {
    store: Arc<MemoryStore>,
    /// Nothing can be entered.
    pub away: Arc<AtomicBool>,
    /// What is entered is there, and whoever entered it is told that it is not known.
    pub slips: Arc<AtomicBool>,
    /// Nothing can be written about how something ended.
    pub mute: Arc<AtomicBool>,
    /// What was done, in order, by it and by whoever [notes](Self::note) something.
    events: Arc<Mutex<Vec<String>>>,
    /// All that it was given to keep.
    kept: Arc<Mutex<Vec<u8>>>,
}

impl Diary {
    /// Notes that something was done.
    pub fn note(&self, event: &str) {
        self.events.lock().expect("fine").push(event.to_owned());
    }

    /// What was done since this was last called.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.events.lock().expect("fine"))
    }

    /// How often something was done, of what is not taken yet.
    pub fn count(&self, event: &str) -> usize {
        let events = self.events.lock().expect("fine");
        events.iter().filter(|noted| *noted == event).count()
    }

    /// All that it was given to keep, as text as far as it is text.
    pub fn kept(&self) -> String {
        String::from_utf8_lossy(&self.kept.lock().expect("fine")).into_owned()
    }

    fn keep(&self, bytes: &[u8]) {
        self.kept.lock().expect("fine").extend_from_slice(bytes);
    }
}

fn gone<'a, T>() -> Storing<'a, T> {
    Box::pin(async { Err(Unavailable("gone fishing".to_owned())) })
}

impl Journal for Diary {
    fn enter<'a>(&'a self, entry: &'a Entry) -> Storing<'a, Entered> {
        if self.away.load(Ordering::SeqCst) {
            return gone();
        }
        self.keep(&entry.step.0);
        self.keep(&entry.upon.0);
        Box::pin(async {
            let entered = self.store.enter(entry).await?;
            if self.slips.load(Ordering::SeqCst) {
                return gone().await;
            }
            self.note(match &entered {
                Entered::Yours => "entered",
                Entered::Running(_) => "running",
                Entered::Unknown(_) => "unknown",
                Entered::Done(..) => "known",
                Entered::Full => "full",
            });
            Ok(entered)
        })
    }

    fn renew<'a>(&'a self, step: &'a StepId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        Journal::renew(&*self.store, step, holder, until)
    }

    fn end<'a>(
        &'a self,
        step: &'a StepId,
        holder: &'a Holder,
        ended: Ended<'a>,
    ) -> Storing<'a, ()> {
        if self.mute.load(Ordering::SeqCst) {
            return gone();
        }
        if let Ended::Done(result) = ended {
            self.keep(result);
        }
        Box::pin(async move {
            Journal::end(&*self.store, step, holder, ended).await?;
            // Late, so that whoever does not wait is found.
            tokio::task::yield_now().await;
            self.note(match ended {
                Ended::Done(_) => "written",
                Ended::Failed => "failed",
            });
            Ok(())
        })
    }

    fn is_shared(&self) -> bool {
        true
    }
}
