//! The service `SudokuSolver` over HTTP: as tonic generates it, but with codecs of its own, a bounded wait for
//! the message of a `Solve`, and no router.

use std::{
    future::{self, Ready},
    sync::Arc,
};

use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codec::Codec,
    codegen::{Body as HttpBody, Bytes, StdError, http},
    server::{Grpc, StreamingService},
};

use super::{
    Replies, Settings, SolverService, arrival, codec::SolveCodec, compressed, failure::Failure,
    record::Record, retire::Retire, status, stream::BatchCodec,
};
use crate::wire::{batch_reply::BatchReply, batch_request::BatchRequest};

/// The methods of the service.
#[derive(Clone, Copy, Debug)]
pub enum Method {
    /// `Solve`.
    Solve,
    /// `SolveBatch`.
    SolveBatch,
}

impl Method {
    /// The method at a path, if it is one of the service's.
    pub fn at(path: &str) -> Option<Self> {
        match path {
            "/sudoku.v1.SudokuSolver/Solve" => Some(Method::Solve),
            "/sudoku.v1.SudokuSolver/SolveBatch" => Some(Method::SolveBatch),
            _ => None,
        }
    }
}

/// What a call has of the connection that it came by, beside its request.
#[derive(Debug)]
pub struct Caller {
    /// What is kept of the call.
    pub record: Record,
    /// Ends the connection.
    pub retire: Retire,
}

/// Answers the calls of a service.
#[derive(Clone, Debug)]
pub struct Endpoint(Arc<SolverService>);

impl Endpoint {
    /// The endpoint of `service`.
    pub fn new(service: SolverService) -> Self {
        Endpoint(Arc::new(service))
    }

    /// Answers a call; a refusal is an answer too.
    pub async fn answer<B>(
        self,
        method: Method,
        caller: Caller,
        request: http::Request<B>,
    ) -> http::Response<Body>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<StdError> + Send,
    {
        let Endpoint(service) = self;
        let settings = &service.settings;
        let message_bytes_max = settings.message_bytes_max;
        if let Some(failure) = compressed::refusal(request.headers(), settings.compression) {
            return status::status(&failure).into_http();
        }
        let response = match method {
            Method::Solve => {
                let grpc = grpc(SolveCodec, settings);
                arrival::answer(service, caller.record, grpc, request).await
            }
            Method::SolveBatch => {
                let boards_max = settings.message_boards_max;
                let mut grpc = grpc(BatchCodec { boards_max }, settings);
                let solve_batch = SolveBatch {
                    service,
                    caller: Some(caller),
                };
                grpc.streaming(solve_batch, request).await
            }
        };
        // A call that failed before its first reply has its status here; a stream whose later message is not
        // read explains that itself.
        let failed = response.extensions().get::<Status>();
        let explained = failed.and_then(|failed| status::unread(failed, message_bytes_max));
        explained.map_or(response, Status::into_http)
    }
}

fn grpc<T: Codec>(codec: T, settings: &Settings) -> Grpc<T> {
    let grpc = Grpc::new(codec).max_decoding_message_size(settings.message_bytes_max);
    compressed::offered(grpc, settings.compression)
}

struct SolveBatch {
    service: Arc<SolverService>,
    caller: Option<Caller>,
}

impl StreamingService<BatchRequest> for SolveBatch {
    type Response = BatchReply;
    type ResponseStream = Replies;
    type Future = Ready<Result<Response<Replies>, Status>>;

    fn call(&mut self, request: Request<Streaming<BatchRequest>>) -> Self::Future {
        // tonic calls once.
        let caller = self.caller.take();
        let caller = caller.ok_or_else(|| status::status(&Failure::Internal));
        future::ready(caller.and_then(|caller| self.service.solve_batch(caller, request)))
    }
}
