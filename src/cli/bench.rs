//! `bench`: how fast the boards of a file are solved here: by the engine, by the single-board
//! solver, and over the whole RPC path.

mod boards;
mod child;
mod engines;
mod report;
mod rounds;
mod rpc;

use std::{
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::{Args, ValueEnum, value_parser};
use tokio::task;

use self::{
    boards::Boards,
    child::ChildServer,
    engines::Alone,
    report::{Measured, Printer},
    rpc::Path,
};
use super::{
    connect::{ConnectArgs, server_url},
    security::SecurityArgs,
    serve::available_level,
};
use crate::{
    batch::Level,
    client::{BatchSettings, Client},
    limits,
    server::signals::Signals,
    solver::{Options, Verdict},
};

/// Measure how fast the boards of files are solved on this machine.
///
/// Each file is solved in three ways, in rounds of one pass over the whole file each: by the
/// single-board solver alone on one core, by the batch engine alone on one core, and over the whole
/// RPC path. Without --server the path leads to this program as a server, in a process of its own,
/// so that its CPU time can be told from the client's; `SUDOKU_WORKERS` and the other
/// variables of `serve` reach it. With those of TLS it is spoken to by TLS.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct BenchArgs {
    /// Files of boards, gzip-compressed or not
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Stop at this many solutions of a board
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000))]
    limit: u32,

    /// How long to repeat the rounds of a file; 0 is one round
    #[arg(long, allow_negative_numbers = true, default_value = "6", value_name = "SECONDS", value_parser = seconds)]
    seconds: Duration,

    /// How to print the figures
    #[arg(long, value_enum, default_value_t = Format::Table)]
    output: Format,

    /// Vector instructions to use: portable, avx2 or avx512 [default: the best this CPU has]
    #[arg(long, env = "SUDOKU_CPU_LEVEL", value_name = "LEVEL", value_parser = available_level)]
    cpu_level: Option<Level>,

    /// Measure a running server; its URL or host:port. Its CPU time is not known then
    #[arg(long, value_name = "URL", value_parser = server_url)]
    server: Option<String>,

    /// Boards in one message of the RPC path
    #[arg(
        long,
        default_value_t = 256,
        value_name = "N",
        value_parser = value_parser!(u32).range(1..=i64::from(MESSAGE_BOARDS_MAX))
    )]
    message_boards: u32,

    #[command(flatten)]
    connect: ConnectArgs,

    #[command(flatten)]
    security: SecurityArgs,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a constant, and the range of the flag would show it"
)]
const MESSAGE_BOARDS_MAX: u32 = limits::MESSAGE_BOARDS_MAX as u32;

const AFTER_HELP: &str = "\
Examples:
  sudoku-solver bench boards.txt.gz
  sudoku-solver bench --seconds 10 --output json *.txt | jq .engine_boards_per_second
  taskset -c 0 sudoku-solver bench boards.txt     engine and server on one core";

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// Columns, and what they mean
    Table,
    /// One JSON object a file
    Json,
}

/// The longest that one measurement may be asked to take.
const SECONDS_MAX: f64 = 3600.0;

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds))
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("a number of seconds from 0 to {SECONDS_MAX} is expected"))
}

/// Measures every file.
pub(super) fn run(args: BenchArgs) -> anyhow::Result<()> {
    for file in &args.files {
        // Now, and not after the minutes that the files before it take.
        fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    let runtime = super::runtime()?;
    let bench = Bench::new(args);
    let done = runtime.block_on(async {
        // So that the server beside this process ends with it, whatever ends it.
        let mut signals = Signals::listen().context("cannot listen for signals")?;
        tokio::select! {
            done = bench.all() => done,
            signal = signals.next() => Err(anyhow::anyhow!("ended by {signal}")),
        }
    });
    // A pass that a signal cut short must not hold the exit.
    runtime.shutdown_background();
    done
}

struct Bench {
    args: BenchArgs,
    level: Level,
    options: Options,
}

impl Bench {
    fn new(args: BenchArgs) -> Bench {
        Bench {
            level: args.cpu_level.unwrap_or_else(Level::detect),
            options: Options {
                solution_limit: args.limit,
                ..Options::default()
            },
            args,
        }
    }

    async fn all(&self) -> anyhow::Result<()> {
        let mut printer = Printer::begin(&self.args, self.level)?;
        for file in &self.args.files {
            let path = file.clone();
            let boards = task::spawn_blocking(move || Boards::read(&path)).await??;
            let measured = self
                .measure(boards)
                .await
                .with_context(|| format!("cannot measure {}", file.display()))?;
            printer.print(file, &measured)?;
        }
        Ok(())
    }

    /// Rounds of one pass of each measurement, so that a slow phase of the machine is in all of them.
    async fn measure(&self, boards: Boards) -> anyhow::Result<Measured> {
        let (level, options, malformed) = (self.level, self.options, boards.malformed);
        let boards = Arc::new(boards);
        let mut path = self.path(Arc::clone(&boards)).await?;
        let alone = task::spawn_blocking(move || Alone::new(level, boards, options));
        let mut alone = alone.await??;
        let begun = Instant::now();
        loop {
            let round = move || {
                alone.round();
                alone
            };
            alone = task::spawn_blocking(round).await?;
            path.round().await?;
            if begun.elapsed() >= self.args.seconds {
                break;
            }
        }
        Ok(Measured {
            malformed,
            tree: alone.tree,
            engine: alone.of_engine,
            single: alone.of_single,
            rpc: path.rounds,
        })
    }

    /// The path to the server that is measured.
    async fn path(&self, boards: Arc<Boards>) -> anyhow::Result<Path> {
        let server = match &self.args.server {
            Some(_) => None,
            None => Some(ChildServer::start(self.level, self.args.connect.compression).await?),
        };
        let own = server.as_ref().map(ChildServer::url);
        let url = self.args.server.as_deref().or(own).unwrap_or_default();
        let security = self.args.security.read(&[url])?;
        let client = Client::connect_secured(url, self.args.connect.into(), &security).await?;
        Ok(Path::new(client, server, boards, self.batch()))
    }

    fn batch(&self) -> BatchSettings {
        let boards_per_message = usize::try_from(self.args.message_boards).unwrap_or(usize::MAX);
        let defaults = BatchSettings::default();
        BatchSettings {
            solution_limit: Some(self.options.solution_limit),
            node_limit: Some(self.options.node_limit),
            boards_per_message,
            // Some messages on the way, however large they are.
            boards_in_flight: defaults
                .boards_in_flight
                .max(boards_per_message.saturating_mul(4)),
        }
    }
}

/// What the search trees of a file's boards are like.
#[derive(Clone, Copy, Debug, Default)]
struct Tree {
    boards: u64,
    nodes: u64,
    /// Exact for searches that ended by themselves, as every guess has two halves there. For one
    /// that a limit stopped, the least that it can have been: halves not begun are no nodes.
    guesses: u64,
    without_guess: u64,
    undecided: u64,
}

impl Tree {
    fn add(&mut self, outcome: crate::solver::Outcome) {
        self.boards += 1;
        self.nodes += u64::from(outcome.nodes);
        self.guesses += u64::from(outcome.nodes / 2);
        self.without_guess += u64::from(outcome.nodes <= 1);
        self.undecided += u64::from(outcome.verdict == Verdict::Undecided);
    }
}
