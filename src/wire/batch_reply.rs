//! `SolveBatchResponse` as the server writes it: results straight from the engine's answers into the
//! send buffer.
//!
//! The bytes are those of the generated type, which is itself used for what is rare: malformed boards
//! and clashing givens.

use std::{ops::Range, sync::Arc};

use prost::{
    bytes::BufMut,
    encoding::{self, WireType},
};

use super::{clashes_bytes_max, malformed, malformed_bytes_max, pb, result, status};
use crate::{
    board::{Board, text::MalformedBoard},
    solver::{
        Verdict,
        answers::{Answer, Answers},
    },
};

/// The results of consecutive boards, those that are malformed in their places.
#[derive(Debug, Default)]
pub struct Results {
    boards: Vec<Board>,
    answers: Answers,
    malformed: Vec<(usize, MalformedBoard)>,
}

/// A message of results: pieces of those of jobs, shared with other messages where a job's results
/// do not fit into one.
#[derive(Debug, Default)]
pub struct BatchReply {
    /// The place of the first result in the stream.
    pub first_index: u64,
    pieces: Vec<(Arc<Results>, Range<usize>)>,
    bytes_max: usize,
}

/// One result.
#[derive(Clone, Copy, Debug)]
enum Found<'a> {
    Answer(&'a Board, &'a Answer, &'a [Board]),
    Malformed(&'a MalformedBoard),
}

/// Bytes of a message before its results, or a few more.
const HEAD_BYTES_MAX: usize = 16;

/// Bytes of a status, with tag.
const STATUS_BYTES: usize = 2;

/// Bytes of a solution, with tag and length.
const SOLUTION_BYTES: usize = 2 + Board::CELLS;

/// Bytes of a result without solutions, with tag and length, or a few more.
const NUMBERS_BYTES_MAX: usize = 64;

impl Results {
    /// The answers to `boards`, and the malformed ones with their places among all, ascending. `None`
    /// if an answer is missing.
    pub fn new(
        boards: Vec<Board>,
        answers: Answers,
        malformed: Vec<(usize, MalformedBoard)>,
    ) -> Option<Results> {
        let whole = answers.answers.len() == boards.len()
            && (0..boards.len()).all(|board| answers.get(board).is_some());
        whole.then_some(Results {
            boards,
            answers,
            malformed,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.boards.len() + self.malformed.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The results from `start` on.
    fn from(&self, start: usize) -> impl Iterator<Item = Found<'_>> {
        let passed = self.malformed.partition_point(|&(place, _)| place < start);
        let mut malformed = self.malformed[passed..].iter().peekable();
        let mut board = start - passed;
        (start..).map_while(move |place| {
            if let Some((_, error)) = malformed.next_if(|&&(at, _)| at == place) {
                return Some(Found::Malformed(error));
            }
            let (answer, solutions) = self.answers.get(board)?;
            let found = Found::Answer(self.boards.get(board)?, answer, solutions);
            board += 1;
            Some(found)
        })
    }
}

impl BatchReply {
    /// A message without results.
    pub fn new(first_index: u64) -> Self {
        BatchReply {
            first_index,
            pieces: Vec::new(),
            bytes_max: HEAD_BYTES_MAX,
        }
    }

    /// Adds results from `start` on while the message surely stays within `bytes_max` bytes; the
    /// first of all always fits. Returns how many were added.
    pub fn add(&mut self, results: &Arc<Results>, start: usize, bytes_max: usize) -> usize {
        let mut end = start;
        for found in results.from(start) {
            let after = self.bytes_max + found.bytes_max();
            if after > bytes_max && (end > start || !self.pieces.is_empty()) {
                break;
            }
            self.bytes_max = after;
            end += 1;
        }
        if end > start {
            self.pieces.push((Arc::clone(results), start..end));
        }
        end - start
    }

    /// How many results it holds.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(|(_, places)| places.len()).sum()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Its size in bytes, or more.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Writes the message.
    pub fn encode(&self, buf: &mut impl BufMut) {
        if self.first_index != 0 {
            encoding::uint64::encode(1, &self.first_index, buf);
        }
        for (results, places) in &self.pieces {
            for found in results.from(places.start).take(places.len()) {
                found.encode(buf);
            }
        }
    }
}

impl Found<'_> {
    fn bytes_max(self) -> usize {
        NUMBERS_BYTES_MAX
            + match self {
                Found::Malformed(error) => malformed_bytes_max(error),
                Found::Answer(_, answer, _) if is_clashing(answer) => clashes_bytes_max(),
                Found::Answer(.., solutions) => solutions.len() * SOLUTION_BYTES,
            }
    }

    fn encode(self, buf: &mut impl BufMut) {
        match self {
            Found::Malformed(error) => encode_generated(&malformed(error), buf),
            Found::Answer(board, answer, solutions) if is_clashing(answer) => {
                encode_generated(&result(board, answer, solutions), buf);
            }
            Found::Answer(_, answer, solutions) => encode_answer(answer, solutions, buf),
        }
    }
}

fn is_clashing(answer: &Answer) -> bool {
    answer.outcome.verdict == Verdict::ClashingGivens
}

const RESULTS: u32 = 2;

fn encode_generated(result: &pb::SolveResult, buf: &mut impl BufMut) {
    encoding::message::encode(RESULTS, result, buf);
}

/// Writes a result without clashes. Like the generated code it leaves out what is 0.
fn encode_answer(answer: &Answer, solutions: &[Board], buf: &mut impl BufMut) {
    // What follows the solutions comes first, as the length of all stands before them.
    let mut tail = [0; NUMBERS_BYTES_MAX];
    let mut room = &mut tail[..];
    encode_number(3, answer.outcome.solution_count, &mut room);
    encode_duration(4, answer.solve_nanos, &mut room);
    encode_number(5, answer.outcome.nodes, &mut room);
    let unused = room.len();
    let tail = &tail[..NUMBERS_BYTES_MAX - unused];

    let length = STATUS_BYTES + solutions.len() * SOLUTION_BYTES + tail.len();
    let mut head = [0; 16];
    let mut room = &mut head[..];
    encoding::encode_key(RESULTS, WireType::LengthDelimited, &mut room);
    encoding::encode_varint(length as u64, &mut room);
    encoding::int32::encode(1, &status(answer.outcome.verdict).into(), &mut room);
    let unused = room.len();
    buf.put_slice(&head[..head.len() - unused]);
    for solution in solutions {
        buf.put_slice(&solution_field(solution));
    }
    buf.put_slice(tail);
}

fn encode_number(tag: u32, number: u32, buf: &mut impl BufMut) {
    if number != 0 {
        encoding::uint32::encode(tag, &number, buf);
    }
}

/// Writes a `google.protobuf.Duration`, whose own fields are numbers 1 and 2.
fn encode_duration(tag: u32, nanos: u64, buf: &mut impl BufMut) {
    encoding::message::encode(tag, &super::duration(nanos), buf);
}

/// Tag, length and digits of a solution.
fn solution_field(solution: &Board) -> [u8; SOLUTION_BYTES] {
    let mut field = [0; SOLUTION_BYTES];
    let mut room = &mut field[..];
    encoding::encode_key(2, WireType::LengthDelimited, &mut room);
    encoding::encode_varint(Board::CELLS as u64, &mut room);
    room.put_slice(&solution.to_ascii());
    field
}
