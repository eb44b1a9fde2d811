//! Searches that several lanes share, each cut into parts that lanes work off side by side.
//!
//! Until then a search is one lane's [`Work`]. When a lane gives its oldest saved node away, the node becomes a new
//! part right behind it, so that the parts of a search, in the order of their list, are the tree in
//! the order of a search that never shared anything. What a part found counts once every part before
//! it has ended; so solutions, their order, node counts and limits come out as if one lane had done
//! it all.
//!
//! ```text
//! first --> [at work] --> [ended: 47 nodes, 1 solution] --> [at work] --> [at work]  <-- last
//!            when it ends, both are counted                                dropped once the parts
//!                                                                          before reach a limit
//! ```
//!
//! Parts at the end of the list are dropped as soon as those before hold as many solutions as are
//! asked for, or more nodes than are allowed: nothing behind can count then, whatever comes before.
//! Without that, every lane would look for ten thousand solutions of its own on a sparse board.

use super::{clock::Share, desk::BoardId, work::Work};
use crate::{
    board::Board,
    solver::{Options, Outcome, Verdict},
};

/// Index of a part.
pub(crate) type PartId = usize;

/// Solutions that the memory of a search keeps room for; what a board with thousands of them took
/// is given back.
pub(crate) const ROOM_KEPT: usize = 64;

/// All shared searches in flight. Slots are used again, so that a warm engine allocates nothing a board.
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
    previous: Option<PartId>,
    next: Option<PartId>,
    /// The lane at work on it, until it ends.
    lane: Option<usize>,
    /// Nodes begun.
    nodes: u32,
    found: Vec<Found>,
}

/// A solution and the node of its part, counted from 1, that it is.
pub(crate) struct Found {
    pub(crate) grid: Board,
    pub(crate) node: u32,
}

struct Search {
    board: BoardId,
    options: Options,
    first: PartId,
    last: PartId,
    /// Nodes and solutions of parts that were counted.
    nodes: u32,
    solutions: Vec<Board>,
    /// Nodes and solutions of all parts, counted or not.
    all_nodes: u64,
    all_found: usize,
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
    /// Makes a search out of what `lane` did by itself: its nodes begun, and the solutions found.
    pub(crate) fn adopt(&mut self, work: &mut Work, options: Options, lane: usize) -> PartId {
        let slot = self.free_slots.pop().unwrap_or(self.slots.len());
        let part = self.new_part(slot, lane);
        let nodes = work.tally.nodes();
        self.parts[part].nodes = nodes;
        std::mem::swap(&mut self.parts[part].found, &mut work.found);
        let search = Search {
            board: work.board,
            options,
            first: part,
            last: part,
            nodes: 0,
            solutions: Vec::new(),
            all_nodes: nodes.into(),
            all_found: self.parts[part].found.len(),
            spent: Share::default(),
        };
        if let Some(free) = self.slots.get_mut(slot) {
            let solutions = std::mem::take(&mut free.solutions);
            *free = Search {
                solutions,
                ..search
            };
        } else {
            self.slots.push(search);
        }
        work.part = Some(part);
        part
    }

    /// A new part behind `part`, for a node that its lane gives away to `lane`.
    pub(crate) fn share(&mut self, part: PartId, lane: usize) -> PartId {
        let slot = self.parts[part].search;
        let new = self.new_part(slot, lane);
        self.slots[slot].all_nodes += 1;
        self.link(slot, Some(new), self.parts[part].next);
        self.link(slot, Some(part), Some(new));
        new
    }

    /// A part by itself, whose first node is begun.
    #[inline(always)]
    fn new_part(&mut self, search: usize, lane: usize) -> PartId {
        let lane = Some(lane);
        if let Some(id) = self.free_parts.pop() {
            let part = &mut self.parts[id];
            (part.search, part.lane, part.nodes) = (search, lane, 1);
            (part.previous, part.next) = (None, None);
            id
        } else {
            let (previous, next, found) = (None, None, Vec::new());
            self.parts.push(Part {
                search,
                previous,
                next,
                lane,
                nodes: 1,
                found,
            });
            self.parts.len() - 1
        }
    }

    /// Makes two parts neighbours; without one of them the other is the first or the last.
    fn link(&mut self, slot: usize, left: Option<PartId>, right: Option<PartId>) {
        match left {
            Some(left) => self.parts[left].next = right,
            None => self.slots[slot].first = right.unwrap_or(self.slots[slot].first),
        }
        match right {
            Some(right) => self.parts[right].previous = left,
            None => self.slots[slot].last = left.unwrap_or(self.slots[slot].last),
        }
    }

    /// Counts one more node. The one beyond the limit is counted too: it tells a search that is
    /// undecided from one that ended just in time.
    #[inline(always)]
    pub(crate) fn begin_node(&mut self, part: PartId) -> Next {
        let part = &mut self.parts[part];
        let search = &mut self.slots[part.search];
        part.nodes = part.nodes.saturating_add(1);
        search.all_nodes += 1;
        if part.nodes > search.nodes_left() {
            Next::Enough
        } else {
            Next::Continue
        }
    }

    /// Takes a solution that was checked.
    #[inline(always)]
    pub(crate) fn add_solution(&mut self, id: PartId, grid: Board) -> Next {
        let part = &mut self.parts[id];
        let search = &mut self.slots[part.search];
        part.found.push(Found {
            grid,
            node: part.nodes,
        });
        search.all_found += 1;
        let limit = search.options.solution_limit as usize;
        let enough = part.found.len() + search.solutions.len() >= limit
            || (search.last == id && search.all_found >= limit);
        if enough { Next::Enough } else { Next::Continue }
    }

    /// Leaves a part undecided, and so its search.
    #[cold]
    pub(crate) fn give_up(&mut self, part: PartId) -> Next {
        self.parts[part].nodes = u32::MAX;
        Next::Enough
    }

    /// The last part of the search of `part`, if nothing that it finds can count any more.
    #[inline(always)]
    pub(crate) fn superfluous(&self, part: PartId) -> Option<PartId> {
        let search = &self.slots[self.parts[part].search];
        if search.first == search.last {
            return None;
        }
        let last = &self.parts[search.last];
        let Options {
            solution_limit,
            node_limit,
        } = search.options;
        let enough = search.all_found - last.found.len() >= solution_limit as usize
            || search.all_nodes - u64::from(last.nodes) > u64::from(node_limit);
        enough.then_some(search.last)
    }

    /// The lane at work on a part.
    pub(crate) fn lane_of(&self, part: PartId) -> Option<usize> {
        self.parts[part].lane
    }

    /// Drops the last part of a search, which no lane works on.
    pub(crate) fn drop_last(&mut self, last: PartId) {
        let Part {
            search: slot,
            previous,
            ..
        } = self.parts[last];
        let search = &mut self.slots[slot];
        search.all_found -= self.parts[last].found.len();
        search.all_nodes -= u64::from(self.parts[last].nodes);
        self.link(slot, previous, None);
        self.free(last);
    }

    fn free(&mut self, part: PartId) {
        self.parts[part].found.clear();
        self.parts[part].found.shrink_to(ROOM_KEPT);
        self.free_parts.push(part);
    }

    /// A lane stops working on its part, and what it spent on it.
    #[inline(always)]
    pub(crate) fn leave(&mut self, part: PartId, spent: Share) {
        let part = &mut self.parts[part];
        part.lane = None;
        self.slots[part.search].spent.add(spent);
    }

    /// Ends a part that its lane has left. If that decides the search, its solutions are appended
    /// to `solutions`.
    #[inline(always)]
    pub(crate) fn end(&mut self, part: PartId, solutions: &mut Vec<Board>) -> Option<Outcome> {
        let slot = self.parts[part].search;
        let before = solutions.len();
        if self.slots[slot].first != part {
            self.join(part);
            return None;
        }
        let verdict = self.count(slot, solutions)?;
        let nodes = self.slots[slot].nodes;
        let solution_count = u32::try_from(solutions.len() - before).unwrap_or(u32::MAX);
        Some(Outcome {
            verdict,
            solution_count,
            nodes,
        })
    }

    /// Makes one part of an ended part and ended neighbours, so that there are never many more
    /// parts than lanes.
    fn join(&mut self, part: PartId) {
        let Part { previous, next, .. } = self.parts[part];
        for (left, right) in [(Some(part), next), (previous, Some(part))] {
            if let (Some(left), Some(right)) = (left, right)
                && self.parts[left].lane.is_none()
                && self.parts[right].lane.is_none()
            {
                let found = std::mem::take(&mut self.parts[right].found);
                let Part {
                    search,
                    next,
                    nodes,
                    ..
                } = self.parts[right];
                let before = self.parts[left].nodes;
                let moved = found.into_iter().map(|Found { grid, node }| Found {
                    grid,
                    node: node.saturating_add(before),
                });
                self.parts[left].found.extend(moved);
                self.parts[left].nodes = before.saturating_add(nodes);
                self.link(search, Some(left), next);
                self.free(right);
            }
        }
    }

    /// Counts the ended parts at the front of the list.
    #[inline(always)]
    fn count(&mut self, slot: usize, solutions: &mut Vec<Board>) -> Option<Verdict> {
        loop {
            let search = &mut self.slots[slot];
            let first = search.first;
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
            let next = part.next;
            self.link(slot, None, next);
            self.free(first);
        }
    }

    /// A lane still at work on the search of `part`, and its part.
    #[inline(always)]
    pub(crate) fn next_lane(&self, part: PartId) -> Option<(usize, PartId)> {
        let mut next = Some(self.slots[self.parts[part].search].first);
        while let Some(id) = next {
            if let Some(lane) = self.parts[id].lane {
                return Some((lane, id));
            }
            next = self.parts[id].next;
        }
        None
    }

    /// Forgets the search of `part`. Returns its board and the time it took.
    #[inline(always)]
    pub(crate) fn remove(&mut self, part: PartId) -> (BoardId, Share) {
        let slot = self.parts[part].search;
        let mut next = Some(self.slots[slot].first);
        while let Some(id) = next {
            next = self.parts[id].next;
            self.free(id);
        }
        let search = &mut self.slots[slot];
        search.solutions.clear();
        search.solutions.shrink_to(ROOM_KEPT);
        self.free_slots.push(slot);
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
