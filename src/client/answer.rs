//! One answer, checked against the contract as it comes off the wire.

use std::time::Duration;

use prost::Message as _;

use super::fields::{self, Value};
use crate::{
    board::{Board, check::Clash, text::MalformedBoard, units::Unit},
    wire::pb,
};

/// The tags of `SolveResult`.
mod tag {
    pub(super) const STATUS: u32 = 1;
    pub(super) const SOLUTIONS: u32 = 2;
    pub(super) const SOLUTION_COUNT: u32 = 3;
    pub(super) const SOLVE_TIME: u32 = 4;
    pub(super) const NODES: u32 = 5;
    pub(super) const CLASHES: u32 = 6;
    pub(super) const MALFORMED: u32 = 7;
}

/// What a board turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Exactly one solution; proved.
    Unique,
    /// At least two solutions.
    Multiple,
    /// No solution; proved.
    Unsolvable,
    /// A solution was found and, with a solution limit of 1, nothing asked about others.
    Solved,
    /// Givens clash.
    ClashingGivens,
    /// The text is not a board.
    Malformed,
    /// The node limit was reached first.
    Undecided,
}

impl Status {
    /// Every status, in the order of the contract.
    pub const ALL: [Status; 7] = [
        Status::Unique,
        Status::Multiple,
        Status::Unsolvable,
        Status::Solved,
        Status::ClashingGivens,
        Status::Malformed,
        Status::Undecided,
    ];

    /// The name in the contract, without its prefix.
    pub fn name(self) -> &'static str {
        match self {
            Status::Unique => "UNIQUE",
            Status::Multiple => "MULTIPLE",
            Status::Unsolvable => "UNSOLVABLE",
            Status::Solved => "SOLVED",
            Status::ClashingGivens => "CLASHING_GIVENS",
            Status::Malformed => "MALFORMED",
            Status::Undecided => "UNDECIDED",
        }
    }

    fn decode(status: pb::SolveStatus) -> Option<Status> {
        Some(match status {
            pb::SolveStatus::Unspecified => return None,
            pb::SolveStatus::Unique => Status::Unique,
            pb::SolveStatus::Multiple => Status::Multiple,
            pb::SolveStatus::Unsolvable => Status::Unsolvable,
            pb::SolveStatus::Solved => Status::Solved,
            pb::SolveStatus::ClashingGivens => Status::ClashingGivens,
            pb::SolveStatus::Malformed => Status::Malformed,
            pb::SolveStatus::Undecided => Status::Undecided,
        })
    }
}

/// The answer to one board of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The place of the board in the batch, from 0.
    pub index: u64,
    /// The text that was sent.
    pub board: &'a str,
    /// What the board turned out to be.
    pub status: Status,
    /// The solutions found, in the order the search met them.
    pub solutions: &'a [Board],
    /// How many solutions were found.
    pub solution_count: u32,
    /// Time the server's engine spent on this board.
    pub solve_time: Duration,
    /// Nodes of the search tree that were visited.
    pub nodes: u32,
    /// With [`Status::ClashingGivens`]: every clash.
    pub clashes: Vec<Clash>,
    /// With [`Status::Malformed`]: what is wrong with the text.
    pub malformed: Option<MalformedBoard>,
}

impl<'a> Answer<'a> {
    /// Reads one encoded `SolveResult`, its solutions into memory of the caller's.
    pub(super) fn decode(
        index: u64,
        board: &'a str,
        result: &[u8],
        solutions: &'a mut Vec<Board>,
    ) -> Result<Answer<'a>, &'static str> {
        const NO_MESSAGE: &str = "it is no message of the contract";
        let mut status = 0;
        let mut solution_count = 0;
        let mut solve_time = prost_types::Duration::default();
        let mut nodes = 0;
        let mut clashes = Vec::new();
        let mut malformed: Option<pb::MalformedBoard> = None;
        solutions.clear();

        let mut rest = result;
        while !rest.is_empty() {
            match fields::next(&mut rest).ok_or(NO_MESSAGE)? {
                (tag::STATUS, Value::Number(value)) => status = int32(value),
                (tag::SOLUTIONS, Value::Bytes(digits)) => {
                    solutions.push(solution(digits).ok_or("a solution is not 81 digits")?);
                }
                (tag::SOLUTION_COUNT, Value::Number(value)) => solution_count = uint32(value),
                (tag::SOLVE_TIME, Value::Bytes(time)) => {
                    solve_time.merge(time).map_err(|_| NO_MESSAGE)?;
                }
                (tag::NODES, Value::Number(value)) => nodes = uint32(value),
                (tag::CLASHES, Value::Bytes(bytes)) => {
                    let message = pb::Clash::decode(bytes).map_err(|_| NO_MESSAGE)?;
                    clashes.push(clash(&message).ok_or("bad clash")?);
                }
                (tag::MALFORMED, Value::Bytes(bytes)) => malformed
                    .get_or_insert_default()
                    .merge(bytes)
                    .map_err(|_| NO_MESSAGE)?,
                (tag::STATUS..=tag::MALFORMED, _) => return Err(NO_MESSAGE),
                _ => {}
            }
        }
        let status = pb::SolveStatus::try_from(status).unwrap_or_default();
        Ok(Answer {
            index,
            board,
            status: Status::decode(status).ok_or("its status is unknown")?,
            solutions,
            solution_count,
            solve_time: duration(solve_time).ok_or("its solve time is no time")?,
            nodes,
            clashes,
            malformed: malformed.map(self::malformed),
        })
    }
}

/// Numbers of 32 bits are cut from those of 64 on the wire, as everywhere in protobuf.
#[expect(clippy::cast_possible_truncation, reason = "as the wire format has it")]
fn uint32(value: u64) -> u32 {
    value as u32
}

fn int32(value: u64) -> i32 {
    uint32(value).cast_signed()
}

fn solution(digits: &[u8]) -> Option<Board> {
    let mut values: [u8; Board::CELLS] = digits.try_into().ok()?;
    // Without a branch for each: the compiler makes vectors of it.
    let mut bad = false;
    for value in &mut values {
        *value = value.wrapping_sub(b'0');
        bad |= value.wrapping_sub(1) > 8;
    }
    if bad { None } else { Board::new(values) }
}

fn duration(time: prost_types::Duration) -> Option<Duration> {
    let nanos = u32::try_from(time.nanos)
        .ok()
        .filter(|&nanos| nanos < 1_000_000_000)?;
    Some(Duration::new(u64::try_from(time.seconds).ok()?, nanos))
}

fn clash(clash: &pb::Clash) -> Option<Clash> {
    let number = u8::try_from(clash.unit_number.checked_sub(1)?)
        .ok()
        .filter(|&n| n < 9)?;
    let unit = match clash.unit() {
        pb::UnitKind::Unspecified => return None,
        pb::UnitKind::Row => Unit::Row(number),
        pb::UnitKind::Column => Unit::Column(number),
        pb::UnitKind::Box => Unit::Box(number),
    };
    let cell = |&cell: &u32| u8::try_from(cell).ok().filter(|&cell| cell < 81);
    let digit = u8::try_from(clash.digit)
        .ok()
        .filter(|digit| (1..=9).contains(digit))?;
    Some(Clash {
        unit,
        digit,
        cells: clash.cells.iter().map(cell).collect::<Option<_>>()?,
    })
}

fn malformed(malformed: pb::MalformedBoard) -> MalformedBoard {
    MalformedBoard {
        reason: malformed.reason,
        position: malformed.position,
        found: malformed.found.chars().next(),
    }
}
