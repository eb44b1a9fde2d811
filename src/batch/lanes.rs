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
    pub(crate) fn iter(self) -> LaneNumbers<N> {
        LaneNumbers {
            lanes: self,
            rest: self.0[0],
            word: 0,
        }
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

/// The numbers of a set of lanes. By hand: adapters of the standard library took three times the
/// instructions, in every loop of an exchange.
pub(crate) struct LaneNumbers<const N: usize> {
    lanes: Lanes<N>,
    /// What is left of the word.
    rest: u64,
    word: usize,
}

impl<const N: usize> Iterator for LaneNumbers<N> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.rest == 0 {
            self.word += 1;
            self.rest = *self.lanes.0.get(self.word)?;
        }
        let lane = 64 * self.word + self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some(lane)
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
