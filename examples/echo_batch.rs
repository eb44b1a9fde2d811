//! What gRPC itself costs: a `SolveBatch` that solves nothing. Every message is answered by results of
//! the usual size, copied from one made before; neither boards nor answers are looked at.
//!
//! `echo_batch &` listens on 127.0.0.1:50052; measure it by
//! `sudoku-solver bench --server 127.0.0.1:50052 --message-boards N FILE`. Every stream that ends
//! prints the CPU time that the process took for each of its boards (Linux only).

#![expect(clippy::print_stdout, reason = "what it prints is what it is for")]

use std::{
    fs,
    pin::Pin,
    task::{Context, Poll, ready},
};

use prost::{
    Message as _,
    bytes::{Buf as _, BufMut as _, Bytes},
};
use sudoku_solver::wire::pb::{
    SolveBatchResponse, SolveResult, SolveStatus, sudoku_solver_server::SERVICE_NAME,
};
use tokio_stream::Stream;
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    codegen::{BoxFuture, Service, http},
    server::{Grpc, NamedService, StreamingService},
};

/// Tag, length and cells of a board in a request. The options take less.
const BOARD_BYTES: usize = 2 + 81;

/// A message is how many boards it has.
#[derive(Clone, Copy)]
struct Count;

impl Codec for Count {
    type Encode = (u64, usize);
    type Decode = usize;
    type Encoder = Results;
    type Decoder = Count;

    fn encoder(&mut self) -> Results {
        let result = SolveResult {
            status: SolveStatus::Unique.into(),
            solutions: vec!["1".repeat(81)],
            solution_count: 1,
            solve_time: Some(prost_types::Duration {
                seconds: 0,
                nanos: 250,
            }),
            nodes: 1,
            ..SolveResult::default()
        };
        let message = SolveBatchResponse {
            first_index: 0,
            results: vec![result],
        };
        Results(message.encode_to_vec().into())
    }

    fn decoder(&mut self) -> Count {
        Count
    }
}

impl Decoder for Count {
    type Item = usize;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<usize>, Status> {
        let boards = buf.remaining() / BOARD_BYTES;
        buf.advance(buf.remaining());
        Ok(Some(boards))
    }
}

/// The bytes of one result.
struct Results(Bytes);

impl Encoder for Results {
    type Item = (u64, usize);
    type Error = Status;

    fn encode(
        &mut self,
        (first_index, boards): (u64, usize),
        buf: &mut EncodeBuf<'_>,
    ) -> Result<(), Status> {
        buf.reserve(16 + boards * self.0.len());
        prost::encoding::uint64::encode(1, &first_index, buf);
        (0..boards).for_each(|_| buf.put_slice(&self.0));
        Ok(())
    }
}

/// Answers as many messages as are here by one, as the service does.
struct Replies {
    requests: Streaming<usize>,
    next_index: u64,
    cpu_nanos: u64,
}

impl Stream for Replies {
    type Item = Result<(u64, usize), Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut boards = 0;
        while boards < 256 {
            match Pin::new(&mut self.requests).poll_next(cx) {
                Poll::Ready(Some(more)) => boards += more?,
                Poll::Ready(None) | Poll::Pending if boards > 0 => break,
                end => {
                    ready!(end);
                    let nanos = cpu_nanos() - self.cpu_nanos;
                    println!("{} ns a board", nanos / self.next_index.max(1));
                    return Poll::Ready(None);
                }
            }
        }
        let first_index = self.next_index;
        self.next_index += boards as u64;
        Poll::Ready(Some(Ok((first_index, boards))))
    }
}

#[derive(Clone)]
struct Echo;

impl StreamingService<usize> for Echo {
    type Response = (u64, usize);
    type ResponseStream = Replies;
    type Future = BoxFuture<Response<Replies>, Status>;

    fn call(&mut self, request: Request<Streaming<usize>>) -> Self::Future {
        let replies = Replies {
            requests: request.into_inner(),
            next_index: 0,
            cpu_nanos: cpu_nanos(),
        };
        Box::pin(async { Ok(Response::new(replies)) })
    }
}

impl NamedService for Echo {
    const NAME: &'static str = SERVICE_NAME;
}

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async { Ok(Grpc::new(Count).streaming(Echo, request).await) })
    }
}

/// CPU time of all threads.
fn cpu_nanos() -> u64 {
    let threads = fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    threads
        .filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split_ascii_whitespace().next()?.parse::<u64>().ok()
        })
        .sum()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let routes = tonic::service::Routes::new(Echo);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:50052").await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = hyper_util::service::TowerToHyperService::new(routes.clone());
        let mut http2 =
            hyper::server::conn::http2::Builder::new(hyper_util::rt::TokioExecutor::new());
        http2
            .initial_stream_window_size(1 << 20)
            .initial_connection_window_size(4 << 20)
            .max_send_buf_size(512 << 10);
        tokio::spawn(http2.serve_connection(hyper_util::rt::TokioIo::new(stream), service));
    }
}
