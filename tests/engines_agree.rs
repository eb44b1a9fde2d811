//! Both engines, at every level of this CPU, and the plain counter give the same answer to every
//! board: verdict, solutions in order, node count.

#![expect(
    clippy::print_stderr,
    reason = "what was compared, or not, must be seen in the output"
)]

mod common;

use std::{collections::HashSet, env, time::Instant};

use common::{
    batch::{all_alone, assert_same, engines, options, run, run_one, task},
    cases::{self, CaseVerdict},
    oracle,
    sample::{self, Dice},
};
use sudoku_solver::{
    batch::{Engine, Level},
    board::{Board, check, text},
    solver::{Options, Outcome, Verdict},
};

const SOLUTION_LIMITS: [u32; 6] = [1, 2, 3, 7, 125, Options::SOLUTION_LIMIT_MAX];
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
    boards.extend(sparse());
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

/// All levels, the single-board solver and the counter on the same boards.
fn assert_all_agree(boards: &[Board], limit: u32) {
    let options = options(limit, 1_000_000);
    let expected = all_alone(boards, options);
    for (board, expected) in boards.iter().zip(&expected) {
        assert_counted(board, limit, expected);
    }
    for mut engine in engines() {
        let answers = run_one(&mut engine, boards, options);
        assert_same(engine.level(), boards, options, &answers, &expected);
    }
}

#[test]
fn on_a_sample_of_every_shared_set() {
    for set in sample::SETS {
        let boards = sample::shared(set, 300);
        assert_all_agree(&boards, 2);
        assert_all_agree(&boards, 1);
    }
}

#[test]
fn on_generated_boards() {
    let boards = sample::generated(3, 600);
    assert_all_agree(&boards, 2);
    assert_all_agree(&boards, 60);
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
    assert_all_agree(&sparse(), 2);
    assert_all_agree(&sparse(), 500);
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
        }
    }
}

/// A board alone has its subtrees shared out over all the idle lanes.
#[test]
fn alone_in_the_engine_under_every_pair_of_limits() {
    let mut boards = sparse();
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

/// Every limit from one to past the whole search, so that each node and each solution of a shared
/// search is the last one once.
#[test]
fn alone_in_the_engine_at_every_limit_there_is() {
    let mut boards = sample::shared("forum_hardest_1106", 2);
    boards.extend(sample::shared("serg_multiple", 2));
    let mut dice = Dice::new(11);
    boards.push(sample::with_givens(&mut dice, 19));
    for board in &boards {
        let (whole, _) = common::batch::alone(board, options(10_000, 1_000_000));
        for mut engine in engines() {
            for limit in (1..=whole.nodes.saturating_add(1)).take(400) {
                assert_alone(&mut engine, board, options(10_000, limit));
                assert_alone(&mut engine, board, options(2, limit));
            }
            for limit in (1..=whole.solution_count + 1).take(400) {
                assert_alone(&mut engine, board, options(limit, 1_000_000));
                assert_alone(&mut engine, board, options(limit, whole.nodes / 2 + 1));
            }
            for limit in whole.nodes.saturating_sub(3).max(1)..=whole.nodes + 3 {
                assert_alone(&mut engine, board, options(10_000, limit));
            }
        }
    }
}

#[track_caller]
fn assert_alone(engine: &mut Engine, board: &Board, options: Options) {
    let board = [*board];
    let answers = run_one(engine, &board, options);
    let expected = all_alone(&board, options);
    assert_same(engine.level(), &board, options, &answers, &expected);
}

/// Everything there is; takes minutes in a release build.
#[test]
fn exhaustive() {
    if env::var_os("SUDOKU_EXHAUSTIVE").is_none_or(|value| value != "1") {
        eprintln!("not run: set SUDOKU_EXHAUSTIVE=1");
        return;
    }
    for set in sample::SETS {
        let boards = sample::shared(set, usize::MAX);
        for limit in [2, 1] {
            exhaust(set, &boards, options(limit, 1_000_000));
        }
        exhaust(set, &boards, options(40, 12));
    }
}

/// Compares all levels, the single-board solver and, where nodes are not the limit, the counter.
fn exhaust(set: &str, boards: &[Board], options: Options) {
    let start = Instant::now();
    let expected = all_alone(boards, options);
    let counted = options.node_limit == 1_000_000 && options.solution_limit == 2;
    if counted {
        for (board, expected) in boards.iter().zip(&expected) {
            assert_counted(board, options.solution_limit, expected);
        }
    }
    let mut levels: Vec<Level> = Vec::new();
    for mut engine in engines() {
        let answers = run_one(&mut engine, boards, options);
        assert_same(engine.level(), boards, options, &answers, &expected);
        levels.push(engine.level());
    }
    let nodes: u64 = expected
        .iter()
        .map(|(outcome, _)| u64::from(outcome.nodes))
        .sum();
    eprintln!(
        "{set}: {} boards, {nodes} nodes, {options:?}: solver{} and {levels:?} agree, {:.1} s",
        boards.len(),
        if counted { ", counter" } else { "" },
        start.elapsed().as_secs_f64()
    );
}
