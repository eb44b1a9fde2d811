//! `sudoku-solver serve`: the service until a signal ends it.

mod auth_args;
mod exposure;
mod limit_args;
mod observe_args;
mod tls_args;
mod web_args;

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use tokio::net::TcpListener;

pub use self::{
    auth_args::AuthArgs, limit_args::LimitArgs, observe_args::ObserveArgs, tls_args::TlsArgs,
    web_args::WebArgs,
};
use super::Misconfigured;
use crate::{
    batch::{Level, UnknownLevel},
    compression::Encodings,
    server::{
        self, Config,
        auth::Access,
        reload::{self, Reload},
        signals::{Hangups, Signals},
        telemetry::{self, LogFormat},
    },
};

/// Run the gRPC service until SIGTERM or SIGINT.
///
/// Every flag can also be set by its environment variable or in a TOML file, under its name without the
/// dashes before it. A flag wins over the environment, the environment over the file.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ServeArgs {
    /// TOML file with settings, such as `listen = "0.0.0.0:50051"`
    #[arg(long, env = "SUDOKU_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Print the settings in force and where each comes from, as such a file, and end
    #[arg(long)]
    pub print_config: bool,

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

    /// What messages may be compressed by: gzip, zstd, both apart by a comma, or off. Replies are compressed
    /// where a call accepts it, and many clients accept gzip without being told to
    #[arg(
        long,
        env = "SUDOKU_COMPRESSION",
        default_value_t,
        value_name = "ENCODINGS"
    )]
    pub compression: Encodings,

    /// Form of the log lines on stderr; which lines, by `RUST_LOG`
    #[arg(long, env = "SUDOKU_LOG_FORMAT", default_value = "text", value_enum)]
    pub log_format: LogFormat,

    /// TLS, and when the files of secrets are read again.
    #[command(flatten)]
    pub tls: TlsArgs,

    /// Who may call.
    #[command(flatten)]
    pub auth: AuthArgs,

    /// Browsers.
    #[command(flatten)]
    pub web: WebArgs,

    /// What calls, streams, messages and connections may take.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// What can be seen from outside.
    #[command(flatten)]
    pub observe: ObserveArgs,
}

const AFTER_HELP: &str = "\
Exit status: 0 after SIGTERM or SIGINT, 1 when the address is in use or the server failed, 2 when a
flag, a variable, the file of settings, a certificate, a key or a token is wrong.

Examples:
  sudoku-solver serve
  sudoku-solver serve --listen 0.0.0.0:50051 --tls-cert cert.pem --tls-key key.pem --token-file tokens
  sudoku-solver serve --config sudoku-solver.toml --print-config";

impl ServeArgs {
    /// The settings, and the files that they were read from.
    fn read(&self) -> Result<(Config, Vec<Box<dyn Reload>>), Misconfigured> {
        let mut config = self.config();
        let mut files = Vec::new();
        if let Some(tls) = self.tls.files(!config.web_origins.is_empty())? {
            let (tls, reload) = reload::open(tls).map_err(Misconfigured::by)?;
            config.tls = Some(tls);
            files.push(reload);
        }
        if let Some(tokens) = self.auth.tokens() {
            let (tokens, reload) = reload::open(tokens).map_err(Misconfigured::by)?;
            config.access = Access::by_token(tokens);
            files.push(reload);
        }
        Ok((config, files))
    }

    fn config(&self) -> Config {
        let mut config = Config {
            grace: self.grace,
            compression: self.compression,
            reflection: self.auth.reflection,
            web_origins: self.web.web_origins.clone(),
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
/// A file of secrets is bad, the address cannot be bound, the server cannot start, or a second signal cut
/// the drain short.
pub async fn run(args: ServeArgs) -> anyhow::Result<()> {
    // Before anything else, so that no signal finds the process without a handler.
    let mut drain = Signals::listen().context("cannot listen for signals")?;
    let mut signals = Signals::listen().context("cannot listen for signals")?;
    let hangups = Hangups::listen().context("cannot listen for signals")?;
    telemetry::init(args.log_format).map_err(|error| {
        Misconfigured(format!(
            "cannot set up logs: {:#}",
            anyhow::Error::from(error)
        ))
    })?;
    let (config, files) = args.read()?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let address = listener.local_addr()?;
    exposure::warn(address, &config, args.tls.tls_client_ca.is_some());
    tracing::info!(
        %address,
        workers = config.workers,
        cpu_level = %config.cpu_level,
        tls = config.tls.is_some(),
        tokens = config.access.needs_token(),
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
        () = reload(files, args.tls.reload_interval.into(), hangups) => {}
        signal = second => anyhow::bail!("a second signal ({signal}) ended the drain"),
    }
    tracing::info!("stopped");
    Ok(())
}

/// Keeps certificates and tokens new. It never ends. Without any, SIGHUP would by itself end the process, and
/// with it the calls of whoever asked a service manager for a reload.
async fn reload(files: Vec<Box<dyn Reload>>, every: Duration, mut hangups: Hangups) {
    if files.is_empty() {
        loop {
            hangups.next().await;
            tracing::info!("SIGHUP: there are no certificates or tokens to read again");
        }
    }
    reload::watch(files, every, async move || hangups.next().await).await;
}
