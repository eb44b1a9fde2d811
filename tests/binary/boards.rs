//! One board for every status.

/// One solution, found by naked singles.
pub const UNIQUE: &str =
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

/// The solution of [`UNIQUE`].
pub const GRID: &str =
    "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// Two solutions: [`GRID`], and the one in which two rows have two digits the other way round.
pub const TWO: &str =
    "53467891267219534819834256785976.42.42685.79.713924856961537284287419635345286179";

/// [`UNIQUE`] with a given that no rule forbids at sight and that is wrong.
pub const UNSOLVABLE: &str =
    "531.7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

/// Two 5s in row 1, which is two 5s in box 1 as well.
pub const CLASHING: &str =
    "55..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

/// No givens at all: no search proves anything about it in one node.
pub const EMPTY: &str =
    ".................................................................................";

/// No board.
pub const MALFORMED: &str = "good morning";

/// No solution, and a proof that takes some eight million nodes: longer than a test looks.
pub const LONG: &str =
    ".................5...........1...27...........4...1.9.......72......29...5.......";
