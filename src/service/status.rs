//! From [`Failure`] to `tonic::Status`: the only place that builds one.

use std::collections::HashMap;

use prost::DecodeError;
use tonic::{Code, Status, metadata::MetadataValue};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};

use super::failure::Failure;
use crate::{board::text::MalformedBoard, limits};

/// The status of a message that cannot be decoded, as of every gRPC service.
pub fn undecodable(error: &DecodeError) -> Status {
    Status::internal(error.to_string())
}

/// Whose reasons are in the details of an error.
pub const DOMAIN: &str = "sudoku.v1";

/// The status that a caller sees: code, text, and details for programs.
pub fn status(failure: &Failure) -> Status {
    let (code, reason) = code_and_reason(failure);
    let mut details = ErrorDetails::new();
    details.set_error_info(reason, DOMAIN, metadata(failure));
    match failure {
        Failure::Malformed(error) => violation(&mut details, "board", &error.reason, reason),
        Failure::Options(error) | Failure::MessageOptions { error, .. } => {
            violation(&mut details, error.field(), &error.to_string(), reason);
        }
        Failure::MessageBoards { .. } => {
            violation(&mut details, "boards", &failure.to_string(), reason);
        }
        Failure::CallsFull { .. } | Failure::StreamsFull { .. } => {
            details.set_retry_info(Some(limits::RETRY_DELAY));
        }
        Failure::MessageBytes { .. }
        | Failure::Encoding { .. }
        | Failure::Decompress { .. }
        | Failure::Headers { .. }
        | Failure::TokenMissing
        | Failure::TokenWrong
        | Failure::Timeout
        | Failure::Deadline
        | Failure::DeadlineMax { .. }
        | Failure::Idle { .. }
        | Failure::Late { .. }
        | Failure::ShuttingDown
        | Failure::Internal => {}
    }
    let mut status = Status::with_error_details(code, failure.to_string(), details);
    if let Failure::Encoding { accepted, .. } = failure
        && let Ok(header) = MetadataValue::try_from(accepted.header())
    {
        // By the protocol: so a client can tell what to send instead.
        status.metadata_mut().insert("grpc-accept-encoding", header);
    }
    status
}

/// The status of a message that tonic did not read, if that is because it is too long, as it came or
/// decompressed, or cannot be decompressed.
pub(super) fn unread(tonic: &Status, max: usize) -> Option<Status> {
    let said = tonic.message().to_owned();
    // tonic tells these apart by their texts only.
    let decompressing = said.starts_with("Error decompressing");
    match tonic.code() {
        // Nothing else has this code: the service never sends it.
        Code::OutOfRange => Some(Failure::MessageBytes { max, tonic: said }),
        Code::ResourceExhausted if decompressing => {
            Some(Failure::MessageBytes { max, tonic: said })
        }
        Code::Internal if decompressing => Some(Failure::Decompress { tonic: said }),
        _ => None,
    }
    .map(|failure| status(&failure))
}

fn code_and_reason(failure: &Failure) -> (Code, &'static str) {
    match failure {
        Failure::Malformed(_) => (Code::InvalidArgument, "MALFORMED_BOARD"),
        Failure::Options(_) | Failure::MessageOptions { .. } => {
            (Code::InvalidArgument, "OPTIONS_OUT_OF_RANGE")
        }
        Failure::MessageBoards { .. } => (Code::InvalidArgument, "TOO_MANY_BOARDS_IN_MESSAGE"),
        Failure::MessageBytes { .. } => (Code::ResourceExhausted, "MESSAGE_TOO_LONG"),
        Failure::Encoding { .. } => (Code::Unimplemented, "ENCODING_NOT_TAKEN"),
        // Damaged messages of protobuf are INTERNAL in every gRPC service; but this one can be told apart
        // from a fault of the server, and there is no sense in sending it again.
        Failure::Decompress { .. } => (Code::InvalidArgument, "NOT_DECOMPRESSED"),
        Failure::Headers { .. } => (Code::ResourceExhausted, "HEADERS_TOO_LONG"),
        Failure::TokenMissing => (Code::Unauthenticated, "TOKEN_MISSING"),
        Failure::TokenWrong => (Code::Unauthenticated, "TOKEN_WRONG"),
        Failure::Timeout => (Code::InvalidArgument, "MALFORMED_TIMEOUT"),
        Failure::CallsFull { .. } => (Code::ResourceExhausted, "TOO_MANY_CALLS"),
        Failure::StreamsFull { .. } => (Code::ResourceExhausted, "TOO_MANY_STREAMS"),
        Failure::Deadline => (Code::DeadlineExceeded, "DEADLINE_PASSED"),
        Failure::DeadlineMax { .. } => (Code::DeadlineExceeded, "DEADLINE_MAX_PASSED"),
        Failure::Idle { .. } => (Code::DeadlineExceeded, "STREAM_IDLE"),
        Failure::Late { .. } => (Code::DeadlineExceeded, "MESSAGE_LATE"),
        Failure::ShuttingDown => (Code::Unavailable, "SHUTTING_DOWN"),
        Failure::Internal => (Code::Internal, "SOLVER_FAILED"),
    }
}

fn metadata(failure: &Failure) -> HashMap<String, String> {
    let mut metadata = HashMap::new();
    let mut put = |key: &str, value: String| metadata.insert(key.to_owned(), value);
    match failure {
        Failure::Malformed(MalformedBoard {
            position, found, ..
        }) => {
            position.map(|position| put("position", position.to_string()));
            found.map(|found| put("found", found.to_string()));
        }
        Failure::MessageOptions { message, .. } | Failure::MessageBoards { message, .. } => {
            put("message", message.to_string());
        }
        _ => {}
    }
    metadata
}

fn violation(details: &mut ErrorDetails, field: &str, description: &str, reason: &str) {
    let mut violation = FieldViolation::new(field, description);
    reason.clone_into(&mut violation.reason);
    details.set_bad_request(vec![violation]);
}
