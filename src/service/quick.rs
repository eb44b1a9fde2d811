//! Boards that are solved sooner than they would be handed to a solver thread: on the thread that
//! the call came in on, within so few nodes that nobody else notices.

use std::{
    cell::RefCell,
    panic::{self, AssertUnwindSafe},
    time::Instant,
};

use crate::{
    batch::{Level, LevelSolver},
    board::Board,
    solver::{
        CancelFlag, Options, Verdict,
        answers::{Answer, Answers},
    },
};

/// Nodes that a call may take of a runtime thread: some 10 us, less than it takes to read the call and
/// to write its answer. Most published boards need fewer, and cost a third less without the hand-over at
/// 64 in flight; the hardest need more and are begun anew by a solver thread, so a budget of 64 cost
/// them a third more than 16 (`docs/performance.md`).
const NODES_MAX: u32 = 16;

thread_local! {
    static SOLVER: RefCell<Option<LevelSolver>> = const { RefCell::new(None) };
}

/// The answer to a board, or `None` if it takes longer: then nothing is known of it.
pub(super) fn solve(board: &Board, options: Options, level: Level) -> Option<Answers> {
    let few = Options {
        node_limit: options.node_limit.min(NODES_MAX),
        ..options
    };
    // A panic must not take the connection with it. The call goes on to a solver thread, which panics
    // as well and knows how to end a call by that; what the panic left here is not used again.
    let solved = panic::catch_unwind(AssertUnwindSafe(|| search(board, few, level)));
    if solved.is_err() {
        SOLVER.set(None);
    }
    solved.ok().filter(|answers| {
        let stopped = |answer: &Answer| answer.outcome.verdict == Verdict::Undecided;
        few == options || !answers.answers.iter().any(stopped)
    })
}

fn search(board: &Board, options: Options, level: Level) -> Answers {
    #[cfg(debug_assertions)]
    super::fault::strike(std::slice::from_ref(board));
    let mut answers = Answers::with_capacity(1);
    let begun = Instant::now();
    let outcome = SOLVER.with_borrow_mut(|solver| {
        // Of the level that the thread's first call had: servers in one process may differ in it, answers do not.
        let solver = solver.get_or_insert_with(|| LevelSolver::new(level));
        solver.solve(board, options, &CancelFlag::new(), &mut answers.solutions)
    });
    answers.answers.push(Answer {
        outcome,
        solve_nanos: u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
        first_solution: 0,
    });
    answers
}
