//! The metrics of the real binary, as Prometheus gets them, and what is made of them in `deploy/`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed unwrap is a failed test; what was skipped must be said"
)]

mod binary;

use std::{
    collections::BTreeSet,
    env, fs,
    net::TcpListener as StdListener,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use binary::{
    Run,
    boards::{CLASHING, EMPTY, LONG, MALFORMED, TWO, UNIQUE, UNSOLVABLE},
    logged::Logged,
    repository, run,
};
use serde_json::{Value, json};
use sudoku_solver::wire::pb::{
    SolveBatchRequest, SolveOptions, SolveRequest, sudoku_solver_client::SudokuSolverClient,
};
use tokio::{net::TcpStream, time};
use tonic::{
    Code, Status,
    client::Grpc,
    codegen::http::uri::PathAndQuery,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_prost::ProstCodec;

type Client = SudokuSolverClient<Channel>;

const ARGS: [&str; 4] = ["--metrics-listen", "127.0.0.1:0", "--workers", "1"];

async fn channel(served: &Logged) -> Channel {
    let endpoint = Endpoint::from_shared(served.url()).unwrap();
    endpoint.connect().await.unwrap()
}

async fn client(served: &Logged) -> Client {
    Client::new(channel(served).await)
}

fn request(board: &str, options: Option<SolveOptions>) -> SolveRequest {
    SolveRequest {
        board: board.to_owned(),
        options,
    }
}

/// Options that let a search go on. Boards of which more than 64 solutions are wanted are searched one
/// by one, others in the engine of many boards.
fn any_time(solutions: u32) -> SolveOptions {
    SolveOptions {
        solution_limit: Some(solutions),
        node_limit: Some(u32::MAX),
    }
}

/// One stream to its end.
async fn stream(client: &mut Client, boards: &[&str], options: Option<SolveOptions>) {
    let message = SolveBatchRequest {
        boards: boards.iter().map(|&board| board.to_owned()).collect(),
        options,
    };
    let replies = client.solve_batch(tokio_stream::once(message)).await;
    let mut replies = replies.unwrap().into_inner();
    while replies.message().await.unwrap().is_some() {}
}

/// Calls a method that may not exist.
async fn call(channel: &Channel, path: String) -> Status {
    let mut grpc = Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let codec = ProstCodec::<SolveRequest, SolveRequest>::default();
    let path = PathAndQuery::try_from(path).unwrap();
    let request = tonic::Request::new(SolveRequest::default());
    grpc.unary(request, path, codec).await.unwrap_err()
}

/// The value of a series as it stands there, `0` if there is none.
fn value<'a>(text: &'a str, series: &str) -> &'a str {
    let mut lines = text.lines().filter_map(|line| line.rsplit_once(' '));
    lines
        .find(|(name, _)| *name == series)
        .map_or("0", |(_, value)| value)
}

fn number(text: &str, series: &str) -> f64 {
    value(text, series).parse().unwrap()
}

/// A scrape in which these series have these values: a call is counted just after its caller has its
/// answer.
async fn scrape(served: &Logged, expected: &[(&str, u64)]) -> String {
    const PAUSE: Duration = Duration::from_millis(20);
    const TRIES: usize = 500;
    let is_there =
        |text: &str, (series, expected): (&str, u64)| value(text, series) == expected.to_string();
    let mut text = served.scrape();
    for _ in 0..TRIES {
        if expected.iter().all(|&expected| is_there(&text, expected)) {
            return text;
        }
        time::sleep(PAUSE).await;
        text = served.scrape();
    }
    for &(series, expected) in expected {
        assert!(
            is_there(&text, (series, expected)),
            "{series} is not {expected}:\n{text}"
        );
    }
    text
}

fn requests(method: &str, code: &str) -> String {
    format!("sudoku_requests_total{{method=\"sudoku.v1.SudokuSolver/{method}\",code=\"{code}\"}}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_and_boards_are_counted() {
    let served = Logged::start(&ARGS);
    let mut client = client(&served).await;
    client.solve(request(UNIQUE, None)).await.unwrap();
    client.solve(request(MALFORMED, None)).await.unwrap_err();
    let every = [UNIQUE, TWO, UNSOLVABLE, CLASHING, MALFORMED, UNIQUE];
    stream(&mut client, &every, None).await;
    // Enough for the engine of many boards.
    stream(&mut client, &[UNIQUE; 500], None).await;
    let one = SolveOptions {
        solution_limit: Some(1),
        node_limit: None,
    };
    stream(&mut client, &[EMPTY, EMPTY], Some(one)).await;
    let few = SolveOptions {
        solution_limit: Some(2),
        node_limit: Some(1),
    };
    stream(&mut client, &[EMPTY], Some(few)).await;
    let text = scrape(
        &served,
        &[
            (&requests("Solve", "OK"), 1),
            (&requests("Solve", "INVALID_ARGUMENT"), 1),
            (&requests("SolveBatch", "OK"), 4),
            ("sudoku_boards_total{status=\"UNIQUE\"}", 503),
            ("sudoku_boards_total{status=\"MULTIPLE\"}", 1),
            ("sudoku_boards_total{status=\"UNSOLVABLE\"}", 1),
            ("sudoku_boards_total{status=\"SOLVED\"}", 2),
            ("sudoku_boards_total{status=\"CLASHING_GIVENS\"}", 1),
            ("sudoku_boards_total{status=\"MALFORMED\"}", 2),
            ("sudoku_boards_total{status=\"UNDECIDED\"}", 1),
            ("sudoku_refusals_total{reason=\"MALFORMED_BOARD\"}", 1),
            // All but the malformed ones.
            ("sudoku_solve_time_seconds_count", 509),
            ("sudoku_solve_time_seconds_bucket{le=\"+Inf\"}", 509),
            (
                "sudoku_requests_in_flight{method=\"sudoku.v1.SudokuSolver/SolveBatch\"}",
                0,
            ),
            ("sudoku_connections_open", 1),
            ("sudoku_connections_total", 1),
            ("sudoku_solver_threads", 1),
            ("sudoku_solver_threads_busy", 0),
            ("sudoku_engine_lanes_in_use", 0),
        ],
    )
    .await;
    assert!(number(&text, "sudoku_solve_time_seconds_sum") > 0.0);
    assert!(number(&text, "sudoku_queue_time_seconds_count{line=\"streams\"}") >= 5.0);
    let durations =
        "sudoku_request_duration_seconds_count{method=\"sudoku.v1.SudokuSolver/Solve\"}";
    assert_eq!(value(&text, durations), "2");
    let version = format!(
        "sudoku_build_info{{version=\"{}\"",
        env!("CARGO_PKG_VERSION")
    );
    assert!(text.contains(&version), "{text}");
    assert!(number(&text, "process_resident_memory_bytes") > 1e6);
    drop(client);
    scrape(&served, &[("sudoku_connections_open", 0)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_callers_make_up_names_no_series() {
    let served = Logged::start(&ARGS);
    let channel = channel(&served).await;
    HealthClient::new(channel.clone())
        .check(HealthCheckRequest::default())
        .await
        .unwrap();
    for number in 0..300 {
        let status = call(&channel, format!("/made.up.Service{number}/Method{number}")).await;
        assert_eq!(status.code(), Code::Unimplemented);
    }
    let health = "sudoku_requests_total{method=\"grpc.health.v1.Health/Check\",code=\"OK\"}";
    let other = "sudoku_requests_total{method=\"other\",code=\"UNIMPLEMENTED\"}";
    let text = scrape(&served, &[(health, 1), (other, 300)]).await;
    assert!(!text.contains("made.up"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_and_who_is_refused_is_seen() {
    let served = Logged::start(
        &[
            &ARGS[..],
            &["--queued-calls-max", "3", "--connections-max", "1"],
        ]
        .concat(),
    );
    let mut client = client(&served).await;
    let mut calls = Vec::new();
    // One board that takes longer than the test, and others behind it.
    for _ in 0..4 {
        let mut client = client.clone();
        let busy = calls.len() + 1;
        calls.push(tokio::spawn(async move {
            client.solve(request(LONG, Some(any_time(10_000)))).await
        }));
        let waiting = u64::try_from(busy - 1).unwrap();
        scrape(
            &served,
            &[
                ("sudoku_solver_threads_busy", 1),
                ("sudoku_queue_jobs{line=\"calls\"}", waiting),
                ("sudoku_queue_boards{line=\"calls\"}", waiting),
            ],
        )
        .await;
    }
    let refused = client
        .solve(request(LONG, Some(any_time(10_000))))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    let _second = TcpStream::connect(&served.address).await.unwrap();
    let solve = "sudoku_requests_in_flight{method=\"sudoku.v1.SudokuSolver/Solve\"}";
    scrape(
        &served,
        &[
            ("sudoku_refusals_total{reason=\"TOO_MANY_CALLS\"}", 1),
            ("sudoku_refusals_total{reason=\"TOO_MANY_CONNECTIONS\"}", 1),
            (solve, 4),
        ],
    )
    .await;
    for call in calls {
        call.abort();
    }
    let cancelled = requests("Solve", "CANCELLED");
    scrape(
        &served,
        &[
            (solve, 0),
            (&cancelled, 4),
            ("sudoku_solver_threads_busy", 0),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boards_in_the_engine_have_lanes() {
    let served = Logged::start(&[&ARGS[..], &["--cpu-level", "portable"]].concat());
    let mut client = client(&served).await;
    let working = tokio::spawn(async move {
        stream(&mut client, &[LONG; 100], Some(any_time(2))).await;
    });
    let engine = [
        ("sudoku_engine_lanes", 128),
        ("sudoku_engine_lanes_in_use", 100),
    ];
    scrape(&served, &engine).await;
    working.abort();
    scrape(&served, &[("sudoku_engine_lanes_in_use", 0)]).await;
}

#[test]
fn there_is_one_page() {
    let served = Logged::start(&ARGS);
    for (method, path, status) in [
        ("GET", "/metrics", "200"),
        ("GET", "/", "404"),
        ("GET", "/metrics/x", "404"),
        ("POST", "/metrics", "405"),
    ] {
        let answer = served.http(method, path);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{method} {path}: {answer}"
        );
    }
    let text = served.http("GET", "/metrics");
    assert!(
        text.to_lowercase()
            .contains("content-type: text/plain; version=0.0.4")
    );
}

#[test]
fn an_address_that_is_taken_ends_the_start() {
    let taken = StdListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut serve = binary::binary();
    serve.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--metrics-listen",
        &address,
    ]);
    let run = run(&mut serve, "");
    assert_eq!(run.code, Some(1));
    let last = run.stderr.lines().last().unwrap();
    assert!(
        last.contains(&format!("cannot listen on {address} for metrics")),
        "{last}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_metrics_are_as_prometheus_wants_them() {
    let Some(promtool) = promtool() else { return };
    let served = Logged::start(&ARGS);
    let text = worked(&served).await;
    let run = run(Command::new(promtool).args(["check", "metrics"]), &text);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (Some(0), ""),
        "{}\n{text}",
        run.stdout
    );
}

#[test]
fn the_alerts_are_as_prometheus_wants_them() {
    let Some(promtool) = promtool() else { return };
    let rules = repository("deploy/prometheus-alerts.yaml");
    check_rules(&promtool, &rules);
}

#[test]
fn the_dashboard_asks_what_prometheus_understands() {
    let Some(promtool) = promtool() else { return };
    let dashboard = fs::read(repository("deploy/grafana-dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_slice(&dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let queries = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    // Each as a rule, with what Grafana would fill in.
    let rules: Vec<_> = queries
        .map(|query| {
            query["expr"]
                .as_str()
                .unwrap()
                .replace("$__rate_interval", "5m")
        })
        .enumerate()
        .map(|(number, query)| json!({ "record": format!("panel_{number}"), "expr": query }))
        .collect();
    assert!(rules.len() > 20);
    let rules = json!({ "groups": [{ "name": "panels", "rules": rules }] });
    let file = binary::file("dashboard-rules.yaml", rules.to_string());
    check_rules(&promtool, &file);
}

#[track_caller]
fn check_rules(promtool: &Path, rules: &Path) {
    let mut check = Command::new(promtool);
    let Run {
        code,
        stdout,
        stderr,
    } = run(check.args(["check", "rules"]).arg(rules), "");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dashboard_and_alerts_use_metrics_that_there_are() {
    let served = Logged::start(&ARGS);
    let text = worked(&served).await;
    let there = names(&text);
    for (file, least) in [
        ("deploy/grafana-dashboard.json", 15),
        ("deploy/prometheus-alerts.yaml", 5),
    ] {
        let file_text = fs::read_to_string(repository(file)).unwrap();
        let used = names(&file_text);
        assert!(used.len() >= least, "{file} uses only {used:?}");
        let missing: Vec<_> = used.difference(&there).collect();
        assert!(
            missing.is_empty(),
            "{file} uses {missing:?}, which the server has not"
        );
    }
    let dashboard = fs::read(repository("deploy/grafana-dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_slice(&dashboard).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().len() >= 10);
}

/// The metrics of a server that has had a call, a stream and a failure.
async fn worked(served: &Logged) -> String {
    let mut client = client(served).await;
    client.solve(request(UNIQUE, None)).await.unwrap();
    client.solve(request(MALFORMED, None)).await.unwrap_err();
    stream(&mut client, &[UNIQUE; 40], None).await;
    let done = [
        ("sudoku_boards_total{status=\"UNIQUE\"}", 41),
        ("sudoku_refusals_total{reason=\"MALFORMED_BOARD\"}", 1),
    ];
    scrape(served, &done).await
}

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("sudoku_") || word.starts_with("process_"))
        .collect()
}

/// The checker of Prometheus, or `None`, said aloud, on a machine that has not got it. With
/// `SUDOKU_PEERS` set, as `tests/all.sh` does, it must be there.
fn promtool() -> Option<PathBuf> {
    if Command::new("promtool").arg("--version").output().is_ok() {
        return Some("promtool".into());
    }
    let Some(peers) = env::var_os("SUDOKU_PEERS") else {
        println!("skipped: needs promtool, which tests/promtool.sh installs");
        return None;
    };
    let promtool = repository("")
        .join(peers)
        .join("prometheus/usr/bin/promtool");
    assert!(
        promtool.exists(),
        "SUDOKU_PEERS is set, but {} is not there",
        promtool.display()
    );
    Some(promtool)
}
