//! From finished jobs to replies, in the order of the stream.

use std::{
    collections::VecDeque,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::sync::oneshot;

use crate::{
    board::text::MalformedBoard,
    service::queue::Finished,
    solver::{Options, answers::Answers},
    wire::batch_reply::{BatchReply, Results},
};

/// Consecutive boards of a stream that are answered together.
#[derive(Debug)]
pub(super) struct Part {
    options: Options,
    len: usize,
    state: State,
    /// Boards of this part that are in a reply already.
    sent: usize,
}

#[derive(Debug)]
enum State {
    /// The boards that go around the solver, with their places among those of this part, and where
    /// the answers to the others arrive.
    Awaited(
        Vec<(usize, MalformedBoard)>,
        Option<oneshot::Receiver<Finished>>,
    ),
    Here(Arc<Results>),
    Lost,
}

/// An answer that will never come: its job was dropped.
#[derive(Debug)]
struct Lost;

/// What an outlet has to offer.
#[derive(Debug)]
pub(super) enum Next {
    /// A reply to send.
    Reply(BatchReply),
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
}

impl Part {
    /// A part of `len` boards, some of which may be malformed. Without a receiver all are.
    pub(super) fn new(
        options: Options,
        len: usize,
        malformed: Vec<(usize, MalformedBoard)>,
        finished: Option<oneshot::Receiver<Finished>>,
    ) -> Self {
        Part {
            options,
            len,
            state: State::Awaited(malformed, finished),
            sent: 0,
        }
    }

    fn solutions(&self) -> usize {
        let limit = usize::try_from(self.options.solution_limit).unwrap_or(usize::MAX);
        self.len.saturating_mul(limit)
    }

    /// The results, once they are here.
    fn poll_results(&mut self, cx: &mut Context<'_>) -> Poll<Result<&Arc<Results>, Lost>> {
        if let State::Awaited(malformed, finished) = &mut self.state {
            let finished = match finished {
                Some(finished) => ready!(Pin::new(finished).poll(cx)).ok(),
                None => Some(Finished {
                    boards: Vec::new(),
                    answers: Answers::default(),
                }),
            };
            let results = finished.and_then(|Finished { boards, answers }| {
                Results::new(boards, answers, mem::take(malformed))
            });
            self.state = match results {
                Some(results) if results.len() == self.len => State::Here(Arc::new(results)),
                _ => State::Lost,
            };
        }
        Poll::Ready(match &self.state {
            State::Here(results) => Ok(results),
            _ => Err(Lost),
        })
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
        let mut reply = BatchReply::new(self.next_index);
        let ready = self.collect(cx, &mut reply);
        if reply.is_empty() {
            return ready.map(|collected| {
                if collected.is_err() {
                    Next::Lost
                } else {
                    Next::Nothing
                }
            });
        }
        // Whatever stopped the collection is found again by the next poll.
        self.next_index += u64::try_from(reply.len()).unwrap_or(u64::MAX);
        Poll::Ready(Next::Reply(reply))
    }

    fn collect(&mut self, cx: &mut Context<'_>, reply: &mut BatchReply) -> Poll<Result<(), Lost>> {
        while let Some(part) = self.parts.front_mut() {
            let sent = part.sent;
            let results = ready!(part.poll_results(cx))?;
            let added = reply.add(results, sent, self.reply_bytes_max);
            part.sent += added;
            if part.sent < part.len {
                return Poll::Ready(Ok(()));
            }
            self.boards -= part.len;
            self.solutions = self.solutions.saturating_sub(part.solutions());
            self.parts.pop_front();
        }
        Poll::Ready(Ok(()))
    }
}
