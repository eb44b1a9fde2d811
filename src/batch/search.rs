//! Searches in flight, each cut into parts that lanes work off side by side.
//!
//! A search starts as one part. When a lane gives its oldest saved node away, the node becomes a new
//! part right behind it, so that the parts of a search, in the order of their list, are the tree in
//! the order of a search that never shared anything. What a part found counts once every part before
//! it has ended; so solutions, their order, node counts and limits come out as if one lane had done
//! it all.
//!
//! ```text
//! first --> [ended: 40 nodes, 1 solution] --> [at work] --> [ended: 7 nodes] --> [at work]
//!            counted at once                   when it ends, it and the next are counted
//! ```

use super::{clock::Share, desk::BoardId};
use crate::{
    board::{Board, check},
    solver::{Options, Outcome, Verdict},
};

/// Index of a part.
pub(crate) type PartId = usize;

/// Solutions that the memory of a search keeps room for; what a board with thousands of them took
/// is given back.
const ROOM_KEPT: usize = 64;

/// All searches in flight. Slots are used again, so that a warm engine allocates nothing a board.
#[derive(Default)]
pub(crate) struct Searches {
    parts: Vec<Part>,
    free_parts: Vec<PartId>,
    slots: Vec<Search>,
    free_slots: Vec<usize>,
}

struct Part {
    /// Slot of its search.
    search: usize,
    next: Option<PartId>,
    /// The lane at work on it, until it ends.
    lane: Option<usize>,
    /// Nodes begun.
    nodes: u32,
    found: Vec<Found>,
}

/// A solution and the node of its part, counted from 1, that it is.
struct Found {
    grid: Board,
    node: u32,
}

struct Search {
    board: BoardId,
    options: Options,
    first: Option<PartId>,
    /// Nodes and solutions of the parts that were counted.
    nodes: u32,
    solutions: Vec<Board>,
    spent: Share,
}

/// What becomes of a part after an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// It goes on.
    Continue,
    /// It has seen enough and is to be ended.
    Enough,
}

impl Searches {
    /// Begins the search of a board, its root before `lane`.
    #[inline(always)]
    pub(crate) fn start(&mut self, board: BoardId, options: Options, lane: usize) -> PartId {
        let id = self.free_slots.pop().unwrap_or(self.slots.len());
        let first = self.new_part(id, None, lane);
        if let Some(search) = self.slots.get_mut(id) {
            (search.board, search.options, search.first) = (board, options, Some(first));
            (search.nodes, search.spent) = (0, Share::default());
        } else {
            self.slots.push(Search {
                board,
                options,
                first: Some(first),
                nodes: 0,
                solutions: Vec::new(),
                spent: Share::default(),
            });
        }
        first
    }

    /// A new part behind `part`, for a node that its lane gives away to `lane`.
    pub(crate) fn share(&mut self, part: PartId, lane: usize) -> PartId {
        let Part { search, next, .. } = self.parts[part];
        let new = self.new_part(search, next, lane);
        self.parts[part].next = Some(new);
        new
    }

    /// A part whose first node is begun.
    #[inline(always)]
    fn new_part(&mut self, search: usize, next: Option<PartId>, lane: usize) -> PartId {
        let lane = Some(lane);
        if let Some(id) = self.free_parts.pop() {
            let part = &mut self.parts[id];
            (part.search, part.next, part.lane, part.nodes) = (search, next, lane, 1);
            id
        } else {
            self.parts.push(Part {
                search,
                next,
                lane,
                nodes: 1,
                found: Vec::new(),
            });
            self.parts.len() - 1
        }
    }

    /// The board a part belongs to.
    #[inline(always)]
    pub(crate) fn board_of(&self, part: PartId) -> BoardId {
        self.slots[self.parts[part].search].board
    }

    /// Counts one more node. The one beyond the limit is counted too: it tells a search that is
    /// undecided from one that ended just in time.
    #[inline(always)]
    pub(crate) fn begin_node(&mut self, part: PartId) -> Next {
        let part = &mut self.parts[part];
        let search = &self.slots[part.search];
        part.nodes = part.nodes.saturating_add(1);
        if part.nodes > search.nodes_left() {
            Next::Enough
        } else {
            Next::Continue
        }
    }

    /// Takes a solution that was checked.
    #[inline(always)]
    pub(crate) fn add_solution(&mut self, part: PartId, grid: Board) -> Next {
        let part = &mut self.parts[part];
        let search = &self.slots[part.search];
        part.found.push(Found {
            grid,
            node: part.nodes,
        });
        if part.found.len() >= search.solutions_left() {
            Next::Enough
        } else {
            Next::Continue
        }
    }

    /// Leaves a part undecided, and so its search.
    #[cold]
    pub(crate) fn give_up(&mut self, part: PartId) -> Next {
        self.parts[part].nodes = u32::MAX;
        Next::Enough
    }

    /// A lane stops working on its part, and what it spent on it.
    #[inline(always)]
    pub(crate) fn leave(&mut self, part: PartId, spent: Share) {
        let part = &mut self.parts[part];
        part.lane = None;
        self.slots[part.search].spent.add(spent);
    }

    /// Counts a part that its lane has left, and those behind it that wait for it. If that decides
    /// the search, its solutions are appended to `solutions`.
    #[inline(always)]
    pub(crate) fn end(
        &mut self,
        part: PartId,
        givens: &Board,
        solutions: &mut Vec<Board>,
    ) -> Option<Outcome> {
        let id = self.parts[part].search;
        let before = solutions.len();
        let verdict = self.count(id, solutions)?;
        let nodes = self.slots[id].nodes;
        // Clashing givens always end in a contradiction at the root.
        if verdict == Verdict::Unsolvable && nodes == 1 && check::has_clash(givens) {
            return Some(Outcome {
                verdict: Verdict::ClashingGivens,
                solution_count: 0,
                nodes: 0,
            });
        }
        let solution_count = u32::try_from(solutions.len() - before).unwrap_or(u32::MAX);
        Some(Outcome {
            verdict,
            solution_count,
            nodes,
        })
    }

    #[inline(always)]
    fn count(&mut self, id: usize, solutions: &mut Vec<Board>) -> Option<Verdict> {
        let search = &mut self.slots[id];
        loop {
            let first = search.first?;
            let part = &mut self.parts[first];
            if part.lane.is_some() {
                return None;
            }
            let (nodes_left, room) = (search.nodes_left(), search.solutions_left());
            let in_time = part
                .found
                .iter()
                .take_while(|found| found.node <= nodes_left);
            let count = in_time.take(room).count();
            let found = &part.found[..count];
            let verdict = if count == room {
                search.nodes += found.last().map_or(0, |last| last.node);
                Some(if search.options.solution_limit == 1 {
                    Verdict::Solved
                } else {
                    Verdict::Multiple
                })
            } else if part.nodes > nodes_left {
                search.nodes = search.options.node_limit;
                Some(Verdict::Undecided)
            } else {
                search.nodes += part.nodes;
                part.next
                    .is_none()
                    .then_some(match search.solutions.len() + count {
                        0 => Verdict::Unsolvable,
                        1 => Verdict::Unique,
                        _ => Verdict::Multiple,
                    })
            };
            if verdict.is_some() {
                solutions.append(&mut search.solutions);
                solutions.extend(found.iter().map(|found| found.grid));
                return verdict;
            }
            search
                .solutions
                .extend(found.iter().map(|found| found.grid));
            search.first = part.next;
            part.clear();
            self.free_parts.push(first);
        }
    }

    /// A lane still at work on the search of `part`.
    #[inline(always)]
    pub(crate) fn next_lane(&self, part: PartId) -> Option<usize> {
        let mut next = self.slots[self.parts[part].search].first;
        while let Some(id) = next {
            if self.parts[id].lane.is_some() {
                return self.parts[id].lane;
            }
            next = self.parts[id].next;
        }
        None
    }

    /// Forgets the search of `part`. Returns its board and the time it took.
    #[inline(always)]
    pub(crate) fn remove(&mut self, part: PartId) -> (BoardId, Share) {
        let id = self.parts[part].search;
        let search = &mut self.slots[id];
        search.solutions.clear();
        search.solutions.shrink_to(ROOM_KEPT);
        let mut next = search.first.take();
        while let Some(id) = next {
            next = self.parts[id].next;
            self.parts[id].clear();
            self.free_parts.push(id);
        }
        self.free_slots.push(id);
        (search.board, search.spent)
    }
}

impl Search {
    #[inline(always)]
    fn nodes_left(&self) -> u32 {
        self.options.node_limit - self.nodes
    }

    #[inline(always)]
    fn solutions_left(&self) -> usize {
        self.options.solution_limit as usize - self.solutions.len()
    }
}

impl Part {
    #[inline(always)]
    fn clear(&mut self) {
        self.found.clear();
        self.found.shrink_to(ROOM_KEPT);
    }
}
