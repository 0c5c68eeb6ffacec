//! Where tokens are kept, and who shares them.

use std::{
    error::Error,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use antiphon::{
    Http,
    client::{
        ErrorKind, Pending,
        oauth::{MemoryTokens, OAuth, Secret, TokenFiles, TokenStore},
    },
};
use serde_json::{Value, json};

use crate::{client, connect, desk, guarded::Guarded, person, says, told, usual};

type Boxed = Box<dyn Error + Send + Sync>;

/// A folder that is gone in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("antiphon-client-oauth-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A store that fails where it is told to.
#[derive(Clone, Default)]
struct Shelf {
    kept: MemoryTokens,
    fails: Arc<Mutex<Vec<&'static str>>>,
    keys: Arc<Mutex<Vec<String>>>,
}

impl Shelf {
    fn fails(&self, at: &[&'static str]) {
        *self.fails.lock().expect("unpoisoned") = at.to_vec();
    }

    fn at(&self, what: &'static str, key: &str) -> Result<(), Boxed> {
        self.keys.lock().expect("unpoisoned").push(key.to_owned());
        match self.fails.lock().expect("unpoisoned").contains(&what) {
            true => Err(format!("no {what} today").into()),
            false => Ok(()),
        }
    }
}

impl TokenStore for Shelf {
    fn load<'a>(&'a self, key: &'a str) -> Pending<'a, Result<Option<Secret>, Boxed>> {
        Box::pin(async move {
            self.at("load", key)?;
            self.kept.load(key).await
        })
    }

    fn save<'a>(&'a self, key: &'a str, value: &'a Secret) -> Pending<'a, Result<(), Boxed>> {
        Box::pin(async move {
            self.at("save", key)?;
            self.kept.save(key, value).await
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> Pending<'a, Result<(), Boxed>> {
        Box::pin(async move {
            self.at("remove", key)?;
            self.kept.remove(key).await
        })
    }
}

fn key(guarded: &Guarded) -> String {
    format!("tokens {}", guarded.url())
}

/// AUTH-C-10, AUTH-C-25, AUTH-C-48, AUTH-B-06: processes that share files share sign-ins, and use
/// each token that renews others once.
#[tokio::test]
async fn tokens_are_shared_through_files() {
    let (authority, guarded) = usual().await;
    let folder = Folder::new();
    // Nothing else is shared, as between processes.
    let program = || {
        let (back, count) = person();
        let oauth = OAuth::new("Desk", back).store(TokenFiles::in_folder(&folder.0));
        (Http::new(guarded.url()).oauth(oauth), count)
    };
    let ((one, first), (other, second)) = (program(), program());
    let one = client().connect(one).await.expect("let in");
    let other = client().connect(other).await.expect("let in");
    for _ in 0..3 {
        authority.expire();
        for connection in [&one, &other, &one] {
            says(connection, "whoami").await.expect("text");
        }
    }
    assert!(!authority.was_deceived());
    assert_eq!(authority.asked("refresh_token").len(), 3);
    assert_eq!(
        first.load(Ordering::SeqCst) + second.load(Ordering::SeqCst),
        1
    );
    // And where neither can be renewed, one sign-in is enough for both.
    authority.revoke();
    for connection in [&one, &other] {
        says(connection, "whoami").await.expect("text");
    }
    assert_eq!(authority.visits(), 2);
    let files = std::fs::read_dir(&folder.0).expect("a folder").count();
    assert_eq!(files, 2, "tokens, and a registration");
}

/// Who is signed out by somebody else does not sign in again by what they remember.
#[tokio::test]
async fn signing_out_counts_for_all() {
    let (authority, guarded) = usual().await;
    let store = MemoryTokens::new();
    let connection = connect(&guarded, desk().store(store.clone())).await;
    let connection = connection.expect("let in");
    let http = Http::new(guarded.url()).oauth(desk().store(store.clone()));
    assert!(http.sign_out().await.expect("a store"));
    authority.expire();
    says(&connection, "whoami").await.expect("text");
    assert_eq!(
        (authority.asked("refresh_token").len(), authority.visits()),
        (0, 2)
    );
    // And who is signed in by somebody else need not.
    authority.expire();
    http.sign_in(&[]).await.expect("signed in");
    says(&connection, "whoami").await.expect("text");
    assert_eq!(
        (authority.asked("refresh_token").len(), authority.visits()),
        (0, 3)
    );
}

/// A store that cannot be written costs nobody their token; one that cannot be read does.
#[tokio::test]
async fn stores_may_fail() {
    let (authority, guarded) = usual().await;
    let shelf = Shelf::default();
    shelf.fails(&["load"]);
    let error = connect(&guarded, desk().store(shelf.clone())).await;
    let error = error.expect_err("no store");
    assert!(told(&error).contains("no load today"), "{error:?}");
    assert_eq!(guarded.asked().len(), 0, "nothing is sent");

    shelf.fails(&["save"]);
    let connection = connect(&guarded, desk().store(shelf.clone())).await;
    let connection = connection.expect("let in");
    for turn in 1..=3 {
        authority.expire();
        says(&connection, "whoami").await.expect("text");
        assert_eq!(authority.asked("refresh_token").len(), turn);
    }
    // What was read once is enough.
    shelf.fails(&["save", "load"]);
    authority.expire();
    says(&connection, "whoami").await.expect("text");
    assert!(!authority.was_deceived());
    assert_eq!(authority.visits(), 1);

    // Nor is what it kept from before taken for news.
    let shelf = Shelf::default();
    let connection = connect(&guarded, desk().store(shelf.clone())).await;
    let connection = connection.expect("let in");
    shelf.fails(&["save"]);
    for _ in 0..3 {
        authority.expire();
        says(&connection, "whoami").await.expect("text");
    }
    assert!(!authority.was_deceived());
    shelf.fails(&["remove"]);
    let http = Http::new(guarded.url()).oauth(desk().store(shelf.clone()));
    let error = http.sign_out().await.expect_err("not forgotten");
    assert!(matches!(error.kind(), ErrorKind::Invalid), "{error:?}");
    assert!(told(&error).contains("no remove today"), "{error:?}");
    // AUTH-C-25: tokens by their server, registrations by their issuer; and nothing secret.
    let keys = shelf.keys.lock().expect("unpoisoned").clone();
    let client = format!("client {}", authority.issuer());
    assert!(
        keys.iter().all(|it| *it == key(&guarded) || *it == client),
        "{keys:?}"
    );
}

/// What somebody else wrote there, or another version, is as good as nothing.
#[tokio::test]
async fn what_is_not_understood_is_nothing() {
    let good = json!({
        "issuer": "https://as.example", "client_id": "c", "resource": "r", "scopes": [],
        "access_token": "a b", "refresh_token": "canary",
    });
    let with_key = |value: Value| {
        let mut good = good.clone();
        good["access_token"] = "ab".into();
        good["key"] = value;
        good
    };
    for stored in [
        "".to_owned(),
        "null".to_owned(),
        r#"{"version":2}"#.to_owned(),
        good.to_string(),
        with_key("not base64!".into()).to_string(),
        with_key("AAAA".into()).to_string(),
    ] {
        let (authority, guarded) = usual().await;
        let shelf = Shelf::default();
        let secret = Secret::new(stored.clone());
        shelf
            .kept
            .save(&key(&guarded), &secret)
            .await
            .expect("kept");
        let http = Http::new(guarded.url()).oauth(desk().store(shelf.clone()));
        let connection = client().connect(http.clone()).await.expect("let in");
        says(&connection, "whoami").await.expect(&stored);
        assert_eq!(authority.visits(), 1);
        shelf
            .kept
            .save(&key(&guarded), &secret)
            .await
            .expect("kept");
        http.sign_out().await.expect("forgotten");
        let kept = shelf.kept.load(&key(&guarded)).await.expect("a store");
        assert!(kept.is_none());
    }
}

/// Tokens that others could read are not used; signing in anew, or out, is a way out.
#[cfg(unix)]
#[tokio::test]
async fn files_that_others_can_read_are_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let (_authority, guarded) = usual().await;
    let folder = Folder::new();
    let http = Http::new(guarded.url()).oauth(desk().store(TokenFiles::in_folder(&folder.0)));
    let open = || {
        for file in std::fs::read_dir(&folder.0).expect("a folder") {
            let path = file.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("text");
            if text.contains("access_token") {
                let mode = std::fs::Permissions::from_mode(0o644);
                std::fs::set_permissions(&path, mode).expect("changed");
            }
        }
    };
    http.sign_in(&[]).await.expect("signed in");
    open();
    let error = client().connect(http.clone()).await.expect_err("not used");
    let text = told(&error);
    assert!(
        text.contains("others") && !text.contains("canary"),
        "{text}"
    );
    http.sign_in(&[]).await.expect("signed in");
    client().connect(http.clone()).await.expect("let in");
    open();
    assert!(http.sign_out().await.expect("forgotten"));
    client().connect(http).await.expect("let in");
}

/// One server's tokens are none of another's.
#[tokio::test]
async fn servers_do_not_share_tokens() {
    let (authority, first) = usual().await;
    let second = Guarded::start(&authority, crate::Manners::default()).await;
    let oauth = desk();
    for guarded in [&first, &second] {
        let connection = connect(guarded, oauth.clone()).await.expect("let in");
        says(&connection, "whoami").await.expect("text");
    }
    assert_eq!(authority.visits(), 2);
    assert_eq!(authority.seen("/register").len(), 1, "it is known by now");
    for asked in first.asked().iter().chain(&second.asked()) {
        if let Some(granted) = asked.token().and_then(|token| authority.granted(token)) {
            let host = asked.headers["host"].to_str().expect("ASCII");
            assert_eq!(granted.resource, format!("http://{host}/mcp"));
        }
    }
}
