//! What a call of `Solve` costs the server beyond a bare echo, and how health fares beside the
//! worst boards.
//!
//! Two servers, each a process of its own, take the same requests in turns: the service, and tonic
//! with a handler that sends the board back as its own solution, so that all sizes are the same. The
//! CPU time of a server is that of all its threads, in the kernel too; the client's is in neither.
//! One connection carries all calls, 1 to 64 of them at a time. Then every solver thread of the
//! service is given boards that take as long as any, and health is asked.
//!
//! ```text
//! cargo bench --bench unary                        for people
//! cargo bench --bench unary -- --output json       a JSON object for each load, and one for health
//! cargo bench --bench unary -- --rounds 40 FILE    with the boards of another file, a line each
//! ```
//!
//! Without cargo's `--bench`, as tests are run, each load gets a few calls only.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot run need not go on"
)]

mod figures;
mod health;
mod process;

use std::{
    env, fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use sudoku_solver::wire::pb::SolveRequest;
use tokio::{runtime, task::JoinSet};

use self::{
    figures::{Rounds, Times},
    process::{Part, Process},
};

const EASY: &str = include_str!("../../tests/data/easy.txt");

/// Calls in flight.
const LOADS: [usize; 4] = [1, 4, 16, 64];

fn main() {
    if let Some(part) = Part::of_this_process() {
        return part.play();
    }
    let args: Vec<String> = env::args().skip(1).collect();
    let given = |name: &str| args.iter().any(|arg| arg == name);
    // A test runner asks what tests there are.
    if given("--list") {
        return;
    }
    let value = |name: &str| {
        let place = args.iter().position(|arg| arg == name)?;
        args.get(place + 1)
    };
    let measuring = given("--bench");
    let plan = Plan {
        boards: boards(args.last().filter(|arg| fs::metadata(arg).is_ok())),
        rounds: match value("--rounds") {
            Some(rounds) => rounds.parse().unwrap(),
            None if measuring => 20,
            None => 1,
        },
        calls: if measuring { 3000 } else { 100 },
        json: value("--output").is_some_and(|output| output == "json"),
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(plan.run());
}

fn boards(file: Option<&String>) -> Arc<[String]> {
    let text = file.map_or_else(|| EASY.to_owned(), |file| fs::read_to_string(file).unwrap());
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && line.len() >= 81);
    lines.map(|line| line[..81].to_owned()).collect()
}

struct Plan {
    boards: Arc<[String]>,
    rounds: usize,
    calls: usize,
    json: bool,
}

impl Plan {
    async fn run(&self) {
        let echo = Process::start(Part::Echo).await;
        let solve = Process::start(Part::Solve).await;
        for in_flight in LOADS {
            let [mut echoes, mut solves] = [Rounds::default(), Rounds::default()];
            for round in 0..=self.rounds {
                for (server, rounds) in [(&echo, &mut echoes), (&solve, &mut solves)] {
                    let measured = self.round(server, in_flight).await;
                    // The first round warms up.
                    if round > 0 {
                        rounds.add(measured);
                    }
                }
            }
            if self.json {
                println!("{}", figures::json(in_flight, &echoes, &solves));
            } else {
                figures::print(in_flight, &echoes, &solves);
            }
        }
        drop(echo);
        let health = health::beside_the_worst(&solve, self.calls).await;
        if self.json {
            println!("{}", health.json());
        } else {
            health.print();
        }
    }

    /// Some thousand calls, so many at a time.
    async fn round(&self, server: &Process, in_flight: usize) -> Times {
        let begun = Arc::new(AtomicUsize::new(0));
        let cpu = server.cpu_time();
        let wall = Instant::now();
        let mut callers = JoinSet::new();
        for _ in 0..in_flight {
            let mut client = server.client.clone();
            let (boards, begun, calls) = (Arc::clone(&self.boards), Arc::clone(&begun), self.calls);
            callers.spawn(async move {
                let mut latencies = Vec::with_capacity(calls);
                loop {
                    let number = begun.fetch_add(1, Ordering::Relaxed);
                    if number >= calls {
                        return latencies;
                    }
                    let request = SolveRequest {
                        board: boards[number % boards.len()].clone(),
                        options: None,
                    };
                    let asked = Instant::now();
                    client.solve(request).await.unwrap();
                    latencies.push(asked.elapsed());
                }
            });
        }
        Times {
            latencies: callers.join_all().await.concat(),
            wall: wall.elapsed(),
            cpu: server.cpu_time().saturating_sub(cpu),
        }
    }
}
