//! Runs of the batch engine, and the single-board solver to hold them against.

#![expect(
    clippy::print_stderr,
    reason = "a skipped level must be seen in the output"
)]

use std::{collections::VecDeque, env, sync::Arc};

use proptest::test_runner::{Config, RngSeed};
use sudoku_solver::{
    batch::{self, Engine, Level, Tasks},
    board::Board,
    solver::{CancelFlag, Options, Outcome, Solver, answers::Answers},
};

/// One new engine for every level of this CPU; levels that it lacks are named aloud.
pub(crate) fn engines() -> impl Iterator<Item = Engine> {
    Level::EVERY.into_iter().filter_map(|level| {
        let engine = Engine::new(level);
        assert_eq!(engine.is_some(), level.is_available(), "{level}");
        if engine.is_none() {
            eprintln!("skipped: this CPU has no {level}");
        }
        engine
    })
}

/// Options with both limits.
pub(crate) fn options(solution_limit: u32, node_limit: u32) -> Options {
    Options {
        solution_limit,
        node_limit,
    }
}

/// Boards that are solved alike, and a flag to cancel them with.
#[derive(Debug)]
pub(crate) struct Task<T> {
    pub(crate) boards: Vec<Board>,
    pub(crate) options: Options,
    pub(crate) cancel: Arc<CancelFlag>,
    pub(crate) ticket: T,
}

impl<T> batch::Task for Task<T> {
    fn boards(&self) -> &[Board] {
        &self.boards
    }

    fn options(&self) -> Options {
        self.options
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

/// A task that nobody cancels.
pub(crate) fn task<T>(ticket: T, boards: &[Board], options: Options) -> Task<T> {
    Task {
        boards: boards.to_vec(),
        options,
        cancel: Arc::new(CancelFlag::new()),
        ticket,
    }
}

/// Tasks in a row, and the answers in the order in which they came.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    pub(crate) waiting: VecDeque<Task<T>>,
    pub(crate) done: Vec<(T, Answers)>,
}

impl<T> Queue<T> {
    pub(crate) fn new(tasks: impl IntoIterator<Item = Task<T>>) -> Queue<T> {
        Queue {
            waiting: tasks.into_iter().collect(),
            done: Vec::new(),
        }
    }
}

impl<T> Tasks for Queue<T> {
    type Task = Task<T>;

    fn next(&mut self) -> Option<Task<T>> {
        self.waiting.pop_front()
    }

    fn done(&mut self, task: Task<T>, answers: Answers) {
        self.done.push((task.ticket, answers));
    }
}

/// Runs tasks and returns their answers in the order of their tickets, each of which came back once.
#[track_caller]
pub(crate) fn run<T: Ord>(
    engine: &mut Engine,
    tasks: impl IntoIterator<Item = Task<T>>,
) -> Vec<(T, Answers)> {
    let mut queue = Queue::new(tasks);
    let count = queue.waiting.len();
    engine.run(&mut queue);
    assert!(queue.waiting.is_empty(), "the engine left tasks behind");
    assert_eq!(queue.done.len(), count, "a task was not done exactly once");
    queue.done.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert!(
        queue.done.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "a ticket came back twice"
    );
    queue.done
}

/// The answers to one task that has the engine for itself.
#[track_caller]
pub(crate) fn run_one(engine: &mut Engine, boards: &[Board], options: Options) -> Answers {
    let [(_, answers)] = <[_; 1]>::try_from(run(engine, [task(0, boards, options)]))
        .unwrap_or_else(|_| {
            unreachable!("one task has one answer");
        });
    answers
}

/// What the single-board solver says.
pub(crate) fn alone(board: &Board, options: Options) -> (Outcome, Vec<Board>) {
    let mut solutions = Vec::new();
    let outcome = Solver::new().solve(board, options, &CancelFlag::new(), &mut solutions);
    (outcome, solutions)
}

/// The answers that the single-board solver gives to a task.
pub(crate) fn all_alone(boards: &[Board], options: Options) -> Vec<(Outcome, Vec<Board>)> {
    boards.iter().map(|board| alone(board, options)).collect()
}

/// Answers are one a board, and the solutions beside them are theirs, each once, and no others.
#[track_caller]
pub(crate) fn assert_well_formed(boards: usize, answers: &Answers) {
    assert_eq!(answers.answers.len(), boards, "one answer a board");
    assert!(answers.get(boards).is_none());
    let mut owned = vec![0_u8; answers.solutions.len()];
    for (index, answer) in answers.answers.iter().enumerate() {
        assert!(answers.get(index).is_some(), "{answer:?}: past the end");
        let first = answer.first_solution as usize;
        for owner in &mut owned[first..][..answer.outcome.solution_count as usize] {
            *owner += 1;
        }
    }
    assert!(owned.iter().all(|&owners| owners == 1), "{owned:?}");
}

/// Answers are those of the single-board solver, node for node and solution for solution.
#[track_caller]
pub(crate) fn assert_same(
    level: Level,
    boards: &[Board],
    options: Options,
    answers: &Answers,
    expected: &[(Outcome, Vec<Board>)],
) {
    assert_well_formed(boards.len(), answers);
    assert_eq!(boards.len(), expected.len());
    for (index, (board, (outcome, solutions))) in boards.iter().zip(expected).enumerate() {
        assert_eq!(
            answers
                .get(index)
                .map(|(answer, found)| (answer.outcome, found)),
            Some((*outcome, solutions.as_slice())),
            "{level}, {options:?}, board {index} of {}: {board}",
            boards.len()
        );
    }
}

/// Whether `SUDOKU_EXHAUSTIVE=1` asks for everything, however long it takes.
pub(crate) fn exhaustive() -> bool {
    env::var_os("SUDOKU_EXHAUSTIVE").is_some_and(|value| value == "1")
}

/// The settings of a property test: the same boards in every run, unless `PROPTEST_RNG_SEED` or
/// `PROPTEST_CASES` ask for others.
pub(crate) fn reproducible(cases: u32) -> Config {
    let asked = Config::default();
    Config {
        cases: if asked.cases == 256 {
            cases
        } else {
            asked.cases
        },
        rng_seed: match asked.rng_seed {
            RngSeed::Random => RngSeed::Fixed(3),
            fixed @ RngSeed::Fixed(_) => fixed,
        },
        failure_persistence: None,
        // Each step of the shrinking solves up to a thousand boards three times.
        max_shrink_iters: 200,
        ..asked
    }
}
