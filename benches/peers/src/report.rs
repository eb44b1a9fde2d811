//! The figures of a set.

use std::fmt;

use serde::Serialize;
use sudoku_solver::batch::Level;

use crate::{contest::Contest, contestants::Contestant};

/// Boards a second and ratios to the crate `sudoku`, of one set.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    set: String,
    boards: usize,
    cpu_level: &'static str,
    engine: Rates,
    single: Rates,
    sudoku: Rates,
    /// Engine to `sudoku`.
    ratio: Rates,
    /// Single-board solver to `sudoku`.
    single_ratio: Rates,
}

/// Of all rounds.
#[derive(Clone, Copy, Debug, Serialize)]
struct Rates {
    best: f64,
    median: f64,
}

impl Rates {
    fn of(contest: &Contest, who: Contestant) -> Rates {
        Rates {
            best: contest.best(who),
            median: contest.median(who),
        }
    }

    fn to(self, other: Rates) -> Rates {
        Rates {
            best: self.best / other.best,
            median: self.median / other.median,
        }
    }

    fn rounded(self, scale: f64) -> Rates {
        Rates {
            best: (self.best * scale).round() / scale,
            median: (self.median * scale).round() / scale,
        }
    }

    /// In thousands.
    fn thousands(self) -> String {
        format!("{:.1} / {:.1}", self.best / 1e3, self.median / 1e3)
    }
}

impl Row {
    pub(crate) fn of(set: &str, boards: usize, level: Level, contest: &Contest) -> Row {
        let [engine, sudoku, single] = Contestant::EVERY.map(|who| Rates::of(contest, who));
        Row {
            set: set.to_owned(),
            boards,
            cpu_level: level.name(),
            engine: engine.rounded(1.0),
            single: single.rounded(1.0),
            sudoku: sudoku.rounded(1.0),
            ratio: engine.to(sudoku).rounded(1e3),
            single_ratio: single.to(sudoku).rounded(1e3),
        }
    }

    pub(crate) fn heading(level: Level) -> String {
        format!(
            "Count to 2 and the grids, in thousands of boards a second of CPU time, best / median \
             of the rounds;\nratios to the crate sudoku, of the bests and of the medians.\n\n\
             | set | boards | engine ({level}) | sudoku 0.8 | single-board solver \
             | engine, best | engine, median | single, best | single, median |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|"
        )
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "| {} | {} | {} | {} | {} | {:.2} | {:.2} | {:.2} | {:.2} |",
            self.set,
            self.boards,
            self.engine.thousands(),
            self.sudoku.thousands(),
            self.single.thousands(),
            self.ratio.best,
            self.ratio.median,
            self.single_ratio.best,
            self.single_ratio.median,
        )
    }
}
