//! Work on its way to the solver threads: bounded, and fair between single calls and streams.

use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::{Notify, futures::OwnedNotified, oneshot};

use super::tally::Tally;
use crate::{
    board::Board,
    solver::{CancelFlag, Options, answers::Answers},
};

/// Boards with the same options, solved together and answered at once.
#[derive(Debug)]
pub struct Job {
    boards: Vec<Board>,
    options: Options,
    cancel: Arc<CancelFlag>,
    reply: oneshot::Sender<Finished>,
    /// Since when it waits for a thread, if somebody asks.
    waits: Option<(Line, Instant)>,
}

/// A job's boards come back with their answers, as clashes are told from the board.
#[derive(Debug)]
pub struct Finished {
    /// The boards of the job.
    pub boards: Vec<Board>,
    /// One answer for each.
    pub answers: Answers,
}

impl Job {
    /// A job, and where its answers arrive. The receiver fails if the job is dropped unfinished,
    /// as when a solver thread panics.
    pub fn new(
        boards: Vec<Board>,
        options: Options,
        cancel: Arc<CancelFlag>,
    ) -> (Job, oneshot::Receiver<Finished>) {
        let (reply, finished) = oneshot::channel();
        (
            Job {
                boards,
                options,
                cancel,
                reply,
                waits: None,
            },
            finished,
        )
    }

    /// The boards to solve.
    pub fn boards(&self) -> &[Board] {
        &self.boards
    }

    /// How far to search each of them.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Raised when nobody waits for the answers any more.
    pub fn cancel(&self) -> &CancelFlag {
        &self.cancel
    }

    /// Hands the answers over.
    pub fn finish(self, answers: Answers) {
        // Without a receiver the call is gone, and so is the need for answers.
        let _ = self.reply.send(Finished {
            boards: self.boards,
            answers,
        });
    }
}

/// Who waits for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A single call, refused when its line is full.
    Call,
    /// A stream, which waits when its line is full.
    Stream,
}

/// Two bounded lines of jobs. Threads take from both in turn, so that neither many calls nor long
/// streams starve the other.
#[derive(Debug)]
pub struct Queue {
    state: Mutex<State>,
    work: Condvar,
    room: Arc<Notify>,
    calls_max: usize,
    stream_jobs_max: usize,
    tally: Option<Arc<Tally>>,
}

/// How much waits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Depth {
    /// Jobs.
    pub jobs: usize,
    /// Boards of them.
    pub boards: usize,
}

#[derive(Debug, Default)]
struct State {
    calls: VecDeque<Job>,
    stream_jobs: VecDeque<Job>,
    streams_next: bool,
    /// Threads that wait for a job. To wake one where none waits would be a system call for nothing.
    waiting: usize,
    closed: bool,
}

impl Queue {
    /// An empty queue. What waits in it, and what comes of it, is counted in `tally`.
    pub fn new(calls_max: usize, stream_jobs_max: usize, tally: Option<Arc<Tally>>) -> Self {
        Queue {
            state: Mutex::default(),
            work: Condvar::new(),
            room: Arc::new(Notify::new()),
            calls_max,
            stream_jobs_max,
            tally,
        }
    }

    /// Where boards are counted, if they are.
    pub fn tally(&self) -> Option<&Tally> {
        self.tally.as_deref()
    }

    /// What waits in a line now.
    pub fn depth(&self, line: Line) -> Depth {
        let mut state = self.lock();
        let jobs = state.line(line);
        Depth {
            jobs: jobs.len(),
            boards: jobs.iter().map(|job| job.boards.len()).sum(),
        }
    }

    /// Hands a job to the solver threads.
    ///
    /// # Errors
    ///
    /// Returns the job when its line is full or the queue closed.
    pub fn push(&self, line: Line, mut job: Job) -> Result<(), Job> {
        if self.tally.is_some() {
            // A job that is pushed again has waited all the time.
            job.waits.get_or_insert_with(|| (line, Instant::now()));
        }
        let mut state = self.lock();
        let max = self.line_max(line);
        if state.line(line).len() >= max {
            self.sweep(&mut state, line);
        }
        if state.closed || state.line(line).len() >= max {
            return Err(job);
        }
        state.line(line).push_back(job);
        let is_awaited = state.waiting > 0;
        drop(state);
        if is_awaited {
            self.work.notify_one();
        }
        Ok(())
    }

    /// Resolves once after a stream's job has left the queue. Ask after a refused push and try
    /// again when it resolves: what left in between is remembered.
    pub fn room(&self) -> OwnedNotified {
        Arc::clone(&self.room).notified_owned()
    }

    /// The next job, waiting for one; `None` once the queue is closed.
    pub fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = self.pop(&mut state) {
                drop(state);
                return Some(self.taken(job));
            }
            if state.closed {
                return None;
            }
            state.waiting += 1;
            state = self
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    /// The next job if there is one now.
    pub fn try_next(&self) -> Option<Job> {
        let job = self.pop(&mut self.lock());
        job.map(|job| self.taken(job))
    }

    /// Counts how long a job waited, without the lock.
    fn taken(&self, job: Job) -> Job {
        if let (Some(tally), Some((line, since))) = (&self.tally, job.waits) {
            let nanos = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
            tally.waited(line).record(nanos);
        }
        job
    }

    /// Forgets cancelled jobs when they hold much of the queue, so that calls that have gone away
    /// do not keep others out while every thread is busy.
    pub fn forget_cancelled(&self) {
        let mut state = self.lock();
        for line in [Line::Call, Line::Stream] {
            if state.line(line).len() > self.line_max(line) / 2 {
                self.sweep(&mut state, line);
            }
        }
    }

    /// Drops what waits and sends the threads home.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let dropped = (
            mem::take(&mut state.calls),
            mem::take(&mut state.stream_jobs),
        );
        drop(state);
        drop(dropped);
        self.work.notify_all();
    }

    fn pop(&self, state: &mut State) -> Option<Job> {
        loop {
            let line = match (state.calls.is_empty(), state.stream_jobs.is_empty()) {
                (true, true) => return None,
                (true, false) => Line::Stream,
                (false, false) if state.streams_next => Line::Stream,
                (false, _) => Line::Call,
            };
            state.streams_next = line == Line::Call;
            let job = state.line(line).pop_front();
            if line == Line::Stream {
                self.room.notify_one();
            }
            if job.as_ref().is_none_or(|job| !job.cancel.is_cancelled()) {
                return job;
            }
        }
    }

    fn sweep(&self, state: &mut State, line: Line) {
        let jobs = state.line(line);
        let before = jobs.len();
        jobs.retain(|job| !job.cancel.is_cancelled());
        if line == Line::Stream {
            // One for each that left, as each may let another stream go on.
            (jobs.len()..before).for_each(|_| self.room.notify_one());
        }
    }

    fn line_max(&self, line: Line) -> usize {
        match line {
            Line::Call => self.calls_max,
            Line::Stream => self.stream_jobs_max,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No job runs under the lock, and each step leaves both lanes whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn line(&mut self, line: Line) -> &mut VecDeque<Job> {
        match line {
            Line::Call => &mut self.calls,
            Line::Stream => &mut self.stream_jobs,
        }
    }
}
