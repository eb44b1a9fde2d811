//! One line a board, for people.

use crate::{
    board::{
        Board,
        check::{self, Clash},
        text,
        units::Unit,
    },
    client::{Answer, Status, Unanswered},
};

/// What stands in place of a status where there is no answer.
pub(super) const UNANSWERED: &str = "UNANSWERED";

/// Characters of a malformed text that are repeated before the line says why it is none.
const ECHO_CHARS_MAX: usize = 120;

/// Appends the line of `answer`, which was asked for with this solution limit: the grid of a board
/// with one solution, else the board, its status, and what there is to say about it.
pub(super) fn write(out: &mut Vec<u8>, answer: &Answer<'_>, limit: u32) {
    if let (Status::Unique, Some(grid)) = (answer.status, answer.solutions.first()) {
        out.extend_from_slice(&grid.to_ascii());
    } else {
        let board = shown(answer.board);
        let status = answer.status.name();
        let words = words(answer, limit);
        out.extend_from_slice(format!("{board} {status} {words}").trim_end().as_bytes());
    }
    out.push(b'\n');
}

/// Appends the line of a board that nobody answered.
pub(super) fn write_unanswered(out: &mut Vec<u8>, board: &Unanswered<'_>) {
    let line = format!("{} {UNANSWERED} {}\n", shown(board.board), board.reason);
    out.extend_from_slice(line.as_bytes());
}

/// Whether this line can be the answer to `board`, as far as can be told without solving.
pub(super) fn answers(line: &str, board: &str) -> bool {
    if let Some(grid) = text::parse_plain(line.as_bytes()) {
        return text::parse(board).is_ok_and(|board| check::is_solution(&board, &grid));
    }
    line.strip_prefix(&shown(board))
        .and_then(|rest| rest.strip_prefix(' '))
        .and_then(|rest| rest.split(' ').next())
        .is_some_and(|status| Status::ALL.iter().any(|known| known.name() == status))
}

/// A board on one line, whatever its form; of a text that is none, so much as shows which.
pub(super) fn shown(text: &str) -> String {
    text::parse(text).map_or_else(|_| echo(text), |board| board.to_string())
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
