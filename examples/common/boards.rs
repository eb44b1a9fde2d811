//! Sets of boards, as the examples that measure read them.

use std::{fs::File, io::Read as _, path::Path};

use anyhow::Context as _;
use flate2::read::MultiGzDecoder;
use sudoku_solver::board::{Board, text};

/// The boards of a gzip-compressed file, one a line.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Board>> {
    let mut lines = String::new();
    File::open(path)
        .and_then(|file| MultiGzDecoder::new(file).read_to_string(&mut lines))
        .with_context(|| format!("cannot read {}", path.display()))?;
    lines
        .lines()
        .map(|line| text::parse(line).with_context(|| format!("cannot read {}", path.display())))
        .collect()
}
