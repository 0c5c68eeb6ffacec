//! What came of a step is known however the process ended that did it.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use antiphon::store::{
    Ended, Entered, Entry, FileStore, Fingerprint, Holder, Journal, Moment, StepId,
};
use antiphon_tests::ground::Ground;

const MINUTE: Duration = Duration::from_secs(60);

fn now() -> Moment {
    Moment::from_millis(1_789_000_000_000)
}

fn entry(number: u128) -> Entry {
    let number = number.to_be_bytes();
    Entry {
        step: StepId(number),
        upon: Fingerprint(number),
        holder: Holder(number),
        now: now(),
        lease_until: now().after(MINUTE),
        keep_until: now().after(10 * MINUTE),
        take_over: false,
    }
}

fn later(number: u128, after: Duration) -> Entry {
    let now = now().after(after);
    Entry {
        now,
        lease_until: now.after(MINUTE),
        keep_until: now.after(10 * MINUTE),
        ..entry(number)
    }
}

fn running(number: u128) -> Entered {
    Entered::Running(entry(number).upon)
}

fn done(number: u128, result: &[u8]) -> Entered {
    Entered::Done(entry(number).upon, result.to_vec())
}

async fn end(store: &FileStore, number: u128, ended: Ended<'_>) {
    let Entry { step, holder, .. } = entry(number);
    store.end(&step, &holder, ended).await.unwrap();
}

#[tokio::test]
async fn what_is_known_of_steps_is_there_when_it_is_opened_again() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).unwrap();
    for number in 1..=5 {
        assert_eq!(store.enter(&entry(number)).await, Ok(Entered::Yours));
    }
    let large = vec![7; 1 << 20];
    end(&store, 2, Ended::Done(&large)).await;
    end(&store, 3, Ended::Done(b"")).await;
    end(&store, 4, Ended::Failed).await;
    let Entry { step, holder, .. } = entry(5);
    let until = now().after(5 * MINUTE);
    store.renew(&step, &holder, until).await.unwrap();
    drop(store);

    let store = FileStore::open(ground.file("store")).unwrap();
    assert_eq!(store.enter(&entry(1)).await, Ok(running(1)));
    assert_eq!(store.enter(&entry(2)).await, Ok(done(2, &large)));
    assert_eq!(store.enter(&entry(3)).await, Ok(done(3, b"")));
    assert_eq!(store.enter(&entry(4)).await, Ok(Entered::Yours));
    assert_eq!(store.enter(&later(5, 2 * MINUTE)).await, Ok(running(5)));
    // Whoever entered it before may still end it.
    end(&store, 1, Ended::Done(b"at last")).await;
    assert_eq!(store.enter(&entry(1)).await, Ok(done(1, b"at last")));
    assert!(!store.is_shared());
}

#[tokio::test]
async fn when_there_are_many_steps_new_ones_are_refused_and_nothing_is_forgotten() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).unwrap().steps(3);
    for number in 1..=3 {
        assert_eq!(store.enter(&entry(number)).await, Ok(Entered::Yours));
    }
    assert_eq!(store.enter(&entry(4)).await, Ok(Entered::Full));
    end(&store, 2, Ended::Done(b"done")).await;
    assert_eq!(store.enter(&entry(4)).await, Ok(Entered::Full));
    assert_eq!(store.enter(&entry(1)).await, Ok(running(1)));
    assert_eq!(store.enter(&entry(2)).await, Ok(done(2, b"done")));
    // What failed makes room, and so does what expires.
    end(&store, 1, Ended::Failed).await;
    assert_eq!(store.enter(&entry(4)).await, Ok(Entered::Yours));
    assert_eq!(store.enter(&entry(5)).await, Ok(Entered::Full));
    let late = later(5, 11 * MINUTE);
    assert_eq!(store.enter(&late).await, Ok(Entered::Yours));
}

#[tokio::test]
async fn what_was_begun_may_end_beyond_the_limit_and_then_no_more_begin() {
    let ground = Ground::new();
    let path = ground.file("store");
    let store = FileStore::open(&path).unwrap().step_bytes(10);
    for number in 1..=3 {
        assert_eq!(store.enter(&entry(number)).await, Ok(Entered::Yours));
    }
    for number in 1..=2 {
        end(&store, number, Ended::Done(b"seven b")).await;
    }
    assert_eq!(store.enter(&entry(4)).await, Ok(Entered::Full));
    drop(store);
    let store = FileStore::open(&path).unwrap().step_bytes(10);
    assert_eq!(store.enter(&entry(4)).await, Ok(Entered::Full));
    end(&store, 3, Ended::Done(b"seven b")).await;
    for number in 1..=3 {
        let found = store.enter(&entry(number)).await;
        assert_eq!(found, Ok(done(number, b"seven b")));
    }
    let late = later(4, 11 * MINUTE);
    assert_eq!(store.enter(&late).await, Ok(Entered::Yours));
}

/// The store that the process below uses, and what it does there.
const STORE: &str = "ANTIPHON_TESTS_STORE";
const FIRST: &str = "ANTIPHON_TESTS_FIRST";

/// Does steps and tells of them, until it is killed; does nothing when it is run as a test.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed() {
    let Some(path) = std::env::var_os(STORE) else {
        return;
    };
    let store = FileStore::open(path).unwrap();
    let first = std::env::var(FIRST).unwrap().parse::<u128>().unwrap();
    let busy = |line: u128| {
        let store = store.clone();
        async move {
            for number in (first + line..).step_by(8) {
                assert_eq!(store.enter(&entry(number)).await, Ok(Entered::Yours));
                println!("entered {number}");
                if number % 3 == 0 {
                    end(&store, number, Ended::Done(&number.to_be_bytes())).await;
                    println!("done {number}");
                }
            }
        }
    };
    let tasks: Vec<_> = (0..8).map(|line| tokio::spawn(busy(line))).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

fn start(store: &Path, first: u32) -> (Child, impl Iterator<Item = String>) {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process_that_is_killed", "--nocapture"])
        .env(STORE, store)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    (process, lines.map(Result::unwrap))
}

#[tokio::test]
async fn a_process_that_is_killed_leaves_its_entries_and_no_results_but_those_it_wrote() {
    let ground = Ground::new();
    let path = ground.file("store");
    let (mut begun, mut finished) = (Vec::new(), Vec::new());
    for round in 0..3 {
        let before = begun.len();
        let (mut process, lines) = start(&path, round * 1_000_000);
        for line in lines {
            if let Some((_, number)) = line.split_once("entered ") {
                begun.push(number.parse::<u128>().unwrap());
            } else if let Some((_, number)) = line.split_once("done ") {
                finished.push(number.parse::<u128>().unwrap());
            }
            if begun.len() == before + 100 {
                // What it told before this still comes.
                process.kill().unwrap();
            }
        }
        process.wait().unwrap();
        assert!(begun.len() >= before + 100, "it never got far");
    }
    let store = FileStore::open(&path).unwrap();
    for number in &begun {
        let found = store.enter(&entry(*number)).await.unwrap();
        let result = done(*number, &number.to_be_bytes());
        // It may have been killed after it wrote a result, and before it told.
        let known = match number % 3 {
            0 if finished.contains(number) => found == result,
            0 => found == result || found == running(*number),
            _ => found == running(*number),
        };
        assert!(known, "{number} was entered, and now it is {found:?}");
    }
    // Nobody knows how far it came with those, until someone takes over.
    let left = *begun.iter().find(|number| *number % 3 != 0).unwrap();
    let late = later(left, 2 * MINUTE);
    let unknown = Entered::Unknown(late.upon);
    assert_eq!(store.enter(&late).await, Ok(unknown));
    let successor = Entry {
        holder: Holder([9; 16]),
        take_over: true,
        ..late
    };
    assert_eq!(store.enter(&successor).await, Ok(Entered::Yours));
    end(&store, left, Ended::Done(b"by the dead")).await;
    let found = store.enter(&later(left, 2 * MINUTE)).await;
    assert_eq!(found, Ok(running(left)));
}
