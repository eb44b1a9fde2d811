//! The metrics by name, and their text for Prometheus. They are gathered when it asks, and nothing is done
//! for them in between.
//!
//! The histograms are written here and not by the exporter, which keeps every single time until it is asked:
//! sixteen bytes a board.

use std::{
    fmt::Write as _,
    sync::{Arc, Once},
    time::SystemTime,
};

use metrics::{Unit, counter, describe_counter, describe_gauge, gauge};
use metrics_exporter_prometheus::{
    PrometheusBuilder, PrometheusHandle, PrometheusRecorder, formatting,
};

use super::{method::Method, process, requests::Requests};
use crate::{
    batch::Level,
    service::{
        histogram::Histogram,
        queue::{Line, Queue},
    },
};

/// Where the numbers come from.
#[derive(Debug)]
pub(in crate::server) struct Sources {
    pub(in crate::server) requests: Arc<Requests>,
    pub(in crate::server) queue: Arc<Queue>,
    pub(in crate::server) workers: usize,
    pub(in crate::server) cpu_level: Level,
}

/// The metrics of a server.
#[derive(Debug)]
pub(super) struct Metrics {
    sources: Sources,
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    begun: SystemTime,
    described: Once,
}

/// The lines of the queue, as a label.
const LINES: [(&str, Line); 2] = [("calls", Line::Call), ("streams", Line::Stream)];

impl Metrics {
    pub(super) fn new(sources: Sources) -> Self {
        let recorder = PrometheusBuilder::new().build_recorder();
        Metrics {
            sources,
            handle: recorder.handle(),
            recorder,
            begun: SystemTime::now(),
            described: Once::new(),
        }
    }

    /// Everything, as Prometheus reads it.
    pub(super) fn text(&self) -> String {
        metrics::with_local_recorder(&self.recorder, || {
            self.described.call_once(|| {
                process::describe();
                describe();
            });
            process::gather(self.begun);
            self.build();
            self.calls();
            self.boards();
        });
        let mut text = self.handle.render();
        let cpu = "process_cpu_seconds_total";
        begin(&mut text, cpu, "CPU time of all threads.", "counter");
        // Writing to a string does not fail.
        let _ = writeln!(text, "{cpu} {}", process::cpu_time().as_secs_f64());
        self.histograms(&mut text);
        text
    }

    fn build(&self) {
        let labels = [
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("cpu_level", self.sources.cpu_level.to_string()),
        ];
        gauge!("sudoku_build_info", &labels).set(1);
    }

    fn calls(&self) {
        let requests = &self.sources.requests;
        for method in Method::every() {
            let name = method.name();
            for (code, calls) in requests.codes(method) {
                counter!("sudoku_requests_total", "method" => name, "code" => code).absolute(calls);
            }
            gauge!("sudoku_requests_in_flight", "method" => name)
                .set(float(requests.in_flight(method)));
        }
        for (reason, count) in requests.refusals() {
            counter!("sudoku_refusals_total", "reason" => reason).absolute(count);
        }
        let (opened, open) = requests.connections();
        counter!("sudoku_connections_total").absolute(opened);
        gauge!("sudoku_connections_open").set(float(open));
    }

    fn boards(&self) {
        let Sources {
            queue,
            workers,
            cpu_level,
            ..
        } = &self.sources;
        for (line, of) in LINES {
            let depth = queue.depth(of);
            gauge!("sudoku_queue_jobs", "line" => line).set(size(depth.jobs));
            gauge!("sudoku_queue_boards", "line" => line).set(size(depth.boards));
        }
        gauge!("sudoku_solver_threads").set(size(*workers));
        gauge!("sudoku_engine_lanes").set(size(workers * cpu_level.lanes()));
        let Some(tally) = queue.tally() else {
            return;
        };
        for (status, boards) in tally.boards() {
            let status = status.as_str_name().trim_start_matches("SOLVE_STATUS_");
            counter!("sudoku_boards_total", "status" => status).absolute(boards);
        }
        gauge!("sudoku_solver_threads_busy").set(size(tally.threads_busy()));
        gauge!("sudoku_engine_lanes_in_use").set(size(tally.lanes_in_use()));
    }

    fn histograms(&self, text: &mut String) {
        let requests = &self.sources.requests;
        begin(
            text,
            "sudoku_request_duration_seconds",
            "Time from the headers of a call to the last of its answer.",
            "histogram",
        );
        for method in Method::every() {
            let label = format!("method=\"{}\"", method.name());
            series(
                text,
                "sudoku_request_duration_seconds",
                &label,
                13,
                requests.durations(method),
            );
        }
        let Some(tally) = self.sources.queue.tally() else {
            return;
        };
        begin(
            text,
            "sudoku_queue_time_seconds",
            "Time that a job waited for a solver thread: a single call, or up to 256 boards of a stream.",
            "histogram",
        );
        for (line, of) in LINES {
            let label = format!("line=\"{line}\"");
            series(
                text,
                "sudoku_queue_time_seconds",
                &label,
                10,
                tally.waited(of),
            );
        }
        begin(
            text,
            "sudoku_solve_time_seconds",
            "Engine time of a board; the times of all boards add up to that of the engines.",
            "histogram",
        );
        series(text, "sudoku_solve_time_seconds", "", 7, tally.solve());
    }
}

fn describe() {
    describe_gauge!(
        "sudoku_build_info",
        "Version of the server, and the vector instructions it uses."
    );
    describe_counter!(
        "sudoku_requests_total",
        "Calls that have ended, by method and gRPC code."
    );
    describe_gauge!(
        "sudoku_requests_in_flight",
        "Calls that have begun and not ended."
    );
    describe_counter!(
        "sudoku_refusals_total",
        "Calls and connections that were refused or ended without their answer, by reason."
    );
    describe_counter!(
        "sudoku_connections_total",
        "Connections that were accepted."
    );
    describe_gauge!("sudoku_connections_open", "Connections that are open.");
    describe_counter!(
        "sudoku_boards_total",
        "Boards that were answered, by status."
    );
    describe_gauge!("sudoku_queue_jobs", "Jobs that wait for a solver thread.");
    describe_gauge!(
        "sudoku_queue_boards",
        "Boards that wait for a solver thread."
    );
    describe_gauge!("sudoku_solver_threads", "Solver threads.");
    describe_gauge!(
        "sudoku_solver_threads_busy",
        "Solver threads that have work."
    );
    describe_gauge!(
        "sudoku_engine_lanes",
        Unit::Count,
        "Boards that all engines can hold at once."
    );
    describe_gauge!(
        "sudoku_engine_lanes_in_use",
        "Lanes of the engines with a board, until its whole job is answered."
    );
}

/// The lines before the series of a metric.
fn begin(text: &mut String, name: &str, help: &str, kind: &str) {
    formatting::write_help_line(text, name, None, None, help);
    formatting::write_type_line(text, name, None, None, kind);
}

/// One series of a histogram: its bounds are powers of two, from 2^`first` ns to 17 s.
fn series(text: &mut String, name: &str, label: &str, first: usize, histogram: &Histogram) {
    const LAST: usize = 34;
    const NANOS: f64 = 1e9;
    let held = histogram.times();
    let comma = if label.is_empty() { "" } else { "," };
    let mut bucket = |le: &str, count: u64| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name}_bucket{{{label}{comma}le=\"{le}\"}} {count}");
    };
    for exponent in first..=LAST {
        let bound = float(1 << exponent) / NANOS;
        bucket(&bound.to_string(), held.count_to(exponent));
    }
    let count = held.count();
    bucket("+Inf", count);
    let braced = if label.is_empty() {
        String::new()
    } else {
        format!("{{{label}}}")
    };
    let _ = writeln!(text, "{name}_sum{braced} {}", float(held.nanos) / NANOS);
    let _ = writeln!(text, "{name}_count{braced} {count}");
}

#[expect(
    clippy::cast_precision_loss,
    reason = "Prometheus knows no other numbers"
)]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

pub(super) fn size(number: usize) -> f64 {
    float(u64::try_from(number).unwrap_or(u64::MAX))
}
