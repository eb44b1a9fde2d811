//! One board at a time, and the search tree that both engines walk.

pub mod answers;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::board::{Board, check};

pub mod tree;

pub mod closure;
pub mod planes;

use closure::{Closed, close};
use planes::Planes;
use tree::{Branch, Tally};

/// How far to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Stop at this many solutions: 1 to [`Options::SOLUTION_LIMIT_MAX`].
    pub solution_limit: u32,
    /// Stop after this many nodes: at least 1.
    pub node_limit: u32,
}

impl Options {
    /// The largest solution limit.
    pub const SOLUTION_LIMIT_MAX: u32 = 10_000;
}

impl Default for Options {
    /// Two solutions, which settles uniqueness, within a million nodes.
    fn default() -> Self {
        Options {
            solution_limit: 2,
            node_limit: 1_000_000,
        }
    }
}

/// What a board turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Exactly one solution; proved.
    Unique,
    /// At least two solutions.
    Multiple,
    /// No solution; proved. The givens do not clash.
    Unsolvable,
    /// A solution was found and, with a solution limit of 1, nothing asked about others.
    Solved,
    /// Givens clash; nothing was searched.
    ClashingGivens,
    /// The node limit was reached first.
    Undecided,
    /// The caller cancelled the search; nothing is proved.
    Cancelled,
}

/// The answer to one board. The solutions themselves are beside it, where the engine put them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What the board turned out to be.
    pub verdict: Verdict,
    /// How many solutions were found: at most the solution limit.
    pub solution_count: u32,
    /// Nodes of the search tree that were visited, the root counted; 0 if givens clash.
    pub nodes: u32,
}

impl Outcome {
    /// Nothing is known: the caller cancelled the search.
    pub const CANCELLED: Outcome = Outcome {
        verdict: Verdict::Cancelled,
        solution_count: 0,
        nodes: 0,
    };
}

/// Tells searches to stop. Shared between the one who asks and the engines that solve.
#[derive(Debug, Default)]
pub struct CancelFlag(AtomicBool);

impl CancelFlag {
    /// A flag that is not raised.
    pub const fn new() -> Self {
        CancelFlag(AtomicBool::new(false))
    }

    /// Asks every search that watches this flag to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Solves one board at a time. Holds the search's memory, so that no board allocates.
#[derive(Debug)]
pub struct Solver {
    /// Second children not begun yet, the nearest last.
    waiting: Vec<Planes>,
}

/// No path has more first children: each of them solves a cell.
const DEPTH_MAX: usize = Board::CELLS;

/// How many nodes a search begins between two looks at the cancel flag; a power of two. About a
/// tenth of a millisecond, and a look costs next to nothing.
const CANCEL_NODES: u32 = 256;

impl Solver {
    /// A solver with its memory.
    pub fn new() -> Self {
        Solver {
            waiting: Vec::with_capacity(DEPTH_MAX),
        }
    }

    /// Searches `board`, appending each solution to `solutions` in the order it is met.
    ///
    /// The tree that is searched, and so the order, is that of [`tree`]. This is compiled for every CPU;
    /// [`LevelSolver`](crate::batch::LevelSolver) is the same for newer ones.
    pub fn solve(
        &mut self,
        board: &Board,
        options: Options,
        cancel: &CancelFlag,
        solutions: &mut Vec<Board>,
    ) -> Outcome {
        self.search(board, options, cancel, solutions)
    }

    /// Inlined whole, so that a caller compiled for more of the processor compiles this for it too.
    #[inline(always)]
    pub(crate) fn search(
        &mut self,
        board: &Board,
        options: Options,
        cancel: &CancelFlag,
        solutions: &mut Vec<Board>,
    ) -> Outcome {
        let mut tally = Tally::new(options);
        self.waiting.clear();
        let mut node = Planes::new(board);
        loop {
            if tally.nodes().is_multiple_of(CANCEL_NODES) && cancel.is_cancelled() {
                return tally.ended(Verdict::Cancelled);
            }
            if !tally.begin_node() {
                return tally.ended(Verdict::Undecided);
            }
            match close(&mut node) {
                Closed::Open => {
                    if let Some(Branch { cell, digit }) = tree::branch(&node) {
                        let mut second = node;
                        second.remove(cell, digit);
                        debug_assert!(self.waiting.len() < DEPTH_MAX, "deeper than the cells");
                        self.waiting.push(second);
                        node.keep_only(cell, digit);
                        continue;
                    }
                }
                Closed::Solved => {
                    let solution = node.to_board();
                    if !check::is_solution(board, &solution) {
                        debug_assert!(false, "not a solution: {solution} of {board}");
                        return tally.ended(Verdict::Undecided);
                    }
                    solutions.push(solution);
                    if !tally.add_solution() {
                        return tally.decided();
                    }
                }
                Closed::Contradiction => {
                    if tally.nodes() == 1 && check::has_clash(board) {
                        return Tally::CLASHING_GIVENS;
                    }
                }
            }
            match self.waiting.pop() {
                Some(second) => node = second,
                None => return tally.decided(),
            }
        }
    }
}

impl Default for Solver {
    fn default() -> Self {
        Solver::new()
    }
}
