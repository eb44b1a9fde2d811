//! The service `SudokuSolver`: calls come in as messages and leave as messages, solver threads do
//! the work between.
//!
//! Nothing here searches on the runtime's threads for longer than a hand-over would take (`quick`), and
//! nothing here waits for ever: each call has an end in `deadline`, each queue a bound in
//! [`limits`](crate::limits).

mod arrival;
mod call;
mod codec;
mod compressed;
mod deadline;
pub mod endpoint;
pub mod failure;
#[cfg(debug_assertions)]
pub mod fault;
pub mod histogram;
pub mod phase;
pub mod pool;
pub mod queue;
mod quick;
pub mod record;
pub mod retire;
pub mod status;
mod stream;
pub mod tally;
mod unary;
mod worker;

use std::{sync::Arc, time::Duration};

use tokio::sync::Semaphore;
use tonic::{Request, Response, Status, Streaming};

pub use self::stream::Replies;
use self::{
    call::Call, deadline::Deadline, endpoint::Caller, failure::Failure, phase::Life, pool::Pool,
    record::Record, stream::Opened,
};
use crate::{
    batch::Level,
    compression::Encodings,
    solver::Options,
    wire::{batch_request::BatchRequest, pb},
};

/// What the service may be told; [`server::Config`](crate::server::Config) says what each means.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The vector instructions that calls are solved with which no solver thread sees.
    pub cpu_level: Level,
    /// The options of requests that leave theirs unset.
    pub defaults: Options,
    /// `Solve` calls that may wait for a thread.
    pub queued_calls_max: usize,
    /// Streams that may be open.
    pub streams_max: usize,
    /// Boards of a stream that may be unanswered.
    pub window_boards: usize,
    /// Solutions that the unanswered boards of all streams may ask for.
    pub window_solutions: usize,
    /// Bytes of a message that is read.
    pub message_bytes_max: usize,
    /// Boards of a message of a stream.
    pub message_boards_max: usize,
    /// Bytes of a reply of a stream, unless one result has more.
    pub reply_bytes_max: usize,
    /// What messages may be compressed by.
    pub compression: Encodings,
    /// Solutions that may be asked for.
    pub solutions_max: u32,
    /// How long any call may take.
    pub deadline_max: Option<Duration>,
    /// How long a stream may stand still because of its client, and the message of a `Solve` may take.
    pub stream_idle: Duration,
}

/// The two calls.
#[derive(Debug)]
pub struct SolverService {
    settings: Settings,
    pool: Arc<Pool>,
    life: Life,
    streams: Arc<Semaphore>,
}

impl SolverService {
    /// A service that solves on the threads of `pool`, through the phases of `life`.
    pub fn new(settings: Settings, pool: Pool, life: Life) -> Self {
        let streams = Arc::new(Semaphore::new(settings.streams_max));
        SolverService {
            settings,
            pool: Arc::new(pool),
            life,
            streams,
        }
    }

    fn open(&self, record: Record) -> Result<Call, Status> {
        let open = self.life.open();
        let open = open.ok_or_else(|| status::status(&Failure::ShuttingDown))?;
        Ok(Call::new(open, record))
    }

    async fn solve(
        &self,
        call: &Call,
        deadline: Option<Deadline>,
        request: &pb::SolveRequest,
    ) -> Result<Response<pb::SolveResponse>, Status> {
        match unary::solve(self, deadline, request).await {
            Ok(response) => {
                call.answered(1);
                Ok(Response::new(response))
            }
            Err(failure) => Err(call.fail(&failure)),
        }
    }

    /// Returns before the first message is read, so that the response headers go out at once.
    fn solve_batch(
        &self,
        caller: Caller,
        request: Request<Streaming<BatchRequest>>,
    ) -> Result<Response<Replies>, Status> {
        let call = self.open(caller.record)?;
        match Opened::open(self, caller.retire, request) {
            Ok(opened) => Ok(Response::new(Replies::new(call, opened, &self.settings))),
            Err(failure) => Err(call.fail(&failure)),
        }
    }
}
