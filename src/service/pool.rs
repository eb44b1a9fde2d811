//! The solver threads. All searches run here but the shortest (`quick`), so that the runtime stays free
//! to answer whoever else calls.

use std::{io, num::NonZeroUsize, sync::Arc, thread};

use super::{queue::Queue, worker::Worker};
use crate::batch::{Engine, Level};

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
    /// The system refuses a thread, or the CPU lacks the level.
    pub fn start(workers: NonZeroUsize, level: Level, queue: Arc<Queue>) -> io::Result<Self> {
        let pool = Pool { queue };
        for number in 0..workers.get() {
            let queue = Arc::clone(&pool.queue);
            let engine = Engine::new(level).ok_or(io::ErrorKind::Unsupported)?;
            thread::Builder::new()
                .name(format!("solver-{number}"))
                .spawn(move || Worker::new(&queue, engine).run())?;
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
