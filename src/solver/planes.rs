//! The tables of the search: where each digit can still go.
//!
//! A set of cells is three words, one a band, so that what happens within a row, a box or a band is
//! a few shifts and only columns look across words. One set a digit holds every fact that row,
//! column and box tables of used digits hold, and undoing a guess is copying the sets back.

use crate::board::Board;

/// The number of digits.
pub(super) const DIGITS: usize = 9;

/// The 27 cells of a band: three rows of nine, the top row in the lowest bits.
pub(super) const BAND: u32 = 0o777_777_777;

/// A set of cells: one word a band, bit `9 * (row in the band) + column`.
pub type CellSet = [u32; 3];

/// The candidates of a board: for each band and digit the cells that can take the digit.
///
/// Bands come first, so that the nine digits of a band lie side by side and the rules, which treat
/// all digits alike, run over several of them at once.
///
/// ```text
///  bands[0][d]   bit  0  1  2 |  3  4  5 |  6  7  8     row 0
///                     9 10 11 | 12 13 14 | 15 16 17     row 1
///                    18 19 20 | 21 22 23 | 24 25 26     row 2
///  bands[1][d]   the same for rows 3 to 5, bands[2][d] for rows 6 to 8
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planes {
    pub(super) bands: [[u32; DIGITS]; 3],
}

impl Planes {
    /// The candidates before any rule was used: a given's own digit, all nine in a blank.
    #[inline(always)]
    pub fn new(board: &Board) -> Planes {
        let mut planes = Planes {
            bands: [[0; DIGITS]; 3],
        };
        for (band, cells) in planes.bands.iter_mut().zip(board.values().chunks_exact(27)) {
            // A slot for each value, so that a blank needs no branch: half of them would be missed.
            let mut placed = [0; 16];
            for (bit, &value) in cells.iter().enumerate() {
                placed[usize::from(value & 15)] |= 1 << bit;
            }
            for (plane, digit) in band.iter_mut().zip(&placed[1..]) {
                *plane = placed[0] | digit;
            }
        }
        planes
    }

    /// Whether `cell` can take `digit` (0 to 8, for 1 to 9).
    pub fn has(&self, cell: u8, digit: u8) -> bool {
        let (band, bit) = place(cell);
        self.bands[band][usize::from(digit)] & bit != 0
    }

    /// Removes `digit` (0 to 8) from `cell`.
    #[inline(always)]
    pub fn remove(&mut self, cell: u8, digit: u8) {
        let (band, bit) = place(cell);
        self.bands[band][usize::from(digit)] &= !bit;
    }

    /// Removes every digit but `digit` (0 to 8) from `cell`.
    #[inline(always)]
    pub fn keep_only(&mut self, cell: u8, digit: u8) {
        let (band, bit) = place(cell);
        let kept = self.bands[band][usize::from(digit)] & bit;
        for plane in &mut self.bands[band] {
            *plane &= !bit;
        }
        self.bands[band][usize::from(digit)] |= kept;
    }

    /// The board these candidates spell, if every cell has exactly one; otherwise not a solution.
    #[inline(always)]
    pub fn to_board(&self) -> Board {
        let mut values = [0; Board::CELLS];
        for (cells, band) in values.chunks_exact_mut(27).zip(&self.bands) {
            for (value, plane) in (1..).zip(band) {
                let mut rest = *plane;
                while rest != 0 {
                    if let Some(cell) = cells.get_mut(rest.trailing_zeros() as usize) {
                        *cell = value;
                    }
                    rest &= rest - 1;
                }
            }
        }
        Board::new(values).unwrap_or(Board::EMPTY)
    }
}

/// The band of a cell, and its bit there.
#[inline(always)]
fn place(cell: u8) -> (usize, u32) {
    (usize::from(cell / 27), 1 << (cell % 27))
}
