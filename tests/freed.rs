//! How soon the only solver thread of the real binary is free again, after a call that searches was given
//! up by its client or has passed its deadline. What comes next is answered rightly; how soon is printed
//! and not asserted.
//!
//! Five rounds by default; `SUDOKU_FREED_ROUNDS=200 cargo test --release --test freed -- --nocapture` is
//! what `docs/reliability.md` reports.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed unwrap is a failed test; figures are there to be read"
)]

mod binary;
mod common;

use std::{
    env,
    net::SocketAddr,
    time::{Duration, Instant},
};

use binary::served::Served;
use common::{
    server::{
        Bare, Batch, Client, bare_client, channel, longest, longest_on_lanes, message, options,
        request,
    },
    texts::{LONG, UNIQUE},
};
use sudoku_solver::wire::pb::{
    SolveOptions, SolveStatus, sudoku_solver_client::SudokuSolverClient,
};
use tokio::{task::JoinSet, time::timeout};
use tokio_stream::StreamExt as _;
use tonic::{Code, Request};

/// A search this old has begun and is nowhere near its end.
const BEGUN: Duration = Duration::from_millis(20);

const DEADLINE: Duration = Duration::from_millis(50);

/// Boards of a call that is given up in the middle: one job is solved, others wait in the queue.
const MANY: usize = 2_048;

fn rounds() -> usize {
    env::var("SUDOKU_FREED_ROUNDS").map_or(5, |rounds| rounds.parse().unwrap())
}

/// A server with one solver thread, who keeps it busy, and who waits for it.
struct Contest {
    _served: Served,
    client: Client,
    /// Passes deadlines on and keeps none itself.
    bare: SudokuSolverClient<Bare>,
    next: Batch,
}

impl Contest {
    async fn new() -> Contest {
        let served = Served::with(&["--workers", "1"]);
        let address: SocketAddr = served.address.parse().unwrap();
        Contest {
            _served: served,
            client: Client::new(channel(address).await),
            bare: bare_client(address).await,
            next: Batch::open(&mut Client::new(channel(address).await))
                .await
                .unwrap(),
        }
    }

    /// An easy board is answered. It asks for many solutions, so neither the thread of its call nor a free
    /// lane beside a search answers it: only a solver thread that has nothing else to do.
    async fn answered(&mut self) {
        self.next
            .send(message(&[UNIQUE], options(Some(100), None)))
            .await;
        let results = self.next.results(1).await.unwrap();
        assert_eq!(results[0].status(), SolveStatus::Unique);
    }

    /// From the end of a call that was given up to the next answer.
    async fn after(&mut self, given_up: Instant) -> Duration {
        self.answered().await;
        given_up.elapsed()
    }

    async fn after_dropped_call(&mut self, options: Option<SolveOptions>) -> Duration {
        let call = self.client.solve(request(LONG, options));
        assert!(timeout(BEGUN, call).await.is_err());
        self.after(Instant::now()).await
    }

    async fn after_dropped_calls(&mut self, options: Option<SolveOptions>) -> Duration {
        let mut calls = JoinSet::new();
        for _ in 0..200 {
            let mut client = self.client.clone();
            calls.spawn(async move { client.solve(request(LONG, options)).await });
        }
        assert!(timeout(BEGUN, calls.join_next()).await.is_err());
        let given_up = Instant::now();
        drop(calls);
        self.after(given_up).await
    }

    async fn after_dropped_stream(&mut self, options: Option<SolveOptions>) -> Duration {
        let mut batch = Batch::open(&mut self.client).await.unwrap();
        batch.send(message(&[UNIQUE], None)).await;
        batch.results(1).await.unwrap();
        batch.send(message(&vec![LONG; MANY], options)).await;
        assert!(timeout(BEGUN, batch.reply()).await.is_err());
        let given_up = Instant::now();
        drop(batch);
        self.after(given_up).await
    }

    async fn after_deadline_of_call(&mut self, options: Option<SolveOptions>) -> Duration {
        let passes = Instant::now() + DEADLINE;
        let call = self.bare.solve(with_deadline(request(LONG, options)));
        assert_eq!(call.await.unwrap_err().code(), Code::DeadlineExceeded);
        self.after(passes).await
    }

    async fn after_deadline_of_stream(&mut self, options: Option<SolveOptions>) -> Duration {
        let boards = tokio_stream::iter([message(&vec![LONG; MANY], options)]);
        let forever = boards.chain(tokio_stream::pending());
        let passes = Instant::now() + DEADLINE;
        let call = self.bare.solve_batch(with_deadline(forever));
        let mut replies = call.await.unwrap().into_inner();
        let status = replies.message().await.unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded);
        self.after(passes).await
    }
}

fn with_deadline<T>(message: T) -> Request<T> {
    let mut call = Request::new(message);
    let text = format!("{}m", DEADLINE.as_millis());
    call.metadata_mut()
        .insert("grpc-timeout", text.parse().unwrap());
    call
}

/// Repeats an end and prints how soon the next answer came.
async fn measure(what: &str, round: impl AsyncFn(&mut Contest) -> Duration) {
    let mut contest = Contest::new().await;
    contest.answered().await;
    let mut times = Vec::new();
    for _ in 0..rounds() {
        times.push(round(&mut contest).await);
    }
    times.sort();
    let [p50, p99, max] = [50, 99, 100].map(|percent| {
        let at = (times.len() * percent).div_ceil(100) - 1;
        times[at].as_secs_f64() * 1e3
    });
    eprintln!(
        "{what}: the next answer after {p50:.1} ms (p50), {p99:.1} ms (p99), {max:.1} ms (max) of {} times",
        times.len()
    );
}

/// All in a row: side by side they would measure each other.
#[tokio::test]
async fn the_next_board_is_answered() {
    measure("nothing to give up", async |it| {
        it.after(Instant::now()).await
    })
    .await;
    for (engine, options) in [("alone", longest()), ("on lanes", longest_on_lanes())] {
        let what = |end: &str| format!("{engine}, {end}");
        measure(&what("a call dropped"), async |it| {
            it.after_dropped_call(options).await
        })
        .await;
        measure(&what("200 calls dropped"), async |it| {
            it.after_dropped_calls(options).await
        })
        .await;
        measure(&what("a stream dropped"), async |it| {
            it.after_dropped_stream(options).await
        })
        .await;
        measure(&what("the deadline of a call"), async |it| {
            it.after_deadline_of_call(options).await
        })
        .await;
        measure(&what("the deadline of a stream"), async |it| {
            it.after_deadline_of_stream(options).await
        })
        .await;
    }
}
