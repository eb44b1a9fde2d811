//! Spans of calls, sent by OTLP over gRPC to a collector.
//!
//! A span is made when its call is over: nothing is sent on from here that would need it before, and a call
//! that is not traced costs no more than the look whether it is. Spans wait in a bounded queue for a
//! thread of their own, and are dropped when it is full: a collector that is slow or gone holds up nobody.

use std::{
    thread,
    time::{Duration, SystemTime},
};

use hyper::HeaderMap;
use opentelemetry::{
    Context, KeyValue,
    propagation::{Extractor, TextMapPropagator as _},
    trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _},
};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    propagation::TraceContextPropagator,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider},
};
use tokio::{sync::oneshot, time};
use tonic::Code;

use super::{TracesTo, call::Ended};
use crate::limits;

/// Where spans are made, and the way out.
#[derive(Debug)]
pub(in crate::server) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    propagator: TraceContextPropagator,
}

impl Traces {
    /// Connects when there is something to send. On a runtime, on which the connection then lives.
    pub(in crate::server) fn start(to: &TracesTo) -> Result<Self, ExporterBuildError> {
        let exporter = SpanExporter::builder()
            .with_tonic()
            .with_endpoint(&to.endpoint)
            .with_timeout(limits::TRACES_TIMEOUT)
            .build()?;
        let queue = BatchConfigBuilder::default()
            .with_max_queue_size(limits::TRACES_QUEUED_MAX)
            .build();
        let processor = BatchSpanProcessor::builder(exporter)
            .with_batch_config(queue)
            .build();
        let by_chance = Sampler::TraceIdRatioBased(to.sample);
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            .with_sampler(Sampler::ParentBased(Box::new(by_chance)))
            .with_resource(resource())
            .build();
        Ok(Traces {
            tracer: provider.tracer(env!("CARGO_PKG_NAME")),
            provider,
            propagator: TraceContextPropagator::new(),
        })
    }

    /// The trace that a caller says his call is part of.
    pub(super) fn parent(&self, headers: &HeaderMap) -> Context {
        self.propagator
            .extract_with_context(&Context::new(), &Headers(headers))
    }

    /// Makes the span of a call.
    pub(super) fn span(&self, call: &Ended<'_>, parent: &Context) {
        let ended = SystemTime::now();
        let begun = ended.checked_sub(call.time).unwrap_or(ended);
        let span = self
            .tracer
            .span_builder(call.method.name())
            .with_kind(SpanKind::Server)
            .with_start_time(begun);
        let mut span = self.tracer.build_with_context(span, parent);
        if !span.is_recording() {
            return;
        }
        let (service, method) = call.method.parts();
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let request_id = call.record.request_id_text().to_owned();
        span.set_attributes([
            KeyValue::new("rpc.system", "grpc"),
            KeyValue::new("rpc.service", service),
            KeyValue::new("rpc.method", method),
            KeyValue::new("rpc.grpc.status_code", call.code as i64),
            KeyValue::new("client.address", call.peer.ip().to_string()),
            KeyValue::new("client.port", i64::from(call.peer.port())),
            KeyValue::new("request.id", request_id),
            KeyValue::new("sudoku.boards", number(call.record.boards())),
        ]);
        if is_our_fault(call.code) {
            span.set_status(Status::error(call.code.description()));
        }
        span.end_with_timestamp(ended);
    }

    /// Sends what waits and ends, for as long as `max`.
    pub(in crate::server) async fn finish(&self, max: Duration) {
        let finished = time::timeout(max, self.end(max)).await;
        if !matches!(finished, Ok(Ok(Ok(())))) {
            tracing::warn!(?max, "the last traces were not taken by their collector");
        }
    }

    /// Ends on a thread that nobody has to wait for: the runtime would wait for one of its own.
    fn end(&self, max: Duration) -> oneshot::Receiver<OTelSdkResult> {
        let provider = self.provider.clone();
        let (done, ended) = oneshot::channel();
        let end = move || {
            // Nobody may be asking any more.
            let _ = done.send(provider.shutdown_with_timeout(max));
        };
        // Without a thread `done` is dropped, which says as much.
        drop(thread::Builder::new().spawn(end));
        ended
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        // A provider that was not shut down waits for its collector when it is dropped.
        drop(self.end(limits::TRACES_LAST));
    }
}

/// What the collector is told of this process. `OTEL_RESOURCE_ATTRIBUTES` may say more, and
/// `OTEL_SERVICE_NAME` call it something else.
fn resource() -> Resource {
    let resource = Resource::builder();
    let resource = if std::env::var_os("OTEL_SERVICE_NAME").is_some() {
        resource
    } else {
        resource.with_service_name(env!("CARGO_PKG_NAME"))
    };
    resource
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Whether a code is a fault of the server rather than of its caller, as OpenTelemetry has it.
fn is_our_fault(code: Code) -> bool {
    matches!(
        code,
        Code::Unknown
            | Code::DeadlineExceeded
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss
    )
}

/// Headers as OpenTelemetry reads them.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0
            .keys()
            .map(hyper::header::HeaderName::as_str)
            .collect()
    }
}
