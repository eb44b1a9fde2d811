//! The state of all lanes, and the way of a lane in and out of it.
//!
//! ```text
//!                   lane 0   lane 1   lane 2  ...  lane 64 N - 1
//! candidates[0][0]    1        0        1              one Lanes<N> a row: "digit 1 is still a
//! candidates[0][1]    1        1        0              candidate of cell 0", "... of cell 1"
//!       ...
//! candidates[8][80]   0        1        1              9 digits * 81 cells = 729 rows
//! ```
//!
//! A lane is a column of this picture. To move columns, blocks of 64 rows by 64 lanes are transposed
//! with shifts and masks, in all words of the vectors at once; a column then is a run of words in
//! memory:
//!
//! * a [`Node`]: the 729 candidates in order, 12 words, for saved nodes of a search;
//! * a packed grid: four bits a cell, five words and a rest, for new boards and for solutions.

use super::{lanes::Lanes, vector::Vector};
use crate::{board::Board, solver::planes::Planes as Tables};

/// Words of a packed node.
pub(crate) const NODE_WORDS: usize = 12;

/// Whole words of a packed grid; cell 80 stands in one more.
pub(crate) const GRID_WORDS: usize = 6;

/// One node of a search: bit `81 d + c` tells whether digit `d + 1` is a candidate of cell `c`.
pub(crate) type Node = [u64; NODE_WORDS];

/// Removes a candidate; cell and digit count from 0.
#[inline(always)]
pub(crate) fn remove(node: &mut Node, cell: usize, digit: usize) {
    let candidate = 81 * digit + cell;
    node[candidate / 64] &= !(1 << (candidate % 64));
}

/// Removes every other candidate of a cell.
pub(crate) fn keep_only(node: &mut Node, cell: usize, digit: usize) {
    for other in (0..9).filter(|&other| other != digit) {
        remove(node, cell, other);
    }
}

/// The tables of the single-board solver, which a node holds in order: 27 cells of a band at a time,
/// band by band, digit by digit.
pub(crate) fn tables(node: &Node) -> Tables {
    let mut bands = [[0; 9]; 3];
    for (k, digit_band) in (0..27).map(|k| (k, 27 * k)) {
        let (word, shift) = (digit_band / 64, digit_band % 64);
        let next = node.get(word + 1).copied().unwrap_or(0);
        let wide = u128::from(next) << 64 | u128::from(node[word]);
        let cells = (wide >> shift) & 0o777_777_777;
        bands[k % 3][k / 3] = u32::try_from(cells).unwrap_or(0);
    }
    Tables::from_bands(bands)
}

/// A board at four bits a cell, sixteen cells a word, 0 for a blank.
pub(crate) type PackedGrid = [u64; GRID_WORDS];

/// `candidates[d][c]`: in which lanes digit `d + 1` is still a candidate of cell `c`.
pub(crate) type Candidates<V> = [[V; 81]; 9];

/// What the lanes know.
#[repr(C, align(64))]
pub(crate) struct Planes<V, const N: usize> {
    pub(crate) candidates: Candidates<V>,
    /// Lanes in which the value of the cell is known.
    pub(crate) known: [V; 81],
    /// Lanes in which the last sweep saw no hidden single in the cell.
    pub(crate) not_hidden: [V; 81],
    /// `single_place[d][b]`: lanes in which digit `d + 1` has one place left in box `b`.
    pub(crate) single_place: [[V; 9]; 9],
}

/// Where lanes wait outside of the planes. Word `j` of `nodes[k][w]` is word `w` of lane
/// `64 j + k`, so that the words of one lane are neighbours in memory.
#[repr(C, align(64))]
pub(crate) struct Outside<const N: usize> {
    pub(crate) nodes: [[Lanes<N>; NODE_WORDS]; 64],
    pub(crate) grids: [[Lanes<N>; GRID_WORDS]; 64],
}

impl<const N: usize> Outside<N> {
    pub(crate) const EMPTY: Self = Outside {
        nodes: [[Lanes::NONE; NODE_WORDS]; 64],
        grids: [[Lanes::NONE; GRID_WORDS]; 64],
    };

    /// Copies every lane of `candidates` out as a node.
    #[inline(always)]
    pub(crate) fn unload_nodes<V: Vector<N>>(&mut self, candidates: &Candidates<V>) {
        let mut half = [V::NONE; 64];
        for (w, rows) in candidates.as_flattened().chunks(64).enumerate() {
            transpose(
                &mut half,
                |row| rows.get(row).copied().unwrap_or(V::NONE),
                |k, value| value.store(&mut self.nodes[k][w]),
            );
        }
    }

    #[inline(always)]
    pub(crate) fn node(&self, lane: usize) -> Node {
        self.nodes[lane % 64].map(|words| words.0[lane / 64])
    }

    #[inline(always)]
    pub(crate) fn set_node(&mut self, lane: usize, node: &Node) {
        for (words, &word) in self.nodes[lane % 64].iter_mut().zip(node) {
            words.0[lane / 64] = word;
        }
    }

    #[inline(always)]
    pub(crate) fn grid(&self, lane: usize) -> PackedGrid {
        self.grids[lane % 64].map(|words| words.0[lane / 64])
    }

    #[inline(always)]
    pub(crate) fn set_grid(&mut self, lane: usize, grid: &PackedGrid) {
        for (words, &word) in self.grids[lane % 64].iter_mut().zip(grid) {
            words.0[lane / 64] = word;
        }
    }
}

impl<V: Vector<N>, const N: usize> Planes<V, N> {
    /// Every lane as a board without givens: never contradictory, never solved.
    pub(crate) const EMPTY: Self = Planes {
        candidates: [[V::ALL; 81]; 9],
        known: [V::NONE; 81],
        not_hidden: [V::ALL; 81],
        single_place: [[V::NONE; 9]; 9],
    };

    /// Takes the nodes of `lanes` in.
    #[inline(always)]
    pub(crate) fn load_nodes(&mut self, outside: &Outside<N>, lanes: V) {
        self.forget(lanes);
        let candidates = self.candidates.as_flattened_mut();
        let mut half = [V::NONE; 64];
        for (w, rows) in candidates.chunks_mut(64).enumerate() {
            transpose(
                &mut half,
                |k| V::load(&outside.nodes[k][w]),
                |row, value| {
                    if row < rows.len() {
                        rows[row] = rows[row].without(lanes) | (value & lanes);
                    }
                },
            );
        }
    }

    /// Takes the packed boards of `lanes` in: a blank gets all candidates, a given its digit.
    #[inline(always)]
    pub(crate) fn load_grids(&mut self, outside: &Outside<N>, lanes: V) {
        self.forget(lanes);
        let mut half = [V::NONE; 64];
        let mut rows = [V::NONE; 64];
        for w in 0..GRID_WORDS {
            transpose(
                &mut half,
                |k| V::load(&outside.grids[k][w]),
                |row, value| rows[row] = value,
            );
            for (i, bits) in rows.chunks_exact(4).enumerate() {
                if 16 * w + i < 81 {
                    self.set_cell(16 * w + i, [bits[0], bits[1], bits[2], bits[3]], lanes);
                }
            }
        }
    }

    #[inline(always)]
    fn set_cell(&mut self, c: usize, [b0, b1, b2, b3]: [V; 4], lanes: V) {
        let low = [!(b0 | b1), b0.without(b1), b1.without(b0), b0 & b1];
        let high = [!(b2 | b3), b2.without(b3), b3.without(b2)];
        let blank = low[0] & high[0];
        for d in 0..9 {
            let value = d + 1;
            let candidate = blank | (low[value % 4] & high[value / 4]);
            let plane = &mut self.candidates[d][c];
            *plane = plane.without(lanes) | (candidate & lanes);
        }
    }

    /// Drops what was derived for `lanes`, whose candidates are about to be replaced.
    #[inline(always)]
    fn forget(&mut self, lanes: V) {
        let keep = !lanes;
        for known in &mut self.known {
            *known &= keep;
        }
        for single in self.single_place.as_flattened_mut() {
            *single &= keep;
        }
    }

    /// Copies the candidates of `lanes` to `saved`.
    #[inline(always)]
    pub(crate) fn save(&self, saved: &mut Candidates<V>, lanes: V) {
        copy_lanes(&self.candidates, saved, lanes);
    }

    /// Takes the candidates of `lanes` back from `saved`.
    #[inline(always)]
    pub(crate) fn restore(&mut self, saved: &Candidates<V>, lanes: V) {
        self.forget(lanes);
        copy_lanes(saved, &mut self.candidates, lanes);
    }

    /// Copies every solved lane out as a packed grid; other lanes give nonsense.
    #[inline(always)]
    pub(crate) fn unload_grids(&self, outside: &mut Outside<N>) {
        let mut half = [V::NONE; 64];
        let mut rows = [V::NONE; 64];
        for w in 0..GRID_WORDS {
            for (i, bits) in rows.chunks_exact_mut(4).enumerate() {
                if 16 * w + i < 81 {
                    let c = 16 * w + i;
                    let p: [V; 9] = std::array::from_fn(|d| self.candidates[d][c]);
                    bits[0] = p[0] | p[2] | p[4] | p[6] | p[8];
                    let six_seven = p[5] | p[6];
                    bits[1] = p[1] | p[2] | six_seven;
                    bits[2] = p[3] | p[4] | six_seven;
                    bits[3] = p[7] | p[8];
                }
            }
            transpose(
                &mut half,
                |row| rows[row],
                |k, value| value.store(&mut outside.grids[k][w]),
            );
        }
    }
}

#[inline(always)]
fn copy_lanes<V: Vector<N>, const N: usize>(
    from: &Candidates<V>,
    to: &mut Candidates<V>,
    lanes: V,
) {
    for (from, to) in from.as_flattened().iter().zip(to.as_flattened_mut()) {
        *to = to.without(lanes) | (*from & lanes);
    }
}

/// Packs a board.
///
/// Two cells at a time, all pairs alike, which the compiler turns into vector instructions; so in
/// [`unpack`].
#[inline(always)]
pub(crate) fn pack(board: &Board) -> PackedGrid {
    let mut cells = [[0; 2]; 8 * GRID_WORDS];
    cells.as_flattened_mut()[..Board::CELLS].copy_from_slice(board.values());
    let pairs = cells.map(|[low, high]| low | high << 4);
    let mut packed = [0; GRID_WORDS];
    for (word, &pairs) in packed.iter_mut().zip(pairs.as_chunks().0) {
        *word = u64::from_le_bytes(pairs);
    }
    packed
}

/// The values of a packed grid.
#[inline(always)]
pub(crate) fn unpack(packed: &PackedGrid) -> [u8; Board::CELLS] {
    let mut cells = [[0; 2]; 8 * GRID_WORDS];
    let pairs = packed.map(u64::to_le_bytes);
    for (cells, &pair) in cells.iter_mut().zip(pairs.as_flattened()) {
        *cells = [pair & 15, pair >> 4];
    }
    let mut values = [0; Board::CELLS];
    values.copy_from_slice(&cells.as_flattened()[..Board::CELLS]);
    values
}

/// Transposes a block: bit `i` of row `j` becomes bit `j` of row `i`, in each word of the vectors.
///
/// Six rounds of swaps of ever smaller squares; three rounds at a time on eight rows, which is what
/// the registers hold. In between they lie in `half`: the caller's, as clearing one for every block
/// took as long as a round.
#[inline(always)]
fn transpose<V: Vector<N>, const N: usize>(
    half: &mut [V; 64],
    read: impl Fn(usize) -> V,
    mut write: impl FnMut(usize, V),
) {
    for i in 0..8 {
        let mut rows: [V; 8] = std::array::from_fn(|j| read(i + 8 * j));
        swap_round::<4, 32, V, N>(&mut rows, 0x0000_0000_ffff_ffff);
        swap_round::<2, 16, V, N>(&mut rows, 0x0000_ffff_0000_ffff);
        swap_round::<1, 8, V, N>(&mut rows, 0x00ff_00ff_00ff_00ff);
        half[8 * i..8 * i + 8].copy_from_slice(&rows);
    }
    for j in 0..8 {
        let mut rows: [V; 8] = std::array::from_fn(|i| half[8 * i + j]);
        swap_round::<4, 4, V, N>(&mut rows, 0x0f0f_0f0f_0f0f_0f0f);
        swap_round::<2, 2, V, N>(&mut rows, 0x3333_3333_3333_3333);
        swap_round::<1, 1, V, N>(&mut rows, 0x5555_5555_5555_5555);
        for (i, &row) in rows.iter().enumerate() {
            write(8 * j + i, row);
        }
    }
}

#[inline(always)]
fn swap_round<const STEP: usize, const SHIFT: i32, V: Vector<N>, const N: usize>(
    rows: &mut [V; 8],
    low: u64,
) {
    let low = V::splat(low);
    for i in 0..8 {
        if i & STEP == 0 {
            let (a, b) = (rows[i], rows[i + STEP]);
            let moved = (a.shift_right::<SHIFT>() ^ b) & low;
            rows[i + STEP] = b ^ moved;
            rows[i] = a ^ moved.shift_left::<SHIFT>();
        }
    }
}
