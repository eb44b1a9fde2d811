//! Hard boards hold up nobody else: while every solver thread searches, health and easy calls are
//! answered.
//!
//! Server and client share one runtime thread here, so a search on that thread would let nothing
//! else happen before its end.

mod common;

use common::{
    server::{TestServer, longest, request, workers},
    texts::{LONG, UNIQUE},
};
use sudoku_solver::{
    server::Config,
    wire::pb::{SolveResponse, SolveStatus},
};
use tokio::task::JoinSet;
use tonic::{Response, Status};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

/// Searches, more than the threads can have taken, that begin before anything else is asked.
const SEARCHES: usize = 64 + 2;

/// A server with two threads that search for longer than anyone waits.
async fn busy() -> (TestServer, JoinSet<Result<Response<SolveResponse>, Status>>) {
    let server = TestServer::with(Config {
        workers: workers(2),
        ..Config::default()
    })
    .await;
    let client = server.client().await;
    let mut searches = JoinSet::new();
    for _ in 0..SEARCHES {
        let mut client = client.clone();
        searches.spawn(async move { client.solve(request(LONG, longest())).await });
    }
    (server, searches)
}

#[tokio::test]
async fn health_is_answered_while_every_thread_searches() {
    let (server, mut searches) = busy().await;
    let mut health = HealthClient::new(server.channel().await);
    for _ in 0..100 {
        let response = tokio::select! {
            biased;
            ended = searches.join_next() => unreachable!("{ended:?}"),
            response = health.check(HealthCheckRequest::default()) => response.unwrap(),
        };
        assert_eq!(response.into_inner().status(), ServingStatus::Serving);
    }
}

#[tokio::test]
async fn easy_calls_are_answered_while_every_thread_searches() {
    let (server, mut searches) = busy().await;
    let mut client = server.client().await;
    for _ in 0..100 {
        let response = tokio::select! {
            biased;
            ended = searches.join_next() => unreachable!("{ended:?}"),
            response = client.solve(request(UNIQUE, None)) => response.unwrap(),
        };
        let result = response.into_inner().result.unwrap();
        assert_eq!(result.status(), SolveStatus::Unique);
    }
}
