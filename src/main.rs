//! The command line `sudoku-solver`.

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    sudoku_solver::cli::run(env::args_os())
}
