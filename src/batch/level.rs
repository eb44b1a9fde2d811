//! What the CPU offers, decided once; and the only `unsafe` of the crate: the calls into functions
//! compiled for it.

#![expect(
    unsafe_code,
    reason = "calls of target_feature functions, each guarded by a detection"
)]

use std::{fmt, str::FromStr};

use super::{
    engine::{Core, Tasks},
    lanes::Lanes,
    vector::{V256, V512},
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
        Level::EVERY
            .into_iter()
            .rev()
            .find(|level| level.is_available())
            .unwrap_or(Level::Portable)
    }

    /// Whether this CPU has the level.
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt")
                    && is_x86_feature_detected!("lzcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Boards in one vector.
    pub fn lanes(self) -> usize {
        match self {
            Level::Portable => 64 * PORTABLE_WORDS,
            Level::Avx2 => 256,
            Level::Avx512 => 512,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        })
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Level::EVERY
            .into_iter()
            .find(|level| level.to_string() == name)
            .ok_or_else(|| format!("'{name}' is none of portable, avx2, avx512"))
    }
}

/// Words of a portable vector.
const PORTABLE_WORDS: usize = 2;

/// An engine's memory for one level. Holding a variant is the proof that the CPU has its level:
/// only [`LevelCore::new`] makes one.
pub(super) struct LevelCore(Inner);

enum Inner {
    Portable(Box<Core<Lanes<PORTABLE_WORDS>, PORTABLE_WORDS>>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Box<Core<V256, 4>>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Box<Core<V512, 8>>),
}

impl LevelCore {
    /// `None` if this CPU lacks the level.
    pub(super) fn new(level: Level) -> Option<Self> {
        level.is_available().then(|| {
            LevelCore(match level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => Inner::Avx2(Core::new()),
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => Inner::Avx512(Core::new()),
                _ => Inner::Portable(Core::new()),
            })
        })
    }

    pub(super) fn run<T: Tasks>(&mut self, tasks: &mut T) {
        match &mut self.0 {
            Inner::Portable(core) => core.run(tasks),
            // SAFETY: the variant is only made once `is_available` saw the level on this CPU.
            #[cfg(target_arch = "x86_64")]
            Inner::Avx2(core) => unsafe { run_avx2(core, tasks) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Inner::Avx512(core) => unsafe { run_avx512(core, tasks) },
        }
    }
}

// Exactly the features that `is_available` asks for. More, as `target-cpu=native` would give, is not
// better: on AMD it brings SSE4a's extrq, which is slow on virtual machines.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx2<T: Tasks>(core: &mut Core<V256, 4>, tasks: &mut T) {
    core.run(tasks);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx512<T: Tasks>(core: &mut Core<V512, 8>, tasks: &mut T) {
    core.run(tasks);
}
