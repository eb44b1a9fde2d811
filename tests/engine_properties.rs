//! What must hold for any boards in any company.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, LazyLock, Mutex},
    thread,
};

use common::{
    batch::{
        Queue, Task, all_alone, alone, assert_same, engines, options, reproducible, run, run_one,
        task,
    },
    sample::{self, Dice},
};
use proptest::{prelude::*, sample::select};
use sudoku_solver::{
    batch::{Engine, Level, Tasks},
    board::Board,
    solver::{CancelFlag, Options, Outcome, Verdict, answers::Answers},
};

/// Where a batch fills lanes exactly, or misses by one.
const SIZES: [usize; 16] = [
    0, 1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000,
];

/// Boards of every kind, easy and hard, each with what is needed to solve it.
static POOL: LazyLock<Vec<Board>> = LazyLock::new(|| {
    let mut boards: Vec<Board> = sample::SETS
        .iter()
        .flat_map(|set| sample::shared(set, 12))
        .collect();
    boards.extend(sample::generated(21, 60));
    let mut dice = Dice::new(22);
    for givens in [0, 2, 5, 9, 13, 17, 18, 19, 81] {
        let board = sample::with_givens(&mut dice, givens);
        boards.push(board);
        if givens > 0 {
            boards.push(sample::spoiled(&mut dice, &board));
        }
    }
    boards
});

fn any_options() -> impl Strategy<Value = Options> {
    let solutions = prop_oneof![4 => Just(2), 2 => Just(1), 2 => select(vec![3, 7, 40, 125])];
    let nodes =
        prop_oneof![4 => Just(1_000_000), 2 => select(vec![1, 2, 3, 10, 100]), 1 => 1..60_u32];
    (solutions, nodes).prop_map(|(solutions, nodes)| options(solutions, nodes))
}

fn any_level() -> impl Strategy<Value = Level> {
    let available: Vec<Level> = engines().map(|engine| engine.level()).collect();
    select(available)
}

fn any_boards() -> impl Strategy<Value = Vec<Board>> {
    let size = prop_oneof![1 => select(SIZES.to_vec()), 1 => 0..40_usize];
    size.prop_flat_map(|size| proptest::collection::vec(select(POOL.clone()), size))
}

/// Boards cut into tasks anywhere, each task with its own options.
fn any_tasks() -> impl Strategy<Value = Vec<(Vec<Board>, Options)>> {
    let pieces = proptest::collection::vec((0..400_usize, any_options()), 0..12);
    (any_boards(), pieces, any_options()).prop_map(|(boards, pieces, last)| {
        let mut rest = boards.as_slice();
        let mut tasks = Vec::new();
        for (size, options) in pieces {
            let (piece, behind) = rest.split_at(size.min(rest.len()));
            tasks.push((piece.to_vec(), options));
            rest = behind;
        }
        tasks.push((rest.to_vec(), last));
        tasks
    })
}

type Expected = Vec<(Outcome, Vec<Board>)>;

fn expected(tasks: &[(Vec<Board>, Options)]) -> Vec<Expected> {
    tasks
        .iter()
        .map(|(boards, options)| all_alone(boards, *options))
        .collect()
}

fn new_engine(level: Level) -> Engine {
    engines().find(|engine| engine.level() == level).unwrap()
}

/// One engine a level that has seen everything that went before.
fn used_engine<R>(level: Level, work: impl FnOnce(&mut Engine) -> R) -> R {
    static USED: LazyLock<Mutex<Vec<Engine>>> = LazyLock::new(|| Mutex::new(engines().collect()));
    // A test that failed leaves a poisoned lock; the engine behind it is still to give right answers.
    let mut used = USED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    work(
        used.iter_mut()
            .find(|engine| engine.level() == level)
            .unwrap(),
    )
}

/// Runs the tasks in an engine and compares every answer.
fn assert_run(engine: &mut Engine, tasks: &[(Vec<Board>, Options)], expected: &[Expected]) {
    let queued = tasks
        .iter()
        .enumerate()
        .map(|(ticket, (boards, options))| task(ticket, boards, *options));
    for (ticket, answers) in run(engine, queued) {
        let (boards, options) = &tasks[ticket];
        assert_same(
            engine.level(),
            boards,
            *options,
            &answers,
            &expected[ticket],
        );
    }
}

/// Tasks that several engines draw from one queue.
struct Counter<'a> {
    queue: &'a Mutex<Queue<usize>>,
}

impl Tasks for Counter<'_> {
    type Task = Task<usize>;

    fn next(&mut self) -> Option<Task<usize>> {
        self.queue.lock().unwrap().next()
    }

    fn done(&mut self, task: Task<usize>, answers: Answers) {
        self.queue.lock().unwrap().done(task, answers);
    }
}

proptest! {
    #![proptest_config(reproducible(150))]

    /// Nor on the size of the batch, where it is cut, the options of others, and what the engine did
    /// before.
    #[test]
    fn answers_do_not_depend_on_neighbours(level in any_level(), tasks in any_tasks()) {
        let expected = expected(&tasks);
        assert_run(&mut new_engine(level), &tasks, &expected);
        used_engine(level, |engine| assert_run(engine, &tasks, &expected));
    }

    #[test]
    fn answers_do_not_depend_on_place(
        level in any_level(),
        boards in any_boards(),
        options in any_options(),
        seed in any::<u64>(),
    ) {
        let mut shuffled = boards.clone();
        let mut dice = Dice::new(seed);
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, dice.below(i + 1));
        }
        let tasks = [(boards, options), (shuffled, options)];
        let expected = expected(&tasks);
        used_engine(level, |engine| {
            assert_run(engine, &tasks[..1], &expected[..1]);
            assert_run(engine, &tasks[1..], &expected[1..]);
            assert_run(engine, &tasks, &expected);
        });
    }

    /// One board of many solutions or many nodes beside others that end sooner or later.
    #[test]
    fn answers_do_not_depend_on_who_shares_the_lanes(
        level in any_level(),
        board in select(POOL.clone()),
        options in any_options(),
        easy in 0..700_usize,
        others in proptest::collection::vec((select(POOL.clone()), any_options()), 0..4),
    ) {
        let easy_board = POOL[POOL.len() - 1];
        let mut tasks = vec![(vec![board], options), (vec![easy_board; easy], options)];
        tasks.extend(others.into_iter().map(|(board, options)| (vec![board], options)));
        let expected = expected(&tasks);
        used_engine(level, |engine| assert_run(engine, &tasks, &expected));
    }
}

proptest! {
    #![proptest_config(reproducible(40))]

    #[test]
    fn answers_do_not_depend_on_the_number_of_engines(
        threads in 1..5_usize,
        levels in proptest::collection::vec(any_level(), 4),
        tasks in any_tasks(),
    ) {
        let expected = expected(&tasks);
        let queue = Mutex::new(Queue::new(tasks.iter().enumerate().map(
            |(ticket, (boards, options))| task(ticket, boards, *options),
        )));
        thread::scope(|scope| {
            for level in &levels[..threads] {
                scope.spawn(|| new_engine(*level).run(&mut Counter { queue: &queue }));
            }
        });
        let queue = queue.into_inner().unwrap();
        prop_assert!(queue.waiting.is_empty());
        let tickets: HashSet<usize> = queue.done.iter().map(|(ticket, _)| *ticket).collect();
        prop_assert_eq!(tickets.len(), tasks.len());
        prop_assert_eq!(queue.done.len(), tasks.len());
        for (ticket, answers) in &queue.done {
            let (boards, options) = &tasks[*ticket];
            assert_same(levels[0], boards, *options, answers, &expected[*ticket]);
        }
    }

    /// A task cancelled at some time leaves nothing behind in the engine.
    #[test]
    fn a_cancelled_task_leaves_no_trace(
        level in any_level(),
        tasks in any_tasks(),
        cancelled in any_boards(),
        after in 0..12_usize,
    ) {
        let expected = expected(&tasks);
        let options = options(125, 1_000_000);
        used_engine(level, |engine| {
            let victim = task(usize::MAX, &cancelled, options);
            let mut queue = CancelAt {
                flag: Arc::clone(&victim.cancel),
                at: after,
                asked: 0,
                queue: Queue::new([victim]),
            };
            queue.queue.waiting.extend(tasks.iter().enumerate().map(
                |(ticket, (boards, options))| task(ticket, boards, *options),
            ));
            engine.run(&mut queue);
            assert_eq!(queue.queue.done.len(), tasks.len() + 1);
            for (ticket, answers) in &queue.queue.done {
                if let Some((boards, options)) = tasks.get(*ticket) {
                    assert_same(level, boards, *options, answers, &expected[*ticket]);
                }
            }
            assert_run(engine, &tasks, &expected);
        });
    }
}

/// Raises a flag when asked for the next task for the `at`-th time.
struct CancelAt {
    flag: Arc<CancelFlag>,
    at: usize,
    asked: usize,
    queue: Queue<usize>,
}

impl Tasks for CancelAt {
    type Task = Task<usize>;

    fn next(&mut self) -> Option<Task<usize>> {
        if self.asked == self.at {
            self.flag.cancel();
        }
        self.asked += 1;
        self.queue.next()
    }

    fn done(&mut self, task: Task<usize>, answers: Answers) {
        self.queue.done(task, answers);
    }
}

/// A change of a board that keeps its solutions, changed likewise.
#[derive(Debug)]
struct Symmetry {
    digits: [usize; 9],
    rows: Vec<usize>,
    columns: Vec<usize>,
    transpose: bool,
}

impl Symmetry {
    fn new(seed: u64) -> Symmetry {
        let mut dice = Dice::new(seed);
        let digits = dice.shuffled();
        let mut lines = || -> Vec<usize> {
            let outer: [usize; 3] = dice.shuffled();
            outer
                .into_iter()
                .flat_map(|three| dice.shuffled::<3>().map(|line| 3 * three + line))
                .collect()
        };
        let (rows, columns) = (lines(), lines());
        Symmetry {
            digits,
            rows,
            columns,
            transpose: dice.below(2) == 0,
        }
    }

    fn apply(&self, board: &Board) -> Board {
        let value = |cell: usize| {
            let (row, column) = (self.rows[cell / 9], self.columns[cell % 9]);
            let from = if self.transpose {
                9 * column + row
            } else {
                9 * row + column
            };
            match board.values()[from] {
                0 => 0,
                digit => u8::try_from(self.digits[usize::from(digit) - 1] + 1).unwrap(),
            }
        };
        Board::new(std::array::from_fn(value)).unwrap()
    }
}

proptest! {
    #![proptest_config(reproducible(30))]

    #[test]
    fn a_board_turned_and_relabelled_has_its_solutions_turned_and_relabelled(
        level in any_level(),
        boards in proptest::collection::vec(select(POOL.clone()), 1..40),
        seed in any::<u64>(),
    ) {
        let options = options(125, 1_000_000);
        let symmetry = Symmetry::new(seed);
        let turned: Vec<Board> = boards.iter().map(|board| symmetry.apply(board)).collect();
        let (plain, other) = used_engine(level, |engine| {
            (run_one(engine, &boards, options), run_one(engine, &turned, options))
        });
        for (index, board) in boards.iter().enumerate() {
            let ((plain, found), (other, found_turned)) =
                (plain.get(index).unwrap(), other.get(index).unwrap());
            prop_assert_eq!(plain.outcome.verdict, other.outcome.verdict, "{}", board);
            prop_assert_eq!(plain.outcome.solution_count, other.outcome.solution_count, "{}", board);
            if plain.outcome.solution_count < options.solution_limit {
                let found: HashSet<Board> = found.iter().map(|grid| symmetry.apply(grid)).collect();
                prop_assert_eq!(found, found_turned.iter().copied().collect(), "{}", board);
            }
        }
    }

    #[test]
    fn removing_a_given_never_removes_a_solution(
        level in any_level(),
        boards in proptest::collection::vec((select(POOL.clone()), 0..81_usize), 1..40),
    ) {
        let options = options(1000, 1_000_000);
        let (boards, fewer): (Vec<Board>, Vec<Board>) = boards
            .into_iter()
            .filter_map(|(board, choice)| {
                let mut values = *board.values();
                let givens: VecDeque<usize> = (0..81).filter(|&cell| values[cell] != 0).collect();
                values[*givens.get(choice % givens.len().max(1))?] = 0;
                Some((board, Board::new(values).unwrap()))
            })
            .unzip();
        let (before, after) = used_engine(level, |engine| {
            (run_one(engine, &boards, options), run_one(engine, &fewer, options))
        });
        for (index, board) in boards.iter().enumerate() {
            let ((_, before), (answer, after)) =
                (before.get(index).unwrap(), after.get(index).unwrap());
            prop_assert!(before.len() <= after.len(), "{}", board);
            if answer.outcome.verdict != Verdict::Undecided && after.len() < 1000 {
                let after: HashSet<&Board> = after.iter().collect();
                prop_assert!(before.iter().all(|grid| after.contains(grid)), "{}", board);
            }
        }
    }
}

#[test]
fn every_batch_size_around_the_lanes() {
    let options = Options::default();
    for mut engine in engines() {
        for size in SIZES {
            let boards: Vec<Board> = POOL.iter().copied().cycle().take(size).collect();
            let answers = run_one(&mut engine, &boards, options);
            let expected: Vec<_> = boards.iter().map(|board| alone(board, options)).collect();
            assert_same(engine.level(), &boards, options, &answers, &expected);
        }
    }
}
