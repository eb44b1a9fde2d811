//! Traces of the real binary, received by a collector that speaks OTLP over gRPC.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::{net::TcpListener as StdListener, sync::Arc};

use binary::{
    boards::{MALFORMED, UNIQUE},
    logged::Logged,
};
use opentelemetry_proto::tonic::{
    collector::trace::v1::{
        ExportTraceServiceRequest, ExportTraceServiceResponse,
        trace_service_server::{TraceService, TraceServiceServer},
    },
    common::v1::any_value::Value,
    trace::v1::{Span, span::SpanKind},
};
use sudoku_solver::wire::pb::{
    SolveBatchRequest, SolveRequest, sudoku_solver_client::SudokuSolverClient,
};
use tokio::{net::TcpListener, sync::Mutex};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{
    Request, Response, Status,
    metadata::MetadataValue,
    transport::{Channel, Endpoint, Server},
};

type Client = SudokuSolverClient<Channel>;

/// A collector that keeps what it gets.
#[derive(Clone, Debug, Default)]
struct Collector(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.lock().await.push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    /// A collector that runs, and its URL.
    async fn start() -> (Collector, String) {
        let collector = Collector::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let service = TraceServiceServer::new(collector.clone());
        let incoming = TcpListenerStream::new(listener);
        tokio::spawn(
            Server::builder()
                .add_service(service)
                .serve_with_incoming(incoming),
        );
        (collector, url)
    }

    /// The spans, and the names of the services that they are of.
    async fn spans(&self) -> Vec<(String, Span)> {
        let mut spans = Vec::new();
        for resource in self.0.lock().await.iter().flat_map(|r| &r.resource_spans) {
            let attributes = &resource.resource.as_ref().unwrap().attributes;
            let name = attributes.iter().find(|a| a.key == "service.name").unwrap();
            let Some(Value::StringValue(name)) = name.value.clone().unwrap().value else {
                unreachable!("{name:?}")
            };
            for span in resource.scope_spans.iter().flat_map(|scope| &scope.spans) {
                spans.push((name.clone(), span.clone()));
            }
        }
        spans
    }
}

fn text(span: &Span, key: &str) -> String {
    match attribute(span, key) {
        Value::StringValue(text) => text,
        Value::IntValue(number) => number.to_string(),
        other => unreachable!("{other:?}"),
    }
}

#[track_caller]
fn attribute(span: &Span, key: &str) -> Value {
    let found = span.attributes.iter().find(|found| found.key == key);
    found.unwrap().value.clone().unwrap().value.unwrap()
}

async fn client(served: &Logged) -> Client {
    let endpoint = Endpoint::from_shared(served.url()).unwrap();
    Client::new(endpoint.connect().await.unwrap())
}

/// A call of a board, part of a trace.
fn solve(board: &str, traceparent: Option<&str>) -> Request<SolveRequest> {
    let mut request = Request::new(SolveRequest {
        board: board.to_owned(),
        options: None,
    });
    if let Some(parent) = traceparent {
        let headers = request.metadata_mut();
        headers.insert("traceparent", MetadataValue::try_from(parent).unwrap());
        headers.insert("tracestate", MetadataValue::from_static("vendor=opaque"));
    }
    request
}

const TRACE: [u8; 16] = [
    0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36,
];
const SAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const NOT_SAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_a_span_of_its_callers_trace() {
    let (collector, url) = Collector::start().await;
    let served = Logged::start(&["--otlp-endpoint", &url, "--otlp-sample", "0"]);
    let mut client = client(&served).await;
    let answered = client.solve(solve(UNIQUE, Some(SAMPLED))).await.unwrap();
    let request_id = answered.metadata().get("x-request-id").unwrap().clone();
    client.solve(solve(UNIQUE, None)).await.unwrap();
    drop(client);
    // What has not been sent yet is sent now.
    assert_eq!(served.end().code, Some(0));
    let spans = collector.spans().await;
    assert_eq!(spans.len(), 1, "{spans:?}");
    let (service, span) = &spans[0];
    assert_eq!(service, "sudoku-solver");
    assert_eq!(span.name, "sudoku.v1.SudokuSolver/Solve");
    assert_eq!(span.kind(), SpanKind::Server);
    assert_eq!(span.trace_id, TRACE);
    assert_eq!(span.parent_span_id, 0x00f0_67aa_0ba9_02b7_u64.to_be_bytes());
    assert_eq!(span.trace_state, "vendor=opaque");
    assert!(span.start_time_unix_nano <= span.end_time_unix_nano);
    for (key, value) in [
        ("rpc.system", "grpc"),
        ("rpc.service", "sudoku.v1.SudokuSolver"),
        ("rpc.method", "Solve"),
        ("rpc.grpc.status_code", "0"),
        ("client.address", "127.0.0.1"),
        ("sudoku.boards", "1"),
        ("request.id", request_id.to_str().unwrap()),
    ] {
        assert_eq!(text(span, key), value, "{key}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whether_to_trace_is_for_the_caller_to_say_and_else_for_chance() {
    let (collector, url) = Collector::start().await;
    let served = Logged::start(&["--otlp-endpoint", &url, "--otlp-sample", "1"]);
    let mut client = client(&served).await;
    client
        .solve(solve(UNIQUE, Some(NOT_SAMPLED)))
        .await
        .unwrap();
    client
        .solve(solve(UNIQUE, Some("no trace at all")))
        .await
        .unwrap();
    client.solve(solve(MALFORMED, None)).await.unwrap_err();
    let message = SolveBatchRequest {
        boards: vec![UNIQUE.to_owned(); 40],
        options: None,
    };
    let replies = client.solve_batch(tokio_stream::once(message)).await;
    let mut replies = replies.unwrap().into_inner();
    while replies.message().await.unwrap().is_some() {}
    drop(client);
    assert_eq!(served.end().code, Some(0));
    let spans = collector.spans().await;
    let mut seen: Vec<_> = spans
        .iter()
        .map(|(_, span)| {
            assert_ne!(span.trace_id, TRACE);
            assert!(span.parent_span_id.is_empty());
            ["rpc.method", "rpc.grpc.status_code", "sudoku.boards"].map(|key| text(span, key))
        })
        .collect();
    seen.sort();
    let expected = [
        ["Solve", "0", "1"],
        ["Solve", "3", "0"],
        ["SolveBatch", "0", "40"],
    ];
    assert_eq!(seen, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_collector_holds_up_no_call_and_no_end() {
    // One that takes connections and never says a word, and one that is not there.
    let silent = StdListener::bind("127.0.0.1:0").unwrap();
    let gone = StdListener::bind("127.0.0.1:0").unwrap().local_addr();
    for address in [silent.local_addr().unwrap(), gone.unwrap()] {
        let url = format!("http://{address}");
        let args = [
            "--otlp-endpoint",
            &url,
            "--otlp-sample",
            "1",
            "--grace",
            "10h",
        ];
        let served = Logged::start(&args);
        let mut client = client(&served).await;
        // More than wait for a collector at most.
        for _ in 0..5_000 {
            client.solve(solve(UNIQUE, None)).await.unwrap();
        }
        drop(client);
        let ended = served.end();
        assert_eq!(ended.code, Some(0));
        let told = ended.log.iter().any(|line| line.contains("\"WARN\""));
        assert!(told, "{:?}", ended.log);
    }
}

#[test]
fn what_is_no_collector_is_refused() {
    for (args, text) in [
        (["--otlp-endpoint", "https://collector:4317"], "TLS"),
        (["--otlp-endpoint", "collector"], "http://HOST:PORT"),
        (["--otlp-sample", "1.5"], "0 to 1"),
        (["--otlp-sample", "NaN"], "0 to 1"),
    ] {
        let run = binary::run(binary::binary().arg("serve").args(args), "");
        assert_eq!(run.code, Some(2), "{args:?}");
        assert!(run.stderr.contains(text), "{}", run.stderr);
    }
}
