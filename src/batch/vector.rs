//! Machine vectors: the few operations that the rules need, for each kind of CPU.

#![expect(
    unsafe_code,
    reason = "vector instructions that the CPU was asked for before"
)]

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not};

use super::lanes::Lanes;

/// A machine vector of `64 * N` bits, one a lane.
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
    fn shift_left<const BY: i32>(self) -> Self;
    fn shift_right<const BY: i32>(self) -> Self;
    fn any(self) -> bool;

    #[inline(always)]
    fn lanes(self) -> Lanes<N> {
        let mut lanes = Lanes::NONE;
        self.store(&mut lanes);
        lanes
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
    #[inline(always)]
    fn any(self) -> bool {
        self.0.iter().fold(0, |all, &word| all | word) != 0
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::{
        arch::x86_64::*,
        mem::transmute,
        ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not},
    };

    use super::{Lanes, Vector};

    macro_rules! vector {
        ($name:ident, $raw:ty, $n:literal, $and:ident, $or:ident, $xor:ident, $andnot:ident, $set1:ident, $load:ident, $store:ident, $sll:ident, $srl:ident) => {
            #[derive(Clone, Copy, Debug)]
            #[repr(transparent)]
            pub(crate) struct $name($raw);

            impl BitAnd for $name {
                type Output = Self;
                #[inline(always)]
                fn bitand(self, other: Self) -> Self {
                    // SAFETY: see the module.
                    Self(unsafe { $and(self.0, other.0) })
                }
            }
            impl BitOr for $name {
                type Output = Self;
                #[inline(always)]
                fn bitor(self, other: Self) -> Self {
                    Self(unsafe { $or(self.0, other.0) })
                }
            }
            impl BitXor for $name {
                type Output = Self;
                #[inline(always)]
                fn bitxor(self, other: Self) -> Self {
                    Self(unsafe { $xor(self.0, other.0) })
                }
            }
            impl BitAndAssign for $name {
                #[inline(always)]
                fn bitand_assign(&mut self, other: Self) {
                    *self = *self & other;
                }
            }
            impl BitOrAssign for $name {
                #[inline(always)]
                fn bitor_assign(&mut self, other: Self) {
                    *self = *self | other;
                }
            }
            impl Not for $name {
                type Output = Self;
                #[inline(always)]
                fn not(self) -> Self {
                    self ^ Self::ALL
                }
            }
            impl Vector<$n> for $name {
                const NONE: Self = Self(unsafe { transmute::<[u64; $n], $raw>([0; $n]) });
                const ALL: Self = Self(unsafe { transmute::<[u64; $n], $raw>([!0; $n]) });
                #[inline(always)]
                fn load(lanes: &Lanes<$n>) -> Self {
                    Self(unsafe { $load(lanes.0.as_ptr().cast()) })
                }
                #[inline(always)]
                fn store(self, lanes: &mut Lanes<$n>) {
                    unsafe { $store(lanes.0.as_mut_ptr().cast(), self.0) }
                }
                #[inline(always)]
                fn splat(word: u64) -> Self {
                    Self(unsafe { $set1(word.cast_signed()) })
                }
                #[inline(always)]
                fn without(self, other: Self) -> Self {
                    Self(unsafe { $andnot(other.0, self.0) })
                }
                #[inline(always)]
                fn shift_left<const BY: i32>(self) -> Self {
                    Self(unsafe { $sll(self.0, _mm_cvtsi32_si128(BY)) })
                }
                #[inline(always)]
                fn shift_right<const BY: i32>(self) -> Self {
                    Self(unsafe { $srl(self.0, _mm_cvtsi32_si128(BY)) })
                }
                #[inline(always)]
                fn any(self) -> bool {
                    self.lanes().any()
                }
            }
        };
    }
    vector!(
        V256,
        __m256i,
        4,
        _mm256_and_si256,
        _mm256_or_si256,
        _mm256_xor_si256,
        _mm256_andnot_si256,
        _mm256_set1_epi64x,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm256_sll_epi64,
        _mm256_srl_epi64
    );
    vector!(
        V512,
        __m512i,
        8,
        _mm512_and_si512,
        _mm512_or_si512,
        _mm512_xor_si512,
        _mm512_andnot_si512,
        _mm512_set1_epi64,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_sll_epi64,
        _mm512_srl_epi64
    );
    vector!(
        V128,
        __m128i,
        2,
        _mm_and_si128,
        _mm_or_si128,
        _mm_xor_si128,
        _mm_andnot_si128,
        _mm_set1_epi64x,
        _mm_loadu_si128,
        _mm_storeu_si128,
        _mm_sll_epi64,
        _mm_srl_epi64
    );
}
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{V128, V256, V512};
