//! A real server on a port of its own, and clients for it.

use std::{
    net::SocketAddr,
    num::NonZeroUsize,
    pin::Pin,
    task::{Context, Poll},
};

use hyper::{body::Incoming, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use sudoku_solver::{
    server::{self, Config, ServeError},
    wire::pb::{
        SolveBatchRequest, SolveBatchResponse, SolveOptions, SolveRequest, SolveResult,
        sudoku_solver_client::SudokuSolverClient,
    },
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{
    Status, Streaming,
    body::Body,
    codegen::{Service, http},
    transport::{Channel, Endpoint},
};

pub(crate) type Client = SudokuSolverClient<Channel>;

/// A running server. Dropping it starts its drain.
#[derive(Debug)]
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    shutdown: Option<oneshot::Sender<()>>,
    served: JoinHandle<Result<(), ServeError>>,
}

impl TestServer {
    pub(crate) async fn start() -> Self {
        Self::with(Config {
            workers: workers(2),
            ..Config::default()
        })
        .await
    }

    /// The socket is bound before this returns: no test needs to wait for the server.
    pub(crate) async fn with(config: Config) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (shutdown, asked) = oneshot::channel();
        let served = tokio::spawn(server::serve(listener, config, async {
            let _ = asked.await;
        }));
        TestServer {
            address,
            shutdown: Some(shutdown),
            served,
        }
    }

    /// A connection of its own.
    pub(crate) async fn channel(&self) -> Channel {
        channel(self.address).await
    }

    pub(crate) async fn client(&self) -> Client {
        Client::new(self.channel().await)
    }

    pub(crate) async fn narrow_client(&self) -> Client {
        narrow_client(self.address).await
    }

    pub(crate) async fn bare_client(&self) -> SudokuSolverClient<Bare> {
        bare_client(self.address).await
    }

    /// Starts the drain and returns at once.
    pub(crate) fn shut_down(&mut self) {
        let _ = self.shutdown.take().unwrap().send(());
    }

    /// Waits until the server has returned.
    pub(crate) async fn ended(self) -> Result<(), ServeError> {
        self.served.await.unwrap()
    }
}

/// One HTTP/2 connection as what generated clients speak through.
#[derive(Clone, Debug)]
pub(crate) struct Bare(http2::SendRequest<Body>);

impl Service<http::Request<Body>> for Bare {
    type Response = http::Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}

pub(crate) fn workers(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

pub(crate) async fn channel(address: SocketAddr) -> Channel {
    Endpoint::from_shared(format!("http://{address}"))
        .unwrap()
        .connect()
        .await
        .unwrap()
}

/// A client that takes 64 KiB of replies before it has read some.
pub(crate) async fn narrow_client(address: SocketAddr) -> Client {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let narrow = endpoint.initial_stream_window_size(65_535);
    Client::new(narrow.connect().await.unwrap())
}

/// A client over bare HTTP/2, which passes a `grpc-timeout` on and keeps none itself.
pub(crate) async fn bare_client(address: SocketAddr) -> SudokuSolverClient<Bare> {
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (sender, connection) = http2::handshake(TokioExecutor::new(), stream)
        .await
        .unwrap();
    tokio::spawn(connection);
    let origin = format!("http://{address}").parse().unwrap();
    SudokuSolverClient::with_origin(Bare(sender), origin)
}

#[expect(clippy::unnecessary_wraps, reason = "as the fields of requests are")]
pub(crate) fn options(
    solution_limit: Option<u32>,
    node_limit: Option<u32>,
) -> Option<SolveOptions> {
    Some(SolveOptions {
        solution_limit,
        node_limit,
    })
}

/// As much search on the lanes of the batch engine as may be asked for. A single call moves there after its
/// first nodes.
pub(crate) fn longest_on_lanes() -> Option<SolveOptions> {
    options(Some(2), Some(u32::MAX))
}

/// As much search as may be asked for. It asks for more solutions than the lanes are for, so it is the
/// solver for single boards that searches.
pub(crate) fn longest() -> Option<SolveOptions> {
    options(Some(10_000), Some(u32::MAX))
}

pub(crate) fn request(board: &str, options: Option<SolveOptions>) -> SolveRequest {
    SolveRequest {
        board: board.to_owned(),
        options,
    }
}

pub(crate) fn message<B: AsRef<str>>(
    boards: &[B],
    options: Option<SolveOptions>,
) -> SolveBatchRequest {
    let boards = boards
        .iter()
        .map(|board| board.as_ref().to_owned())
        .collect();
    SolveBatchRequest { boards, options }
}

/// Both ends of one `SolveBatch` call.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) requests: Option<mpsc::Sender<SolveBatchRequest>>,
    pub(crate) replies: Streaming<SolveBatchResponse>,
    next_index: u64,
}

impl Batch {
    /// Opens a stream and sends nothing; resolves when the response headers are here.
    pub(crate) async fn open(client: &mut Client) -> Result<Self, Status> {
        let (requests, outgoing) = mpsc::channel(1);
        let replies = client
            .solve_batch(ReceiverStream::new(outgoing))
            .await?
            .into_inner();
        Ok(Batch {
            requests: Some(requests),
            replies,
            next_index: 0,
        })
    }

    pub(crate) async fn send(&self, message: SolveBatchRequest) {
        self.requests.as_ref().unwrap().send(message).await.unwrap();
    }

    pub(crate) fn half_close(&mut self) {
        self.requests = None;
    }

    /// The next reply, its index checked against all before it.
    pub(crate) async fn reply(&mut self) -> Result<Option<Vec<SolveResult>>, Status> {
        let Some(reply) = self.replies.message().await? else {
            return Ok(None);
        };
        assert_eq!(
            reply.first_index, self.next_index,
            "replies leave no gap and no overlap"
        );
        self.next_index += u64::try_from(reply.results.len()).unwrap();
        Ok(Some(reply.results))
    }

    /// Replies until `count` results are here.
    pub(crate) async fn results(&mut self, count: usize) -> Result<Vec<SolveResult>, Status> {
        let mut results = Vec::new();
        while results.len() < count {
            let Some(more) = self.reply().await? else {
                break;
            };
            results.extend(more);
        }
        assert_eq!(results.len(), count);
        Ok(results)
    }

    /// Half-closes and reads to the end.
    pub(crate) async fn finish(mut self) -> Result<Vec<SolveResult>, Status> {
        self.half_close();
        let mut results = Vec::new();
        while let Some(more) = self.reply().await? {
            results.extend(more);
        }
        Ok(results)
    }
}

/// One message in, all results out.
pub(crate) async fn solve_batch(
    client: &mut Client,
    messages: Vec<SolveBatchRequest>,
) -> Result<Vec<SolveResult>, Status> {
    let replies = client
        .solve_batch(tokio_stream::iter(messages))
        .await?
        .into_inner();
    Batch {
        requests: None,
        replies,
        next_index: 0,
    }
    .finish()
    .await
}
