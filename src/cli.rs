//! The command line: its subcommands, one a file, and how a run ends.
//!
//! Exit codes: 0 when all was done, 1 when a file, a connection or the server failed, 2 when the
//! command line or another setting was wrong, 3 when `solve` left boards unanswered.

pub mod serve;

mod bench;
mod config;
mod connect;
mod gzip;
mod health;
mod local;
mod security;
mod solve;

use std::{
    ffi::OsString,
    fmt::Display,
    io::{self, Write as _},
    ops::RangeInclusive,
    process::ExitCode,
    sync::LazyLock,
};

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};

use crate::batch::Level;

/// Solves 9x9 Sudoku boards and proves how many solutions they have.
#[derive(Debug, Parser)]
#[command(
    version,
    long_version = LONG_VERSION.as_str(),
    about,
    arg_required_else_help = true,
    after_help = EXAMPLES
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Names the level too: it decides the speed, and is another on every kind of machine.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    format!("{version} (cpu level {})", Level::detect())
});

const EXAMPLES: &str = "\
Examples:
  sudoku-solver solve boards.txt            solve a file, one answer a line
  sudoku-solver solve --output jsonl -      solve standard input, one JSON object a board
  sudoku-solver serve                       serve gRPC on 127.0.0.1:50051
  sudoku-solver solve --server http://127.0.0.1:50051 boards.txt.gz
  sudoku-solver solve --server a:50051,b:50051 --out answers.txt boards.txt
  sudoku-solver bench boards.txt.gz         measure how fast that file is solved here
  sudoku-solver health                      whether the server here takes calls: exit status 0 or 1";

#[derive(Debug, Subcommand)]
enum Command {
    Solve(solve::SolveArgs),
    Serve(Box<serve::ServeArgs>),
    Bench(bench::BenchArgs),
    Health(health::HealthArgs),
}

/// Runs the command line `args`, the program's name first, to its end.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let done = match config::parse(&args) {
        Ok(config::Parsed::Run(cli)) => cli.run(),
        Ok(config::Parsed::Print(text)) => print(&text).map(|()| ExitCode::SUCCESS),
        Err(error) => Err(error),
    };
    let error = match done {
        Ok(code) => return code,
        Err(error) => error,
    };
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        return config::usage(usage, &args);
    }
    say(&format!("error: {}", chain(&error)));
    if error.is::<Misconfigured>() {
        ExitCode::from(2)
    } else {
        ExitCode::FAILURE
    }
}

/// An error and its causes, on one line, without those that only repeat what was said.
fn chain(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |said, cause| {
        let more = cause.to_string();
        match said.as_str() {
            "" => more,
            _ if said.contains(&more) => said,
            _ => format!("{said}: {more}"),
        }
    })
}

/// A setting is wrong, wherever it came from.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Misconfigured(String);

impl Misconfigured {
    fn by(cause: impl Display) -> Self {
        Misconfigured(cause.to_string())
    }
}

impl Cli {
    fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Solve(args) => solve::run(&args),
            Command::Serve(args) => runtime()
                .and_then(|runtime| runtime.block_on(serve::run(*args)))
                .map(|()| ExitCode::SUCCESS),
            Command::Bench(args) => bench::run(args).map(|()| ExitCode::SUCCESS),
            Command::Health(args) => health::run(&args).map(|()| ExitCode::SUCCESS),
        }
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    io::stdout()
        .write_all(text.as_bytes())
        .context("cannot write to standard output")
}

/// The threads that every command runs its calls on; solving has its own.
fn runtime() -> anyhow::Result<Runtime> {
    Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")
}

/// Writes a line for people. Where standard error is gone, nobody is left to be told.
fn say(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}

/// A range of numbers as clap takes it.
fn flag_range(numbers: RangeInclusive<u32>) -> RangeInclusive<i64> {
    i64::from(*numbers.start())..=i64::from(*numbers.end())
}
