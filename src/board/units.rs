//! Rows, columns, boxes and peers: computed, and asserted when the crate is compiled.
//!
//! ```text
//!          columns 1..9
//!   row 1   0  1  2 |  3  4  5 |  6  7  8     box 1 | box 2 | box 3
//!   row 2   9 10 11 | 12 13 14 | 15 16 17
//!   row 3  18 19 20 | 21 22 23 | 24 25 26
//!          ---------+----------+---------
//!   row 4  27 28 29 | 30 31 32 | 33 34 35     box 4 | box 5 | box 6
//!   ...                                       ...
//!   row 9  72 73 74 | 75 76 77 | 78 79 80     box 7 | box 8 | box 9
//! ```

use std::fmt;

use super::Board;

/// One of the 27 units; the number is 0 to 8, boxes row by row. Printed as people count: "row 1".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// A row, from the top.
    Row(u8),
    /// A column, from the left.
    Column(u8),
    /// A box, row by row.
    Box(u8),
}

impl Unit {
    /// The number of units.
    pub const COUNT: usize = 27;

    /// Every unit: rows, then columns, then boxes.
    pub const ALL: [Unit; Unit::COUNT] = all();

    /// The nine cells of the unit, ascending.
    ///
    /// # Panics
    ///
    /// If the number of the unit is above 8.
    pub const fn cells(self) -> &'static [u8; 9] {
        match self {
            Unit::Row(n) => &CELLS[n as usize],
            Unit::Column(n) => &CELLS[9 + n as usize],
            Unit::Box(n) => &CELLS[18 + n as usize],
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Unit::Row(n) => write!(f, "row {}", n + 1),
            Unit::Column(n) => write!(f, "column {}", n + 1),
            Unit::Box(n) => write!(f, "box {}", n + 1),
        }
    }
}

/// The 20 peers of each cell, ascending.
pub const PEERS: [[u8; 20]; Board::CELLS] = peers();

/// The row, the column and the box of each cell.
pub const UNITS_OF: [[Unit; 3]; Board::CELLS] = units_of();

/// The cells of each unit, in the order of [`Unit::ALL`].
const CELLS: [[u8; 9]; Unit::COUNT] = cells();

const fn all() -> [Unit; Unit::COUNT] {
    let mut all = [Unit::Row(0); Unit::COUNT];
    let mut n = 0;
    while n < 9 {
        all[n as usize] = Unit::Row(n);
        all[9 + n as usize] = Unit::Column(n);
        all[18 + n as usize] = Unit::Box(n);
        n += 1;
    }
    all
}

const fn row_of(cell: u8) -> u8 {
    cell / 9
}

const fn column_of(cell: u8) -> u8 {
    cell % 9
}

const fn box_of(cell: u8) -> u8 {
    row_of(cell) / 3 * 3 + column_of(cell) / 3
}

const fn are_peers(a: u8, b: u8) -> bool {
    a != b && (row_of(a) == row_of(b) || column_of(a) == column_of(b) || box_of(a) == box_of(b))
}

const fn cells() -> [[u8; 9]; Unit::COUNT] {
    let mut cells = [[0; 9]; Unit::COUNT];
    let mut filled = [0; Unit::COUNT];
    let mut cell = 0;
    while cell < 81 {
        let units = [
            row_of(cell) as usize,
            9 + column_of(cell) as usize,
            18 + box_of(cell) as usize,
        ];
        let mut i = 0;
        while i < units.len() {
            let unit = units[i];
            cells[unit][filled[unit]] = cell;
            filled[unit] += 1;
            i += 1;
        }
        cell += 1;
    }
    cells
}

const fn peers() -> [[u8; 20]; Board::CELLS] {
    let mut peers = [[0; 20]; Board::CELLS];
    let mut cell = 0;
    while cell < 81 {
        let mut found = 0;
        let mut other = 0;
        while other < 81 {
            if are_peers(cell, other) {
                peers[cell as usize][found] = other;
                found += 1;
            }
            other += 1;
        }
        assert!(found == 20, "every cell has 20 peers");
        cell += 1;
    }
    peers
}

const fn units_of() -> [[Unit; 3]; Board::CELLS] {
    let mut units = [[Unit::Row(0); 3]; Board::CELLS];
    let mut cell = 0;
    while cell < 81 {
        units[cell as usize] = [
            Unit::Row(row_of(cell)),
            Unit::Column(column_of(cell)),
            Unit::Box(box_of(cell)),
        ];
        cell += 1;
    }
    units
}

/// A fact that no row of the tables shows by itself: what `units_of` says of a cell is what the
/// cells of the units say, so each cell is in exactly three of the 27.
const _: () = {
    let mut memberships = 0;
    let mut u = 0;
    while u < Unit::COUNT {
        let cells = Unit::ALL[u].cells();
        let mut i = 0;
        while i < 9 {
            assert!(
                i == 0 || cells[i - 1] < cells[i],
                "the cells of a unit ascend"
            );
            let of = &UNITS_OF[cells[i] as usize];
            let kind = of[u / 9].cells();
            assert!(
                kind[0] == cells[0] && kind[8] == cells[8],
                "a cell knows its units"
            );
            memberships += 1;
            i += 1;
        }
        u += 1;
    }
    assert!(
        memberships == 3 * Board::CELLS,
        "each cell is in three units"
    );
};
