//! One line a board, for people.

use crate::{
    board::{Board, check::Clash, text, units::Unit},
    client::{Answer, Status},
};

/// Characters of a malformed text that are repeated before the line says why it is none.
const ECHO_CHARS_MAX: usize = 120;

/// Appends the line of `answer`, which was asked for with this solution limit: the grid of a board
/// with one solution, else the board, its status, and what there is to say about it.
pub(super) fn write(out: &mut Vec<u8>, answer: &Answer<'_>, limit: u32) {
    if let (Status::Unique, Some(grid)) = (answer.status, answer.solutions.first()) {
        out.extend_from_slice(&grid.to_ascii());
    } else {
        let board = text::parse(answer.board)
            .map_or_else(|_| echo(answer.board), |board| board.to_string());
        let status = answer.status.name();
        let words = words(answer, limit);
        out.extend_from_slice(format!("{board} {status} {words}").trim_end().as_bytes());
    }
    out.push(b'\n');
}

fn words(answer: &Answer<'_>, limit: u32) -> String {
    let count = answer.solution_count;
    match answer.status {
        Status::Unique => String::new(),
        Status::Multiple if count >= limit => format!("at least {count} solutions"),
        Status::Multiple => format!("{count} solutions"),
        Status::Unsolvable => "no solution".to_owned(),
        Status::Solved => answer
            .solutions
            .first()
            .map(Board::to_string)
            .unwrap_or_default(),
        Status::ClashingGivens => {
            let clashes: Vec<String> = answer.clashes.iter().map(clash).collect();
            clashes.join("; ")
        }
        Status::Malformed => answer
            .malformed
            .as_ref()
            .map(|malformed| malformed.reason.clone())
            .unwrap_or_default(),
        Status::Undecided if count == 1 => "node limit reached, 1 solution so far".to_owned(),
        Status::Undecided => format!("node limit reached, {count} solutions so far"),
    }
}

/// "row 1 has two 9s (r1c2, r1c3)".
fn clash(clash: &Clash) -> String {
    let (unit, number) = match clash.unit {
        Unit::Row(number) => ("row", number + 1),
        Unit::Column(number) => ("column", number + 1),
        Unit::Box(number) => ("box", number + 1),
    };
    let cells: Vec<String> = clash
        .cells
        .iter()
        .map(|cell| format!("r{}c{}", cell / 9 + 1, cell % 9 + 1))
        .collect();
    let many = match cells.len() {
        2 => "two",
        3 => "three",
        4 => "four",
        5 => "five",
        6 => "six",
        7 => "seven",
        8 => "eight",
        _ => "nine",
    };
    format!(
        "{unit} {number} has {many} {}s ({})",
        clash.digit,
        cells.join(", ")
    )
}

/// A text that is no board, on one line and not for ever: line ends as spaces, what a terminal
/// would obey made visible.
fn echo(text: &str) -> String {
    let mut chars = text.trim().chars();
    let mut echo = String::new();
    for c in chars.by_ref().take(ECHO_CHARS_MAX) {
        match c {
            '\n' | '\r' | '\t' => echo.push(' '),
            c if c.is_control() => echo.extend(c.escape_unicode()),
            c => echo.push(c),
        }
    }
    if chars.next().is_some() {
        echo.push('…');
    }
    echo
}
