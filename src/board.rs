//! A board: 81 cells, and what can be said of them without searching.

pub mod check;
pub mod text;
pub mod units;

use std::fmt;

/// 81 cells row by row; 0 is a blank, 1 to 9 a digit. A solution is a board without blanks.
///
/// Every `Board` holds values from 0 to 9 only; whether its digits clash is another question
/// (see [`check`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Board([u8; Board::CELLS]);

impl Board {
    /// The number of cells.
    pub const CELLS: usize = 81;

    /// A board without givens.
    pub const EMPTY: Board = Board([0; Board::CELLS]);

    /// A board of these values, or `None` if one of them is above 9.
    pub fn new(values: [u8; Board::CELLS]) -> Option<Board> {
        // The largest of all cells: stopping at the first bad one takes ten times as long for good boards.
        let largest = values.iter().fold(0, |largest, &value| largest.max(value));
        (largest <= 9).then_some(Board(values))
    }

    /// The value of each cell, 0 for a blank.
    #[inline]
    pub fn values(&self) -> &[u8; Board::CELLS] {
        &self.0
    }

    /// The cells as ASCII, one character each, `.` for a blank.
    #[inline]
    pub fn to_ascii(&self) -> [u8; Board::CELLS] {
        self.0
            .map(|value| if value == 0 { b'.' } else { b'0' + value })
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.to_ascii() {
            write!(f, "{}", char::from(byte))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Board({self})")
    }
}
