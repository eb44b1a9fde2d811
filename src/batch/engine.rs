//! The engine: which board is in which lane, what leaves, what comes next.
//!
//! ```text
//! tasks --> lanes: sweep, sweep, ... --> exchange --> sweep ...
//!                                          | solved: the grid goes out
//!                                          | stalled: branch; the other half is saved
//!                                          | contradictory or done: next saved node,
//!                                          |   else next board, else a share of another's search
//! ```

use std::fmt;

use super::{
    branch::Guess,
    clock::Clock,
    desk::{Desk, Tasks},
    lanes::Lanes,
    level::{Level, LevelCore},
    planes::{self, Candidates, Outside, Planes},
    proof,
    search::{Next, PartId, Searches},
    stack::Stacks,
    sweep::{self, Found},
    vector::Vector,
    work::Work,
};
use crate::{
    board::{Board, check},
    solver::{
        Outcome,
        tree::{self, Branch},
    },
};

/// Solves many boards at once, on one thread.
///
/// Holds all memory that solving needs.
pub struct Engine {
    core: LevelCore,
    level: Level,
}

impl Engine {
    /// An engine that uses the vector instructions of `level`, or `None` if the CPU lacks them.
    pub fn new(level: Level) -> Option<Self> {
        Some(Engine {
            core: LevelCore::new(level)?,
            level,
        })
    }

    /// The level it uses.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Works until no task waits and all are done.
    pub fn run<T: Tasks>(&mut self, tasks: &mut T) {
        self.core.run(tasks);
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

/// Percentage of the busy lanes that must wait before an exchange, which costs as much as two sweeps
/// or three, however many lanes take part. From 50 to 66 every set is within 5% of its best.
const WAITING_PERCENT: u32 = 60;

/// One in so many of the waiting lanes: fewer wait on for others that need the same planes transposed.
/// There are fewer kinds of waiting lanes, so that some are always moved on.
const FEW: u32 = 16;

/// Every so many exchanges the few are moved on too: a hard board among easy ones would have no company
/// until the boards run out, and then be searched to its end alone.
const PATIENCE: u32 = 8;

/// Exchanges between two looks at the cancel flags: some hundred microseconds.
const CANCEL_INTERVAL: u32 = 16;

/// The most solutions that a board may ask for and still be searched by several lanes. Where solutions
/// abound, what the lanes behind the first find is thrown away: sharing the empty board's search for
/// 10,000 solutions took ten times as long.
const SHARED_SOLUTIONS_MAX: u32 = 64;

/// The memory of an engine of `64 * N` lanes.
pub(super) struct Core<V, const N: usize> {
    planes: Planes<V, N>,
    /// The newest saved node of those lanes that are in `in_saved`.
    saved: Candidates<V>,
    in_saved: Lanes<N>,
    /// Lanes that are through with their node and wait for another to be loaded.
    exhausted: Lanes<N>,
    outside: Outside<N>,
    guess: Guess<V>,
    /// What each lane works on.
    work: Vec<Work>,
    /// Lanes that work on something.
    busy: Lanes<N>,
    clock: Clock,
    stacks: Stacks,
    searches: Searches,
}

impl<V: Vector<N>, const N: usize> Core<V, N> {
    pub(super) fn new() -> Box<Self> {
        let lanes = 64 * N;
        Box::new(Core {
            planes: Planes::EMPTY,
            saved: Planes::EMPTY.candidates,
            in_saved: Lanes::NONE,
            exhausted: Lanes::NONE,
            outside: Outside::EMPTY,
            guess: Guess::new(),
            work: std::iter::repeat_with(Work::none).take(lanes).collect(),
            busy: Lanes::NONE,
            clock: Clock::start(),
            stacks: Stacks::new(lanes),
            searches: Searches::default(),
        })
    }

    /// See [`Engine::run`].
    #[inline(always)]
    pub(super) fn run<T: Tasks>(&mut self, tasks: &mut T) {
        let mut desk = Desk::new(tasks);
        self.clock = Clock::start();
        let mut marks = Marks::NONE;
        let mut exchanges: u32 = 0;
        loop {
            self.clock.tick(self.busy.count());
            exchanges = exchanges.wrapping_add(1);
            if exchanges.is_multiple_of(CANCEL_INTERVAL) && desk.drop_cancelled() {
                self.cancel(&mut desk);
            }
            let alone_too = exchanges.is_multiple_of(PATIENCE);
            self.exchange(&mut desk, marks, alone_too);
            if !self.busy.any() {
                return;
            }
            let enough = (self.busy.count() * WAITING_PERCENT / 100).max(1);
            loop {
                marks = Marks::of(&sweep::sweep(&mut self.planes));
                if (self.busy & marks.waiting()).count() >= enough {
                    break;
                }
            }
        }
    }

    /// Moves waiting lanes on: all of them, but for those that need planes transposed for them and are
    /// too few for that, unless `alone_too`.
    #[inline(always)]
    fn exchange<T: Tasks>(&mut self, desk: &mut Desk<'_, T>, marks: Marks<N>, alone_too: bool) {
        let waiting = self.busy & marks.waiting();
        let few = if alone_too { 0 } else { waiting.count() / FEW };
        let mut ended = Lanes::NONE;
        // Idle lanes take from the stacks only.
        if (!self.busy).any() && self.in_saved.any() {
            self.stack_saved(self.in_saved);
        }
        let stalled = waiting & !(marks.solved | marks.contradictory);
        let mut with_node = self.branch(stalled, few, &mut ended);
        let solved = self.busy & marks.solved & !self.exhausted;
        if solved.count() > few / 2 {
            self.take_solutions(desk, solved, &mut ended);
        }
        self.exhausted |= marks.contradictory;
        // A lane may have lost its part meanwhile, by what another one found or by its own solution.
        self.exhausted &= self.busy;
        with_node |= self.resume(few, &mut ended);
        for lane in ended.iter() {
            self.end(desk, lane);
        }
        // A search that ended may have had a lane with a node ready.
        with_node &= self.busy;
        let with_board = self.refill(desk);
        with_node |= self.share(desk);
        if with_node.any() {
            self.planes.load_nodes(&self.outside, V::load(&with_node));
        }
        if with_board.any() {
            self.planes.load_grids(&self.outside, V::load(&with_board));
        }
    }

    /// Branches in `lanes`: the half without the guess is saved, the lane goes on with the guess.
    /// Returns the lanes before which the half with the guess was put, as their planes do not have it
    /// yet.
    #[inline(always)]
    fn branch(&mut self, mut lanes: Lanes<N>, few: u32, ended: &mut Lanes<N>) -> Lanes<N> {
        let full = lanes & self.in_saved;
        if full.count() > few {
            self.stack_saved(full);
        }
        lanes &= !self.in_saved;
        if !lanes.any() {
            return Lanes::NONE;
        }
        let mut without_bivalue = self.guess.choose(&self.planes, V::load(&lanes)).lanes();
        if without_bivalue.count() <= few {
            lanes &= !without_bivalue;
        }
        for lane in lanes.iter() {
            if self.begin_node(lane) == Next::Enough {
                ended.insert(lane);
            }
        }
        lanes &= self.busy & !*ended;
        without_bivalue &= lanes;
        self.planes.save(&mut self.saved, V::load(&lanes));
        self.guess.apply(&mut self.planes, &mut self.saved);
        self.in_saved |= lanes & !without_bivalue;
        if without_bivalue.any() {
            self.branch_one_by_one(without_bivalue);
        }
        without_bivalue
    }

    /// Branches where there is no bivalue cell. Seldom, even on the hardest boards.
    fn branch_one_by_one(&mut self, lanes: Lanes<N>) {
        self.outside.unload_nodes(&self.planes.candidates);
        for lane in lanes.iter() {
            let mut node = self.outside.node(lane);
            let Some(Branch { cell, digit }) = tree::branch(&planes::tables(&node)) else {
                continue;
            };
            let mut guessed = node;
            planes::keep_only(&mut guessed, cell.into(), digit.into());
            self.outside.set_node(lane, &guessed);
            planes::remove(&mut node, cell.into(), digit.into());
            self.stacks.push(lane, &node);
        }
    }

    /// Moves the saved nodes of `lanes` from the planes to the stacks.
    #[inline(always)]
    fn stack_saved(&mut self, lanes: Lanes<N>) {
        self.outside.unload_nodes(&self.saved);
        for lane in lanes.iter() {
            self.stacks.push(lane, &self.outside.node(lane));
        }
        self.in_saved &= !lanes;
    }

    #[inline(always)]
    fn begin_node(&mut self, lane: usize) -> Next {
        let work = &mut self.work[lane];
        let Some(part) = work.part else {
            return work.begin_node();
        };
        // Another lane may have dropped the part meanwhile, or decided its search.
        if !self.busy.has(lane) {
            return Next::Enough;
        }
        let next = self.searches.begin_node(part);
        self.drop_superfluous(part);
        next
    }

    /// Frees lanes whose part of the search of `part` cannot count any more.
    fn drop_superfluous(&mut self, part: PartId) {
        while let Some(last) = self.searches.superfluous(part) {
            if let Some(lane) = self.searches.lane_of(last) {
                self.leave(lane, last);
            }
            self.searches.drop_last(last);
        }
    }

    /// Takes the grids of `lanes`, which are solved.
    #[inline(always)]
    fn take_solutions<T: Tasks>(
        &mut self,
        desk: &Desk<'_, T>,
        lanes: Lanes<N>,
        ended: &mut Lanes<N>,
    ) {
        if !lanes.any() {
            return;
        }
        let valid = proof::valid(&self.planes).lanes();
        self.planes.unload_grids(&mut self.outside);
        for lane in lanes.iter() {
            match self.take_solution(desk, lane, valid.has(lane)) {
                Next::Continue => self.exhausted.insert(lane),
                Next::Enough => ended.insert(lane),
            }
        }
    }

    /// Takes the grid of a solved lane.
    #[inline(always)]
    fn take_solution<T: Tasks>(&mut self, desk: &Desk<'_, T>, lane: usize, is_valid: bool) -> Next {
        let work = &mut self.work[lane];
        if work.part.is_some() && !self.busy.has(lane) {
            return Next::Enough;
        }
        let givens = desk.board(work.board);
        let grid = Board::new(planes::unpack(&self.outside.grid(lane)));
        let grid = grid.filter(|grid| is_valid && check::keeps_givens(givens, grid));
        debug_assert!(grid.is_some(), "not a solution of {givens}");
        match (grid, work.part) {
            (Some(grid), None) => work.add_solution(grid),
            (Some(grid), Some(part)) => {
                let next = self.searches.add_solution(part, grid);
                self.drop_superfluous(part);
                next
            }
            (None, None) => work.give_up(),
            (None, Some(part)) => self.searches.give_up(part),
        }
    }

    /// Goes on with the newest saved node in lanes that are through with theirs. Returns those before
    /// which it was put.
    #[inline(always)]
    fn resume(&mut self, few: u32, ended: &mut Lanes<N>) -> Lanes<N> {
        let back = self.exhausted & self.in_saved;
        let mut others = self.exhausted & !back;
        for lane in others.iter() {
            if self.stacks.is_empty(lane) {
                ended.insert(lane);
            }
        }
        others &= !*ended;
        if others.count() <= few {
            others = Lanes::NONE;
        }
        for lane in others.iter() {
            if let Some(node) = self.stacks.pop(lane) {
                self.outside.set_node(lane, node);
            }
        }
        for lane in (back | others).iter() {
            if self.begin_node(lane) == Next::Enough {
                ended.insert(lane);
            }
        }
        if back.any() {
            self.planes.restore(&self.saved, V::load(&back));
            self.in_saved &= !back;
        }
        self.exhausted &= !(back | others);
        others & !*ended
    }

    /// Ends the work of a lane, and with it perhaps a search.
    #[inline(always)]
    fn end<T: Tasks>(&mut self, desk: &mut Desk<'_, T>, lane: usize) {
        let work = &mut self.work[lane];
        if let Some(part) = work.part {
            self.end_part(desk, lane, part);
            return;
        }
        let (givens, solutions) = desk.board_and_solutions(work.board);
        let outcome = work.end(givens, solutions);
        self.answer(desk, lane, outcome);
    }

    /// Answers the board that a lane searched by itself.
    #[inline(always)]
    fn answer<T: Tasks>(&mut self, desk: &mut Desk<'_, T>, lane: usize, outcome: Outcome) {
        let work = &self.work[lane];
        let spent = self.clock.per_lane.since(work.since);
        desk.answer(work.board, outcome, spent.nanos());
        self.free(lane);
    }

    fn end_part<T: Tasks>(&mut self, desk: &mut Desk<'_, T>, lane: usize, part: PartId) {
        // A lane that is not busy lost its part when another one decided their search.
        if !self.busy.has(lane) {
            return;
        }
        self.leave(lane, part);
        let (_, solutions) = desk.board_and_solutions(self.work[lane].board);
        if let Some(outcome) = self.searches.end(part, solutions) {
            self.finish(desk, part, outcome);
        }
    }

    /// Answers the board of a shared search that is decided, and frees the lanes still at work on it.
    fn finish<T: Tasks>(&mut self, desk: &mut Desk<'_, T>, part: PartId, outcome: Outcome) {
        while let Some((lane, part)) = self.searches.next_lane(part) {
            self.leave(lane, part);
        }
        let (board, spent) = self.searches.remove(part);
        desk.answer(board, outcome, spent.nanos());
    }

    /// Takes a lane off its part.
    fn leave(&mut self, lane: usize, part: PartId) {
        self.searches
            .leave(part, self.clock.per_lane.since(self.work[lane].since));
        self.free(lane);
    }

    #[inline(always)]
    fn free(&mut self, lane: usize) {
        self.busy.remove(lane);
        self.in_saved.remove(lane);
        self.exhausted.remove(lane);
        self.stacks.clear(lane);
    }

    /// Puts the next boards before idle lanes. Returns those lanes.
    #[inline(always)]
    fn refill<T: Tasks>(&mut self, desk: &mut Desk<'_, T>) -> Lanes<N> {
        let mut lanes = Lanes::NONE;
        for lane in (!self.busy).iter() {
            let Some(board) = desk.next() else { break };
            self.outside
                .set_grid(lane, &planes::pack(desk.board(board)));
            let options = desk.options(board);
            self.work[lane].start(board, options, self.clock.per_lane);
            self.busy.insert(lane);
            self.stacks
                .set_shared(lane, options.solution_limit <= SHARED_SOLUTIONS_MAX);
            lanes.insert(lane);
        }
        lanes
    }

    /// Puts before each idle lane the oldest saved node of the lane with the most of them. Returns
    /// the lanes that got one.
    #[inline(always)]
    fn share<T: Tasks>(&mut self, desk: &Desk<'_, T>) -> Lanes<N> {
        let mut lanes = Lanes::NONE;
        for lane in (!self.busy).iter() {
            let Some((from, node)) = self.stacks.take_oldest() else {
                break;
            };
            self.outside.set_node(lane, node);
            let work = &mut self.work[from];
            let board = work.board;
            let part = match work.part {
                Some(part) => part,
                None => self.searches.adopt(work, desk.options(board), from),
            };
            let part = self.searches.share(part, lane);
            self.work[lane].join(board, part, self.clock.per_lane);
            self.busy.insert(lane);
            self.stacks.set_shared(lane, true);
            lanes.insert(lane);
        }
        lanes
    }

    /// Ends the boards of cancelled tasks.
    #[cold]
    fn cancel<T: Tasks>(&mut self, desk: &mut Desk<'_, T>) {
        for lane in self.busy.iter() {
            // A search that several lanes share ends for all of them at the first.
            if self.busy.has(lane) && desk.is_cancelled(self.work[lane].board.task) {
                if let Some(part) = self.work[lane].part {
                    self.finish(desk, part, Outcome::CANCELLED);
                } else {
                    self.work[lane].found.clear();
                    self.answer(desk, lane, Outcome::CANCELLED);
                }
            }
        }
    }
}

/// What a sweep found out, as sets of lanes.
#[derive(Clone, Copy)]
struct Marks<const N: usize> {
    contradictory: Lanes<N>,
    changed: Lanes<N>,
    solved: Lanes<N>,
}

impl<const N: usize> Marks<N> {
    const NONE: Self = Marks {
        contradictory: Lanes::NONE,
        changed: Lanes::NONE,
        solved: Lanes::NONE,
    };

    #[inline(always)]
    fn of<V: Vector<N>>(found: &Found<V>) -> Self {
        Marks {
            contradictory: found.contradictory.lanes(),
            changed: found.changed.lanes(),
            solved: found.solved.lanes(),
        }
    }

    /// Lanes for which the rules can do no more.
    #[inline(always)]
    fn waiting(&self) -> Lanes<N> {
        self.contradictory | self.solved | !self.changed
    }
}
