//! Over HTTP: one process, and its sign-in page.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use antiphon::{
    Client, Http,
    client::{CallTool, Era},
    testing::Script,
    types::{InputRequest, Version},
};

use crate::{demo, every_flow, every_older_flow, older, table};

/// The demo on a port of its own, until it is dropped.
struct Served {
    process: Child,
    url: String,
}

impl Served {
    fn start(options: &[&str]) -> Self {
        let mut process = demo()
            .args(["--http", "0"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("antiphon runs");
        let mut url = String::new();
        let output = process.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut url).expect("a line");
        let url = url.trim_end().to_owned();
        let port = url.strip_prefix("http://127.0.0.1:");
        let port = port.and_then(|rest| rest.strip_suffix("/mcp"));
        let port: u16 = port.and_then(|port| port.parse().ok()).expect("an address");
        assert_ne!(port, 0, "the real port is told");
        Self { process, url }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn way(options: &[&str]) -> impl Fn() -> Http {
    let served = Served::start(options);
    move || Http::new(&served.url)
}

every_flow!(way(&[]));
every_older_flow!(way(&["--auto-sign-in"]));

/// What the page at `url` says, its head included.
fn browse(method: &str, url: &str, headers: &str) -> String {
    let rest = url.strip_prefix("http://").expect("no TLS here");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("connected");
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 0\r\n{headers}\r\n"
    )
    .expect("sent");
    let mut page = String::new();
    stream.read_to_string(&mut page).expect("a page");
    page
}

/// The link that a call of `sign_in` asks people to open, who decline.
async fn link(served: &Served) -> String {
    let call = CallTool::new("sign_in", ());
    let script = Script::new().decline("signin");
    let played = script.play(Http::new(&served.url), call).await;
    match played.question("signin") {
        InputRequest::Elicit(antiphon::types::ElicitRequestParams::Url(link)) => link.url.clone(),
        other => panic!("{other:?} is no link"),
    }
}

#[tokio::test]
async fn accepting_the_link_is_not_signing_in() {
    let served = Served::start(&[]);
    // Asked three times more, then it is over.
    let script = (0..4).fold(Script::new(), |script, _| script.accept_link("signin"));
    let call = CallTool::new("sign_in", ());
    let played = script.play(Http::new(&served.url), call).await;
    let failure = played.failure();
    assert!(failure.contains("not completed"), "{failure}");
    // Whoever is asked again is told why.
    let again = played.message("signin");
    assert!(again.contains("not completed"), "{again}");
}

#[tokio::test]
async fn visiting_the_page_is_signing_in_and_looking_ahead_is_not() {
    let served = Served::start(&[]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let visiting = |headers: &'static str| {
        let pages = seen.clone();
        move |url: String| {
            let page = browse("GET", &url, headers);
            pages.lock().expect("no panic").push(page);
            async {}
        }
    };
    let script = Script::new()
        .visit("signin", visiting("sec-purpose: prefetch\r\n"))
        .visit("signin", visiting(""));
    let call = CallTool::new("sign_in", ());
    let played = script.play(Http::new(&served.url), call).await;
    assert_eq!(played.text(), "Signed in as Ada.");
    let seen = seen.lock().expect("no panic");
    assert!(!seen[0].contains("You are signed in"), "{}", seen[0]);
    assert!(seen[1].contains("You are signed in"), "{}", seen[1]);
    for page in &*seen {
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        let head = page.to_lowercase();
        for header in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "x-frame-options: deny",
        ] {
            assert!(head.contains(header), "{header} is not in {page}");
        }
    }
}

#[tokio::test]
async fn nobody_signs_in_for_another_or_from_elsewhere() {
    let served = Served::start(&[]);
    let link = link(&served).await;
    let elsewhere = browse("POST", &link, "sec-fetch-site: cross-site\r\n");
    assert!(elsewhere.starts_with("HTTP/1.1 403"), "{elsewhere}");
    let made_up = served.url.replace("/mcp", "/sign-in/made-up");
    let made_up = browse("POST", &made_up, "");
    assert!(made_up.starts_with("HTTP/1.1 404"), "{made_up}");
    assert!(made_up.contains("Not signed in"), "{made_up}");
    let page = served.url.replace("/mcp", "/sign-in/%22%3E%3Cscript%3E");
    let page = browse("GET", &page, "");
    assert!(!page.contains("<script>"), "{page}");

    // To sign in at the page of one call does nothing for the next.
    assert!(browse("POST", &link, "").starts_with("HTTP/1.1 200"));
    let call = CallTool::new("sign_in", ());
    let script = Script::new().accept_link("signin").decline("signin");
    let played = script.play(Http::new(&served.url), call).await;
    assert!(!played.failure().contains("Signed in"));
}

#[tokio::test]
async fn with_auto_sign_in_nobody_need_visit_the_page() {
    let served = Served::start(&["--auto-sign-in"]);
    let call = CallTool::new("sign_in", ());
    let script = Script::new().accept_link("signin");
    let played = script.play(Http::new(&served.url), call).await;
    assert_eq!(played.text(), "Signed in as Ada.");
}

/// In an older session the call waits for what is done at the page, and need not ask again.
#[tokio::test]
async fn an_older_call_waits_until_the_page_is_visited() {
    let served = Served::start(&[]);
    let (visit, links) = std::sync::mpsc::channel();
    let client = Client::new("test", "1")
        .era(Era::Pinned(Version::V2025_11_25))
        .danger_insecure_links()
        .on_url(move |link| {
            visit.send(link.url.clone()).expect("the test waits");
            async move { link.accept() }
        });
    let server = client.connect(Http::new(&served.url)).await;
    let server = server.expect("connected");
    let call = tokio::spawn(async move { server.call_tool("sign_in", ()).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let asked: Vec<String> = links.try_iter().collect();
    let [link] = asked.as_slice() else {
        panic!("asked once: {asked:?}");
    };
    let ahead = browse("GET", link, "sec-purpose: prefetch\r\n");
    assert!(!ahead.contains("You are signed in"), "{ahead}");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!call.is_finished(), "agreeing is not signing in");
    assert!(browse("GET", link, "").contains("You are signed in"));
    let result = call.await.expect("no panic").expect("a result");
    assert_eq!(older::text(&result), "Signed in as Ada.");
    assert_eq!(links.try_iter().count(), 0, "asked once");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_in_good_order() {
    use nix::{
        sys::signal::{Signal, kill},
        unistd::Pid,
    };

    let mut served = Served::start(&[]);
    let id = i32::try_from(served.process.id()).expect("a process id");
    // It is served only after the line that says so, and listens for signals from then on.
    let answer = browse("GET", &served.url, "accept: text/event-stream\r\n");
    assert!(answer.contains("Mcp-Session-Id is missing"), "{answer}");
    kill(Pid::from_raw(id), Signal::SIGINT).expect("sent");
    assert_eq!(served.process.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_told_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let output = demo().args(["--http", &port]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains(&format!("127.0.0.1:{port}")), "{text}");
}

#[test]
fn wrong_usage_is_told_as_such() {
    for options in [
        &["--http"][..],
        &["--http", "http"],
        &["--http", "65536"],
        &["--http", "0", "--stdio"],
        &["--https", "0"],
    ] {
        let output = demo().args(options).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn help_has_examples() {
    let output = demo().arg("--help").output().expect("it runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for part in ["Examples:", "antiphon demo --http 8080", "--auto-sign-in"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
