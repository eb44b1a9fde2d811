//! How often something took how long, in powers of two: cheap enough to count every board.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bucket `b` counts times above 2^(b-1) ns, up to 2^b ns; the last one, whatever is longer.
const BUCKETS: usize = 41;

/// Times, counted by whoever measures and read by whoever asks.
#[derive(Debug)]
pub struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    nanos: AtomicU64,
}

/// Times counted by one thread, or what a histogram held when it was asked.
#[derive(Clone, Debug)]
pub struct Times {
    buckets: [u64; BUCKETS],
    /// All times together.
    pub nanos: u64,
}

impl Histogram {
    /// Without times.
    pub fn new() -> Self {
        Histogram {
            buckets: [const { AtomicU64::new(0) }; BUCKETS],
            nanos: AtomicU64::new(0),
        }
    }

    /// Counts one time.
    pub fn record(&self, nanos: u64) {
        self.buckets[bucket(nanos)].fetch_add(1, Relaxed);
        self.nanos.fetch_add(nanos, Relaxed);
    }

    /// Adds the times of a thread.
    pub(super) fn add(&self, times: &Times) {
        for (bucket, &count) in self.buckets.iter().zip(&times.buckets) {
            if count > 0 {
                bucket.fetch_add(count, Relaxed);
            }
        }
        self.nanos.fetch_add(times.nanos, Relaxed);
    }

    /// What it holds now.
    pub fn times(&self) -> Times {
        Times {
            buckets: std::array::from_fn(|bucket| self.buckets[bucket].load(Relaxed)),
            nanos: self.nanos.load(Relaxed),
        }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

impl Times {
    pub(super) const NONE: Times = Times {
        buckets: [0; BUCKETS],
        nanos: 0,
    };

    #[inline]
    pub(super) fn record(&mut self, nanos: u64) {
        self.buckets[bucket(nanos)] += 1;
        self.nanos += nanos;
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// How many were no longer than 2^`exponent` ns.
    pub fn count_to(&self, exponent: usize) -> u64 {
        let last = exponent.min(BUCKETS - 1);
        self.buckets.iter().take(last + 1).sum()
    }
}

/// The bucket of a time.
#[inline]
fn bucket(nanos: u64) -> usize {
    let bits = u64::BITS - nanos.saturating_sub(1).leading_zeros();
    (bits as usize).min(BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_within_its_bucket() {
        let histogram = Histogram::new();
        for nanos in [0, 1, 2, 3, 1024, 1025, u64::MAX >> 8] {
            histogram.record(nanos);
        }
        let times = histogram.times();
        let counts = [0, 1, 2, 10, 11, 39].map(|exponent| times.count_to(exponent));
        assert_eq!(counts, [2, 3, 4, 5, 6, 6]);
        assert_eq!(times.count(), 7);
    }

    #[test]
    fn times_of_a_thread_count_like_any() {
        let (apart, together) = (Histogram::new(), Histogram::new());
        let mut times = Times::NONE;
        for nanos in (0..2_000_000).step_by(777) {
            apart.record(nanos);
            times.record(nanos);
        }
        together.add(&times);
        let (apart, together) = (apart.times(), together.times());
        assert_eq!(apart.buckets, together.buckets);
        assert_eq!(apart.nanos, together.nanos);
    }
}
