//! The end of a batch call that answers come out of.

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc, mpsc::error::TryRecvError};
use tonic::Streaming;

use super::{Answer, Error, request::Texts, response::Response};
use crate::board::Board;

/// The answers of a batch call, in the order of its boards. Dropping them ends the call.
#[derive(Debug)]
pub struct Answers {
    responses: Streaming<Response>,
    /// What is left of the last response.
    response: Response,
    /// The solutions of the last answer, in memory that serves them all.
    solutions: Vec<Board>,
    /// What is left of the last message that was begun to be answered.
    boards: Texts,
    unanswered: mpsc::UnboundedReceiver<Texts>,
    window: Arc<Semaphore>,
    answered: u64,
}

impl Answers {
    pub(super) fn new(
        responses: Streaming<Response>,
        unanswered: mpsc::UnboundedReceiver<Texts>,
        window: Arc<Semaphore>,
    ) -> Answers {
        Answers {
            responses,
            response: Response::default(),
            solutions: Vec::new(),
            boards: Texts::default(),
            unanswered,
            window,
            answered: 0,
        }
    }

    /// The next answer, or `None` when every board sent has had its own.
    ///
    /// # Errors
    ///
    /// The end of the call before that, for whatever reason, and answers that break the contract.
    pub async fn next(&mut self) -> Result<Option<Answer<'_>>, Error> {
        while self.response.left() == 0 {
            let received = self.responses.message().await;
            match received.map_err(|status| Error::rpc(self.answered, &status))? {
                Some(response) => self.receive(response)?,
                None => return self.end().map(|()| None),
            }
        }
        let index = self.answered;
        self.answered += 1;
        if self.boards.is_empty() {
            self.boards = self
                .unanswered
                .try_recv()
                .map_err(|_| Error::BrokenAnswer {
                    index,
                    problem: "no such board was sent",
                })?;
        }
        let board = self.boards.next().unwrap_or_default();
        let result = self.response.next().unwrap_or_default();
        Answer::decode(index, board, result, &mut self.solutions)
            .map_err(|problem| Error::BrokenAnswer { index, problem })
            .map(Some)
    }

    /// How many answers are at hand without waiting for the server.
    pub fn ready(&self) -> usize {
        self.response.left()
    }

    fn receive(&mut self, response: Response) -> Result<(), Error> {
        let index = self.answered;
        if response.first_index() != index {
            return Err(Error::BrokenAnswer {
                index,
                problem: "it is out of order",
            });
        }
        self.window
            .add_permits(response.left().min(Semaphore::MAX_PERMITS / 2));
        self.response = response;
        Ok(())
    }

    /// The server has ended the call: was it time to?
    fn end(&mut self) -> Result<(), Error> {
        let all_answered = self.boards.is_empty();
        match self.unanswered.try_recv() {
            Err(TryRecvError::Disconnected) if all_answered => Ok(()),
            _ => Err(Error::Unanswered {
                answered: self.answered,
            }),
        }
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        // Frees a feed that waits for room which nobody would make any more.
        self.window.close();
    }
}
