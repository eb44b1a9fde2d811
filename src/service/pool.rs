//! The solver threads. Searches run here and nowhere else, so that the runtime stays free to
//! answer whoever else calls.

use std::{
    io,
    num::NonZeroUsize,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    thread,
    time::Instant,
};

use super::queue::{Job, Queue};
use crate::solver::{
    Solver,
    answers::{Answer, Answers},
};

/// A fixed number of solver threads and the queue that feeds them. Dropping the pool closes the
/// queue; each thread ends when the job it works on does.
#[derive(Debug)]
pub struct Pool {
    queue: Arc<Queue>,
}

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// The system refuses a thread.
    pub fn start(workers: NonZeroUsize, queue: Queue) -> io::Result<Self> {
        let pool = Pool {
            queue: Arc::new(queue),
        };
        for number in 0..workers.get() {
            let queue = Arc::clone(&pool.queue);
            thread::Builder::new()
                .name(format!("solver-{number}"))
                .spawn(move || run(&queue))?;
        }
        Ok(pool)
    }

    /// Where to put work.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// The life of a solver thread. A panic costs the job it happened in, whose receiver fails, and
/// the engine, whose state nobody can vouch for; the thread goes on with a new one.
fn run(queue: &Queue) {
    loop {
        let worked = panic::catch_unwind(AssertUnwindSafe(|| {
            let mut solver = Solver::new();
            while let Some(job) = queue.next() {
                solve(&mut solver, job);
            }
        }));
        if worked.is_ok() {
            return;
        }
        tracing::error!("a solver thread panicked; its job is lost");
    }
}

fn solve(solver: &mut Solver, job: Job) {
    #[cfg(debug_assertions)]
    super::fault::strike(job.boards());
    let mut answers = Answers::with_capacity(job.boards().len());
    // One reading of the clock a board: where one ends the next begins, and the times add up.
    let mut begun = Instant::now();
    for board in job.boards() {
        let first_solution = u32::try_from(answers.solutions.len()).unwrap_or(u32::MAX);
        let outcome = solver.solve(board, job.options(), job.cancel(), &mut answers.solutions);
        if job.cancel().is_cancelled() {
            return;
        }
        let ended = Instant::now();
        let solve_nanos = u64::try_from((ended - begun).as_nanos()).unwrap_or(u64::MAX);
        answers.answers.push(Answer {
            outcome,
            solve_nanos,
            first_solution,
        });
        begun = ended;
    }
    job.finish(answers);
}
