//! `SolveBatch`: boards come in, answers leave in the same order.
//!
//! ```text
//! requests --> intake: parse, cut into jobs --> solver threads, in any order
//!                 |                                      |
//!                 +--> pending, in order of the stream --+--> outlet: replies of a bounded size
//! ```
//!
//! The reply stream is polled only while the client takes replies, and it is what polls the
//! requests: no task, no channel between, and a client that does not read is not read from. What
//! a stream may hold meanwhile is bounded by its window.
//!
//! Nothing is allocated for a board: requests are read into boards straight from the receive buffer
//! ([`wire::batch_request`](crate::wire::batch_request)), and replies are written into the send buffer
//! straight from what the engine left ([`wire::batch_reply`](crate::wire::batch_reply)). Messages that
//! are here together become one job, and results that are ready together one reply.

mod codec;
mod intake;
mod outlet;

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::sync::OwnedSemaphorePermit;
use tonic::{Request, Status, Streaming};

pub(super) use self::codec::BatchCodec;
use self::{
    intake::Intake,
    outlet::{Next, Outlet},
};
use super::{
    SolverService,
    call::Call,
    deadline::{self, Searches},
    failure::Failure,
};
use crate::wire::{batch_reply::BatchReply, batch_request::BatchRequest};

/// What ends a stream before its client does.
#[derive(Debug)]
enum End {
    /// Of our own making.
    Failure(Failure),
    /// A request that tonic could not read.
    Unreadable(Status),
}

/// The replies of one call of `SolveBatch`.
#[derive(Debug)]
pub struct Replies {
    call: Call,
    /// `None` once the stream has ended: boards, searches and permit are given back at once, even
    /// if the client keeps the call open.
    stream: Option<Stream>,
}

impl Replies {
    pub(super) fn new(call: Call, stream: Stream) -> Self {
        Replies {
            call,
            stream: Some(stream),
        }
    }
}

impl tokio_stream::Stream for Replies {
    type Item = Result<BatchReply, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(stream) = &mut self.stream else {
            return Poll::Ready(None);
        };
        let next = ready!(stream.poll_next(cx));
        if let Some(Ok(reply)) = next {
            self.call.answered(reply.len());
            return Poll::Ready(Some(Ok(reply)));
        }
        self.stream = None;
        Poll::Ready(match next {
            None => {
                self.call.succeed();
                None
            }
            Some(Err(End::Failure(failure))) => Some(Err(self.call.fail(&failure))),
            Some(Err(End::Unreadable(status))) => {
                self.call.refused(&status);
                Some(Err(status))
            }
            Some(Ok(reply)) => Some(Ok(reply)),
        })
    }
}

/// The working parts of a call.
pub(super) struct Stream {
    intake: Intake,
    outlet: Outlet,
    /// Resolves at the deadline or the end of a drain.
    end: Pin<Box<dyn Future<Output = Failure> + Send>>,
    _permit: OwnedSemaphorePermit,
}

impl Stream {
    /// A stream that has read nothing yet.
    pub(super) fn open(
        service: &SolverService,
        request: Request<Streaming<BatchRequest>>,
    ) -> Result<Self, Failure> {
        let permit =
            service
                .streams
                .clone()
                .try_acquire_owned()
                .map_err(|_| Failure::StreamsFull {
                    max: service.settings.streams_max,
                })?;
        let deadline = deadline::deadline(request.metadata())?;
        let mut searches = Searches::new(&service.pool);
        if let Some(deadline) = deadline {
            searches.stop_at(deadline);
        }
        Ok(Stream {
            intake: Intake::new(request.into_inner(), searches, &service.settings),
            outlet: Outlet::default(),
            end: Box::pin(deadline::end(deadline, service.life.watch())),
            _permit: permit,
        })
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<BatchReply, End>>> {
        if let Poll::Ready(failure) = self.end.as_mut().poll(cx) {
            return Poll::Ready(Some(Err(End::Failure(failure))));
        }
        self.intake.poll_fill(cx, &mut self.outlet);
        match ready!(self.outlet.poll_next(cx)) {
            Next::Reply(reply) => Poll::Ready(Some(Ok(reply))),
            Next::Lost => Poll::Ready(Some(Err(End::Failure(self.intake.why_lost())))),
            // Everything taken in is answered: if nothing more comes, this is the end, and an end
            // with an error comes after the answers to what was sent before it.
            Next::Nothing => match self.intake.take_end() {
                Some(Ok(())) => Poll::Ready(None),
                Some(Err(end)) => Poll::Ready(Some(Err(end))),
                None => Poll::Pending,
            },
        }
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("outlet", &self.outlet)
            .finish_non_exhaustive()
    }
}
