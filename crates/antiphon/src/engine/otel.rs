//! OpenTelemetry: a server span that joins the caller's trace, and a duration, per request.
//! Without the feature the same names do nothing.

#[cfg(not(feature = "otel"))]
pub(crate) use self::off::Instruments;
#[cfg(not(feature = "otel"))]
pub(super) use self::off::{TIMED, Trace, asks, goes_on};
#[cfg(feature = "otel")]
pub(crate) use self::on::Instruments;
#[cfg(feature = "otel")]
pub(super) use self::on::{TIMED, Trace, asks, goes_on};

#[cfg(feature = "otel")]
mod on {
    use std::{collections::HashMap, future::Future, sync::OnceLock, time::Duration};

    use antiphon_types::Version;
    use opentelemetry::{
        Context, KeyValue, global,
        global::BoxedTracer,
        metrics::Histogram,
        trace::{FutureExt, SpanKind, Status, TraceContextExt, Tracer},
    };
    use serde_json::value::RawValue;

    use crate::{
        engine::{
            admit::Method,
            observe::{Asked, Target},
        },
        raw::{Observed, Transport},
    };

    /// Whether the time a request takes is of interest.
    pub(in crate::engine) const TIMED: bool = true;

    /// Bounds of the histogram, in seconds, as the conventions for MCP have them.
    const BOUNDS: [f64; 14] = [
        0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
    ];

    /// What records, made from the global providers at the first request.
    #[derive(Default)]
    pub(crate) struct Instruments {
        requests: OnceLock<(BoxedTracer, Histogram<f64>)>,
        /// How long sessions of older clients last.
        #[cfg(feature = "http")]
        sessions: OnceLock<Histogram<f64>>,
    }

    impl Instruments {
        /// Records how long a session of an older client's lasted.
        #[cfg(feature = "http")]
        pub(crate) fn session_ended(&self, version: Version, lasted: Duration) {
            let sessions = self.sessions.get_or_init(|| {
                global::meter("antiphon")
                    .f64_histogram("mcp.server.session.duration")
                    .with_description("From `initialize` to the end of the session")
                    .with_unit("s")
                    .with_boundaries(BOUNDS.to_vec())
                    .build()
            });
            sessions.record(lasted.as_secs_f64(), &[spoken(version)]);
        }

        fn of(&self) -> &(BoxedTracer, Histogram<f64>) {
            self.requests.get_or_init(|| {
                let duration = global::meter("antiphon")
                    .f64_histogram("mcp.server.operation.duration")
                    .with_description("From a request to its answer, or to its end")
                    .with_unit("s")
                    .with_boundaries(BOUNDS.to_vec())
                    .build();
                (global::tracer("antiphon"), duration)
            })
        }
    }

    /// The server span of one request.
    pub(in crate::engine) struct Trace<'a> {
        duration: &'a Histogram<f64>,
        context: Context,
    }

    impl<'a> Trace<'a> {
        pub(in crate::engine) fn begin(instruments: &'a Instruments, asked: &Asked<'_>) -> Self {
            let (tracer, duration) = instruments.of();
            let carried = carried(asked);
            let parent = global::get_text_map_propagator(|propagator| propagator.extract(&carried));
            let method = asked.method();
            let target = asked.target().as_ref().and_then(named);
            let name = match &target {
                Some(named) => format!("{method} {}", named.value),
                None => method.clone().into_owned(),
            };
            let mut about = vec![
                KeyValue::new("mcp.method.name", method.into_owned()),
                KeyValue::new("mcp.request.id", asked.id().into_owned()),
            ];
            about.extend(target);
            if let Some(Target::Resource(uri)) = asked.target() {
                about.push(KeyValue::new("mcp.resource.uri", uri.into_owned()));
            }
            about.extend(network(asked.transport));
            let span = tracer
                .span_builder(name)
                .with_kind(SpanKind::Server)
                .with_attributes(about);
            let span = tracer.build_with_context(span, &parent);
            Self {
                duration,
                context: parent.with_span(span),
            }
        }

        pub(in crate::engine) fn speaks(&self, version: Version) {
            self.context.span().set_attribute(spoken(version));
        }

        /// Makes the span current while the request runs.
        pub(in crate::engine) fn run<F: Future>(
            &self,
            request: F,
        ) -> impl Future<Output = F::Output> + use<F> {
            request.with_context(self.context.clone())
        }

        pub(in crate::engine) fn end(
            &self,
            asked: &Asked<'_>,
            outcome: Observed,
            duration: Duration,
        ) {
            let span = self.context.span();
            span.set_attribute(KeyValue::new("outcome", outcome.name()));
            span.set_attributes(failure(outcome));
            if let Observed::Error(code) = outcome {
                span.set_attribute(KeyValue::new("error.code", code));
            }
            if matches!(outcome, Observed::Error(_) | Observed::ToolError) {
                span.set_status(Status::error(outcome.name()));
            }
            span.end();
            self.duration
                .record(duration.as_secs_f64(), &measured(asked, outcome));
        }
    }

    pub(in crate::engine) fn goes_on(flow: String, round: u16, answered: String, waited: u64) {
        Context::current().span().set_attributes([
            KeyValue::new("antiphon.flow", flow),
            KeyValue::new("antiphon.round", i64::from(round)),
            KeyValue::new("antiphon.answered", answered),
            KeyValue::new(
                "antiphon.human_wait_ms",
                i64::try_from(waited).unwrap_or(i64::MAX),
            ),
        ]);
    }

    pub(in crate::engine) fn asks(flow: String, asked: String) {
        Context::current().span().set_attributes([
            KeyValue::new("antiphon.flow", flow),
            KeyValue::new("antiphon.asked", asked),
        ]);
    }

    /// The W3C context the request came with (META-B-10).
    fn carried(asked: &Asked<'_>) -> HashMap<String, String> {
        let meta = &asked.message.params.meta;
        let text = |key| serde_json::from_str(meta.other(key).map(RawValue::get)?).ok();
        ["traceparent", "tracestate", "baggage"]
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), text(key)?)))
            .collect()
    }

    fn named(target: &Target<'_>) -> Option<KeyValue> {
        match target {
            Target::Tool(name) => {
                Some(KeyValue::new("gen_ai.tool.name", name.clone().into_owned()))
            }
            Target::Prompt(name) => Some(KeyValue::new(
                "gen_ai.prompt.name",
                name.clone().into_owned(),
            )),
            Target::Resource(_) => None,
        }
    }

    fn spoken(version: Version) -> KeyValue {
        KeyValue::new("mcp.protocol.version", version.as_str())
    }

    fn network(transport: Transport) -> Option<KeyValue> {
        let name = match transport {
            Transport::Http => "tcp",
            Transport::Stdio => "pipe",
            Transport::Memory => return None,
        };
        Some(KeyValue::new("network.transport", name))
    }

    fn failure(outcome: Observed) -> Option<KeyValue> {
        match outcome {
            Observed::Error(code) => Some(KeyValue::new("error.type", code.to_string())),
            Observed::ToolError => Some(KeyValue::new("error.type", outcome.name())),
            _ => None,
        }
    }

    /// What the duration is counted by. Peers choose methods and names freely, and each one makes
    /// a series of its own, so only those count that a result shows to exist.
    fn measured(asked: &Asked<'_>, outcome: Observed) -> Vec<KeyValue> {
        let exists = !matches!(outcome, Observed::Error(_) | Observed::Abandoned);
        let method = match exists || Method::of(asked.message.method()) != Method::Other {
            true => asked.method().into_owned(),
            false => "_OTHER".to_owned(),
        };
        let mut about = vec![
            KeyValue::new("mcp.method.name", method),
            KeyValue::new("outcome", outcome.name()),
        ];
        if exists {
            about.extend(asked.target().as_ref().and_then(named));
        }
        about.extend(failure(outcome));
        about.extend(asked.version.map(spoken));
        about.extend(network(asked.transport));
        about
    }
}

#[cfg(not(feature = "otel"))]
mod off {
    use std::{marker::PhantomData, time::Duration};

    use antiphon_types::Version;

    use crate::{engine::observe::Asked, raw::Observed};

    pub(in crate::engine) const TIMED: bool = false;

    #[derive(Default)]
    pub(crate) struct Instruments(());

    #[cfg(feature = "http")]
    impl Instruments {
        pub(crate) fn session_ended(&self, _: Version, _: Duration) {}
    }

    pub(in crate::engine) struct Trace<'a>(PhantomData<&'a ()>);

    impl<'a> Trace<'a> {
        pub(in crate::engine) fn begin(_: &'a Instruments, _: &Asked<'_>) -> Self {
            Self(PhantomData)
        }

        pub(in crate::engine) fn speaks(&self, _: Version) {}

        pub(in crate::engine) fn run<F>(&self, request: F) -> F {
            request
        }

        pub(in crate::engine) fn end(&self, _: &Asked<'_>, _: Observed, _: Duration) {}
    }

    pub(in crate::engine) fn goes_on(_: String, _: u16, _: String, _: u64) {}

    pub(in crate::engine) fn asks(_: String, _: String) {}
}
