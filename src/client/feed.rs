//! The end of a batch call that boards go into.

use std::{collections::VecDeque, sync::Arc};

use prost::bytes::Bytes;
use tokio::sync::{Semaphore, mpsc};

use super::{
    fleet::FleetDesk,
    request::{Request, Texts},
};
use crate::wire::pb::SolveOptions;

/// Bytes of one message before it counts as full: far below the 4 MiB that servers take,
/// so that boards with frames and comments fit as well.
const MESSAGE_BYTES_MAX: usize = 512 * 1024;

/// The call or the job is over; the [`Answers`](super::Answers) or the
/// [`Outcomes`](super::Outcomes) say why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call is over")]
pub struct Closed;

/// Takes boards and sends them on in messages. Dropping it without [`finish`](Feed::finish) gives
/// up the boards that were not flushed.
#[derive(Debug)]
pub struct Feed {
    /// Every message but the last is full.
    waiting: VecDeque<Request>,
    /// Bytes of the last message sent: how much the next one will need.
    last_bytes: Option<usize>,
    options: SolveOptions,
    boards_per_message: usize,
    to: To,
}

/// Where messages go.
#[derive(Debug)]
pub(super) enum To {
    Call(ToCall),
    Fleet(ToFleet),
}

/// One call, held back by its window.
#[derive(Debug)]
pub(super) struct ToCall {
    pub(super) window: Arc<Semaphore>,
    /// Declared before `requests`, so dropped before it: once the server sees the end of the
    /// requests, the answers must see that no more boards will come.
    pub(super) sent: mpsc::UnboundedSender<Texts>,
    pub(super) requests: mpsc::UnboundedSender<Bytes>,
}

/// Whichever server has room.
#[derive(Debug)]
pub(super) struct ToFleet(Arc<FleetDesk>);

impl Drop for ToFleet {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Feed {
    pub(super) fn of_fleet(
        desk: Arc<FleetDesk>,
        options: SolveOptions,
        boards_per_message: usize,
    ) -> Feed {
        Feed::new(To::Fleet(ToFleet(desk)), options, boards_per_message)
    }

    pub(super) fn new(to: To, options: SolveOptions, boards_per_message: usize) -> Feed {
        Feed {
            waiting: VecDeque::new(),
            last_bytes: None,
            options,
            boards_per_message,
            to,
        }
    }

    /// Adds a board to the message being filled. `true` says that it is full now and it is time
    /// to [`flush`](Feed::flush).
    pub fn push(&mut self, board: &str) -> bool {
        let full = |request: &Request| {
            request.boards() >= self.boards_per_message || request.bytes() >= MESSAGE_BYTES_MAX
        };
        let last = match self.waiting.back_mut() {
            Some(last) if !full(last) => last,
            _ => self.waiting.push_back_mut(Request::new(self.last_bytes)),
        };
        last.push(board);
        full(last)
    }

    /// Sends what was pushed, full message or not, waiting for room in the window.
    ///
    /// # Errors
    ///
    /// [`Closed`] when the call has ended.
    pub async fn flush(&mut self) -> Result<(), Closed> {
        while let Some(request) = self.waiting.pop_front() {
            self.last_bytes = Some(request.bytes());
            match &self.to {
                To::Call(call) => call.send(request, &self.options).await?,
                To::Fleet(ToFleet(desk)) => {
                    let (message, texts) = request.finish(&self.options);
                    desk.add(texts, message.len()).await?;
                }
            }
        }
        Ok(())
    }

    /// Sends every board of an iterator, and that no more will come.
    pub(super) async fn feed_all(
        mut self,
        boards: impl Iterator<Item: AsRef<str> + Send> + Send,
    ) -> Result<(), Closed> {
        for board in boards {
            if self.push(board.as_ref()) {
                self.flush().await?;
            }
        }
        self.finish().await
    }

    /// Sends what was pushed and tells the server that no more will come.
    ///
    /// # Errors
    ///
    /// [`Closed`] when the call has ended.
    pub async fn finish(mut self) -> Result<(), Closed> {
        self.flush().await
    }
}

impl ToCall {
    async fn send(&self, request: Request, options: &SolveOptions) -> Result<(), Closed> {
        let boards = u32::try_from(request.boards()).unwrap_or(u32::MAX);
        // Given back by the answers, message by message.
        self.window
            .acquire_many(boards)
            .await
            .map_err(|_| Closed)?
            .forget();
        let (request, texts) = request.finish(options);
        // The texts first: an answer must find the board that it belongs to.
        self.sent.send(texts).map_err(|_| Closed)?;
        self.requests.send(request).map_err(|_| Closed)
    }
}
