//! The two engines alone, on the thread that calls.

use std::{hint::black_box, slice::Chunks, sync::Arc};

use anyhow::Context as _;

use super::{Tree, boards::Boards, rounds::Rounds};
use crate::{
    batch::{Engine, Level, LevelSolver, Task, Tasks},
    board::Board,
    limits,
    solver::{CancelFlag, Options, answers::Answers},
};

/// Both engines, and what was measured of them.
#[derive(Debug)]
pub(super) struct Alone {
    boards: Arc<Boards>,
    options: Options,
    engine: Engine,
    solver: LevelSolver,
    /// What the trees are like.
    pub(super) tree: Tree,
    /// Of the batch engine, fed as the service feeds it.
    pub(super) of_engine: Rounds,
    /// Of the single-board solver.
    pub(super) of_single: Rounds,
}

impl Alone {
    /// Sets the engines up. A pass before the first round warms the batch engine up and tells what the
    /// trees are like.
    pub(super) fn new(
        level: Level,
        boards: Arc<Boards>,
        options: Options,
    ) -> anyhow::Result<Alone> {
        let mut engine = Engine::new(level).with_context(|| format!("this CPU has no {level}"))?;
        let mut tree = Tree::default();
        engine.run(&mut Pass::new(&boards.boards, options, |answers| {
            let outcomes = answers.answers.iter().map(|answer| answer.outcome);
            outcomes.for_each(|outcome| tree.add(outcome));
        }));
        let rounds = Rounds::of(boards.boards.len());
        Ok(Alone {
            boards,
            options,
            engine,
            solver: LevelSolver::new(level),
            tree,
            of_engine: rounds.clone(),
            of_single: rounds,
        })
    }

    /// A pass of each, on this thread.
    pub(super) fn round(&mut self) {
        let Alone {
            boards,
            options,
            engine,
            solver,
            ..
        } = self;
        let boards = &boards.boards;
        self.of_single.time(|| single(solver, boards, *options));
        self.of_engine.time(|| {
            engine.run(&mut Pass::new(boards, *options, |answers| {
                black_box(answers);
            }));
        });
    }
}

fn single(solver: &mut LevelSolver, boards: &[Board], options: Options) {
    let (cancel, mut solutions) = (CancelFlag::new(), Vec::new());
    for board in boards {
        solutions.clear();
        black_box(solver.solve(board, options, &cancel, &mut solutions));
        black_box(&solutions);
    }
}

/// One pass over a file in jobs of the size that the service cuts messages into.
struct Pass<'a, F> {
    jobs: Chunks<'a, Board>,
    options: Options,
    done: F,
}

impl<'a, F: FnMut(&Answers)> Pass<'a, F> {
    fn new(boards: &'a [Board], options: Options, done: F) -> Self {
        let limit = usize::try_from(options.solution_limit).unwrap_or(usize::MAX);
        let most = (limits::JOB_SOLUTIONS_MAX / limit.max(1)).clamp(1, limits::JOB_BOARDS_MAX);
        Pass {
            jobs: boards.chunks(most),
            options,
            done,
        }
    }
}

impl<'a, F: FnMut(&Answers)> Tasks for Pass<'a, F> {
    type Task = Job<'a>;

    fn next(&mut self) -> Option<Job<'a>> {
        Some(Job {
            boards: self.jobs.next()?,
            options: self.options,
        })
    }

    fn done(&mut self, _: Job<'a>, answers: Answers) {
        (self.done)(&answers);
    }
}

struct Job<'a> {
    boards: &'a [Board],
    options: Options,
}

impl Task for Job<'_> {
    fn boards(&self) -> &[Board] {
        self.boards
    }

    fn options(&self) -> Options {
        self.options
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}
