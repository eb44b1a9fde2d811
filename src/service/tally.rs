//! What the service counts while it works, for whoever exports it. Only kept when somebody asks.
//!
//! Boards are counted a job at a time: added up in an array on the stack, then added to what all
//! threads share. No lock, and nothing looked up by its name.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::{
    histogram::{Histogram, Times},
    queue::Line,
};
use crate::{
    solver::{Verdict, answers::Answers},
    wire::{self, pb::SolveStatus},
};

/// Numbers of statuses in the contract, from 0.
const STATUSES: usize = 8;

/// The counts of a service.
#[derive(Debug, Default)]
pub struct Tally {
    statuses: [AtomicU64; STATUSES],
    solve: Histogram,
    calls_waited: Histogram,
    jobs_waited: Histogram,
    threads_busy: AtomicUsize,
    lanes_in_use: AtomicUsize,
}

impl Tally {
    /// Boards by what they turned out to be.
    pub fn boards(&self) -> impl Iterator<Item = (SolveStatus, u64)> {
        let statuses = (0..).map_while(|number| SolveStatus::try_from(number).ok());
        statuses
            .zip(&self.statuses)
            .filter(|&(status, _)| status != SolveStatus::Unspecified)
            .map(|(status, boards)| (status, boards.load(Relaxed)))
    }

    /// Engine time of each board.
    pub fn solve(&self) -> &Histogram {
        &self.solve
    }

    /// Time that each job of a line waited for a solver thread.
    pub fn waited(&self, line: Line) -> &Histogram {
        match line {
            Line::Call => &self.calls_waited,
            Line::Stream => &self.jobs_waited,
        }
    }

    /// Solver threads that have work.
    pub fn threads_busy(&self) -> usize {
        self.threads_busy.load(Relaxed)
    }

    /// Lanes of all engines with a board of their own, or of a job that is not answered yet.
    pub fn lanes_in_use(&self) -> usize {
        self.lanes_in_use.load(Relaxed)
    }

    /// Counts the boards of a job.
    pub(super) fn answered(&self, answers: &Answers) {
        let mut statuses = [0_u64; STATUSES];
        let mut times = Times::NONE;
        for answer in &answers.answers {
            let verdict = answer.outcome.verdict;
            // Nobody was told.
            if verdict != Verdict::Cancelled {
                statuses[number(wire::status(verdict))] += 1;
                times.record(answer.solve_nanos);
            }
        }
        for (shared, boards) in self.statuses.iter().zip(statuses) {
            if boards > 0 {
                shared.fetch_add(boards, Relaxed);
            }
        }
        self.solve.add(&times);
    }

    /// Counts texts that are no boards.
    pub(super) fn malformed(&self, boards: usize) {
        let boards = u64::try_from(boards).unwrap_or(u64::MAX);
        self.statuses[number(SolveStatus::Malformed)].fetch_add(boards, Relaxed);
    }

    /// A thread has work until what is returned is dropped, also by a panic.
    pub(super) fn busy(&self) -> Busy<'_> {
        self.threads_busy.fetch_add(1, Relaxed);
        Busy(self)
    }

    /// The lanes of one engine.
    pub(super) fn lanes(&self, of_engine: usize) -> Lanes<'_> {
        Lanes {
            tally: self,
            of_engine,
            boards: 0,
        }
    }
}

/// A thread at work.
#[derive(Debug)]
pub(super) struct Busy<'a>(&'a Tally);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.threads_busy.fetch_sub(1, Relaxed);
    }
}

/// The lanes of one engine, for as long as it runs. The engine itself counts nothing, so a job's boards
/// count until the job is answered.
#[derive(Debug)]
pub(super) struct Lanes<'a> {
    tally: &'a Tally,
    of_engine: usize,
    boards: usize,
}

impl Lanes<'_> {
    pub(super) fn begun(&mut self, boards: usize) {
        self.set(self.boards + boards);
    }

    pub(super) fn answered(&mut self, boards: usize) {
        self.set(self.boards.saturating_sub(boards));
    }

    fn set(&mut self, boards: usize) {
        let used = |boards: usize| boards.min(self.of_engine);
        let (before, after) = (used(self.boards), used(boards));
        if after > before {
            self.tally.lanes_in_use.fetch_add(after - before, Relaxed);
        } else {
            self.tally.lanes_in_use.fetch_sub(before - after, Relaxed);
        }
        self.boards = boards;
    }
}

impl Drop for Lanes<'_> {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// A status as its number in the contract, which is its place in the counts.
fn number(status: SolveStatus) -> usize {
    status as usize % STATUSES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_place() {
        let tally = Tally::default();
        assert_eq!(tally.boards().count(), STATUSES - 1);
        assert!(SolveStatus::try_from(i32::try_from(STATUSES).unwrap()).is_err());
    }

    #[test]
    fn lanes_are_no_more_than_an_engine_has() {
        let tally = Tally::default();
        let mut first = tally.lanes(256);
        let mut second = tally.lanes(256);
        first.begun(300);
        second.begun(10);
        assert_eq!(tally.lanes_in_use(), 266);
        first.answered(100);
        assert_eq!(tally.lanes_in_use(), 210);
        drop(first);
        assert_eq!(tally.lanes_in_use(), 10);
    }
}
