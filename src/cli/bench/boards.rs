//! The boards of a file, all in memory: what is measured is solving and not reading.

use std::{fs::File, path::Path};

use anyhow::Context as _;

use crate::{
    board::{
        Board,
        text::{file::BoardTexts, parse},
    },
    cli::{gzip, say},
};

/// More boards of a file are left out: a hundred megabytes show as much as a file of any size.
const BOARDS_MAX: usize = 1 << 20;

const READ_BYTES: usize = 64 * 1024;

/// What a file holds.
#[derive(Debug)]
pub(super) struct Boards {
    /// Its boards, at least one.
    pub(super) boards: Vec<Board>,
    /// How many texts in it are none.
    pub(super) malformed: u64,
}

impl Boards {
    /// Reads a file and tells on standard error what of it is left out.
    pub(super) fn read(path: &Path) -> anyhow::Result<Boards> {
        let file = path.display();
        let raw = File::open(path).with_context(|| format!("cannot read {file}"))?;
        let mut texts = BoardTexts::new(gzip::decompress(raw, READ_BYTES)?);
        let (mut boards, mut malformed, mut first_malformed) = (Vec::new(), 0, None);
        while let Some(text) = texts
            .next_text()
            .with_context(|| format!("cannot read {file}"))?
        {
            if boards.len() == BOARDS_MAX {
                say(&format!(
                    "{file}: only the first {BOARDS_MAX} boards are measured"
                ));
                break;
            }
            match parse(text.text) {
                Ok(board) => boards.push(board),
                Err(error) => {
                    malformed += 1;
                    first_malformed.get_or_insert((text.line_number, error));
                }
            }
        }
        if let Some((line, error)) = first_malformed {
            say(&format!(
                "{file}: left out what is no board: {malformed}, the first on line {line}: {error}"
            ));
        }
        anyhow::ensure!(!boards.is_empty(), "{file} holds no board");
        Ok(Boards { boards, malformed })
    }
}
