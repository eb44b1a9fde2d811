//! The rules, checked on all lanes at once: what a grid must be to leave as a solution.
//!
//! Nothing here knows how a grid was found. Board by board the same check
//! ([`is_solution`](crate::board::check::is_solution), the single-board solver's) took a tenth of all
//! the time on easy boards, some 250 instructions more a board. That the givens were kept is checked on the grid that leaves.

#![expect(
    clippy::needless_range_loop,
    reason = "rows, columns, boxes and cells are numbers here"
)]

use super::{planes::Planes, vector::Vector};

/// Lanes in which no cell has two candidates and every unit has a place for every digit.
#[inline(always)]
pub(crate) fn valid<V: Vector<N>, const N: usize>(planes: &Planes<V, N>) -> V {
    let mut valid = V::ALL;
    for cells in &planes.candidates {
        valid &= in_all_units(cells);
    }
    for c in 0..81 {
        let (mut one, mut two) = (V::NONE, V::NONE);
        for d in 0..9 {
            let p = planes.candidates[d][c];
            two |= one & p;
            one |= p;
        }
        valid = valid.without(two);
    }
    valid
}

/// Lanes in which a digit has a place in each of the 27 units.
#[inline(always)]
fn in_all_units<V: Vector<N>, const N: usize>(cells: &[V; 81]) -> V {
    let mut all = V::ALL;
    let mut columns = [V::NONE; 9];
    for band in 0..3 {
        let mut boxes = [V::NONE; 3];
        for row in 3 * band..3 * band + 3 {
            let mut in_row = V::NONE;
            for stack in 0..3 {
                let c = 9 * row + 3 * stack;
                let three = cells[c] | cells[c + 1] | cells[c + 2];
                boxes[stack] |= three;
                in_row |= three;
                for k in 3 * stack..3 * stack + 3 {
                    columns[k] |= cells[9 * row + k];
                }
            }
            all &= in_row;
        }
        all &= boxes[0] & boxes[1] & boxes[2];
    }
    for column in columns {
        all &= column;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        batch::{
            lanes::Lanes,
            planes::{Outside, pack},
        },
        board::{Board, text},
    };

    const SOLUTION: &str =
        "653197842248635719179428356482563971791842635536719284824356197365971428917284563";

    /// Lanes of solutions, with `change` made to the cells of lane 70.
    fn planes(change: impl Fn(&mut [u8; 81])) -> Planes<Lanes<2>, 2> {
        let Ok(solution) = text::parse(SOLUTION) else {
            unreachable!("81 digits")
        };
        let mut outside = Outside::EMPTY;
        for lane in 0..128 {
            let mut values = *solution.values();
            if lane == 70 {
                change(&mut values);
            }
            let grid = Board::new(values).unwrap_or(Board::EMPTY);
            outside.set_grid(lane, &pack(&grid));
        }
        let mut planes = Planes::EMPTY;
        planes.load_grids(&outside, Lanes::ALL);
        planes
    }

    #[test]
    fn solutions_are_valid_and_nothing_else_is() {
        let valid_after = |change: fn(&mut [u8; 81])| valid(&planes(change));
        let others = Lanes([u64::MAX, !(1 << 6)]);
        assert_eq!(valid_after(|_| ()), Lanes::ALL);
        // One kind of unit is wrong at a time: columns, rows, boxes.
        assert_eq!(valid_after(|cells| cells.swap(0, 1)), others);
        assert_eq!(valid_after(|cells| cells.swap(0, 9)), others);
        assert_eq!(
            valid_after(|cells| (0..9).for_each(|c| cells.swap(c, c + 27))),
            others
        );
        // A blank has all candidates: every unit has every digit, and a cell has two.
        assert_eq!(valid_after(|cells| cells[40] = 0), others);
    }
}
