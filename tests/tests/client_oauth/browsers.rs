//! Browsers that come back to this machine, and others who come there.

use std::{net::SocketAddr, sync::Mutex, time::Duration};

use antiphon::{
    Http,
    client::oauth::{Loopback, MemoryTokens, OAuth, SignIn},
};
use antiphon_tests::http::{Answer, open};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use tokio::{net::TcpStream, sync::mpsc};

use crate::{
    client,
    guarded::{Guarded, Manners},
    refused, says, soon, usual, visit,
};

/// A program that shows its page to whoever receives it.
fn shown() -> (Loopback, mpsc::UnboundedReceiver<SignIn>) {
    let (show, shown) = mpsc::unbounded_channel();
    let loopback = Loopback::new()
        .no_browser()
        .show(move |sign_in| drop(show.send(sign_in.clone())));
    (loopback, shown)
}

/// A page, as a browser gets it.
async fn page(url: &str, method: &str) -> Answer {
    let rest = url.strip_prefix("http://").expect("on this machine");
    let (host, _) = rest.split_once('/').expect("a path");
    let address: SocketAddr = host.parse().expect("an address");
    assert!(address.ip().is_loopback());
    let request = Request::builder()
        .method(method)
        .uri(&rest[host.len()..])
        .body(Full::<Bytes>::default())
        .expect("a request");
    let opened = tokio::time::timeout(Duration::from_secs(5), open(address, request));
    let response = opened.await.expect("an answer");
    let (head, body) = response.into_parts();
    let body = http_body_util::BodyExt::collect(body)
        .await
        .expect("a body");
    Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        messages: Vec::new(),
        text: String::from_utf8(body.to_bytes().to_vec()).expect("UTF-8"),
    }
}

/// Goes to the page of a sign-in: where that leads.
async fn led(sign_in: &SignIn) -> String {
    let (status, location) = visit(sign_in.url()).await;
    assert_eq!(status, 302);
    location
}

/// AUTH-C-22, AUTH-C-55, AUTH-C-56: the right visit counts, whoever else comes before.
#[tokio::test]
async fn a_browser_comes_back() {
    let (authority, guarded) = usual().await;
    let (loopback, mut pages) = shown();
    let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", loopback));
    let client = client();
    let browser = async {
        let sign_in = pages.recv().await.expect("a page");
        let back = led(&sign_in).await;
        let (place, query) = back.split_once('?').expect("a query");
        for (url, method, status) in [
            (format!("{place}?code=x&state=made-up"), "GET", 400),
            (place.to_owned(), "GET", 400),
            (format!("{place}?{query}&state=twice"), "GET", 400),
            (format!("{place}?error=access_denied"), "GET", 400),
            (place.replace("/callback", "/favicon.ico"), "GET", 404),
            (
                place.replace("/callback", &format!("/?{query}")),
                "GET",
                404,
            ),
            (back.clone(), "POST", 404),
        ] {
            assert_eq!(page(&url, method).await.status, status, "{method} {url}");
        }
        let thanks = page(&back, "GET").await;
        assert_eq!(thanks.status, 200);
        for (name, value) in [
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("content-security-policy", "default-src 'none'"),
        ] {
            assert_eq!(thanks.header(name), value);
        }
        assert!(!thanks.text.contains("canary"), "{}", thanks.text);
    };
    let (connection, ()) = tokio::join!(client.connect(http), browser);
    says(&connection.expect("let in"), "whoami")
        .await
        .expect("text");
    let registration = &authority.seen("/register")[0].json;
    assert_eq!(registration["application_type"], "native");
    let uri = registration["redirect_uris"][0].as_str().expect("a URI");
    assert!(
        uri.starts_with("http://127.0.0.1:") && uri.ends_with("/callback"),
        "{uri}"
    );
}

/// Connections that say nothing, or little at a time, do not keep the browser out, nor the program
/// waiting.
#[tokio::test]
async fn who_says_nothing_keeps_nobody_waiting() {
    let (_authority, guarded) = usual().await;
    let (loopback, mut pages) = shown();
    let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", loopback));
    let client = client();
    let silent = Mutex::new(Vec::new());
    let browser = async {
        let sign_in = pages.recv().await.expect("a page");
        let back = led(&sign_in).await;
        let host = back["http://".len()..].split('/').next().expect("a host");
        for number in 0..64 {
            let stream = TcpStream::connect(host).await.expect("a connection");
            if number % 2 == 0 {
                stream.writable().await.expect("open");
                _ = stream.try_write(b"GET /callback?co");
            }
            silent.lock().expect("unpoisoned").push(stream);
        }
        assert_eq!(page(&back, "GET").await.status, 200);
    };
    let both = async { tokio::join!(client.connect(http), browser) };
    let both = tokio::time::timeout(Duration::from_secs(9), both).await;
    let (connection, ()) = both.expect("it goes on");
    says(&connection.expect("let in"), "whoami")
        .await
        .expect("text");
}

/// A person who says no is heard.
#[tokio::test]
async fn a_browser_may_bring_a_no() {
    let (authority, guarded) = usual().await;
    authority.rules().refuses = Some(("access_denied", "canary"));
    let (loopback, mut pages) = shown();
    let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", loopback));
    let client = client();
    let browser = async {
        let sign_in = pages.recv().await.expect("a page");
        page(&led(&sign_in).await, "GET").await.status
    };
    let (connected, status) = tokio::join!(client.connect(http), browser);
    assert_eq!(status, 200);
    let text = refused(connected);
    assert!(
        text.contains("said no") && !text.contains("canary"),
        "{text}"
    );
}

/// Nobody listens any more once the request is given up.
#[tokio::test]
async fn nobody_listens_for_nothing() {
    let (_authority, guarded) = usual().await;
    let (loopback, mut pages) = shown();
    let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", loopback));
    let client = client();
    let sign_in = tokio::select! {
        connected = client.connect(http) => panic!("{connected:?}"),
        sign_in = pages.recv() => sign_in.expect("a page"),
    };
    let back = led(&sign_in).await;
    let host = back["http://".len()..].split('/').next().expect("a host");
    let gone = async {
        while TcpStream::connect(host).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone)
        .await
        .expect("it is over");
}

/// A client stays who it is as long as its port is free; and if it is not, those tokens that it got
/// before can be renewed all the same.
#[tokio::test]
async fn registrations_outlive_ports() {
    let (authority, first) = usual().await;
    let second = Guarded::start(&authority, Manners::default()).await;
    let (loopback, mut pages) = shown();
    let oauth = OAuth::new("Desk", loopback).store(MemoryTokens::new());
    let at = |guarded: &Guarded| Http::new(guarded.url()).oauth(oauth.clone());
    let client = client();
    let mut signs_in = async |http: Http| {
        let browser = async {
            let sign_in = pages.recv().await.expect("a page");
            let back = led(&sign_in).await;
            assert_eq!(page(&back, "GET").await.status, 200);
            back
        };
        let both = async { tokio::join!(client.connect(http), browser) };
        let (connection, back) = soon(both).await;
        (connection.expect("let in"), back)
    };
    signs_in(at(&first)).await;
    at(&first).sign_out().await.expect("a store");
    let (connection, back) = signs_in(at(&first)).await;
    assert_eq!(authority.seen("/register").len(), 1, "the port is the same");

    let host = back["http://".len()..].split('/').next().expect("a host");
    let _taken = tokio::net::TcpListener::bind(host)
        .await
        .expect("free by now");
    let (other, _) = signs_in(at(&second)).await;
    assert_eq!(authority.seen("/register").len(), 2);
    authority.expire();
    for connection in [connection, other] {
        soon(says(&connection, "whoami")).await.expect("text");
    }
    assert_eq!(authority.visits(), 3, "nobody signed in for that");
    assert_eq!(authority.asked("refresh_token").len(), 2);
}
