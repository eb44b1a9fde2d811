//! `sudoku-solver serve`: the service until a signal ends it.

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    ops::RangeInclusive,
    time::Duration,
};

use anyhow::Context as _;
use clap::{Args, builder::RangedI64ValueParser, value_parser};
use tokio::net::TcpListener;

use crate::{
    batch::{Level, UnknownLevel},
    server::{
        self, Config, Http2,
        signals::Signals,
        telemetry::{self, LogFormat},
    },
};

/// Run the gRPC service until SIGTERM or SIGINT.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// Address to listen on; port 0 takes a free one, and the log says which
    #[arg(
        long,
        env = "SUDOKU_LISTEN",
        default_value = "127.0.0.1:50051",
        value_name = "ADDRESS"
    )]
    pub listen: SocketAddr,

    /// Solver threads [default: the cores this process may use]
    #[arg(long, env = "SUDOKU_WORKERS", value_name = "N")]
    pub workers: Option<NonZeroUsize>,

    /// Vector instructions to use: portable, avx2 or avx512 [default: the best this CPU has]
    #[arg(long, env = "SUDOKU_CPU_LEVEL", value_name = "LEVEL", value_parser = available_level)]
    pub cpu_level: Option<Level>,

    /// Node limit of requests that set none [default: 1000000]
    #[arg(long, env = "SUDOKU_NODE_LIMIT", value_name = "N")]
    pub node_limit: Option<NonZeroU32>,

    /// How long a drain waits for calls in flight, as in 30s or 500ms
    #[arg(
        long,
        env = "SUDOKU_GRACE",
        default_value = "30s",
        value_name = "TIME",
        value_parser = humantime::parse_duration
    )]
    pub grace: Duration,

    /// `SolveBatch` streams that may be open at once [default: 512]
    #[arg(long, env = "SUDOKU_STREAMS_MAX", value_name = "N")]
    pub streams_max: Option<NonZeroUsize>,

    /// `Solve` calls that may wait for a solver thread [default: 4096]
    #[arg(long, env = "SUDOKU_QUEUED_CALLS_MAX", value_name = "N")]
    pub queued_calls_max: Option<NonZeroUsize>,

    /// Unanswered boards that a stream may have [default: 2048 a solver thread]
    #[arg(long, env = "SUDOKU_WINDOW_BOARDS", value_name = "N")]
    pub window_boards: Option<NonZeroUsize>,

    /// Bytes of requests that a call may have on the way [default: 1048576]
    #[arg(long, env = "SUDOKU_STREAM_WINDOW", value_name = "BYTES", value_parser = window())]
    pub stream_window: Option<u32>,

    /// Bytes of requests that a connection may have on the way [default: 4194304]
    #[arg(long, env = "SUDOKU_CONNECTION_WINDOW", value_name = "BYTES", value_parser = window())]
    pub connection_window: Option<u32>,

    /// Bytes of one HTTP/2 frame of a request [default: 16384]
    #[arg(long, env = "SUDOKU_FRAME_BYTES", value_name = "BYTES", value_parser = frame())]
    pub frame_bytes: Option<u32>,

    /// Form of the log lines on stderr; which lines, by `RUST_LOG`
    #[arg(long, env = "SUDOKU_LOG_FORMAT", default_value = "text", value_enum)]
    pub log_format: LogFormat,
}

impl ServeArgs {
    fn config(&self) -> Config {
        let mut config = Config {
            grace: self.grace,
            ..Config::default()
        };
        if let Some(workers) = self.workers {
            config.workers = workers;
        }
        if let Some(level) = self.cpu_level {
            config.cpu_level = level;
        }
        if let Some(node_limit) = self.node_limit {
            config.node_limit = node_limit.get();
        }
        if let Some(streams) = self.streams_max {
            config.streams_max = streams.get();
        }
        if let Some(calls) = self.queued_calls_max {
            config.queued_calls_max = calls.get();
        }
        if let Some(bytes) = self.stream_window {
            config.http2.stream_window = bytes;
        }
        if let Some(bytes) = self.connection_window {
            config.http2.connection_window = bytes;
        }
        if let Some(bytes) = self.frame_bytes {
            config.http2.frame_bytes = bytes;
        }
        config.window_boards = self.window_boards;
        config
    }
}

fn window() -> RangedI64ValueParser<u32> {
    value_parser!(u32).range(bounds(Http2::WINDOW))
}

fn frame() -> RangedI64ValueParser<u32> {
    value_parser!(u32).range(bounds(Http2::FRAME_BYTES))
}

fn bounds(range: RangeInclusive<u32>) -> RangeInclusive<i64> {
    i64::from(*range.start())..=i64::from(*range.end())
}

/// Reads a level that this CPU has.
///
/// # Errors
///
/// The name is unknown, or the CPU lacks the level.
pub fn available_level(name: &str) -> Result<Level, String> {
    let level: Level = name
        .parse()
        .map_err(|error: UnknownLevel| error.to_string())?;
    if level.is_available() {
        Ok(level)
    } else {
        Err(format!(
            "this CPU has no {level}; its best level is {}",
            Level::detect()
        ))
    }
}

/// Runs the service. The first signal drains it, a second one ends it at once.
///
/// # Errors
///
/// The address cannot be bound, the server cannot start, or a second signal cut the drain short.
pub async fn run(args: ServeArgs) -> anyhow::Result<()> {
    telemetry::init(args.log_format).context("cannot set up logs")?;
    // Before anything else, so that no signal finds the process without a handler.
    let mut drain = Signals::listen().context("cannot listen for signals")?;
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let config = args.config();
    tracing::info!(
        address = %listener.local_addr()?,
        workers = config.workers,
        cpu_level = %config.cpu_level,
        "listening"
    );
    let first = async move {
        let signal = drain.next().await;
        tracing::info!(signal, "shutting down");
    };
    let second = async {
        signals.next().await;
        signals.next().await
    };
    tokio::select! {
        served = server::serve(listener, config, first) => served.context("cannot serve")?,
        signal = second => anyhow::bail!("a second signal ({signal}) ended the drain"),
    }
    tracing::info!("stopped");
    Ok(())
}
