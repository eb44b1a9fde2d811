//! The branch rule for bivalue cells, on all lanes at once: what [`tree`](crate::solver::tree) says, counted in binary
//! with one number a lane.

#![expect(
    clippy::needless_range_loop,
    reason = "rows, columns and cells are numbers here"
)]

use super::{
    planes::{Candidates, Planes},
    vector::Vector,
};

/// Where each branching lane guesses, and the room to work it out: kept, because clearing and
/// copying these arrays at every call cost more than the rule itself.
pub(crate) struct Guess<V> {
    /// `cells[c]`: lanes that guess in cell `c`.
    cells: [V; 81],
    bivalue: [V; 81],
    scores: [Number<V, SCORE_BITS>; 81],
    columns: [[Number<V, 4>; 9]; 3],
}

/// Twenty peers and the cell itself at three a bivalue cell: at most 63.
const SCORE_BITS: usize = 6;

/// A sum in binary, lowest bit first, one number a lane.
type Number<V, const BITS: usize> = [V; BITS];

impl<V> Guess<V> {
    pub(crate) const fn new<const N: usize>() -> Self
    where
        V: Vector<N>,
    {
        Guess {
            cells: [V::NONE; 81],
            bivalue: [V::NONE; 81],
            scores: [[V::NONE; SCORE_BITS]; 81],
            columns: [[[V::NONE; 4]; 9]; 3],
        }
    }

    /// Chooses cell and digit for those of `lanes`, which must be stalled, that have a bivalue cell.
    /// Returns the others: one in a hundred on the hardest boards, none elsewhere.
    #[inline(always)]
    pub(crate) fn choose<const N: usize>(&mut self, planes: &Planes<V, N>, lanes: V) -> V
    where
        V: Vector<N>,
    {
        let mut some = V::NONE;
        for c in 0..81 {
            let (mut one, mut two, mut three) = (V::NONE, V::NONE, V::NONE);
            for d in 0..9 {
                let p = planes.candidates[d][c];
                three |= two & p;
                two |= one & p;
                one |= p;
            }
            let bivalue = two.without(three);
            some |= bivalue;
            self.bivalue[c] = bivalue;
            self.cells[c] = bivalue & lanes;
        }
        self.score(planes);
        self.keep_highest();
        let mut seen = V::NONE;
        for cell in &mut self.cells {
            let first = cell.without(seen);
            seen |= *cell;
            *cell = first;
        }
        lanes.without(some)
    }

    /// Scores every cell: one for each open peer and two more for each bivalue one. The cell itself
    /// is counted too, which is the same for all that compete.
    #[inline(always)]
    fn score<const N: usize>(&mut self, planes: &Planes<V, N>)
    where
        V: Vector<N>,
    {
        // By band and column. The minicolumns of the other two bands, as those of the own band are
        // in the box.
        for band in 0..3 {
            for column in 0..9 {
                self.columns[band][column] = self.weigh(planes, 27 * band + column, 9);
            }
        }
        for band in 0..3 {
            let mut rows = [[[V::NONE; 4]; 3]; 3];
            for r in 0..3 {
                for stack in 0..3 {
                    rows[r][stack] = self.weigh(planes, 27 * band + 9 * r + 3 * stack, 1);
                }
            }
            for stack in 0..3 {
                let of_box: Number<V, 5> = add::<V, N, 5, 4, 5>(
                    add::<V, N, 4, 4, 5>(rows[0][stack], rows[1][stack]),
                    rows[2][stack],
                );
                let outside_columns: [Number<V, 5>; 3] = std::array::from_fn(|k| {
                    let column = 3 * stack + k;
                    add::<V, N, 4, 4, 5>(
                        self.columns[(band + 1) % 3][column],
                        self.columns[(band + 2) % 3][column],
                    )
                });
                for r in 0..3 {
                    let outside_row =
                        add::<V, N, 4, 4, 5>(rows[r][(stack + 1) % 3], rows[r][(stack + 2) % 3]);
                    let row_and_box: Number<V, 6> = add::<V, N, 5, 5, 6>(of_box, outside_row);
                    for k in 0..3 {
                        self.scores[27 * band + 9 * r + 3 * stack + k] =
                            add::<V, N, 6, 5, SCORE_BITS>(row_and_box, outside_columns[k]);
                    }
                }
            }
        }
    }

    /// Three cells from `first` on: one for each that is open and two more if it is bivalue.
    #[inline(always)]
    fn weigh<const N: usize>(
        &self,
        planes: &Planes<V, N>,
        first: usize,
        step: usize,
    ) -> Number<V, 4>
    where
        V: Vector<N>,
    {
        let (a, b, c) = (first, first + step, first + 2 * step);
        let open = add3(!planes.known[a], !planes.known[b], !planes.known[c]);
        let two = add3(self.bivalue[a], self.bivalue[b], self.bivalue[c]);
        let carry = open[1] & two[0];
        [open[0], open[1] ^ two[0], two[1] ^ carry, two[1] & carry]
    }

    /// Leaves those cells that have the highest score of their lane.
    #[inline(always)]
    fn keep_highest<const N: usize>(&mut self)
    where
        V: Vector<N>,
    {
        for bit in (0..SCORE_BITS).rev() {
            let mut higher = V::NONE;
            for c in 0..81 {
                higher |= self.cells[c] & self.scores[c][bit];
            }
            for c in 0..81 {
                self.cells[c] = self.cells[c].without(higher.without(self.scores[c][bit]));
            }
        }
    }

    /// Makes the guesses: in its cell each lane keeps its lowest candidate in `planes` and the others in
    /// `saved`.
    #[inline(always)]
    pub(crate) fn apply<const N: usize>(&self, planes: &mut Planes<V, N>, saved: &mut Candidates<V>)
    where
        V: Vector<N>,
    {
        for (c, &lanes) in self.cells.iter().enumerate() {
            if lanes.any() {
                let mut rest = lanes;
                for d in 0..9 {
                    let p = planes.candidates[d][c];
                    saved[d][c] = saved[d][c].without(rest & p);
                    planes.candidates[d][c] = p.without(lanes.without(rest));
                    rest = rest.without(p);
                }
            }
        }
    }
}

#[inline(always)]
fn add3<V: Vector<N>, const N: usize>(a: V, b: V, c: V) -> Number<V, 2> {
    let either = a ^ b;
    [either ^ c, (a & b) | (either & c)]
}

/// The sum of two numbers of `A` and `B` bits; `S` bits must hold it.
#[inline(always)]
fn add<V: Vector<N>, const N: usize, const A: usize, const B: usize, const S: usize>(
    a: Number<V, A>,
    b: Number<V, B>,
) -> Number<V, S> {
    let mut sum = [V::NONE; S];
    let mut carry = V::NONE;
    for i in 0..S {
        let x = if i < A { a[i] } else { V::NONE };
        let y = if i < B { b[i] } else { V::NONE };
        [sum[i], carry] = add3(x, y, carry);
    }
    sum
}
