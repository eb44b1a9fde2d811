//! The access log of the real binary, request ids, and what never stands in a log.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::time::Duration;

use binary::{
    boards::{LONG, MALFORMED, UNIQUE},
    logged::Logged,
};
use sudoku_solver::wire::pb::{
    SolveBatchRequest, SolveOptions, SolveRequest, sudoku_solver_client::SudokuSolverClient,
};
use tokio::time;
use tonic::{
    Request,
    metadata::{MetadataMap, MetadataValue},
    transport::{Channel, Endpoint},
};

type Client = SudokuSolverClient<Channel>;

const SOLVE: &str = "sudoku.v1.SudokuSolver/Solve";
const SOLVE_BATCH: &str = "sudoku.v1.SudokuSolver/SolveBatch";

async fn client(served: &Logged) -> Client {
    let endpoint = Endpoint::from_shared(served.url()).unwrap();
    Client::new(endpoint.connect().await.unwrap())
}

fn solve(board: &str, headers: &[(&'static str, &str)]) -> Request<SolveRequest> {
    let mut request = Request::new(SolveRequest {
        board: board.to_owned(),
        options: None,
    });
    for &(name, value) in headers {
        request
            .metadata_mut()
            .insert(name, MetadataValue::try_from(value).unwrap());
    }
    request
}

fn batch(boards: usize) -> tokio_stream::Once<SolveBatchRequest> {
    tokio_stream::once(SolveBatchRequest {
        boards: vec![UNIQUE.to_owned(); boards],
        options: None,
    })
}

/// One stream to its end, with so many boards.
async fn stream(client: &mut Client, boards: usize) {
    let mut replies = client
        .solve_batch(batch(boards))
        .await
        .unwrap()
        .into_inner();
    while replies.message().await.unwrap().is_some() {}
}

fn id(metadata: &MetadataMap) -> String {
    let id = metadata.get("x-request-id").unwrap();
    id.to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_has_a_line() {
    let served = Logged::start(&["--access-log", "all"]);
    let mut client = client(&served).await;
    client.solve(solve(UNIQUE, &[])).await.unwrap();
    let line = served.access();
    assert_eq!(
        (&line["method"], &line["code"]),
        (&SOLVE.into(), &"OK".into())
    );
    assert_eq!(line["boards"], 1);
    assert!(line["time_micros"].is_u64(), "{line}");
    assert!(line["peer"].as_str().unwrap().starts_with("127.0.0.1:"));
    client.solve(solve(MALFORMED, &[])).await.unwrap_err();
    let line = served.access();
    assert_eq!(
        (&line["code"], &line["boards"]),
        (&"INVALID_ARGUMENT".into(), &0.into())
    );
    stream(&mut client, 300).await;
    let line = served.access();
    assert_eq!(
        (&line["method"], &line["code"]),
        (&SOLVE_BATCH.into(), &"OK".into())
    );
    assert_eq!(line["boards"], 300);
    assert_eq!(served.end().code, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_given_up_has_a_line() {
    let served = Logged::start(&["--access-log", "all", "--metrics-listen", "127.0.0.1:0"]);
    let mut client = client(&served).await;
    let mut call = solve(LONG, &[]);
    call.get_mut().options = Some(SolveOptions {
        solution_limit: None,
        node_limit: Some(u32::MAX),
    });
    let waiting = tokio::spawn(async move { client.solve(call).await });
    // It may be given up when the server has it, which the metrics tell.
    let begun = format!("sudoku_requests_in_flight{{method=\"{SOLVE}\"}} 1\n");
    while !served.scrape().contains(&begun) {
        time::sleep(Duration::from_millis(20)).await;
    }
    waiting.abort();
    assert_eq!(served.access()["code"], "CANCELLED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_have_a_line_unless_told_otherwise() {
    for (args, lines) in [(&[][..], 1), (&["--access-log", "none"][..], 0)] {
        let served = Logged::start(args);
        let mut client = client(&served).await;
        client.solve(solve(UNIQUE, &[])).await.unwrap();
        stream(&mut client, 1).await;
        drop(client);
        let ended = served.end();
        assert_eq!(ended.code, Some(0));
        let access = ended.access();
        assert_eq!(access.len(), lines, "{access:?}");
        let of_streams = |line: &serde_json::Value| line["fields"]["method"] == SOLVE_BATCH;
        assert!(access.iter().all(of_streams), "{access:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_ids_come_back_and_stand_in_the_log() {
    let served = Logged::start(&["--access-log", "all"]);
    let mut client = client(&served).await;
    let sent = "ticket-4711/retry:2";
    let named = client
        .solve(solve(UNIQUE, &[("x-request-id", sent)]))
        .await
        .unwrap();
    assert_eq!(id(named.metadata()), sent);
    assert_eq!(served.access()["request_id"], sent);
    // Errors have it too.
    let failed = client
        .solve(solve(MALFORMED, &[("x-request-id", sent)]))
        .await
        .unwrap_err();
    assert_eq!(id(failed.metadata()), sent);
    assert_eq!(served.access()["request_id"], sent);
    let mut made = Vec::new();
    let too_long = "x".repeat(129);
    for bad in ["", "with space", "\"quoted\"", &too_long] {
        let answered = client.solve(solve(UNIQUE, &[("x-request-id", bad)])).await;
        let id = id(answered.unwrap().metadata());
        assert!(
            !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()),
            "{id:?} for {bad:?}"
        );
        assert_eq!(served.access()["request_id"], id);
        made.push(id);
    }
    let streamed = client.solve_batch(batch(1)).await.unwrap();
    made.push(id(streamed.metadata()));
    made.dedup();
    assert_eq!(made.len(), 5, "{made:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_header_and_no_board_stands_in_the_log() {
    let secret = "hush-5f3a9c";
    let headers = [
        ("authorization", "Bearer hush-5f3a9c"),
        ("x-api-key", "hush-5f3a9c"),
        ("cookie", "session=hush-5f3a9c"),
        ("user-agent", "hush-5f3a9c"),
        ("traceparent", "hush-5f3a9c"),
        ("x-request-id", "hush 5f3a9c hush-5f3a9c"),
    ];
    for level in ["info", "sudoku_solver=trace,info"] {
        let served = Logged::with(&["--access-log", "all"], &[("RUST_LOG", level)]);
        let mut client = client(&served).await;
        client.solve(solve(UNIQUE, &headers)).await.unwrap();
        client.solve(solve(secret, &headers)).await.unwrap_err();
        let mut call = Request::new(batch(1));
        *call.metadata_mut() = solve(UNIQUE, &headers).metadata().clone();
        let mut replies = client.solve_batch(call).await.unwrap().into_inner();
        while replies.message().await.unwrap().is_some() {}
        drop(client);
        let ended = served.end();
        assert_eq!(ended.access().len(), 3, "{:?}", ended.log);
        for line in &ended.log {
            assert!(!line.contains("hush"), "{line}");
            assert!(!line.contains(UNIQUE), "{line}");
        }
    }
}
