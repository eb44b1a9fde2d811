//! Rounds of one measurement, and what they come to.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Passes over the same boards, one a round.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Boards of one pass.
    boards: usize,
    passes: Vec<Pass>,
}

/// What a pass took.
#[derive(Clone, Copy, Debug)]
struct Pass {
    wall: Duration,
    /// CPU time, if it is known.
    cpu: Option<Duration>,
}

/// A figure over all rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// Of the round in the middle: what can be counted on.
    pub(super) median: f64,
    /// Of the best round: what other work on the machine took least from.
    pub(super) best: f64,
}

impl Rounds {
    /// No round yet of passes over `boards` boards.
    pub(super) fn of(boards: usize) -> Rounds {
        Rounds {
            boards,
            passes: Vec::new(),
        }
    }

    /// Boards of one pass.
    pub(super) fn boards(&self) -> usize {
        self.boards
    }

    /// Notes a pass that began at `begun` and ends now.
    pub(super) fn add(&mut self, begun: Instant, cpu: Option<Duration>) {
        let wall = begun.elapsed();
        self.passes.push(Pass { wall, cpu });
    }

    /// Times a pass of this thread.
    pub(super) fn time(&mut self, pass: impl FnOnce()) {
        let (begun, cpu) = (Instant::now(), thread_cpu_time());
        pass();
        self.add(begun, Some(thread_cpu_time().saturating_sub(cpu)));
    }

    /// Boards a second.
    pub(super) fn per_second(&self) -> Spread {
        let walls = self.passes.iter().map(|pass| pass.wall.as_secs_f64());
        let wall = Spread::of_times(walls);
        // A clock that did not move must not make a figure that JSON cannot hold.
        let rate = |seconds: f64| count(self.boards) / seconds.max(1e-9);
        Spread {
            median: rate(wall.median),
            best: rate(wall.best),
        }
    }

    /// CPU time a board in ns.
    pub(super) fn cpu_nanos_per_board(&self) -> Option<Spread> {
        let nanos: Option<Vec<f64>> = (0..self.passes.len())
            .map(|round| self.nanos(round))
            .collect();
        nanos.map(|nanos| Spread::of_times(nanos.into_iter()))
    }

    /// How much more CPU time a board takes here than in `other`, in ns. The passes of a round follow one
    /// another, so that a slow phase of the machine is in both; the best is that of the best of each.
    pub(super) fn cpu_nanos_beyond(&self, other: &Rounds) -> Option<Spread> {
        let nanos: Option<Vec<f64>> = (0..self.passes.len())
            .map(|round| Some(self.nanos(round)? - other.nanos(round)?))
            .collect();
        let (own, others) = (self.cpu_nanos_per_board()?, other.cpu_nanos_per_board()?);
        Some(Spread {
            median: Spread::of_times(nanos?.into_iter()).median,
            best: own.best - others.best,
        })
    }

    fn nanos(&self, round: usize) -> Option<f64> {
        let cpu = self.passes.get(round)?.cpu?;
        Some(cpu.as_secs_f64() * 1e9 / count(self.boards))
    }
}

impl Spread {
    /// Of times, of which the shortest is the best.
    fn of_times(times: impl Iterator<Item = f64>) -> Spread {
        let mut times: Vec<f64> = times.collect();
        times.sort_unstable_by(f64::total_cmp);
        let at = |place: usize| times.get(place).copied().unwrap_or_default();
        Spread {
            median: at(times.len() / 2),
            best: at(0),
        }
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
