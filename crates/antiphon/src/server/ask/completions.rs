//! [`Completions`]: what was done behind links, within one process.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use antiphon_core::{
    link::{BadHandle, Handle},
    moment::Moment,
};

/// Most completions that are kept at a time.
const MOST: usize = 65_536;

/// What was done behind links that [`Ask::url`](crate::Ask::url) has sent, for servers of one
/// process. Replicas keep it where all of them find it, under the [`Handle`]; see
/// [`Handle::opened_by`].
///
/// Clones are the same. What was done counts until the call it belongs to has ended. The last
/// 65,536 are kept.
pub struct Completions<T>(Arc<Mutex<Kept<T>>>);

struct Kept<T> {
    done: HashMap<Handle, T>,
    /// The oldest first.
    order: VecDeque<Handle>,
}

impl<T: Clone> Completions<T> {
    /// Nothing was done yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that `subject` has done what is behind a link, and what came of it. Call this from
    /// the page behind the link, with the handle out of its URL and with whom the page knows to be
    /// signed in: one who was sent a link that was made for another must not complete it
    /// (ELIC-S-32). A call that nobody is known to have made, on stdio say, has links that are for
    /// anybody who has them.
    ///
    /// # Errors
    /// If the link was made for somebody else, or is none of ours, or is too old; or if it was
    /// completed before, which stays as it is.
    pub fn complete(
        &self,
        handle: &str,
        subject: Option<&str>,
        value: T,
    ) -> Result<(), NotCompleted> {
        let now = Moment::from(SystemTime::now());
        let handle = Handle::opened_by(handle, subject, now).map_err(NotCompleted::Handle)?;
        let mut kept = self.kept();
        if kept.done.contains_key(&handle) {
            return Err(NotCompleted::Before);
        }
        // Handles can be made up by anybody who finds the page; they must not keep others out.
        if kept.done.len() >= MOST
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.done.remove(&oldest);
        }
        kept.order.push_back(handle);
        kept.done.insert(handle, value);
        Ok(())
    }

    /// What came of it, if it was done.
    pub fn get(&self, handle: &Handle) -> Option<T> {
        let now = Moment::from(SystemTime::now());
        let kept = self.kept();
        let value = kept.done.get(handle).filter(|_| now < handle.until());
        value.cloned()
    }

    fn kept(&self) -> MutexGuard<'_, Kept<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Completions<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Kept {
            done: HashMap::new(),
            order: VecDeque::new(),
        })))
    }
}

impl<T> Clone for Completions<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Completions<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Completions(..)")
    }
}

/// Why what was done behind a link does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotCompleted {
    /// The handle is not good, or not for this user.
    Handle(BadHandle),
    /// It was completed before.
    Before,
}

impl fmt::Display for NotCompleted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handle(bad) => bad.fmt(f),
            Self::Before => f.write_str("this link was used before"),
        }
    }
}

impl std::error::Error for NotCompleted {}
