//! The life of a solver thread.
//!
//! ```text
//! queue --> a few boards: one after another, to a node limit --> answers
//!       |                                  | past the limit
//!       +--> many boards -----------------> engine: all at once --> answers
//! ```

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    time::Instant,
};

use super::{
    queue::{Job, Queue},
    tally::{Lanes, Tally},
};
use crate::{
    batch::{Engine, Level, LevelSolver, Task, Tasks},
    board::Board,
    solver::{
        Options, Verdict,
        answers::{Answer, Answers},
    },
};

/// Below this many boards the engine's vectors do not pay: one sweep takes as long for one board as
/// for all lanes. A compromise: they pay for hard boards from 8 on, for easy ones from some 40
/// (`docs/batch-engine.md` has the measurement).
const ENGINE_BOARDS_MIN: usize = 32;

/// Nodes after which a board is left to the engine, where idle lanes share its search. It begins anew
/// there: carrying the search over would save a tenth of a millisecond of what takes longer by far.
const ALONE_NODES_MAX: u32 = 512;

/// The most solutions that the boards of a job in the engine may ask for. Where solutions abound a
/// lane finds one after the other, at the pace of a sweep, where the single-board solver takes less
/// than a microsecond; and lanes cannot help each other.
const ENGINE_SOLUTIONS_MAX: u32 = 64;

/// A thread's engines and the jobs that it has begun.
pub(super) struct Worker<'a> {
    queue: &'a Queue,
    engine: Engine,
    solver: LevelSolver,
    /// Jobs taken from the queue and not finished. Kept here, so that they outlive a panic.
    begun: Vec<Arc<Job>>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(queue: &'a Queue, engine: Engine) -> Self {
        Worker {
            queue,
            solver: LevelSolver::new(engine.level()),
            engine,
            begun: Vec::new(),
        }
    }

    /// Works until the queue is closed.
    ///
    /// A panic ends in the jobs that it happened in: each job that was under way is tried again
    /// alone, and those that panic again are dropped, which their callers notice.
    pub(super) fn run(mut self) {
        let level = self.engine.level();
        loop {
            let worked = panic::catch_unwind(AssertUnwindSafe(|| self.work()));
            if worked.is_ok() {
                return;
            }
            tracing::error!(
                jobs = self.begun.len(),
                "a solver thread panicked; trying its jobs alone"
            );
            if let Some(engine) = Engine::new(level) {
                self.engine = engine;
            }
            for job in std::mem::take(&mut self.begun) {
                let alone = panic::catch_unwind(AssertUnwindSafe(|| solve_alone(&job, level)));
                match alone {
                    Ok(answers) => {
                        finish(job, answers, self.queue.tally());
                    }
                    Err(_) => {
                        tracing::error!(boards = job.boards().len(), "a job panicked; it is lost");
                    }
                }
            }
        }
    }

    fn work(&mut self) {
        while let Some(job) = self.queue.next() {
            let _busy = self.queue.tally().map(Tally::busy);
            self.begin(job);
            // Calls of one board each that wait together are solved together.
            while self.boards() < ENGINE_BOARDS_MIN
                && let Some(job) = self.queue.try_next()
            {
                self.begin(job);
            }
            while !self.begun.is_empty() {
                self.solve_one_by_one();
                self.solve_at_once();
            }
        }
    }

    fn begin(&mut self, job: Job) {
        self.begun.push(Arc::new(job));
    }

    /// Boards of the jobs at hand.
    fn boards(&self) -> usize {
        self.begun.iter().map(|job| job.boards().len()).sum()
    }

    /// Solves one board after another what the engine is not for: few boards, up to some nodes, and
    /// jobs that ask for many solutions.
    fn solve_one_by_one(&mut self) {
        let few = self.boards() < ENGINE_BOARDS_MIN;
        for job in self.begun.clone() {
            let node_limit = match (asks_for_many(&job), few) {
                (true, _) => job.options().node_limit,
                (false, true) => job.options().node_limit.min(ALONE_NODES_MAX),
                (false, false) => continue,
            };
            strike(&job);
            let options = Options {
                node_limit,
                ..job.options()
            };
            let answers = solve_each(&mut self.solver, &job, options);
            let stopped = |answer: &Answer| answer.outcome.verdict == Verdict::Undecided;
            let is_final = node_limit == job.options().node_limit;
            if is_final || !answers.answers.iter().any(stopped) {
                self.begun.retain(|begun| !Arc::ptr_eq(begun, &job));
                finish(job, answers, self.queue.tally());
            }
        }
    }

    /// Solves the jobs at hand in the engine, and with them whatever else comes meanwhile.
    fn solve_at_once(&mut self) {
        if self.begun.is_empty() {
            return;
        }
        let Worker {
            queue,
            engine,
            begun,
            ..
        } = self;
        let waiting = begun.clone();
        let lanes = engine.level().lanes();
        engine.run(&mut Intake {
            waiting,
            queue,
            begun,
            lanes: queue.tally().map(|tally| tally.lanes(lanes)),
            is_open: true,
        });
    }
}

/// Whether a job's boards are better searched one by one because of the solutions it asks for.
fn asks_for_many(job: &Job) -> bool {
    job.options().solution_limit > ENGINE_SOLUTIONS_MAX
}

/// What the engine works on.
struct Intake<'a> {
    waiting: Vec<Arc<Job>>,
    queue: &'a Queue,
    begun: &'a mut Vec<Arc<Job>>,
    lanes: Option<Lanes<'a>>,
    /// Until a job came that is not for the engine: it waits for the engine to run dry.
    is_open: bool,
}

impl Tasks for Intake<'_> {
    type Task = Arc<Job>;

    fn next(&mut self) -> Option<Arc<Job>> {
        let job = match self.waiting.pop() {
            Some(job) => job,
            None if self.is_open => {
                let job = Arc::new(self.queue.try_next()?);
                self.begun.push(Arc::clone(&job));
                job
            }
            None => return None,
        };
        if asks_for_many(&job) {
            self.is_open = false;
            return None;
        }
        strike(&job);
        if let Some(lanes) = &mut self.lanes {
            lanes.begun(job.boards().len());
        }
        Some(job)
    }

    fn done(&mut self, job: Arc<Job>, answers: Answers) {
        if let Some(lanes) = &mut self.lanes {
            lanes.answered(job.boards().len());
        }
        self.begun.retain(|begun| !Arc::ptr_eq(begun, &job));
        finish(job, answers, self.queue.tally());
    }
}

impl Task for Arc<Job> {
    fn boards(&self) -> &[Board] {
        Job::boards(self)
    }

    fn options(&self) -> Options {
        Job::options(self)
    }

    fn is_cancelled(&self) -> bool {
        self.cancel().is_cancelled()
    }
}

/// Solves a job with an engine of its own: nothing is left of one that panics.
fn solve_alone(job: &Job, level: Level) -> Answers {
    strike(job);
    solve_each(&mut LevelSolver::new(level), job, job.options())
}

fn solve_each(solver: &mut LevelSolver, job: &Job, options: Options) -> Answers {
    let mut answers = Answers::with_capacity(job.boards().len());
    // One reading of the clock a board: where one ends the next begins, and the times add up.
    let mut begun = Instant::now();
    for board in job.boards() {
        let first_solution = u32::try_from(answers.solutions.len()).unwrap_or(u32::MAX);
        let outcome = solver.solve(board, options, job.cancel(), &mut answers.solutions);
        let ended = Instant::now();
        let solve_nanos = u64::try_from((ended - begun).as_nanos()).unwrap_or(u64::MAX);
        answers.answers.push(Answer {
            outcome,
            solve_nanos,
            first_solution,
        });
        begun = ended;
    }
    answers
}

/// Counts the answers of a job and hands them over, unless it was cancelled.
fn finish(job: Arc<Job>, answers: Answers, tally: Option<&Tally>) {
    if let Some(job) = Arc::into_inner(job)
        && !job.cancel().is_cancelled()
    {
        tally.inspect(|tally| tally.answered(&answers));
        job.finish(answers);
    }
}

/// Panics on the board that tests the panic of a thread; no such board is in a release build.
fn strike(job: &Job) {
    #[cfg(debug_assertions)]
    super::fault::strike(job.boards());
    let _ = job;
}
