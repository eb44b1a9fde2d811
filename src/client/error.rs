//! What can go wrong between a client and its server.

use tonic::{Status, transport};

/// Why a batch could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL of the server is none.
    #[error("{url} is not the URL of a server")]
    Url {
        /// What was given.
        url: String,
        /// What the parser said.
        #[source]
        cause: transport::Error,
    },
    /// TLS cannot be set up: a certificate or key is of no use, or the system trusts nobody.
    #[error("cannot set up TLS for {url}")]
    Tls {
        /// The server.
        url: String,
        /// What the transport said.
        #[source]
        cause: transport::Error,
    },
    /// No connection came about.
    #[error("cannot connect to {url}")]
    Connect {
        /// The server.
        url: String,
        /// What the transport said.
        #[source]
        cause: transport::Error,
    },
    /// The server ended the call, or the connection to it was lost.
    #[error("the call ended after {answered} answers with {:?}: {message}", code)]
    Rpc {
        /// How many boards had been answered.
        answered: u64,
        /// The gRPC status code.
        code: tonic::Code,
        /// What the server or the transport said.
        message: String,
    },
    /// The server ended the call as if all were well, with boards unanswered.
    #[error("the server ended the call after {answered} answers and left boards unanswered")]
    Unanswered {
        /// How many boards had been answered.
        answered: u64,
    },
    /// The server's answer is none by the contract.
    #[error("the answer to board {index} is broken: {problem}")]
    BrokenAnswer {
        /// The place of the board in the stream, from 0.
        index: u64,
        /// What is wrong.
        problem: &'static str,
    },
}

impl Error {
    /// The connection was lost before the call began.
    pub(super) fn lost(cause: &transport::Error) -> Error {
        Error::rpc(0, &Status::unavailable(cause.to_string()))
    }

    pub(super) fn rpc(answered: u64, status: &Status) -> Error {
        Error::Rpc {
            answered,
            code: status.code(),
            message: status.message().to_owned(),
        }
    }
}
