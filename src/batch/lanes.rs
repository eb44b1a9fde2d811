//! A machine vector of lanes: one bit a lane, 64 lanes a word.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not};

/// `64 * N` lanes, one bit each.
///
/// Arithmetic is written as plain loops over words. Inlined into a function compiled for AVX2 the
/// loops of four words become single 256-bit instructions, and so on for the other levels, so that
/// no intrinsics are needed (checked in the assembly).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lanes<const N: usize>(pub(crate) [u64; N]);

impl<const N: usize> Lanes<N> {
    pub(crate) const NONE: Self = Lanes([0; N]);

    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        self.0.iter().fold(0, |all, &word| all | word) != 0
    }

    #[inline(always)]
    pub(crate) fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, lane: usize) {
        self.0[lane / 64] |= 1 << (lane % 64);
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, lane: usize) {
        self.0[lane / 64] &= !(1 << (lane % 64));
    }

    #[inline(always)]
    pub(crate) fn has(self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 != 0
    }

    /// The lanes in ascending order.
    #[inline(always)]
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        self.0
            .into_iter()
            .enumerate()
            .flat_map(|(index, mut word)| {
                std::iter::from_fn(move || {
                    (word != 0).then(|| {
                        let lane = 64 * index + word.trailing_zeros() as usize;
                        word &= word - 1;
                        lane
                    })
                })
            })
    }

    #[inline(always)]
    pub(crate) fn each(self, f: impl Fn(u64) -> u64) -> Self {
        let mut out = self;
        for word in &mut out.0 {
            *word = f(*word);
        }
        out
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut out = self;
        for (word, &with) in out.0.iter_mut().zip(&other.0) {
            *word = f(*word, with);
        }
        out
    }
}

impl<const N: usize> BitAnd for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
}

impl<const N: usize> BitOr for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

impl<const N: usize> BitXor for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
}

impl<const N: usize> Not for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        self.each(|word| !word)
    }
}

impl<const N: usize> BitAndAssign for Lanes<N> {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl<const N: usize> BitOrAssign for Lanes<N> {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}
