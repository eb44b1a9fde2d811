//! Many boards at once: one bit of a machine vector each.
//!
//! The design, its measurements and what was tried and lost: `docs/batch-engine.md`.
//!
//! * `lanes`: sets of lanes; `vector`, `x86`: the vectors that hold them; `level`: which to use,
//!   and the single-board solver compiled for it.
//! * `planes`: the tables of all lanes, and the way in and out.
//! * `sweep`: the rules of the closure; `branch`: the branch rule.
//! * `desk`: tasks and their boards, answers on their way out.
//! * `proof`: the rules again, for solutions about to leave.
//! * `work`: what a lane is at; `search`: parts of shared searches, put together again; `stack`: saved nodes; `clock`: time.
//! * `engine`: which board is in which lane.
//!
//! This module knows nothing of gRPC, of threads, or of any clock but the one that accounts for the
//! time of each board.

mod lanes;
mod level;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

mod branch;
mod planes;
mod proof;
mod sweep;

mod clock;
mod desk;
mod engine;
mod search;
mod stack;
mod work;

pub use desk::{Task, Tasks};
pub use engine::Engine;
pub use level::{Level, LevelSolver, UnknownLevel};
