//! On a disk that does what a test wants: it counts, waits, fails and loses its power.

mod steps;

use std::{
    io,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use redb::{
    Builder, Database, DatabaseError, Key, ReadableDatabase, ReadableTableMetadata, StorageBackend,
    TableDefinition, Value,
};

use super::{
    FileStore,
    disk::{self, Disk, FORMAT},
};
use crate::store::{
    Claim, Ending, Fingerprint, Guard, Handle, Holder, Kept, Moment, Owner, Spill, Spilled,
    Standing, StateId,
};

/// A disk in memory.
#[derive(Debug, Clone, Default)]
struct Platter(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// What was written, and what is left of it when the power fails.
    written: Mutex<Vec<u8>>,
    safe: Mutex<Vec<u8>>,
    syncs: AtomicUsize,
    /// Whether syncing waits.
    held: Mutex<bool>,
    released: Condvar,
    broken: AtomicBool,
}

impl Platter {
    fn syncs(&self) -> usize {
        self.0.syncs.load(Ordering::SeqCst)
    }

    fn hold(&self, hold: bool) {
        *self.0.held.lock().unwrap() = hold;
        self.0.released.notify_all();
    }

    fn break_down(&self, broken: bool) {
        self.0.broken.store(broken, Ordering::SeqCst);
    }

    /// Another disk, with what this one has for sure.
    fn after_power_failure(&self) -> Self {
        let safe = self.0.safe.lock().unwrap().clone();
        let inner = Inner {
            written: Mutex::new(safe.clone()),
            safe: Mutex::new(safe),
            ..Inner::default()
        };
        Self(Arc::new(inner))
    }

    fn works(&self) -> io::Result<()> {
        match self.0.broken.load(Ordering::SeqCst) {
            true => Err(io::Error::other("no disk")),
            false => Ok(()),
        }
    }
}

impl StorageBackend for Platter {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.written.lock().unwrap().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.works()?;
        let written = self.0.written.lock().unwrap();
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let bytes = written.get(offset..offset + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.works()?;
        let length = usize::try_from(length).map_err(io::Error::other)?;
        self.0.written.lock().unwrap().resize(length, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let held = self.0.held.lock().unwrap();
        drop(self.0.released.wait_while(held, |held| *held).unwrap());
        self.works()?;
        self.0.syncs.fetch_add(1, Ordering::SeqCst);
        let written = self.0.written.lock().unwrap().clone();
        *self.0.safe.lock().unwrap() = written;
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.works()?;
        let mut written = self.0.written.lock().unwrap();
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let place = written.get_mut(offset..offset + data.len());
        place
            .ok_or(io::ErrorKind::UnexpectedEof)?
            .copy_from_slice(data);
        Ok(())
    }
}

impl Disk for Platter {
    fn open(&self, builder: &Builder) -> Result<Database, DatabaseError> {
        builder.create_with_backend(self.clone())
    }

    fn open_again(&self, builder: &Builder) -> Result<Database, DatabaseError> {
        self.open(builder)
    }

    fn name(&self) -> String {
        "platter".to_owned()
    }
}

fn now() -> Moment {
    Moment::from_millis(1_789_000_000_000)
}

const MINUTE: Duration = Duration::from_secs(60);

fn numbered(number: usize) -> [u8; 16] {
    (number as u128).to_be_bytes()
}

fn claim(number: usize) -> Claim {
    Claim {
        id: StateId(numbered(number)),
        answers: Fingerprint(numbered(number)),
        holder: Holder(numbered(number)),
        now: now(),
        lease_until: now().after(MINUTE),
        keep_until: now().after(10 * MINUTE),
        take_over: false,
    }
}

fn running(number: usize) -> Standing {
    Standing::Running(claim(number).answers)
}

#[tokio::test]
async fn what_is_asked_at_once_shares_one_sync() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    let before = disk.syncs();
    assert_eq!(store.claim(&claim(0)).await, Ok(Standing::Yours));
    let one = disk.syncs() - before;
    disk.hold(true);
    let claims: Vec<_> = (1..=500).map(claim).collect();
    let claiming: Vec<_> = claims.iter().map(|claim| store.claim(claim)).collect();
    disk.hold(false);
    for claiming in claiming {
        assert_eq!(claiming.await, Ok(Standing::Yours));
    }
    // The first may have been alone, the others were together.
    let all = disk.syncs() - before - one;
    assert!(all <= 2 * one, "{all} syncs for 500 claims, {one} for one");
}

#[tokio::test]
async fn nothing_is_synced_for_what_changes_nothing() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    store.claim(&claim(1)).await.unwrap();
    let before = disk.syncs();
    assert_eq!(store.claim(&claim(1)).await, Ok(running(1)));
    let stranger = Holder([9; 16]);
    let id = claim(1).id;
    assert_eq!(store.end(&id, &stranger, Ending::Used).await, Ok(()));
    assert_eq!(store.get(&Handle([1; 16]), now()).await, Ok(None));
    assert_eq!(disk.syncs(), before);
}

#[tokio::test]
async fn a_claim_is_answered_once_it_is_on_the_disk() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    disk.hold(true);
    let first = claim(1);
    let mut claiming = store.claim(&first);
    let early = tokio::time::timeout(Duration::from_millis(50), &mut claiming).await;
    assert!(early.is_err(), "answered before it was on the disk");
    disk.hold(false);
    assert_eq!(claiming.await, Ok(Standing::Yours));
}

#[tokio::test]
async fn what_was_answered_survives_a_power_failure() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    for number in 0..20 {
        let claim = claim(number);
        assert_eq!(store.claim(&claim).await, Ok(Standing::Yours));
        if number % 2 == 0 {
            let ending = Ending::Answered(b"so");
            store.end(&claim.id, &claim.holder, ending).await.unwrap();
        }
        // At any time.
        let after = FileStore::on(disk.after_power_failure()).unwrap();
        for number in 0..=number {
            let found = match number % 2 {
                0 => Standing::Done(Fingerprint(numbered(number)), Some(b"so".to_vec())),
                _ => running(number),
            };
            assert_eq!(after.claim(&self::claim(number)).await, Ok(found));
        }
    }
}

#[tokio::test]
async fn a_disk_that_fails_is_no_end() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    assert_eq!(store.claim(&claim(1)).await, Ok(Standing::Yours));
    disk.break_down(true);
    for number in 2..5 {
        let failed = store.claim(&claim(number)).await.unwrap_err();
        assert!(failed.0.contains("no disk"), "{failed}");
    }
    disk.break_down(false);
    assert_eq!(store.claim(&claim(1)).await, Ok(running(1)));
    assert_eq!(store.claim(&claim(6)).await, Ok(Standing::Yours));
    assert_eq!(store.claim(&claim(6)).await, Ok(running(6)));
}

#[tokio::test]
async fn a_batch_fails_as_one() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    disk.hold(true);
    let claims: Vec<_> = (1..=50).map(claim).collect();
    let claiming: Vec<_> = claims.iter().map(|claim| store.claim(claim)).collect();
    disk.break_down(true);
    disk.hold(false);
    for claiming in claiming {
        assert!(claiming.await.is_err());
    }
    disk.break_down(false);
    // It waits for nobody, and what failed may be had.
    let late = Claim {
        take_over: true,
        now: now().after(2 * MINUTE),
        ..claim(50)
    };
    assert_eq!(store.claim(&late).await, Ok(Standing::Yours));
}

/// To begin with nothing would be to forget.
#[tokio::test]
async fn a_store_that_vanishes_is_not_begun_anew() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    assert_eq!(store.claim(&claim(1)).await, Ok(Standing::Yours));
    disk.break_down(true);
    assert!(store.claim(&claim(2)).await.is_err());
    disk.break_down(false);
    disk.0.written.lock().unwrap().clear();
    let failed = store.claim(&claim(1)).await.unwrap_err();
    assert!(failed.0.contains("not a store of ours"), "{failed}");
}

#[tokio::test]
async fn what_was_asked_for_is_done_when_the_store_is_dropped() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    let claim = claim(1);
    // Nobody waits for either of them.
    drop(store.claim(&claim));
    drop(store.end(&claim.id, &claim.holder, Ending::Answered(b"so")));
    drop(store);
    let after = FileStore::on(disk.after_power_failure()).unwrap();
    let done = Standing::Done(claim.answers, Some(b"so".to_vec()));
    assert_eq!(after.claim(&claim).await, Ok(done));
}

#[tokio::test]
async fn what_has_expired_is_removed_as_time_goes_by() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    let mut later = now();
    let mut lengths = Vec::new();
    for round in 0..10 {
        let claims: Vec<_> = (0..1000)
            .map(|number| Claim {
                now: later,
                keep_until: later.after(MINUTE),
                ..claim(round * 1000 + number)
            })
            .collect();
        let bytes = vec![7; 32 << 10];
        let bodies: Vec<_> = (0..20)
            .map(|number| Spilled {
                handle: Handle(numbered(round * 1000 + number)),
                owner: Owner(numbered(round)),
                body: &bytes,
                now: later,
                keep_until: later.after(MINUTE),
                quota: 1 << 20,
            })
            .collect();
        let claiming: Vec<_> = claims.iter().map(|claim| store.claim(claim)).collect();
        let putting: Vec<_> = bodies.iter().map(|body| store.put(body)).collect();
        for (claiming, claim) in claiming.into_iter().zip(&claims) {
            assert_eq!(claiming.await, Ok(Standing::Yours));
            let ending = Ending::Answered(b"some answer");
            drop(store.end(&claim.id, &claim.holder, ending));
        }
        for putting in putting {
            assert_eq!(putting.await, Ok(Kept::Kept));
        }
        later = later.after(2 * MINUTE);
        lengths.push(disk.len().unwrap());
    }
    // A few at a time, the last round goes as well.
    for number in 0..100 {
        let passing = Claim {
            now: later,
            keep_until: later.after(MINUTE),
            ..claim(100_000 + number)
        };
        store.claim(&passing).await.unwrap();
    }
    drop(store);
    assert!(lengths[9] <= 2 * lengths[2], "it grows: {lengths:?}");
    let database = disk::open(&disk, false).unwrap();
    assert!(rows::<&[u8; 16], &[u8; 49]>(&database, "states") <= 100);
    assert!(rows::<&[u8; 24], ()>(&database, "states by time") <= 100);
    assert_eq!(rows::<&[u8; 24], &[u8]>(&database, "answers by time"), 0);
    assert_eq!(rows::<&[u8; 16], &[u8]>(&database, "bodies"), 0);
    assert_eq!(rows::<&[u8; 24], ()>(&database, "bodies by time"), 0);
    assert_eq!(rows::<&[u8; 40], ()>(&database, "bodies by owner"), 0);
    assert_eq!(rows::<&[u8; 16], u64>(&database, "owner bytes"), 0);
}

fn rows<K: Key + 'static, V: Value + 'static>(database: &Database, table: &str) -> u64 {
    let transaction = database.begin_read().unwrap();
    let definition: TableDefinition<'_, K, V> = TableDefinition::new(table);
    transaction.open_table(definition).unwrap().len().unwrap()
}

#[tokio::test]
async fn a_store_of_another_format_is_refused() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    assert_eq!(store.claim(&claim(1)).await, Ok(Standing::Yours));
    drop(store);
    set_format(&disk, FORMAT + 1);
    let error = FileStore::on(disk.clone()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    let words =
        "the file platter cannot be used as a store: it has format 2, and this version reads 1";
    assert_eq!(error.to_string(), words);
    // Nothing is lost for whoever can read it.
    set_format(&disk, FORMAT);
    let store = FileStore::on(disk).unwrap();
    assert_eq!(store.claim(&claim(1)).await, Ok(running(1)));
}

fn set_format(disk: &Platter, format: u64) {
    let database = Builder::new().create_with_backend(disk.clone()).unwrap();
    let transaction = database.begin_write().unwrap();
    let about: TableDefinition<'_, &str, u64> = TableDefinition::new("antiphon");
    transaction
        .open_table(about)
        .unwrap()
        .insert("format", format)
        .unwrap();
    transaction.commit().unwrap();
}

#[tokio::test]
async fn a_database_of_someone_else_is_refused() {
    let disk = Platter::default();
    let database = Builder::new().create_with_backend(disk.clone()).unwrap();
    let theirs: TableDefinition<'_, &str, u64> = TableDefinition::new("theirs");
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(theirs)
        .unwrap()
        .insert("kept", 7)
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    let error = FileStore::on(disk.clone()).unwrap_err();
    assert!(error.to_string().contains("not a store of ours"), "{error}");
    let database = Builder::new().create_with_backend(disk).unwrap();
    let table = database.begin_read().unwrap().open_table(theirs).unwrap();
    assert_eq!(table.get("kept").unwrap().unwrap().value(), 7);
    assert_eq!(
        database
            .begin_read()
            .unwrap()
            .list_tables()
            .unwrap()
            .count(),
        1
    );
}
