//! The search tree of a board: the contract of every engine.
//!
//! Engines may work as they like, one board at a time or hundreds at once, as long as they walk this
//! tree in this order: then they find the same solutions in the same order and count the same
//! nodes.
//!
//! # Closure
//!
//! A *node* is a set of candidates, closed under these rules, each of which only removes candidates:
//!
//! 1. Naked single: a cell with one candidate takes it from its peers.
//! 2. Hidden single: a digit with one place in a row, a column or a box loses the other candidates
//!    of that cell.
//! 3. Locked candidates, pointing: a digit whose places in a box all lie in one row or column loses
//!    the rest of that row or column. Claiming: a digit whose places in a row or column all lie in
//!    one box loses the rest of the box.
//!
//! A *contradiction* is a cell without a candidate or a unit without a place for some digit. What a
//! rule removes, it also removes, or it finds gone, when other rules were used first, except where
//! a contradiction follows either way. So neither the fixpoint nor the presence of a contradiction
//! depends on the order of the steps. Two solved peers of one digit, and two hidden singles in one
//! cell, are contradictions in the fixpoint, though a step may leave both standing: each would have
//! to remove the other.
//!
//! A node whose fixpoint has one candidate in every cell is a solution.
//!
//! # Branch
//!
//! An open node branches on one cell and its lowest candidate, as [`branch`] says: the first child
//! takes the digit, the second loses it. The first child's whole subtree comes before the second
//! child, which is closed like any node.
//!
//! # Counting
//!
//! Every closure begun is a node, the root is the first; [`Tally`] counts them and says when to
//! stop. A search that has found as many solutions as were asked for stops there. One that would
//! begin a node beyond its node limit is undecided. A search that runs out of nodes has proved how
//! many solutions there are. Givens that clash always make the root a contradiction: only then need
//! an engine look for clashes, and such a board counts no node.
//!
//! # The last check
//!
//! No solution is handed out unless [`check`](crate::board::check), which knows nothing of the rules
//! above, agrees. If it should ever not agree, the engine is wrong and so would be any proof resting
//! on it: the search ends [`Undecided`](Verdict::Undecided).

use super::{
    Options, Outcome, Verdict,
    planes::{BAND, CellSet, Planes},
};

/// A guess: the first child puts the digit in the cell, the second removes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The cell, 0 to 80.
    pub cell: u8,
    /// The digit, 0 to 8 for 1 to 9.
    pub digit: u8,
}

/// How much a bivalue cell promises, from its twenty peers: the highest is taken, the lowest cell
/// among equals.
///
/// A guess is worth more the more cells it can reach, and most where they too have two candidates.
/// What other scores cost in guesses and in time is in `docs/batch-engine.md`.
#[inline(always)]
pub const fn score(bivalue_peers: u32, unsolved_peers: u32) -> u32 {
    2 * bivalue_peers + unsolved_peers
}

/// Where an open node branches; `None` if there is no unsolved cell.
///
/// A bivalue cell if there is one, by [`score`]; else the cell with fewest candidates, the lowest
/// among equals. The digit is the lowest candidate.
#[inline(always)]
pub fn branch(planes: &Planes) -> Option<Branch> {
    let counts = CandidateCounts::of(planes);
    let cell = if counts.bivalue == [0; 3] {
        fewest_candidates(planes, &counts.unsolved)?
    } else {
        best_bivalue(&counts)
    };
    let digit = (0..9).find(|&digit| planes.has(cell, digit))?;
    Some(Branch { cell, digit })
}

/// The cells with exactly two candidates, and with two or more.
struct CandidateCounts {
    bivalue: CellSet,
    unsolved: CellSet,
}

impl CandidateCounts {
    #[inline(always)]
    fn of(planes: &Planes) -> CandidateCounts {
        let (mut bivalue, mut unsolved) = ([0; 3], [0; 3]);
        for (band, digits) in planes.bands.iter().enumerate() {
            let (mut once, mut twice, mut thrice) = (0, 0, 0);
            for cells in digits {
                thrice |= twice & cells;
                twice |= once & cells;
                once |= cells;
            }
            bivalue[band] = twice & !thrice;
            unsolved[band] = twice;
        }
        CandidateCounts { bivalue, unsolved }
    }
}

/// The bivalue cell with the highest score; 0 if there is none.
#[inline(always)]
fn best_bivalue(counts: &CandidateCounts) -> u8 {
    let (mut best_score, mut best_cell) = (0, 0);
    for (first, cells) in [0, 27, 54].into_iter().zip(counts.bivalue) {
        let mut rest = cells;
        while rest != 0 {
            let cell = first + low_bit(rest);
            let score = score(
                around(&counts.bivalue, cell),
                around(&counts.unsolved, cell),
            );
            if score > best_score {
                (best_score, best_cell) = (score, cell);
            }
            rest &= rest - 1;
        }
    }
    best_cell
}

/// How many cells of `set` are peers of `cell`, the cell itself counted too, which no comparison of
/// bivalue cells notices.
#[inline(always)]
fn around(set: &CellSet, cell: u8) -> u32 {
    const ROW: u32 = 0o777;
    const COLUMN: u32 = 0o001_001_001;
    const BOX: u32 = 0o007_007_007;
    let (band, in_band, column) = (usize::from(cell / 27), cell % 27, cell % 9);
    let row_and_box = ROW << (in_band - column) | BOX << (column / 3 * 3);
    let own = set[band] & row_and_box;
    let [above, below] = [1, 2].map(|other| set[(band + other) % 3] >> column & COLUMN);
    // All in one word, so that one count does.
    (u64::from(above | below << 1) << 32 | u64::from(own)).count_ones()
}

/// The unsolved cell with fewest candidates.
#[cold]
fn fewest_candidates(planes: &Planes, unsolved: &CellSet) -> Option<u8> {
    let is_unsolved = |cell: &u8| unsolved[usize::from(cell / 27)] & 1 << (cell % 27) != 0;
    let candidates = |cell: &u8| (0..9).filter(|&digit| planes.has(*cell, digit)).count();
    (0..81).filter(is_unsolved).min_by_key(candidates)
}

/// The lowest cell of a word.
#[inline(always)]
fn low_bit(cells: u32) -> u8 {
    (cells.trailing_zeros() & 31) as u8
}

/// Counts the nodes and solutions of one board and says when its search is over.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    options: Options,
    nodes: u32,
    solutions: u32,
}

impl Tally {
    /// Nothing counted yet.
    #[inline(always)]
    pub const fn new(options: Options) -> Tally {
        Tally {
            options,
            nodes: 0,
            solutions: 0,
        }
    }

    /// The nodes begun so far.
    #[inline(always)]
    pub const fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Counts a node about to begin; `false` if the node limit leaves no room for it.
    #[inline(always)]
    pub const fn begin_node(&mut self) -> bool {
        let room = self.nodes < self.options.node_limit;
        self.nodes += room as u32;
        room
    }

    /// Counts a solution; `false` if no more are asked for.
    #[inline(always)]
    pub const fn add_solution(&mut self) -> bool {
        self.solutions += 1;
        self.solutions < self.options.solution_limit
    }

    /// The outcome of a search that went through its whole tree or found all it was asked for.
    #[inline(always)]
    pub const fn decided(&self) -> Outcome {
        self.ended(match self.solutions {
            0 => Verdict::Unsolvable,
            1 if self.options.solution_limit <= 1 => Verdict::Solved,
            1 => Verdict::Unique,
            _ => Verdict::Multiple,
        })
    }

    /// The outcome of a search that ended early.
    #[inline(always)]
    pub const fn ended(&self, verdict: Verdict) -> Outcome {
        Outcome {
            verdict,
            solution_count: self.solutions,
            nodes: self.nodes,
        }
    }

    /// The outcome of a board whose givens clash.
    pub const CLASHING_GIVENS: Outcome = Outcome {
        verdict: Verdict::ClashingGivens,
        solution_count: 0,
        nodes: 0,
    };
}

// A band's 27 cells in a word of 32 bits: what `low_bit` and `around` rest on.
const _: () = assert!(BAND.count_ones() == 27 && BAND.trailing_ones() == 27);
