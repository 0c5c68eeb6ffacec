//! Many older clients that do whatever they like at once: nothing hangs, and nothing is left.

use std::time::Duration;

use antiphon::http::Sessions;
use antiphon_tests::{
    harbour,
    http::Server,
    older_http::{Older, call, watched},
    until,
};
use serde_json::json;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

/// Does one thing after the other in its sessions, and leaves most of them half done.
async fn restless(address: std::net::SocketAddr, seed: u64) {
    let mut dice = Dice(seed);
    let versions = ["2025-03-26", "2025-06-18", "2025-11-25"];
    let version = versions[usize::try_from(dice.roll(3)).expect("small")];
    let mut client = Older::open(address, version).await;
    let mut last = None;
    for id in 0..40 {
        match dice.roll(12) {
            0 => assert_eq!(client.call(id, "echo", json!({})).await.status, 200),
            1 | 2 => {
                let mut stream = client.stream(&watched(id, "progress", json!({}))).await;
                last = stream.message().await.id;
                if dice.roll(2) == 0 {
                    stream.rest().await;
                }
            }
            3 | 4 if version != "2025-03-26" => {
                let mut stream = client.streamed(id, "ask", json!({})).await;
                let question = stream.message().await;
                last = question.id.clone();
                let yes = json!({"action": "accept", "content": {"ok": true}});
                match dice.roll(4) {
                    0 => drop(stream),
                    1 => assert_eq!(client.cancel(id).await, 202),
                    2 => {
                        drop(stream);
                        client.answer(&question.data, yes).await;
                    }
                    _ => {
                        client.answer(&question.data, yes).await;
                        stream.rest().await;
                    }
                }
            }
            5 => {
                let request =
                    client.request("POST", call(id, "slow", json!({"ms": 300})).to_string());
                let soon = Duration::from_millis(dice.roll(20));
                _ = tokio::time::timeout(soon, client.begin(request)).await;
            }
            6 => {
                let response = client.get(last.as_deref()).await;
                assert!([200, 400].contains(&response.status().as_u16()));
            }
            7 => {
                let mut stream = client.listen(None).await;
                if dice.roll(2) == 0 {
                    client.call(id, "announce", json!({"what": "tools"})).await;
                    stream.message().await;
                }
            }
            8 => {
                let message = watched(id, "chatty", json!({"count": 500}));
                let mut stream = client.stream(&message).await;
                last = stream.message().await.id;
            }
            9 => {
                client.cancel(dice.roll(40)).await;
            }
            10 if dice.roll(3) == 0 => {
                assert_eq!(client.delete().await, 204);
                last = None;
                client = Older::open(address, version).await;
            }
            _ => {
                client.call(id, "announce", json!({"what": "tools"})).await;
            }
        }
    }
    assert_eq!(client.delete().await, 204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_left_of_a_storm() {
    let endpoint = harbour::endpoint();
    let sessions = Sessions::new()
        .event_bytes(32 * 1024)
        .all_event_bytes(256 * 1024)
        .replay(Duration::from_millis(200));
    let service = antiphon::http::service(endpoint.clone()).sessions(sessions);
    let server = Server::start(service.clone()).await;
    let clients: Vec<_> = (0..24)
        .map(|seed| tokio::spawn(restless(server.address, seed)))
        .collect();
    for client in clients {
        client.await.expect("no panic");
    }
    until(|| endpoint.calls() == 0).await;
    until(|| service.session_counts().event_bytes == 0).await;
    let counts = service.session_counts();
    assert_eq!((counts.open, counts.refused), (0, 0));
    assert_eq!((counts.ended, counts.expired), (counts.opened, 0));
    assert_eq!(endpoint.waiting_calls(), 0);
    server.stop().await;
}
