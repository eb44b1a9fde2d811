//! How long to wait after a failure.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use super::bounds::{BACKOFF_MAX, BACKOFF_MIN};

/// Waits that double from failure to failure, up to half of each taken off by chance: clients that
/// lost the same server do not come back at the same moment.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The wait after one more failure.
    pub(super) fn next(&mut self) -> Duration {
        let whole = BACKOFF_MIN
            .saturating_mul(1_u32.checked_shl(self.failures).unwrap_or(u32::MAX))
            .min(BACKOFF_MAX);
        self.failures = self.failures.saturating_add(1);
        whole.mul_f64(0.5 + chance() / 2.0)
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}

/// A number from 0 to 1. The keys of hash maps are random: no generator is needed for one now and then.
pub(super) fn chance() -> f64 {
    let random = RandomState::new().hash_one(0);
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_differ_by_chance() {
        let mut backoff = Backoff::default();
        let mut whole = BACKOFF_MIN;
        for _ in 0..80 {
            let wait = backoff.next();
            assert!(whole / 2 <= wait && wait <= whole, "{wait:?} of {whole:?}");
            whole = (whole * 2).min(BACKOFF_MAX);
        }
        backoff.reset();
        assert!(backoff.next() <= BACKOFF_MIN);
        let waits: Vec<f64> = (0..20).map(|_| chance()).collect();
        assert!(waits.iter().any(|&other| (other - waits[0]).abs() > 1e-9));
    }
}
