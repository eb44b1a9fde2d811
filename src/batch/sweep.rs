//! The rules, on all lanes at once.

use super::{planes::Planes, vector::Vector};

/// What a sweep found out.
#[derive(Clone, Copy)]
pub(crate) struct Found<V> {
    pub(crate) contradictory: V,
    pub(crate) changed: V,
    pub(crate) solved: V,
    /// Lanes in which locked candidates removed something.
    locked: V,
}

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
        digit(
            &mut planes.candidates[d],
            &planes.known,
            &planes.not_hidden,
            &mut planes.single_place[d],
            &mut found,
        );
    }
    // Every cell is known, and the digits stand where the rules want them. If a cell was left with
    // two hidden singles, its box holds ten places or more, so some digit stands there twice: that
    // is seen as a contradiction, unless locked candidates removed one of the two just now.
    found.solved = found.solved.without(found.contradictory | found.locked);
    found.changed |= found.locked;
    found
}

/// Naked and hidden singles, cell by cell.
#[inline(always)]
fn cells<V: Vector<N>, const N: usize>(planes: &mut Planes<V, N>, found: &mut Found<V>) {
    let mut alive = V::ALL;
    for band in 0..3 {
        for r in 0..3 {
            for stack in 0..3 {
                let b = 3 * band + stack;
                for k in 0..3 {
                    let c = 27 * band + 9 * r + 3 * stack + k;
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
                    found.contradictory |= was_known & two;
                    found.changed |= known.without(was_known);
                    found.solved &= known;
                    planes.known[c] = known;
                    planes.not_hidden[c] = !hidden;
                }
            }
        }
    }
    found.contradictory |= !alive;
}

/// One digit.
#[inline(always)]
fn digit<V: Vector<N>, const N: usize>(
    p: &mut [V; 81],
    known: &[V; 81],
    not_hidden: &[V; 81],
    single_place: &mut [V; 9],
    found: &mut Found<V>,
) {
    let mut box_known = [V::NONE; 9];
    let mut rows = [[V::NONE; 3]; 9]; // minirow [row][stack]
    let mut columns = [[V::NONE; 3]; 9]; // minicolumn [column][band]
    let mut locked = V::NONE;
    let mut changed = V::NONE;
    for band in 0..3 {
        let mut groups = [[V::NONE; 3]; 3];
        for stack in 0..3 {
            let b = 3 * band + stack;
            let first = 27 * band + 3 * stack;
            let mut q = [V::NONE; 9];
            let mut placed = V::NONE;
            for i in 0..9 {
                let c = first + 9 * (i / 3) + i % 3;
                q[i] = p[c] & (not_hidden[c] | single_place[b]);
                placed |= q[i] & known[c];
            }
            box_known[b] = placed;
            for i in 0..9 {
                let c = first + 9 * (i / 3) + i % 3;
                q[i] &= known[c] | !placed;
                p[c] = q[i];
            }
            for r in 0..3 {
                groups[r][stack] = q[3 * r] | q[3 * r + 1] | q[3 * r + 2];
            }
        }
        let kept = permutations(groups);
        for r in 0..3 {
            for s in 0..3 {
                locked |= groups[r][s] ^ kept[r][s];
            }
            rows[3 * band + r] = kept[r];
        }
        for column in 0..9 {
            let mut any = V::NONE;
            for r in 0..3 {
                let c = 27 * band + 9 * r + column;
                let q = p[c] & kept[r][column / 3];
                p[c] = q;
                any |= q;
            }
            columns[column][band] = any;
        }
    }
    let mut alive = V::ALL;
    for stack in 0..3 {
        let groups = [
            columns[3 * stack],
            columns[3 * stack + 1],
            columns[3 * stack + 2],
        ];
        let kept = permutations(groups);
        for k in 0..3 {
            for band in 0..3 {
                locked |= groups[k][band] ^ kept[k][band];
                for r in 0..3 {
                    p[27 * band + 9 * r + 3 * stack + k] &= kept[k][band];
                }
            }
        }
        for band in 0..3 {
            let b = 3 * band + stack;
            let (_, two_rows) = one_two(
                rows[3 * band][stack],
                rows[3 * band + 1][stack],
                rows[3 * band + 2][stack],
            );
            let (any, two_columns) = one_two(kept[0][band], kept[1][band], kept[2][band]);
            let two = two_rows | two_columns;
            let single = any.without(two);
            alive &= any;
            found.contradictory |= two & box_known[b];
            changed |= single.without(single_place[b]);
            single_place[b] = single;
        }
    }
    found.contradictory |= !alive;
    found.changed |= changed;
    found.locked |= locked;
}

/// A digit's places in a band by row and box (or in a stack): those that belong to some way to
/// place it once in every row and once in every box.
#[inline(always)]
fn permutations<V: Vector<N>, const N: usize>(g: [[V; 3]; 3]) -> [[V; 3]; 3] {
    let a01 = g[0][0] & g[1][1];
    let a10 = g[0][1] & g[1][0];
    let a02 = g[0][0] & g[1][2];
    let a20 = g[0][2] & g[1][0];
    let a12 = g[0][1] & g[1][2];
    let a21 = g[0][2] & g[1][1];
    let p012 = a01 & g[2][2];
    let p102 = a10 & g[2][2];
    let p021 = a02 & g[2][1];
    let p201 = a20 & g[2][1];
    let p120 = a12 & g[2][0];
    let p210 = a21 & g[2][0];
    [
        [p012 | p021, p102 | p120, p201 | p210],
        [p102 | p201, p012 | p210, p021 | p120],
        [p120 | p210, p021 | p201, p012 | p102],
    ]
}

/// At least one, at least two of three.
#[inline(always)]
fn one_two<V: Vector<N>, const N: usize>(a: V, b: V, c: V) -> (V, V) {
    let ab = a | b;
    (ab | c, (a & b) | (ab & c))
}
