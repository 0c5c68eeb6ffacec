//! Steps, on such a disk.

use redb::{ReadableTable, TableHandle};

use super::*;
use crate::store::{Ended, Entered, Entry, Journal, StepId};

fn entry(number: usize) -> Entry {
    Entry {
        step: StepId(numbered(number)),
        upon: Fingerprint(numbered(number)),
        holder: Holder(numbered(number)),
        now: now(),
        lease_until: now().after(MINUTE),
        keep_until: now().after(10 * MINUTE),
        take_over: false,
    }
}

fn entered(number: usize) -> Entered {
    Entered::Running(entry(number).upon)
}

fn done(number: usize, result: &[u8]) -> Entered {
    Entered::Done(entry(number).upon, result.to_vec())
}

async fn end(store: &FileStore, number: usize, ended: Ended<'_>) {
    let Entry { step, holder, .. } = entry(number);
    Journal::end(store, &step, &holder, ended).await.unwrap();
}

#[tokio::test]
async fn an_entry_and_a_result_are_answered_once_they_are_on_the_disk() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    let first = entry(1);
    disk.hold(true);
    let mut entering = store.enter(&first);
    let early = tokio::time::timeout(Duration::from_millis(50), &mut entering).await;
    assert!(early.is_err(), "entered before it was on the disk");
    disk.hold(false);
    assert_eq!(entering.await, Ok(Entered::Yours));
    disk.hold(true);
    let mut ending = Journal::end(&store, &first.step, &first.holder, Ended::Done(b"so"));
    let early = tokio::time::timeout(Duration::from_millis(50), &mut ending).await;
    assert!(early.is_err(), "ended before it was on the disk");
    disk.hold(false);
    assert_eq!(ending.await, Ok(()));
}

#[tokio::test]
async fn what_was_answered_of_steps_survives_a_power_failure() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    for number in 0..15 {
        assert_eq!(store.enter(&entry(number)).await, Ok(Entered::Yours));
        match number % 3 {
            0 => end(&store, number, Ended::Done(b"so")).await,
            1 => end(&store, number, Ended::Failed).await,
            _ => {}
        }
        // At any time.
        let after = FileStore::on(disk.after_power_failure()).unwrap();
        for number in 0..=number {
            let found = match number % 3 {
                0 => done(number, b"so"),
                1 => Entered::Yours,
                _ => entered(number),
            };
            assert_eq!(after.enter(&entry(number)).await, Ok(found));
        }
    }
}

#[tokio::test]
async fn nothing_is_synced_for_steps_that_are_known() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    for number in 1..=2 {
        assert_eq!(store.enter(&entry(number)).await, Ok(Entered::Yours));
    }
    end(&store, 2, Ended::Done(b"so")).await;
    let before = disk.syncs();
    assert_eq!(store.enter(&entry(1)).await, Ok(entered(1)));
    assert_eq!(store.enter(&entry(2)).await, Ok(done(2, b"so")));
    end(&store, 2, Ended::Failed).await;
    assert_eq!(disk.syncs(), before);
}

#[tokio::test]
async fn steps_that_have_expired_are_removed_as_time_goes_by() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    let at = |number, now: Moment| Entry {
        now,
        keep_until: now.after(MINUTE),
        ..entry(number)
    };
    let first: Vec<_> = (0..1000).map(|number| at(number, now())).collect();
    let entering: Vec<_> = first.iter().map(|entry| store.enter(entry)).collect();
    for entering in entering {
        assert_eq!(entering.await, Ok(Entered::Yours));
    }
    // Some are done, some failed, and some nobody heard of again.
    for number in 0..1000 {
        let Entry { step, holder, .. } = entry(number);
        match number % 3 {
            0 => drop(Journal::end(&store, &step, &holder, Ended::Done(&[7; 900]))),
            1 => drop(Journal::end(&store, &step, &holder, Ended::Failed)),
            _ => {}
        }
    }
    let later = now().after(2 * MINUTE);
    for number in 1000..1100 {
        let passing = at(number, later);
        assert_eq!(store.enter(&passing).await, Ok(Entered::Yours));
    }
    drop(store);
    let database = disk::open(&disk, false).unwrap();
    assert_eq!(rows::<&[u8; 16], &[u8; 49]>(&database, "steps"), 100);
    assert_eq!(rows::<&[u8; 24], ()>(&database, "steps by time"), 100);
    assert_eq!(rows::<&[u8; 24], &[u8]>(&database, "results by time"), 0);
    let bytes: TableDefinition<'_, (), u64> = TableDefinition::new("result bytes");
    let bytes = database.begin_read().unwrap().open_table(bytes).unwrap();
    assert_eq!(bytes.get(()).unwrap().unwrap().value(), 0);
}

/// As it was written before there was a journal.
#[tokio::test]
async fn a_store_without_tables_for_steps_gets_them() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    assert_eq!(store.claim(&claim(1)).await, Ok(Standing::Yours));
    drop(store);
    change(&disk, |transaction| {
        let of_steps = |name: &str| name.contains("step") || name.contains("result");
        let tables: Vec<_> = transaction.list_tables().unwrap().collect();
        let tables: Vec<_> = tables
            .into_iter()
            .filter(|table| of_steps(table.name()))
            .collect();
        assert_eq!(tables.len(), 4);
        for table in tables {
            assert!(transaction.delete_table(table).unwrap());
        }
    });
    let store = FileStore::on(disk.clone()).unwrap();
    assert_eq!(store.claim(&claim(1)).await, Ok(running(1)));
    assert_eq!(store.enter(&entry(1)).await, Ok(Entered::Yours));
    end(&store, 1, Ended::Done(b"so")).await;
    drop(store);
    let store = FileStore::on(disk).unwrap();
    assert_eq!(store.enter(&entry(1)).await, Ok(done(1, b"so")));
    assert_eq!(store.claim(&claim(1)).await, Ok(running(1)));
}

#[tokio::test]
async fn a_damaged_step_is_unavailable_and_the_others_are_not() {
    let disk = Platter::default();
    let store = FileStore::on(disk.clone()).unwrap();
    for number in 1..=3 {
        assert_eq!(store.enter(&entry(number)).await, Ok(Entered::Yours));
        end(&store, number, Ended::Done(b"so")).await;
    }
    drop(store);
    change(&disk, |transaction| {
        let steps: TableDefinition<'_, &[u8; 16], &[u8; 49]> = TableDefinition::new("steps");
        let mut steps = transaction.open_table(steps).unwrap();
        let record = *steps.get(&numbered(1)).unwrap().unwrap().value();
        let mut scribbled = record;
        scribbled[0] = 0xa5;
        steps.insert(&numbered(1), &scribbled).unwrap();
        // It says that it is done, and its result is gone.
        let results: TableDefinition<'_, &[u8; 24], &[u8]> =
            TableDefinition::new("results by time");
        let mut results = transaction.open_table(results).unwrap();
        results.retain(|due, _| due[8..] != numbered(2)).unwrap();
    });
    let store = FileStore::on(disk).unwrap();
    for number in 1..=2 {
        let failed = store.enter(&entry(number)).await.unwrap_err();
        let words = format!("the record of step {}", entry(number).step);
        assert!(failed.0.contains(&words), "{failed}");
    }
    let Entry { step, holder, .. } = entry(1);
    let ended = Journal::end(&store, &step, &holder, Ended::Failed).await;
    assert!(ended.is_err());
    assert_eq!(store.enter(&entry(3)).await, Ok(done(3, b"so")));
    assert_eq!(store.enter(&entry(4)).await, Ok(Entered::Yours));
}

fn change(disk: &Platter, change: impl FnOnce(&redb::WriteTransaction)) {
    let database = disk::open(disk, false).unwrap();
    let transaction = database.begin_write().unwrap();
    change(&transaction);
    transaction.commit().unwrap();
}
