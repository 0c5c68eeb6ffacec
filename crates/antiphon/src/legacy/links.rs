//! [`Links`]: the links of one call that its user agreed to open.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Links that were opened, and have not done their work for all that is known.
#[derive(Debug, Default)]
pub(crate) struct Links(Mutex<Vec<Link>>);

#[derive(Debug)]
struct Link {
    /// The key of the question.
    key: String,
    /// What the client knows it by.
    id: String,
    /// Whether the handler said in its last run that it waits for it.
    waits: bool,
}

impl Links {
    /// The user agreed to open the link under this key.
    pub(super) fn open(&self, key: &str, id: String) {
        let key = key.to_owned();
        let waits = false;
        self.lock().push(Link { key, id, waits });
    }

    /// A handler is about to run, and says again what it waits for.
    pub(super) fn begin(&self) {
        self.lock().iter_mut().for_each(|link| link.waits = false);
    }

    /// What is behind the link under this key is not done.
    pub(crate) fn wait(&self, key: &str) {
        let mut links = self.lock();
        let asked = links.iter_mut().filter(|link| link.key == key);
        asked.for_each(|link| link.waits = true);
    }

    /// Those that nobody waits for any more, as the client knows them.
    pub(super) fn completed(&self) -> Vec<String> {
        let mut links = self.lock();
        let done = links.extract_if(.., |link| !link.waits);
        done.map(|link| link.id).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Link>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_completed_once_nobody_waits_for_it() {
        let links = Links::default();
        links.open("pay", "1".to_owned());
        links.open("sign", "2".to_owned());
        links.begin();
        links.wait("pay");
        assert_eq!(links.completed(), ["2"]);
        links.begin();
        links.wait("pay");
        assert_eq!(links.completed(), [""; 0]);
        links.begin();
        assert_eq!(links.completed(), ["1"]);
        assert_eq!(links.completed(), [""; 0]);
    }
}
