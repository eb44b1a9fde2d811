//! A fault to test with, in builds with debug assertions only: a board that panics the solver
//! thread that takes it.

use crate::board::Board;

/// The board: 1 to 9 down the diagonal and a second 9 in the last column, so that it clashes and
/// no one would miss it.
pub const BOARD: &str =
    "1.......9.2.........3.........4.........5.........6.........7.........8.........9";

#[expect(clippy::panic, reason = "the fault is a panic")]
pub(super) fn strike(boards: &[Board]) {
    let strikes = |board: &Board| board.to_ascii() == *BOARD.as_bytes();
    if boards.iter().any(strikes) {
        std::panic::panic_any("the fault board");
    }
}
