//! A store in a file outlives the process, and says what is wrong with a file it cannot use.

use std::{
    fs,
    io::{self, BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use antiphon::store::{
    Claim, Ending, FileStore, Fingerprint, Guard, Handle, Holder, Kept, Moment, Owner, Spill,
    Spilled, Standing, StateId,
};
use antiphon_tests::ground::Ground;

const MINUTE: Duration = Duration::from_secs(60);

fn now() -> Moment {
    Moment::from_millis(1_789_000_000_000)
}

fn numbered(number: u128) -> [u8; 16] {
    number.to_be_bytes()
}

fn claim(number: u128) -> Claim {
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

fn later(number: u128, after: Duration) -> Claim {
    let now = now().after(after);
    Claim {
        now,
        lease_until: now.after(MINUTE),
        keep_until: now.after(10 * MINUTE),
        ..claim(number)
    }
}

fn running(number: u128) -> Standing {
    Standing::Running(claim(number).answers)
}

fn done(number: u128, answer: Option<&[u8]>) -> Standing {
    Standing::Done(claim(number).answers, answer.map(<[u8]>::to_vec))
}

async fn end(store: &FileStore, number: u128, ending: Ending<'_>) {
    let claim = claim(number);
    store.end(&claim.id, &claim.holder, ending).await.unwrap();
}

fn body(number: u128, bytes: &[u8]) -> Spilled<'_> {
    Spilled {
        handle: Handle(numbered(number)),
        owner: Owner([1; 16]),
        body: bytes,
        now: now(),
        keep_until: now().after(10 * MINUTE),
        quota: 1 << 20,
    }
}

#[tokio::test]
async fn what_it_knows_is_there_when_it_is_opened_again() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).unwrap();
    for number in 1..=5 {
        assert_eq!(store.claim(&claim(number)).await, Ok(Standing::Yours));
    }
    end(&store, 2, Ending::Answered(b"answered")).await;
    end(&store, 3, Ending::Used).await;
    end(&store, 4, Ending::Released).await;
    let until = now().after(5 * MINUTE);
    let renewed = claim(5);
    let renewing = store.renew(&renewed.id, &renewed.holder, until);
    renewing.await.unwrap();
    let bytes = vec![7; 1 << 20];
    assert_eq!(store.put(&body(1, &bytes)).await, Ok(Kept::Kept));
    drop(store);

    let store = FileStore::open(ground.file("store")).unwrap();
    assert_eq!(store.claim(&claim(1)).await, Ok(running(1)));
    assert_eq!(store.claim(&claim(2)).await, Ok(done(2, Some(b"answered"))));
    assert_eq!(store.claim(&claim(3)).await, Ok(done(3, None)));
    assert_eq!(store.claim(&claim(4)).await, Ok(Standing::Yours));
    assert_eq!(store.claim(&later(5, 2 * MINUTE)).await, Ok(running(5)));
    let found = store.get(&Handle(numbered(1)), now()).await;
    assert_eq!(found, Ok(Some(bytes)));
    // Quotas are remembered too.
    assert_eq!(store.put(&body(2, b"more")).await, Ok(Kept::OverQuota));
    // Whoever claimed it before may still end it.
    end(&store, 1, Ending::Used).await;
    assert_eq!(store.claim(&claim(1)).await, Ok(done(1, None)));
}

#[tokio::test]
async fn clones_share_one_store() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).unwrap();
    let clone = store.clone();
    assert_eq!(store.claim(&claim(1)).await, Ok(Standing::Yours));
    drop(store);
    assert_eq!(clone.claim(&claim(1)).await, Ok(running(1)));
    assert!(!Guard::is_shared(&clone));
    assert!(!Spill::is_shared(&clone));
}

#[tokio::test]
async fn when_there_is_no_room_claims_are_refused_and_nothing_is_forgotten() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).unwrap().markers(3);
    for number in 1..=3 {
        assert_eq!(store.claim(&claim(number)).await, Ok(Standing::Yours));
    }
    assert_eq!(store.claim(&claim(4)).await, Ok(Standing::Full));
    assert_eq!(store.claim(&claim(1)).await, Ok(running(1)));
    end(&store, 2, Ending::Used).await;
    assert_eq!(store.claim(&claim(4)).await, Ok(Standing::Full));
    end(&store, 1, Ending::Released).await;
    assert_eq!(store.claim(&claim(4)).await, Ok(Standing::Full));
    assert_eq!(store.claim(&claim(1)).await, Ok(Standing::Yours));
    // What expires makes room.
    let expired = later(5, 11 * MINUTE);
    assert_eq!(store.claim(&expired).await, Ok(Standing::Yours));
}

#[tokio::test]
async fn answers_go_when_there_are_too_many_but_not_that_they_were_given() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).unwrap();
    let store = store.answer_bytes(10);
    for number in 1..=4 {
        let claim = later(number, Duration::from_millis(number as u64));
        assert_eq!(store.claim(&claim).await, Ok(Standing::Yours));
        end(&store, number, Ending::Answered(b"12345")).await;
    }
    for number in 1..=2 {
        assert_eq!(store.claim(&claim(number)).await, Ok(done(number, None)));
    }
    for number in 3..=4 {
        let kept = done(number, Some(b"12345"));
        assert_eq!(store.claim(&claim(number)).await, Ok(kept));
    }
    // One that is larger than all of them together makes no room for itself.
    assert_eq!(store.claim(&claim(5)).await, Ok(Standing::Yours));
    end(&store, 5, Ending::Answered(b"12345678901")).await;
    assert_eq!(store.claim(&claim(5)).await, Ok(done(5, None)));
    let kept = done(4, Some(b"12345"));
    assert_eq!(store.claim(&claim(4)).await, Ok(kept));
}

#[tokio::test]
async fn bodies_are_refused_when_there_is_no_room_until_others_expire() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).unwrap();
    let store = store.body_bytes(10);
    assert_eq!(store.put(&body(1, b"123456")).await, Ok(Kept::Kept));
    assert_eq!(store.put(&body(2, b"12345")).await, Ok(Kept::Full));
    assert_eq!(store.get(&Handle(numbered(2)), now()).await, Ok(None));
    let late = Spilled {
        now: now().after(11 * MINUTE),
        ..body(2, b"12345")
    };
    assert_eq!(store.put(&late).await, Ok(Kept::Kept));
}

/// As after a failure of which nobody knows what became of it.
#[tokio::test]
async fn a_body_that_is_brought_again_is_counted_once() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).unwrap();
    for _ in 0..3 {
        let body = Spilled {
            quota: 4,
            ..body(1, b"body")
        };
        assert_eq!(store.put(&body).await, Ok(Kept::Kept));
    }
    let found = store.get(&Handle(numbered(1)), now()).await;
    assert_eq!(found, Ok(Some(b"body".to_vec())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_claims_at_once_are_each_answered_rightly() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).unwrap();
    // Ten for each of a hundred states.
    let claiming = |number: u128| {
        let store = store.clone();
        tokio::spawn(async move {
            let claim = Claim {
                answers: Fingerprint(numbered(number)),
                holder: Holder(numbered(number)),
                ..claim(number % 100)
            };
            (claim.clone(), store.claim(&claim).await.unwrap())
        })
    };
    let tasks: Vec<_> = (0..1000).map(claiming).collect();
    let mut found = Vec::new();
    for task in tasks {
        found.push(task.await.unwrap());
    }
    for number in 0..100 {
        let of_one = || {
            found
                .iter()
                .filter(|(claim, _)| claim.id.0 == numbered(number))
        };
        let granted: Vec<_> = of_one().filter(|(_, it)| *it == Standing::Yours).collect();
        let [(winner, _)] = granted.as_slice() else {
            panic!("{} of state {number} were granted", granted.len());
        };
        let running = Standing::Running(winner.answers);
        assert_eq!(of_one().filter(|(_, it)| *it == running).count(), 9);
    }
}

#[tokio::test]
async fn a_store_is_open_once() {
    let ground = Ground::new();
    let path = ground.file("store");
    let store = FileStore::open(&path).unwrap();
    let error = FileStore::open(&path).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
    let words = format!(
        "the store {} is open already, here or in another process",
        path.display()
    );
    assert_eq!(error.to_string(), words);
    assert_eq!(store.claim(&claim(1)).await, Ok(Standing::Yours));
    drop(store);
    let store = FileStore::open(&path).unwrap();
    assert_eq!(store.claim(&claim(1)).await, Ok(running(1)));
}

fn refused(path: &Path, kind: io::ErrorKind) -> String {
    let error = FileStore::open(path).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    let words = error.to_string();
    assert!(words.contains(&path.display().to_string()), "{words}");
    words
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let ground = Ground::new();
    let path = ground.file("letter");
    for text in ["short", &"A letter to a friend. ".repeat(10_000)] {
        fs::write(&path, text).unwrap();
        let words = refused(&path, io::ErrorKind::InvalidData);
        assert!(words.contains("cannot be used as a store"), "{words}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn where_there_can_be_no_file_the_system_says_why() {
    let ground = Ground::new();
    refused(&ground.file("missing/store"), io::ErrorKind::NotFound);
    refused(ground.path(), io::ErrorKind::IsADirectory);
}

#[tokio::test]
async fn a_damaged_store_is_refused_and_left_alone() {
    let ground = Ground::new();
    let path = ground.file("store");
    let store = FileStore::open(&path).unwrap();
    for number in 0..200 {
        assert_eq!(store.claim(&claim(number)).await, Ok(Standing::Yours));
    }
    drop(store);
    let whole = fs::read(&path).unwrap();
    let mut scribbled = whole.clone();
    scribbled[64..256].fill(0xa5);
    for damaged in [&whole[..whole.len() / 2], &scribbled] {
        fs::write(&path, damaged).unwrap();
        let words = refused(&path, io::ErrorKind::InvalidData);
        assert!(words.contains("cannot be used as a store"), "{words}");
        assert!(fs::read(&path).unwrap() == damaged, "it was changed");
    }
    // It is the damage that is refused.
    fs::write(&path, &whole).unwrap();
    let store = FileStore::open(&path).unwrap();
    assert_eq!(store.claim(&claim(7)).await, Ok(running(7)));
}

#[cfg(unix)]
#[test]
fn a_new_store_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let ground = Ground::new();
    let path = ground.file("store");
    drop(FileStore::open(&path).unwrap());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// The store that the process below uses.
const STORE: &str = "ANTIPHON_TESTS_STORE";

/// Claims and tells which claims were granted, until it is killed; does nothing when it is run as a
/// test.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed() {
    let Some(path) = std::env::var_os(STORE) else {
        return;
    };
    let store = FileStore::open(path).unwrap();
    let first = std::env::var("FIRST").unwrap().parse::<u128>().unwrap();
    let busy = |line: u128| {
        let store = store.clone();
        async move {
            for number in (first + line..).step_by(8) {
                if store.claim(&claim(number)).await == Ok(Standing::Yours) {
                    println!("granted {number}");
                }
                if number % 3 == 0 {
                    end(&store, number, Ending::Answered(b"so")).await;
                    println!("answered {number}");
                }
            }
        }
    };
    let tasks: Vec<_> = (0..8).map(|line| tokio::spawn(busy(line))).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn what_was_granted_is_known_after_a_process_was_killed() {
    let ground = Ground::new();
    let path = ground.file("store");
    let (mut granted, mut answered) = (Vec::new(), Vec::new());
    for round in 0..5_u32 {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_process_that_is_killed", "--nocapture"])
            .env(STORE, &path)
            .env("FIRST", (round * 1_000_000).to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let before = granted.len();
        for line in output.lines() {
            let line = line.unwrap();
            if let Some((_, number)) = line.split_once("granted ") {
                granted.push(number.parse::<u128>().unwrap());
            } else if let Some((_, number)) = line.split_once("answered ") {
                answered.push(number.parse::<u128>().unwrap());
            }
            if granted.len() == before + 50 {
                refused(&path, io::ErrorKind::ResourceBusy);
            }
            if granted.len() == before + 100 {
                // What it told before this still comes.
                process.kill().unwrap();
            }
        }
        process.wait().unwrap();
        assert!(granted.len() >= before + 100, "it never got far");
    }
    let store = FileStore::open(&path).unwrap();
    for number in &granted {
        let standing = store.claim(&claim(*number)).await.unwrap();
        let known = standing == running(*number) || standing == done(*number, Some(b"so"));
        assert!(known, "{number} was granted, and now it is {standing:?}");
    }
    assert!(!answered.is_empty());
    for number in answered {
        let kept = done(number, Some(b"so"));
        assert_eq!(store.claim(&claim(number)).await, Ok(kept));
    }
}
