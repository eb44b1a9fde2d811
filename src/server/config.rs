//! What an operator may choose, with defaults that suit most.

use std::{num::NonZeroUsize, thread, time::Duration};

use tokio_rustls::rustls::ServerConfig;

use super::{ConnectionLimits, Observe, Origin, auth::Access, reload::Live};
use crate::{
    batch::Level,
    compression::Encodings,
    limits::{self, nearest},
    service::Settings,
    solver::Options,
};

/// The settings of a server. `Config::default()` is a good one.
#[derive(Clone, Debug)]
pub struct Config {
    /// Solver threads. Default: the cores that this process may use.
    pub workers: NonZeroUsize,
    /// The vector instructions to use. Default: the best that this CPU has.
    pub cpu_level: Level,
    /// The node limit of requests that set none. Default: 1,000,000.
    pub node_limit: u32,
    /// How long a drain waits for calls in flight. Default: 30 s.
    pub grace: Duration,
    /// `Solve` calls that may wait for a solver thread; more are refused. Default: 4,096.
    pub queued_calls_max: usize,
    /// Jobs of streams that may wait for a solver thread; more wait in their streams. Default:
    /// 1,024.
    pub queued_jobs_max: usize,
    /// `SolveBatch` streams that may be open; more are refused. Default: 512.
    pub streams_max: usize,
    /// Boards of one stream that may be taken in and unanswered before the server stops reading
    /// from it. Default: 2,048 a solver thread.
    pub window_boards: Option<NonZeroUsize>,
    /// Bytes of a request message; a call with a longer one is refused. Default: 4 MiB.
    pub message_bytes_max: usize,
    /// Boards of a message of `SolveBatch`, at most the default; a stream with more is refused.
    /// Default: 49,152.
    pub message_boards_max: usize,
    /// Bytes of a reply of `SolveBatch` that holds more than one result. Default: 1 MiB.
    pub reply_bytes_max: usize,
    /// Solutions that may be asked for, at most the default. Default: 10,000.
    pub solutions_max: u32,
    /// How long any call may take. Default: as long as its caller lets it.
    pub deadline_max: Option<Duration>,
    /// How long a stream may stand still because of its client, and the message of a `Solve` may take to come whole.
    /// Default: 5 min.
    pub stream_idle: Duration,
    /// Bounds on connections.
    pub connection: ConnectionLimits,
    /// Sizes of HTTP/2.
    pub http2: Http2,
    /// The TLS of new connections, as [`reload::open`](super::reload::open) reads it from
    /// [`TlsFiles`](super::tls::TlsFiles). Default: none.
    pub tls: Option<Live<ServerConfig>>,
    /// What messages may be compressed by: taken of every call, and given to those whose
    /// `grpc-accept-encoding` names it. Default: nothing.
    pub compression: Encodings,
    /// Who may call. Default: everyone.
    pub access: Access,
    /// Whose pages may call from a browser, by gRPC-Web over HTTP/1 or HTTP/2. Default: nobody's, and
    /// then neither gRPC-Web nor HTTP/1 is spoken. The TLS of browsers has to offer HTTP/1, as
    /// [`TlsFiles::http1`](super::tls::TlsFiles::http1) says.
    pub web_origins: Vec<Origin>,
    /// Whether tools may ask for the contract. Default: yes.
    pub reflection: bool,
    /// What can be seen from outside.
    pub observe: Observe,
}

/// How much HTTP/2 lets clients send before it is read. Sizes out of range are taken as the nearest
/// that is allowed.
#[derive(Clone, Copy, Debug)]
pub struct Http2 {
    /// Bytes of requests that a call may have on the way. Default: 1 MiB.
    pub stream_window: u32,
    /// Bytes of requests that all calls of a connection may have on the way. Default: 4 MiB.
    pub connection_window: u32,
    /// Bytes of one frame of a request. Default: 64 KiB.
    pub frame_bytes: u32,
}

impl Http2 {
    /// The sizes, all in range.
    pub(super) fn in_range(self) -> Http2 {
        let window = |bytes| nearest(bytes, &limits::HTTP2_WINDOW_BYTES);
        Http2 {
            stream_window: window(self.stream_window),
            connection_window: window(self.connection_window),
            frame_bytes: nearest(self.frame_bytes, &limits::HTTP2_FRAME_BYTES),
        }
    }
}

impl Default for Http2 {
    fn default() -> Self {
        Http2 {
            stream_window: limits::CALL_WINDOW_BYTES,
            connection_window: limits::CONNECTION_WINDOW_BYTES,
            frame_bytes: limits::FRAME_BYTES,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            workers: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            cpu_level: Level::detect(),
            node_limit: Options::default().node_limit,
            grace: limits::GRACE,
            queued_calls_max: limits::QUEUED_CALLS_MAX,
            queued_jobs_max: limits::QUEUED_JOBS_MAX,
            streams_max: limits::STREAMS_MAX,
            window_boards: None,
            message_bytes_max: limits::REQUEST_BYTES_MAX,
            message_boards_max: limits::MESSAGE_BOARDS_MAX,
            reply_bytes_max: limits::REPLY_BYTES_MAX,
            solutions_max: Options::SOLUTION_LIMIT_MAX,
            deadline_max: None,
            stream_idle: limits::STREAM_IDLE,
            connection: ConnectionLimits::default(),
            http2: Http2::default(),
            tls: None,
            compression: Encodings::default(),
            access: Access::default(),
            web_origins: Vec::new(),
            reflection: true,
            observe: Observe::default(),
        }
    }
}

impl Config {
    pub(super) fn settings(&self) -> Settings {
        let window_boards = self
            .workers
            .get()
            .saturating_mul(limits::WINDOW_BOARDS_PER_WORKER);
        let solutions_max = self.solutions_max.clamp(1, Options::SOLUTION_LIMIT_MAX);
        Settings {
            cpu_level: self.cpu_level,
            defaults: Options {
                node_limit: self.node_limit.max(1),
                solution_limit: Options::default().solution_limit.min(solutions_max),
            },
            solutions_max,
            queued_calls_max: self.queued_calls_max,
            streams_max: self.streams_max,
            window_boards: self.window_boards.map_or(window_boards, NonZeroUsize::get),
            window_solutions: self
                .workers
                .get()
                .saturating_mul(limits::WINDOW_SOLUTIONS_PER_WORKER),
            message_bytes_max: self.message_bytes_max,
            message_boards_max: self.message_boards_max.min(limits::MESSAGE_BOARDS_MAX),
            reply_bytes_max: self.reply_bytes_max,
            compression: self.compression,
            deadline_max: self.deadline_max,
            stream_idle: self.stream_idle,
        }
    }
}
