//! The engine: which board is in which lane, what leaves, what comes next.
//!
//! ```text
//! tasks --> lanes: sweep, sweep, ... --> exchange --> sweep ...
//!                                          | solved: the grid goes out
//!                                          | stalled: branch; the other half is saved
//!                                          | contradictory or done: next saved node,
//!                                          |   else next board, else a share of another's search
//! ```

use std::{sync::Arc, time::Instant};

use super::{
    branch::{GUESS_BITS, Guess},
    lanes::Lanes,
    level::{Level, LevelCore},
    planes::{self, NODE_WORDS, Node, Outside, Planes},
    search::{Finished, Next, PartId, Searches},
    sweep::{self, Found},
    vector::Vector,
};
use crate::{
    board::{Board, check},
    solver::{
        CancelFlag, Options, Outcome, Verdict,
        answers::{Answer, Answers},
    },
};

/// Boards that are solved alike and answered together.
#[derive(Debug)]
pub struct Task<T> {
    /// The boards.
    pub boards: Vec<Board>,
    /// How far to search each.
    pub options: Options,
    /// Ends the task early; what is not answered by then is [`Verdict::Cancelled`].
    pub cancel: Arc<CancelFlag>,
    /// Tells the caller which task this was.
    pub ticket: T,
}

/// Where an engine's work comes from and goes to.
pub trait Tasks {
    /// What tells one task from another.
    type Ticket;

    /// The next task, if one waits. Called whenever lanes run idle; must not block.
    fn next(&mut self) -> Option<Task<Self::Ticket>>;

    /// Takes a task back with its answers, one a board in order. Tasks end in any order.
    fn done(&mut self, task: Task<Self::Ticket>, answers: Answers);
}

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

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

/// Saved nodes of one search never outnumber the cells: each stands for a guess that filled one.
const STACK_MAX: usize = Board::CELLS;

/// Solutions that the boards in the lanes may have among them, so that memory stays bounded when
/// boards ask for thousands. One board is always taken.
const SOLUTIONS_IN_LANES_MAX: u64 = 40_000;

/// Percentage of the busy lanes that must wait before an exchange. An exchange costs as much as two
/// sweeps however many lanes take part; below 50 the exchanges cost more than the lanes' waiting,
/// above 80 the reverse.
const WAITING_PERCENT: u32 = 66;

/// Exchanges between two looks at the cancel flags.
const CANCEL_INTERVAL: u32 = 16;

/// The saved nodes of one lane, as indices into the pool; the oldest at `bottom`.
struct Stack {
    nodes: [u32; STACK_MAX],
    bottom: usize,
    top: usize,
}

/// A task with some boards in lanes.
struct Active<T> {
    task: Task<T>,
    answers: Answers,
    /// Boards not yet answered.
    left: usize,
}

/// The memory of an engine of `64 * N` lanes.
pub(super) struct Core<V, const N: usize> {
    planes: Planes<V, N>,
    guess: Guess<V>,
    outside: Outside<N>,
    /// Part of a search each lane works on; `IDLE` for none.
    parts: Vec<PartId>,
    /// Value of `clock` when the lane took up its part.
    since: Vec<f64>,
    stacks: Vec<Stack>,
    nodes: Vec<Node>,
    free_nodes: Vec<u32>,
    searches: Searches,
    busy: Lanes<N>,
    /// Lanes that hold something stale and need a fresh state.
    clock: Clock,
}

const IDLE: PartId = PartId::MAX;

/// Time, dealt out evenly to the lanes that were busy.
struct Clock {
    last: Instant,
    /// Nanoseconds that a lane busy since the start would have been charged.
    per_lane: f64,
}

impl<V: Vector<N>, const N: usize> Core<V, N> {
    pub(super) fn new() -> Box<Self> {
        let lanes = 64 * N;
        Box::new(Core {
            planes: Planes::EMPTY,
            guess: Guess::new(),
            outside: Outside::EMPTY,
            parts: vec![IDLE; lanes],
            since: vec![0.0; lanes],
            stacks: (0..lanes)
                .map(|_| Stack {
                    nodes: [0; STACK_MAX],
                    bottom: 0,
                    top: 0,
                })
                .collect(),
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            searches: Searches::default(),
            busy: Lanes::NONE,
            clock: Clock {
                last: Instant::now(),
                per_lane: 0.0,
            },
        })
    }

    /// See [`Engine::run`].
    #[inline(always)]
    pub(super) fn run<T: Tasks>(&mut self, tasks: &mut T) {
        let mut desk = Desk {
            tasks,
            active: Vec::new(),
            free: Vec::new(),
            current: None,
            solutions_in_lanes: 0,
        };
        self.clock = Clock {
            last: Instant::now(),
            per_lane: 0.0,
        };
        let mut found = Marks::NONE;
        let mut exchanges: u32 = 0;
        loop {
            self.tick();
            exchanges = exchanges.wrapping_add(1);
            let mut freed = Lanes::NONE;
            if exchanges.is_multiple_of(CANCEL_INTERVAL) {
                freed = self.cancel(&mut desk);
            }
            self.exchange(&mut desk, found, freed);
            if !self.busy.any() {
                return;
            }
            let busy = self.busy.count();
            let enough = (busy * WAITING_PERCENT / 100).max(1);
            loop {
                found = Marks::of(&sweep::sweep(&mut self.planes));
                let waiting = self.waiting(&found);
                if waiting.count() >= enough {
                    break;
                }
            }
        }
    }

    /// Busy lanes that the rules can do no more for.
    #[inline(always)]
    fn waiting(&self, found: &Marks<N>) -> Lanes<N> {
        self.busy & (found.contradictory | found.solved | !found.changed)
    }

    /// Charges the time since the last call to the busy lanes.
    #[inline(always)]
    fn tick(&mut self) {
        let now = Instant::now();
        let busy = self.busy.count();
        if busy > 0 {
            self.clock.per_lane +=
                now.duration_since(self.clock.last).as_nanos() as f64 / f64::from(busy);
        }
        self.clock.last = now;
    }

    #[inline(always)]
    fn exchange<T: Tasks>(&mut self, desk: &mut Desk<'_, T>, found: Marks<N>, freed: Lanes<N>) {
        let contradictory = self.busy & found.contradictory;
        let solved = self.busy & found.solved;
        let stalled = self
            .busy
            .without(found.contradictory | found.solved | found.changed);

        let mut next = contradictory;
        let mut ended = freed;
        if stalled.any() {
            ended |= self.branch(stalled);
        }
        if solved.any() {
            self.planes.unload_grids(&mut self.outside);
            for lane in solved.iter() {
                match self.solution(desk, lane) {
                    Next::Continue => next.insert(lane),
                    Next::Enough => ended.insert(lane),
                }
            }
        }
        let mut popped = Lanes::NONE;
        for lane in next.iter() {
            match self.pop(lane) {
                Some(Next::Continue) => popped.insert(lane),
                Some(Next::Enough) | None => ended.insert(lane),
            }
        }
        for lane in ended.iter() {
            self.end(desk, lane);
        }
        popped = popped & self.busy;
        let fresh = self.refill(desk);
        let shared = self.share();
        popped |= shared;
        if popped.any() {
            self.planes.load_nodes(&self.outside, V::load(&popped));
        }
        // A lane without work gets the empty board, which is never contradictory.
        let emptied = ended.without(self.busy);
        let fresh = fresh | emptied;
        if fresh.any() {
            self.planes.load_grids(&self.outside, V::load(&fresh));
        }
    }

    /// Branches in `lanes`: the half without the guess is saved, the lane goes on with the guess.
    /// Returns the lanes that may not enter another node.
    #[inline(always)]
    fn branch(&mut self, mut lanes: Lanes<N>) -> Lanes<N> {
        let mut ended = Lanes::NONE;
        for lane in lanes.iter() {
            if self.searches.enter(self.parts[lane]) == Next::Enough {
                ended.insert(lane);
            }
        }
        lanes = lanes.without(ended);
        if !lanes.any() {
            return ended;
        }
        self.guess.choose(&self.planes, V::load(&lanes));
        self.planes
            .unload_nodes(&mut self.outside, &self.guess.code);
        self.guess.apply(&mut self.planes);
        for lane in lanes.iter() {
            let mut node = self.outside.node(lane);
            let code = node[NODE_WORDS - 1] >> (729 % 64);
            node[NODE_WORDS - 1] &= (1 << (729 % 64)) - 1;
            let cell = code as usize & 0x7f;
            let digit = (code >> 7) as usize & 0xf;
            let bit = 81 * digit + cell;
            node[bit / 64] &= !(1 << (bit % 64));
            let index = self.save(&node);
            let stack = &mut self.stacks[lane];
            stack.nodes[stack.top % STACK_MAX] = index;
            stack.top += 1;
        }
        const {
            assert!(
                729 % 64 + GUESS_BITS <= 64,
                "the guess fits beside the candidates"
            )
        };
        ended
    }

    #[inline(always)]
    fn save(&mut self, node: &Node) -> u32 {
        if let Some(index) = self.free_nodes.pop() {
            self.nodes[index as usize] = *node;
            index
        } else {
            self.nodes.push(*node);
            self.nodes.len() as u32 - 1
        }
    }

    /// Takes the grid of a solved lane.
    #[inline(always)]
    fn solution<T: Tasks>(&mut self, desk: &Desk<'_, T>, lane: usize) -> Next {
        let part = self.parts[lane];
        let (task, board) = self.searches.board_of(part);
        let givens = &desk.active[task as usize]
            .as_ref()
            .expect("task")
            .task
            .boards[board as usize];
        let grid = Board::new(planes::unpack(&self.outside.grid(lane)));
        match grid {
            Some(grid) if check::is_solution(givens, &grid) => self.searches.solution(part, grid),
            _ => {
                debug_assert!(false, "not a solution: {grid:?} of {givens}");
                self.searches.give_up(part)
            }
        }
    }

    /// Puts the lane's newest saved node into it. `None` if there is none.
    #[inline(always)]
    fn pop(&mut self, lane: usize) -> Option<Next> {
        let stack = &mut self.stacks[lane];
        if stack.top == stack.bottom {
            return None;
        }
        stack.top -= 1;
        let index = stack.nodes[stack.top % STACK_MAX];
        self.free_nodes.push(index);
        self.outside.set_node(lane, &self.nodes[index as usize]);
        Some(self.searches.enter(self.parts[lane]))
    }

    /// Ends the part of a lane, and with it perhaps its search.
    #[inline(always)]
    fn end<T: Tasks>(&mut self, desk: &mut Desk<'_, T>, lane: usize) {
        let part = self.parts[lane];
        if part == IDLE {
            return; // freed when another part of its search ended
        }
        self.leave(lane);
        let (task, board) = self.searches.board_of(part);
        let active = desk.active[task as usize].as_mut().expect("task");
        let first = active.answers.solutions.len() as u32;
        let Core {
            searches,
            busy,
            parts,
            since,
            stacks,
            free_nodes,
            clock,
            ..
        } = self;
        let mut extra = 0.0;
        let finished = searches.end(
            part,
            &active.task.boards[board as usize],
            &mut active.answers.solutions,
            |lane, _| {
                extra += clock.per_lane - since[lane];
                parts[lane] = IDLE;
                busy.remove(lane);
                free_nodes.extend(stacks[lane].drain());
            },
        );
        if let Some(mut finished) = finished {
            finished.nanos += extra;
            desk.answer(finished, first);
        }
    }

    /// Takes a lane off its part.
    #[inline(always)]
    fn leave(&mut self, lane: usize) {
        self.searches
            .spend(self.parts[lane], self.clock.per_lane - self.since[lane]);
        self.parts[lane] = IDLE;
        self.busy.remove(lane);
        self.free_nodes.extend(self.stacks[lane].drain());
    }

    #[inline(always)]
    fn take_up(&mut self, lane: usize, part: PartId) {
        self.parts[lane] = part;
        self.since[lane] = self.clock.per_lane;
        self.busy.insert(lane);
    }

    /// Gives idle lanes the next boards. Returns those lanes.
    #[inline(always)]
    fn refill<T: Tasks>(&mut self, desk: &mut Desk<'_, T>) -> Lanes<N> {
        let mut fresh = Lanes::NONE;
        for lane in (!self.busy).iter() {
            let Some((task, board)) = desk.next_board() else {
                break;
            };
            let active = desk.active[task as usize].as_ref().expect("task");
            let part = self.searches.start(task, board, active.task.options, lane);
            self.outside
                .set_grid(lane, &planes::pack(&active.task.boards[board as usize]));
            self.take_up(lane, part);
            fresh.insert(lane);
        }
        fresh
    }

    /// Gives idle lanes the oldest saved node of the lane with the most of them. Returns them.
    #[inline(always)]
    fn share(&mut self) -> Lanes<N> {
        let mut shared = Lanes::NONE;
        for lane in (!self.busy).iter() {
            let (mut most, mut from) = (0, 0);
            for (other, stack) in self.stacks.iter().enumerate() {
                if stack.len() > most {
                    (most, from) = (stack.len(), other);
                }
            }
            if most == 0 {
                break;
            }
            let stack = &mut self.stacks[from];
            let index = stack.nodes[stack.bottom % STACK_MAX];
            stack.bottom += 1;
            self.outside.set_node(lane, &self.nodes[index as usize]);
            self.free_nodes.push(index);
            let part = self.searches.share(self.parts[from], lane);
            self.take_up(lane, part);
            shared.insert(lane);
        }
        shared
    }

    /// Ends the boards of cancelled tasks. Returns the lanes that this frees.
    #[cold]
    fn cancel<T: Tasks>(&mut self, desk: &mut Desk<'_, T>) -> Lanes<N> {
        let mut freed = Lanes::NONE;
        if !desk.drop_cancelled() {
            return freed;
        }
        for lane in self.busy.iter() {
            let part = self.parts[lane];
            if part == IDLE {
                continue; // freed with another part of its search
            }
            let (task, _) = self.searches.board_of(part);
            if desk.is_cancelled(task) {
                let Core {
                    searches,
                    busy,
                    parts,
                    stacks,
                    free_nodes,
                    ..
                } = self;
                let finished = searches.cancel(part, |lane, _| {
                    parts[lane] = IDLE;
                    busy.remove(lane);
                    freed.insert(lane);
                    free_nodes.extend(stacks[lane].drain());
                });
                desk.answer(finished, 0);
            }
        }
        freed
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
}

impl Stack {
    fn len(&self) -> usize {
        self.top - self.bottom
    }

    fn drain(&mut self) -> impl Iterator<Item = u32> + '_ {
        let range = self.bottom..self.top;
        (self.bottom, self.top) = (0, 0);
        range.map(|at| self.nodes[at % STACK_MAX])
    }
}

/// The tasks at hand.
struct Desk<'a, T: Tasks> {
    tasks: &'a mut T,
    active: Vec<Option<Active<T::Ticket>>>,
    free: Vec<u32>,
    /// The task whose boards are being taken, and the next of them.
    current: Option<(u32, u32)>,
    solutions_in_lanes: u64,
}

impl<T: Tasks> Desk<'_, T> {
    fn is_cancelled(&self, task: u32) -> bool {
        self.active[task as usize]
            .as_ref()
            .is_some_and(|active| active.task.cancel.is_cancelled())
    }

    /// Takes no more boards of a cancelled task. Returns whether any task is cancelled.
    fn drop_cancelled(&mut self) -> bool {
        if let Some((task, board)) = self.current
            && self.is_cancelled(task)
        {
            self.current = None;
            let active = self.active[task as usize].as_mut().expect("task");
            let untouched = active.task.boards.len() - board as usize;
            active.left -= untouched;
            self.close(task);
        }
        self.active
            .iter()
            .flatten()
            .any(|active| active.task.cancel.is_cancelled())
    }

    /// Hands a task in whose boards are all answered.
    #[inline(always)]
    fn close(&mut self, task: u32) {
        let slot = &mut self.active[task as usize];
        if slot.as_ref().is_some_and(|active| active.left == 0)
            && let Some(Active {
                task: ended,
                answers,
                ..
            }) = slot.take()
        {
            self.free.push(task);
            self.tasks.done(ended, answers);
        }
    }

    #[inline(always)]
    fn next_board(&mut self) -> Option<(u32, u32)> {
        loop {
            if let Some((task, board)) = self.current {
                let active = self.active[task as usize].as_ref().expect("task");
                let limit = u64::from(active.task.options.solution_limit);
                if self.solutions_in_lanes > 0
                    && self.solutions_in_lanes + limit > SOLUTIONS_IN_LANES_MAX
                {
                    return None;
                }
                self.solutions_in_lanes += limit;
                let next = board + 1;
                self.current = (next < active.task.boards.len() as u32).then_some((task, next));
                return Some((task, board));
            }
            let task = self.tasks.next()?;
            self.begin(task);
        }
    }

    fn begin(&mut self, task: Task<T::Ticket>) {
        let left = task.boards.len();
        let none = Answer {
            outcome: Outcome {
                verdict: Verdict::Cancelled,
                solution_count: 0,
                nodes: 0,
            },
            solve_nanos: 0,
            first_solution: 0,
        };
        let answers = Answers {
            answers: vec![none; left],
            solutions: Vec::with_capacity(left),
        };
        if left == 0 {
            self.tasks.done(task, answers);
            return;
        }
        let active = Some(Active {
            task,
            answers,
            left,
        });
        let slot = if let Some(slot) = self.free.pop() {
            self.active[slot as usize] = active;
            slot
        } else {
            self.active.push(active);
            self.active.len() as u32 - 1
        };
        self.current = Some((slot, 0));
    }

    #[inline(always)]
    fn answer(&mut self, finished: Finished, first_solution: u32) {
        let slot = &mut self.active[finished.task as usize];
        let active = slot.as_mut().expect("task");
        self.solutions_in_lanes -= u64::from(active.task.options.solution_limit);
        active.answers.answers[finished.board as usize] = Answer {
            outcome: finished.outcome,
            solve_nanos: finished.nanos.round() as u64,
            first_solution,
        };
        active.left -= 1;
        self.close(finished.task);
    }
}
