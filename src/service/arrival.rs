//! `Solve` from its headers on. tonic calls the service once the whole message is here, and waits for that as
//! long as it takes: the deadline or a bound of its own ends the call before.

use std::{
    future,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{self, Sleep};
use tonic::{
    Request, Response, Status,
    body::Body,
    codegen::{Body as HttpBody, BoxFuture, Bytes, StdError, http},
    server::{Grpc, UnaryService},
};

use super::{
    SolverService,
    call::Call,
    codec::SolveCodec,
    deadline::{self, Deadline},
    failure::Failure,
    record::Record,
    status,
};
use crate::wire::pb::{SolveRequest, SolveResponse};

/// Reads, solves and answers.
pub(super) async fn answer<B>(
    service: Arc<SolverService>,
    record: Record,
    mut grpc: Grpc<SolveCodec>,
    request: http::Request<B>,
) -> http::Response<Body>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<StdError> + Send,
{
    let max = service.settings.deadline_max;
    let begun = service.open(record).and_then(|call| {
        let deadline = deadline::deadline(request.headers(), max);
        let deadline = deadline.map_err(|failure| call.fail(&failure))?;
        Ok((call, deadline))
    });
    let (call, deadline) = match begun {
        Ok(begun) => begun,
        Err(status) => return status.into_http(),
    };
    let is_here = Arc::new(AtomicBool::new(false));
    let solve = Solve {
        service: Arc::clone(&service),
        deadline: deadline.clone(),
        call: Some(call),
        is_here: Arc::clone(&is_here),
    };
    let mut answer = pin!(grpc.unary(solve, request));
    let mut wait = Wait {
        deadline,
        max: service.settings.stream_idle,
        timer: None,
    };
    future::poll_fn(|cx| {
        // As a rule the message is here at the first look, or the second, and no timer is worth setting before.
        // Not a `select!` after a first look: that looks twice at once, and each look takes the lock of the connection.
        if let Poll::Ready(response) = answer.as_mut().poll(cx) {
            return Poll::Ready(response);
        }
        if is_here.load(Relaxed) {
            // From here on the call has its end in `unary`.
            wait.timer = None;
            return Poll::Pending;
        }
        let failure = ready!(wait.poll(cx));
        Poll::Ready(status::status(&failure).into_http())
    })
    .await
}

/// The wait for a message.
struct Wait {
    deadline: Option<Deadline>,
    max: Duration,
    /// Set at the first look in vain.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Wait {
    /// Why it is over, once it is.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Failure> {
        let timer = self.timer.get_or_insert_with(|| {
            let late = time::sleep(self.max);
            Box::pin(match &self.deadline {
                Some(deadline) if deadline.at() <= late.deadline() => {
                    time::sleep_until(deadline.at())
                }
                _ => late,
            })
        });
        ready!(timer.as_mut().poll(cx));
        let passed = self.deadline.as_ref().map(Deadline::check);
        Poll::Ready(match passed {
            Some(Err(failure)) => failure,
            _ => Failure::Late { max: self.max },
        })
    }
}

/// What tonic calls with the message.
struct Solve {
    service: Arc<SolverService>,
    deadline: Option<Deadline>,
    call: Option<Call>,
    is_here: Arc<AtomicBool>,
}

impl UnaryService<SolveRequest> for Solve {
    type Response = SolveResponse;
    type Future = BoxFuture<Response<SolveResponse>, Status>;

    fn call(&mut self, request: Request<SolveRequest>) -> Self::Future {
        self.is_here.store(true, Relaxed);
        let (service, deadline) = (Arc::clone(&self.service), self.deadline.take());
        let call = self.call.take();
        Box::pin(async move {
            // tonic calls once.
            let call = call.ok_or_else(|| status::status(&Failure::Internal))?;
            service.solve(&call, deadline, request.get_ref()).await
        })
    }
}
