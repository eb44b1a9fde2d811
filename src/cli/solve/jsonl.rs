//! One JSON object a board.

use serde::Serialize;

use crate::{
    board::{check::Clash, units::Unit},
    client::Answer,
};

/// The object, its fields in the order in which they are printed.
#[derive(Serialize)]
struct Line<'a> {
    index: u64,
    status: &'static str,
    solutions: Vec<String>,
    solution_count: u32,
    solve_time_nanos: u128,
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
pub(super) fn write(out: &mut Vec<u8>, answer: &Answer<'_>) -> serde_json::Result<()> {
    let line = Line {
        index: answer.index,
        status: answer.status.name(),
        solutions: answer.solutions.iter().map(ToString::to_string).collect(),
        solution_count: answer.solution_count,
        solve_time_nanos: answer.solve_time.as_nanos(),
        error: answer
            .malformed
            .as_ref()
            .map(|malformed| malformed.reason.as_str()),
        clashes: answer.clashes.iter().map(clash).collect(),
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.push(b'\n');
    Ok(())
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
