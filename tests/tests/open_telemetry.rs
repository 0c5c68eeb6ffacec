//! With the feature `otel`: one trace from the caller to what a handler does, and durations.
//!
//! The providers are global, so everything is in one test.

use antiphon::{
    http, memory,
    raw::{About, Answering, Call, CallTool, Error, Reply, Service},
    types::{CallToolResult, Implementation, ServerCapabilities},
};
use antiphon_tests::{call, http::Server, older_http::Older, request, with_meta};
use opentelemetry::{
    Context, KeyValue, Value as Attribute,
    baggage::BaggageExt,
    global,
    propagation::TextMapCompositePropagator,
    trace::{SpanId, SpanKind, Status, TraceContextExt, TraceId, Tracer},
};
use opentelemetry_sdk::{
    metrics::{
        InMemoryMetricExporter, SdkMeterProvider,
        data::{AggregatedMetrics, MetricData},
    },
    propagation::{BaggagePropagator, TraceContextPropagator},
    trace::{InMemorySpanExporter, SdkTracerProvider, SpanData},
};
use serde_json::{Value, json};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

struct Pilot;

impl Service for Pilot {
    fn about(&self) -> About {
        About::new(Implementation::new("pilot", "1"))
            .capabilities(ServerCapabilities::default().tools(false))
    }

    fn call_tool<'a>(
        &'a self,
        _: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            // The span is current again after a pause, too.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            match tool.name {
                "berth" => {
                    let tracer = global::tracer("pilot");
                    let ship = Context::current().baggage().get("ship").cloned();
                    tracer.in_span("moor", |context| {
                        let ship = ship.map_or(String::new(), |ship| ship.to_string());
                        context.span().set_attribute(KeyValue::new("ship", ship));
                    });
                    Ok(CallToolResult::text("moored").into())
                }
                "fail" => Ok(CallToolResult::error("aground").into()),
                "slow" => {
                    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
                    Ok(CallToolResult::text("late").into())
                }
                _ => Err(Error::invalid_params("no such tool")),
            }
        })
    }
}

fn attribute(attributes: &[KeyValue], key: &str) -> Option<Attribute> {
    let found = attributes.iter().find(|kv| kv.key.as_str() == key)?;
    Some(found.value.clone())
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    attribute(attributes, key).map(|value| value.to_string())
}

fn named<'s>(spans: &'s [SpanData], name: &str) -> &'s SpanData {
    let found = spans.iter().find(|span| span.name == name);
    found.unwrap_or_else(|| panic!("no span {name} in {spans:?}"))
}

async fn ask(peer: &mut memory::Peer, message: &Value) {
    assert!(peer.send(message.to_string()).await);
    peer.receive().await.expect("an answer");
}

#[tokio::test]
async fn a_request_joins_its_callers_trace_and_is_timed() {
    let spans = InMemorySpanExporter::default();
    let tracers = SdkTracerProvider::builder()
        .with_simple_exporter(spans.clone())
        .build();
    global::set_tracer_provider(tracers);
    let metrics = InMemoryMetricExporter::default();
    let meters = SdkMeterProvider::builder()
        .with_periodic_exporter(metrics.clone())
        .build();
    global::set_meter_provider(meters.clone());
    global::set_text_map_propagator(TextMapCompositePropagator::new(vec![
        Box::new(TraceContextPropagator::new()),
        Box::new(BaggagePropagator::new()),
    ]));

    let mut peer = memory::connect(Pilot);
    let traced = with_meta(
        call(1, "berth", json!({"password": "hunter2"})),
        "traceparent",
        format!("00-{TRACE}-{PARENT}-01"),
    );
    ask(&mut peer, &with_meta(traced, "baggage", "ship=Argo")).await;
    ask(&mut peer, &call(2, "fail", json!({}))).await;
    ask(&mut peer, &call(3, "nothing", json!({}))).await;
    ask(&mut peer, &request(4, "made/up", json!({}))).await;
    // Something that is no trace context does no harm.
    let odd = with_meta(request(5, "server/discover", json!({})), "traceparent", 7);
    let server = Server::start(http::service(Pilot)).await;
    server.post(&odd).await;
    // Abandoned.
    let slow = memory::connect(Pilot);
    assert!(slow.send(call(6, "slow", json!({})).to_string()).await);
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    drop(slow);
    antiphon_tests::until(|| spans.get_finished_spans().expect("spans").len() == 7).await;

    let spans = spans.get_finished_spans().expect("spans");
    let berth = named(&spans, "tools/call berth");
    assert_eq!(berth.span_kind, SpanKind::Server);
    assert_eq!(
        berth.span_context.trace_id(),
        TraceId::from_hex(TRACE).expect("an id")
    );
    assert_eq!(
        berth.parent_span_id,
        SpanId::from_hex(PARENT).expect("an id")
    );
    assert!(berth.parent_span_is_remote);
    assert_eq!(berth.status, Status::Unset);
    for (key, value) in [
        ("mcp.method.name", "tools/call"),
        ("mcp.request.id", "1"),
        ("mcp.protocol.version", "2026-07-28"),
        ("gen_ai.tool.name", "berth"),
        ("outcome", "complete"),
    ] {
        assert_eq!(text(&berth.attributes, key).as_deref(), Some(value));
    }
    let moor = named(&spans, "moor");
    assert_eq!(moor.parent_span_id, berth.span_context.span_id());
    assert_eq!(moor.span_context.trace_id(), berth.span_context.trace_id());
    assert_eq!(text(&moor.attributes, "ship").as_deref(), Some("Argo"));

    let fail = named(&spans, "tools/call fail");
    assert_eq!(fail.parent_span_id, SpanId::INVALID);
    assert_eq!(fail.status, Status::error("tool_error"));
    assert_eq!(
        text(&fail.attributes, "error.type").as_deref(),
        Some("tool_error")
    );
    let nothing = named(&spans, "tools/call nothing");
    assert_eq!(nothing.status, Status::error("error"));
    assert_eq!(
        attribute(&nothing.attributes, "error.code"),
        Some(Attribute::I64(-32602))
    );
    let made_up = named(&spans, "made/up");
    assert_eq!(text(&made_up.attributes, "mcp.protocol.version"), None);
    let discover = named(&spans, "server/discover");
    assert_eq!(
        text(&discover.attributes, "network.transport").as_deref(),
        Some("tcp")
    );
    let slow = named(&spans, "tools/call slow");
    assert_eq!(slow.status, Status::Unset);
    assert_eq!(
        text(&slow.attributes, "outcome").as_deref(),
        Some("abandoned")
    );
    assert!(!format!("{spans:?}").contains("hunter2"));

    let client = Older::open(server.address, "2025-06-18").await;
    assert_eq!(client.delete().await, 204);
    meters.force_flush().expect("flushed");
    let sessions = series(&metrics, "mcp.server.session.duration");
    let [(session, 1, lasted)] = &sessions[..] else {
        panic!("one session: {sessions:?}")
    };
    assert_eq!(
        text(session, "mcp.protocol.version").as_deref(),
        Some("2025-06-18")
    );
    assert!((0.0..20.0).contains(lasted), "{lasted} seconds");
    let durations = series(&metrics, "mcp.server.operation.duration");
    let of = |method: &str, outcome: &str| {
        let mut found = durations.iter().filter(|(attributes, ..)| {
            text(attributes, "mcp.method.name").as_deref() == Some(method)
                && text(attributes, "outcome").as_deref() == Some(outcome)
        });
        let one = found.next().expect("measured");
        assert!(found.next().is_none(), "{durations:?}");
        one
    };
    let (berth, count, sum) = of("tools/call", "complete");
    assert_eq!(text(berth, "gen_ai.tool.name").as_deref(), Some("berth"));
    assert_eq!(*count, 1);
    assert!((0.02..20.0).contains(sum), "{sum} seconds");
    of("tools/call", "tool_error");
    of("tools/call", "abandoned");
    // What a peer made up makes no series of its own.
    let (nothing, ..) = of("tools/call", "error");
    assert_eq!(text(nothing, "gen_ai.tool.name"), None);
    assert_eq!(text(nothing, "error.type").as_deref(), Some("-32602"));
    of("_OTHER", "error");
    of("server/discover", "complete");
}

/// The series of a histogram: attributes, count, sum.
fn series(metrics: &InMemoryMetricExporter, name: &str) -> Vec<(Vec<KeyValue>, u64, f64)> {
    let exported = metrics.get_finished_metrics().expect("metrics");
    let last = exported.last().expect("exported");
    let metric = last
        .scope_metrics()
        .flat_map(|scope| scope.metrics())
        .find(|metric| metric.name() == name)
        .expect("measured");
    assert_eq!(metric.unit(), "s");
    let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else {
        panic!("no histogram: {metric:?}")
    };
    histogram
        .data_points()
        .map(|point| {
            let attributes = point.attributes().cloned().collect();
            (attributes, point.count(), point.sum())
        })
        .collect()
}
