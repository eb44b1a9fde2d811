//! From how many boards on the batch engine's vectors pay: microseconds for so many boards at once, in the
//! engine and one after another in the single-board solver.
//!
//! ```sh
//! cargo run --release --example few_boards -- ../shared/data/17_clue.txt.gz
//! ```
//!
//! Both solve the same boards in turns, other boards each turn; the lower quartile of the turns counts, so
//! that what else the machine does shows less.

#![expect(clippy::print_stdout, reason = "the figures are what this is for")]

#[path = "common/boards.rs"]
mod boards;

use std::{env, path::Path, time::Instant};

use anyhow::Context as _;
use sudoku_solver::{
    batch::{Engine, Level, LevelSolver, Task, Tasks},
    board::Board,
    solver::{CancelFlag, Options, answers::Answers},
};

const COUNTS: [usize; 8] = [1, 4, 8, 16, 24, 32, 48, 64];
const TURNS: usize = 60;

fn main() -> anyhow::Result<()> {
    println!("| set | boards | engine us | single us |");
    println!("|---|--:|--:|--:|");
    let level = Level::detect();
    let mut engine = Engine::new(level).context("this CPU lacks its own level")?;
    let mut solver = LevelSolver::new(level);
    for path in env::args_os().skip(1) {
        let path = Path::new(&path);
        let boards = boards::read(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        for count in COUNTS {
            let [mut at_once, mut one_by_one] = [Vec::new(), Vec::new()];
            for few in boards.chunks_exact(count).cycle().take(TURNS) {
                at_once.push(micros(|| engine.run(&mut Few(Some(few)))));
                one_by_one.push(micros(|| each(&mut solver, few)));
            }
            anyhow::ensure!(!at_once.is_empty(), "{name} has fewer than {count} boards");
            let [engine, single] = [quartile(at_once), quartile(one_by_one)];
            println!("| {name} | {count} | {engine:.0} | {single:.0} |");
        }
    }
    Ok(())
}

fn each(solver: &mut LevelSolver, boards: &[Board]) {
    let mut solutions = Vec::with_capacity(2 * boards.len());
    for board in boards {
        solver.solve(
            board,
            Options::default(),
            &CancelFlag::new(),
            &mut solutions,
        );
    }
}

fn micros(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() * 1e6
}

fn quartile(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 4).copied().unwrap_or(f64::NAN)
}

/// One task, and then none.
struct Few<'a>(Option<&'a [Board]>);

impl<'a> Tasks for Few<'a> {
    type Task = Boards<'a>;

    fn next(&mut self) -> Option<Boards<'a>> {
        self.0.take().map(Boards)
    }

    fn done(&mut self, _: Boards<'a>, _: Answers) {}
}

struct Boards<'a>(&'a [Board]);

impl Task for Boards<'_> {
    fn boards(&self) -> &[Board] {
        self.0
    }

    fn options(&self) -> Options {
        Options::default()
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}
