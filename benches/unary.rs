//! What a call of `Solve` costs the server beyond a bare echo.
//!
//! Two servers, each a process of its own, take the same requests in turns: the service, and tonic
//! with a handler that sends the board back as its own solution, so that all sizes are the same. The
//! CPU time of a server is that of all its threads, in the kernel too, from `/proc`; the client's
//! is in neither. One connection carries all calls, 1, 16 or 64 of them at a time.
//!
//! ```text
//! cargo bench --bench unary                        a table
//! cargo bench --bench unary -- --output json       a JSON object for each load
//! cargo bench --bench unary -- --rounds 40 FILE    boards of another file, a line each
//! ```
//!
//! Without cargo's `--bench`, as tests are run, each load gets a few calls only.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot run need not go on"
)]

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Read as _},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use sudoku_solver::{
    server::{self, Config},
    wire::pb::{
        SolveBatchRequest, SolveBatchResponse, SolveRequest, SolveResponse, SolveResult,
        SolveStatus,
        sudoku_solver_client::SudokuSolverClient,
        sudoku_solver_server::{SudokuSolver, SudokuSolverServer},
    },
};
use tokio::{net::TcpListener, runtime, task::JoinSet};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{
    Request, Response, Status, Streaming,
    transport::{Channel, Endpoint},
};

const EASY: &str = include_str!("../tests/data/easy.txt");

const LOADS: [usize; 3] = [1, 16, 64];

/// Names the part that this process plays; without it, it measures.
const ROLE: &str = "UNARY_BENCH_ROLE";

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let given = |name: &str| args.iter().any(|arg| arg == name);
    match env::var(ROLE).as_deref() {
        Ok("echo") => return serve(false),
        Ok(_) => return serve(true),
        // A test runner asks what tests there are.
        Err(_) if given("--list") => return,
        Err(_) => {}
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
        let mut echo = Server::start("echo").await;
        let mut solve = Server::start("solve").await;
        for in_flight in LOADS {
            // The first round warms up.
            for round in 0..=self.rounds {
                for server in [&mut echo, &mut solve] {
                    if round <= 1 {
                        server.rounds = Rounds::default();
                    }
                    self.round(server, in_flight).await;
                }
            }
            self.print(in_flight, &echo.rounds, &solve.rounds);
        }
    }

    /// Some thousand calls, so many at a time.
    async fn round(&self, server: &mut Server, in_flight: usize) {
        let begun = AtomicUsize::new(0);
        let begun = Arc::new(begun);
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
                    let board = boards[number % boards.len()].clone();
                    let request = SolveRequest {
                        board,
                        options: None,
                    };
                    let asked = Instant::now();
                    client.solve(request).await.unwrap();
                    latencies.push(asked.elapsed());
                }
            });
        }
        let latencies = callers.join_all().await.concat();
        let calls = latencies.len();
        server
            .rounds
            .walls
            .push(micros(wall.elapsed()) / count(calls));
        server
            .rounds
            .cpus
            .push(micros(server.cpu_time() - cpu) / count(calls));
        server.rounds.latencies.extend(latencies);
    }

    fn print(&self, in_flight: usize, echo: &Rounds, solve: &Rounds) {
        let ratio = solve.cpu(0.5) / echo.cpu(0.5);
        if self.json {
            let object = serde_json::json!({
                "benchmark": "unary",
                "in_flight": in_flight,
                "calls": solve.latencies.len(),
                "cpu_ratio": round(ratio),
                "echo": echo.json(),
                "solve": solve.json(),
            });
            println!("{object}");
            return;
        }
        println!("{in_flight} in flight: server CPU a call {ratio:.2} times the echo's");
        for (name, rounds) in [("echo ", echo), ("solve", solve)] {
            println!(
                "  {name}  CPU {:.1} us a call (least {:.1}), {:.1} us wall a call, latency 50 % \
                 {:.0} us, 99 % {:.0} us, 99.9 % {:.0} us",
                rounds.cpu(0.5),
                rounds.cpu(0.0),
                quantile(rounds.walls.clone(), 0.5),
                rounds.latency(0.5),
                rounds.latency(0.99),
                rounds.latency(0.999),
            );
        }
    }
}

/// What the rounds of one server and load came to, in microseconds.
#[derive(Default)]
struct Rounds {
    cpus: Vec<f64>,
    walls: Vec<f64>,
    latencies: Vec<Duration>,
}

impl Rounds {
    fn cpu(&self, share: f64) -> f64 {
        quantile(self.cpus.clone(), share)
    }

    fn latency(&self, share: f64) -> f64 {
        quantile(self.latencies.iter().copied().map(micros).collect(), share)
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "cpu_us_per_call": round(self.cpu(0.5)),
            "cpu_us_per_call_least": round(self.cpu(0.0)),
            "calls_per_second": round(1e6 / quantile(self.walls.clone(), 0.5)),
            "latency_us_50": round(self.latency(0.5)),
            "latency_us_90": round(self.latency(0.9)),
            "latency_us_99": round(self.latency(0.99)),
            "latency_us_99_9": round(self.latency(0.999)),
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list of this process"
)]
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[((count(values.len()) - 1.0) * share).round() as usize]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn count(count: usize) -> f64 {
    count as f64
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// This program in another part, ended with this value.
struct Server {
    child: Child,
    client: SudokuSolverClient<Channel>,
    rounds: Rounds,
}

impl Server {
    async fn start(role: &str) -> Server {
        let mut child = Command::new(env::current_exe().unwrap())
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut address).unwrap();
        let endpoint = Endpoint::from_shared(format!("http://{}", address.trim())).unwrap();
        Server {
            child,
            client: SudokuSolverClient::new(endpoint.connect().await.unwrap()),
            rounds: Rounds::default(),
        }
    }

    fn cpu_time(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let nanos = threads.map(|thread| {
            let text = fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap();
            let nanos = text.split_ascii_whitespace().next().unwrap();
            nanos.parse::<u64>().unwrap()
        });
        Duration::from_nanos(nanos.sum())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Serves on a free port, which the first line of standard output names.
fn serve(solver: bool) {
    // Whatever ends the parent ends this pipe.
    thread::spawn(|| {
        drop(io::stdin().read(&mut [0]));
        std::process::exit(0);
    });
    let runtime = runtime::Builder::new_multi_thread().enable_all().build();
    runtime.unwrap().block_on(async {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))
            .await
            .unwrap();
        println!("{}", listener.local_addr().unwrap());
        if solver {
            let never = std::future::pending();
            server::serve(listener, Config::default(), never)
                .await
                .unwrap();
        } else {
            tonic::transport::Server::builder()
                .add_service(SudokuSolverServer::new(Echo))
                .serve_with_incoming(TcpListenerStream::new(listener))
                .await
                .unwrap();
        }
    });
}

/// Answers every board with itself.
struct Echo;

#[tonic::async_trait]
impl SudokuSolver for Echo {
    async fn solve(
        &self,
        request: Request<SolveRequest>,
    ) -> Result<Response<SolveResponse>, Status> {
        let result = SolveResult {
            status: SolveStatus::Unique.into(),
            solutions: vec![request.into_inner().board],
            solution_count: 1,
            solve_time: Some(prost_types::Duration {
                seconds: 0,
                nanos: 1300,
            }),
            nodes: 1,
            ..SolveResult::default()
        };
        Ok(Response::new(SolveResponse {
            result: Some(result),
        }))
    }

    type SolveBatchStream = tokio_stream::Empty<Result<SolveBatchResponse, Status>>;

    async fn solve_batch(
        &self,
        _: Request<Streaming<SolveBatchRequest>>,
    ) -> Result<Response<Self::SolveBatchStream>, Status> {
        Err(Status::unimplemented("an echo has no streams"))
    }
}
