//! The sets of boards.

use std::{
    fs::File,
    io::{BufReader, Read as _},
    path::Path,
};

use anyhow::Context as _;
use flate2::read::MultiGzDecoder;
use sudoku_solver::board::{Board, text::parse};

/// Where they are, beside the repository.
pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");

/// From those that need no guess to those that need a hundred.
pub(crate) const SETS: [&str; 9] = [
    "easy_naked_singles",
    "minimal",
    "17_clue",
    "medium_top25k",
    "mixed_verdicts",
    "magictour_top1465",
    "forum_hardest_11plus",
    "forum_hardest_1106",
    "serg_multiple",
];

/// Reads a set.
pub(crate) fn read(folder: &Path, set: &str) -> anyhow::Result<Vec<Board>> {
    let path = folder.join(format!("{set}.txt.gz"));
    let mut text = String::new();
    File::open(&path)
        .and_then(|file| MultiGzDecoder::new(BufReader::new(file)).read_to_string(&mut text))
        .with_context(|| format!("cannot read {}", path.display()))?;
    let boards: Vec<Board> = text
        .lines()
        .map(parse)
        .collect::<Result<_, _>>()
        .with_context(|| format!("a line of {}", path.display()))?;
    anyhow::ensure!(!boards.is_empty(), "{} holds no board", path.display());
    Ok(boards)
}
