//! A panic in a solver thread costs the call that it happened in, and nothing else.
//!
//! Builds with debug assertions have a board for that; release builds do not (`tests/all.sh` looks).
#![cfg(debug_assertions)]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;
mod common;

use std::time::Duration;

use binary::served::Served;
use common::{
    server::{Batch, Client, channel, longest, message, options, request, solve_batch},
    texts::{FAULT, LONG, UNIQUE},
};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

/// A server with two solver threads.
async fn two_threads() -> (Served, Client) {
    let served = Served::with(&["--workers", "2"]);
    let client = Client::new(channel(served.address.parse().unwrap()).await);
    (served, client)
}

#[track_caller]
fn assert_internal(status: &Status) {
    assert_eq!(status.code(), Code::Internal, "{status:?}");
    let info = status.get_details_error_info().unwrap();
    assert_eq!(
        (info.reason.as_str(), info.domain.as_str()),
        ("SOLVER_FAILED", "sudoku.v1")
    );
}

#[tokio::test]
async fn it_costs_its_call() {
    let (_served, mut client) = two_threads().await;
    let mut beside = Batch::open(&mut client).await.unwrap();
    for _ in 0..3 {
        let status = client.solve(request(FAULT, None)).await.unwrap_err();
        assert_internal(&status);
        client.solve(request(UNIQUE, None)).await.unwrap();
    }
    let mut batch = Batch::open(&mut client).await.unwrap();
    batch.send(message(&[UNIQUE], None)).await;
    batch.results(1).await.unwrap();
    batch.send(message(&[FAULT], None)).await;
    assert_internal(&batch.reply().await.unwrap_err());
    // As many as are for the engine: one panics, and its call alone is lost.
    let faulty = [[UNIQUE; 99].as_slice(), &[FAULT]].concat();
    let status = solve_batch(&mut client, vec![message(&faulty, None)]).await;
    assert_internal(&status.unwrap_err());
    beside.send(message(&[UNIQUE; 100], None)).await;
    assert_eq!(beside.results(100).await.unwrap().len(), 100);
}

#[tokio::test]
async fn every_thread_goes_on() {
    let (_served, mut client) = two_threads().await;
    // More panics than threads.
    for _ in 0..5 {
        assert_internal(&client.solve(request(FAULT, None)).await.unwrap_err());
        let status = solve_batch(&mut client, vec![message(&[FAULT; 100], None)]).await;
        assert_internal(&status.unwrap_err());
    }
    // One thread searches for longer than anyone waits, and the other one solves. It would not take its
    // board from a search that has begun.
    let mut busy = client.clone();
    let search = busy.solve(request(LONG, longest()));
    tokio::pin!(search);
    let begun = tokio::time::timeout(Duration::from_millis(200), &mut search).await;
    assert!(begun.is_err(), "{begun:?}");
    let next = vec![message(&[UNIQUE], options(Some(100), None))];
    tokio::select! {
        biased;
        ended = search => unreachable!("the search ended first: {ended:?}"),
        results = solve_batch(&mut client, next) => assert_eq!(results.unwrap().len(), 1),
    }
}
