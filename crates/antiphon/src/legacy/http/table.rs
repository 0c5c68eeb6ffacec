//! [`Table`]: the sessions of one service, by their ids.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::{runtime::Handle, task::AbortHandle, time::Instant};

use super::{
    hosted::{Common, Hosted},
    id::Id,
    settings::{SessionCounts, Sessions},
};
use crate::{auth::Principal, legacy::Session, raw::Endpoint};

/// What a session's requests carry.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// How long a session must be idle before another may take its place.
const DISPLACED_AFTER: Duration = Duration::from_secs(60);
/// How many sessions that may have to go are found in one look at all of them.
const LOOK: usize = 256;

/// How older clients are served over HTTP, and their sessions.
#[derive(Debug)]
pub(crate) struct Table {
    common: Arc<Common>,
    /// Whether there are no sessions at all.
    pub(crate) stateless: bool,
    /// Whether calls are answered with single messages.
    pub(crate) plain: bool,
    endpoint: Endpoint,
    map: Mutex<Map>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Map {
    sessions: HashMap<Id, Arc<Hosted>>,
    /// Those that were idle for longest when somebody looked, with the moment since when.
    longest_idle: VecDeque<(u64, Id)>,
    /// Nobody is worth a look before this moment.
    full_until: u64,
    sweeper: Option<AbortHandle>,
}

#[derive(Debug, Default)]
struct Counts {
    opened: AtomicU64,
    ended: AtomicU64,
    expired: AtomicU64,
    displaced: AtomicU64,
    refused: AtomicU64,
}

/// Why there is no session for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It names none.
    Unnamed,
    /// It names one that is not there, not any more, or somebody else's: which of these is
    /// nobody's business (LHTTP-S-24).
    Unknown,
}

/// Why no session was opened.
#[derive(Debug)]
pub(crate) enum NotOpened {
    Full,
    NoRandomness(getrandom::Error),
}

impl Table {
    pub(crate) fn new(settings: Sessions, endpoint: Endpoint) -> Self {
        Self {
            common: Arc::new(Common::new(settings, Instant::now())),
            stateless: false,
            plain: false,
            endpoint,
            map: Mutex::default(),
            counts: Counts::default(),
        }
    }

    /// The same manners with nothing in it yet: for a service that is still being made.
    pub(crate) fn with(&self, settings: Option<Sessions>, stateless: bool, plain: bool) -> Self {
        let settings = settings.unwrap_or_else(|| self.common.settings.clone());
        let mut table = Self::new(settings, self.endpoint.clone());
        (table.stateless, table.plain) = (stateless, plain);
        table
    }

    /// Keeps a session for whoever opened it; what it is to be called.
    pub(crate) fn insert(
        self: &Arc<Self>,
        session: Arc<Session>,
        principal: Option<Arc<Principal>>,
        now: Instant,
    ) -> Result<HeaderValue, NotOpened> {
        let id = Id::random().map_err(NotOpened::NoRandomness)?;
        let version = session.version;
        let hosted = Arc::new(Hosted::new(session, principal, self.common.clone(), now));
        let mut map = self.lock();
        let displaced = match map.sessions.len() < self.common.settings.most {
            true => None,
            false => Some(map.displace(&self.common, now)),
        };
        if matches!(displaced, Some(None)) {
            drop(map);
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(
                limit = self.common.settings.most,
                "refused: too many sessions; see Sessions::most"
            );
            return Err(NotOpened::Full);
        }
        map.sessions.insert(id, hosted);
        let open = map.sessions.len();
        self.keep_swept(&mut map);
        drop(map);
        if let Some(displaced) = displaced.flatten() {
            self.counts.displaced.fetch_add(1, Ordering::Relaxed);
            tracing::info!("a session ended early, to make room; see Sessions::most");
            self.over(&displaced, now);
        }
        self.counts.opened.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(%version, open, "a session began");
        Ok(id.header(&self.common.settings.prefix))
    }

    /// The session that a request names, if it is this party's.
    pub(crate) fn find(
        &self,
        headers: &HeaderMap,
        principal: Option<&Principal>,
    ) -> Result<Arc<Hosted>, Missing> {
        let (_, hosted) = self.named(headers, principal)?;
        hosted.touch(Instant::now());
        Ok(hosted)
    }

    /// Ends the session that a request names.
    pub(crate) fn end(
        &self,
        headers: &HeaderMap,
        principal: Option<&Principal>,
    ) -> Result<(), Missing> {
        let (id, _) = self.named(headers, principal)?;
        // Whoever takes it out ends it.
        let removed = self.lock().sessions.remove(&id);
        let hosted = removed.ok_or(Missing::Unknown)?;
        self.counts.ended.fetch_add(1, Ordering::Relaxed);
        tracing::debug!("a session was ended by its client");
        self.over(&hosted, Instant::now());
        Ok(())
    }

    fn named(
        &self,
        headers: &HeaderMap,
        principal: Option<&Principal>,
    ) -> Result<(Id, Arc<Hosted>), Missing> {
        let mut named = headers.get_all(SESSION_ID).iter();
        let id = match (named.next(), named.next()) {
            (None, _) => return Err(Missing::Unnamed),
            (Some(id), None) => Id::read(id, &self.common.settings.prefix),
            // Two readers could differ.
            (Some(_), Some(_)) => None,
        };
        let id = id.ok_or(Missing::Unknown)?;
        let found = self.lock().sessions.get(&id).cloned();
        match found.filter(|hosted| hosted.is_of(principal)) {
            Some(hosted) => Ok((id, hosted)),
            None => Err(Missing::Unknown),
        }
    }

    fn over(&self, hosted: &Hosted, now: Instant) {
        hosted.end();
        let lasted = now.saturating_duration_since(hosted.opened);
        let instruments = &self.endpoint.inner().instruments;
        instruments.session_ended(hosted.session.version, lasted);
    }

    /// Ends sessions that are idle for too long, and forgets streams that nobody came back for.
    /// Whether there are sessions left.
    pub(super) fn sweep(&self, now: Instant) -> bool {
        let settings = &self.common.settings;
        let moment = self.common.moment(now);
        let idle = u64::try_from(settings.idle.as_millis()).unwrap_or(u64::MAX);
        let mut expired = Vec::new();
        let mut map = self.lock();
        map.sessions.retain(|_, hosted| {
            // What runs for nobody does not keep it: it might do so for ever.
            let since = hosted.away_since();
            let stays = since.is_none_or(|since| moment.saturating_sub(since) < idle);
            if !stays {
                expired.push(hosted.clone());
            }
            stays
        });
        let all: Vec<_> = map.sessions.values().cloned().collect();
        if all.is_empty() {
            // An allocation for thousands is not kept for none.
            *map = Map::default();
        } else if map.sessions.capacity() > 4 * all.len() + 64 {
            map.sessions.shrink_to_fit();
        }
        drop(map);
        for hosted in &expired {
            self.over(hosted, now);
        }
        if !expired.is_empty() {
            let count = expired.len() as u64;
            self.counts.expired.fetch_add(count, Ordering::Relaxed);
            tracing::debug!(count, open = all.len(), "idle sessions ended");
        }
        for hosted in &all {
            hosted.sweep(now);
        }
        !all.is_empty()
    }

    /// Has a task look after the sessions while there are any.
    fn keep_swept(self: &Arc<Self>, map: &mut Map) {
        if map.sweeper.is_some() {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let settings = &self.common.settings;
        let every = (settings.idle.min(settings.replay) / 4)
            .clamp(Duration::from_millis(10), Duration::from_secs(30));
        let sweeping = sweep(Arc::downgrade(self), every);
        map.sweeper = Some(runtime.spawn(sweeping).abort_handle());
    }

    /// What became of them so far.
    pub(crate) fn counts(&self) -> SessionCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        SessionCounts {
            open: self.lock().sessions.len(),
            opened: read(&self.counts.opened),
            ended: read(&self.counts.ended),
            expired: read(&self.counts.expired),
            displaced: read(&self.counts.displaced),
            refused: read(&self.counts.refused),
            event_bytes: self.common.bytes.load(Ordering::Relaxed),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Map> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Map {
    /// Takes out the session that has been idle for longest, if that is long enough.
    ///
    /// One look at all sessions serves many that come: what was idle for longest then still is,
    /// unless it was used since.
    fn displace(&mut self, common: &Common, now: Instant) -> Option<Arc<Hosted>> {
        let now = common.moment(now);
        let least = u64::try_from(DISPLACED_AFTER.as_millis()).unwrap_or(u64::MAX);
        if let Some(hosted) = self.take_idle(now, least) {
            return Some(hosted);
        }
        if now < self.full_until {
            return None;
        }
        let mut idle: Vec<_> = (self.sessions.iter())
            .filter_map(|(id, hosted)| Some((hosted.idle_since()?, *id)))
            .collect();
        idle.sort_unstable_by_key(|(since, _)| *since);
        idle.truncate(LOOK);
        self.longest_idle = idle.into();
        // Whoever is busy now will have been idle for so long only later than that.
        let first = self.longest_idle.front().map_or(now, |(since, _)| *since);
        self.full_until = first.saturating_add(least);
        self.take_idle(now, least)
    }

    fn take_idle(&mut self, now: u64, least: u64) -> Option<Arc<Hosted>> {
        while let Some((since, id)) = self.longest_idle.front().copied() {
            let hosted = self.sessions.get(&id);
            if hosted.is_some_and(|hosted| hosted.idle_since() == Some(since)) {
                if now.saturating_sub(since) < least {
                    return None;
                }
                self.longest_idle.pop_front();
                return self.sessions.remove(&id);
            }
            self.longest_idle.pop_front();
        }
        None
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let map = self.lock();
        if let Some(sweeper) = &map.sweeper {
            sweeper.abort();
        }
        for hosted in map.sessions.values() {
            hosted.end();
        }
    }
}

async fn sweep(table: Weak<Table>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let Some(table) = table.upgrade() else {
            return;
        };
        if !table.sweep(Instant::now()) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use antiphon_types::{ClientCapabilities, Implementation, Version};

    use std::task::{Context, Waker};

    use super::{
        super::stream::{Kind, Taken},
        *,
    };
    use crate::raw::{About, Service};

    struct Nothing;

    impl Service for Nothing {
        fn about(&self) -> About {
            About::new(Implementation::new("nothing", "1"))
        }
    }

    fn table(settings: Sessions) -> Arc<Table> {
        Arc::new(Table::new(settings, Endpoint::new(Nothing)))
    }

    fn session() -> Arc<Session> {
        let declared = ClientCapabilities::new();
        let version = Version::V2025_11_25;
        Arc::new(Session::new(version, &declared, None, None, Arc::default()))
    }

    fn open(table: &Arc<Table>, now: Instant) -> HeaderMap {
        let id = table.insert(session(), None, now).expect("room");
        HeaderMap::from_iter([(SESSION_ID, id)])
    }

    /// LHTTP-S-24
    #[test]
    fn a_session_is_its_openers() {
        let table = table(Sessions::new());
        let ada = Principal::subject("ada").issued_by("here").through("desk");
        let id = table
            .insert(session(), Some(Arc::new(ada.clone())), Instant::now())
            .expect("room");
        let named = HeaderMap::from_iter([(SESSION_ID, id.clone())]);
        assert!(table.find(&named, Some(&ada)).is_ok());
        assert!(
            table
                .find(&named, Some(&ada.clone().scopes(["more"])))
                .is_ok()
        );
        for other in [
            None,
            Some(Principal::subject("bob").issued_by("here").through("desk")),
            Some(Principal::subject("ada").issued_by("there").through("desk")),
            Some(Principal::subject("ada").issued_by("here")),
        ] {
            let found = table.find(&named, other.as_ref());
            assert_eq!(found.expect_err("another's"), Missing::Unknown);
            let ended = table.end(&named, other.as_ref());
            assert_eq!(ended, Err(Missing::Unknown));
        }
        assert_eq!(
            table.find(&HeaderMap::new(), Some(&ada)).expect_err("none"),
            Missing::Unnamed
        );
        let mut twice = named.clone();
        twice.append(SESSION_ID, id);
        assert_eq!(
            table.find(&twice, Some(&ada)).expect_err("two"),
            Missing::Unknown
        );
        assert_eq!(table.end(&named, Some(&ada)), Ok(()));
        assert_eq!(table.end(&named, Some(&ada)), Err(Missing::Unknown));
        assert_eq!((table.counts().open, table.counts().ended), (0, 1));
    }

    #[test]
    fn idle_sessions_end_and_busy_ones_do_not() {
        let table = table(Sessions::new().idle(Duration::from_secs(10)));
        let began = Instant::now();
        let (idle, running) = (open(&table, began), open(&table, began));
        let hosted = table.find(&running, None).expect("there");
        let present = hosted.present();
        assert!(table.sweep(began + Duration::from_secs(9)));
        assert_eq!(table.counts().open, 2);
        assert!(table.sweep(began + Duration::from_secs(11)));
        assert_eq!(table.find(&idle, None).expect_err("gone"), Missing::Unknown);
        drop(present);
        // A call that runs for nobody does not keep it.
        let _busy = hosted.busy();
        assert!(!table.sweep(began + Duration::from_secs(30)));
        let counts = table.counts();
        assert_eq!((counts.open, counts.opened, counts.expired), (0, 2, 2));
        assert!(hosted.is_over());
    }

    #[test]
    fn at_the_limit_the_longest_idle_one_goes() {
        let table = table(Sessions::new().most(3));
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let kept: Vec<_> = (0..3).map(|second| open(&table, at(second))).collect();
        let full = table.insert(session(), None, at(59));
        assert!(matches!(full, Err(NotOpened::Full)));
        let busy = table.find(&kept[0], None).expect("there").busy();
        let full = table.insert(session(), None, at(60));
        assert!(matches!(full, Err(NotOpened::Full)), "the first is busy");
        open(&table, at(61));
        assert!(table.find(&kept[0], None).is_ok());
        assert!(table.find(&kept[1], None).is_err());
        assert!(table.find(&kept[2], None).is_ok());
        drop(busy);
        let counts = table.counts();
        assert_eq!((counts.open, counts.refused, counts.displaced), (3, 2, 1));
    }

    #[test]
    fn where_all_are_busy_nobody_goes() {
        let table = table(Sessions::new().most(1));
        let began = Instant::now();
        let only = open(&table, began);
        let busy = table.find(&only, None).expect("there").busy();
        for minutes in 1..5 {
            let later = began + Duration::from_secs(60 * minutes);
            let full = table.insert(session(), None, later);
            assert!(matches!(full, Err(NotOpened::Full)));
        }
        drop(busy);
        assert_eq!(table.end(&only, None), Ok(()));
        open(&table, began);
    }

    /// Nothing runs for sessions that are not there.
    #[tokio::test]
    async fn there_is_a_sweeper_only_while_there_are_sessions() {
        let table = table(Sessions::new().idle(Duration::from_millis(50)));
        let tasks = || Handle::current().metrics().num_alive_tasks();
        assert_eq!(tasks(), 0);
        for _ in 0..100 {
            open(&table, Instant::now());
        }
        assert_eq!(tasks(), 1);
        while tasks() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(table.counts().open, 0);
        open(&table, Instant::now());
        assert_eq!(tasks(), 1);
        drop(table);
        tokio::task::yield_now().await;
        assert_eq!(tasks(), 0);
    }

    /// LHTTP-S-24: a stream that is opened just when its session ends, ends with it.
    #[test]
    fn a_session_that_is_over_opens_no_streams() {
        let table = table(Sessions::new());
        let named = open(&table, Instant::now());
        let hosted = table.find(&named, None).expect("there");
        assert_eq!(table.end(&named, None), Ok(()));
        let mut seat = hosted.open(Kind::Standalone, None);
        let context = Context::from_waker(Waker::noop());
        assert!(matches!(hosted.take(&mut seat, &context), Taken::Frame(_)));
        assert_eq!(hosted.take(&mut seat, &context), Taken::End);
    }
}
