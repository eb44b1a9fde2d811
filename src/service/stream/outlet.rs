//! From finished jobs to replies, in the order of the stream.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::sync::oneshot;

use crate::{
    board::text::MalformedBoard,
    service::queue::Finished,
    solver::Options,
    wire::{self, pb},
};

/// Consecutive boards of a stream that are answered together.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) options: Options,
    len: usize,
    /// Results that need no solver, with their places among the boards of this part.
    malformed: VecDeque<(usize, pb::SolveResult)>,
    answers: Awaited,
    /// Boards of this part that are in a reply already, and those of them that were solved.
    sent: usize,
    solved_sent: usize,
}

#[derive(Debug)]
enum Awaited {
    Nothing,
    Answers(oneshot::Receiver<Finished>),
    Here(Finished),
    Lost,
}

/// An answer that will never come: its job was dropped.
#[derive(Debug)]
struct Lost;

/// What an outlet has to offer.
#[derive(Debug)]
pub(super) enum Next {
    /// A reply to send.
    Reply(pb::SolveBatchResponse),
    /// The answers of a part will never come.
    Lost,
    /// Everything that was pushed is answered.
    Nothing,
}

/// The parts that are not yet answered.
#[derive(Debug)]
pub(super) struct Outlet {
    reply_bytes_max: usize,
    parts: VecDeque<Part>,
    boards: usize,
    solutions: usize,
    next_index: u64,
    /// A result that did not fit into the last reply.
    left_over: Option<pb::SolveResult>,
}

impl Part {
    pub(super) fn new(options: Options, len: usize) -> Self {
        Part {
            options,
            len,
            malformed: VecDeque::new(),
            answers: Awaited::Nothing,
            sent: 0,
            solved_sent: 0,
        }
    }

    pub(super) fn malformed(&mut self, place: usize, error: &MalformedBoard) {
        self.malformed.push_back((place, wire::malformed(error)));
    }

    pub(super) fn awaiting(self, finished: oneshot::Receiver<Finished>) -> Self {
        Part {
            answers: Awaited::Answers(finished),
            ..self
        }
    }

    fn solutions(&self) -> usize {
        let limit = usize::try_from(self.options.solution_limit).unwrap_or(usize::MAX);
        self.len.saturating_mul(limit)
    }

    /// Whether the answers are here.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        if let Awaited::Answers(receiver) = &mut self.answers {
            self.answers = match Pin::new(receiver).poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(finished)) => Awaited::Here(finished),
                Poll::Ready(Err(_)) => Awaited::Lost,
            };
        }
        Poll::Ready(if matches!(self.answers, Awaited::Lost) {
            Err(Lost)
        } else {
            Ok(())
        })
    }

    /// The next result; `None` when all are taken.
    fn take(&mut self) -> Result<Option<pb::SolveResult>, Lost> {
        let place = self.sent;
        if place == self.len {
            return Ok(None);
        }
        self.sent += 1;
        if let Some((_, result)) = self.malformed.pop_front_if(|(at, _)| *at == place) {
            return Ok(Some(result));
        }
        let Awaited::Here(finished) = &self.answers else {
            return Err(Lost);
        };
        let board = finished.boards.get(self.solved_sent).ok_or(Lost)?;
        let (answer, solutions) = finished.answers.get(self.solved_sent).ok_or(Lost)?;
        self.solved_sent += 1;
        Ok(Some(wire::result(board, answer, solutions)))
    }
}

impl Outlet {
    /// An outlet of replies up to so many bytes.
    pub(super) fn new(reply_bytes_max: usize) -> Self {
        Outlet {
            reply_bytes_max,
            parts: VecDeque::new(),
            boards: 0,
            solutions: 0,
            next_index: 0,
            left_over: None,
        }
    }

    /// Boards that are not yet answered.
    pub(super) fn boards(&self) -> usize {
        self.boards
    }

    /// Solutions that the unanswered boards may have.
    pub(super) fn solutions(&self) -> usize {
        self.solutions
    }

    pub(super) fn push(&mut self, part: Part) {
        self.boards += part.len;
        self.solutions = self.solutions.saturating_add(part.solutions());
        self.parts.push_back(part);
    }

    /// A reply with every result that is ready, up to the size of a reply. Ready results never
    /// wait for others to come.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        let mut results = Vec::new();
        let ready = self.collect(cx, &mut results);
        if results.is_empty() {
            return ready.map(|collected| {
                if collected.is_err() {
                    Next::Lost
                } else {
                    Next::Nothing
                }
            });
        }
        // Whatever stopped the collection is found again by the next poll.
        let first_index = self.next_index;
        self.next_index += u64::try_from(results.len()).unwrap_or(u64::MAX);
        Poll::Ready(Next::Reply(pb::SolveBatchResponse {
            first_index,
            results,
        }))
    }

    fn collect(
        &mut self,
        cx: &mut Context<'_>,
        results: &mut Vec<pb::SolveResult>,
    ) -> Poll<Result<(), Lost>> {
        let mut bytes = 0;
        while let Some(part) = self.parts.front_mut() {
            ready!(part.poll_ready(cx))?;
            results.reserve(part.len - part.sent);
            while let Some(result) = self
                .left_over
                .take()
                .map_or_else(|| part.take(), |left| Ok(Some(left)))?
            {
                bytes += wire::result_bytes_max(&result);
                if bytes > self.reply_bytes_max && !results.is_empty() {
                    self.left_over = Some(result);
                    return Poll::Ready(Ok(()));
                }
                results.push(result);
            }
            self.boards -= part.len;
            self.solutions = self.solutions.saturating_sub(part.solutions());
            self.parts.pop_front();
        }
        Poll::Ready(Ok(()))
    }
}
