//! One call, as the service sees it: open until it goes out of scope, with what is kept of it.

use tonic::Code;

use super::{failure::Failure, phase::OpenCall, record::Record, status};

/// A call from its first byte to its end.
#[derive(Debug)]
pub(super) struct Call {
    record: Record,
    _open: OpenCall,
}

impl Call {
    pub(super) fn new(open: OpenCall, record: Record) -> Self {
        Call {
            record,
            _open: open,
        }
    }

    pub(super) fn answered(&self, boards: usize) {
        self.record.answered(boards);
    }

    /// The status of the failure; a fault of ours goes to the log.
    pub(super) fn fail(&self, failure: &Failure) -> tonic::Status {
        let status = status::status(failure);
        self.refused(&status);
        status
    }

    /// The same of a status that is not ours, as of a message that cannot be decoded.
    pub(super) fn refused(&self, status: &tonic::Status) {
        if status.code() == Code::Internal {
            let request_id = self.record.request_id_text();
            tracing::error!(request_id, error = status.message(), "internal error");
        }
    }
}
