//! The command line: its subcommands, one a file, and how a run ends.
//!
//! Exit codes: 0 when all was done, 1 when a file, a connection or the server failed, 2 when the
//! command line itself was wrong.

pub mod serve;

mod local;
mod solve;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{Parser, Subcommand};

/// Solves 9x9 Sudoku boards and proves how many solutions they have.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  sudoku-solver solve boards.txt            solve a file, one answer a line
  sudoku-solver solve --output jsonl -      solve standard input, one JSON object a board
  sudoku-solver serve                       serve gRPC on 127.0.0.1:50051
  sudoku-solver solve --server http://127.0.0.1:50051 boards.txt.gz";

#[derive(Debug, Subcommand)]
enum Command {
    Solve(solve::SolveArgs),
    Serve(serve::ServeArgs),
}

impl Cli {
    /// Runs the subcommand to its end.
    pub fn run(self) -> ExitCode {
        let done = match self.command {
            Command::Solve(args) => solve::run(&args),
            Command::Serve(args) => serve::run(args),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say(&format!("error: {error:#}"));
                ExitCode::FAILURE
            }
        }
    }
}

/// Writes a line for people. Where standard error is gone, nobody is left to be told.
fn say(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}
