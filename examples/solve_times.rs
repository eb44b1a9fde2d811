//! How long the single-board solver takes for each board of a file: median, 99th percentile, longest.
//!
//! ```sh
//! cargo run --release --example solve_times -- ../shared/data/17_clue.txt.gz
//! ```
//!
//! Each board is solved five times and its best time counts, so that what else the machine does
//! shows less.

#![expect(clippy::print_stdout, reason = "the figures are what this is for")]

#[path = "common/boards.rs"]
mod boards;

use std::{env, path::Path, time::Instant};

use sudoku_solver::{
    batch::{Level, LevelSolver},
    board::Board,
    solver::{CancelFlag, Options},
};

const TURNS: usize = 5;

fn main() -> anyhow::Result<()> {
    println!("| set | boards | median us | 99% us | longest us |");
    println!("|---|--:|--:|--:|--:|");
    for path in env::args_os().skip(1) {
        let path = Path::new(&path);
        let boards = boards::read(path)?;
        anyhow::ensure!(!boards.is_empty(), "{} holds no boards", path.display());
        let mut micros: Vec<f64> = boards.iter().map(best_micros).collect();
        micros.sort_by(f64::total_cmp);
        let at = |percent: usize| micros[(micros.len() * percent / 100).min(micros.len() - 1)];
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (median, most, longest) = (at(50), at(99), at(100));
        println!(
            "| {name} | {} | {median:.1} | {most:.1} | {longest:.1} |",
            boards.len()
        );
    }
    Ok(())
}

fn best_micros(board: &Board) -> f64 {
    let mut solver = LevelSolver::new(Level::detect());
    let mut solutions = Vec::with_capacity(2);
    let turn = |_| {
        solutions.clear();
        let begun = Instant::now();
        solver.solve(
            board,
            Options::default(),
            &CancelFlag::new(),
            &mut solutions,
        );
        begun.elapsed().as_secs_f64() * 1e6
    };
    (0..TURNS).map(turn).fold(f64::INFINITY, f64::min)
}
