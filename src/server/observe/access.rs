//! The access log: one line a call, on the target `sudoku_solver::access`.
//!
//! Of what a caller sends it has the request id and nothing else: no header that could hold a secret, no
//! board.

use super::{call::Ended, method::Method, requests::code_name};

/// Which calls have a line of their own in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum AccessLog {
    /// None.
    None,
    /// Those of `SolveBatch`.
    #[default]
    Streams,
    /// Every call, of health checks too.
    All,
}

impl AccessLog {
    /// Writes the line of a call, if it has one.
    pub(super) fn write(self, call: &Ended<'_>) {
        let has_line = match self {
            AccessLog::None => false,
            AccessLog::Streams => call.method == Method::SOLVE_BATCH,
            AccessLog::All => true,
        };
        if has_line {
            let micros = u64::try_from(call.time.as_micros()).unwrap_or(u64::MAX);
            tracing::info!(
                target: "sudoku_solver::access",
                method = call.method.name(),
                code = code_name(call.code),
                boards = call.record.boards(),
                time_micros = micros,
                peer = %call.peer,
                request_id = call.record.request_id_text(),
                "call"
            );
        }
    }
}
