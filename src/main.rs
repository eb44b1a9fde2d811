//! The command line `sudoku-solver`.

fn main() {}
