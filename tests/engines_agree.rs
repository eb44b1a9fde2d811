//! Both engines, at every level of this CPU, and the plain counter give the same answer to every
//! board: verdict, solutions in order, node count.

#![expect(
    clippy::print_stderr,
    reason = "what was compared, or not, must be seen in the output"
)]

mod common;

use std::{collections::HashSet, time::Instant};

use common::{
    batch::{self, all_alone, alone, assert_same, engines, options, run, run_one, task},
    cases::{self, CaseVerdict},
    oracle,
    sample::{self, Dice},
};
use sudoku_solver::{
    batch::{Engine, Level, LevelSolver},
    board::{Board, check, text},
    solver::{CancelFlag, Options, Outcome, Verdict},
};

/// 17 givens, none of which clash; without bilocal guesses a search of a million nodes.
const UNSOLVABLE: &str =
    ".....5.8....6.1.43..........1.5........1.6...3.......553.....61........4.........";

const SOLUTION_LIMITS: [u32; 7] = [1, 2, 3, 7, 60, 125, Options::SOLUTION_LIMIT_MAX];
const NODE_LIMITS: [u32; 6] = [1, 2, 3, 10, 100, 1_000_000];

/// Every pair of limits.
fn matrix() -> impl Iterator<Item = Options> {
    SOLUTION_LIMITS
        .into_iter()
        .flat_map(|solutions| NODE_LIMITS.map(|nodes| options(solutions, nodes)))
}

/// Boards whose search is long, or has thousands of solutions, or both.
fn sparse() -> Vec<Board> {
    let mut dice = Dice::new(5);
    let mut boards = vec![Board::EMPTY];
    for givens in [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 15, 16, 17, 18, 19, 20] {
        let board = sample::with_givens(&mut dice, givens);
        boards.push(board);
        boards.push(sample::spoiled(&mut dice, &board));
    }
    boards
}

/// A few boards of every kind: the shared sets, generated ones, sparse ones, a solved one.
fn every_kind(of_each_set: usize) -> Vec<Board> {
    let mut boards: Vec<Board> = sample::SETS
        .iter()
        .flat_map(|set| sample::shared(set, of_each_set))
        .collect();
    boards.extend(sample::generated(7, 60));
    boards.extend(sparse().into_iter().step_by(4));
    boards.push(sample::grid(&mut Dice::new(8)));
    boards
}

/// The verdict that an exact count of up to `limit` solutions demands.
fn verdict(board: &Board, found: usize, limit: u32) -> Verdict {
    match (found, limit) {
        (0, _) if !check::clashes(board).is_empty() => Verdict::ClashingGivens,
        (0, _) => Verdict::Unsolvable,
        (1, 1) => Verdict::Solved,
        (1, _) => Verdict::Unique,
        _ => Verdict::Multiple,
    }
}

/// The outcome that was found is the one that an exact count demands.
#[track_caller]
fn assert_counted(board: &Board, limit: u32, (outcome, solutions): &(Outcome, Vec<Board>)) {
    let counted = oracle::fewest_candidates_first(board, limit as usize);
    assert_eq!(
        (outcome.verdict, outcome.solution_count as usize),
        (verdict(board, counted.len(), limit), counted.len()),
        "{board}"
    );
    let found: HashSet<&Board> = solutions.iter().collect();
    assert_eq!(found.len(), counted.len(), "a solution twice: {board}");
    if counted.len() < limit as usize {
        assert_eq!(found, counted.iter().collect(), "{board}");
    }
    assert!(
        solutions
            .iter()
            .all(|solution| check::is_solution(board, solution)),
        "{board}"
    );
}

/// All levels and the single-board solver on the same boards, the counter on every `counted`-th.
fn assert_all_agree(boards: &[Board], limit: u32, counted: usize) {
    let options = options(limit, 1_000_000);
    let expected = all_alone(boards, options);
    for (board, expected) in boards.iter().zip(&expected).step_by(counted) {
        assert_counted(board, limit, expected);
    }
    for mut engine in engines() {
        let answers = run_one(&mut engine, boards, options);
        assert_same(engine.level(), boards, options, &answers, &expected);
        assert_one_by_one(engine.level(), boards, options, &expected);
    }
}

/// The single-board solver says the same when it is compiled for a level.
fn assert_one_by_one(
    level: Level,
    boards: &[Board],
    options: Options,
    expected: &[(Outcome, Vec<Board>)],
) {
    let mut solver = LevelSolver::new(level);
    for (board, expected) in boards.iter().zip(expected) {
        let mut solutions = Vec::new();
        let outcome = solver.solve(board, options, &CancelFlag::new(), &mut solutions);
        assert_eq!((outcome, solutions), *expected, "{level}: {board}");
    }
}

#[test]
fn on_a_sample_of_every_shared_set() {
    for set in sample::SETS {
        let boards = sample::shared(set, 1500);
        assert_all_agree(&boards, 2, 100);
        assert_all_agree(&boards, 1, 100);
    }
}

#[test]
fn on_generated_boards() {
    let boards = sample::generated(3, 600);
    assert_all_agree(&boards, 2, 1);
    assert_all_agree(&boards, 60, 1);
    let seen: HashSet<Verdict> = all_alone(&boards, options(60, 1_000_000))
        .iter()
        .map(|(outcome, _)| outcome.verdict)
        .collect();
    let all = [
        Verdict::Unique,
        Verdict::Multiple,
        Verdict::Unsolvable,
        Verdict::ClashingGivens,
    ];
    assert_eq!(seen, HashSet::from(all), "the sample is one-sided");
}

#[test]
fn on_sparse_boards() {
    assert_all_agree(&sparse(), 2, 1);
    assert_all_agree(&sparse(), 500, 1);
}

#[test]
fn on_the_collected_cases() {
    let boards: Vec<_> = cases::load()
        .into_iter()
        .filter(|case| case.expected.verdict != CaseVerdict::ParseError)
        .map(|case| match text::parse(&case.input) {
            Ok(board) => (board, case),
            Err(error) => panic!("{}: {error}", case.id),
        })
        .collect();
    let only: Vec<Board> = boards.iter().map(|(board, _)| *board).collect();
    let expected = all_alone(&only, options(1000, 1_000_000));
    for mut engine in engines() {
        let answers = run_one(&mut engine, &only, options(1000, 1_000_000));
        let level = engine.level();
        assert_same(level, &only, options(1000, 1_000_000), &answers, &expected);
        for (answer, (board, case)) in answers.answers.iter().zip(&boards) {
            let right = match case.expected.verdict {
                CaseVerdict::Unique => Verdict::Unique,
                CaseVerdict::Multiple => Verdict::Multiple,
                CaseVerdict::None => Verdict::Unsolvable,
                CaseVerdict::Invalid | CaseVerdict::ParseError => Verdict::ClashingGivens,
            };
            let id = &case.id;
            assert_eq!(answer.outcome.verdict, right, "{level}, {id}: {board}");
            assert_eq!(
                answer.outcome.solution_count, case.expected.solutions,
                "{level}, {id}: {board}"
            );
            if let Some(grid) = &case.expected.solution {
                let found = &answers.solutions[answer.first_solution as usize];
                assert_eq!(&found.to_string(), grid, "{level}, {id}: {board}");
            }
        }
    }
}

#[test]
fn under_every_pair_of_limits_in_one_run() {
    let boards = every_kind(8);
    let expected: Vec<_> = matrix()
        .map(|options| all_alone(&boards, options))
        .collect();
    for mut engine in engines() {
        let tasks = matrix()
            .enumerate()
            .map(|(ticket, options)| task(ticket, &boards, options));
        for ((ticket, answers), options) in run(&mut engine, tasks).into_iter().zip(matrix()) {
            let expected = &expected[ticket];
            assert_same(engine.level(), &boards, options, &answers, expected);
            assert_one_by_one(engine.level(), &boards, options, expected);
        }
    }
}

/// A board alone has its subtrees shared out over all the idle lanes.
#[test]
fn alone_in_the_engine_under_every_pair_of_limits() {
    let mut boards: Vec<Board> = sparse().into_iter().step_by(5).collect();
    for set in ["17_clue", "magictour_top1465", "forum_hardest_1106"] {
        boards.extend(sample::shared(set, 12));
    }
    boards.extend(sample::shared("serg_multiple", 20));
    for options in matrix() {
        let expected = all_alone(&boards, options);
        for mut engine in engines() {
            for (board, expected) in boards.chunks(1).zip(expected.chunks(1)) {
                let answers = run_one(&mut engine, board, options);
                assert_same(engine.level(), board, options, &answers, expected);
            }
        }
    }
}

/// Limits from one to past the whole search, so that nodes and solutions of every part of a shared
/// search are the last one once.
#[test]
fn alone_in_the_engine_at_limits_all_along_the_search() {
    let mut boards = sample::shared("forum_hardest_1106", 2);
    boards.extend(sample::shared("serg_multiple", 2));
    let mut dice = Dice::new(11);
    boards.push(sample::with_givens(&mut dice, 19));
    boards.push(sample::board(UNSOLVABLE));
    for board in &boards {
        // More solutions than that, and no lanes share a search.
        let most = 64;
        let (whole, _) = alone(board, options(most, 1_000_000));
        let nodes = steps(whole.nodes);
        let solutions = steps(whole.solution_count);
        for mut engine in engines() {
            for &limit in &nodes {
                assert_alone(&mut engine, board, options(most, limit));
                assert_alone(&mut engine, board, options(2, limit));
            }
            for &limit in solutions.iter().filter(|limit| **limit <= most) {
                assert_alone(&mut engine, board, options(limit, 1_000_000));
                assert_alone(&mut engine, board, options(limit, whole.nodes / 2 + 1));
            }
        }
    }
}

/// Some eighty numbers from 1 on, the last ones around `end`.
fn steps(end: u32) -> Vec<u32> {
    let middle = (1..=end.saturating_sub(4)).step_by(end as usize / 80 + 1);
    middle
        .chain(end.saturating_sub(3).max(1)..=end + 3)
        .collect()
}

#[track_caller]
fn assert_alone(engine: &mut Engine, board: &Board, options: Options) {
    let board = [*board];
    let answers = run_one(engine, &board, options);
    let expected = all_alone(&board, options);
    assert_same(engine.level(), &board, options, &answers, &expected);
}

/// Everything there is; takes some seven minutes in a release build, most of it in the counter.
#[test]
fn exhaustive() {
    if !batch::exhaustive() {
        eprintln!("not run: set SUDOKU_EXHAUSTIVE=1");
        return;
    }
    for set in sample::SETS {
        let boards = sample::shared(set, usize::MAX);
        // The counter takes a twentieth of a second for a board of 17 givens.
        let counted = if set == "17_clue" { 8 } else { 1 };
        exhaust(set, &boards, options(2, 1_000_000), Some(counted));
        exhaust(set, &boards, options(1, 1_000_000), None);
        exhaust(set, &boards, options(40, 12), None);
    }
}

/// Compares all levels and the single-board solver on every board, and the counter on every
/// `counted`-th.
fn exhaust(set: &str, boards: &[Board], options: Options, counted: Option<usize>) {
    let start = Instant::now();
    let expected = all_alone(boards, options);
    let mut levels: Vec<Level> = Vec::new();
    for mut engine in engines() {
        let answers = run_one(&mut engine, boards, options);
        assert_same(engine.level(), boards, options, &answers, &expected);
        assert_one_by_one(engine.level(), boards, options, &expected);
        levels.push(engine.level());
    }
    let agreed = start.elapsed();
    let mut judged = 0;
    if let Some(counted) = counted {
        for (board, expected) in boards.iter().zip(&expected).step_by(counted) {
            assert_counted(board, options.solution_limit, expected);
            judged += 1;
        }
    }
    let nodes: u64 = expected
        .iter()
        .map(|(outcome, _)| u64::from(outcome.nodes))
        .sum();
    eprintln!(
        "{set}: {} boards, {nodes} nodes, {options:?}: solver and {levels:?} agree ({:.1} s); \
         the counter, asked for {judged} of them, too ({:.1} s)",
        boards.len(),
        agreed.as_secs_f64(),
        start.elapsed().saturating_sub(agreed).as_secs_f64()
    );
}
