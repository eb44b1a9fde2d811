//! Why a board has no answer.

use std::{error::Error, sync::Arc, time::Duration};

use tonic::{Code, Status};

use crate::client::error::hint;

/// A board that could not be answered.
#[derive(Clone, Debug)]
pub struct Unanswered<'a> {
    /// The place of the board in the job, from 0.
    pub index: u64,
    /// The text that was taken in.
    pub board: &'a str,
    /// Why it has no answer. Boards that share a fate share this.
    pub reason: Arc<Reason>,
}

/// Why a board has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The deadline of the job passed.
    #[error("the deadline of the job ({0:?}) passed")]
    Deadline(Duration),
    /// It was sent as often as the settings allow, and each time the stream broke upon it.
    #[error("sent {attempts} times in vain; the last time, {failure}")]
    Attempts {
        /// How often it was sent.
        attempts: u32,
        /// What happened the last time.
        failure: Failure,
    },
    /// A server refused the message that it was in, and so would any other.
    #[error("refused: {0}")]
    Refused(Failure),
    /// Every server refused the job, the last one with this.
    #[error("every server refused the job; the last one, {0}")]
    AllRefused(Failure),
    /// No server took boards for as long as the settings allow.
    #[error("no server took boards for {patience:?}{}", last(.failure.as_ref()))]
    NoServer {
        /// How long this went on.
        patience: Duration,
        /// The last failure of a server, if there was one.
        failure: Option<Failure>,
    },
    /// What the server answered is no answer by the contract.
    #[error("the answer is broken: {0}")]
    Broken(&'static str),
}

fn last(failure: Option<&Failure>) -> String {
    failure
        .map(|failure| format!("; the last failure, {failure}"))
        .unwrap_or_default()
}

/// What happened with a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{server}: {message} ({code:?})")]
pub struct Failure {
    /// The URL that was given, and the address where the name has more than one.
    pub server: String,
    /// The gRPC status code; `Unavailable` where the server was not reached.
    pub code: Code,
    /// What the server or the transport said.
    pub message: String,
}

impl Failure {
    pub(super) fn new(server: &str, status: &Status) -> Failure {
        Failure {
            server: server.to_owned(),
            code: status.code(),
            message: in_full(status.message(), status.source())
                + hint(status, server.starts_with("https://")),
        }
    }

    /// The server was not reached.
    pub(super) fn unreached(server: &str, error: &(dyn Error + 'static)) -> Failure {
        // What stands first names the server, which stands before it already.
        let said = error.source().unwrap_or(error);
        Failure {
            server: server.to_owned(),
            code: Code::Unavailable,
            message: in_full(&said.to_string(), said.source()),
        }
    }
}

/// What was said, with the causes that it does not name itself.
fn in_full(said: &str, cause: Option<&(dyn Error + 'static)>) -> String {
    let mut text = said.to_owned();
    let mut next = cause;
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        next = cause.source();
    }
    text
}
