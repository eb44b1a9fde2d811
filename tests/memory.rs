//! The memory of the real binary while boards stream through: it stays flat, however many they are,
//! and whether or not their sender reads the answers.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed unwrap is a failed test; figures are there to be read"
)]

mod binary;

use std::{env, fs, time::Duration};

use sudoku_solver::{
    client::{BatchSettings, Client},
    wire::pb::{SolveBatchRequest, SolveOptions, sudoku_solver_client::SudokuSolverClient},
};
use tokio::{sync::mpsc, time};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;

use binary::{
    boards::{CLASHING, EMPTY, GRID, MALFORMED, TWO, UNIQUE, UNSOLVABLE},
    served::Served,
};

/// How far above its idle self the server may come.
const GROWTH_MAX_KIB: u64 = 64 << 10;

/// A server with as many solver threads on every machine: what a stream may hold grows with them.
fn served() -> Served {
    Served::with(&["--workers", "2"])
}

/// A figure of the server's memory, in KiB.
fn memory(served: &Served, figure: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", served.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(figure));
    let kib = line.unwrap().split_ascii_whitespace().nth(1);
    kib.unwrap().parse().unwrap()
}

#[track_caller]
fn assert_flat(served: &Served, idle: u64, what: &str) {
    let peak = memory(served, "VmHWM:");
    eprintln!("{what}: {idle} KiB when idle, {peak} KiB at the peak");
    assert!(
        peak < idle + GROWTH_MAX_KIB,
        "{what}: {idle} KiB grew to {peak} KiB"
    );
}

/// 300,000 boards; ten million with `SUDOKU_EXHAUSTIVE=1`.
fn many() -> usize {
    if env::var_os("SUDOKU_EXHAUSTIVE").is_some_and(|value| value == "1") {
        10_000_000
    } else {
        300_000
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_boards_leave_no_trace() {
    let served = served();
    let idle = memory(&served, "VmRSS:");
    let client = Client::connect(&served.url()).await.unwrap();
    let boards = [UNIQUE, GRID, TWO, UNSOLVABLE, CLASHING, MALFORMED];
    let boards = boards.into_iter().cycle().take(many());
    let mut answers = client
        .solve_all(boards, BatchSettings::default())
        .await
        .unwrap();
    let mut answered = 0;
    while answers.next().await.unwrap().is_some() {
        answered += 1;
    }
    assert_eq!(answered, many());
    assert_flat(&served, idle, &format!("{answered} boards"));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_never_read_cost_little() {
    let served = served();
    let idle = memory(&served, "VmRSS:");
    let few = vec![UNIQUE; 4096];
    let mixed = [few.clone(), vec![MALFORMED; 4096]].concat();
    let (two, most) = (None, Some(10_000));
    // The most bytes that an answer may have, the most answers to a byte, and what is usual.
    let streams = [
        unread(&served, vec![EMPTY; 64], most),
        unread(&served, vec![""; 4096], two),
        unread(&served, mixed, two),
        unread(&served, few, two),
    ];
    let mut open = Vec::new();
    for stream in streams {
        open.push(stream.await);
    }
    assert_flat(&served, idle, "four clients that never read");
}

/// Sends messages over a connection of its own until the server takes no more. What is returned keeps
/// the call open.
async fn unread(served: &Served, boards: Vec<&str>, solution_limit: Option<u32>) -> impl Sized {
    let channel = Endpoint::from_shared(served.url()).unwrap().connect().await;
    let mut client = SudokuSolverClient::new(channel.unwrap());
    let (requests, outgoing) = mpsc::channel(1);
    let call = client.solve_batch(ReceiverStream::new(outgoing));
    let replies = call.await.unwrap();
    let message = SolveBatchRequest {
        boards: boards.into_iter().map(str::to_owned).collect(),
        options: Some(SolveOptions {
            solution_limit,
            node_limit: None,
        }),
    };
    let mut sent = 0;
    while let Ok(taken) =
        time::timeout(Duration::from_secs(2), requests.send(message.clone())).await
    {
        taken.unwrap();
        sent += message.boards.len();
        assert!(
            sent < 20_000_000,
            "boards without end from a client that never reads"
        );
    }
    (requests, replies)
}
