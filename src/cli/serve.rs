//! `sudoku-solver serve`: the service until a signal ends it.

mod limit_args;
mod observe_args;

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use tokio::net::TcpListener;

pub use self::{limit_args::LimitArgs, observe_args::ObserveArgs};
use crate::{
    batch::{Level, UnknownLevel},
    server::{
        self, Config,
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

    /// Form of the log lines on stderr; which lines, by `RUST_LOG`
    #[arg(long, env = "SUDOKU_LOG_FORMAT", default_value = "text", value_enum)]
    pub log_format: LogFormat,

    /// What calls, streams, messages and connections may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// What can be seen from outside.
    #[command(flatten)]
    pub observe: ObserveArgs,
}

impl ServeArgs {
    fn config(&self) -> Config {
        let mut config = Config {
            grace: self.grace,
            observe: self.observe.observe(),
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
        self.limits.apply(&mut config);
        config
    }
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
