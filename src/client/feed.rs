//! The end of a batch call that boards go into.

use std::{collections::VecDeque, mem, sync::Arc};

use tokio::sync::{Semaphore, mpsc};

use crate::wire::pb::{SolveBatchRequest, SolveOptions};

/// Text in one message, in bytes, before it counts as full: far below the 4 MiB that servers take,
/// so that boards with frames and comments fit as well.
const MESSAGE_BYTES_MAX: usize = 512 * 1024;

/// The call is over; the [`Answers`](super::Answers) say why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call is over")]
pub struct Closed;

/// Takes boards and sends them on in messages. Dropping it without [`finish`](Feed::finish) gives
/// up the boards that were not flushed.
#[derive(Debug)]
pub struct Feed {
    /// Every message but the last is full.
    waiting: VecDeque<Texts>,
    options: SolveOptions,
    boards_per_message: usize,
    window: Arc<Semaphore>,
    /// Declared before `requests`, so dropped before it: once the server sees the end of the
    /// requests, the answers must see that no more boards will come.
    sent: mpsc::UnboundedSender<Texts>,
    requests: mpsc::Sender<SolveBatchRequest>,
}

impl Feed {
    pub(super) fn new(
        requests: mpsc::Sender<SolveBatchRequest>,
        sent: mpsc::UnboundedSender<Texts>,
        window: Arc<Semaphore>,
        options: SolveOptions,
        boards_per_message: usize,
    ) -> Feed {
        Feed {
            waiting: VecDeque::new(),
            options,
            boards_per_message,
            window,
            sent,
            requests,
        }
    }

    /// Adds a board to the message being filled. `true` says that it is full now and it is time
    /// to [`flush`](Feed::flush).
    pub fn push(&mut self, board: &str) -> bool {
        let full = |texts: &Texts| {
            texts.len() >= self.boards_per_message || texts.bytes() >= MESSAGE_BYTES_MAX
        };
        match self.waiting.back_mut() {
            Some(last) if !full(last) => last.push(board),
            _ => self.waiting.push_back(Texts::of(board)),
        }
        self.waiting.back().is_some_and(full)
    }

    /// Sends what was pushed, full message or not, waiting for room in the window.
    ///
    /// # Errors
    ///
    /// [`Closed`] when the call has ended.
    pub async fn flush(&mut self) -> Result<(), Closed> {
        while let Some(texts) = self.waiting.pop_front() {
            let boards = u32::try_from(texts.len()).unwrap_or(u32::MAX);
            // Given back by the answers, board by board.
            self.window
                .acquire_many(boards)
                .await
                .map_err(|_| Closed)?
                .forget();
            let request = SolveBatchRequest {
                boards: texts.iter().map(str::to_owned).collect(),
                options: Some(self.options),
            };
            // The texts first: an answer must find the board that it belongs to.
            self.sent.send(texts).map_err(|_| Closed)?;
            self.requests.send(request).await.map_err(|_| Closed)?;
        }
        Ok(())
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

/// The boards of one message: one allocation for all texts, not one for each.
#[derive(Debug, Default)]
pub(super) struct Texts {
    joined: String,
    /// Where each text ends in `joined`.
    ends: VecDeque<usize>,
    /// How far `joined` has been taken.
    start: usize,
}

impl Texts {
    fn of(text: &str) -> Texts {
        let mut texts = Texts::default();
        texts.push(text);
        texts
    }

    fn push(&mut self, text: &str) {
        self.joined.push_str(text);
        self.ends.push_back(self.joined.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn bytes(&self) -> usize {
        self.joined.len()
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = self.start;
        self.ends
            .iter()
            .filter_map(move |&end| self.joined.get(mem::replace(&mut start, end)..end))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Takes the next text out.
    pub(super) fn next(&mut self) -> Option<&str> {
        let end = self.ends.pop_front()?;
        self.joined.get(mem::replace(&mut self.start, end)..end)
    }
}
