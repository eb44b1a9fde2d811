//! The collection of boards that real tools got wrong, read where it is present.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![expect(
    clippy::print_stdout,
    reason = "a skipped collection must be seen in the output"
)]

use std::{fs, path::Path};

use serde::Deserialize;

/// One board or text, and what is right about it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) input: String,
    pub(crate) expected: Expected,
}

/// The right answer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Expected {
    pub(crate) verdict: CaseVerdict,
    /// Counted up to 1000.
    pub(crate) solutions: u32,
    /// Whether there are more solutions than were counted.
    #[serde(default)]
    pub(crate) cap_reached: bool,
    /// The grid, where there is exactly one.
    pub(crate) solution: Option<String>,
    /// Such as "row 1 digit 9", "col 2 digit 9", "box 1 digit 9".
    #[serde(default)]
    pub(crate) conflicts: Vec<String>,
    /// How many givens the board has, where that was counted.
    pub(crate) clues: Option<usize>,
    /// What is wrong with a text that is no board.
    pub(crate) parse_error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CaseVerdict {
    Unique,
    Multiple,
    /// No solution.
    None,
    /// Givens clash.
    Invalid,
    ParseError,
}

/// Every case; none, with a line that says so, where the collection is not beside the crate.
pub(crate) fn load() -> Vec<Case> {
    const PLACE: &str = "../shared/cases/boards.jsonl";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PLACE);
    if !path.exists() {
        println!("skipped: {PLACE} is not there");
        return Vec::new();
    }
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
