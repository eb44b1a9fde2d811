//! The end of a server: what is in flight is finished, and nobody can hold it open for ever.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;
mod common;

use std::time::Duration;

use binary::served::Served;
use common::{
    server::{Batch, Client, TestServer, channel, longest, message, options, request, workers},
    texts::{EMPTY, LONG, UNIQUE},
};
use sudoku_solver::{server::Config, wire::pb::SolveStatus};
use tonic::Code;
use tonic_types::StatusExt as _;

fn grace(grace: Duration) -> Config {
    Config {
        workers: workers(1),
        grace,
        ..Config::default()
    }
}

const LONG_GRACE: Duration = Duration::from_hours(1);
const SHORT_GRACE: Duration = Duration::from_millis(200);

#[tokio::test]
async fn an_idle_server_ends_at_once() {
    let mut server = TestServer::with(grace(LONG_GRACE)).await;
    let mut client = server.client().await;
    client.solve(request(UNIQUE, None)).await.unwrap();
    let address = server.address;
    server.shut_down();
    server.ended().await.unwrap();
    assert!(
        tokio::net::TcpStream::connect(address).await.is_err(),
        "still listening"
    );
    assert_eq!(
        client
            .solve(request(UNIQUE, None))
            .await
            .unwrap_err()
            .code(),
        Code::Unavailable
    );
}

#[tokio::test]
async fn streams_in_flight_are_finished() {
    let mut server = TestServer::with(grace(LONG_GRACE)).await;
    let mut client = server.client().await;
    let mut batch = Batch::open(&mut client).await.unwrap();
    batch.send(message(&[UNIQUE], None)).await;
    batch.results(1).await.unwrap();
    server.shut_down();
    for _ in 0..3 {
        batch.send(message(&[UNIQUE; 500], None)).await;
        let results = batch.results(500).await.unwrap();
        assert!(
            results
                .iter()
                .all(|result| result.status() == SolveStatus::Unique)
        );
    }
    batch.finish().await.unwrap();
    server.ended().await.unwrap();
}

#[tokio::test]
async fn what_outlasts_the_grace_time_is_told_so() {
    let mut server = TestServer::with(grace(SHORT_GRACE)).await;
    let mut client = server.client().await;
    let mut batch = Batch::open(&mut client).await.unwrap();
    batch.send(message(&[UNIQUE], None)).await;
    batch.results(1).await.unwrap();
    let mut second = client.clone();
    let call = tokio::spawn(async move { second.solve(request(LONG, longest())).await });
    batch.send(message(&[LONG], longest())).await;
    // The call is on its way before the server stops taking calls.
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.shut_down();
    for status in [
        batch.reply().await.unwrap_err(),
        call.await.unwrap().unwrap_err(),
    ] {
        assert_eq!(status.code(), Code::Unavailable, "{status:?}");
        assert_eq!(
            status.get_details_error_info().unwrap().reason,
            "SHUTTING_DOWN"
        );
    }
    server.ended().await.unwrap();
}

#[tokio::test]
async fn a_client_that_never_reads_is_cut_off() {
    let mut server = TestServer::with(grace(SHORT_GRACE)).await;
    let mut client = server.client().await;
    let batch = stuck(&mut client).await;
    server.shut_down();
    server.ended().await.unwrap();
    drop(batch);
}

/// A stream with more replies than the client's window takes, and nobody reading them.
async fn stuck(client: &mut Client) -> Batch {
    let batch = Batch::open(client).await.unwrap();
    batch
        .send(message(&[EMPTY; 64], options(Some(10_000), None)))
        .await;
    batch
}

/// The real program with one solver thread; its log is read by blocking, hence the runtimes with
/// threads below.
fn program(args: &[&str]) -> Served {
    Served::with(&[&["--workers", "1"], args].concat())
}

async fn client(program: &Served) -> Client {
    Client::new(channel(program.address.parse().unwrap()).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_exits_0_on_either_signal() {
    for signal in ["TERM", "INT"] {
        let mut program = program(&[]);
        let mut client = client(&program).await;
        client.solve(request(UNIQUE, None)).await.unwrap();
        program.signal(signal);
        assert_eq!(program.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_exits_0_with_a_client_that_never_reads() {
    let mut program = program(&["--grace", "200ms"]);
    let mut client = client(&program).await;
    let batch = stuck(&mut client).await;
    program.signal("TERM");
    assert_eq!(program.child.wait().unwrap().code(), Some(0));
    drop(batch);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_the_program_now() {
    let mut program = program(&["--grace", "1h"]);
    let mut client = client(&program).await;
    let batch = Batch::open(&mut client).await.unwrap();
    program.signal("TERM");
    program.line_with("draining");
    program.signal("TERM");
    assert_eq!(program.child.wait().unwrap().code(), Some(1));
    drop(batch);
}
