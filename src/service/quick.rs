//! Boards that are solved sooner than they would be handed to a solver thread: on the thread that
//! the call came in on, within so few nodes that nobody else notices.

use std::{
    cell::RefCell,
    panic::{self, AssertUnwindSafe},
    time::Instant,
};

use crate::{
    board::Board,
    solver::{
        CancelFlag, Options, Solver, Verdict,
        answers::{Answer, Answers},
    },
};

/// Nodes that a call may take of a runtime thread: some 30 us, as long as it takes to read the call
/// and to write its answer. Of boards with one solution that people publish almost all need fewer; a
/// hand-over to a solver thread and back costs as much.
const NODES_MAX: u32 = 64;

thread_local! {
    static SOLVER: RefCell<Solver> = RefCell::new(Solver::new());
}

/// The answer to a board, or `None` if it takes longer: then nothing is known of it.
pub(super) fn solve(board: &Board, options: Options) -> Option<Answers> {
    let few = Options {
        node_limit: options.node_limit.min(NODES_MAX),
        ..options
    };
    // A panic must not take the connection with it: the solver threads know how to end a call by one.
    let solved = panic::catch_unwind(AssertUnwindSafe(|| search(board, few)));
    solved.ok().filter(|answers| {
        let stopped = |answer: &Answer| answer.outcome.verdict == Verdict::Undecided;
        few == options || !answers.answers.iter().any(stopped)
    })
}

fn search(board: &Board, options: Options) -> Answers {
    #[cfg(debug_assertions)]
    super::fault::strike(std::slice::from_ref(board));
    let mut answers = Answers::with_capacity(1);
    let begun = Instant::now();
    let outcome = SOLVER.with_borrow_mut(|solver| {
        solver.solve(board, options, &CancelFlag::new(), &mut answers.solutions)
    });
    answers.answers.push(Answer {
        outcome,
        solve_nanos: u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
        first_solution: 0,
    });
    answers
}
