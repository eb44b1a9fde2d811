//! The service `SudokuSolver` over HTTP: what tonic generates, but for the codec of `SolveBatch`.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codec::Codec,
    codegen::{BoxFuture, Service, http},
    server::{Grpc, NamedService, StreamingService},
};
use tonic_prost::ProstCodec;

use super::{Replies, Settings, SolverService, arrival, compressed, status, stream::BatchCodec};
use crate::wire::{
    batch_reply::BatchReply, batch_request::BatchRequest, pb::sudoku_solver_server::SERVICE_NAME,
};

const SOLVE: &str = "/sudoku.v1.SudokuSolver/Solve";
const SOLVE_BATCH: &str = "/sudoku.v1.SudokuSolver/SolveBatch";

/// Routes the calls of a service.
#[derive(Clone, Debug)]
pub struct Endpoint(SolverService);

impl Endpoint {
    /// The endpoint of `service`.
    pub fn new(service: SolverService) -> Self {
        Endpoint(service)
    }
}

impl NamedService for Endpoint {
    const NAME: &'static str = SERVICE_NAME;
}

impl Service<http::Request<Body>> for Endpoint {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let service = self.0.clone();
        let settings = service.settings();
        let path = request.uri().path();
        if [SOLVE, SOLVE_BATCH].contains(&path)
            && let Some(failure) = compressed::refusal(request.headers(), settings.compression)
        {
            return Box::pin(async move { Ok(status::status(&failure).into_http()) });
        }
        match path {
            SOLVE => {
                let grpc = grpc(ProstCodec::default(), settings);
                Box::pin(async move { Ok(arrival::answer(service, grpc, request).await) })
            }
            SOLVE_BATCH => {
                let boards_max = settings.message_boards_max;
                let mut grpc = grpc(BatchCodec { boards_max }, settings);
                Box::pin(async move { Ok(grpc.streaming(SolveBatch(service), request).await) })
            }
            _ => Box::pin(async { Ok(Status::unimplemented("").into_http()) }),
        }
    }
}

fn grpc<T: Codec>(codec: T, settings: &Settings) -> Grpc<T> {
    let grpc = Grpc::new(codec).max_decoding_message_size(settings.message_bytes_max);
    compressed::offered(grpc, settings.compression)
}

struct SolveBatch(SolverService);

impl StreamingService<BatchRequest> for SolveBatch {
    type Response = BatchReply;
    type ResponseStream = Replies;
    type Future = BoxFuture<Response<Replies>, Status>;

    fn call(&mut self, request: Request<Streaming<BatchRequest>>) -> Self::Future {
        let service = self.0.clone();
        Box::pin(async move { service.solve_batch(request) })
    }
}
