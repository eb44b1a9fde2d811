//! Searches in flight, each cut into parts that lanes work off side by side.
//!
//! A search starts as one part. A part whose lane shares its oldest saved node out gets a new part
//! right behind it, so that the parts of a search, in the order of their list, are the tree in the
//! order of a search that never shared anything. What a part found counts once every part before it
//! has ended; so solutions, their order, node counts and limits come out as if one lane had done it
//! all.
//!
//! ```text
//! first -> [ended: 40 nodes, 1 solution] -> [running] -> [ended: 7 nodes] -> [running]
//!           settled at once                  its end settles itself and the one behind it
//! ```

use crate::{
    board::{Board, check},
    solver::{Options, Outcome, Verdict},
};

/// Index of a part.
pub(crate) type PartId = u32;

const NONE: u32 = u32::MAX;

/// A part holds the solutions of a board or two without growing; what a board with thousands left
/// behind is given back.
const FOUND_KEPT: usize = 64;

/// A solution and the part's node that it was found at.
#[derive(Clone, Copy)]
struct Found {
    grid: Board,
    node: u32,
}

struct Part {
    search: u32,
    next: PartId,
    /// The lane that works on it, or `NONE` once it has ended.
    lane: u32,
    nodes: u32,
    found: Vec<Found>,
}

struct Search {
    task: u32,
    board: u32,
    options: Options,
    first: PartId,
    /// Nodes of the parts that were settled.
    nodes: u32,
    /// Solutions of the parts that were settled.
    found: Vec<Board>,
    nanos: f64,
}

/// What becomes of a part after an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The lane goes on.
    Continue,
    /// The part has seen enough: end it.
    Enough,
}

/// The answer of a search that is over.
pub(crate) struct Finished {
    pub(crate) task: u32,
    pub(crate) board: u32,
    pub(crate) outcome: Outcome,
    pub(crate) nanos: f64,
}

/// All searches in flight. Slots are used again, so that a warm engine allocates nothing a board.
#[derive(Default)]
pub(crate) struct Searches {
    parts: Vec<Part>,
    free_parts: Vec<PartId>,
    searches: Vec<Search>,
    free_searches: Vec<u32>,
}

impl Searches {
    /// Begins the search of a board on a lane; its root is entered.
    #[inline(always)]
    pub(crate) fn start(&mut self, task: u32, board: u32, options: Options, lane: usize) -> PartId {
        let id = if let Some(id) = self.free_searches.pop() {
            id
        } else {
            self.searches.push(Search {
                task,
                board,
                options,
                first: NONE,
                nodes: 0,
                found: Vec::new(),
                nanos: 0.0,
            });
            self.searches.len() as u32 - 1
        };
        let first = self.new_part(id, NONE, lane);
        let search = &mut self.searches[id as usize];
        (search.task, search.board, search.options) = (task, board, options);
        (search.first, search.nodes, search.nanos) = (first, 0, 0.0);
        first
    }

    /// A new part behind `part`, for the node that its lane gives away.
    pub(crate) fn share(&mut self, part: PartId, lane: usize) -> PartId {
        let Part { search, next, .. } = self.parts[part as usize];
        let new = self.new_part(search, next, lane);
        self.parts[part as usize].next = new;
        new
    }

    #[inline(always)]
    fn new_part(&mut self, search: u32, next: PartId, lane: usize) -> PartId {
        let lane = lane as u32;
        if let Some(id) = self.free_parts.pop() {
            let part = &mut self.parts[id as usize];
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
            self.parts.len() as u32 - 1
        }
    }

    /// The task and board a part belongs to.
    #[inline(always)]
    pub(crate) fn board_of(&self, part: PartId) -> (u32, u32) {
        let search = &self.searches[self.parts[part as usize].search as usize];
        (search.task, search.board)
    }

    /// Asks to enter one more node.
    #[inline(always)]
    pub(crate) fn enter(&mut self, part: PartId) -> Next {
        let part = &mut self.parts[part as usize];
        let search = &self.searches[part.search as usize];
        // One node past the limit is entered in the books: it tells "undecided" from "done just in
        // time" when the parts are settled.
        part.nodes += 1;
        if part.nodes > search.options.node_limit - search.nodes {
            Next::Enough
        } else {
            Next::Continue
        }
    }

    /// Takes a solution, already checked.
    #[inline(always)]
    pub(crate) fn solution(&mut self, part: PartId, grid: Board) -> Next {
        let part = &mut self.parts[part as usize];
        let search = &self.searches[part.search as usize];
        part.found.push(Found {
            grid,
            node: part.nodes,
        });
        if part.found.len() + search.found.len() >= search.options.solution_limit as usize {
            Next::Enough
        } else {
            Next::Continue
        }
    }

    /// Leaves a part undecided, and so its search.
    #[cold]
    pub(crate) fn give_up(&mut self, part: PartId) -> Next {
        self.parts[part as usize].nodes = u32::MAX;
        Next::Enough
    }

    /// Adds to the time of a part's search.
    #[inline(always)]
    pub(crate) fn spend(&mut self, part: PartId, nanos: f64) {
        self.searches[self.parts[part as usize].search as usize].nanos += nanos;
    }

    /// Ends a part. If that settles its search, the solutions go to `solutions`, the lanes of its
    /// other parts to `freed`, and the answer comes back.
    #[inline(always)]
    pub(crate) fn end(
        &mut self,
        part: PartId,
        givens: &Board,
        solutions: &mut Vec<Board>,
        freed: impl FnMut(usize, PartId),
    ) -> Option<Finished> {
        let ended = &mut self.parts[part as usize];
        ended.lane = NONE;
        let id = ended.search;
        let first = solutions.len();
        let verdict = self.settle(id, solutions)?;
        Some(self.finish(id, verdict, givens, solutions.len() - first, freed))
    }

    /// Ends a search whatever its state.
    pub(crate) fn cancel(&mut self, part: PartId, freed: impl FnMut(usize, PartId)) -> Finished {
        let id = self.parts[part as usize].search;
        self.searches[id as usize].found.clear();
        self.finish(id, Verdict::Cancelled, &Board::EMPTY, 0, freed)
    }

    /// Moves what the leading ended parts found into the search, up to its limits. Once that decides
    /// the search, its solutions go to `solutions`.
    #[inline(always)]
    fn settle(&mut self, id: u32, solutions: &mut Vec<Board>) -> Option<Verdict> {
        let search = &mut self.searches[id as usize];
        loop {
            let part = &mut self.parts[search.first as usize];
            if part.lane != NONE {
                return None;
            }
            let Options {
                solution_limit,
                node_limit,
            } = search.options;
            let nodes_left = node_limit - search.nodes;
            let room = solution_limit as usize - search.found.len();
            let in_time = part
                .found
                .iter()
                .take(room)
                .take_while(|found| found.node <= nodes_left);
            let count = in_time.clone().count();
            let verdict = if count == room {
                search.nodes += part.found[count - 1].node;
                if solution_limit == 1 {
                    Verdict::Solved
                } else {
                    Verdict::Multiple
                }
            } else if part.nodes > nodes_left {
                search.nodes = node_limit;
                Verdict::Undecided
            } else {
                search.nodes += part.nodes;
                if part.next != NONE {
                    search.found.extend(in_time.map(|found| found.grid));
                    part.found.clear();
                    let ended = search.first;
                    search.first = part.next;
                    self.free_parts.push(ended);
                    continue;
                }
                match search.found.len() + count {
                    0 => Verdict::Unsolvable,
                    1 => Verdict::Unique,
                    _ => Verdict::Multiple,
                }
            };
            solutions.append(&mut search.found);
            solutions.extend(in_time.map(|found| found.grid));
            return Some(verdict);
        }
    }

    #[inline(always)]
    fn finish(
        &mut self,
        id: u32,
        mut verdict: Verdict,
        givens: &Board,
        solution_count: usize,
        mut freed: impl FnMut(usize, PartId),
    ) -> Finished {
        let search = &mut self.searches[id as usize];
        // Clashing givens always end in a contradiction at the root.
        if verdict == Verdict::Unsolvable && search.nodes == 1 && check::has_clash(givens) {
            verdict = Verdict::ClashingGivens;
            search.nodes = 0;
        }
        search.found.shrink_to(FOUND_KEPT);
        let mut next = search.first;
        while next != NONE {
            let part = &mut self.parts[next as usize];
            if part.lane != NONE {
                freed(part.lane as usize, next);
            }
            part.found.clear();
            part.found.shrink_to(FOUND_KEPT);
            self.free_parts.push(next);
            next = part.next;
        }
        self.free_searches.push(id);
        Finished {
            task: search.task,
            board: search.board,
            outcome: Outcome {
                verdict,
                solution_count: solution_count as u32,
                nodes: search.nodes,
            },
            nanos: search.nanos,
        }
    }
}
