//! The servers: this program again, in a process of its own.

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Read as _},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use sudoku_solver::{
    server::{
        self, Config,
        telemetry::{self, LogFormat},
    },
    wire::pb::{
        SolveBatchRequest, SolveBatchResponse, SolveRequest, SolveResponse, SolveResult,
        SolveStatus,
        sudoku_solver_client::SudokuSolverClient,
        sudoku_solver_server::{SudokuSolver, SudokuSolverServer},
    },
};
use tokio::{net::TcpListener, runtime};
use tonic::{
    Request, Response, Status, Streaming,
    transport::{Channel, Endpoint, server::TcpIncoming},
};

/// Names the part that a process plays; the one without it measures.
const PART: &str = "UNARY_BENCH_PART";

/// Which server a process is.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Echo,
    Solve,
}

impl Part {
    pub(crate) fn of_this_process() -> Option<Part> {
        match env::var(PART).ok()?.as_str() {
            "echo" => Some(Part::Echo),
            _ => Some(Part::Solve),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Part::Echo => "echo",
            Part::Solve => "solve",
        }
    }

    /// Serves on a free port, which the first line of standard output names.
    pub(crate) fn play(self) {
        // Whatever ends the parent ends this pipe.
        thread::spawn(|| {
            drop(io::stdin().read(&mut [0]));
            std::process::exit(0);
        });
        // As `serve` has it: what logs cost is part of the price. Both servers pay it.
        telemetry::init(LogFormat::Text).unwrap();
        let runtime = runtime::Builder::new_multi_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let any = SocketAddr::from(([127, 0, 0, 1], 0));
            let listener = TcpListener::bind(any).await.unwrap();
            println!("{}", listener.local_addr().unwrap());
            match self {
                Part::Solve => {
                    let never = std::future::pending();
                    let served = server::serve(listener, Config::default(), never);
                    served.await.unwrap();
                }
                Part::Echo => {
                    // As tonic's own listener has it; without it calls wait for acknowledgements.
                    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
                    tonic::transport::Server::builder()
                        .add_service(SudokuSolverServer::new(Echo))
                        .serve_with_incoming(incoming)
                        .await
                        .unwrap();
                }
            }
        });
    }
}

/// A server, ended with this value.
pub(crate) struct Process {
    child: Child,
    endpoint: Endpoint,
    pub(crate) client: SudokuSolverClient<Channel>,
}

impl Process {
    pub(crate) async fn start(part: Part) -> Process {
        let mut child = Command::new(env::current_exe().unwrap())
            .env(PART, part.name())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut address).unwrap();
        let endpoint = Endpoint::from_shared(format!("http://{}", address.trim())).unwrap();
        Process {
            child,
            client: SudokuSolverClient::new(endpoint.connect().await.unwrap()),
            endpoint,
        }
    }

    /// A connection of its own.
    pub(crate) async fn connect(&self) -> Channel {
        self.endpoint.connect().await.unwrap()
    }

    /// CPU time of all threads.
    pub(crate) fn cpu_time(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let nanos = threads.map(|thread| {
            let text = fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap();
            let nanos = text.split_ascii_whitespace().next().unwrap();
            nanos.parse::<u64>().unwrap()
        });
        Duration::from_nanos(nanos.sum())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
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
