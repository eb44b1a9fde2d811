//! Why a text is not a board, in words for the one who sent it.

use super::{
    TEXT_BYTES_MAX,
    line::{Fault, ROW_LIKE_MAX},
};

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

impl MalformedBoard {
    pub(super) fn none_given() -> Self {
        MalformedBoard::whole("no board given: 81 cells expected".to_owned())
    }

    pub(super) fn too_long(text: &str) -> Self {
        let bytes = text.len();
        MalformedBoard::whole(format!(
            "{bytes} bytes of text, at most {TEXT_BYTES_MAX} accepted"
        ))
    }

    pub(super) fn too_few_rows(rows: usize) -> Self {
        let cells = counted(9 * rows, "cell");
        MalformedBoard::whole(match rows {
            1 => format!("{cells}, 81 expected"),
            _ => format!("{cells} in {rows} rows, 81 in 9 expected"),
        })
    }

    pub(super) fn second_board(text: &str, at: usize) -> Self {
        MalformedBoard::at(text, at, |position, _| {
            format!("more cells at position {position}, after a complete board: one board expected")
        })
    }

    pub(super) fn interrupted(text: &str, at: usize, rows: usize) -> Self {
        MalformedBoard::at(text, at, |position, found| {
            let rows = counted(rows, "row");
            format!("text at position {position}, beginning {found:?}, after {rows}: 9 expected")
        })
    }

    /// What is wrong with the line of `text` that starts at byte `start`.
    pub(super) fn of(fault: Fault, text: &str, start: usize) -> Self {
        match fault {
            Fault::Character { at } => MalformedBoard::at(text, start + at, describe_character),
            Fault::SecondBoard { at } => MalformedBoard::second_board(text, start + at),
            Fault::CellCount { count } => {
                let cells = counted(count, "cell");
                if text.trim().contains('\n') {
                    let line = 1 + text[..start].matches('\n').count();
                    let expected = if count <= ROW_LIKE_MAX { 9 } else { 81 };
                    MalformedBoard::whole(format!("{cells} on line {line}, {expected} expected"))
                } else {
                    MalformedBoard::whole(format!("{cells}, 81 expected"))
                }
            }
            Fault::UnevenGroups { at } => MalformedBoard::at(text, start + at, |position, _| {
                format!(
                    "groups of cells of uneven length from position {position} on: \
                     expected together, or in groups of 1, 3 or 9"
                )
            }),
        }
    }

    fn whole(reason: String) -> Self {
        MalformedBoard {
            reason,
            position: None,
            found: None,
        }
    }

    /// Something at one byte of the text; `reason` gets its position in characters.
    fn at(text: &str, at: usize, reason: impl FnOnce(u32, char) -> String) -> Self {
        // `TEXT_BYTES_MAX` keeps positions far below the limit of their type.
        let position = text
            .char_indices()
            .take_while(|&(index, _)| index < at)
            .count()
            + 1;
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        let found = text.get(at..).and_then(|rest| rest.chars().next());
        let reason = reason(position, found.unwrap_or(' '));
        MalformedBoard {
            reason,
            position: Some(position),
            found,
        }
    }
}

fn describe_character(position: u32, found: char) -> String {
    if found.is_numeric() && !found.is_ascii() {
        return format!(
            "character {found:?} at position {position} is a non-ASCII digit: 1 to 9 expected"
        );
    }
    format!(
        "character {found:?} at position {position} is neither a digit nor a blank \
         (one of . 0 _ - * x ?)"
    )
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
