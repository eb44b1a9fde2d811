//! What a lane is at work on: a search of its own, or a part of one that several lanes share.
//!
//! Most searches are over before anyone could share them. They are counted here, in one place a lane,
//! as the single-board solver counts its own; [`search`](super::search) is for the others.

use super::{
    clock::Share,
    desk::BoardId,
    search::{Found, Next, PartId, ROOM_KEPT},
};
use crate::{
    board::{Board, check},
    solver::{Options, Outcome, Verdict, tree::Tally},
};

/// The work of one lane.
pub(crate) struct Work {
    pub(crate) board: BoardId,
    /// The part of a shared search; the fields below then rest.
    pub(crate) part: Option<PartId>,
    pub(crate) tally: Tally,
    pub(crate) found: Vec<Found>,
    /// Nodes ran out, or a solution was none.
    pub(crate) undecided: bool,
    /// What the clock showed when the lane took this up.
    pub(crate) since: Share,
}

impl Work {
    /// What an idle lane works on; only the room it keeps for solutions matters.
    pub(crate) fn none() -> Self {
        Work {
            board: BoardId { task: 0, board: 0 },
            part: None,
            tally: Tally::new(Options::default()),
            found: Vec::new(),
            undecided: false,
            since: Share::default(),
        }
    }

    /// Takes up the search of a board, its root about to be closed.
    #[inline(always)]
    pub(crate) fn start(&mut self, board: BoardId, options: Options, now: Share) {
        (self.board, self.since) = (board, now);
        (self.part, self.undecided) = (None, false);
        self.tally = Tally::new(options);
        self.tally.begin_node();
    }

    /// Takes up a part of a shared search.
    pub(crate) fn join(&mut self, board: BoardId, part: PartId, now: Share) {
        (self.board, self.since) = (board, now);
        self.part = Some(part);
    }

    /// Counts a node about to begin.
    #[inline(always)]
    pub(crate) fn begin_node(&mut self) -> Next {
        if self.tally.begin_node() {
            Next::Continue
        } else {
            self.give_up()
        }
    }

    /// Takes a solution that was checked.
    #[inline(always)]
    pub(crate) fn add_solution(&mut self, grid: Board) -> Next {
        self.found.push(Found {
            grid,
            node: self.tally.nodes(),
        });
        if self.tally.add_solution() {
            Next::Continue
        } else {
            Next::Enough
        }
    }

    /// Leaves the search undecided.
    #[inline(always)]
    pub(crate) fn give_up(&mut self) -> Next {
        self.undecided = true;
        Next::Enough
    }

    /// What the search came to; its solutions are appended to `solutions`.
    #[inline(always)]
    pub(crate) fn end(&mut self, givens: &Board, solutions: &mut Vec<Board>) -> Outcome {
        for found in self.found.drain(..) {
            solutions.push(found.grid);
        }
        self.found.shrink_to(ROOM_KEPT);
        if self.undecided {
            return self.tally.ended(Verdict::Undecided);
        }
        let outcome = self.tally.decided();
        // Clashing givens always end in a contradiction at the root.
        if outcome.verdict == Verdict::Unsolvable && outcome.nodes == 1 && check::has_clash(givens)
        {
            return Tally::CLASHING_GIVENS;
        }
        outcome
    }
}
