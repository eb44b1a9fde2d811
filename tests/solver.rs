//! The solver against the plain counters, and its limits one by one.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use std::{collections::HashSet, sync::mpsc, thread};

use common::{
    oracle,
    sample::{self, Dice},
};
use proptest::prelude::*;
use sudoku_solver::{
    board::{Board, check},
    solver::{CancelFlag, Options, Outcome, Solver, Verdict},
};

/// One unique board that needs a search of some length.
const HARD: &str =
    "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..";

fn solve(board: &Board, options: Options) -> (Outcome, Vec<Board>) {
    let mut solutions = Vec::new();
    let outcome = Solver::new().solve(board, options, &CancelFlag::new(), &mut solutions);
    (outcome, solutions)
}

fn options(solution_limit: u32) -> Options {
    Options {
        solution_limit,
        ..Options::default()
    }
}

/// The verdict of a search that was not cut off by nodes, from what an exact counter found.
fn verdict(board: &Board, found: usize, limit: u32) -> Verdict {
    match (found, limit) {
        (0, _) if !check::clashes(board).is_empty() => Verdict::ClashingGivens,
        (0, _) => Verdict::Unsolvable,
        (1, 1) => Verdict::Solved,
        (1, _) => Verdict::Unique,
        _ => Verdict::Multiple,
    }
}

fn sorted(mut boards: Vec<Board>) -> Vec<Board> {
    boards.sort_by_key(|board| *board.values());
    boards
}

/// Compares with an oracle: the same verdict, and the same solutions where all were asked for.
#[track_caller]
fn agrees(board: &Board, limit: u32, oracle: fn(&Board, usize) -> Vec<Board>) {
    let expected = oracle(board, usize::try_from(limit).unwrap());
    let (outcome, solutions) = solve(board, options(limit));
    assert_eq!(
        outcome.verdict,
        verdict(board, expected.len(), limit),
        "{board}"
    );
    assert_eq!(
        usize::try_from(outcome.solution_count).unwrap(),
        expected.len(),
        "{board}"
    );
    assert_eq!(solutions.len(), expected.len(), "{board}");
    assert!(
        solutions
            .iter()
            .all(|solution| check::is_solution(board, solution)),
        "{board}"
    );
    assert_eq!(
        HashSet::<&Board>::from_iter(&solutions).len(),
        solutions.len(),
        "{board}: twice"
    );
    if expected.len() < usize::try_from(limit).unwrap() {
        assert_eq!(sorted(solutions), sorted(expected), "{board}");
    }
}

#[test]
fn agrees_with_the_counter_on_the_shared_sets() {
    for set in sample::SETS {
        for board in sample::shared(set, 60) {
            agrees(&board, 2, oracle::fewest_candidates_first);
        }
    }
}

#[test]
fn agrees_with_the_counter_on_generated_boards() {
    let mut seen = HashSet::new();
    for board in sample::generated(1, 600) {
        for limit in [1, 2, 60] {
            agrees(&board, limit, oracle::fewest_candidates_first);
        }
        seen.insert(solve(&board, options(60)).0.verdict);
    }
    let all = [
        Verdict::Unique,
        Verdict::Multiple,
        Verdict::Unsolvable,
        Verdict::ClashingGivens,
    ];
    assert_eq!(seen, HashSet::from(all), "the sample is one-sided");
}

#[test]
fn agrees_with_the_classic_backtracker() {
    let mut dice = Dice::new(2);
    for _ in 0..100 {
        let board = sample::with_givens(&mut dice, 30);
        agrees(&board, 20, oracle::in_reading_order);
        agrees(
            &sample::spoiled(&mut dice, &board),
            20,
            oracle::in_reading_order,
        );
    }
}

#[test]
fn full_boards() {
    let full = sample::grid(&mut Dice::new(3));
    assert_eq!(
        solve(&full, options(2)),
        (
            Outcome {
                verdict: Verdict::Unique,
                solution_count: 1,
                nodes: 1
            },
            vec![full]
        )
    );
    let spoiled = sample::spoiled(&mut Dice::new(3), &full);
    assert_eq!(
        solve(&spoiled, options(2)),
        (
            Outcome {
                verdict: Verdict::ClashingGivens,
                solution_count: 0,
                nodes: 0
            },
            vec![]
        )
    );
}

#[test]
fn the_empty_board_has_as_many_solutions_as_one_may_ask_for() {
    for limit in [1, 2, Options::SOLUTION_LIMIT_MAX] {
        let (outcome, solutions) = solve(&Board::EMPTY, options(limit));
        let verdict = if limit == 1 {
            Verdict::Solved
        } else {
            Verdict::Multiple
        };
        assert_eq!((outcome.verdict, outcome.solution_count), (verdict, limit));
        assert!(
            solutions
                .iter()
                .all(|solution| check::is_solution(&Board::EMPTY, solution))
        );
        let distinct = HashSet::<Board>::from_iter(solutions);
        assert_eq!(distinct.len(), usize::try_from(limit).unwrap());
    }
}

/// At its number of solutions a search stops, one beyond it the search proves there are no more.
#[test]
fn solution_limit_at_the_bound_and_one_past_it() {
    let mut tried = 0;
    for board in sample::generated(4, 400) {
        let (whole, all) = solve(&board, options(Options::SOLUTION_LIMIT_MAX));
        if !(2..200).contains(&all.len()) {
            continue;
        }
        tried += 1;
        for limit in 1..=all.len() + 1 {
            let (outcome, some) = solve(&board, options(u32::try_from(limit).unwrap()));
            assert_eq!(
                some,
                all[..limit.min(all.len())],
                "a prefix of all, {board}"
            );
            assert_eq!(outcome.nodes == whole.nodes, outcome.nodes >= whole.nodes);
            assert!(outcome.nodes <= whole.nodes);
        }
        let past = solve(&board, options(u32::try_from(all.len()).unwrap() + 1)).0;
        assert_eq!(past, whole);
    }
    assert!(tried > 20, "the sample has too few such boards: {tried}");
}

#[test]
fn node_limit_at_the_bound_and_one_past_it() {
    let board = sample::board(HARD);
    let (whole, solutions) = solve(&board, options(2));
    assert_eq!(whole.verdict, Verdict::Unique);
    assert!(whole.nodes > 20, "too easy for this test");
    for node_limit in 1..=whole.nodes + 1 {
        let (outcome, found) = solve(
            &board,
            Options {
                node_limit,
                solution_limit: 2,
            },
        );
        if node_limit < whole.nodes {
            assert_eq!(
                (outcome.verdict, outcome.nodes),
                (Verdict::Undecided, node_limit)
            );
            assert_eq!(found, solutions[..found.len()], "what was found is kept");
            assert_eq!(
                usize::try_from(outcome.solution_count).unwrap(),
                found.len()
            );
        } else {
            assert_eq!((outcome, &found), (whole, &solutions));
        }
    }
}

/// A limit reached by the node that completes the answer does not make it undecided.
#[test]
fn the_last_solution_may_come_with_the_last_node() {
    let (whole, solutions) = solve(&Board::EMPTY, options(2));
    let just = Options {
        node_limit: whole.nodes,
        solution_limit: 2,
    };
    assert_eq!(solve(&Board::EMPTY, just), (whole, solutions.clone()));
    let short = Options {
        node_limit: whole.nodes - 1,
        solution_limit: 2,
    };
    let (outcome, found) = solve(&Board::EMPTY, short);
    assert_eq!(
        (outcome.verdict, found),
        (Verdict::Undecided, solutions[..1].to_vec())
    );
}

#[test]
fn clashing_givens_need_one_node_of_the_limit_and_report_none() {
    let mut values = [0; 81];
    (values[0], values[1]) = (1, 1);
    let board = Board::new(values).unwrap();
    let (outcome, found) = solve(
        &board,
        Options {
            node_limit: 1,
            solution_limit: 1,
        },
    );
    assert_eq!(
        (outcome.verdict, outcome.nodes),
        (Verdict::ClashingGivens, 0)
    );
    assert!(found.is_empty());
}

#[test]
fn every_pair_of_equal_peers_clashes() {
    for (a, b) in (0..81).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let mut values = [0; 81];
        (values[a], values[b]) = (7, 7);
        let board = Board::new(values).unwrap();
        let expected = verdict(&board, usize::from(!check::has_clash(&board)), 1);
        assert_eq!(
            solve(&board, options(1)).0.verdict,
            expected,
            "cells {a} and {b}"
        );
    }
}

#[test]
fn a_raised_flag_stops_a_search_before_it_begins() {
    let (flag, mut solutions) = (CancelFlag::new(), Vec::new());
    flag.cancel();
    let outcome = Solver::new().solve(&Board::EMPTY, options(2), &flag, &mut solutions);
    assert_eq!(
        outcome,
        Outcome {
            verdict: Verdict::Cancelled,
            solution_count: 0,
            nodes: 0
        }
    );
    assert!(solutions.is_empty());
}

/// Solutions without end are searched for until another thread raises the flag.
#[test]
fn a_flag_raised_in_the_middle_stops_a_search() {
    let flag = CancelFlag::new();
    let endless = Options {
        solution_limit: u32::MAX,
        node_limit: 5_000_000,
    };
    let (started, wait) = mpsc::channel();
    let outcome = thread::scope(|scope| {
        let search = scope.spawn(|| {
            started.send(()).unwrap();
            Solver::new().solve(&Board::EMPTY, endless, &flag, &mut Vec::new())
        });
        wait.recv().unwrap();
        flag.cancel();
        search.join().unwrap()
    });
    assert_eq!(outcome.verdict, Verdict::Cancelled);
}

#[test]
fn a_solver_keeps_nothing_of_the_boards_before() {
    let mut used = Solver::new();
    let mut solutions = vec![Board::EMPTY];
    let cut_off = Options {
        solution_limit: 2,
        node_limit: 7,
    };
    used.solve(
        &sample::board(HARD),
        cut_off,
        &CancelFlag::new(),
        &mut Vec::new(),
    );
    for board in sample::generated(5, 100) {
        let before = solutions.clone();
        let outcome = used.solve(&board, options(5), &CancelFlag::new(), &mut solutions);
        let (fresh, found) = solve(&board, options(5));
        assert_eq!(outcome, fresh, "{board}");
        assert_eq!(solutions, [before, found].concat(), "appends, in order");
    }
}

/// A symmetry of the rules: rows, columns and digits renamed, perhaps transposed.
#[derive(Clone, Debug)]
struct Symmetry {
    rows: [usize; 9],
    columns: [usize; 9],
    digits: [u8; 9],
    transposed: bool,
}

impl Symmetry {
    fn new(dice: &mut Dice) -> Symmetry {
        let mut lines = || {
            let bands: [usize; 3] = dice.shuffled();
            let within: [[usize; 3]; 3] = [dice.shuffled(), dice.shuffled(), dice.shuffled()];
            std::array::from_fn(|line| bands[line / 3] * 3 + within[line / 3][line % 3])
        };
        let (rows, columns) = (lines(), lines());
        let digits = dice
            .shuffled()
            .map(|digit: usize| u8::try_from(digit + 1).unwrap());
        Symmetry {
            rows,
            columns,
            digits,
            transposed: dice.below(2) == 1,
        }
    }

    fn of(&self, board: &Board) -> Board {
        let values = std::array::from_fn(|cell| {
            let (row, column) = (self.rows[cell / 9], self.columns[cell % 9]);
            let from = if self.transposed {
                column * 9 + row
            } else {
                row * 9 + column
            };
            match board.values()[from] {
                0 => 0,
                digit => self.digits[usize::from(digit) - 1],
            }
        });
        Board::new(values).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn symmetries_carry_solutions_over(seed: u64, givens in 20_usize..60, spoil: bool) {
        let mut dice = Dice::new(seed);
        let mut board = sample::with_givens(&mut dice, givens);
        if spoil {
            board = sample::spoiled(&mut dice, &board);
        }
        let symmetry = Symmetry::new(&mut dice);
        let (outcome, solutions) = solve(&board, options(500));
        let (moved, found) = solve(&symmetry.of(&board), options(500));
        prop_assert_eq!(moved.verdict, outcome.verdict);
        prop_assert_eq!(moved.solution_count, outcome.solution_count);
        if solutions.len() < 500 {
            let expected = solutions.iter().map(|solution| symmetry.of(solution)).collect();
            prop_assert_eq!(sorted(found), sorted(expected));
        }
    }

    #[test]
    fn removing_a_given_never_removes_a_solution(seed: u64, givens in 24_usize..60) {
        let mut dice = Dice::new(seed);
        let board = sample::with_givens(&mut dice, givens);
        let mut values = *board.values();
        let cell = (0..81).filter(|&cell| values[cell] != 0).nth(dice.below(givens)).unwrap();
        values[cell] = 0;
        let before = solve(&board, options(500)).1;
        let after = solve(&Board::new(values).unwrap(), options(10_000)).1;
        if after.len() < 10_000 {
            prop_assert!(before.iter().all(|solution| after.contains(solution)));
        }
        prop_assert!(after.len() >= before.len());
    }
}

#[test]
fn four_equal_givens_in_a_rectangle_clash() {
    // Rows 8 and 9, columns 1 and 4: each can be "paired" with a box of its own.
    let text = "...............................................................9..9.....9..9.....";
    let (outcome, _) = solve(&sample::board(text), Options::default());
    assert_eq!(outcome.verdict, Verdict::ClashingGivens);
    assert_eq!(outcome.nodes, 0);
}
