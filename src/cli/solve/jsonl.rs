//! One JSON object a board.

use serde::{Deserialize, Serialize};

use super::lines::{UNANSWERED, shown};
use crate::{
    board::{check::Clash, units::Unit},
    client::{Answer, Unanswered},
};

/// What distinguishes the lines of a file from those of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// With the time that each board took.
    Timed,
    /// With the board in place of its time, so that the file can be held against its input, and the
    /// same input always makes the same file.
    Named,
}

/// The object, its fields in the order in which they are printed.
#[derive(Serialize)]
struct Line<'a> {
    index: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<String>,
    status: &'static str,
    solutions: Vec<String>,
    solution_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    solve_time_nanos: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clashes: Vec<ClashObject<'a>>,
}

/// A clash as in the proto: units count from 1, cells from 0.
#[derive(Serialize)]
struct ClashObject<'a> {
    unit: &'static str,
    unit_number: u8,
    digit: u8,
    cells: &'a [u8],
}

/// Appends the line of `answer`.
pub(super) fn write(out: &mut Vec<u8>, answer: &Answer<'_>, form: Form) -> serde_json::Result<()> {
    let line = Line {
        index: answer.index,
        board: (form == Form::Named).then(|| shown(answer.board)),
        status: answer.status.name(),
        solutions: answer.solutions.iter().map(ToString::to_string).collect(),
        solution_count: answer.solution_count,
        solve_time_nanos: (form == Form::Timed).then_some(answer.solve_time.as_nanos()),
        error: answer
            .malformed
            .as_ref()
            .map(|malformed| malformed.reason.as_str()),
        clashes: answer.clashes.iter().map(clash).collect(),
    };
    line.write(out)
}

/// Appends the line of a board that nobody answered.
pub(super) fn write_unanswered(
    out: &mut Vec<u8>,
    board: &Unanswered<'_>,
    form: Form,
) -> serde_json::Result<()> {
    let line = Line {
        index: board.index,
        board: (form == Form::Named).then(|| shown(board.board)),
        status: UNANSWERED,
        solutions: Vec::new(),
        solution_count: 0,
        solve_time_nanos: (form == Form::Timed).then_some(0),
        error: Some(&board.reason.to_string()),
        clashes: Vec::new(),
    };
    line.write(out)
}

/// Whether this line is the answer to `board` at this place of a file.
pub(super) fn answers(line: &str, index: u64, board: &str) -> bool {
    #[derive(Deserialize)]
    struct Name {
        index: u64,
        board: String,
    }
    serde_json::from_str(line)
        .is_ok_and(|name: Name| name.index == index && name.board == shown(board))
}

impl Line<'_> {
    fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.push(b'\n');
        Ok(())
    }
}

fn clash(clash: &Clash) -> ClashObject<'_> {
    let (unit, number) = match clash.unit {
        Unit::Row(number) => ("ROW", number),
        Unit::Column(number) => ("COLUMN", number),
        Unit::Box(number) => ("BOX", number),
    };
    ClashObject {
        unit,
        unit_number: number + 1,
        digit: clash.digit,
        cells: &clash.cells,
    }
}
