//! The saved nodes of all lanes.

use super::planes::Node;
use crate::board::Board;

/// Saved nodes of a lane never outnumber the cells: each stands for a guess that filled one.
const DEPTH_MAX: usize = Board::CELLS;

/// A stack of saved nodes for each lane. The nodes themselves lie in one pool, close together, as
/// most lanes have few of them.
pub(crate) struct Stacks {
    lanes: Vec<Stack>,
    /// How many nodes of each lane others may take: apart, as all of them are looked through.
    shareable: Vec<u8>,
    pool: Vec<Node>,
    free: Vec<u32>,
}

/// Indices into the pool, the oldest at `bottom`.
struct Stack {
    /// 1 if other lanes may take nodes from it, else 0.
    share: u8,
    nodes: [u32; DEPTH_MAX],
    bottom: usize,
    top: usize,
}

impl Stacks {
    pub(crate) fn new(lanes: usize) -> Self {
        let empty = || Stack {
            share: 0,
            nodes: [0; DEPTH_MAX],
            bottom: 0,
            top: 0,
        };
        Stacks {
            lanes: std::iter::repeat_with(empty).take(lanes).collect(),
            shareable: vec![0; lanes],
            pool: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Lets other lanes take nodes from `lane`, which has none yet, or not.
    #[inline(always)]
    pub(crate) fn set_shared(&mut self, lane: usize, is_shared: bool) {
        self.lanes[lane].share = is_shared.into();
    }

    /// Saves a node of `lane`.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: usize, node: &Node) {
        let index = if let Some(index) = self.free.pop() {
            self.pool[index as usize] = *node;
            index
        } else {
            self.pool.push(*node);
            u32::try_from(self.pool.len() - 1).unwrap_or(u32::MAX)
        };
        let stack = &mut self.lanes[lane];
        // Turns around at the end, as sharing takes nodes away at the bottom.
        stack.nodes[stack.top % DEPTH_MAX] = index;
        stack.top += 1;
        self.shareable[lane] += stack.share;
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self, lane: usize) -> bool {
        let stack = &self.lanes[lane];
        stack.top == stack.bottom
    }

    /// The newest node of `lane`.
    #[inline(always)]
    pub(crate) fn pop(&mut self, lane: usize) -> Option<&Node> {
        let stack = &mut self.lanes[lane];
        if stack.top == stack.bottom {
            return None;
        }
        stack.top -= 1;
        self.shareable[lane] -= stack.share;
        let index = stack.nodes[stack.top % DEPTH_MAX];
        self.free.push(index);
        Some(&self.pool[index as usize])
    }

    /// The oldest node of the lane with the most of them that shares, and that lane.
    pub(crate) fn take_oldest(&mut self) -> Option<(usize, &Node)> {
        let most = self
            .shareable
            .iter()
            .fold(0, |most, &nodes| nodes.max(most));
        let lane = self
            .shareable
            .iter()
            .position(|&nodes| most > 0 && nodes == most)?;
        let stack = &mut self.lanes[lane];
        let index = stack.nodes[stack.bottom % DEPTH_MAX];
        stack.bottom += 1;
        self.shareable[lane] -= 1;
        self.free.push(index);
        Some((lane, &self.pool[index as usize]))
    }

    /// Forgets the nodes of `lane`.
    #[inline(always)]
    pub(crate) fn clear(&mut self, lane: usize) {
        let stack = &mut self.lanes[lane];
        for at in stack.bottom..stack.top {
            self.free.push(stack.nodes[at % DEPTH_MAX]);
        }
        (stack.bottom, stack.top) = (0, 0);
        self.shareable[lane] = 0;
    }
}
