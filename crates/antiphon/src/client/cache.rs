//! Answers that may be used again for a while.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use antiphon_types::CacheScope;
use bytes::Bytes;

/// Most bytes kept for one connection.
const BYTES: usize = 8 * 1024 * 1024;

/// What keeping an answer takes besides its bytes and those of its key, roughly.
const OVERHEAD: usize = 256;

/// What an answer is the answer to: the method, and the cursor or URI that decides the result
/// (CACHE-C-01).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) method: &'static str,
    pub(super) detail: Option<String>,
}

/// How long an answer may be used, and by whom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hint {
    pub(super) ttl_ms: Option<u64>,
    pub(super) scope: Option<CacheScope>,
}

#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    by_key: HashMap<Key, Entry>,
    /// In the order they came; keys that are gone may still be here.
    order: VecDeque<Key>,
    bytes: usize,
    /// Counts what was thrown away, so that no answer is kept that is older than the news.
    generation: u64,
}

#[derive(Debug)]
struct Entry {
    result: Bytes,
    until: Instant,
    /// For a private answer: whose it is.
    owner: Option<Option<u64>>,
}

impl Cache {
    /// An answer that is still fresh (CACHE-C-05) and may be seen by this caller (CACHE-C-12).
    pub(super) fn get(&self, key: &Key, caller: Option<u64>, now: Instant) -> Option<Bytes> {
        let entries = self.lock();
        let entry = entries.by_key.get(key)?;
        let fresh = now < entry.until;
        let visible = entry.owner.is_none_or(|owner| owner == caller);
        (fresh && visible).then(|| entry.result.clone())
    }

    /// The state of the news before a request is sent.
    pub(super) fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// Keeps an answer, unless it has no time to live or is older than the news.
    pub(super) fn put(
        &self,
        key: Key,
        result: &Bytes,
        hint: Hint,
        caller: Option<u64>,
        generation: u64,
        now: Instant,
    ) {
        // CACHE-C-04, CACHE-C-06, CACHE-C-07
        let ttl = Duration::from_millis(hint.ttl_ms.unwrap_or(0));
        let Some(until) = now.checked_add(ttl).filter(|until| *until > now) else {
            return;
        };
        let mut entries = self.lock();
        let size = size(&key, result);
        if entries.generation != generation || size > BYTES / 4 {
            return;
        }
        let owner = match hint.scope {
            Some(CacheScope::Public) => None,
            _ => Some(caller),
        };
        entries.remove(&key);
        entries.bytes += size;
        entries.order.push_back(key.clone());
        let entry = Entry {
            // A copy, so that a small answer does not hold on to a large message.
            result: Bytes::copy_from_slice(result),
            until,
            owner,
        };
        entries.by_key.insert(key, entry);
        while entries.bytes > BYTES {
            let Some(oldest) = entries.order.pop_front() else {
                break;
            };
            entries.forget(&oldest);
        }
    }

    /// Throws answers away (CACHE-C-14).
    pub(super) fn evict(&self, stale: impl Fn(&Key) -> bool) {
        let mut entries = self.lock();
        entries.generation += 1;
        let keys: Vec<_> = entries
            .by_key
            .keys()
            .filter(|key| stale(key))
            .cloned()
            .collect();
        for key in keys {
            entries.forget(&key);
        }
        let Entries { by_key, order, .. } = &mut *entries;
        order.retain(|key| by_key.contains_key(key));
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Removes an answer, and its place in the order.
    fn remove(&mut self, key: &Key) {
        if self.forget(key) {
            self.order.retain(|other| other != key);
        }
    }

    /// Removes an answer; whether there was one.
    fn forget(&mut self, key: &Key) -> bool {
        let entry = self.by_key.remove(key);
        let size = entry.as_ref().map(|entry| size(key, &entry.result));
        self.bytes -= size.unwrap_or_default();
        entry.is_some()
    }
}

/// What keeping an answer takes. The key is there twice, and a server may choose it: a cursor.
fn size(key: &Key, result: &Bytes) -> usize {
    2 * key.detail.as_ref().map_or(0, String::len) + result.len() + OVERHEAD
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(detail: &str) -> Key {
        Key {
            method: "resources/read",
            detail: Some(detail.to_owned()),
        }
    }

    fn hint(ttl: u64, scope: CacheScope) -> Hint {
        Hint {
            ttl_ms: Some(ttl),
            scope: Some(scope),
        }
    }

    /// CACHE-C-04 to CACHE-C-07, CACHE-C-12, CACHE-C-13
    #[test]
    fn answers_are_fresh_for_a_while_and_for_their_owner() {
        let cache = Cache::default();
        let start = Instant::now();
        let later = |ms| start + Duration::from_millis(ms);
        let put = |name: &str, hint| cache.put(key(name), &"x".into(), hint, Some(1), 0, start);
        put("public", hint(100, CacheScope::Public));
        put("private", hint(100, CacheScope::Private));
        put("none", hint(0, CacheScope::Public));
        put(
            "silent",
            Hint {
                ttl_ms: None,
                scope: None,
            },
        );
        put(
            "endless",
            Hint {
                ttl_ms: Some(u64::MAX),
                scope: Some(CacheScope::Public),
            },
        );
        let got = |name: &str, caller, ms| cache.get(&key(name), caller, later(ms)).is_some();
        assert!(got("public", Some(1), 99) && got("public", None, 99));
        assert!(!got("public", Some(1), 100));
        assert!(got("private", Some(1), 99));
        assert!(!got("private", Some(2), 99) && !got("private", None, 99));
        assert!(!got("none", Some(1), 0) && !got("silent", Some(1), 0));
    }

    /// CACHE-C-14: also for an answer that was on its way.
    #[test]
    fn news_throw_answers_away() {
        let cache = Cache::default();
        let now = Instant::now();
        let public = hint(1000, CacheScope::Public);
        cache.put(key("a"), &"x".into(), public, None, 0, now);
        cache.put(key("b"), &"x".into(), public, None, 0, now);
        let before = cache.generation();
        cache.evict(|key| key.detail.as_deref() == Some("a"));
        assert!(cache.get(&key("a"), None, now).is_none());
        assert!(cache.get(&key("b"), None, now).is_some());
        cache.put(key("a"), &"old".into(), public, None, before, now);
        assert!(cache.get(&key("a"), None, now).is_none());
        cache.put(
            key("a"),
            &"new".into(),
            public,
            None,
            cache.generation(),
            now,
        );
        assert!(cache.get(&key("a"), None, now).is_some());
    }

    #[test]
    fn the_oldest_make_room() {
        let cache = Cache::default();
        let now = Instant::now();
        let large = Bytes::from(vec![0; BYTES / 8 - 2 * OVERHEAD]);
        for name in 0..20 {
            let public = hint(1000, CacheScope::Public);
            cache.put(key(&name.to_string()), &large, public, None, 0, now);
        }
        let kept = |name: u32| cache.get(&key(&name.to_string()), None, now).is_some();
        assert!(kept(19) && kept(12) && !kept(11) && !kept(0));
        let entries = cache.lock();
        assert_eq!((entries.by_key.len(), entries.order.len()), (8, 8));
    }

    /// Cursors are the server's choice, and however small its pages are, they are not free.
    #[test]
    fn keys_count_and_so_does_every_answer() {
        let cache = Cache::default();
        let now = Instant::now();
        let public = hint(1000, CacheScope::Public);
        for name in 0..20 {
            let cursor = format!("{name}{}", "x".repeat(BYTES / 16));
            cache.put(key(&cursor), &"{}".into(), public, None, 0, now);
        }
        assert!(cache.lock().by_key.len() < 8);
        cache.put(key(&"x".repeat(BYTES)), &"{}".into(), public, None, 0, now);
        assert!(cache.lock().by_key.len() > 1);
        cache.evict(|_| true);
        let generation = cache.generation();
        for name in 0..50_000 {
            let name = name.to_string();
            cache.put(key(&name), &"{}".into(), public, None, generation, now);
        }
        assert!(cache.lock().by_key.len() <= BYTES / OVERHEAD);
    }
}
