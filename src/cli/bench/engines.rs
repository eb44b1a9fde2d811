//! The two engines alone, on the thread that calls.

use std::{hint::black_box, slice::Chunks, time::Duration};

use anyhow::Context as _;

use super::{Tree, rounds::Rounds};
use crate::{
    batch::{Engine, Level, Task, Tasks},
    board::Board,
    limits,
    solver::{CancelFlag, Options, Solver, answers::Answers},
};

/// Measures the batch engine, fed as the service feeds it. A pass before the first round warms it
/// up and tells what the trees are like.
pub(super) fn engine(
    level: Level,
    boards: &[Board],
    options: Options,
    seconds: Duration,
) -> anyhow::Result<(Rounds, Tree)> {
    let mut engine = Engine::new(level).with_context(|| format!("this CPU has no {level}"))?;
    let mut tree = Tree::default();
    engine.run(&mut Pass::new(boards, options, |answers| {
        answers
            .answers
            .iter()
            .for_each(|answer| tree.add(answer.outcome));
    }));
    let rounds = Rounds::on_this_thread(boards.len(), seconds, || {
        engine.run(&mut Pass::new(boards, options, |answers| {
            black_box(answers);
        }));
    });
    Ok((rounds, tree))
}

/// Measures the single-board solver.
pub(super) fn single(boards: &[Board], options: Options, seconds: Duration) -> Rounds {
    let (mut solver, cancel) = (Solver::new(), CancelFlag::new());
    let mut solutions = Vec::new();
    Rounds::on_this_thread(boards.len(), seconds, || {
        for board in boards {
            solutions.clear();
            black_box(solver.solve(board, options, &cancel, &mut solutions));
            black_box(&solutions);
        }
    })
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
