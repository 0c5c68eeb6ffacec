//! What is told about the legs of a call that asks: who they belong to, what was asked, answered and
//! waited for, and nothing of what was said.

use antiphon::{
    Ask, Form, Server, Stop,
    client::{Answer, CallTool, Client, Outcome},
};
use antiphon_tests::log::Log;
use serde_json::json;

#[derive(Form)]
struct Name {
    name: String,
}

async fn wizard(ask: Ask) -> Result<String, Stop> {
    let (first, last) = (
        ask.form::<Name>("first", "First?"),
        ask.form::<Name>("last", "Last?"),
    );
    let (first, last) = (first?.name, last?.name);
    let _: String = ask
        .once("work", async || Ok("journalled".repeat(2)))
        .await?;
    let Name { name } = ask.form("nick", "Nick?")?;
    Ok(format!("{} letters", first.len() + last.len() + name.len()))
}

/// What stands behind a name in the log, everywhere it does.
fn values<'t>(log: &'t str, name: &str) -> Vec<&'t str> {
    // A span that closes says all about itself.
    let closed = log.lines().filter(|line| line.contains(" close "));
    let requests = closed.filter(|line| line.contains("tools/call"));
    let value = |line: &'t str| {
        let (_, after) = line.split_once(&format!("{name}="))?;
        let end = match after.strip_prefix('"') {
            Some(quoted) => return quoted.split('"').next(),
            None => after.find([' ', '}']).unwrap_or(after.len()),
        };
        Some(&after[..end])
    };
    requests.filter_map(value).collect()
}

#[tokio::test]
async fn the_legs_of_a_call_are_told_apart_and_together() {
    let (log, _guard) = Log::of_everything();
    let server = Server::new("wizard", "1.0").tool("wizard", wizard);
    let client = Client::new("tests", "1.0")
        .by_hand([antiphon::Kind::Form])
        .connect(antiphon::memory(server))
        .await
        .expect("connected");
    let mut states = Vec::new();
    let mut outcome = client
        .start(CallTool::new("wizard", ()))
        .await
        .expect("asked");
    let text = loop {
        outcome = match outcome {
            Outcome::Done(result) => break result.first_text().map(str::to_owned),
            Outcome::Paused(mut paused) => {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                let stored = serde_json::to_value(&paused).expect("JSON");
                states.push(
                    stored["rounds"]["state"]
                        .as_str()
                        .expect("a state")
                        .to_owned(),
                );
                let keys: Vec<_> = paused.questions().map(|(key, _)| key.to_owned()).collect();
                for key in keys {
                    let said = json!({ "name": "Xanthippe" });
                    paused = paused.answer(&key, Answer::accept(said));
                }
                client.resume(paused).await.expect("an outcome")
            }
            _ => panic!("no later"),
        };
    };
    assert_eq!(text.as_deref(), Some("27 letters"));
    let log = log.text();
    let flows = values(&log, "antiphon.flow");
    assert_eq!(flows.len(), 3, "{log}");
    assert!(
        flows
            .iter()
            .all(|flow| *flow == flows[0] && flow.len() == 32)
    );
    assert_eq!(values(&log, "antiphon.asked"), ["first, last", "nick"]);
    assert_eq!(values(&log, "antiphon.answered"), ["first, last", "nick"]);
    assert_eq!(values(&log, "antiphon.round"), ["1", "2"]);
    let waited = values(&log, "antiphon.human_wait_ms");
    let waited: Vec<u64> = waited
        .iter()
        .map(|ms| ms.parse().expect("a number"))
        .collect();
    assert!(
        waited.len() == 2 && waited.iter().all(|ms| *ms >= 5),
        "{waited:?}"
    );
    for secret in ["Xanthippe", "journalled"]
        .into_iter()
        .chain(states.iter().map(|s| &**s))
    {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}
