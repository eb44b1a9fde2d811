//! Mixed load on the real binary: easy boards, the worst, malformed ones, calls that are given up, clients
//! that read slowly or not, garbage, and connections that come and go. Its memory, descriptors and threads
//! must not grow, and every answer must be right. Beside it a second server is restarted again and again
//! under clients that go on.
//!
//! A few seconds by default; `SUDOKU_SOAK=30m cargo test --release --test soak -- --nocapture` is what
//! counts. `docs/reliability.md` has the result.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;
mod common;
#[path = "soak/restarts.rs"]
mod restarts;

use std::{
    env, fs,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use binary::served::Served;
use common::{
    raw::{DATA, END_STREAM, Raw, SOLVE_BATCH, frame, grpc},
    server::{Batch, Client, channel, longest, message, options, request, solve_batch},
    texts::{EMPTY, LONG, MALFORMED, UNIQUE, UNIQUE_SOLUTION, UNSOLVABLE},
};
use prost::Message as _;
use sudoku_solver::wire::pb::{SolveResult, SolveStatus};
use tokio::{io::AsyncWriteExt as _, task::JoinSet, time::timeout};
use tonic::{Code, Status};

/// How much more memory than after the first tenth of the time is no growth but chance.
const MEMORY_SLACK_KIB: u64 = 24 << 10;

const SOON: Duration = Duration::from_millis(20);

#[derive(Clone, Debug)]
struct Load {
    address: SocketAddr,
    end: Instant,
    rounds: Arc<AtomicU64>,
    /// Calls that failed before the server had taken them.
    untaken: Arc<AtomicU64>,
}

impl Load {
    async fn client(&self) -> Client {
        Client::new(channel(self.address).await)
    }

    /// Whether there is time for another round.
    fn goes_on(&self) -> bool {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        Instant::now() < self.end
    }
}

/// Whether a call failed because its connection was told to end before the server had taken it. hyper then
/// says that it was cancelled, or passes on the GOAWAY, which names no fault; both are to be tried again.
fn never_taken(status: &Status) -> bool {
    status.code() == Code::Cancelled || format!("{status:?}").contains("NO_ERROR, Remote")
}

/// Repeats a round of calls until the time is over.
async fn repeat<F>(load: Load, round: impl Fn(Client) -> F)
where
    F: Future<Output = Result<(), Status>>,
{
    let client = load.client().await;
    while load.goes_on() {
        match round(client.clone()).await {
            Ok(()) => {}
            Err(status) if never_taken(&status) => {
                load.untaken.fetch_add(1, Ordering::Relaxed);
            }
            Err(status) => unreachable!("{status:?}"),
        }
    }
}

async fn easy(mut client: Client) -> Result<(), Status> {
    let response = client.solve(request(UNIQUE, None)).await?;
    let result = response.into_inner().result.unwrap();
    assert_eq!(result.solutions, [UNIQUE_SOLUTION]);
    let boards = [UNIQUE, UNSOLVABLE, MALFORMED].repeat(100);
    let results = solve_batch(&mut client, vec![message(&boards, None)]).await?;
    let statuses = results.into_iter().map(|result| result.status());
    let expected = [
        SolveStatus::Unique,
        SolveStatus::Unsolvable,
        SolveStatus::Malformed,
    ];
    assert!(statuses.eq(expected.into_iter().cycle().take(300)));
    Ok(())
}

async fn worst(mut client: Client) -> Result<(), Status> {
    let some = options(None, Some(5_000));
    let results = solve_batch(&mut client, vec![message(&[LONG; 8], some)]).await?;
    let undecided = |it: &SolveResult| it.status() == SolveStatus::Undecided;
    assert!(results.iter().all(undecided));
    match client.solve(request(MALFORMED, None)).await {
        Err(status) if status.code() == Code::InvalidArgument => {}
        other => return other.map(|answered| unreachable!("{answered:?}")),
    }
    let many = options(Some(1_000), None);
    let response = client.solve(request(EMPTY, many)).await?;
    let result = response.into_inner().result.unwrap();
    assert_eq!(result.solutions.len(), 1_000);
    Ok(())
}

async fn given_up(mut client: Client) -> Result<(), Status> {
    let call = client.solve(request(LONG, longest()));
    if let Ok(answered) = timeout(SOON, call).await {
        unreachable!("a long search ended soon: {:?}", answered?);
    }
    let mut batch = Batch::open(&mut client).await?;
    batch.send(message(&[LONG; 64], longest())).await;
    if let Ok(answered) = timeout(SOON, batch.reply()).await {
        unreachable!("long searches ended soon: {:?}", answered?);
    }
    Ok(())
}

async fn slow_readers(load: Load) {
    let boards = message(&[EMPTY; 8], options(Some(2_000), None)).encode_to_vec();
    while load.goes_on() {
        let mut raw = Raw::connect(load.address).await;
        raw.open(1, SOLVE_BATCH).await;
        raw.send(&frame(DATA, END_STREAM, 1, &grpc(&boards))).await;
        for _ in 0..8 {
            tokio::time::sleep(SOON).await;
            // Who is too slow for his connection's age is cut off, and comes again.
            if raw.frame().await.is_none() {
                break;
            }
        }
    }
}

async fn strangers(load: Load) {
    while load.goes_on() {
        let mut raw = Raw::silent(load.address).await;
        // The server may be quicker to hang up.
        let _ = raw
            .0
            .write_all(b"GET / HTTP/1.1\r\nHost: server\r\n\r\n")
            .await;
        let mut raw = Raw::connect(load.address).await;
        let _ = raw.0.write_all(&frame(DATA, 0, 7, &[1; 100])).await;
        // A connection for one call.
        easy(load.client().await).await.unwrap();
        tokio::time::sleep(SOON).await;
    }
}

#[derive(Clone, Copy, Debug)]
struct Figures {
    memory_kib: u64,
    descriptors: usize,
    threads: usize,
}

fn figures(served: &Served) -> Figures {
    let process = format!("/proc/{}", served.child.id());
    let status = fs::read_to_string(format!("{process}/status")).unwrap();
    let memory = status.lines().find(|line| line.starts_with("VmRSS:"));
    let count = |folder: &str| fs::read_dir(format!("{process}/{folder}")).unwrap().count();
    Figures {
        memory_kib: memory
            .and_then(|line| line.split_ascii_whitespace().nth(1)?.parse().ok())
            .unwrap(),
        descriptors: count("fd"),
        threads: count("task"),
    }
}

fn duration() -> Duration {
    env::var("SUDOKU_SOAK").map_or(Duration::from_secs(5), |time| {
        humantime::parse_duration(&time).unwrap()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mixed_load_leaves_nothing_behind() {
    let served = Served::with(&["--workers", "2", "--connection-age", "10s"]);
    let time = duration();
    let idle = figures(&served);
    let load = Load {
        address: served.address.parse().unwrap(),
        end: Instant::now() + time,
        rounds: Arc::default(),
        untaken: Arc::default(),
    };
    let mut clients = JoinSet::new();
    clients.spawn(repeat(load.clone(), easy));
    clients.spawn(repeat(load.clone(), easy));
    clients.spawn(repeat(load.clone(), worst));
    clients.spawn(repeat(load.clone(), given_up));
    clients.spawn(slow_readers(load.clone()));
    clients.spawn(strangers(load.clone()));
    clients.spawn(restarts::restarts(load.clone(), time));
    let mut seen = Vec::new();
    loop {
        tokio::select! {
            ended = clients.join_next() => match ended {
                Some(ended) => ended.unwrap(),
                None => break,
            },
            () = tokio::time::sleep(time / 10) => {
                let now = figures(&served);
                let [rounds, untaken] = [&load.rounds, &load.untaken].map(|it| it.load(Ordering::Relaxed));
                eprintln!("{rounds} rounds, {untaken} calls never taken, {now:?}");
                seen.push(now);
            }
        }
    }
    let (first, last) = (seen[0], seen[seen.len() - 1]);
    assert!(
        last.memory_kib < first.memory_kib + MEMORY_SLACK_KIB,
        "{first:?} {last:?}"
    );
    assert_eq!(first.threads, last.threads);
    // All clients have gone; the server knows as soon as it has read that.
    loop {
        let now = figures(&served);
        if now.descriptors <= idle.descriptors {
            eprintln!("{idle:?} before, {now:?} after");
            break;
        }
        tokio::time::sleep(SOON).await;
    }
    let ended = tokio::task::spawn_blocking(move || served.terminated());
    assert_eq!(ended.await.unwrap().code(), Some(0));
}
