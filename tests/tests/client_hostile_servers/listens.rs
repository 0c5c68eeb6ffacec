//! Subscriptions that are not opened, not read, or end in an odd way.

use super::*;

const ACKNOWLEDGED: &str = "subscriptions/acknowledged";
const OURS: &str = r#""_meta":{"io.modelcontextprotocol/subscriptionId":$ID}"#;
const OTHERS: &str = r#""_meta":{"io.modelcontextprotocol/subscriptionId":99999}"#;

/// A message of a subscription.
fn news(method: &str, params: &str) -> Act {
    Say(notification(method, &format!("{params}{OURS}")))
}

fn acknowledged() -> Act {
    news(
        ACKNOWLEDGED,
        r#""notifications":{"toolsListChanged":true},"#,
    )
}

fn wanted() -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: Some(true),
        prompts_list_changed: Some(true),
        resources_list_changed: Some(true),
        resource_subscriptions: Some(vec!["a://b".into()]),
    }
}

/// What a subscription tells until it ends, and how it ends; `Done` if the server ends it.
async fn told(subscription: &mut Subscription) -> (Vec<Change>, End) {
    let mut changes = Vec::new();
    loop {
        match timeout(SOON, subscription.next()).await {
            Err(_) => return (changes, LATE),
            Ok(None) => return (changes, End::Done),
            Ok(Some(Ok(change))) => changes.push(change),
            Ok(Some(error)) => {
                assert!(subscription.next().await.is_none(), "an error is the last");
                return (changes, End::of(&error));
            }
        }
    }
}

/// SUB-S-02: a subscription is open when it is acknowledged, and not before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_must_be_acknowledged() {
    let tools = || news("tools/list_changed", "");
    let mut cases = Vec::new();
    for (name, acts, http, lines) in [
        ("silence", vec![Hold], LATE, LATE),
        (
            "news, and silence",
            vec![tools(), tools(), Hold],
            LATE,
            LATE,
        ),
        (
            "a result",
            vec![Say(result_of(r#"{"resultType":"complete"}"#))],
            End::Decode,
            End::Decode,
        ),
        (
            "an error",
            vec![Say(refused(-5))],
            End::Protocol(-5),
            End::Protocol(-5),
        ),
        ("an end", vec![tools(), Die], End::Transport, End::Transport),
        (
            "a wrong acknowledgment",
            vec![news(ACKNOWLEDGED, r#""notifications":7,"#), Hold],
            End::Decode,
            End::Decode,
        ),
        (
            "an empty acknowledgment",
            vec![news(ACKNOWLEDGED, ""), Hold],
            End::Decode,
            End::Decode,
        ),
        (
            "the acknowledgment of another",
            vec![
                Say(notification(
                    ACKNOWLEDGED,
                    &format!(r#""notifications":{{}},{OTHERS}"#),
                )),
                Hold,
            ],
            End::Done,
            LATE,
        ),
        (
            "an unnamed acknowledgment",
            vec![
                Say(notification(ACKNOWLEDGED, r#""notifications":{}"#)),
                Hold,
            ],
            End::Done,
            LATE,
        ),
        (
            "no message",
            vec![Say("{}".into()), Hold],
            End::Decode,
            LATE,
        ),
        (
            "news without end",
            vec![Chatter(notification("tools/list_changed", ""))],
            LATE,
            LATE,
        ),
        (
            "an answer to another",
            vec![
                Say(r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#.into()),
                Hold,
            ],
            End::Decode,
            LATE,
        ),
        (
            "news, and an acknowledgment",
            vec![tools(), acknowledged(), Hold],
            End::Done,
            End::Done,
        ),
    ] {
        cases.push((name, acts.clone(), http, Framing::Events));
        cases.push((name, acts, lines, Framing::Lines));
    }
    each(cases, async |(name, acts, end, framing)| {
        let mut met = Met::new(Rogue::new().on("subscriptions/listen", acts), framing).await;
        let connection = met.connect().await.expect("a connection");
        if end == LATE {
            // There is no clock for one subscription alone.
            let known = connection.negotiated().clone();
            close(connection).await;
            met.client = met.client.work_timeout(WORK);
            let connection = met.connect_as(known).await.expect("a connection");
            let started = Instant::now();
            let opened = connection.listen(wanted()).await;
            assert_eq!(End::of(&opened), end, "{name}, {framing:?}: {opened:?}");
            assert!(started.elapsed() < SOON, "{name}, {framing:?}");
            drop(opened);
            return close(connection).await;
        }
        let opened = connection.listen(wanted()).await;
        assert_eq!(End::of(&opened), end, "{name}, {framing:?}: {opened:?}");
        drop(opened);
        close(connection).await;
    })
    .await;
}

/// SUB-C-05, AMB-01: however it ends, what was told before counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_ends_one_way_or_the_other() {
    let tools = || news("tools/list_changed", "");
    let other = || Say(notification("tools/list_changed", OTHERS));
    let all = [
        tools(),
        news("prompts/list_changed", ""),
        news("resources/list_changed", ""),
        news("resources/updated", r#""uri":"a://b/\u001b","#),
        news("message", r#""level":"error","data":1,"#),
        news("x/y", ""),
        Say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.into()),
        Say(result_of(r#"{"resultType":"complete"}"#)),
    ];
    let everything = vec![
        Change::Tools,
        Change::Prompts,
        Change::Resources,
        Change::Resource("a://b/\u{1b}".into()),
    ];
    let one = || vec![Change::Tools];
    let cancelled = |id: &str| {
        Say(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ))
    };
    let mut cases = Vec::new();
    for (name, acts, changes, http, lines) in [
        (
            "everything, and a result",
            all.to_vec(),
            everything,
            End::Done,
            End::Done,
        ),
        (
            "cancelled",
            vec![tools(), cancelled("$ID"), tools()],
            one(),
            End::Done,
            End::Done,
        ),
        (
            "another is cancelled",
            vec![cancelled("99999"), cancelled("\"$ID\""), tools(), Die],
            one(),
            End::Transport,
            End::Transport,
        ),
        (
            "the end",
            vec![tools(), Die],
            one(),
            End::Transport,
            End::Transport,
        ),
        (
            "the end at once",
            vec![Die],
            vec![],
            End::Transport,
            End::Transport,
        ),
        (
            "half a message",
            vec![tools(), Write("data: {".into()), Die],
            one(),
            End::Transport,
            End::Transport,
        ),
        (
            "an error",
            vec![tools(), Say(refused(-5))],
            one(),
            End::Protocol(-5),
            End::Protocol(-5),
        ),
        (
            "a wrong change",
            vec![tools(), news("resources/updated", r#""uri":7,"#), Hold],
            one(),
            End::Decode,
            End::Decode,
        ),
        (
            "the change of another",
            vec![other(), tools(), Die],
            one(),
            End::Transport,
            End::Transport,
        ),
        (
            "the answer to another",
            vec![
                tools(),
                Say(r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#.into()),
                tools(),
                Die,
            ],
            one(),
            End::Decode,
            End::Transport,
        ),
        (
            "a wrong answer",
            vec![tools(), Say(r#"{"jsonrpc":"2.0","id":$ID}"#.into()), Hold],
            one(),
            End::Decode,
            End::Decode,
        ),
    ] {
        let acts = [vec![acknowledged()], acts].concat();
        cases.push((name, acts.clone(), changes.clone(), http, Framing::Events));
        cases.push((name, acts, changes, lines, Framing::Lines));
    }
    each(cases, async |(name, acts, changes, end, framing)| {
        let met = Met::new(Rogue::new().on("subscriptions/listen", acts), framing).await;
        let connection = met.connect().await.expect("a connection");
        let mut subscription = connection.listen(wanted()).await.expect("acknowledged");
        let acknowledged = subscription.acknowledged();
        assert_eq!(
            (
                acknowledged.tools_list_changed,
                acknowledged.prompts_list_changed
            ),
            (Some(true), None)
        );
        let (seen, ended) = told(&mut subscription).await;
        assert_eq!(ended, end, "{name}, {framing:?}");
        let expected = match (name, framing) {
            // On a shared channel the tag says whose it is, elsewhere the stream.
            ("the change of another", Framing::Events)
            | ("the answer to another", Framing::Lines) => vec![Change::Tools, Change::Tools],
            _ => changes,
        };
        assert_eq!(seen, expected, "{name}, {framing:?}");
        close(connection).await;
    })
    .await;
}

/// News that nobody reads cost the server, or the subscription, but not the memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn news_that_nobody_reads_do_not_pile_up() {
    let flood = Chatter(notification("tools/list_changed", OURS));
    for framing in [Framing::Events, Framing::Lines] {
        let rogue = Rogue::new().on("subscriptions/listen", [acknowledged(), flood.clone()]);
        let met = Met::new(rogue, framing).await;
        let connection = met.connect().await.expect("a connection");
        let mut subscription = connection.listen(wanted()).await.expect("acknowledged");
        tokio::time::sleep(Duration::from_millis(500)).await;
        let mut count = 0;
        let lost = loop {
            match timeout(SOON, subscription.next())
                .await
                .expect("in time")
                .expect("lost first")
            {
                Ok(_) => count += 1,
                Err(error) => break Some(error),
            }
            if count == 20_000 {
                break None;
            }
        };
        match (framing, lost) {
            (Framing::Lines, Some(lost)) => {
                assert!(count <= 1_024, "{count}");
                assert!(
                    lost.to_string().contains("faster than they were taken"),
                    "{lost}"
                );
            }
            // The server has to wait.
            (_, None) => {
                let running = met.running.as_ref().expect("over HTTP");
                assert!(running.written() < 32 << 20, "{}", running.written());
            }
            (_, Some(lost)) => panic!("{lost}"),
        }
        drop(subscription);
        close(connection).await;
    }
}
