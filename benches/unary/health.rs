//! How long health takes while every solver thread works on the worst boards.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use sudoku_solver::wire::pb::{SolveOptions, SolveRequest};
use tokio::{task::JoinSet, time};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::{
    figures::{latencies, micros},
    process::Process,
};

/// No solution, and a proof of some eight million nodes; a call of it ends when its node limit does.
const WORST: &str =
    ".................5...........1...27...........4...1.9.......72......29...5.......";

/// A probe that asks often.
const INTERVAL: Duration = Duration::from_millis(2);

pub(crate) struct Health {
    searches: usize,
    micros: Vec<f64>,
}

/// Asks health `checks` times. Twice as many searches as threads, and one that ends is begun anew.
pub(crate) async fn beside_the_worst(server: &Process, checks: usize) -> Health {
    let searches = 2 * thread::available_parallelism().unwrap().get();
    let mut calls = JoinSet::new();
    for _ in 0..searches {
        let mut client = server.client.clone();
        calls.spawn(async move {
            loop {
                let request = SolveRequest {
                    board: WORST.to_owned(),
                    options: Some(SolveOptions {
                        solution_limit: None,
                        node_limit: Some(u32::MAX),
                    }),
                };
                client.solve(request).await.unwrap();
            }
        });
    }
    let mut health = HealthClient::new(server.connect().await);
    let mut interval = time::interval(INTERVAL);
    let mut micros = Vec::with_capacity(checks);
    for _ in 0..checks {
        interval.tick().await;
        let asked = Instant::now();
        let whole = HealthCheckRequest::default();
        health.check(whole).await.unwrap();
        micros.push(self::micros(asked.elapsed()));
    }
    Health { searches, micros }
}

impl Health {
    pub(crate) fn json(&self) -> Value {
        json!({
            "worst_boards_in_flight": self.searches,
            "health_checks": self.micros.len(),
            "health_latency_us": latencies(&self.micros),
        })
    }

    pub(crate) fn print(&self) {
        println!(
            "health beside {} searches of the worst board: latency {}",
            self.searches,
            latencies(&self.micros)
        );
    }
}
