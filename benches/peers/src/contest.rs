//! The rounds: everyone's turn on the same boards, then the next boards.

use std::{ops::Range, time::Duration};

use rustix::time::{ClockId, clock_gettime};

use sudoku_solver::board::Board;

use crate::contestants::{Contestant, Contestants};

/// Boards of one turn: enough that filling the engine at its start and emptying it at its end are a
/// small part of it, as in a service at work (of 5,120 boards of `mixed_verdicts` they took a sixth), and
/// few enough that a round is over before the machine has changed its mind.
const TURN_BOARDS: usize = 25_600;

/// A smaller set is repeated until a turn has so many boards, for the same reason.
const TURN_BOARDS_MIN: usize = 5_120;

/// The boards of a set, as often as a turn needs them.
pub(crate) fn repeated(set: &[Board]) -> Vec<Board> {
    let times = TURN_BOARDS_MIN.div_ceil(set.len().max(1));
    set.repeat(times)
}

/// Boards a second of everyone, a figure a round, the best first.
pub(crate) struct Contest {
    rates: [Vec<f64>; 3],
}

impl Contest {
    /// Holds so many rounds. A set of more than [`TURN_BOARDS`] is walked through.
    pub(crate) fn hold(contestants: &mut Contestants<'_>, rounds: u32) -> anyhow::Result<Contest> {
        let parts = parts(contestants.boards.len());
        let mut rates = [const { Vec::new() }; 3];
        for (round, part) in (0..rounds as usize).zip(parts.iter().cycle()) {
            let mut counts = [0; 3];
            for turn in 0..3 {
                // Nobody comes always first, or always after the same one.
                let at = (round + turn) % 3;
                let (count, rate) = take_turn(contestants, Contestant::EVERY[at], part);
                counts[at] = count;
                rates[at].push(rate);
            }
            anyhow::ensure!(
                counts.iter().all(|&count| count == counts[0]),
                "boards {part:?}: {:?} counted {counts:?} solutions",
                Contestant::EVERY
            );
        }
        for rates in &mut rates {
            rates.sort_by(|a, b| b.total_cmp(a));
        }
        Ok(Contest { rates })
    }

    pub(crate) fn best(&self, who: Contestant) -> f64 {
        self.rates(who).first().copied().unwrap_or_default()
    }

    pub(crate) fn median(&self, who: Contestant) -> f64 {
        let rates = self.rates(who);
        rates.get(rates.len() / 2).copied().unwrap_or_default()
    }

    fn rates(&self, who: Contestant) -> &[f64] {
        &self.rates[who as usize]
    }
}

/// The part of the set of each round: all of a small one; else parts of one size that cover it.
fn parts(boards: usize) -> Vec<Range<usize>> {
    let size = TURN_BOARDS.min(boards);
    let count = boards.div_ceil(size);
    let start = |part: usize| part * (boards - size) / (count - 1).max(1);
    (0..count)
        .map(|part| start(part)..start(part) + size)
        .collect()
}

fn take_turn(
    contestants: &mut Contestants<'_>,
    who: Contestant,
    part: &Range<usize>,
) -> (u64, f64) {
    let begun = thread_cpu_time();
    let count = contestants.solve(who, part.clone());
    // A clock that did not move must not make a rate that is no number.
    let spent = thread_cpu_time().saturating_sub(begun);
    let spent = spent.max(Duration::from_nanos(1));
    #[expect(clippy::cast_precision_loss, reason = "some thousand boards")]
    (count, part.len() as f64 / spent.as_secs_f64())
}

fn thread_cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
