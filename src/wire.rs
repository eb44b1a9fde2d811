//! Between the domain and the messages of the contract. Every conversion is total: what can be
//! wrong with a request is a value of [`OptionsError`], and every answer has a message.

pub mod batch_reply;
pub mod batch_request;
pub mod pb;

use crate::{
    board::{
        Board,
        check::{self, Clash},
        text::MalformedBoard,
        units::Unit,
    },
    solver::{Options, Verdict, answers::Answer},
};

/// Options that a request may not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// No solution, or more than may be asked for.
    #[error("solution_limit is {sent}; it may be 1 to {max} (--solutions-max of the server)")]
    SolutionLimit {
        /// What was asked for.
        sent: u32,
        /// What may be.
        max: u32,
    },
    /// A search without nodes.
    #[error("node_limit is 0; it must be at least 1")]
    NodeLimit,
}

impl OptionsError {
    /// The path of the field that is wrong, from the request.
    pub fn field(self) -> &'static str {
        match self {
            OptionsError::SolutionLimit { .. } => "options.solution_limit",
            OptionsError::NodeLimit => "options.node_limit",
        }
    }
}

/// The options of a request; what it leaves unset comes from `defaults`. No more solutions than
/// `solutions_max` may be asked for.
///
/// # Errors
///
/// Limits out of range.
pub fn options(
    sent: Option<&pb::SolveOptions>,
    defaults: Options,
    solutions_max: u32,
) -> Result<Options, OptionsError> {
    let Some(sent) = sent else {
        return Ok(defaults);
    };
    let solution_limit = sent.solution_limit.unwrap_or(defaults.solution_limit);
    let node_limit = sent.node_limit.unwrap_or(defaults.node_limit);
    if !(1..=solutions_max).contains(&solution_limit) {
        return Err(OptionsError::SolutionLimit {
            sent: solution_limit,
            max: solutions_max,
        });
    }
    if node_limit == 0 {
        return Err(OptionsError::NodeLimit);
    }
    Ok(Options {
        solution_limit,
        node_limit,
    })
}

/// The result of a board that was solved. Clashes are looked up here, as engines only say that
/// there are some.
pub fn result(board: &Board, answer: &Answer, solutions: &[Board]) -> pb::SolveResult {
    let clashes = match answer.outcome.verdict {
        Verdict::ClashingGivens => check::clashes(board).iter().map(clash).collect(),
        _ => Vec::new(),
    };
    pb::SolveResult {
        status: status(answer.outcome.verdict).into(),
        solutions: solutions.iter().map(grid).collect(),
        solution_count: answer.outcome.solution_count,
        solve_time: Some(duration(answer.solve_nanos)),
        nodes: answer.outcome.nodes,
        clashes,
        malformed: None,
    }
}

/// The result of a text that is not a board.
pub fn malformed(error: &MalformedBoard) -> pb::SolveResult {
    pb::SolveResult {
        status: pb::SolveStatus::Malformed.into(),
        solve_time: Some(duration(0)),
        malformed: Some(pb::MalformedBoard {
            reason: error.reason.clone(),
            position: error.position,
            found: error.found.map(String::from).unwrap_or_default(),
        }),
        ..pb::SolveResult::default()
    }
}

/// The bytes that the fields of a malformed board's result take, or a few more.
fn malformed_bytes_max(error: &MalformedBoard) -> usize {
    const FOUND_AND_POSITION: usize = 32;
    error.reason.len() + FOUND_AND_POSITION
}

/// The bytes that the clashes of any board take, or a few more: a cell for each of the nine of every
/// unit, and what stands around the cells of at most four digits.
const fn clashes_bytes_max() -> usize {
    const UNITS: usize = 27;
    const DIGITS: usize = 4;
    const CLASH: usize = 16;
    UNITS * (9 + DIGITS * CLASH)
}

/// What a board turned out to be, in the words of the contract.
pub fn status(verdict: Verdict) -> pb::SolveStatus {
    match verdict {
        Verdict::Unique => pb::SolveStatus::Unique,
        Verdict::Multiple => pb::SolveStatus::Multiple,
        Verdict::Unsolvable => pb::SolveStatus::Unsolvable,
        Verdict::Solved => pb::SolveStatus::Solved,
        Verdict::ClashingGivens => pb::SolveStatus::ClashingGivens,
        // Whoever cancelled no longer listens; were it sent, nothing would be proved either.
        Verdict::Undecided | Verdict::Cancelled => pb::SolveStatus::Undecided,
    }
}

fn grid(solution: &Board) -> String {
    String::from_utf8(solution.to_ascii().to_vec()).unwrap_or_default()
}

fn clash(clash: &Clash) -> pb::Clash {
    let (unit, number) = match clash.unit {
        Unit::Row(number) => (pb::UnitKind::Row, number),
        Unit::Column(number) => (pb::UnitKind::Column, number),
        Unit::Box(number) => (pb::UnitKind::Box, number),
    };
    pb::Clash {
        unit: unit.into(),
        unit_number: u32::from(number) + 1,
        digit: u32::from(clash.digit),
        cells: clash.cells.iter().copied().map(u32::from).collect(),
    }
}

fn duration(nanos: u64) -> prost_types::Duration {
    const SECOND: u64 = 1_000_000_000;
    prost_types::Duration {
        seconds: i64::try_from(nanos / SECOND).unwrap_or(i64::MAX),
        nanos: i32::try_from(nanos % SECOND).unwrap_or(i32::MAX),
    }
}
