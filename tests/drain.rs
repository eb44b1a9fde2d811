//! The end of a server: what is in flight is finished, and nobody can hold it open for ever.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use std::{
    io::{BufRead as _, BufReader, Lines},
    net::SocketAddr,
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    time::Duration,
};

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

/// The real program; its log is read by blocking, hence the runtimes with threads below.
///
/// It listens on a port of its own.
struct Program {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
    address: SocketAddr,
}

impl Program {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sudoku-solver"))
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--workers",
                "1",
                "--log-format",
                "json",
            ])
            .args(arguments)
            .env("RUST_LOG", "info")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = log.next().unwrap().unwrap();
            let event: serde_json::Value = serde_json::from_str(&line).unwrap();
            if let Some(address) = event["fields"]["address"].as_str() {
                break address.parse().unwrap();
            }
        };
        Program {
            child,
            log,
            address,
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill")
            .args(["-s", name, &id])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    fn line_with(&mut self, text: &str) -> String {
        self.log
            .by_ref()
            .map(Result::unwrap)
            .find(|line| line.contains(text))
            .unwrap()
    }

    fn ended(mut self) -> ExitStatus {
        // Read on, or a full pipe would hold the program up.
        self.log.by_ref().for_each(drop);
        self.child.wait().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_exits_0_on_either_signal() {
    for signal in ["TERM", "INT"] {
        let program = Program::start(&[]);
        let mut client = Client::new(channel(program.address).await);
        client.solve(request(UNIQUE, None)).await.unwrap();
        program.signal(signal);
        assert_eq!(program.ended().code(), Some(0), "{signal}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_exits_0_with_a_client_that_never_reads() {
    let program = Program::start(&["--grace", "200ms"]);
    let mut client = Client::new(channel(program.address).await);
    let batch = stuck(&mut client).await;
    program.signal("TERM");
    assert_eq!(program.ended().code(), Some(0));
    drop(batch);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_the_program_now() {
    let mut program = Program::start(&["--grace", "1h"]);
    let mut client = Client::new(channel(program.address).await);
    let batch = Batch::open(&mut client).await.unwrap();
    program.signal("TERM");
    program.line_with("draining");
    program.signal("TERM");
    assert_eq!(program.ended().code(), Some(1));
    drop(batch);
}
