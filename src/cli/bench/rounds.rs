//! Rounds of one measurement, and what they come to.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Passes over the same boards, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Boards of one pass.
    boards: usize,
    /// How long each pass took, the shortest first.
    walls: Vec<Duration>,
    /// CPU time of all passes together, if it is known.
    cpu: Option<Duration>,
}

impl Rounds {
    /// The rounds of `walls`, at least one, each over `boards` boards.
    pub(super) fn new(boards: usize, mut walls: Vec<Duration>, cpu: Option<Duration>) -> Rounds {
        walls.sort_unstable();
        Rounds { boards, walls, cpu }
    }

    /// Repeats a pass on this thread until `seconds` are over, at least once.
    pub(super) fn on_this_thread(
        boards: usize,
        seconds: Duration,
        mut pass: impl FnMut(),
    ) -> Rounds {
        let mut walls = Vec::new();
        let cpu = thread_cpu_time();
        let begun = Instant::now();
        let mut last = begun;
        while walls.is_empty() || last - begun < seconds {
            pass();
            let now = Instant::now();
            walls.push(now - last);
            last = now;
        }
        Rounds::new(boards, walls, Some(thread_cpu_time().saturating_sub(cpu)))
    }

    /// Boards a second in the round in the middle: what can be counted on.
    pub(super) fn median_per_second(&self) -> f64 {
        self.per_second(self.walls.get(self.walls.len() / 2))
    }

    /// Boards a second in the best round: what other work on the machine took least from.
    pub(super) fn best_per_second(&self) -> f64 {
        self.per_second(self.walls.first())
    }

    /// CPU time a board in ns, the mean of all rounds.
    pub(super) fn cpu_nanos_per_board(&self) -> Option<f64> {
        let boards = count(self.boards) * count(self.walls.len());
        Some(self.cpu?.as_secs_f64() * 1e9 / boards)
    }

    fn per_second(&self, wall: Option<&Duration>) -> f64 {
        // A clock that did not move must not make a figure that JSON cannot hold.
        let wall = wall
            .copied()
            .unwrap_or_default()
            .max(Duration::from_nanos(1));
        count(self.boards) / wall.as_secs_f64()
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn count(count: usize) -> f64 {
    count as f64
}

/// CPU time that this thread has had.
fn thread_cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
