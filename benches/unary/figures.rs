//! What the rounds of a load came to.

use std::time::Duration;

use serde_json::{Value, json};

/// One round of one server.
pub(crate) struct Times {
    pub(crate) latencies: Vec<Duration>,
    pub(crate) wall: Duration,
    /// Of the server.
    pub(crate) cpu: Duration,
}

/// The rounds of one server and load, in microseconds.
#[derive(Default)]
pub(crate) struct Rounds {
    /// A call, each round.
    cpus: Vec<f64>,
    /// A call, each round.
    walls: Vec<f64>,
    latencies: Vec<f64>,
}

impl Rounds {
    pub(crate) fn add(&mut self, times: Times) {
        let calls = count(times.latencies.len());
        self.cpus.push(micros(times.cpu) / calls);
        self.walls.push(micros(times.wall) / calls);
        self.latencies
            .extend(times.latencies.into_iter().map(micros));
    }

    fn cpu(&self) -> f64 {
        quantile(&self.cpus, 0.5)
    }

    fn json(&self) -> Value {
        json!({
            "cpu_us_per_call": round(self.cpu()),
            "cpu_us_per_call_least": round(quantile(&self.cpus, 0.0)),
            "calls_per_second": (1e6 / quantile(&self.walls, 0.5)).round(),
            "latency_us": latencies(&self.latencies),
        })
    }

    fn print(&self, name: &str) {
        println!(
            "  {name}  CPU {:.1} us a call (least {:.1}), {:.0} calls a second, latency {}",
            self.cpu(),
            quantile(&self.cpus, 0.0),
            1e6 / quantile(&self.walls, 0.5),
            latencies(&self.latencies),
        );
    }
}

/// Percentiles, each under its name, in microseconds.
pub(crate) fn latencies(micros: &[f64]) -> Value {
    json!({
        "50": quantile(micros, 0.5).round(),
        "90": quantile(micros, 0.9).round(),
        "99": quantile(micros, 0.99).round(),
        "99.9": quantile(micros, 0.999).round(),
    })
}

/// The median over the rounds of what the service took of CPU time, to what the echo took in the
/// same round: what disturbs the machine disturbs both.
fn ratio(echo: &Rounds, solve: &Rounds) -> f64 {
    let pairs = solve.cpus.iter().zip(&echo.cpus);
    let ratios: Vec<f64> = pairs.map(|(solve, echo)| solve / echo).collect();
    quantile(&ratios, 0.5)
}

pub(crate) fn json(in_flight: usize, echo: &Rounds, solve: &Rounds) -> Value {
    json!({
        "in_flight": in_flight,
        "calls": solve.latencies.len(),
        "cpu_ratio": round(ratio(echo, solve)),
        "echo": echo.json(),
        "solve": solve.json(),
    })
}

pub(crate) fn print(in_flight: usize, echo: &Rounds, solve: &Rounds) {
    let ratio = ratio(echo, solve);
    println!("{in_flight} in flight: server CPU a call {ratio:.2} times the echo's");
    echo.print("echo ");
    solve.print("solve");
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list of this process"
)]
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values[((count(values.len()) - 1.0) * share).round() as usize]
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn count(count: usize) -> f64 {
    count as f64
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
