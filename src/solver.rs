//! One board at a time, and the search tree that both engines walk.

pub mod answers;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::board::Board;

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
pub struct Solver {}

impl Solver {
    /// A solver with its memory.
    pub fn new() -> Self {
        Solver {}
    }

    /// Searches `board`, appending each solution to `solutions` in the order it is met.
    pub fn solve(
        &mut self,
        _board: &Board,
        _options: Options,
        _cancel: &CancelFlag,
        _solutions: &mut Vec<Board>,
    ) -> Outcome {
        unimplemented!()
    }
}
