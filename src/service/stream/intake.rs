//! From request messages to jobs, as far as the window lets.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::{Semaphore, futures::OwnedNotified};
use tokio_stream::Stream as _;
use tonic::Streaming;

use super::{
    End,
    outlet::{Outlet, Part},
};
use crate::{
    board::{Board, text::MalformedBoard},
    limits,
    service::{
        Settings,
        deadline::Searches,
        failure::Failure,
        queue::{Job, Line},
    },
    solver::Options,
    wire::{
        self,
        batch_request::{BatchRequest, Texts},
    },
};

/// Reads messages and hands their boards to the solver threads.
pub(super) struct Intake {
    requests: Streaming<BatchRequest>,
    messages_read: u64,
    message: Option<Message>,
    /// A job that found the queue full, and its turn to try again.
    refused: Option<(Job, Part)>,
    room: Option<Pin<Box<OwnedNotified>>>,
    end: Option<Result<(), End>>,
    searches: Searches,
    settings: Settings,
    /// The permits of streams that could be opened yet.
    streams: Arc<Semaphore>,
}

/// What is left of a message to cut jobs from.
struct Message {
    boards: Texts,
    options: Options,
}

/// The boards of the next job. Texts that are no boards go around the solver.
struct Draft {
    options: Options,
    /// How many boards it may hold.
    most: usize,
    len: usize,
    boards: Vec<Board>,
    malformed: Vec<(usize, MalformedBoard)>,
}

impl Intake {
    pub(super) fn new(
        requests: Streaming<BatchRequest>,
        searches: Searches,
        settings: &Settings,
        streams: &Arc<Semaphore>,
    ) -> Self {
        Intake {
            requests,
            messages_read: 0,
            message: None,
            refused: None,
            room: None,
            end: None,
            searches,
            settings: *settings,
            streams: Arc::clone(streams),
        }
    }

    /// Reads, parses and hands over until the window is full, the queue is full, or nothing more
    /// is there yet.
    pub(super) fn poll_fill(&mut self, cx: &mut Context<'_>, outlet: &mut Outlet) {
        loop {
            if let Some((job, part)) = self.refused.take()
                && !self.submit(cx, job, part, outlet)
            {
                return;
            }
            // A part may overshoot the window, so that any part fits into an empty one.
            if outlet.boards() >= self.settings.window_boards
                || outlet.solutions() >= self.solutions_share()
            {
                return;
            }
            let Some(draft) = self.gather(cx) else {
                return;
            };
            if !draft.malformed.is_empty() {
                let tally = self.searches.queue().tally();
                tally.inspect(|tally| tally.malformed(draft.malformed.len()));
            }
            if draft.boards.is_empty() {
                outlet.push(Part::new(draft.options, draft.len, draft.malformed, None));
            } else {
                let cancel = Arc::clone(self.searches.flag());
                let (job, finished) = Job::new(draft.boards, draft.options, cancel);
                let part = Part::new(draft.options, draft.len, draft.malformed, Some(finished));
                self.refused = Some((job, part));
            }
        }
    }

    /// The boards of the next job: as many as are here and may go together. Messages that arrived
    /// together are solved together, and none waits for one that has not arrived.
    fn gather(&mut self, cx: &mut Context<'_>) -> Option<Draft> {
        let mut draft: Option<Draft> = None;
        loop {
            if let Some(message) = &mut self.message {
                let draft = draft.get_or_insert_with(|| Draft::new(message.options));
                if !draft.take(message) {
                    break;
                }
                if message.boards.is_empty() {
                    self.message = None;
                }
            } else if self.end.is_some() || self.poll_message(cx).is_pending() {
                break;
            }
        }
        draft
    }

    /// Solutions that this stream may have unanswered: clients that do not read would otherwise hold a
    /// whole window each. Never none, or the stream would stand still.
    fn solutions_share(&self) -> usize {
        let open = self.settings.streams_max - self.streams.available_permits();
        (self.settings.window_solutions / open.max(1)).max(1)
    }

    /// Whether boards are here that were not handed over yet.
    pub(super) fn holds_boards(&self) -> bool {
        self.message.is_some() || self.refused.is_some()
    }

    /// How the requests ended, once they have and all were taken in.
    pub(super) fn take_end(&mut self) -> Option<Result<(), End>> {
        if self.holds_boards() {
            None
        } else {
            self.end.take()
        }
    }

    /// Hands a job over, or keeps it and waits for room.
    fn submit(&mut self, cx: &mut Context<'_>, job: Job, part: Part, outlet: &mut Outlet) -> bool {
        let mut job = job;
        loop {
            if let Some(room) = &mut self.room {
                if room.as_mut().poll(cx).is_pending() {
                    self.refused = Some((job, part));
                    return false;
                }
                self.room = None;
            }
            match self.searches.queue().push(Line::Stream, job) {
                Ok(()) => {
                    outlet.push(part);
                    return true;
                }
                Err(returned) => {
                    job = returned;
                    self.room = Some(Box::pin(self.searches.queue().room()));
                }
            }
        }
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let polled = Pin::new(&mut self.requests).poll_next(cx);
        polled.map(|request| match request {
            None => self.end = Some(Ok(())),
            Some(Err(status)) => self.end = Some(Err(End::Unreadable(status))),
            Some(Ok(request)) => {
                self.messages_read += 1;
                match accept(self.messages_read, request, &self.settings) {
                    Ok(message) => self.message = message,
                    Err(failure) => self.end = Some(Err(End::Failure(failure))),
                }
            }
        })
    }
}

/// Checks what can be wrong with a message as a whole. One without boards is nothing.
fn accept(
    number: u64,
    request: BatchRequest,
    settings: &Settings,
) -> Result<Option<Message>, Failure> {
    let options = wire::options(
        request.options.as_ref(),
        settings.defaults,
        settings.solutions_max,
    )
    .map_err(|error| Failure::MessageOptions {
        message: number,
        error,
    })?;
    let boards = request.boards.sent();
    let max = settings.message_boards_max;
    if boards > max {
        return Err(Failure::MessageBoards {
            message: number,
            boards,
            max,
        });
    }
    Ok((boards > 0).then_some(Message {
        boards: request.boards,
        options,
    }))
}

impl Draft {
    fn new(options: Options) -> Self {
        let limit = usize::try_from(options.solution_limit).unwrap_or(usize::MAX);
        Draft {
            options,
            most: (limits::JOB_SOLUTIONS_MAX / limit).clamp(1, limits::JOB_BOARDS_MAX),
            len: 0,
            boards: Vec::new(),
            malformed: Vec::new(),
        }
    }

    /// Takes boards of a message as long as they may join these. Returns whether any did.
    fn take(&mut self, message: &mut Message) -> bool {
        let Draft {
            options,
            most,
            len,
            boards,
            malformed,
        } = self;
        if message.options != *options {
            return false;
        }
        let before = *len;
        *len += message.boards.take(*most - before, boards, |place, error| {
            malformed.push((before + place, error));
        });
        *len > before
    }
}
