//! AVX2 and AVX-512: the only `unsafe` of the crate.
//!
//! The kernel needs no more than AND, OR, XOR, shifts, loads and stores, and arrays of words would
//! do, were the compiler to turn them into these very instructions. In the rules it does; where
//! rows and words cross, in transposing and scoring, it builds vectors across rows instead and
//! takes two to three times as long (`docs/batch-engine.md`). So the vectors are spelled out here.
//!
//! The single-board solver is compiled for the same CPUs, and takes two thirds of the instructions then.
//!
//! What makes it sound: a vector type leaves this file only inside the core of an engine, and such a
//! core is only made by `new` below, once the CPU has said that it has the instructions. A search of one
//! board asks each time, which is a look at a word.

#![expect(
    unsafe_code,
    reason = "instructions that not every CPU has, used after asking it"
)]

use std::{
    arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_and_si128, _mm_andnot_si128, _mm_cvtsi32_si128,
        _mm_loadu_si128, _mm_or_si128, _mm_set1_epi64x, _mm_sll_epi64, _mm_srl_epi64,
        _mm_storeu_si128, _mm_xor_si128, _mm256_and_si256, _mm256_andnot_si256, _mm256_loadu_si256,
        _mm256_or_si256, _mm256_set1_epi64x, _mm256_sll_epi64, _mm256_srl_epi64,
        _mm256_storeu_si256, _mm256_xor_si256, _mm512_and_si512, _mm512_andnot_si512,
        _mm512_loadu_si512, _mm512_or_si512, _mm512_set1_epi64, _mm512_sll_epi64, _mm512_srl_epi64,
        _mm512_storeu_si512, _mm512_xor_si512,
    },
    mem::transmute,
    ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not},
};

use super::{desk::Tasks, engine::Core, lanes::Lanes, vector::Vector};
use crate::{
    board::Board,
    solver::{CancelFlag, Options, Outcome, Solver},
};

/// An engine of one level: `new` asks the CPU, `run` is compiled for it. And a search of one board, the same.
macro_rules! level {
    (
        $core:ident, $vector:ident, $words:literal, $run:ident, $search:ident, $features:literal,
        $($feature:tt),+
    ) => {
        pub(super) struct $core(Box<Core<$vector, $words>>);

        impl $core {
            pub(super) fn is_available() -> bool {
                $(is_x86_feature_detected!($feature))&&+
            }

            /// `None` if this CPU lacks the instructions.
            pub(super) fn new() -> Option<Self> {
                Self::is_available().then(|| $core(Core::new()))
            }

            pub(super) fn run<T: Tasks>(&mut self, tasks: &mut T) {
                // SAFETY: `self` is only made by `new`, which saw these features on this CPU.
                unsafe { $run(&mut self.0, tasks) }
            }

            /// `None` if this CPU lacks the instructions; then nothing was searched.
            pub(super) fn search(
                solver: &mut Solver,
                board: &Board,
                options: Options,
                cancel: &CancelFlag,
                solutions: &mut Vec<Board>,
            ) -> Option<Outcome> {
                Self::is_available().then(|| {
                    // SAFETY: this CPU has just said that it has these features.
                    unsafe { $search(solver, board, options, cancel, solutions) }
                })
            }
        }

        #[target_feature(enable = $features)]
        fn $run<T: Tasks>(core: &mut Core<$vector, $words>, tasks: &mut T) {
            core.run(tasks);
        }

        #[target_feature(enable = $features)]
        fn $search(
            solver: &mut Solver,
            board: &Board,
            options: Options,
            cancel: &CancelFlag,
            solutions: &mut Vec<Board>,
        ) -> Outcome {
            solver.search(board, options, cancel, solutions)
        }
    };
}

// Exactly the features that are asked for. More, as `target-cpu=native` would give, is not better:
// on AMD it brings SSE4a's extrq, which is slow on virtual machines.
level!(
    Avx2Core,
    V256,
    4,
    run_avx2,
    search_avx2,
    "avx2,bmi1,bmi2,popcnt,lzcnt",
    "avx2",
    "bmi1",
    "bmi2",
    "popcnt",
    "lzcnt"
);
level!(
    Avx512Core,
    V512,
    8,
    run_avx512,
    search_avx512,
    "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx2",
    "bmi1",
    "bmi2",
    "popcnt",
    "lzcnt"
);

/// A vector type from the names of its instructions.
macro_rules! vector {
    (
        $name:ident($raw:ty), $words:literal,
        and $and:ident, or $or:ident, xor $xor:ident, andnot $andnot:ident,
        splat $splat:ident, load $load:ident, store $store:ident, sll $sll:ident, srl $srl:ident
    ) => {
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(crate) struct $name($raw);

        impl Vector<$words> for $name {
            // SAFETY: a vector is its words.
            const NONE: Self = Self(unsafe { transmute::<[u64; $words], $raw>([0; $words]) });
            // SAFETY: as above.
            const ALL: Self = Self(unsafe { transmute::<[u64; $words], $raw>([!0; $words]) });

            #[inline(always)]
            fn load(lanes: &Lanes<$words>) -> Self {
                // SAFETY: the CPU has it (see the top); it reads as many words as `lanes` has, at
                // any alignment.
                Self(unsafe { $load(lanes.0.as_ptr().cast()) })
            }

            #[inline(always)]
            fn store(self, lanes: &mut Lanes<$words>) {
                // SAFETY: the CPU has it; it writes as many words as `lanes` has, at any alignment.
                unsafe { $store(lanes.0.as_mut_ptr().cast(), self.0) }
            }

            #[inline(always)]
            fn splat(word: u64) -> Self {
                // SAFETY: the CPU has it.
                Self(unsafe { $splat(word.cast_signed()) })
            }

            #[inline(always)]
            fn without(self, other: Self) -> Self {
                // SAFETY: the CPU has it.
                Self(unsafe { $andnot(other.0, self.0) })
            }

            #[inline(always)]
            fn shift_left<const BY: i32>(self) -> Self {
                // SAFETY: the CPU has it.
                Self(unsafe { $sll(self.0, _mm_cvtsi32_si128(BY)) })
            }

            #[inline(always)]
            fn shift_right<const BY: i32>(self) -> Self {
                // SAFETY: the CPU has it.
                Self(unsafe { $srl(self.0, _mm_cvtsi32_si128(BY)) })
            }
        }

        vector!(@operator $name, BitAnd, bitand, $and, BitAndAssign, bitand_assign);
        vector!(@operator $name, BitOr, bitor, $or, BitOrAssign, bitor_assign);

        impl BitXor for $name {
            type Output = Self;

            #[inline(always)]
            fn bitxor(self, other: Self) -> Self {
                // SAFETY: the CPU has it.
                Self(unsafe { $xor(self.0, other.0) })
            }
        }

        impl Not for $name {
            type Output = Self;

            #[inline(always)]
            fn not(self) -> Self {
                self ^ Self::ALL
            }
        }
    };
    (@operator $name:ident, $op:ident, $f:ident, $instruction:ident, $assign:ident, $g:ident) => {
        impl $op for $name {
            type Output = Self;

            #[inline(always)]
            fn $f(self, other: Self) -> Self {
                // SAFETY: the CPU has it.
                Self(unsafe { $instruction(self.0, other.0) })
            }
        }

        impl $assign for $name {
            #[inline(always)]
            fn $g(&mut self, other: Self) {
                *self = $op::$f(*self, other);
            }
        }
    };
}

// SSE2, which every x86-64 has.
vector!(
    V128(__m128i), 2,
    and _mm_and_si128, or _mm_or_si128, xor _mm_xor_si128, andnot _mm_andnot_si128,
    splat _mm_set1_epi64x, load _mm_loadu_si128, store _mm_storeu_si128,
    sll _mm_sll_epi64, srl _mm_srl_epi64
);
vector!(
    V256(__m256i), 4,
    and _mm256_and_si256, or _mm256_or_si256, xor _mm256_xor_si256, andnot _mm256_andnot_si256,
    splat _mm256_set1_epi64x, load _mm256_loadu_si256, store _mm256_storeu_si256,
    sll _mm256_sll_epi64, srl _mm256_srl_epi64
);
vector!(
    V512(__m512i), 8,
    and _mm512_and_si512, or _mm512_or_si512, xor _mm512_xor_si512, andnot _mm512_andnot_si512,
    splat _mm512_set1_epi64, load _mm512_loadu_si512, store _mm512_storeu_si512,
    sll _mm512_sll_epi64, srl _mm512_srl_epi64
);
