//! Which vectors to use: what the CPU offers, decided once.

use std::{fmt, str::FromStr};

#[cfg(target_arch = "x86_64")]
use super::x86::{Avx2Core, Avx512Core};
use super::{desk::Tasks, engine::Core};
use crate::{
    board::Board,
    solver::{CancelFlag, Options, Outcome, Solver},
};

/// The vector instructions that an engine uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// What every CPU has: 128-bit vectors on x86-64 and 64-bit Arm.
    Portable,
    /// 256-bit vectors.
    Avx2,
    /// 512-bit vectors.
    Avx512,
}

impl Level {
    /// Every level, the slowest first.
    pub const EVERY: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// The best level of this CPU.
    pub fn detect() -> Level {
        let best = Level::EVERY
            .into_iter()
            .rev()
            .find(|level| level.is_available());
        best.unwrap_or(Level::Portable)
    }

    /// Whether this CPU has the level.
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Avx2Core::is_available(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Avx512Core::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        }
    }

    /// Boards in one vector.
    pub const fn lanes(self) -> usize {
        match self {
            Level::Portable => 64 * PORTABLE_WORDS,
            Level::Avx2 => 256,
            Level::Avx512 => 512,
        }
    }

    /// The name that flags and logs use.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no level's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is none of portable, avx2 and avx512")]
pub struct UnknownLevel(String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let level = Level::EVERY.into_iter().find(|level| level.name() == name);
        level.ok_or_else(|| UnknownLevel(name.to_owned()))
    }
}

/// One board at a time, as [`Solver`], with the instructions of a level.
///
/// ```
/// use sudoku_solver::{batch::{Level, LevelSolver}, board::text, solver::{CancelFlag, Options, Verdict}};
///
/// let board = "....7..2.8.......6.1.2.5...9.54....8.........3....85.1...3.2.8.4.......9.7..6....";
/// let board = text::parse(board)?;
/// let mut solver = LevelSolver::new(Level::detect());
/// let mut solutions = Vec::new();
/// let outcome = solver.solve(&board, Options::default(), &CancelFlag::new(), &mut solutions);
/// assert_eq!(outcome.verdict, Verdict::Unique);
/// assert_eq!(solutions.len(), 1);
/// # Ok::<(), text::MalformedBoard>(())
/// ```
#[derive(Debug)]
pub struct LevelSolver {
    level: Level,
    solver: Solver,
}

impl LevelSolver {
    /// A solver with its memory. If this CPU lacks the level it does with what every CPU has.
    pub fn new(level: Level) -> Self {
        LevelSolver {
            level,
            solver: Solver::new(),
        }
    }

    /// As [`Solver::solve`].
    pub fn solve(
        &mut self,
        board: &Board,
        options: Options,
        cancel: &CancelFlag,
        solutions: &mut Vec<Board>,
    ) -> Outcome {
        let solver = &mut self.solver;
        let outcome = match self.level {
            Level::Portable => None,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Avx2Core::search(solver, board, options, cancel, solutions),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Avx512Core::search(solver, board, options, cancel, solutions),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => None,
        };
        outcome.unwrap_or_else(|| solver.solve(board, options, cancel, solutions))
    }
}

/// Words of a portable vector.
const PORTABLE_WORDS: usize = 2;

/// The portable vector. Every x86-64 has SSE2; elsewhere the compiler makes of the words what it can.
#[cfg(target_arch = "x86_64")]
type Portable = super::x86::V128;
#[cfg(not(target_arch = "x86_64"))]
type Portable = super::lanes::Lanes<PORTABLE_WORDS>;

/// The memory of an engine of some level.
pub(super) enum LevelCore {
    Portable(Box<Core<Portable, PORTABLE_WORDS>>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2Core),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512Core),
}

impl LevelCore {
    /// `None` if this CPU lacks the level.
    pub(super) fn new(level: Level) -> Option<Self> {
        match level {
            Level::Portable => Some(LevelCore::Portable(Core::new())),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Avx2Core::new().map(LevelCore::Avx2),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Avx512Core::new().map(LevelCore::Avx512),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => None,
        }
    }

    pub(super) fn run<T: Tasks>(&mut self, tasks: &mut T) {
        match self {
            LevelCore::Portable(core) => core.run(tasks),
            #[cfg(target_arch = "x86_64")]
            LevelCore::Avx2(core) => core.run(tasks),
            #[cfg(target_arch = "x86_64")]
            LevelCore::Avx512(core) => core.run(tasks),
        }
    }
}
