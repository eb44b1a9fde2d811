//! Naked singles, hidden singles and locked candidates, used until they give nothing more.
//!
//! One sweep uses each rule once on all cells of all digits, in plain bitwise arithmetic: the same
//! instructions whatever the board, so nothing waits for a mispredicted branch, and a compiler can
//! treat four or eight digits at once. Some ten sweeps close a board of 17 givens. Following single
//! changes through lookup tables does less work a board, but each step then hangs on a branch and
//! a load before it; that is how the fastest solvers of the field work, and it was slower here.
//!
//! The rules only remove candidates and see more, never less, when there are fewer, so the fixpoint
//! and the verdict do not depend on the order of the steps (see [`tree`](super::tree)).

use super::planes::{BAND, CellSet, DIGITS, Planes};

/// What the rules made of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// A cell without a candidate, or a unit without a place for some digit.
    Contradiction,
    /// One candidate in every cell, and they do not clash.
    Solved,
    /// Some cells have two candidates or more; the rules cannot tell.
    Open,
}

/// Uses the rules until nothing changes, or until a contradiction shows.
///
/// After a contradiction the candidates are those of some step on the way, not of the fixpoint.
#[inline(always)]
pub fn close(planes: &mut Planes) -> Closed {
    let mut hidden = Hidden::default();
    loop {
        let cells = apply_hidden(planes, &hidden);
        if cells.contradiction {
            return Closed::Contradiction;
        }
        let swept = sweep(planes, &cells.solved);
        if swept.contradiction {
            return Closed::Contradiction;
        }
        // Where every cell has one candidate the hidden singles are these: another sweep would find the same.
        if cells.solved == [BAND; 3] && !swept.changed {
            return Closed::Solved;
        }
        let changed = cells.changed | swept.changed || swept.hidden.cells != hidden.cells;
        if !changed {
            return Closed::Open;
        }
        hidden = swept.hidden;
    }
}

/// The hidden singles of a sweep: where each digit must go, and the cells that are meant.
#[derive(Default)]
struct Hidden {
    planes: [[u32; DIGITS]; 3],
    cells: CellSet,
}

/// What [`apply_hidden`] saw.
struct Cells {
    /// Cells with exactly one candidate.
    solved: CellSet,
    changed: bool,
    contradiction: bool,
}

/// What [`sweep`] found.
struct Swept {
    hidden: Hidden,
    changed: bool,
    contradiction: bool,
}

/// Leaves each hidden single alone in its cell, and counts the candidates of every cell.
#[inline(always)]
fn apply_hidden(planes: &mut Planes, hidden: &Hidden) -> Cells {
    let (mut solved, mut changed, mut wrong) = ([0; 3], 0, 0);
    for (band, digits) in planes.bands.iter_mut().enumerate() {
        let (mut once, mut twice) = (0, 0);
        for (cells, single) in digits.iter_mut().zip(&hidden.planes[band]) {
            let before = *cells;
            let after = before & (!hidden.cells[band] | single);
            *cells = after;
            changed |= after ^ before;
            twice |= once & after;
            once |= after;
        }
        // Two hidden singles in one cell both stay, and are the only way to two candidates there.
        wrong |= (once ^ BAND) | (twice & hidden.cells[band]);
        solved[band] = once & !twice;
    }
    Cells {
        solved,
        changed: changed != 0,
        contradiction: wrong != 0,
    }
}

/// Uses the rules once on every digit.
#[inline(always)]
fn sweep(planes: &mut Planes, solved: &CellSet) -> Swept {
    let (mut hidden, mut changed, mut wrong) = (Hidden::default(), 0, 0);
    // Eight and one, not nine: a loop of eight is compiled to vectors, one of nine is not, and 2.5
    // times slower.
    for digit in 0..DIGITS - 1 {
        let swept = sweep_digit(digit, planes, solved, &mut hidden);
        changed |= swept.changed;
        wrong |= swept.wrong;
    }
    let swept = sweep_digit(DIGITS - 1, planes, solved, &mut hidden);
    changed |= swept.changed;
    wrong |= swept.wrong;
    for (cells, planes) in hidden.cells.iter_mut().zip(&hidden.planes) {
        *cells = planes.iter().fold(0, |cells, plane| cells | plane);
    }
    Swept {
        hidden,
        changed: changed != 0,
        contradiction: wrong != 0,
    }
}

/// What one sweep did to one digit: words that are not 0 for yes, so that no branch is needed.
struct SweptDigit {
    changed: u32,
    wrong: u32,
}

/// Uses the rules once on one digit: naked singles, locked candidates, hidden singles.
///
/// Solved cells keep the digit, also where they clash; but then some unit of theirs still has two
/// places for it, and that tells. (Locked candidates do not: four solved cells at the corners of a
/// rectangle over two boxes are enough to deceive them.)
#[inline(always)]
fn sweep_digit(
    digit: usize,
    planes: &mut Planes,
    solved: &CellSet,
    hidden: &mut Hidden,
) -> SweptDigit {
    let [tops, mids, lows] = &mut planes.bands;
    let before = [tops[digit], mids[digit], lows[digit]];
    let single = [0, 1, 2].map(|band| before[band] & solved[band]);
    let single_lines = minirows(single);
    let single_columns = down_up(single[0] | single[1] | single[2]);
    let single_rows = (single_lines | single_lines << 3 | single_lines << 6) & LAST_BOX;
    let seen = spread_row(single_rows) | down_up(single_lines);
    let unseen = |band| !(cells_of(seen, band) | single_columns) | single[band];
    let left = locked([0, 1, 2].map(|band| before[band] & unseen(band)));

    let once = minirows(left);
    let twice = minirow_pairs(left);
    let two_in_row =
        twice | twice << 3 | twice << 6 | (once & once << 3) | ((once << 6) & (once | once << 3));
    let rows = spread_row(!two_in_row & LAST_BOX);
    let boxes = !up(twice_down(once, twice));

    let [top, mid, low] = left;
    let once = top | mid | low;
    let twice = (top & mid) | (low & (top | mid));
    let columns = !up(twice_down(once, twice));

    let lines = rows | boxes;
    let [hidden_tops, hidden_mids, hidden_lows] = &mut hidden.planes;
    hidden_tops[digit] = top & (cells_of(lines, 0) | columns);
    hidden_mids[digit] = mid & (cells_of(lines, 1) | columns);
    hidden_lows[digit] = low & (cells_of(lines, 2) | columns);
    (tops[digit], mids[digit], lows[digit]) = (top, mid, low);
    let clash = (single_lines & !(rows & boxes)) | (single_columns & !columns & BAND);
    SweptDigit {
        changed: (top ^ before[0]) | (mid ^ before[1]) | (low ^ before[2]),
        wrong: clash | u32::from(top == 0),
    }
}

/// Uses locked candidates on one digit: in each band, then in each stack.
///
/// All three bands come back empty if rows and boxes, or columns and boxes, cannot be paired:
/// [`pairing`] empties a band of rows that cannot, hence all bands of the columns, which cannot
/// either then. A stack that the columns empty is seen by the rows of the next sweep; there is one,
/// because something changed.
#[inline(always)]
fn locked(digit: CellSet) -> CellSet {
    let lines = minirows(digit);
    let lines = lines & pairing(turn_once(lines), turn_twice(lines), box_once, box_twice);
    let [top, mid, low] = [0, 1, 2].map(|band| digit[band] & cells_of(lines, band));

    let (t, m, l) = (down_up(top), down_up(mid), down_up(low));
    [
        top & pairing(m, l, column_once, column_twice),
        mid & pairing(t, l, column_once, column_twice),
        low & pairing(t, m, column_once, column_twice),
    ]
}

// Sets of minirows (a row's three cells within one box), all 27 in one word: bit
// `9 * row + 3 * box + band`, row and box counted within the band. The box of a minirow is its
// neighbour three bits on, its row nine bits on, just as columns and rows are in a word of cells.

/// The first of each three cells of a row.
const MINIROW: u32 = 0o111_111_111;

/// The last box of each row, in a word of minirows.
const LAST_BOX: u32 = 0o700_700_700;

/// The minirows that hold a cell of `set`.
#[inline(always)]
fn minirows(set: CellSet) -> u32 {
    let held = set.map(|cells| (cells | cells >> 1 | cells >> 2) & MINIROW);
    held[0] | held[1] << 1 | held[2] << 2
}

/// The minirows that hold two cells of `set` or three.
#[inline(always)]
fn minirow_pairs(set: CellSet) -> u32 {
    let held =
        set.map(|cells| ((cells & cells >> 1) | ((cells >> 2) & (cells | cells >> 1))) & MINIROW);
    held[0] | held[1] << 1 | held[2] << 2
}

/// The cells of a band's minirows.
#[inline(always)]
fn cells_of(minirows: u32, band: usize) -> u32 {
    let first = (minirows >> band) & MINIROW;
    (first << 3).wrapping_sub(first)
}

/// Spreads the last box of each row over the row.
#[inline(always)]
fn spread_row(last: u32) -> u32 {
    last | last >> 3 | last >> 6
}

// What follows reads a word as three rows of nine bits. Sums over a column are right in the lowest
// row; the others then hold a part of them, and `up` completes these. Clearing them in between
// would cost more, and make a multiplication of it, which has no vector instruction everywhere.

/// Each row joined with those above its bits, the lowest row with all.
#[inline(always)]
fn down(rows: u32) -> u32 {
    rows | rows >> 9 | rows >> 18
}

/// The lowest row copied to all; bits above the 27 may be set.
#[inline(always)]
fn up(rows: u32) -> u32 {
    rows | rows << 9 | rows << 18
}

/// In every row, the columns that any row has.
#[inline(always)]
fn down_up(rows: u32) -> u32 {
    up(down(rows))
}

/// Columns with two or more, in the lowest row; `once` and `twice` count within each row.
#[inline(always)]
fn twice_down(once: u32, twice: u32) -> u32 {
    down(twice) | (once & once >> 9) | ((once >> 18) & (once | once >> 9))
}

/// Locked candidates, both ways at once: the places in a line of three that leave a way to pair the
/// other two lines with the other two boxes.
///
/// The three rows of a band take the digit in three different boxes. A box confined to one row
/// clears the rest of the row (pointing), a row confined to one box the rest of the box (claiming);
/// repeated, that leaves exactly the places that belong to some complete pairing of rows and boxes,
/// and none if there is none. So it is with the three bands and the columns of a stack. `second` and
/// `third` are the other two lines; `once` and `twice` turn a line by one and two boxes.
#[inline(always)]
fn pairing(second: u32, third: u32, once: impl Fn(u32) -> u32, twice: impl Fn(u32) -> u32) -> u32 {
    (once(second) & twice(third)) | (twice(second) & once(third))
}

/// Rows turned by one within the three of a band.
#[inline(always)]
fn turn_once(rows: u32) -> u32 {
    (rows >> 9 | rows << 18) & BAND
}

/// Rows turned by two.
#[inline(always)]
fn turn_twice(rows: u32) -> u32 {
    (rows >> 18 | rows << 9) & BAND
}

/// Boxes turned by one within a row, in a word of minirows.
#[inline(always)]
fn box_once(lines: u32) -> u32 {
    ((lines >> 3) & 0o077_077_077) | ((lines << 6) & 0o700_700_700)
}

/// Boxes turned by two.
#[inline(always)]
fn box_twice(lines: u32) -> u32 {
    ((lines >> 6) & 0o007_007_007) | ((lines << 3) & 0o770_770_770)
}

/// Columns turned by one within a box.
#[inline(always)]
fn column_once(cells: u32) -> u32 {
    ((cells >> 1) & 0o333_333_333) | ((cells << 2) & 0o444_444_444)
}

/// Columns turned by two.
#[inline(always)]
fn column_twice(cells: u32) -> u32 {
    ((cells >> 2) & 0o111_111_111) | ((cells << 1) & 0o666_666_666)
}
