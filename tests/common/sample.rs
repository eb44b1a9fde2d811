//! Boards to test with: generated ones, always the same, and samples of the shared sets.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed unwrap is a failed test"
)]

use std::{fs::File, io::Read, path::Path};

use flate2::read::GzDecoder;
use sudoku_solver::board::Board;

use super::oracle;

/// The sets of `../shared/data`.
pub(crate) const SETS: [&str; 9] = [
    "17_clue",
    "easy_naked_singles",
    "minimal",
    "medium_top25k",
    "mixed_verdicts",
    "magictour_top1465",
    "forum_hardest_11plus",
    "forum_hardest_1106",
    "serg_multiple",
];

/// `count` boards spread evenly over a shared set; none, said aloud, where it is not present.
pub(crate) fn shared(set: &str, count: usize) -> Vec<Board> {
    let name = format!("../shared/data/{set}.txt.gz");
    let Ok(file) = File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(&name)) else {
        eprintln!("skipped: {name} not there");
        return Vec::new();
    };
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let lines: Vec<_> = text.lines().collect();
    lines
        .iter()
        .step_by(lines.len().div_ceil(count))
        .map(|line| board(line))
        .collect()
}

/// A board from 81 plain characters.
pub(crate) fn board(text: &str) -> Board {
    let values: Vec<u8> = text
        .bytes()
        .map(|b| if b == b'.' { 0 } else { b - b'0' })
        .collect();
    Board::new(values.try_into().unwrap()).unwrap()
}

/// Random numbers that are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    /// The dice of a seed.
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % n
    }

    /// The numbers below `N`, shuffled.
    pub(crate) fn shuffled<const N: usize>(&mut self) -> [usize; N] {
        let mut order = std::array::from_fn(|i| i);
        for i in (1..N).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

/// A full grid: three random boxes that do not see each other, and a completion of them.
pub(crate) fn grid(dice: &mut Dice) -> Board {
    let mut values = [0; 81];
    for corner in [0, 30, 60] {
        for (i, digit) in dice.shuffled::<9>().into_iter().enumerate() {
            values[corner + i / 3 * 9 + i % 3] = u8::try_from(digit + 1).unwrap();
        }
    }
    oracle::fewest_candidates_first(&Board::new(values).unwrap(), 1)[0]
}

/// A board with `givens` givens of a random grid, so with at least one solution.
pub(crate) fn with_givens(dice: &mut Dice, givens: usize) -> Board {
    let mut values = *grid(dice).values();
    for cell in dice.shuffled::<81>().into_iter().skip(givens) {
        values[cell] = 0;
    }
    Board::new(values).unwrap()
}

/// The same board with one given changed: often without a solution, sometimes with a clash.
pub(crate) fn spoiled(dice: &mut Dice, board: &Board) -> Board {
    let mut values = *board.values();
    let givens: Vec<_> = (0..81).filter(|&cell| values[cell] != 0).collect();
    let cell = givens[dice.below(givens.len())];
    values[cell] = values[cell] % 9 + 1;
    Board::new(values).unwrap()
}

/// `count` boards with 0, 1 and several solutions: 20 to 39 givens, every second one spoiled.
pub(crate) fn generated(seed: u64, count: usize) -> Vec<Board> {
    let mut dice = Dice::new(seed);
    let mut boards = Vec::new();
    while boards.len() < count {
        let givens = 20 + dice.below(20);
        let board = with_givens(&mut dice, givens);
        boards.push(board);
        boards.push(spoiled(&mut dice, &board));
    }
    boards
}
