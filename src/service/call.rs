//! What the logs say of a call: one span, one event when it ends.

use std::time::Instant;

use tonic::Code;
use tracing::{Span, field};

use super::{failure::Failure, phase::OpenCall, status};

/// A call from its first byte to its end; the log line is written when it goes out of scope.
///
/// Nothing here costs anything a board: boards are counted a message at a time.
#[derive(Debug)]
pub(super) struct Call {
    span: Span,
    begun: Instant,
    boards: u64,
    code: Code,
    _open: OpenCall,
}

impl Call {
    /// A single call. At debug level, as there may be tens of thousands a second.
    pub(super) fn single(open: OpenCall) -> Self {
        let span = tracing::debug_span!(
            "rpc",
            method = "Solve",
            status = field::Empty,
            boards = field::Empty,
            time = field::Empty
        );
        Call::new(span, open)
    }

    /// A stream, at info level.
    pub(super) fn stream(open: OpenCall) -> Self {
        let span = tracing::info_span!(
            "rpc",
            method = "SolveBatch",
            status = field::Empty,
            boards = field::Empty,
            time = field::Empty
        );
        Call::new(span, open)
    }

    fn new(span: Span, open: OpenCall) -> Self {
        // Until it is known how the call ends it counts as given up by its caller.
        Call {
            span,
            begun: Instant::now(),
            boards: 0,
            code: Code::Cancelled,
            _open: open,
        }
    }

    pub(super) fn answered(&mut self, boards: usize) {
        self.boards += u64::try_from(boards).unwrap_or(u64::MAX);
    }

    pub(super) fn succeed(&mut self) {
        self.code = Code::Ok;
    }

    /// The status of the failure, on record.
    pub(super) fn fail(&mut self, failure: &Failure) -> tonic::Status {
        let status = status::status(failure);
        self.refused(&status);
        status
    }

    /// A status that is not ours, as of a message that cannot be decoded.
    pub(super) fn refused(&mut self, status: &tonic::Status) {
        self.code = status.code();
        if self.code == Code::Internal {
            self.span
                .in_scope(|| tracing::error!(message = status.message(), "internal error"));
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.span.is_disabled() {
            return;
        }
        self.span.record("status", field::debug(self.code));
        self.span.record("boards", self.boards);
        self.span.record("time", field::debug(self.begun.elapsed()));
        self.span.in_scope(|| {
            if self
                .span
                .metadata()
                .is_some_and(|data| *data.level() == tracing::Level::INFO)
            {
                tracing::info!("finished");
            } else {
                tracing::debug!("finished");
            }
        });
    }
}
