//! What ends a call without its answer. What a board turns out to be is never here.

use std::time::Duration;

use crate::{board::text::MalformedBoard, compression::Encodings, wire::OptionsError};

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
        "message {message} of the stream: it holds {boards} boards; at most {max} are taken \
         (--message-boards-max of the server), send them in several messages"
    )]
    MessageBoards {
        /// Which message, from 1.
        message: u64,
        /// How many boards it holds.
        boards: usize,
        /// How many it may hold.
        max: usize,
    },
    /// A message is longer than any that is read.
    #[error(
        "the message is longer than {max} bytes (--message-bytes-max of the server); send its boards \
         in several messages of a SolveBatch ({tonic})"
    )]
    MessageBytes {
        /// How long it may be.
        max: usize,
        /// What tonic says of it, which has its length.
        tonic: String,
    },
    /// A call is compressed by what this server does not take.
    #[error(
        "the call is compressed by {sent}, which this server does not take (--compression of the server \
         is {accepted}); send it uncompressed"
    )]
    Encoding {
        /// What it says that it is compressed by.
        sent: String,
        /// What is taken.
        accepted: Encodings,
    },
    /// A message is not what it is said to be compressed by, or is cut short.
    #[error(
        "a message cannot be decompressed by what the grpc-encoding of its call says: it is damaged, or \
         compressed by something else ({tonic})"
    )]
    Decompress {
        /// What tonic says of it.
        tonic: String,
    },
    /// The headers of a call are longer than any that are read.
    #[error(
        "the headers of the call have {bytes} bytes; at most {max} are taken (--header-bytes-max of \
         the server)"
    )]
    Headers {
        /// How long they are.
        bytes: usize,
        /// How long they may be.
        max: u32,
    },
    /// The call has no token, and the server asks for one.
    #[error(
        "this server asks for a token: send the header `authorization: Bearer TOKEN` with one of those \
         that its operator gave out"
    )]
    TokenMissing,
    /// The token of the call is none of the server's.
    #[error(
        "the token of the call is none of this server's; ask its operator for one, and send it as the \
         header `authorization: Bearer TOKEN`"
    )]
    TokenWrong,
    /// The header with the deadline cannot be read.
    #[error("grpc-timeout: it must be 1 to 8 digits and a unit, one of H M S m u n")]
    Timeout,
    /// As many calls wait as may.
    #[error(
        "{max} calls wait for a solver thread, as many as may (--queued-calls-max of the server); try \
         again later"
    )]
    CallsFull {
        /// How many may wait.
        max: usize,
    },
    /// As many streams are open as may be.
    #[error(
        "{max} streams are open, as many as may be (--streams-max of the server); try again later"
    )]
    StreamsFull {
        /// How many may be open.
        max: usize,
    },
    /// The deadline of the call passed.
    #[error("the deadline of the call passed; the search was stopped")]
    Deadline,
    /// The call took as long as the server lets any.
    #[error(
        "the call took {max:?}, as long as any may (--deadline-max of the server); its search was \
         stopped"
    )]
    DeadlineMax {
        /// How long that is.
        max: Duration,
    },
    /// The stream stood still because of its client.
    #[error(
        "the client neither sent boards nor read answers for {max:?} (--stream-idle of the server); \
         open a stream when there are boards to send"
    )]
    Idle {
        /// How long it may do so.
        max: Duration,
    },
    /// The message of a call of `Solve` has not come whole.
    #[error(
        "the message of the call has not come whole within {max:?} (--stream-idle of the server); send it \
         at once"
    )]
    Late {
        /// How long it may take.
        max: Duration,
    },
    /// The server takes no more calls.
    #[error("the server is shutting down; another replica may answer")]
    ShuttingDown,
    /// A bug here; nothing that a caller could do about it.
    #[error("internal error; the call can be tried again")]
    Internal,
}
