//! The command line `sudoku-solver`.

use std::process::ExitCode;

use clap::Parser as _;
use sudoku_solver::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run()
}
