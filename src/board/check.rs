//! The independent check: clashes among givens, and solutions against rules and givens.
//!
//! Nothing here knows how a solution was found. Both fast checks walk the board once, row by row,
//! with one accumulator for each unit; the loops are written so that the compiler turns the nine
//! columns into vector lanes, wider ones inside callers that have them enabled. That takes
//! `inline(always)`: with `inline` alone the baseline code was called instead. Lookup tables in
//! place of the shifts, and sliding windows over all 81 cells, were tried and were slower with
//! AVX2.

use super::{Board, units::Unit};

/// Equal givens in one unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The unit.
    pub unit: Unit,
    /// The digit that stands more than once, 1 to 9.
    pub digit: u8,
    /// The cells that hold it, in ascending order: two or more.
    pub cells: Vec<u8>,
}

/// Every clash of the board: rows first, then columns, then boxes, digits ascending.
pub fn clashes(board: &Board) -> Vec<Clash> {
    let mut clashes = Vec::new();
    for unit in Unit::ALL {
        for digit in 1..=9 {
            let holds = |&&cell: &&u8| board.0[usize::from(cell)] == digit;
            if unit.cells().iter().filter(holds).count() > 1 {
                let cells = unit.cells().iter().filter(holds).copied().collect();
                clashes.push(Clash { unit, digit, cells });
            }
        }
    }
    clashes
}

/// Whether any two peers hold the same digit; as fast as a glance, for boards by the million.
#[inline(always)]
pub fn has_clash(board: &Board) -> bool {
    // A counter of four bits for each digit and one for blanks: nine cells never overflow one.
    let counter = |value: u8| 1_u64 << ((4 * u64::from(value)) & 63);
    let mut columns = [0; 9];
    let mut counts = 0;
    for band in bands(board) {
        let mut in_band = [0; 9];
        for row in band {
            let mut in_row = 0;
            for (in_column, &value) in in_band.iter_mut().zip(row) {
                let one = counter(value);
                in_row += one;
                *in_column += one;
            }
            counts |= in_row;
        }
        for [left, middle, right] in in_band.as_chunks().0 {
            counts |= left + middle + right;
        }
        for (column, in_column) in columns.iter_mut().zip(in_band) {
            *column += in_column;
        }
    }
    for column in columns {
        counts |= column;
    }
    // A bit above the lowest of a digit's counter: the digit stands twice or more.
    counts & 0xEE_EEEE_EEE0 != 0
}

/// Whether `solution` has every digit once in every unit and keeps every given of `board`.
#[inline(always)]
pub fn is_solution(board: &Board, solution: &Board) -> bool {
    keeps_givens(board, solution) && is_complete_and_valid(solution)
}

/// Whether `solution` has every given of `board` in its place.
#[inline(always)]
pub fn keeps_givens(board: &Board, solution: &Board) -> bool {
    let mut lost = 0;
    // `|` and `&` on numbers: a `&&` here is a branch for every cell, forty times slower.
    for (&given, &value) in board.0.iter().zip(&solution.0) {
        lost |= u8::from(given != value) & u8::from(given != 0);
    }
    lost == 0
}

/// Whether each of the 27 units holds all nine digits; a blank leaves some unit short of one.
#[inline(always)]
fn is_complete_and_valid(solution: &Board) -> bool {
    const ALL_NINE: u16 = 0b11_1111_1110;
    let mut columns = [0; 9];
    let mut in_all_units = ALL_NINE;
    for band in bands(solution) {
        let mut in_band = [0; 9];
        for row in band {
            let mut in_row = 0;
            for (in_column, &value) in in_band.iter_mut().zip(row) {
                let digit = 1_u16 << (value & 15);
                in_row |= digit;
                *in_column |= digit;
            }
            in_all_units &= in_row;
        }
        for [left, middle, right] in in_band.as_chunks().0 {
            in_all_units &= left | middle | right;
        }
        for (column, in_column) in columns.iter_mut().zip(in_band) {
            *column |= in_column;
        }
    }
    for column in columns {
        in_all_units &= column;
    }
    in_all_units == ALL_NINE
}

/// The three bands of three rows of nine values.
#[inline(always)]
fn bands(board: &Board) -> &[[[u8; 9]; 3]] {
    board.0.as_chunks().0.as_chunks().0
}
