//! Schemas that are made to keep a client busy.

use super::*;

/// Schemas that are made to keep a validator busy: name, schema, and a value that it is about.
fn schemas() -> Vec<(&'static str, Value, Value)> {
    let doubled = |last: Value| {
        let mut defs: serde_json::Map<_, _> = (0..60)
            .map(|at| {
                let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
                (format!("d{at}"), json!({ "allOf": [next, next] }))
            })
            .collect();
        defs.insert("d60".into(), last);
        json!({ "type": "object", "$defs": defs, "properties": { "a": { "$ref": "#/$defs/d0" } } })
    };
    let field = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
    let loops = json!({ "$ref": "#/$defs/a" });
    let chain: serde_json::Map<_, _> = (0..20_000)
        .map(|at| {
            (
                format!("d{at}"),
                json!({ "$ref": format!("#/$defs/d{}", at + 1) }),
            )
        })
        .collect();
    vec![
        ("doubled", doubled(json!({})), json!({ "a": 1 })),
        (
            "doubled, and wrong",
            doubled(json!(false)),
            json!({ "a": 1 }),
        ),
        (
            "a loop",
            json!({ "type": "object", "$defs": { "a": loops }, "properties": { "a": loops } }),
            json!({ "a": 1 }),
        ),
        (
            "its own root",
            field(json!({ "$ref": "#" })),
            json!({ "a": { "a": { "a": 1 } } }),
        ),
        (
            "a pattern that goes back",
            field(json!({ "type": "string", "pattern": "^(a|aa)+$" })),
            json!({ "a": format!("{}b", "a".repeat(5_000)) }),
        ),
        (
            "a pattern that looks back",
            field(json!({ "type": "string", "pattern": r"^(?=(a+)+$)(\w+\s?)*$" })),
            json!({ "a": format!("{}!", "a ".repeat(5_000)) }),
        ),
        (
            "a pattern for many",
            field(json!({ "items": { "pattern": "^(?=x)(a+)+$" } })),
            json!({ "a": vec!["a".repeat(30) + "b"; 1_000] }),
        ),
        (
            "a large pattern",
            field(json!({ "type": "string", "pattern": "((a{1,500}){1,500}){1,500}" })),
            json!({ "a": "aaa" }),
        ),
        (
            "no pattern",
            field(json!({ "type": "string", "pattern": "(" })),
            json!({ "a": "aaa" }),
        ),
        (
            "no type",
            field(json!({ "type": 7 })),
            json!({ "a": "aaa" }),
        ),
        (
            "a long way",
            json!({ "type": "object", "$defs": chain, "properties": { "a": { "$ref": "#/$defs/d0" } } }),
            json!({ "a": 1 }),
        ),
        (
            "somewhere else",
            field(json!({ "$ref": "http://127.0.0.1:9/schema" })),
            json!({ "a": "aaa" }),
        ),
        (
            "all different",
            field(json!({ "uniqueItems": true })),
            json!({ "a": (0..20_000).map(|at| json!({ "n": at })).collect::<Vec<_>>() }),
        ),
    ]
}

/// A schema is a program of the server's: it does not run for long, be it for what a tool gives or
/// for what the user fills in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schemas_do_not_keep_anybody_busy() {
    each(schemas(), async |(name, schema, value)| {
        let (promised, given) = (schema.clone(), value.clone());
        let (peer, _) = script(move |request| {
            let result = match (request["method"].as_str(), &request["params"]["name"]) {
                (Some("tools/list"), _) => json!({ "resultType": "complete", "tools": [{
                    "name": "promises", "inputSchema": { "type": "object" },
                    "outputSchema": promised,
                }] }),
                (_, tool) if tool == "promises" => {
                    json!({ "resultType": "complete", "content": [], "structuredContent": given })
                }
                _ => asking(
                    [(
                        "a",
                        json!({ "method": "elicitation/create", "params": {
                    "mode": "form", "message": "?", "requestedSchema": promised,
                } }),
                    )],
                    None,
                ),
            };
            vec![respond(request, &result)]
        });
        let filled_in = value.clone();
        let client = client().0.on_form(move |form| {
            let reply = form.accept(&filled_in);
            async { reply }
        });
        let connection = client.connect(peer).await.expect("a connection");
        connection.tools().all().await.expect("tools");
        let started = Instant::now();
        let outcome = connection.call_tool("promises", ()).await;
        let end = End::of(&outcome);
        assert!(
            [End::Done, End::Decode].contains(&end),
            "{name}: {outcome:?}"
        );
        let outcome = connection.call_tool("asks", ()).await;
        let refused = matches!(
            outcome.as_ref().map_err(Error::kind),
            Err(ErrorKind::InvalidAnswer { .. } | ErrorKind::RoundsExceeded(_) | ErrorKind::Decode)
        );
        assert!(refused, "{name}: {outcome:?}");
        assert!(
            started.elapsed() < SOON * 2,
            "{name}: {:?}",
            started.elapsed()
        );
    })
    .await;
}

/// A tool with more mirrored arguments than any request could have headers is hidden.
#[tokio::test]
async fn definitions_do_not_keep_anybody_busy() {
    let properties: serde_json::Map<_, _> = (0..50_000)
        .map(|at| {
            (
                format!("a{at}"),
                json!({ "type": "string", "x-mcp-header": format!("A{at}") }),
            )
        })
        .collect();
    let tools = json!({ "resultType": "complete", "tools": [
        { "name": "rogue", "inputSchema": { "type": "object", "properties": properties } },
        { "name": "fine", "inputSchema": { "type": "object" } },
    ] });
    let socket = Socket::bind().await;
    let (client, events) = client();
    let http = Http::new(socket.origin());
    let known = Negotiated::new(Version::LATEST);
    let connection = client.connect_as(http, known).await.expect("a connection");
    let message = json!({ "jsonrpc": "2.0", "id": 1, "result": tools }).to_string();
    let response = antiphon_tests::socket::json(&message);
    let started = Instant::now();
    let (tools, _) = tokio::join!(connection.tools().all(), socket.answer(&response));
    let names: Vec<_> = tools
        .expect("tools")
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["fine"]);
    assert!(events.any("more than 100 parameters"));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}
