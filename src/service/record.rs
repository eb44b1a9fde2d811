//! What is kept of a call while it lasts, for logs and traces.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use tonic::codegen::http::HeaderValue;

/// Goes with each request, from the connection that it came by.
///
/// Nothing here costs anything a board: boards are counted a message at a time.
#[derive(Clone, Debug)]
pub struct Record(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    request_id: HeaderValue,
    boards: AtomicU64,
}

impl Record {
    /// The record of a call that has just begun.
    pub fn new(request_id: HeaderValue) -> Self {
        Record(Arc::new(Kept {
            request_id,
            boards: AtomicU64::new(0),
        }))
    }

    /// What the caller, or the server for him, calls the call.
    pub fn request_id(&self) -> &HeaderValue {
        &self.0.request_id
    }

    /// The same for logs.
    pub fn request_id_text(&self) -> &str {
        self.0.request_id.to_str().unwrap_or_default()
    }

    /// Boards that were answered.
    pub fn boards(&self) -> u64 {
        self.0.boards.load(Relaxed)
    }

    pub(super) fn answered(&self, boards: usize) {
        let boards = u64::try_from(boards).unwrap_or(u64::MAX);
        self.0.boards.fetch_add(boards, Relaxed);
    }
}
