//! What could not be answered, told in the end.

use std::sync::Arc;

use crate::{
    cli::say,
    client::{Reason, Unanswered},
};

/// Lines that are printed about unanswered boards; the rest is counted.
const LINES_MAX: usize = 20;

/// The boards without an answer, in ranges that share a reason.
#[derive(Debug, Default)]
pub(super) struct Report {
    ranges: Vec<Range>,
    /// Boards beyond the ranges that are kept.
    more: u64,
}

#[derive(Debug)]
struct Range {
    first: u64,
    last: u64,
    reason: Arc<Reason>,
}

impl Report {
    pub(super) fn note(&mut self, board: &Unanswered<'_>) {
        if let Some(range) = self.ranges.last_mut()
            && self.more == 0
            && range.last + 1 == board.index
            && *range.reason == *board.reason
        {
            range.last = board.index;
        } else if self.ranges.len() < LINES_MAX {
            self.ranges.push(Range {
                first: board.index,
                last: board.index,
                reason: Arc::clone(&board.reason),
            });
        } else {
            self.more += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Prints what there is to say. `unread` is the place of the first board that was not even
    /// taken in, and why, if the job ended before its input.
    pub(super) fn print(&self, unread: Option<(u64, &Reason)>) {
        for Range {
            first,
            last,
            reason,
        } in &self.ranges
        {
            if first == last {
                say(&format!("board {first}: UNANSWERED: {reason}"));
            } else {
                say(&format!("boards {first} to {last}: UNANSWERED: {reason}"));
            }
        }
        if self.more > 0 {
            say(&format!("and {} more boards: UNANSWERED", self.more));
        }
        if let Some((first, reason)) = unread {
            say(&format!("boards from {first} on: not sent: {reason}"));
        }
    }
}
