//! How a client finds out that a server is an older one, and greets it (wire.md 10.3 and 10.4).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Client, Stdio,
    client::{
        Connect, Connection, Era, Error, ErrorKind, Event, Events, Http, Identity, Incoming,
        Negotiated, Outgoing, Pending, Step, Transport,
    },
    memory::Peer,
    types::{LoggingLevel, Version},
};
use antiphon_tests::{
    older_server::{Older, initialized, older, text},
    rogue::{Act, Framing, Rogue, Running},
    script::{discovered, respond},
};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::{join, time::Instant};

fn desk() -> Client {
    Client::new("desk", "1.0")
}

async fn connect(peer: Peer) -> Result<Connection, Error> {
    desk().connect(peer).await
}

/// Connects to a server that a test plays.
async fn met(client: &Client, version: &str, capabilities: Value) -> (Connection, Older, Value) {
    let (peer, mut server) = older();
    let (connected, greeting) = join!(client.connect(peer), server.greet(version, capabilities));
    (connected.expect("connected"), server, greeting)
}

fn steps(connection: &Connection) -> Vec<String> {
    let steps = connection.negotiation();
    steps.iter().map(ToString::to_string).collect()
}

/// LEG-C-01 to LEG-C-05: the probe, the greeting, and that the session has begun.
#[tokio::test]
async fn a_server_that_does_not_know_the_probe_is_greeted() {
    let client = desk()
        .on_form(|form| async move { form.decline() })
        .on_url(|link| async move { link.decline() })
        .on_roots(|roots| async move { roots.list([]) });
    let capabilities = json!({ "tools": { "listChanged": true } });
    let (connection, mut server, greeting) = met(&client, "2025-06-18", capabilities).await;
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {
            "elicitation": { "form": {}, "url": {} }, "roots": { "listChanged": true },
        },
        "clientInfo": { "name": "desk", "version": "1.0" },
    });
    assert_eq!(greeting["params"], params);
    assert_eq!(connection.protocol_version(), Version::V2025_06_18);
    assert_eq!(connection.server_info().expect("an info").name, "veteran");
    assert_eq!(connection.instructions(), Some("Be patient."));
    assert!(connection.server_capabilities().tools.is_some());
    assert_eq!(
        steps(&connection),
        [
            "server/discover in 2026-07-28: the server answered: Method not found (-32601)",
            "initialize in 2025-11-25: 2025-06-18",
            "2025-06-18 it is",
        ]
    );
    server.quiet().await;

    // LEG-B-01: and what is said then has nothing of today.
    let (result, request) = join!(connection.call_tool("t", json!({"a": 1})), async {
        let request = server.expect("tools/call").await;
        server.respond(&request, &text("done")).await;
        request
    });
    assert_eq!(result.expect("a result").first_text(), Some("done"));
    assert_eq!(
        request["params"],
        json!({ "name": "t", "arguments": { "a": 1 } })
    );
}

/// ERA-C-04, ERA-C-05: whatever it says to the probe, if that is nothing of today.
#[tokio::test]
async fn an_answer_that_cannot_be_read_is_no_modern_one() {
    for answer in [
        json!({ "error": "no such thing" }),
        json!({ "error": { "message": "no code" } }),
        json!({ "result": 7 }),
        json!({ "result": {}, "error": null }),
    ] {
        let (peer, mut server) = older();
        let answering = async {
            let probe = server.expect("server/discover").await;
            let mut message = answer.clone();
            message["jsonrpc"] = "2.0".into();
            message["id"] = probe["id"].clone();
            server.send(message).await;
            let request = server.expect("initialize").await;
            let initialized = initialized("2025-06-18", &json!({}));
            server.respond(&request, &initialized).await;
            server
        };
        let (connected, _server) = join!(connect(peer), answering);
        let connection = connected.unwrap_or_else(|error| panic!("{answer}: {error}"));
        assert_eq!(connection.protocol_version(), Version::V2025_06_18);
    }
}

/// LEG-C-06: any of ours, and no other.
#[tokio::test]
async fn the_server_chooses_among_the_versions_with_a_handshake() {
    for version in Version::LEGACY {
        let (connection, _, _) = met(&desk(), version.as_str(), json!({})).await;
        assert_eq!(connection.protocol_version(), *version);
    }
    for version in ["2026-07-28", "2023-01-01", "\u{1b}[31m"] {
        let (peer, mut server) = older();
        let answering = async {
            server.refuse_probe().await;
            let request = server.expect("initialize").await;
            server
                .respond(&request, &initialized(version, &json!({})))
                .await;
        };
        let (connected, ()) = join!(connect(peer), answering);
        let error = connected.expect_err("not ours");
        assert!(
            matches!(error.kind(), ErrorKind::Version { .. }),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(
            !text.contains('\u{1b}') && text.contains("2024-11-05"),
            "{text}"
        );
    }
}

/// ERA-C-04, ERA-C-16, AMB-20: silence is an answer, and a late one is known for what it is.
#[tokio::test]
async fn a_silent_server_is_greeted_and_its_late_answer_dropped() {
    let told = Arc::new(AtomicUsize::new(0));
    let count = told.clone();
    let client = desk()
        .probe_timeout(Duration::from_millis(30))
        .on_event(move |event| {
            if let Event::Message(_) = event {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
    let (peer, mut server) = older();
    let playing = async {
        let probe = server.expect("server/discover").await;
        // Nothing between the probe and the greeting: not even that it was given up (LEG-C-04).
        server.shake("2025-03-26", json!({})).await;
        probe
    };
    let (connected, probe) = join!(client.connect(peer), playing);
    let connection = connected.expect("connected");
    assert_eq!(connection.protocol_version(), Version::V2025_03_26);
    server.respond(&probe, &discovered()).await;
    let (pong, ()) = join!(connection.ping(), async {
        let ping = server.expect("ping").await;
        server.respond(&ping, &json!({})).await;
    });
    pong.expect("alive");
    assert_eq!(connection.protocol_version(), Version::V2025_03_26);
    assert_eq!(told.load(Ordering::SeqCst), 0);
}

/// AMB-20: a late answer that shows up after the greeting has failed counts after all.
#[tokio::test]
async fn a_slow_modern_server_is_recognised_after_all() {
    let client = desk().probe_timeout(Duration::from_millis(30));
    let unknown = json!({ "code": -32601, "message": "Method not found" });
    let again = json!({ "code": -32022, "message": "No", "data": { "supported": ["2026-07-28"] } });
    for (late, probes) in [(discovered(), 1), (again, 2)] {
        let (peer, mut server) = older();
        let playing = async {
            let probe = server.expect("server/discover").await;
            let greeting = server.expect("initialize").await;
            server.respond(&greeting, &unknown).await;
            server.respond(&probe, &late).await;
            if probes == 2 {
                let probe = server.expect("server/discover").await;
                server.respond(&probe, &discovered()).await;
            }
        };
        let (connected, ()) = join!(client.connect(peer), playing);
        let connection = connected.expect("connected");
        assert_eq!(connection.protocol_version(), Version::LATEST);
        let (result, ()) = join!(connection.call_tool("t", ()), async {
            let request = server.expect("tools/call").await;
            assert!(request["params"]["_meta"].is_object(), "{request}");
            server.respond(&request, &text("done")).await;
        });
        result.expect("a result");
    }
    // Without a late answer, what the greeting brought counts.
    let (peer, mut server) = older();
    let playing = async {
        server.expect("server/discover").await;
        let greeting = server.expect("initialize").await;
        server.respond(&greeting, &unknown).await;
    };
    let (connected, ()) = join!(client.connect(peer), playing);
    assert_eq!(connected.expect_err("refused").code(), Some(-32601));
}

/// CANC-C-06: however many steps it takes, connecting has one work clock, and a silent probe leaves
/// half of it to the greeting.
#[tokio::test(start_paused = true)]
async fn connecting_takes_no_longer_than_the_work_clock() {
    let work = Duration::from_secs(3);
    let client = desk().work_timeout(work);
    let start = Instant::now();
    let (peer, mut server) = older();
    let (connected, ()) = join!(client.connect(peer), async {
        server.expect("server/discover").await;
        server.expect("initialize").await;
        assert_eq!(start.elapsed(), work / 2);
    });
    let error = connected.expect_err("silent");
    let ErrorKind::TimedOut { after, .. } = *error.kind() else {
        panic!("{error:?}");
    };
    assert_eq!((after, start.elapsed()), (work, work));

    // Neither does a server that never says whether it heard which log messages are wanted.
    let client = client.on_log(LoggingLevel::Warning, |_| {});
    let start = Instant::now();
    let (peer, mut server) = older();
    let (connected, ()) = join!(client.connect(peer), async {
        server.expect("server/discover").await;
        server.shake("2025-11-25", json!({ "logging": {} })).await;
        server.expect("logging/setLevel").await;
    });
    connected.expect("connected");
    assert_eq!(start.elapsed(), work);
}

/// wire.md 10.3 step 4: a greeting that is refused for its version means one more probe.
#[tokio::test]
async fn a_greeting_may_turn_out_to_have_been_wrong_once() {
    let modern =
        json!({ "code": -32022, "message": "No", "data": { "supported": ["2026-07-28"] } });
    let broken = json!({ "code": -32603, "message": "Starting" });
    for (second, ends) in [(discovered(), true), (broken.clone(), false)] {
        let (peer, mut server) = older();
        let playing = async {
            let probe = server.expect("server/discover").await;
            server.respond(&probe, &broken).await;
            let greeting = server.expect("initialize").await;
            server.respond(&greeting, &modern).await;
            let probe = server.expect("server/discover").await;
            server.respond(&probe, &second).await;
            server
        };
        let (connected, mut server) = join!(connect(peer), playing);
        match ends {
            true => {
                let connection = connected.expect("modern after all");
                assert_eq!(connection.protocol_version(), Version::LATEST);
            }
            false => {
                let error = connected.expect_err("no more than that");
                assert!(
                    matches!(error.kind(), ErrorKind::Version { .. }),
                    "{error:?}"
                );
            }
        }
        // In neither case is it greeted again.
        let rest = tokio::time::timeout(Duration::from_millis(50), server.next()).await;
        assert!(matches!(rest, Ok(None) | Err(_)), "{rest:?}");
    }
}

/// LEG-S-05: a server that refuses with what it speaks is greeted in that.
#[tokio::test]
async fn a_server_may_say_what_it_speaks_by_refusing() {
    let (peer, mut server) = older();
    let data = json!({ "supported": ["2024-11-05"], "requested": "2025-11-25" });
    let playing = async {
        server.refuse_probe().await;
        let greeting = server.expect("initialize").await;
        let refused = json!({ "code": -32602, "message": "Unsupported", "data": data });
        server.respond(&greeting, &refused).await;
        server.shake("2024-11-05", json!({})).await
    };
    let (connected, greeting) = join!(connect(peer), playing);
    connected.expect("connected");
    assert_eq!(greeting["params"]["protocolVersion"], "2024-11-05");
}

/// A listing of older versions only is as good as not knowing the probe (wire.md 10.3 step 3.1).
#[tokio::test]
async fn a_server_that_lists_older_versions_is_greeted_in_the_newest() {
    let (peer, mut server) = older();
    let mut listed = discovered();
    listed["supportedVersions"] = json!(["2024-11-05", "2025-03-26", "2031-01-01"]);
    let playing = async {
        let probe = server.expect("server/discover").await;
        server.respond(&probe, &listed).await;
        server.shake("2025-03-26", json!({})).await
    };
    let (connected, greeting) = join!(connect(peer), playing);
    connected.expect("connected");
    assert_eq!(greeting["params"]["protocolVersion"], "2025-03-26");
}

#[tokio::test]
async fn a_client_may_be_pinned() {
    // Without a probe.
    for (era, proposed) in [
        (Era::Legacy, "2025-11-25"),
        (Era::Pinned(Version::V2025_03_26), "2025-03-26"),
    ] {
        let (peer, mut server) = older();
        let client = desk().era(era);
        let playing = server.shake(proposed, json!({}));
        let (connected, greeting) = join!(client.connect(peer), playing);
        let connection = connected.expect("connected");
        assert_eq!(greeting["params"]["protocolVersion"], proposed);
        assert_eq!(connection.protocol_version().as_str(), proposed);
    }
    // Pinned is pinned.
    let client = desk().era(Era::Pinned(Version::V2025_06_18));
    let (peer, mut server) = older();
    let (connected, ()) = join!(client.connect(peer), async {
        let greeting = server.expect("initialize").await;
        let result = initialized("2025-03-26", &json!({}));
        server.respond(&greeting, &result).await;
    });
    let error = connected.expect_err("another version");
    let text = error.to_string();
    assert!(
        text.contains("2025-03-26") && text.contains("we 2025-06-18"),
        "{text}"
    );
    // ERA-C-06: modern only, and a clear error.
    let client = desk().era(Era::Pinned(Version::LATEST));
    let (peer, mut server) = older();
    let (connected, ()) = join!(client.connect(peer), server.refuse_probe());
    let error = connected.expect_err("an older one");
    assert!(
        matches!(error.kind(), ErrorKind::Version { .. }),
        "{error:?}"
    );
}

/// ERA-C-11, ERA-C-12: what is known is not asked for again, and is asked for again when it
/// proves wrong.
#[tokio::test]
async fn a_verdict_can_be_stored() {
    let (connection, _, _) = met(&desk(), "2025-06-18", json!({ "tools": {} })).await;
    let stored = serde_json::to_string(connection.negotiated()).expect("JSON");
    let known: Negotiated = serde_json::from_str(&stored).expect("read");
    let (peer, mut server) = older();
    let client = desk();
    let playing = server.shake("2025-06-18", json!({ "tools": {} }));
    let (connected, greeting) = join!(client.connect_as(peer, known.clone()), playing);
    let connection = connected.expect("connected");
    assert_eq!(greeting["params"]["protocolVersion"], "2025-06-18");
    assert_eq!(*connection.negotiated(), known);
    assert_eq!(
        connection.negotiation()[0],
        Step::Known {
            version: Version::V2025_06_18
        }
    );

    // It is modern by now.
    let (peer, mut server) = older();
    let modern =
        json!({ "code": -32022, "message": "No", "data": { "supported": ["2026-07-28"] } });
    let (connected, ()) = join!(client.connect_as(peer, known), async {
        let greeting = server.expect("initialize").await;
        server.respond(&greeting, &modern).await;
        let probe = server.expect("server/discover").await;
        server.respond(&probe, &discovered()).await;
    });
    let connection = connected.expect("connected");
    assert_eq!(connection.protocol_version(), Version::LATEST);

    // It was modern when that was stored, and is not now.
    let known = connection.negotiated().clone();
    let (peer, mut server) = older();
    let connection = client
        .connect_as(peer, known.clone())
        .await
        .expect("connected");
    let (result, ()) = join!(connection.call_tool("t", ()), async {
        let request = server.expect("tools/call").await;
        assert!(request["params"]["_meta"].is_object());
        let early = json!({ "code": -32600, "message": "Not initialized" });
        server.respond(&request, &early).await;
        server.greet("2025-11-25", json!({})).await;
        let request = server.expect("tools/call").await;
        assert_eq!(request["params"], json!({ "name": "t" }));
        server.respond(&request, &text("done")).await;
    });
    assert_eq!(result.expect("a result").first_text(), Some("done"));
    assert_eq!(connection.protocol_version(), Version::V2025_11_25);
    assert_eq!(connection.server_info().expect("an info").name, "veteran");

    // What the client may not speak does not count as known.
    let client = desk().era(Era::Legacy);
    let (peer, mut server) = older();
    let playing = server.shake("2025-11-25", json!({}));
    let (connected, _) = join!(client.connect_as(peer, known), playing);
    connected.expect("connected");
}

/// LFEAT-C-01: once, and only if there is somebody to listen and something to hear.
#[tokio::test]
async fn the_log_level_is_set_after_the_handshake() {
    let listening = desk().on_log(LoggingLevel::Warning, |_| {});
    let (peer, mut server) = older();
    let (connected, request) = join!(listening.connect(peer), async {
        server.greet("2025-11-25", json!({ "logging": {} })).await;
        let request = server.expect("logging/setLevel").await;
        // That it cannot is no reason not to speak with it.
        let refused = json!({ "code": -32603, "message": "No" });
        server.respond(&request, &refused).await;
        request
    });
    connected.expect("connected");
    assert_eq!(request["params"], json!({ "level": "warning" }));
    for (client, capabilities) in [(listening, json!({})), (desk(), json!({ "logging": {} }))] {
        let (_connection, mut server, _) = met(&client, "2025-11-25", capabilities).await;
        server.quiet().await;
    }
}

/// META-C-03 and LEG-C-02: some name has to be given.
#[tokio::test]
async fn an_anonymous_client_stays_anonymous() {
    let (_, _, greeting) = met(&desk().anonymous(), "2025-11-25", json!({})).await;
    let info = json!({ "name": "anonymous", "version": "0" });
    assert_eq!(greeting["params"]["clientInfo"], info);
}

/// Statuses as an HTTP transport has them.
struct Statuses {
    answers: Mutex<Vec<(u16, Value)>>,
    sent: Arc<Mutex<Vec<String>>>,
    falls_back: bool,
}

impl Connect for Statuses {
    type Transport = Self;

    async fn connect(self, _: Events) -> Result<Self, Error> {
        Ok(self)
    }
}

impl Statuses {
    fn note(&self, what: &str) {
        self.sent.lock().expect("unpoisoned").push(what.to_owned());
    }
}

impl Transport for Statuses {
    fn identity(&self) -> &Identity {
        &Identity::Memory
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        Box::pin(async move {
            self.note(&format!("{} {}", request.method, request.version));
            let (status, result) = self.answers.lock().expect("unpoisoned").remove(0);
            let message = respond(&json!({ "id": request.id }), &result).to_string();
            Ok(match status {
                200 => Incoming::Whole(message.into()),
                _ => Incoming::Refused {
                    status,
                    message: message.into(),
                },
            })
        })
    }

    fn tell(&self, version: Version, message: Bytes) -> Pending<'_, Result<(), Error>> {
        let message: Value = serde_json::from_slice(&message).expect("JSON");
        self.note(&format!(
            "{} {version}",
            message["method"].as_str().unwrap_or_default()
        ));
        Box::pin(async { Ok(()) })
    }

    fn settled(&self, version: Version) -> Pending<'_, ()> {
        self.note(&format!("settled {version}"));
        Box::pin(async {})
    }

    fn fall_back(&self) -> Pending<'_, Result<bool, Error>> {
        self.note("fall back");
        Box::pin(async { Ok(self.falls_back) })
    }
}

async fn by_status(
    answers: Vec<(u16, Value)>,
    falls_back: bool,
) -> (Result<Connection, Error>, Vec<String>) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let statuses = Statuses {
        answers: Mutex::new(answers),
        sent: sent.clone(),
        falls_back,
    };
    let connected = desk().connect(statuses).await;
    let sent = sent.lock().expect("unpoisoned").clone();
    (connected, sent)
}

/// wire.md 10.3, steps 4 and 5; LSSE-C-03.
#[tokio::test]
async fn what_came_before_streamable_http_is_tried_last() {
    let no = json!({ "code": -32000, "message": "No" });
    let done = initialized("2024-11-05", &json!({}));
    let answers = vec![(404, no.clone()), (404, no.clone()), (200, done.clone())];
    let (connected, sent) = by_status(answers, true).await;
    let connection = connected.expect("connected");
    assert_eq!(connection.protocol_version(), Version::V2024_11_05);
    assert_eq!(
        sent,
        [
            "server/discover 2026-07-28",
            "initialize 2025-11-25",
            "fall back",
            "initialize 2025-11-25",
            "notifications/initialized 2024-11-05",
            "settled 2024-11-05",
        ]
    );
    assert!(connection.negotiation().contains(&Step::FellBack));
    // Where there is no such thing, what the server said first counts.
    let (connected, sent) = by_status(vec![(405, no.clone()), (405, no.clone())], false).await;
    let error = connected.expect_err("nothing there");
    assert_eq!(
        (error.code(), error.http_status()),
        (Some(-32000), Some(405))
    );
    assert_eq!(sent.len(), 3);
    // Not for any other status, and not more than once.
    let (connected, sent) = by_status(vec![(400, no.clone()), (406, no.clone())], true).await;
    connected.expect_err("refused");
    assert_eq!(sent.len(), 2);
    let thrice = vec![(400, no.clone()), (400, no.clone()), (400, no)];
    let (connected, sent) = by_status(thrice, true).await;
    connected.expect_err("refused");
    assert_eq!(sent.len(), 4);
}

/// ERA-C-13: what says nothing of the era brings no greeting.
#[tokio::test]
async fn a_server_that_is_broken_or_locked_is_not_taken_for_an_older_one() {
    let no = json!({ "code": -32000, "message": "No" });
    for status in [500, 503] {
        let (connected, sent) = by_status(vec![(status, no.clone())], true).await;
        assert_eq!(connected.expect_err("broken").http_status(), Some(status));
        assert_eq!(sent, ["server/discover 2026-07-28"]);
    }
    for status in [
        "401 Unauthorized",
        "403 Forbidden",
        "503 Service Unavailable",
    ] {
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        let rogue = Rogue::new().on("server/discover", [Act::Write(answer)]);
        let server = Running::start(rogue, Framing::Json).await;
        desk()
            .connect(Http::new(&server.url))
            .await
            .expect_err(status);
        assert_eq!(server.requests(), ["server/discover"], "{status}");
    }
    let rogue = Rogue::new().on("server/discover", [Act::Hold]);
    let server = Running::start(rogue, Framing::Json).await;
    let client = desk().work_timeout(Duration::from_millis(100));
    let error = client
        .connect(Http::new(&server.url))
        .await
        .expect_err("silent");
    assert!(
        matches!(error.kind(), ErrorKind::TimedOut { .. }),
        "{error:?}"
    );
    assert_eq!(server.requests(), ["server/discover"]);
}

/// wire.md 10.3 step 7: probed again, and told what it is; never demoted in silence.
#[tokio::test]
async fn a_modern_server_that_answers_like_an_older_one_is_probed_again() {
    let no = json!({ "code": -32000, "message": "Bad Request: Server not initialized" });
    let unknown = json!({ "code": -32601, "message": "Method not found" });
    let start = [(200, discovered()), (200, text("fine")), (400, no)];
    let sent = Arc::new(Mutex::new(Vec::new()));
    for (probe, is_older) in [((200, discovered()), false), ((400, unknown), true)] {
        sent.lock().expect("unpoisoned").clear();
        let statuses = Statuses {
            answers: Mutex::new(start.iter().cloned().chain([probe]).collect()),
            sent: sent.clone(),
            falls_back: true,
        };
        let connection = desk().connect(statuses).await.expect("connected");
        connection.call_tool("t", ()).await.expect("a result");
        let error = connection.call_tool("t", ()).await.expect_err("refused");
        match is_older {
            true => {
                assert!(
                    matches!(error.kind(), ErrorKind::Version { .. }),
                    "{error:?}"
                );
                assert!(error.to_string().contains("connect to it anew"), "{error}");
            }
            false => assert_eq!(error.code(), Some(-32000)),
        }
        assert_eq!(connection.protocol_version(), Version::LATEST);
        let sent = sent.lock().expect("unpoisoned").clone();
        assert_eq!(sent.len(), 4, "{sent:?}");
        assert!(!sent.iter().any(|sent| sent.starts_with("initialize")));
    }
}

/// A child process that speaks 2025-11-25, and does what `probed` says when it is probed.
fn veteran(probed: &str) -> Stdio {
    let script = format!(
        r#"
        while read -r line; do
            id=${{line#*\"id\":}}; id=${{id%%,*}}
            case "$line" in
            *server/discover*) {probed} ;;
            *'"initialize"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"sh","version":"1"}}}}}}\n' "$id"; greeted=yes ;;
            *'"die"'*) exit 7 ;;
            *tools/call*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[{{"type":"text","text":"%s"}}]}}}}\n' "$id" "greeted: $greeted" ;;
            esac
        done"#
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]);
    Stdio::spawn(command)
}

/// wire.md 10.4 step 4.5: started anew once, and not probed again.
#[tokio::test]
async fn a_process_that_exits_when_it_is_probed_is_started_anew() {
    let connection = desk().connect(veteran("exit 1")).await.expect("connected");
    assert_eq!(connection.protocol_version(), Version::V2025_11_25);
    assert!(connection.negotiation().contains(&Step::Restarted));
    let result = connection.call_tool("t", ()).await.expect("a result");
    assert_eq!(result.first_text(), Some("greeted: yes"));
    // That was its chance: a crash later is one.
    let error = connection.call_tool("die", ()).await.expect_err("it exits");
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
    let error = connection.call_tool("t", ()).await.expect_err("it is gone");
    assert!(error.to_string().contains("status 7"), "{error}");
}

/// wire.md 10.4 step 4.4: in place.
#[tokio::test]
async fn a_process_that_ignores_the_probe_is_greeted_in_place() {
    let client = desk().probe_timeout(Duration::from_millis(100));
    let connection = client.connect(veteran(":")).await.expect("connected");
    let result = connection.call_tool("t", ()).await.expect("a result");
    assert_eq!(result.first_text(), Some("greeted: yes"));
}

/// wire.md 10.4 step 6: nothing but a greeting is the first that a new process hears.
#[tokio::test]
async fn a_process_that_is_started_anew_is_greeted_anew() {
    let connection = desk().connect(veteran("exit 1").restart(1)).await;
    let connection = connection.expect("connected");
    for _ in 0..2 {
        let error = connection.call_tool("die", ()).await.expect_err("it exits");
        assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
        let calls = (0..4).map(|_| {
            let connection = connection.clone();
            tokio::spawn(async move { connection.call_tool("t", ()).await })
        });
        for call in calls.collect::<Vec<_>>() {
            let result = call.await.expect("no panic").expect("a result");
            assert_eq!(result.first_text(), Some("greeted: yes"));
        }
    }
    let greetings = connection.negotiation();
    let greetings = greetings
        .iter()
        .filter(|step| matches!(step, Step::Greeted { .. }));
    assert_eq!(greetings.count(), 3);
}

/// A process that dies with every request is given up, though each time it could be greeted.
#[tokio::test]
async fn a_greeting_is_no_sign_of_health() {
    let connection = desk().connect(veteran("exit 1").restart(2)).await;
    let connection = connection.expect("connected");
    for _ in 0..3 {
        let error = connection.call_tool("die", ()).await.expect_err("it exits");
        assert!(error.to_string().contains("status 7"), "{error}");
    }
    let error = connection.call_tool("die", ()).await.expect_err("given up");
    assert!(error.to_string().contains("in vain"), "{error}");
}

/// LEG-C-07
#[tokio::test]
async fn a_greeting_is_never_cancelled() {
    let client = desk().work_timeout(Duration::from_millis(100));
    let (peer, mut server): (Peer, _) = older();
    let (connected, ()) = join!(client.connect(peer), async {
        server.refuse_probe().await;
        server.expect("initialize").await;
    });
    let error = connected.expect_err("silent");
    assert!(
        matches!(error.kind(), ErrorKind::TimedOut { .. }),
        "{error:?}"
    );
    let rest = tokio::time::timeout(Duration::from_millis(200), server.next()).await;
    assert!(matches!(rest, Ok(None) | Err(_)), "{rest:?}");
}
