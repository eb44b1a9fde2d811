//! Boards as people have them: the one parser of the API and of files.

use super::Board;

/// Why a text is not a board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct MalformedBoard {
    /// What is wrong, in words; complete without the other fields.
    pub reason: String,
    /// Where in the text, in characters from 1, if one place is wrong.
    pub position: Option<u32>,
    /// The character found there.
    pub found: Option<char>,
}

/// Reads one board.
///
/// # Errors
///
/// Text that is not one board, or could be read as more than one.
pub fn parse(_text: &str) -> Result<Board, MalformedBoard> {
    unimplemented!()
}
