//! One answer, checked against the contract as it comes off the wire.

use std::time::Duration;

use crate::{
    board::{Board, check::Clash, text::MalformedBoard, units::Unit},
    wire::pb,
};

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
    pub solutions: Vec<Board>,
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
    pub(super) fn decode(
        index: u64,
        board: &'a str,
        result: pb::SolveResult,
    ) -> Result<Answer<'a>, &'static str> {
        let status = Status::decode(result.status()).ok_or("its status is unknown")?;
        let solutions = result.solutions.iter().map(|digits| solution(digits));
        Ok(Answer {
            index,
            board,
            status,
            solutions: solutions
                .collect::<Option<_>>()
                .ok_or("a solution is not 81 digits")?,
            solution_count: result.solution_count,
            solve_time: duration(result.solve_time.unwrap_or_default())
                .ok_or("its solve time is no time")?,
            nodes: result.nodes,
            clashes: result
                .clashes
                .iter()
                .map(clash)
                .collect::<Option<_>>()
                .ok_or("bad clash")?,
            malformed: result.malformed.map(malformed),
        })
    }
}

fn solution(digits: &str) -> Option<Board> {
    let mut values: [u8; Board::CELLS] = digits.as_bytes().try_into().ok()?;
    for value in &mut values {
        *value = value
            .checked_sub(b'0')
            .filter(|digit| (1..=9).contains(digit))?;
    }
    Board::new(values)
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
