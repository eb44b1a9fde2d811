//! The few vector operations that the rules need.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not};

use super::lanes::Lanes;

/// A machine vector of `64 * N` bits, one a lane.
///
/// The kernel is written once over this trait. [`Lanes`] itself is the portable vector, left to the
/// compiler; wider ones are in `x86`.
pub(crate) trait Vector<const N: usize>:
    Copy
    + BitAnd<Output = Self>
    + BitAndAssign
    + BitOr<Output = Self>
    + BitOrAssign
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    const NONE: Self;
    const ALL: Self;

    fn load(lanes: &Lanes<N>) -> Self;
    fn store(self, lanes: &mut Lanes<N>);
    /// The same word everywhere.
    fn splat(word: u64) -> Self;
    /// `self` without the lanes of `other`.
    fn without(self, other: Self) -> Self;
    /// Shifts each word for itself.
    fn shift_left<const BY: i32>(self) -> Self;
    /// Shifts each word for itself.
    fn shift_right<const BY: i32>(self) -> Self;

    #[inline(always)]
    fn lanes(self) -> Lanes<N> {
        let mut lanes = Lanes::NONE;
        self.store(&mut lanes);
        lanes
    }

    #[inline(always)]
    fn any(self) -> bool {
        self.lanes().any()
    }
}

impl<const N: usize> Vector<N> for Lanes<N> {
    const NONE: Self = Lanes([0; N]);
    const ALL: Self = Lanes([!0; N]);

    #[inline(always)]
    fn load(lanes: &Lanes<N>) -> Self {
        *lanes
    }

    #[inline(always)]
    fn store(self, lanes: &mut Lanes<N>) {
        *lanes = self;
    }

    #[inline(always)]
    fn splat(word: u64) -> Self {
        Lanes([word; N])
    }

    #[inline(always)]
    fn without(self, other: Self) -> Self {
        self & !other
    }

    #[inline(always)]
    fn shift_left<const BY: i32>(self) -> Self {
        self.each(|word| word << BY)
    }

    #[inline(always)]
    fn shift_right<const BY: i32>(self) -> Self {
        self.each(|word| word >> BY)
    }
}
