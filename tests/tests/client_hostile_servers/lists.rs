//! Lists without an end.

use super::*;

/// A list comes to an end, by the server or by the client.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_come_to_an_end() {
    let page = |more: &str| {
        Say(result_of(&format!(
            r#"{{"resultType":"complete","resources":[{{"uri":"a://$N","name":"a"}}]{more}}}"#
        )))
    };
    for (name, acts, end, requests) in [
        (
            "the same cursor",
            vec![page(r#","nextCursor":"a""#)],
            End::Decode,
            2,
        ),
        (
            "an empty cursor",
            vec![page(r#","nextCursor":"""#)],
            End::Decode,
            2,
        ),
        (
            "a cursor that is a number",
            vec![page(r#","nextCursor":7"#)],
            End::Decode,
            1,
        ),
        (
            "no list",
            vec![Say(result_of(r#"{"resultType":"complete"}"#))],
            End::Decode,
            1,
        ),
        (
            "a list of numbers",
            vec![Say(result_of(
                r#"{"resultType":"complete","resources":[7]}"#,
            ))],
            End::Decode,
            1,
        ),
        (
            "an error at last",
            vec![Say(
                r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no"}}"#.into(),
            )],
            End::Protocol(-32602),
            1,
        ),
    ] {
        for framing in [Framing::Json, Framing::Events, Framing::Lines] {
            let met = Met::new(Rogue::new().on("resources/list", acts.clone()), framing).await;
            let connection = met.connect().await.expect("a connection");
            let all = connection.resources().all().await;
            assert_eq!(End::of(&all), end, "{name}: {all:?}");
            assert_eq!(met.requests("resources/list"), requests, "{name}");
            close(connection).await;
        }
    }
    // One item per page, for ever: whoever wants only some gets them.
    let acts = [page(r#","nextCursor":"$N""#)];
    let met = Met::new(Rogue::new().on("resources/list", acts), Framing::Json).await;
    let connection = met.connect().await.expect("a connection");
    let mut listing = connection.resources();
    for at in 1..=50 {
        let next = listing.next().await.expect("another").expect("a resource");
        assert_eq!(next.uri, format!("a://{at}"));
    }
    drop(listing);
    assert_eq!(met.requests("resources/list"), 50);
}

/// PAGE-C-06: whoever wants all is told that there is no end, before the memory has one.
#[tokio::test]
async fn a_list_without_end_is_given_up() {
    let count = AtomicUsize::new(0);
    let (peer, seen) = script(move |request| {
        let at = count.fetch_add(1, Ordering::SeqCst);
        vec![respond(
            request,
            &json!({ "resultType": "complete", "tools": [], "nextCursor": at.to_string() }),
        )]
    });
    let connection = client().0.connect(peer).await.expect("a connection");
    let all = timeout(BUDGET, connection.tools().all())
        .await
        .expect("in time");
    assert_eq!(End::of(&all), End::Decode);
    assert_eq!(seen.texts().len(), 10_000);

    // Few pages, but large ones.
    let page = "x".repeat(1 << 20);
    let count = AtomicUsize::new(0);
    let (peer, seen) = script(move |request| {
        let at = count.fetch_add(1, Ordering::SeqCst);
        let tool = json!({ "name": at.to_string(), "description": page, "inputSchema": { "type": "object" } });
        vec![respond(
            request,
            &json!({ "resultType": "complete", "tools": [tool], "nextCursor": at.to_string() }),
        )]
    });
    let connection = client().0.connect(peer).await.expect("a connection");
    let all = timeout(BUDGET, connection.tools().all())
        .await
        .expect("in time");
    assert_eq!(End::of(&all), End::Decode);
    assert!(seen.texts().len() < 100, "{}", seen.texts().len());
}
