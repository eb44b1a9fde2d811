//! What can go wrong between a client and its server.

use std::error::Error as _;

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
    /// The URL of the server names no host.
    #[error("{url} names no host")]
    NoHost {
        /// What was given.
        url: String,
    },
    /// There is no server to ask.
    #[error("no server was given")]
    NoServers,
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
    /// The call did not begin.
    pub(super) fn refused(status: &Status, over_tls: bool) -> Error {
        let mut error = Error::rpc(0, status);
        if let Error::Rpc { message, .. } = &mut error {
            message.push_str(hint(status, over_tls));
        }
        error
    }

    pub(super) fn rpc(answered: u64, status: &Status) -> Error {
        Error::Rpc {
            answered,
            code: status.code(),
            message: said(status),
        }
    }
}

/// The text of a status. That of a lost connection says next to nothing, but what caused it does.
fn said(status: &Status) -> String {
    let mut text = status.message().to_owned();
    let mut next = status.source();
    while let Some(cause) = next {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = cause.source();
    }
    text
}

/// What may be wrong with a call that did not begin. Over TLS that is perhaps the client's certificate,
/// which servers look at after the client has seen the handshake end; the transport does not always say so.
pub(super) fn hint(status: &Status, over_tls: bool) -> &'static str {
    if over_tls && status.source().is_some() {
        " (does the server ask for a certificate that the client lacks?)"
    } else {
        ""
    }
}
