//! The independent check: clashes among givens, and solutions against rules and givens.
//!
//! Nothing here knows how a solution was found.

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
pub fn clashes(_board: &Board) -> Vec<Clash> {
    unimplemented!()
}

/// Whether any two peers hold the same digit; as fast as a glance, for boards by the million.
pub fn has_clash(_board: &Board) -> bool {
    unimplemented!()
}

/// Whether `solution` has every digit once in every unit and keeps every given of `board`.
pub fn is_solution(_board: &Board, _solution: &Board) -> bool {
    unimplemented!()
}
