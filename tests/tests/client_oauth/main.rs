//! Clients that sign in: with an authorization server and an MCP server on real sockets, and people
//! who go from one to the other.

mod authority;
mod browsers;
mod clocks;
mod discovery;
mod grants;
mod guarded;
mod hostile;
mod keys;
mod people;
mod proofs;
mod renewal;
mod secrets;
mod steps;
mod stores;
mod streams;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use antiphon::{
    Client, Http,
    client::{
        Connection, Era, Error, ErrorKind,
        oauth::{Callback, OAuth, SignIn},
    },
    types::Version,
};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;

use authority::{Authority, Rules};
use guarded::{Guarded, Manners};

/// Where people come back to.
const BACK: &str = "https://desk.example/callback";

/// Every era there is something to say about.
const ERAS: [Era; 3] = [
    Era::Pinned(Version::LATEST),
    Era::Pinned(Version::V2025_11_25),
    Era::Pinned(Version::V2025_06_18),
];

/// An authorization server, and an MCP server that takes its tokens.
async fn start(rules: Rules, manners: Manners) -> (Authority, Guarded) {
    let authority = Authority::start(rules).await;
    let guarded = Guarded::start(&authority, manners).await;
    (authority, guarded)
}

/// The usual two.
async fn usual() -> (Authority, Guarded) {
    start(Rules::default(), Manners::default()).await
}

/// Goes to a page on this machine: its status, and where it leads.
async fn visit(url: &str) -> (u16, String) {
    let rest = url.strip_prefix("http://").expect("a page on this machine");
    let (host, _) = rest.split_once('/').expect("a path");
    let address: SocketAddr = host.parse().expect("an address");
    let target = &rest[host.len()..];
    let request = Request::get(target)
        .body(Full::<Bytes>::default())
        .expect("a request");
    let response = antiphon_tests::http::open(address, request).await;
    let location = response.headers().get("location");
    let location = location.map(|to| to.to_str().expect("ASCII").to_owned());
    (response.status().as_u16(), location.unwrap_or_default())
}

/// A person who signs in at once, and how often.
fn person() -> (Callback, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let signs_in = count.clone();
    let back = Callback::new(BACK, move |sign_in: SignIn| {
        signs_in.fetch_add(1, Ordering::SeqCst);
        async move {
            let (status, location) = visit(sign_in.url()).await;
            match status {
                302 => Ok(location),
                status => Err(format!("the page says {status}").into()),
            }
        }
    });
    (back, count)
}

/// A program whose person signs in at once.
fn desk() -> OAuth {
    OAuth::new("Desk", person().0)
}

fn client() -> Client {
    Client::new("desk", "1.0").on_form(|form| async move {
        let word = if form.message == "A word?" {
            "first"
        } else {
            "second"
        };
        form.accept(serde_json::json!({ "word": word }))
    })
}

async fn connect(guarded: &Guarded, oauth: OAuth) -> Result<Connection, Error> {
    client()
        .connect(Http::new(guarded.url()).oauth(oauth))
        .await
}

/// Waits for what is bound to come; a test that waits longer has found a hang.
async fn soon<T>(coming: impl Future<Output = T>) -> T {
    let patience = std::time::Duration::from_secs(20);
    let came = tokio::time::timeout(patience, coming).await;
    came.expect("it never came")
}

/// What a tool says.
async fn says(connection: &Connection, tool: &str) -> Result<String, Error> {
    let result = connection.call_tool(tool, serde_json::json!({})).await?;
    assert!(!result.failed(), "{result:?}");
    Ok(result.first_text().expect("a text").to_owned())
}

/// The error of somebody who is not let in.
fn refused<T>(outcome: Result<T, Error>) -> String {
    let error = outcome.err().expect("nobody is let in");
    assert!(
        matches!(error.kind(), ErrorKind::Unauthorized { .. }),
        "{error:?}"
    );
    told(&error)
}

/// All that an error says.
fn told(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
