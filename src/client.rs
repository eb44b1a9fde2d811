//! A client that sends boards by the million over one connection and hands out their answers in
//! order.
//!
//! Boards travel in messages of some hundred, several messages at a time: a window bounds how many
//! boards may wait for their answers, so memory stays flat however long the stream is. A board's
//! text is written into the message that it goes out in, and its answer is read where the response
//! was received: nothing is allocated for a board.
//!
//! ```
//! use sudoku_solver::client::{BatchSettings, Client, Status};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! # let url = format!("http://{}", listener.local_addr()?);
//! # let config = sudoku_solver::server::Config::default();
//! # tokio::spawn(sudoku_solver::server::serve(listener, config, std::future::pending()));
//! # let mut lines = Vec::new();
//! // Such as "http://127.0.0.1:50051".
//! let client = Client::connect(&url).await?;
//! let boards = [
//!     "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9",
//!     "not a board",
//! ];
//! let mut answers = client.solve_all(boards, BatchSettings::default()).await?;
//! while let Some(answer) = answers.next().await? {
//!     let line = match answer.status {
//!         Status::Unique => format!("{}: {}", answer.index, answer.solutions[0]),
//!         status => format!("{}: {}", answer.index, status.name()),
//!     };
//!     println!("{line}");
//! #   lines.push(line);
//! }
//! # assert!(lines[0].starts_with("0: 98765432124617"), "{lines:?}");
//! # assert_eq!(lines[1], "1: MALFORMED");
//! # Ok(())
//! # }
//! ```
//!
//! Where boards come from somewhere that blocks or fails, [`Client::solve_batch`] gives the two
//! ends apart: a [`Feed`] to send boards into, and the [`Answers`].
//!
//! A [`Fleet`] is the same over many servers, and loses no board when one of them dies.

mod answer;
mod answers;
mod codec;
mod error;
mod feed;
mod fields;
mod fleet;
mod health;
mod request;
mod response;
mod security;
#[cfg(test)]
mod tests;

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use prost::bytes::Bytes;
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::{Stream, wrappers::UnboundedReceiverStream};
use tonic::{
    Request, Status as RpcStatus, Streaming,
    client::Grpc,
    codegen::http::uri::{PathAndQuery, Scheme},
    metadata::{Ascii, MetadataValue},
    transport::{self, Channel, Endpoint},
};

use self::{
    codec::BatchCodec,
    feed::{To, ToCall},
    fleet::Dial,
    response::Response,
};
use crate::{
    compression::Encoding,
    limits::{self, nearest},
    wire::pb::SolveOptions,
};

pub use answer::{Answer, Status};
pub use answers::Answers;
pub use error::Error;
pub use feed::{Closed, Feed};
pub use fleet::{Failure, Fleet, FleetSettings, Outcome, Outcomes, Reason, Unanswered};
pub use security::{Security, SecurityError};

/// What a connection is like: how many bytes of the answers HTTP/2 lets the server have on the way, and
/// whether messages are compressed. The defaults are what measured best over loopback
/// (`docs/performance.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectSettings {
    /// Of one call: 65,535 to 2,147,483,647.
    pub stream_window_bytes: u32,
    /// Of all calls together: 65,535 to 2,147,483,647.
    pub connection_window_bytes: u32,
    /// In one frame: 16,384 to 16,777,215.
    pub frame_bytes: u32,
    /// Compresses boards by this, and has the server compress the answers by it. One that does not take
    /// it refuses every call (`serve --compression`). Default: none.
    pub compression: Option<Encoding>,
}

impl ConnectSettings {
    /// What a window may be.
    pub const WINDOW_BYTES: RangeInclusive<u32> = limits::HTTP2_WINDOW_BYTES;

    /// What a frame may be.
    pub const FRAME_BYTES: RangeInclusive<u32> = limits::HTTP2_FRAME_BYTES;
}

impl Default for ConnectSettings {
    fn default() -> Self {
        ConnectSettings {
            stream_window_bytes: 2 << 20,
            connection_window_bytes: 4 << 20,
            frame_bytes: 256 << 10,
            compression: None,
        }
    }
}

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to send a batch, and how far to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchSettings {
    /// Stop at this many solutions of a board; `None` leaves it to the contract: 2.
    pub solution_limit: Option<u32>,
    /// Stop a board after this many nodes; `None` leaves it to the server.
    pub node_limit: Option<u32>,
    /// Boards in one message, at least 1. Fewer go out when [`Feed::flush`] says so.
    pub boards_per_message: usize,
    /// Boards that may wait for their answers, at least one message of them.
    pub boards_in_flight: usize,
}

impl BatchSettings {
    /// The most boards in flight; larger settings are taken as this.
    pub const BOARDS_IN_FLIGHT_MAX: usize = 1 << 20;

    fn options(&self) -> SolveOptions {
        SolveOptions {
            solution_limit: self.solution_limit,
            node_limit: self.node_limit,
        }
    }
}

impl Default for BatchSettings {
    fn default() -> Self {
        BatchSettings {
            solution_limit: None,
            node_limit: None,
            boards_per_message: 256,
            boards_in_flight: 8192,
        }
    }
}

/// A connection to a server. Clones share it.
#[derive(Clone, Debug)]
pub struct Client {
    channel: Channel,
    /// The value of the header `authorization`.
    bearer: Option<MetadataValue<Ascii>>,
    over_tls: bool,
    compression: Option<Encoding>,
}

impl Client {
    /// Connects to a server by its URL, such as `http://127.0.0.1:50051`, or `https://` for TLS by the
    /// authorities that the system trusts.
    ///
    /// # Errors
    ///
    /// A URL that is none, and a server that cannot be reached.
    pub async fn connect(url: &str) -> Result<Client, Error> {
        Client::connect_with(url, ConnectSettings::default()).await
    }

    /// Connects with other settings than the usual; what is out of range is taken as the nearest
    /// that is in it.
    ///
    /// # Errors
    ///
    /// A URL that is none, and a server that cannot be reached.
    pub async fn connect_with(url: &str, settings: ConnectSettings) -> Result<Client, Error> {
        Client::connect_secured(url, settings, &Security::default()).await
    }

    /// Connects to a server that asks for a token or a certificate, or that the system does not trust.
    ///
    /// # Errors
    ///
    /// A URL that is none, a certificate that cannot be used, and a server that cannot be reached or is
    /// not to be trusted.
    pub async fn connect_secured(
        url: &str,
        settings: ConnectSettings,
        security: &Security,
    ) -> Result<Client, Error> {
        let endpoint = endpoint(url, settings, security)?;
        let channel = endpoint.connect().await.map_err(|cause| Error::Connect {
            url: url.to_owned(),
            cause,
        })?;
        Ok(Client::over(channel, &endpoint, settings, security))
    }

    /// Connects to one address of the host of a URL, and notices when it does not answer pings.
    async fn dial(
        url: &str,
        settings: ConnectSettings,
        security: &Security,
        dial: Dial,
    ) -> Result<Client, Error> {
        let endpoint = endpoint(url, settings, security)?
            .http2_keep_alive_interval(fleet::KEEPALIVE_INTERVAL)
            .keep_alive_timeout(fleet::KEEPALIVE_TIMEOUT)
            .keep_alive_while_idle(true);
        let channel = endpoint
            .connect_with_connector(dial)
            .await
            .map_err(|cause| Error::Connect {
                url: url.to_owned(),
                cause,
            })?;
        Ok(Client::over(channel, &endpoint, settings, security))
    }

    fn over(
        channel: Channel,
        endpoint: &Endpoint,
        settings: ConnectSettings,
        security: &Security,
    ) -> Client {
        Client {
            channel,
            bearer: security.bearer(),
            over_tls: is_tls(endpoint),
            compression: settings.compression,
        }
    }

    /// A client over a channel that the caller made.
    pub fn from_channel(channel: Channel) -> Client {
        Client {
            channel,
            bearer: None,
            over_tls: false,
            compression: None,
        }
    }

    /// Opens one `SolveBatch` call: boards go into the [`Feed`], their results come out of the
    /// [`Answers`]. Use both at once: a full window holds the feed back until answers are read.
    ///
    /// # Errors
    ///
    /// The server's refusal of the call.
    pub async fn solve_batch(&self, settings: BatchSettings) -> Result<(Feed, Answers), Error> {
        let window = settings
            .boards_in_flight
            .clamp(1, BatchSettings::BOARDS_IN_FLIGHT_MAX);
        let per_message = settings.boards_per_message.clamp(1, window);
        let options = settings.options();
        let window = Arc::new(Semaphore::new(window));
        // Unbounded in type only: every board in them holds a place in the window. A bound on messages would
        // make small ones leave a few at a time, in packets of their own.
        let (requests, outgoing) = mpsc::unbounded_channel();
        let (sent, unanswered) = mpsc::unbounded_channel();
        let call = ToCall {
            window: Arc::clone(&window),
            sent,
            requests,
        };
        let feed = Feed::new(To::Call(call), options, per_message);
        let responses = self
            .call(UnboundedReceiverStream::new(outgoing))
            .await
            .map_err(|status| Error::refused(&status, self.over_tls))?;
        Ok((feed, Answers::new(responses, unanswered, window)))
    }

    /// Opens a `SolveBatch` call; returns when the server has taken it.
    async fn call(
        &self,
        requests: impl Stream<Item = Bytes> + Send + 'static,
    ) -> Result<Streaming<Response>, RpcStatus> {
        let mut rpc = Grpc::new(self.channel.clone());
        if let Some(encoding) = self.compression {
            // Answers are decompressed no further than tonic lets any message be long: 4 MiB.
            rpc = rpc
                .send_compressed(encoding.into())
                .accept_compressed(encoding.into());
        }
        rpc.ready().await.map_err(|cause| lost(&cause))?;
        let mut requests = Request::new(requests);
        if let Some(bearer) = &self.bearer {
            let metadata = requests.metadata_mut();
            metadata.insert("authorization", bearer.clone());
        }
        let path = PathAndQuery::from_static("/sudoku.v1.SudokuSolver/SolveBatch");
        let responses = rpc.streaming(requests, path, BatchCodec);
        Ok(responses.await?.into_inner())
    }

    /// Solves every board of an iterator, which is run by the async runtime and so must not block.
    ///
    /// # Errors
    ///
    /// The server's refusal of the call; what goes wrong later comes out of the answers.
    pub async fn solve_all<I>(&self, boards: I, settings: BatchSettings) -> Result<Answers, Error>
    where
        I: IntoIterator<Item: AsRef<str> + Send, IntoIter: Send + 'static>,
    {
        let (feed, answers) = self.solve_batch(settings).await?;
        tokio::spawn(feed.feed_all(boards.into_iter()));
        Ok(answers)
    }
}

/// What every connection to this URL has in common.
fn endpoint(url: &str, settings: ConnectSettings, security: &Security) -> Result<Endpoint, Error> {
    let window = |bytes| nearest(bytes, &ConnectSettings::WINDOW_BYTES);
    let mut endpoint = Endpoint::from_shared(url.to_owned()).map_err(|cause| Error::Url {
        url: url.to_owned(),
        cause,
    })?;
    if is_tls(&endpoint) {
        let tls = endpoint.tls_config(security.tls());
        endpoint = tls.map_err(|cause| Error::Tls {
            url: url.to_owned(),
            cause,
        })?;
    }
    Ok(endpoint
        .connect_timeout(CONNECT_TIMEOUT)
        .initial_stream_window_size(window(settings.stream_window_bytes))
        .initial_connection_window_size(window(settings.connection_window_bytes))
        .max_frame_size(nearest(settings.frame_bytes, &ConnectSettings::FRAME_BYTES)))
}

fn is_tls(endpoint: &Endpoint) -> bool {
    endpoint.uri().scheme() == Some(&Scheme::HTTPS)
}

/// The connection was lost before the call began.
fn lost(cause: &transport::Error) -> RpcStatus {
    RpcStatus::unavailable(cause.to_string())
}
