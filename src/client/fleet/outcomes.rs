//! The end of a job that outcomes come out of.

use std::{fmt, sync::Arc};

use tokio::task::JoinSet;

use super::{
    desk::Desk,
    unanswered::{Reason, Unanswered},
};
use crate::{
    board::Board,
    client::{Answer, request::Texts, response::Response},
};

/// What became of a board.
#[derive(Clone, Debug)]
pub enum Outcome<'a> {
    /// A server answered it.
    Answered(Answer<'a>),
    /// Nobody did, and nobody will.
    Unanswered(Unanswered<'a>),
}

/// The outcomes of a job, in the order of its boards. Dropping them ends the job.
pub struct Outcomes {
    desk: Arc<Desk>,
    /// What is left of the boards at hand.
    texts: Texts,
    outcome: Result<Response, Arc<Reason>>,
    /// The solutions of the last answer, in memory that serves them all.
    solutions: Vec<Board>,
    index: u64,
    /// What keeps the job going.
    tasks: JoinSet<()>,
}

impl Outcomes {
    pub(super) fn new(desk: Arc<Desk>, tasks: JoinSet<()>) -> Outcomes {
        Outcomes {
            desk,
            texts: Texts::default(),
            outcome: Ok(Response::default()),
            solutions: Vec::new(),
            index: 0,
            tasks,
        }
    }

    /// The outcome of the next board, or `None` when each board that was taken in has had its own.
    /// Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<Outcome<'_>> {
        while self.texts.is_empty() {
            let Some(piece) = self.desk.next().await else {
                // The servers shall see that the job was finished and not broken off.
                while self.tasks.join_next().await.is_some() {}
                return None;
            };
            self.texts = piece.texts;
            self.outcome = piece.outcome;
        }
        let index = self.index;
        self.index += 1;
        let board = self.texts.next().unwrap_or_default();
        let decoded = match &mut self.outcome {
            Ok(response) => {
                let result = response.next().unwrap_or_default();
                Answer::decode(index, board, result, &mut self.solutions)
                    .map_err(|problem| Arc::new(Reason::Broken(problem)))
            }
            Err(reason) => Err(Arc::clone(reason)),
        };
        Some(match decoded {
            Ok(answer) => Outcome::Answered(answer),
            Err(reason) => Outcome::Unanswered(Unanswered {
                index,
                board,
                reason,
            }),
        })
    }

    /// How many outcomes are at hand without waiting.
    pub fn ready(&self) -> usize {
        self.texts.left()
    }

    /// Why the job ended before all its boards were answered, if it did. The feed takes no more
    /// boards from then on.
    pub fn over(&self) -> Option<Arc<Reason>> {
        self.desk.over()
    }
}

impl Drop for Outcomes {
    fn drop(&mut self) {
        // Frees a feed that waits for room which nobody would make any more.
        self.desk.abandon();
    }
}

impl fmt::Debug for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcomes")
            .field("index", &self.index)
            .field("ready", &self.texts.left())
            .finish_non_exhaustive()
    }
}
