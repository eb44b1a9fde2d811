//! The one clock: engine time, dealt out to the boards that it was spent on.

use std::time::Instant;

/// The time of the engine, evenly shared by the lanes that were busy: what one lane that had been
/// busy all along would have been charged. Shares of all boards add up to the time that passed.
pub(crate) struct Clock {
    pub(crate) per_lane: Share,
    last: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock {
            per_lane: Share::default(),
            last: Instant::now(),
        }
    }

    /// Deals out the time since the last call to this many lanes.
    ///
    /// Called once an exchange: a reading takes 40 ns, a hundredth of the time in between.
    #[inline(always)]
    pub(crate) fn tick(&mut self, busy: u32) {
        let now = Instant::now();
        if busy > 0 {
            let nanos = now.duration_since(self.last).as_nanos();
            let nanos = u64::try_from(nanos).unwrap_or(u64::MAX >> Share::BITS);
            self.per_lane.0 += (nanos << Share::BITS) / u64::from(busy);
        }
        self.last = now;
    }
}

/// A length of time, in fractions of a nanosecond: a board's share of one exchange can be less.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share(u64);

impl Share {
    /// Binary places; leaves room for months.
    const BITS: u32 = 10;

    #[inline(always)]
    pub(crate) fn since(self, earlier: Share) -> Share {
        Share(self.0 - earlier.0)
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, more: Share) {
        self.0 += more.0;
    }

    /// Whole nanoseconds, rounded.
    #[inline(always)]
    pub(crate) fn nanos(self) -> u64 {
        (self.0 + (1 << (Share::BITS - 1))) >> Share::BITS
    }
}
