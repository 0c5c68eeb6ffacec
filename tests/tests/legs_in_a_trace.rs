//! With the feature `otel`: the legs of a call that asks, in the trace of whoever made it.

use antiphon::{Ask, Form, Server, Stop, memory};
use antiphon_tests::{
    asking::{retry, state_of},
    call, with_meta,
};
use opentelemetry::{KeyValue, global, trace::SpanKind};
use opentelemetry_sdk::{
    propagation::TraceContextPropagator,
    trace::{InMemorySpanExporter, SdkTracerProvider},
};
use serde_json::{Value, json};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

#[derive(Form)]
struct Ok_ {
    ok: bool,
}

async fn confirm(ask: Ask) -> Result<String, Stop> {
    let Ok_ { ok } = ask.form("confirm", "Sure?")?;
    Ok(format!("{ok}"))
}

async fn answer(peer: &mut memory::Peer, message: Value) -> Value {
    let traced = with_meta(
        message,
        "traceparent",
        format!("00-{TRACE}-b7ad6b7169203331-01"),
    );
    assert!(peer.send(traced.to_string()).await);
    let answer = peer.receive().await.expect("an answer");
    let mut answer: Value = serde_json::from_slice(&answer).expect("JSON");
    answer["result"].take()
}

#[tokio::test]
async fn the_legs_of_a_call_join_its_callers_trace_and_have_one_name() {
    let spans = InMemorySpanExporter::default();
    let tracers = SdkTracerProvider::builder()
        .with_simple_exporter(spans.clone())
        .build();
    global::set_tracer_provider(tracers);
    global::set_text_map_propagator(TraceContextPropagator::new());

    let server = Server::new("legs", "1.0").tool("confirm", confirm);
    let mut peer = memory::connect(server);
    let able = with_meta(
        call(1, "confirm", json!({})),
        "io.modelcontextprotocol/clientCapabilities",
        json!({ "elicitation": {} }),
    );
    let state = state_of(&answer(&mut peer, able.clone()).await);
    let yes = json!({ "confirm": { "action": "accept", "content": { "ok": true } } });
    let mut again = retry(&able, &state, yes);
    again["id"] = json!(2);
    let done = answer(&mut peer, again).await;
    assert_eq!(done["content"][0]["text"], "true", "{done}");

    let spans = spans.get_finished_spans().expect("spans");
    let legs: Vec<_> = spans
        .iter()
        .filter(|span| span.span_kind == SpanKind::Server && span.name == "tools/call confirm")
        .collect();
    assert_eq!(legs.len(), 2, "{spans:?}");
    let said = |leg: usize, key: &str| {
        let mut attributes = legs[leg].attributes.iter();
        let found = attributes.find(|KeyValue { key: name, .. }| name.as_str() == key);
        found.map(|attribute| attribute.value.to_string())
    };
    let flow = said(0, "antiphon.flow").expect("a flow");
    assert_eq!(said(1, "antiphon.flow"), Some(flow));
    assert_eq!(said(0, "antiphon.asked").as_deref(), Some("confirm"));
    assert_eq!(said(1, "antiphon.answered").as_deref(), Some("confirm"));
    assert_eq!(said(1, "antiphon.round").as_deref(), Some("1"));
    assert!(said(1, "antiphon.human_wait_ms").is_some());
    for leg in legs {
        assert_eq!(leg.span_context.trace_id().to_string(), TRACE);
    }
}
