//! Boards that several tests need.

/// A board with one solution, and the solution.
pub(crate) const UNIQUE: &str =
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
pub(crate) const UNIQUE_SOLUTION: &str =
    "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// Nothing given: more solutions than anybody counts.
pub(crate) const EMPTY: &str =
    ".................................................................................";

/// Two fives in the first row and box.
pub(crate) const CLASHING: &str =
    "55..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

/// No solution, though no givens clash: the first cell has no candidate.
pub(crate) const UNSOLVABLE: &str =
    ".1234567.8..............................................................9........";

/// A text with something in it that is no cell.
pub(crate) const MALFORMED: &str =
    "53..7....6..195....98....6.8...6...34..8!3..17...2...6.6....28....419..5....8..79";

/// The board that panics a solver thread, in builds with debug assertions.
#[cfg(debug_assertions)]
pub(crate) const FAULT: &str = sudoku_solver::service::fault::BOARD;

/// No solution, and a proof that takes some eight million nodes.
pub(crate) const LONG: &str =
    ".................5...........1...27...........4...1.9.......72......29...5.......";
