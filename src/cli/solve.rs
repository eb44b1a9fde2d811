//! `solve`: boards from files or standard input, one answer a line.

mod fleet_args;
mod input;
mod jsonl;
mod lines;
mod output;
mod printer;
mod progress;
mod report;
mod resume;

use std::{io, path::PathBuf, process::ExitCode};

use clap::{Args, ValueEnum, value_parser};
use tokio::runtime::Handle;
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use self::{
    fleet_args::FleetArgs,
    input::{Extent, Input},
    printer::Printer,
    resume::Resume,
};
use super::{Misconfigured, local::LocalServer, security::SecurityArgs};
use crate::client::{BatchSettings, Fleet, FleetSettings};

/// What `solve` exits with when boards are unanswered.
const UNANSWERED_EXIT: u8 = 3;

/// Solve boards from files or standard input, one answer a line, in the order of the boards.
///
/// Boards may be 81 characters on a line, nine lines, framed grids, .sdk files and other usual
/// forms, gzip-compressed or not. Without --server the service is started inside this process:
/// nothing needs to be set up.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SolveArgs {
    /// Files of boards; "-", or none, is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Stop at this many solutions of a board: 1 for any solution, 2 to prove that there is one
    /// only, up to 10,000 to list them [default: 2]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000))]
    limit: Option<u32>,

    /// Give a board up as UNDECIDED after this many nodes of its search [default: the server's]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    node_limit: Option<u32>,

    /// How to print an answer
    #[arg(long, value_enum, default_value_t = Format::Lines)]
    output: Format,

    /// Write the answers into a new file, which --resume can continue if the run is interrupted
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Go on with the file of --out where it ends, after a check that it belongs to these boards
    #[arg(long, requires = "out")]
    resume: bool,

    #[command(flatten)]
    fleet: FleetArgs,

    #[command(flatten)]
    security: SecurityArgs,
}

const AFTER_HELP: &str = "\
Exit status: 0 when every board got its answer, whatever it is; 1 when a file or the server
failed; 2 when the command line is wrong; 3 when boards are unanswered: servers failed for too
long, or refused them, or the deadline of the job passed. Which, and why, is told at the end.

Messages that a server has not answered when it fails are sent to another, or to it again, with
waits that grow. Each board is answered once, in order.

Examples:
  sudoku-solver solve boards.txt
  zcat boards.gz | sudoku-solver solve --output jsonl | jq .status
  sudoku-solver solve --limit 100 --server http://127.0.0.1:50051 one.sdk two.sdk
  sudoku-solver solve --server a:50051 --server b:50051 --out answers.txt --resume boards.txt";

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// The grid of a board with one solution; else the board, its status, and why
    Lines,
    /// One JSON object a board
    Jsonl,
}

/// Solves everything there is to read.
pub(super) fn run(args: &SolveArgs) -> anyhow::Result<ExitCode> {
    let input = Input::find(&args.files)?;
    let file = args.out.as_deref();
    let file = file
        .map(|path| resume::open(path, args.resume, args.output))
        .transpose()?;
    let runtime = super::runtime()?;
    let done = runtime.block_on(async {
        if !args.fleet.servers.is_empty() {
            show_warnings();
            let servers = &args.fleet.servers;
            let security = args.security.read(servers)?;
            let settings = args.fleet.settings(args.batch());
            let fleet = Fleet::secured(servers, settings, &security)?;
            return solve(args, input, file, &fleet).await;
        }
        if let Some(flag) = args.security.flag().or(args.fleet.compression_flag()) {
            let text = format!("{flag} needs --server, the server that it is for");
            return Err(Misconfigured(text).into());
        }
        let mut local = LocalServer::start().await?;
        let batch = args.batch();
        let settings = FleetSettings {
            // Nobody runs ahead of a single stream.
            streams: 1,
            boards_buffered: 2 * batch.boards_in_flight,
            ..args.fleet.settings(batch)
        };
        let fleet = Fleet::new(&[local.url()], settings)?;
        tokio::select! {
            done = solve(args, input, file, &fleet) => done,
            failure = local.failure() => Err(failure),
        }
    });
    // A thread that still reads a terminal, or a server that still solves, must not hold the exit.
    runtime.shutdown_background();
    done
}

/// Whoever runs a job over servers wants to know which of them fails, while it lasts.
fn show_warnings() {
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::WARN.into())
        .from_env_lossy();
    let warnings = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .finish();
    // They are set up already only in a test that runs the command line twice in a process.
    drop(tracing::subscriber::set_global_default(warnings));
}

async fn solve(
    args: &SolveArgs,
    input: Input,
    file: Option<Resume>,
    fleet: &Fleet,
) -> anyhow::Result<ExitCode> {
    let (feed, outcomes) = fleet.solve();
    let (check, mut printer) = match file {
        Some(Resume { check, tail, from }) => {
            let printer = Printer::into_file(args.output, args.limit, tail, from);
            (Some((check, from.first)), printer)
        }
        None => (None, Printer::to_stdout(args.output, args.limit)),
    };
    let reader = input.feed_into(feed, Handle::current(), check)?;
    let over = match printer.print(outcomes).await {
        Ok(over) => over,
        // Whoever read the answers wants no more of them, as in `solve ... | head`.
        Err(error) if is_broken_pipe(&error) => return Ok(ExitCode::SUCCESS),
        Err(error) => return Err(error),
    };
    // When the job has ended early, its reader may wait for a terminal: it is not waited for.
    let read = if over.is_some() && !reader.is_finished() {
        Extent::InPart
    } else {
        let read = reader.join();
        read.map_err(|_| anyhow::anyhow!("the thread that reads boards failed"))??
    };
    let complete = printer.report(over.as_deref().filter(|_| read == Extent::InPart));
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(UNANSWERED_EXIT)
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

impl SolveArgs {
    fn batch(&self) -> BatchSettings {
        BatchSettings {
            solution_limit: self.limit,
            node_limit: self.node_limit,
            ..BatchSettings::default()
        }
    }
}
