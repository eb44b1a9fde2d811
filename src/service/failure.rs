//! What ends a call without its answer. What a board turns out to be is never here.

use crate::{board::text::MalformedBoard, limits, wire::OptionsError};

/// Why a call ends without its answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The text of a single call is not a board.
    #[error("board: {0}")]
    Malformed(MalformedBoard),
    /// The options of a single call are out of range.
    #[error("{field}: {0}", field = .0.field())]
    Options(OptionsError),
    /// The options of a message of a stream are out of range.
    #[error("message {message} of the stream: {field}: {error}", field = error.field())]
    MessageOptions {
        /// Which message, from 1.
        message: u64,
        /// What is wrong.
        error: OptionsError,
    },
    /// A message of a stream holds too many boards.
    #[error(
        "message {message} of the stream: it holds {boards} boards; at most {max} are taken, \
         send them in several messages",
        max = limits::MESSAGE_BOARDS_MAX
    )]
    MessageBoards {
        /// Which message, from 1.
        message: u64,
        /// How many boards it holds.
        boards: usize,
    },
    /// The header with the deadline cannot be read.
    #[error("grpc-timeout: it must be 1 to 8 digits and a unit, one of H M S m u n")]
    Timeout,
    /// As many calls wait as may.
    #[error("{max} calls wait for a solver thread, as many as may; try again later")]
    CallsFull {
        /// How many may wait.
        max: usize,
    },
    /// As many streams are open as may be.
    #[error("{max} streams are open, as many as may be; try again later")]
    StreamsFull {
        /// How many may be open.
        max: usize,
    },
    /// The deadline of the call passed.
    #[error("the deadline of the call passed; the search was stopped")]
    Deadline,
    /// The server takes no more calls.
    #[error("the server is shutting down; another replica may answer")]
    ShuttingDown,
    /// A bug here; nothing that a caller could do about it.
    #[error("internal error; the call can be tried again")]
    Internal,
}
