//! `Solve` from its headers on. tonic calls the service once the whole message is here, and waits for that as
//! long as it takes: the deadline, the drain and a bound of its own end the call before.

use std::{
    future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::Poll,
    time::Duration,
};

use tokio::time;
use tonic::{
    Request, Response, Status,
    body::Body,
    codegen::{BoxFuture, http},
    server::{Grpc, UnaryService},
};
use tonic_prost::ProstCodec;

use super::{
    SolverService,
    call::Call,
    deadline::{self, Deadline},
    failure::Failure,
    status,
};
use crate::wire::pb::{SolveRequest, SolveResponse};

type Codec = ProstCodec<SolveResponse, SolveRequest>;

/// Reads, solves and answers.
pub(super) async fn answer(
    service: SolverService,
    mut grpc: Grpc<Codec>,
    request: http::Request<Body>,
) -> http::Response<Body> {
    let max = service.settings.deadline_max;
    let begun = service.open(request.extensions()).and_then(|call| {
        match deadline::deadline(request.headers(), max) {
            Ok(deadline) => Ok((call, deadline)),
            Err(failure) => Err(call.fail(&failure)),
        }
    });
    let (call, deadline) = match begun {
        Ok(begun) => begun,
        Err(status) => return status.into_http(),
    };
    let is_here = Arc::new(AtomicBool::new(false));
    let solve = Solve {
        service: service.clone(),
        deadline: deadline.clone(),
        call: Some(call),
        is_here: Arc::clone(&is_here),
    };
    let mut answer = pin!(grpc.unary(solve, request));
    // As a rule all is here at the first look, and solved: no timer is set for that.
    let first = future::poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx))).await;
    if let Poll::Ready(response) = first {
        return response;
    }
    let end = Box::pin(end(&service, deadline, &is_here));
    let failure = tokio::select! {
        biased;
        response = answer => return response,
        failure = end => failure,
    };
    status::status(&failure).into_http()
}

/// Resolves when the call must end.
async fn end(service: &SolverService, deadline: Option<Deadline>, is_here: &AtomicBool) -> Failure {
    tokio::select! {
        failure = deadline::end(deadline, service.life.watch()) => failure,
        failure = late(service.settings.stream_idle, is_here) => failure,
    }
}

/// Resolves if the message is not here in time.
async fn late(max: Duration, is_here: &AtomicBool) -> Failure {
    time::sleep(max).await;
    if is_here.load(Relaxed) {
        return future::pending().await;
    }
    Failure::Late { max }
}

/// What tonic calls with the message.
struct Solve {
    service: SolverService,
    deadline: Option<Deadline>,
    call: Option<Call>,
    is_here: Arc<AtomicBool>,
}

impl UnaryService<SolveRequest> for Solve {
    type Response = SolveResponse;
    type Future = BoxFuture<Response<SolveResponse>, Status>;

    fn call(&mut self, request: Request<SolveRequest>) -> Self::Future {
        self.is_here.store(true, Relaxed);
        let (service, deadline) = (self.service.clone(), self.deadline.take());
        let call = self.call.take();
        Box::pin(async move {
            // tonic calls once.
            let call = call.ok_or_else(|| status::status(&Failure::Internal))?;
            service.solve(&call, deadline, request.get_ref()).await
        })
    }
}
