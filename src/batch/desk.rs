//! The tasks at hand: which board is next, and where its answer goes.

use crate::{
    board::Board,
    solver::{
        Options, Outcome,
        answers::{Answer, Answers},
    },
};

/// Boards that are solved alike and answered together.
pub trait Task {
    /// The boards; always the same ones.
    fn boards(&self) -> &[Board];

    /// How far to search each.
    fn options(&self) -> Options;

    /// Whether nobody wants the answers any more. Those still missing by then are
    /// [`Verdict::Cancelled`](crate::solver::Verdict::Cancelled).
    fn is_cancelled(&self) -> bool;
}

/// Where an engine's work comes from and goes to.
pub trait Tasks {
    /// The kind of task.
    type Task: Task;

    /// The next task, if one waits. Called whenever lanes run idle; must not block.
    fn next(&mut self) -> Option<Self::Task>;

    /// Takes a task back with its answers, one a board in order. Tasks end in any order.
    fn done(&mut self, task: Self::Task, answers: Answers);
}

/// Solutions that the boards in the lanes may have among them, so that memory stays bounded when
/// boards ask for thousands. One board is always taken.
const SOLUTIONS_IN_LANES_MAX: usize = 40_000;

/// The tasks with boards in lanes, and the one whose boards come next.
pub(crate) struct Desk<'a, T: Tasks> {
    tasks: &'a mut T,
    /// In slots that keep their place while a board refers to them.
    active: Vec<Option<Active<T::Task>>>,
    free: Vec<usize>,
    current: Option<BoardId>,
    /// What the boards in the lanes may still have to return.
    solutions_in_lanes: usize,
}

/// A board of an active task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoardId {
    pub(crate) task: usize,
    pub(crate) board: usize,
}

struct Active<T> {
    task: T,
    answers: Answers,
    /// Boards not yet answered.
    left: usize,
}

impl<'a, T: Tasks> Desk<'a, T> {
    pub(crate) fn new(tasks: &'a mut T) -> Self {
        Desk {
            tasks,
            active: Vec::new(),
            free: Vec::new(),
            current: None,
            solutions_in_lanes: 0,
        }
    }

    /// The next board to take into a lane.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<BoardId> {
        loop {
            if let Some(id) = self.current {
                let active = self.active(id.task);
                let limit = active.task.options().solution_limit as usize;
                let after = self.solutions_in_lanes + limit;
                if self.solutions_in_lanes > 0 && after > SOLUTIONS_IN_LANES_MAX {
                    return None;
                }
                let board = id.board + 1;
                let more = board < active.task.boards().len();
                self.current = more.then_some(BoardId { board, ..id });
                self.solutions_in_lanes = after;
                return Some(id);
            }
            let task = self.tasks.next()?;
            self.begin(task);
        }
    }

    fn begin(&mut self, task: T::Task) {
        let left = task.boards().len();
        let unanswered = Answer {
            outcome: Outcome::CANCELLED,
            solve_nanos: 0,
            first_solution: 0,
        };
        let answers = Answers {
            answers: vec![unanswered; left],
            solutions: Vec::with_capacity(left),
        };
        if left == 0 || task.is_cancelled() {
            self.tasks.done(task, answers);
            return;
        }
        let active = Some(Active {
            task,
            answers,
            left,
        });
        let task = if let Some(slot) = self.free.pop() {
            self.active[slot] = active;
            slot
        } else {
            self.active.push(active);
            self.active.len() - 1
        };
        self.current = Some(BoardId { task, board: 0 });
    }

    /// The board itself.
    #[inline(always)]
    pub(crate) fn board(&self, id: BoardId) -> &Board {
        &self.active(id.task).task.boards()[id.board]
    }

    /// How far to search it.
    #[inline(always)]
    pub(crate) fn options(&self, id: BoardId) -> Options {
        self.active(id.task).task.options()
    }

    /// A board, and the list that its solutions are to be appended to.
    #[inline(always)]
    pub(crate) fn board_and_solutions(&mut self, id: BoardId) -> (&Board, &mut Vec<Board>) {
        let Active { task, answers, .. } = self.active_mut(id.task);
        (&task.boards()[id.board], &mut answers.solutions)
    }

    /// Answers a board. Its solutions are the last ones in the list of its task.
    #[inline(always)]
    pub(crate) fn answer(&mut self, id: BoardId, outcome: Outcome, solve_nanos: u64) {
        let BoardId { task, board } = id;
        let active = self.active_mut(task);
        let first = active.answers.solutions.len() - outcome.solution_count as usize;
        active.answers.answers[board] = Answer {
            outcome,
            solve_nanos,
            first_solution: u32::try_from(first).unwrap_or(u32::MAX),
        };
        active.left -= 1;
        let limit = active.task.options().solution_limit as usize;
        self.solutions_in_lanes -= limit;
        self.close_if_answered(task);
    }

    /// Takes no more boards of cancelled tasks. Returns whether boards of one are in lanes.
    pub(crate) fn drop_cancelled(&mut self) -> bool {
        if let Some(BoardId { task, board }) = self.current
            && self.is_cancelled(task)
        {
            self.current = None;
            let active = self.active_mut(task);
            active.left -= active.task.boards().len() - board;
            self.close_if_answered(task);
        }
        self.active
            .iter()
            .flatten()
            .any(|active| active.task.is_cancelled())
    }

    /// Whether the caller no longer wants the task.
    pub(crate) fn is_cancelled(&self, task: usize) -> bool {
        self.active(task).task.is_cancelled()
    }

    #[inline(always)]
    fn close_if_answered(&mut self, task: usize) {
        if self.active(task).left == 0
            && let Some(Active {
                task: ended,
                answers,
                ..
            }) = self.active[task].take()
        {
            self.free.push(task);
            self.tasks.done(ended, answers);
        }
    }

    #[expect(
        clippy::expect_used,
        reason = "a slot is emptied with the last of its boards"
    )]
    #[inline(always)]
    fn active(&self, task: usize) -> &Active<T::Task> {
        self.active[task]
            .as_ref()
            .expect("the task of a board in a lane")
    }

    #[expect(
        clippy::expect_used,
        reason = "a slot is emptied with the last of its boards"
    )]
    #[inline(always)]
    fn active_mut(&mut self, task: usize) -> &mut Active<T::Task> {
        self.active[task]
            .as_mut()
            .expect("the task of a board in a lane")
    }
}
