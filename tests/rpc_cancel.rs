//! Calls that go away, by themselves or by their deadline, free the threads that searched for them.
//!
//! Each test has one solver thread and gives it a search that takes longer than anyone waits: the
//! next call is answered only because the search was stopped.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use std::{sync::Arc, time::Duration};

use common::{
    server::{
        Batch, Client, TestServer, longest, longest_on_lanes, message, options, request,
        solve_batch, workers,
    },
    texts::{EMPTY, LONG, UNIQUE},
};
use sudoku_solver::{
    board::text::parse,
    server::Config,
    solver::{CancelFlag, Options, Solver, Verdict},
    wire::pb::SolveStatus,
};
use tokio_stream::{StreamExt as _, wrappers::ReceiverStream};
use tonic::{Code, Request};
use tonic_types::StatusExt as _;

/// For a client that gives up; the server may not even have begun.
const SOON: Duration = Duration::from_millis(100);

async fn one_thread() -> TestServer {
    TestServer::with(Config {
        workers: workers(1),
        ..Config::default()
    })
    .await
}

/// The next board is solved, and long before the search could have ended by itself: a quarter of
/// the same search, begun now, must not be faster. However slow the machine, both are.
async fn assert_free(client: &mut Client) {
    let quarter = Arc::new(CancelFlag::new());
    let search = tokio::task::spawn_blocking({
        let cancel = Arc::clone(&quarter);
        move || {
            let options = Options {
                solution_limit: 2,
                node_limit: 2_000_000,
            };
            let outcome =
                Solver::new().solve(&parse(LONG).unwrap(), options, &cancel, &mut Vec::new());
            assert_ne!(
                outcome.verdict,
                Verdict::Unsolvable,
                "the search is not long enough"
            );
        }
    });
    // An easy call would be answered by the thread that it comes in on, and an easy board of a stream by a
    // free lane beside a search; one that asks for many solutions waits for the solver thread.
    let next = vec![message(&[UNIQUE], options(Some(100), None))];
    let results = tokio::select! {
        biased;
        results = solve_batch(client, next) => results.unwrap(),
        search = search => panic!("the thread is still searching: {search:?}"),
    };
    quarter.cancel();
    assert_eq!(results[0].status(), SolveStatus::Unique);
}

fn with_deadline<T>(message: T, timeout: &str) -> Request<T> {
    let mut call = Request::new(message);
    call.metadata_mut()
        .insert("grpc-timeout", timeout.parse().unwrap());
    call
}

#[tokio::test]
async fn a_dropped_call_frees_its_thread() {
    let server = one_thread().await;
    let mut client = server.client().await;
    for options in [longest(), longest_on_lanes()].repeat(2) {
        let call = client.solve(request(LONG, options));
        assert!(
            tokio::time::timeout(SOON, call).await.is_err(),
            "the search was not long"
        );
        assert_free(&mut client).await;
    }
}

#[tokio::test]
async fn a_dropped_stream_frees_its_thread() {
    let server = one_thread().await;
    let mut client = server.client().await;
    for options in [longest(), longest_on_lanes()] {
        let mut batch = Batch::open(&mut client).await.unwrap();
        batch.send(message(&[UNIQUE], None)).await;
        batch.results(1).await.unwrap();
        batch.send(message(&[LONG; 600], options)).await;
        assert!(
            tokio::time::timeout(SOON, batch.reply()).await.is_err(),
            "the search was not long"
        );
        drop(batch);
        assert_free(&mut client).await;
    }
}

#[tokio::test]
async fn a_connection_that_breaks_frees_its_threads() {
    let server = one_thread().await;
    let mut gone = server.client().await;
    let batch = Batch::open(&mut gone).await.unwrap();
    batch.send(message(&[LONG], longest())).await;
    let call = gone.solve(request(LONG, longest()));
    assert!(
        tokio::time::timeout(SOON, call).await.is_err(),
        "the search was not long"
    );
    drop((batch, gone));
    assert_free(&mut server.client().await).await;
}

#[tokio::test]
async fn a_deadline_stops_the_search_of_a_call() {
    let server = one_thread().await;
    let mut client = server.client().await;
    let mut bare = server.bare_client().await;
    let ends = [
        ("50m", longest()),
        ("50m", longest_on_lanes()),
        ("1m", longest()),
        ("0n", longest()),
    ];
    for (timeout, options) in ends {
        let call = with_deadline(request(LONG, options), timeout);
        let status = bare.solve(call).await.unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
        assert_eq!(
            status.get_details_error_info().unwrap().reason,
            "DEADLINE_PASSED"
        );
        assert_free(&mut client).await;
    }
}

#[tokio::test]
async fn a_deadline_ends_a_stream_in_the_middle() {
    let server = one_thread().await;
    let mut client = server.client().await;
    let mut bare = server.bare_client().await;
    let long = |options| vec![message(&[LONG], options)];
    for last in [vec![], long(longest()), long(longest_on_lanes())] {
        let messages = tokio_stream::iter([vec![message(&[UNIQUE], None)], last].concat());
        let forever = messages.chain(tokio_stream::pending());
        let call = with_deadline(forever, "100m");
        let mut replies = bare.solve_batch(call).await.unwrap().into_inner();
        assert_eq!(replies.message().await.unwrap().unwrap().results.len(), 1);
        let status = replies.message().await.unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
        assert_eq!(
            status.get_details_error_info().unwrap().reason,
            "DEADLINE_PASSED"
        );
        assert_free(&mut client).await;
    }
}

#[tokio::test]
async fn a_deadline_stops_the_search_of_a_client_that_does_not_read() {
    let server = one_thread().await;
    let mut client = server.narrow_client().await;
    let (requests, outgoing) = tokio::sync::mpsc::channel(1);
    let call = with_deadline(ReceiverStream::new(outgoing), "500m");
    let replies = client.solve_batch(call).await.unwrap().into_inner();
    // The first boards have more solutions than the client's window lets through: the server is
    // stuck with them, polls the stream no more, and searches the last one.
    let boards = [[EMPTY; 20].as_slice(), &[LONG]].concat();
    requests
        .send(message(&boards, options(Some(1000), Some(u32::MAX))))
        .await
        .unwrap();
    tokio::time::sleep(4 * SOON).await;
    assert_free(&mut server.client().await).await;
    drop((replies, requests));
}

#[tokio::test]
async fn ten_thousand_cancelled_calls_end_nobody_elses() {
    let server = one_thread().await;
    let mut client = server.client().await;
    let mut batch = Batch::open(&mut client).await.unwrap();
    for _ in 0..50 {
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..200 {
            let mut client = client.clone();
            calls.spawn(async move { client.solve(request(LONG, longest())).await });
        }
        tokio::time::sleep(SOON / 5).await;
        calls.shutdown().await;
    }
    assert_free(&mut client).await;
    batch.send(message(&[UNIQUE], None)).await;
    assert_eq!(batch.results(1).await.unwrap().len(), 1);
    let results = solve_batch(&mut client, vec![message(&[UNIQUE; 9], None)])
        .await
        .unwrap();
    assert_eq!(results.len(), 9);
}
