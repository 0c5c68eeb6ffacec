//! [`KeyCache`]: the keys of an issuer, read when they are needed and kept for a while.

use std::{
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::KeySet;

/// How long keys are kept whose publisher says nothing.
const USUAL: Duration = Duration::from_secs(10 * 60);
/// Nobody has us read them all the time,
const SHORTEST: Duration = Duration::from_secs(60);
/// and none that were withdrawn stay good for ever.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// How long they stay good beyond that while nobody can be asked.
const STALE: Duration = Duration::from_secs(60 * 60);
/// How often unknown keys have us ask: whoever likes can send tokens that name one.
const UNKNOWN: Duration = Duration::from_secs(30);
/// How long nobody is asked after that failed, while there are keys,
const PAUSE: Duration = Duration::from_secs(30);
/// and while there are none.
const SHORT_PAUSE: Duration = Duration::from_secs(2);

/// Where keys come from.
pub(super) trait Fetch: Send + Sync {
    /// Gets them; why not is for the log.
    fn fetch(&self) -> impl Future<Output = Result<Fetched, String>> + Send;
}

/// Keys, and how long their publisher lets one keep them.
pub(super) struct Fetched {
    pub(super) keys: KeySet,
    pub(super) max_age: Option<Duration>,
}

/// Keys that are kept.
pub(super) struct KeyCache<F> {
    from: F,
    kept: Mutex<Kept>,
    /// Held by who asks: one at a time.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Kept {
    keys: Option<Lasting>,
    /// The last time nobody could be asked, if there was none since when somebody could.
    failed: Option<(Instant, Arc<str>)>,
    /// The last time an unknown key had us ask.
    unknown: Option<Instant>,
}

struct Lasting {
    keys: KeySet,
    fresh_until: Instant,
}

impl Kept {
    fn fresh(&self, now: Instant) -> Option<&KeySet> {
        let lasting = self.keys.as_ref()?;
        (now < lasting.fresh_until).then_some(&lasting.keys)
    }

    fn good(&self, now: Instant) -> Option<&KeySet> {
        let lasting = self.keys.as_ref()?;
        (now < lasting.fresh_until + STALE).then_some(&lasting.keys)
    }

    fn failed_within(&self, pause: Duration, now: Instant) -> Option<&Arc<str>> {
        let (when, why) = self.failed.as_ref()?;
        (now < *when + pause).then_some(why)
    }

    /// The keys, if they are others than these.
    fn other_than(&self, keys: &KeySet) -> Option<&KeySet> {
        let lasting = self.keys.as_ref()?;
        (!lasting.keys.is(keys)).then_some(&lasting.keys)
    }
}

impl<F: Fetch> KeyCache<F> {
    pub(super) fn new(from: F) -> Self {
        Self {
            from,
            kept: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// The keys, and whether they came just now.
    pub(super) async fn current(&self) -> Result<(KeySet, bool), Arc<str>> {
        let began = Instant::now();
        let good = {
            let kept = self.kept();
            if let Some(keys) = kept.fresh(began) {
                return Ok((keys.clone(), false));
            }
            match kept.good(began) {
                Some(keys) if kept.failed_within(PAUSE, began).is_some() => {
                    return Ok((keys.clone(), false));
                }
                keys => keys.cloned(),
            }
        };
        if let Some(old) = good {
            // One asks; the others need not wait for it.
            let Ok(_asking) = self.asking.try_lock() else {
                return Ok((old, false));
            };
            return Ok(match self.ask().await {
                Ok(keys) => (keys, true),
                Err(_) => (old, false),
            });
        }
        let _asking = self.asking.lock().await;
        // Somebody else may have asked in the meantime.
        {
            let (kept, now) = (self.kept(), Instant::now());
            if let Some(keys) = kept.fresh(now) {
                return Ok((keys.clone(), true));
            }
            if let Some(why) = kept.failed_within(SHORT_PAUSE, now) {
                return Err(why.clone());
            }
        }
        self.ask().await.map(|keys| (keys, true))
    }

    /// The keys after a token named one that is not among `old`; `None` if there are no others, or
    /// nobody is asked for now.
    pub(super) async fn renewed(&self, old: &KeySet) -> Option<KeySet> {
        {
            let (mut kept, now) = (self.kept(), Instant::now());
            if let Some(keys) = kept.other_than(old) {
                return Some(keys.clone());
            }
            if kept.unknown.is_some_and(|last| now < last + UNKNOWN) {
                tracing::debug!("a token names a key that is not known; its issuer was just asked");
                return None;
            }
            // Said before it is done: also who leaves in the middle has had it done.
            kept.unknown = Some(now);
        }
        let _asking = self.asking.lock().await;
        if let Some(keys) = self.kept().other_than(old) {
            return Some(keys.clone());
        }
        self.ask().await.ok()
    }

    /// Asks, and keeps what comes of it.
    async fn ask(&self) -> Result<KeySet, Arc<str>> {
        let fetched = self.from.fetch().await;
        let (mut kept, now) = (self.kept(), Instant::now());
        match fetched {
            Ok(Fetched { keys, max_age }) => {
                let age = max_age.unwrap_or(USUAL).clamp(SHORTEST, LONGEST);
                kept.failed = None;
                kept.keys = Some(Lasting {
                    keys: keys.clone(),
                    fresh_until: now + age,
                });
                Ok(keys)
            }
            Err(why) => {
                let has_keys = kept.good(now).is_some();
                tracing::warn!(why, has_keys, "the keys of an issuer cannot be read");
                let why: Arc<str> = why.into();
                kept.failed = Some((now, why.clone()));
                Err(why)
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    const KEYS: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"ed","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

    #[derive(Default)]
    struct Issuer {
        asked: AtomicUsize,
        down: AtomicBool,
        max_age: Option<Duration>,
    }

    impl Fetch for Issuer {
        async fn fetch(&self) -> Result<Fetched, String> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(100)).await;
            match self.down.load(Ordering::SeqCst) {
                true => Err("down".into()),
                false => Ok(Fetched {
                    keys: KeySet::from_json(KEYS).expect("keys"),
                    max_age: self.max_age,
                }),
            }
        }
    }

    impl KeyCache<Issuer> {
        fn asked(&self) -> usize {
            self.from.asked.load(Ordering::SeqCst)
        }

        fn set_down(&self, down: bool) {
            self.from.down.store(down, Ordering::SeqCst);
        }
    }

    async fn pass(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn keys_are_kept_as_long_as_one_may() {
        for (max_age, kept) in [
            (None, 600),
            (Some(0), 60),
            (Some(300), 300),
            (Some(1_000_000), 86_400),
        ] {
            let max_age = max_age.map(Duration::from_secs);
            let cache = KeyCache::new(Issuer {
                max_age,
                ..Issuer::default()
            });
            assert!(cache.current().await.expect("keys").1);
            pass(kept - 1).await;
            assert!(!cache.current().await.expect("keys").1);
            assert_eq!(cache.asked(), 1, "{max_age:?}");
            pass(1).await;
            assert!(cache.current().await.expect("keys").1);
            assert_eq!(cache.asked(), 2, "{max_age:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn many_wait_for_one() {
        let cache = KeyCache::new(Issuer::default());
        let all = (0..50).map(|_| cache.current());
        for answer in futures(all).await {
            answer.expect("keys");
        }
        assert_eq!(cache.asked(), 1);
        // And for one that fails: not each for its own.
        let cache = KeyCache::new(Issuer::default());
        cache.set_down(true);
        let all = (0..50).map(|_| cache.current());
        for answer in futures(all).await {
            assert_eq!(answer.err().as_deref(), Some("down"));
        }
        assert_eq!(cache.asked(), 1);
        pass(2).await;
        cache.set_down(false);
        cache.current().await.expect("keys");
    }

    /// While one asks for new keys, the others go on with the old ones.
    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_news() {
        let cache = KeyCache::new(Issuer::default());
        cache.current().await.expect("keys");
        pass(600).await;
        let began = Instant::now();
        let (asks, goes_on) = tokio::join!(cache.current(), async {
            let keys = cache.current().await;
            (keys, began.elapsed())
        });
        assert!(asks.expect("keys").1);
        let (keys, took) = goes_on;
        assert!(!keys.expect("keys").1);
        assert_eq!(took, Duration::ZERO);
        assert_eq!(cache.asked(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn old_keys_are_good_for_an_hour_while_nobody_can_be_asked() {
        let cache = KeyCache::new(Issuer::default());
        cache.current().await.expect("keys");
        cache.set_down(true);
        pass(600).await;
        for _ in 0..20 {
            cache.current().await.expect("the old keys");
        }
        assert_eq!(cache.asked(), 2, "not each time");
        pass(31).await;
        cache.current().await.expect("the old keys");
        assert_eq!(cache.asked(), 3);
        pass(3_600).await;
        assert!(cache.current().await.is_err(), "for ever");
        pass(3).await;
        cache.set_down(false);
        cache.current().await.expect("keys");
    }

    /// Strangers can name as many keys as they like.
    #[tokio::test(start_paused = true)]
    async fn unknown_keys_are_asked_for_now_and_then() {
        let cache = KeyCache::new(Issuer::default());
        let (mut keys, _) = cache.current().await.expect("keys");
        pass(1).await;
        keys = cache.renewed(&keys).await.expect("asked at once");
        for _ in 0..100 {
            assert!(cache.renewed(&keys).await.is_none());
        }
        assert_eq!(cache.asked(), 2);
        pass(30).await;
        // Who leaves while it is asked for has used up the turn.
        let left = tokio::time::timeout(Duration::from_millis(1), cache.renewed(&keys)).await;
        assert!(left.is_err() && cache.asked() == 3);
        assert!(cache.renewed(&keys).await.is_none());
        pass(30).await;
        let all = (0..50).map(|_| cache.renewed(&keys));
        let renewed = futures(all).await;
        assert_eq!(renewed.iter().flatten().count(), 1);
        assert_eq!(cache.asked(), 4);
        // Whoever comes with the keys from before gets the new ones.
        assert!(cache.renewed(&keys).await.is_some());
        assert_eq!(cache.asked(), 4);
    }

    /// Runs all of them at once.
    async fn futures<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
        let mut all: Vec<_> = all.map(|one| (Box::pin(one), None)).collect();
        std::future::poll_fn(|context| {
            for (one, done) in &mut all {
                if done.is_none()
                    && let std::task::Poll::Ready(value) = one.as_mut().poll(context)
                {
                    *done = Some(value);
                }
            }
            match all.iter().all(|(_, done)| done.is_some()) {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            }
        })
        .await;
        all.into_iter().filter_map(|(_, done)| done).collect()
    }
}
