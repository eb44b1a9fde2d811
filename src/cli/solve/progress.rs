//! How far a run is, while it lasts, and what it came to.

use std::time::Instant;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::lines::UNANSWERED;
use crate::{
    cli::say,
    client::{Answer, Status},
};

/// Counts answers; shows a bar where standard error is a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    started: Instant,
    /// By the place of the status in [`Status::ALL`].
    counts: [u64; Status::ALL.len()],
    unanswered: u64,
}

impl Progress {
    pub(super) fn new() -> Progress {
        // Draws nothing where standard error is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} boards, {per_sec}") {
            bar.set_style(style);
        }
        Progress {
            bar,
            started: Instant::now(),
            counts: [0; Status::ALL.len()],
            unanswered: 0,
        }
    }

    pub(super) fn count(&mut self, answer: &Answer<'_>) {
        self.bar.inc(1);
        let counts = self.counts.iter_mut().zip(Status::ALL);
        for (count, status) in counts {
            *count += u64::from(status == answer.status);
        }
    }

    pub(super) fn count_unanswered(&mut self) {
        self.unanswered += 1;
    }

    /// Runs `print` with the bar out of its way: both may be on the same terminal.
    pub(super) fn beside<T>(&self, print: impl FnOnce() -> T) -> T {
        if self.bar.is_hidden() {
            print()
        } else {
            self.bar.suspend(print)
        }
    }

    /// Takes the bar away and prints the closing summary.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
        let boards = self.counts.iter().sum::<u64>() + self.unanswered;
        let seconds = self.started.elapsed().as_secs_f64();
        let names = Status::ALL.iter().map(|status| status.name());
        let statuses: Vec<String> = names
            .zip(self.counts)
            .chain([(UNANSWERED, self.unanswered)])
            .filter(|&(_, count)| count > 0)
            .map(|(status, count)| format!("{} {status}", HumanCount(count)))
            .collect();
        let plural = if boards == 1 { "" } else { "s" };
        let boards_in_time = format!("{} board{plural} in {seconds:.2} s", HumanCount(boards));
        if boards == 0 {
            return say(&boards_in_time);
        }
        let rate = HumanCount(rate(boards, seconds));
        say(&format!(
            "{boards_in_time}, {rate} boards a second: {}",
            statuses.join(", ")
        ));
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate for people; the cast saturates"
)]
fn rate(boards: u64, seconds: f64) -> u64 {
    (boards as f64 / seconds.max(1e-9)).round() as u64
}
