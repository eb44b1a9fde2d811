//! The answers of many boards, as engines hand them over: whichever engine, one form.

use super::Outcome;
use crate::board::Board;

/// The answer to one board of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the board turned out to be.
    pub outcome: Outcome,
    /// Engine time spent on this board. The times of a batch add up to the engine's own.
    pub solve_nanos: u64,
    /// Where this board's solutions begin in [`Answers::solutions`].
    pub first_solution: u32,
}

/// One answer a board, in the order of the boards, and their solutions beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// The answers.
    pub answers: Vec<Answer>,
    /// The solutions; those of one board lie together, in the order the search met them.
    pub solutions: Vec<Board>,
}

impl Answers {
    /// No answers yet, with room for those of `boards` boards with one solution each.
    pub fn with_capacity(boards: usize) -> Self {
        Answers {
            answers: Vec::with_capacity(boards),
            solutions: Vec::with_capacity(boards),
        }
    }

    /// The answer to a board and its solutions, or `None` past the last answer.
    pub fn get(&self, index: usize) -> Option<(&Answer, &[Board])> {
        let answer = self.answers.get(index)?;
        let first = usize::try_from(answer.first_solution).ok()?;
        let count = usize::try_from(answer.outcome.solution_count).ok()?;
        Some((
            answer,
            self.solutions.get(first..first.checked_add(count)?)?,
        ))
    }
}
