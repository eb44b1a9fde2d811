//! Who is measured, each with what it needs ready.

use std::{hint::black_box, ops::Range, slice::Chunks};

use sudoku::Sudoku;
use sudoku_solver::{
    batch::{Engine, Level, LevelSolver, Task, Tasks},
    board::Board,
    limits,
    solver::{CancelFlag, Options, answers::Answers},
};

/// Count to two: one solution and the proof that there is no other.
const OPTIONS: Options = Options {
    solution_limit: 2,
    node_limit: u32::MAX,
};

/// The three of them, with the boards in the form that each reads.
pub(crate) struct Contestants<'a> {
    pub(crate) boards: &'a [Board],
    sudokus: Vec<Sudoku>,
    engine: Engine,
    solver: LevelSolver,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contestant {
    Engine,
    Sudoku,
    Single,
}

impl Contestant {
    pub(crate) const EVERY: [Contestant; 3] =
        [Contestant::Engine, Contestant::Sudoku, Contestant::Single];
}

impl<'a> Contestants<'a> {
    /// `None` if this CPU lacks the level.
    pub(crate) fn new(level: Level, boards: &'a [Board]) -> Option<Self> {
        let sudokus = boards
            .iter()
            .filter_map(|board| Sudoku::from_bytes(*board.values()).ok());
        Some(Contestants {
            boards,
            sudokus: sudokus.collect(),
            engine: Engine::new(level)?,
            solver: LevelSolver::new(level),
        })
    }

    /// Solves some of the boards and returns how many solutions it counted.
    pub(crate) fn solve(&mut self, who: Contestant, part: Range<usize>) -> u64 {
        match who {
            Contestant::Engine => {
                let mut turn = Turn {
                    jobs: self.boards[part].chunks(limits::JOB_BOARDS_MAX),
                    solutions: 0,
                };
                self.engine.run(&mut turn);
                turn.solutions
            }
            Contestant::Sudoku => self.sudokus[part].iter().map(count_and_grids).sum(),
            Contestant::Single => {
                let solver = &mut self.solver;
                let (cancel, mut grids) = (CancelFlag::new(), Vec::new());
                let count = |board| {
                    grids.clear();
                    let outcome = solver.solve(board, OPTIONS, &cancel, &mut grids);
                    black_box(&grids);
                    u64::from(outcome.solution_count)
                };
                self.boards[part].iter().map(count).sum()
            }
        }
    }
}

/// One search for both, without allocation: the crate's cheapest way to what the others owe too.
/// Its `solutions_count_up_to` and then `solution` would search twice.
fn count_and_grids(sudoku: &Sudoku) -> u64 {
    let mut grids = [[0; 81]; 2];
    let count = sudoku.solutions_up_to_buffer(&mut grids, 2);
    black_box(&grids);
    count as u64
}

/// Boards for the engine, as the service feeds them.
struct Turn<'a> {
    jobs: Chunks<'a, Board>,
    solutions: u64,
}

impl<'a> Tasks for Turn<'a> {
    type Task = Job<'a>;

    fn next(&mut self) -> Option<Job<'a>> {
        self.jobs.next().map(Job)
    }

    fn done(&mut self, _: Job<'a>, answers: Answers) {
        let counts = answers.answers.iter();
        self.solutions += counts
            .map(|answer| u64::from(answer.outcome.solution_count))
            .sum::<u64>();
        black_box(&answers.solutions);
    }
}

struct Job<'a>(&'a [Board]);

impl Task for Job<'_> {
    fn boards(&self) -> &[Board] {
        self.0
    }

    fn options(&self) -> Options {
        OPTIONS
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}
