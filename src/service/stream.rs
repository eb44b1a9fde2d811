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
mod watch;

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
    watch::{Bounds, Watched},
};
use super::{
    Settings, SolverService,
    call::Call,
    deadline::{self, Searches},
    failure::Failure,
    retire::Retire,
    status,
};
use crate::wire::{batch_reply::BatchReply, batch_request::BatchRequest};

type Reply = BatchReply;

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
    stream: Watched,
    message_bytes_max: usize,
    /// Kept as long as the call is: so long HTTP/2 may hold replies that the client has not read.
    _permit: OwnedSemaphorePermit,
}

impl Replies {
    pub(super) fn new(call: Call, stream: Opened, settings: &Settings) -> Self {
        Replies {
            call,
            stream: Watched::new(stream.stream, stream.bounds),
            message_bytes_max: settings.message_bytes_max,
            _permit: stream.permit,
        }
    }
}

impl tokio_stream::Stream for Replies {
    type Item = Result<Reply, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(match ready!(self.stream.poll_next(cx)) {
            Some(Ok(reply)) => {
                self.call.answered(reply.len());
                Some(Ok(reply))
            }
            None => None,
            Some(Err(End::Failure(failure))) => Some(Err(self.call.fail(&failure))),
            Some(Err(End::Unreadable(status))) => {
                let status = status::unread(&status, self.message_bytes_max).unwrap_or(status);
                self.call.refused(&status);
                Some(Err(status))
            }
        })
    }
}

/// A stream that was let in and has read nothing yet.
pub(super) struct Opened {
    stream: Stream,
    bounds: Bounds,
    permit: OwnedSemaphorePermit,
}

impl Opened {
    pub(super) fn open(
        service: &SolverService,
        retire: Retire,
        request: Request<Streaming<BatchRequest>>,
    ) -> Result<Self, Failure> {
        let settings = &service.settings;
        let permit =
            service
                .streams
                .clone()
                .try_acquire_owned()
                .map_err(|_| Failure::StreamsFull {
                    max: settings.streams_max,
                })?;
        let deadline = deadline::deadline(request.metadata().as_ref(), settings.deadline_max)?;
        let bounds = Bounds {
            deadline,
            life: service.life.watch(),
            idle: settings.stream_idle,
            retire,
        };
        let searches = Searches::new(&service.pool);
        Ok(Opened {
            stream: Stream {
                intake: Intake::new(request.into_inner(), searches, settings, &service.streams),
                outlet: Outlet::new(settings.reply_bytes_max),
            },
            bounds,
            permit,
        })
    }
}

/// The working parts of a call.
struct Stream {
    intake: Intake,
    outlet: Outlet,
}

impl Stream {
    /// Whether boards are here that are not answered yet.
    fn is_solving(&self) -> bool {
        self.outlet.boards() > 0 || self.intake.holds_boards()
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Reply, End>>> {
        self.intake.poll_fill(cx, &mut self.outlet);
        match ready!(self.outlet.poll_next(cx)) {
            Next::Reply(reply) => Poll::Ready(Some(Ok(reply))),
            Next::Lost => Poll::Ready(Some(Err(End::Failure(Failure::Internal)))),
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
