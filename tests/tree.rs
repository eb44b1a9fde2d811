//! The solver against a plain restatement of its contract: closure, branch rule and counting of
//! `solver::tree`, told again in loops over units and peers and shared with no engine.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::{
    oracle,
    sample::{self, Dice},
};
use sudoku_solver::{
    board::{
        Board, check,
        units::{PEERS, Unit},
    },
    solver::{
        CancelFlag, Options, Solver,
        closure::{Closed, close},
        planes::Planes,
        tree,
    },
};

/// The candidates of each cell, bit 0 for digit 1.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Candidates([u16; 81]);

/// One use of one rule: a cell for naked singles, a unit for hidden singles, two units that overlap
/// for locked candidates (all places of a digit in the first are also in the second).
#[derive(Clone, Copy)]
enum Step {
    NakedSingle(u8),
    HiddenSingle(Unit),
    LockedCandidates(Unit, Unit),
}

fn all_steps() -> Vec<Step> {
    let mut steps: Vec<_> = (0..81).map(Step::NakedSingle).collect();
    steps.extend(Unit::ALL.map(Step::HiddenSingle));
    for one in Unit::ALL {
        for other in Unit::ALL {
            let overlap = one
                .cells()
                .iter()
                .filter(|cell| other.cells().contains(cell))
                .count();
            if overlap == 3 {
                steps.push(Step::LockedCandidates(one, other));
            }
        }
    }
    assert_eq!(
        steps.len(),
        81 + 27 + 27 * 6 - 54,
        "9 boxes with 6 lines each, both ways"
    );
    steps
}

impl Candidates {
    fn new(board: &Board) -> Candidates {
        Candidates(
            board
                .values()
                .map(|v| if v == 0 { 0o777 } else { 1 << (v - 1) }),
        )
    }

    fn at(&self, cell: u8) -> u16 {
        self.0[usize::from(cell)]
    }

    fn count(&self, cell: u8) -> u32 {
        self.at(cell).count_ones()
    }

    fn places(&self, unit: Unit, digit: u8) -> Vec<u8> {
        unit.cells()
            .iter()
            .copied()
            .filter(|&cell| self.at(cell) & 1 << digit != 0)
            .collect()
    }

    fn remove(&mut self, cell: u8, digits: u16) {
        self.0[usize::from(cell)] &= !digits;
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::NakedSingle(cell) if self.count(cell) == 1 => {
                PEERS[usize::from(cell)]
                    .iter()
                    .for_each(|&peer| self.remove(peer, self.at(cell)));
            }
            Step::NakedSingle(_) => {}
            Step::HiddenSingle(unit) => {
                for digit in 0..9 {
                    if let [cell] = self.places(unit, digit)[..] {
                        self.remove(cell, !(1 << digit));
                    }
                }
            }
            Step::LockedCandidates(one, other) => {
                for digit in 0..9 {
                    if self
                        .places(one, digit)
                        .iter()
                        .all(|cell| other.cells().contains(cell))
                    {
                        let rest = other
                            .cells()
                            .iter()
                            .filter(|cell| !one.cells().contains(cell));
                        rest.for_each(|&cell| self.remove(cell, 1 << digit));
                    }
                }
            }
        }
    }

    /// Takes the steps in this order, again and again until none changes anything.
    fn close(&mut self, steps: &[Step]) -> Closed {
        loop {
            let before = *self;
            for &step in steps {
                self.step(step);
            }
            if *self == before {
                break;
            }
        }
        let placeless = |unit: &Unit| (0..9).any(|digit| self.places(*unit, digit).is_empty());
        if (0..81).any(|cell| self.count(cell) == 0) || Unit::ALL.iter().any(placeless) {
            Closed::Contradiction
        } else if (0..81).all(|cell| self.count(cell) == 1) {
            Closed::Solved
        } else {
            Closed::Open
        }
    }

    fn branch(&self) -> (u8, u16) {
        let around = |cell: u8, holds: fn(u32) -> bool| -> u32 {
            let peers = PEERS[usize::from(cell)].iter();
            peers.map(|&peer| u32::from(holds(self.count(peer)))).sum()
        };
        let score =
            |cell: u8| 2 * around(cell, |count| count == 2) + around(cell, |count| count > 1);
        let bivalue = (0..81).filter(|&cell| self.count(cell) == 2);
        let unsolved = (0..81).filter(|&cell| self.count(cell) > 1);
        // Of equals `max_by_key` takes the last and `min_by_key` the first.
        let cell = bivalue.rev().max_by_key(|&cell| score(cell));
        let cell = cell
            .or_else(|| unsolved.min_by_key(|&cell| self.count(cell)))
            .unwrap();
        (cell, self.at(cell) & self.at(cell).wrapping_neg())
    }

    /// Searches below this node; `false` when the limit of solutions is reached.
    fn walk(
        mut self,
        steps: &[Step],
        limit: usize,
        nodes: &mut u32,
        found: &mut Vec<Board>,
    ) -> bool {
        *nodes += 1;
        match self.close(steps) {
            Closed::Contradiction => true,
            Closed::Solved => {
                let values = self
                    .0
                    .map(|digit| u8::try_from(digit.trailing_zeros() + 1).unwrap());
                found.extend(Board::new(values));
                found.len() < limit
            }
            Closed::Open => {
                let (cell, digit) = self.branch();
                let (mut first, mut second) = (self, self);
                first.remove(cell, !digit);
                second.remove(cell, digit);
                first.walk(steps, limit, nodes, found) && second.walk(steps, limit, nodes, found)
            }
        }
    }
}

fn of(planes: &Planes) -> Candidates {
    Candidates(std::array::from_fn(|cell| {
        let cell = u8::try_from(cell).unwrap();
        (0..9)
            .filter(|&digit| planes.has(cell, digit))
            .map(|digit| 1 << digit)
            .sum()
    }))
}

/// Boards of every kind, and partly filled ones with a few candidates taken away at random.
fn nodes(dice: &mut Dice) -> Vec<Planes> {
    let mut boards = sample::generated(6, 300);
    boards.extend(sample::SETS.iter().flat_map(|set| sample::shared(set, 30)));
    let mut nodes: Vec<_> = boards.iter().map(Planes::new).collect();
    for board in &boards {
        let mut node = Planes::new(board);
        for _ in 0..dice.below(120) {
            let cell = u8::try_from(dice.below(81)).unwrap();
            node.remove(cell, u8::try_from(dice.below(9)).unwrap());
        }
        nodes.push(node);
    }
    nodes
}

#[test]
fn closure_is_the_fixpoint_whatever_the_order() {
    let mut dice = Dice::new(7);
    let mut seen = [0; 3];
    let mut shuffled = all_steps();
    for node in nodes(&mut dice) {
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, dice.below(i + 1));
        }
        let (mut fast, mut plain) = (node, of(&node));
        let closed = close(&mut fast);
        assert_eq!(closed, plain.close(&shuffled));
        if closed != Closed::Contradiction {
            assert!(of(&fast) == plain);
        }
        seen[closed as usize] += 1;
    }
    assert!(
        seen.iter().all(|&count| count > 50),
        "a one-sided sample: {seen:?}"
    );
}

#[test]
fn closure_only_removes_candidates_and_none_of_a_solution() {
    for board in sample::generated(8, 300) {
        let mut node = Planes::new(&board);
        let before = of(&node);
        let closed = close(&mut node);
        let after = of(&node);
        assert!(
            (0..81).all(|cell| after.at(cell) & !before.at(cell) == 0),
            "{board}"
        );
        let solutions = oracle::fewest_candidates_first(&board, 50);
        assert!(
            solutions.is_empty() || closed != Closed::Contradiction,
            "{board}"
        );
        for solution in solutions {
            let kept = |(cell, &value): (u8, &u8)| after.at(cell) & 1 << (value - 1) != 0;
            assert!(
                (0..).zip(solution.values()).all(kept),
                "{board}: lost of {solution}"
            );
        }
    }
}

/// Locked candidates of one digit, alone: every way to fill one band of a digit's minirows, which
/// includes all ways to contradict each other.
#[test]
fn every_pattern_of_locked_rows_and_columns() {
    let steps = all_steps();
    for pattern in 0..512 {
        let (mut rows, mut columns) = (Planes::new(&Board::EMPTY), Planes::new(&Board::EMPTY));
        for cell in 27..54 {
            let (minirow, transposed) = (cell % 27 / 3, cell % 9 * 9 + cell / 9);
            if pattern & 1 << minirow == 0 {
                rows.remove(cell, 4);
                columns.remove(transposed, 4);
            }
        }
        for mut node in [rows, columns] {
            let mut plain = of(&node);
            let closed = close(&mut node);
            assert_eq!(closed, plain.close(&steps), "pattern {pattern:o}");
            assert!(
                closed == Closed::Contradiction || of(&node) == plain,
                "pattern {pattern:o}"
            );
        }
    }
}

#[test]
fn branches_as_told() {
    let mut dice = Dice::new(9);
    for mut node in nodes(&mut dice) {
        if close(&mut node) == Closed::Open {
            let (cell, digit) = of(&node).branch();
            let digit = u8::try_from(digit.trailing_zeros()).unwrap();
            assert_eq!(tree::branch(&node), Some(tree::Branch { cell, digit }));
        }
    }
}

/// The same solutions in the same order with the same count of nodes.
#[test]
fn walks_the_tree_as_told() {
    let steps = all_steps();
    let mut boards = sample::generated(10, 100);
    boards.extend(sample::SETS.iter().flat_map(|set| sample::shared(set, 8)));
    boards.push(Board::EMPTY);
    for board in boards.iter().filter(|board| !check::has_clash(board)) {
        for limit in [1, 2, 20] {
            let (mut nodes, mut expected, mut found) = (0, Vec::new(), Vec::new());
            let count = usize::try_from(limit).unwrap();
            Candidates::new(board).walk(&steps, count, &mut nodes, &mut expected);
            let options = Options {
                solution_limit: limit,
                ..Options::default()
            };
            let outcome = Solver::new().solve(board, options, &CancelFlag::new(), &mut found);
            assert_eq!(
                (outcome.nodes, found),
                (nodes, expected),
                "{board} at {limit}"
            );
        }
    }
}
