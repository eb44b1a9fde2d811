//! The rules of the closure, on all lanes at once.
//!
//! [`sweep`] applies each rule once, all cells and then digit by digit, each step to what the step
//! before left. Sweeps without a change mean that the closure is complete. Which rules the closure
//! has is said in [`tree`](crate::solver::tree); some of them follow here from others, which saves a
//! third of the work:
//!
//! * A solved cell clears its digit from its box only. The box then has one row and one column left
//!   for the digit, so locked candidates clear it from there.
//! * Only boxes are searched for hidden singles. A digit with one place in a row is locked to a box,
//!   which it then has to itself; likewise in a column.

#![expect(
    clippy::needless_range_loop,
    reason = "rows, columns, boxes and cells are numbers here"
)]

use super::{planes::Planes, vector::Vector};

/// What a sweep found out.
#[derive(Clone, Copy)]
pub(crate) struct Found<V> {
    /// A cell without candidates, a box without a place for a digit, or equal digits in a unit.
    pub(crate) contradictory: V,
    /// Something changed, or may on the next sweep.
    pub(crate) changed: V,
    /// Every cell is solved, without a contradiction.
    pub(crate) solved: V,
    /// Locked candidates removed something.
    locked: V,
}

/// Applies every rule once.
#[inline(always)]
pub(crate) fn sweep<V: Vector<N>, const N: usize>(planes: &mut Planes<V, N>) -> Found<V> {
    let mut found = Found {
        contradictory: V::NONE,
        changed: V::NONE,
        solved: V::ALL,
        locked: V::NONE,
    };
    cells(planes, &mut found);
    for d in 0..9 {
        digit(planes, d, &mut found);
    }
    // Every cell is known, and the digits stand where the rules want them. If a cell was left with
    // two hidden singles, its box holds ten places or more, so some digit stands there twice: that
    // is seen as a contradiction, unless locked candidates removed one of the two just now.
    found.solved = found.solved.without(found.contradictory | found.locked);
    found.changed |= found.locked;
    found
}

/// Finds the cells whose value is known: naked singles and hidden singles.
///
/// Takes no candidate away: `digit` clears what does not go with a known value.
#[inline(always)]
fn cells<V: Vector<N>, const N: usize>(planes: &mut Planes<V, N>, found: &mut Found<V>) {
    let mut alive = V::ALL;
    for row in 0..9 {
        for column in 0..9 {
            let (c, b) = (9 * row + column, row / 3 * 3 + column / 3);
            let mut hidden = V::NONE;
            let mut one = V::NONE;
            let mut two = V::NONE;
            for d in 0..9 {
                let p = planes.candidates[d][c];
                hidden |= p & planes.single_place[d][b];
                two |= one & p;
                one |= p;
            }
            let was_known = planes.known[c];
            let known = hidden | one.without(two);
            alive &= one;
            // Known since the last sweep, which left it one candidate, or two hidden singles.
            found.contradictory |= was_known & two;
            found.changed |= known.without(was_known);
            found.solved &= known;
            planes.known[c] = known;
            planes.not_hidden[c] = !hidden;
        }
    }
    found.contradictory |= !alive;
}

/// The groups of three cells that a band and its boxes share (or a stack and its boxes): by row of
/// the band and box, whether the digit has a place there.
type Groups<V> = [[V; 3]; 3];

/// Naked singles, hidden singles and locked candidates of one digit.
#[inline(always)]
fn digit<V: Vector<N>, const N: usize>(planes: &mut Planes<V, N>, d: usize, found: &mut Found<V>) {
    let mut placed = [V::NONE; 9];
    let mut column_groups = [[V::NONE; 3]; 9];
    for band in 0..3 {
        let mut groups = [[V::NONE; 3]; 3];
        for stack in 0..3 {
            let (in_box, box_groups) = solved_cells(planes, d, band, stack);
            placed[3 * band + stack] = in_box;
            for r in 0..3 {
                groups[r][stack] = box_groups[r];
            }
        }
        let kept = permutations(&groups);
        found.locked |= difference(&groups, &kept);
        let p = &mut planes.candidates[d];
        for column in 0..9 {
            let mut any = V::NONE;
            for r in 0..3 {
                let c = 27 * band + 9 * r + column;
                p[c] &= kept[r][column / 3];
                any |= p[c];
            }
            column_groups[column][band] = any;
        }
    }
    let mut alive = V::ALL;
    for stack in 0..3 {
        let groups = [
            column_groups[3 * stack],
            column_groups[3 * stack + 1],
            column_groups[3 * stack + 2],
        ];
        let kept = permutations(&groups);
        found.locked |= difference(&groups, &kept);
        let p = &mut planes.candidates[d];
        for k in 0..3 {
            for row in 0..9 {
                p[9 * row + 3 * stack + k] &= kept[k][row / 3];
            }
        }
        for band in 0..3 {
            let b = 3 * band + stack;
            // One row and one column with a place: one place. The rows are looked at again, now that
            // columns were cleared: a sweep gets longer by a hundredth, boards need fewer.
            let rows = [0, 1, 2].map(|r| {
                let c = 27 * band + 9 * r + 3 * stack;
                p[c] | p[c + 1] | p[c + 2]
            });
            let (_, two_rows) = one_two(rows);
            let (any, two_columns) = one_two([kept[0][band], kept[1][band], kept[2][band]]);
            let two = two_rows | two_columns;
            let single = any.without(two);
            alive &= any;
            found.contradictory |= two & placed[b];
            found.changed |= single.without(planes.single_place[d][b]);
            planes.single_place[d][b] = single;
        }
    }
    found.contradictory |= !alive;
}

/// In one box: clears what does not go with the known cells. Returns where a known cell has the
/// digit, and the rows of the box that have a place for it.
#[inline(always)]
fn solved_cells<V: Vector<N>, const N: usize>(
    planes: &mut Planes<V, N>,
    d: usize,
    band: usize,
    stack: usize,
) -> (V, [V; 3]) {
    let single_place = planes.single_place[d][3 * band + stack];
    let cells: [usize; 9] = std::array::from_fn(|i| 27 * band + 9 * (i / 3) + 3 * stack + i % 3);
    let mut placed = V::NONE;
    // A known cell keeps one candidate: the hidden single, or the only one it has.
    let mut p = cells.map(|c| {
        let p = planes.candidates[d][c] & (planes.not_hidden[c] | single_place);
        placed |= p & planes.known[c];
        p
    });
    for i in 0..9 {
        p[i] &= planes.known[cells[i]] | !placed;
        planes.candidates[d][cells[i]] = p[i];
    }
    (
        placed,
        [p[0] | p[1] | p[2], p[3] | p[4] | p[5], p[6] | p[7] | p[8]],
    )
}

/// Locked candidates, pointing and claiming, in one go: keeps the groups that belong to some way to
/// put the digit once in every row and once in every box of the band.
///
/// There are six ways. What single rows and boxes exclude is just what is in none of them (Hall's
/// theorem: two rows that share two boxes leave the third row the third box).
#[inline(always)]
fn permutations<V: Vector<N>, const N: usize>(g: &Groups<V>) -> Groups<V> {
    let p012 = g[0][0] & g[1][1] & g[2][2];
    let p102 = g[0][1] & g[1][0] & g[2][2];
    let p021 = g[0][0] & g[1][2] & g[2][1];
    let p201 = g[0][2] & g[1][0] & g[2][1];
    let p120 = g[0][1] & g[1][2] & g[2][0];
    let p210 = g[0][2] & g[1][1] & g[2][0];
    [
        [p012 | p021, p102 | p120, p201 | p210],
        [p102 | p201, p012 | p210, p021 | p120],
        [p120 | p210, p021 | p201, p012 | p102],
    ]
}

#[inline(always)]
fn difference<V: Vector<N>, const N: usize>(before: &Groups<V>, after: &Groups<V>) -> V {
    let mut difference = V::NONE;
    for r in 0..3 {
        for s in 0..3 {
            difference |= before[r][s] ^ after[r][s];
        }
    }
    difference
}

/// Lanes with at least one, with at least two of three.
#[inline(always)]
fn one_two<V: Vector<N>, const N: usize>([a, b, c]: [V; 3]) -> (V, V) {
    let either = a | b;
    (either | c, (a & b) | (either & c))
}
