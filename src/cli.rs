//! The subcommands of `sudoku-solver`, one a file.

pub mod serve;
