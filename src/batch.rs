//! Many boards at once: 64 lanes in every machine word.
//!
//! The design, its measurements and what was tried and lost: `docs/batch-engine.md`.

mod branch;
mod engine;
mod lanes;
mod level;
mod planes;
mod search;
mod sweep;
mod vector;

pub use engine::{Engine, Task, Tasks};
pub use level::Level;
